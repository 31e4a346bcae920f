// Queries, open datasets, and the session that they belong to.
import type * as arrow from 'apache-arrow';
import { schemaOf } from './arrow_types';
import { KinjoError, quiet, toError, translated } from './errors';
import { toQueries, toTable, type Left, type Queries } from './left';
import { native, type NativeDataset, type NativeJoin, type NativeTable } from './native';
import { toNativeOptions, type JoinOptions } from './options';
import { ResultHandle, withCamelCase, type HandleKind, type Owner } from './result_handle';

export interface ExecuteOptions {
  /** Cancels the work when aborted. */
  signal?: AbortSignal;
}

function aborted(signal: AbortSignal): KinjoError {
  return new KinjoError('cancelled', 'aborted by a signal', { cause: signal.reason });
}

/** A join or a search: nothing happens before it is executed or explained. May run many times. */
export class Query {
  readonly #session: Session;
  readonly #makeTable: () => Promise<NativeTable>;
  readonly #makeJoin: (table: NativeTable) => Promise<NativeJoin>;
  #table: Promise<NativeTable> | undefined;

  /** @internal */
  constructor(
    session: Session,
    makeTable: () => Promise<NativeTable>,
    makeJoin: (table: NativeTable) => Promise<NativeJoin>,
  ) {
    this.#session = session;
    this.#makeTable = makeTable;
    this.#makeJoin = makeJoin;
  }

  /** Resolves when all work is done; the handle's rows are then fetched on demand. */
  execute(options: ExecuteOptions = {}): Promise<ResultHandle> {
    return quiet(this.#execute('complete', options.signal));
  }

  /** Resolves once the work has begun: it goes on while rows are read, one batch ahead. */
  executeAsync(options: ExecuteOptions = {}): Promise<ResultHandle> {
    return quiet(this.#execute('pending', options.signal));
  }

  /** The plan: the path, the index and why, the memory. Reads no left row. */
  explain(options: { verbose?: boolean } = {}): Promise<string> {
    const explained = async () => {
      const join = await this.#made();
      return translated(native.explainJoin(join, options.verbose ?? false));
    };
    return quiet(explained());
  }

  /** The columns of the result. */
  getSchema(): Promise<arrow.Schema> {
    return quiet(this.#made().then((join) => schemaOf(native.joinSchema(join))));
  }

  async #made(): Promise<NativeJoin> {
    this.#session.check();
    const table = await (this.#table ??= this.#makeTable());
    const join = await translated(this.#makeJoin(table));
    this.#session.check();
    return join;
  }

  async #execute(kind: HandleKind, signal: AbortSignal | undefined): Promise<ResultHandle> {
    if (signal?.aborted) throw aborted(signal);
    if (signal === undefined) return this.#start(kind, signal);
    let stop: (() => void) | undefined;
    const interrupted = new Promise<never>((_, reject) => {
      stop = () => reject(aborted(signal));
      signal.addEventListener('abort', stop, { once: true });
    });
    try {
      return await Promise.race([this.#start(kind, signal), interrupted]);
    } finally {
      signal.removeEventListener('abort', stop as () => void);
    }
  }

  async #start(kind: HandleKind, signal: AbortSignal | undefined): Promise<ResultHandle> {
    const join = await this.#made();
    const stream = await translated(native.runJoin(join, kind === 'complete'));
    const handle = new ResultHandle(native, stream, join, kind, this.#session);
    this.#session.remember(handle);
    if (signal !== undefined) cancelOnAbort(handle, signal);
    try {
      this.#session.check();
      if (kind === 'complete') await handle.finished();
    } catch (thrown) {
      await handle.close().catch(() => undefined);
      throw signal?.aborted ? aborted(signal) : thrown;
    }
    return handle;
  }
}

/** The signal doesn't keep the handle alive. */
function cancelOnAbort(handle: ResultHandle, signal: AbortSignal): void {
  const weak = new WeakRef(handle);
  const cancel = () => void weak.deref()?.cancel();
  if (signal.aborted) cancel();
  else signal.addEventListener('abort', cancel, { once: true });
}

/** A version of a Lance dataset, as a snapshot; what a query opens of its indexes stays open. */
export class Dataset {
  readonly uri: string;
  readonly #session: Session;
  readonly #dataset: NativeDataset;

  /** @internal */
  constructor(session: Session, uri: string, dataset: NativeDataset) {
    this.#session = session;
    this.uri = uri;
    this.#dataset = dataset;
  }

  /** The nearest rows to one vector, to several, or to those of a table. */
  search(queries: Queries, options: JoinOptions = {}): Query {
    return this.#query(() => toQueries(queries), true, options);
  }

  /** Joins a left table with this dataset as the right side. */
  join(left: Left, options: JoinOptions = {}): Query {
    return this.#query(() => toTable(left), false, options);
  }

  #query(makeTable: () => Promise<NativeTable>, search: boolean, options: JoinOptions): Query {
    return new Query(this.#session, makeTable, async (table) =>
      native.makeJoin(table, this.#dataset, search, toNativeOptions(options)),
    );
  }

  /** Versions, tags, columns, fragments, indexes. */
  describe(): Promise<Record<string, unknown>> {
    return this.#described();
  }

  /** One index with what its files tell. */
  describeIndex(name: string): Promise<Record<string, unknown>> {
    return this.#described(name);
  }

  #described(index?: string): Promise<Record<string, unknown>> {
    const described = async () => {
      this.#session.check();
      const text = await translated(native.describeDataset(this.#dataset, index));
      return withCamelCase(JSON.parse(text)) as Record<string, unknown>;
    };
    return quiet(described());
  }
}

/** What is made by a session ends with it. */
export class Session implements Owner {
  #closed = false;
  readonly #handles = new Set<WeakRef<ResultHandle>>();
  readonly #places = new WeakMap<ResultHandle, WeakRef<ResultHandle>>();
  readonly #collected = new FinalizationRegistry<WeakRef<ResultHandle>>((place) =>
    this.#handles.delete(place),
  );

  /** Joins each row of `left` to its nearest rows of `right`, a path. */
  join(left: Left, right: string, options: JoinOptions = {}): Query {
    const makeJoin = async (table: NativeTable) =>
      native.makeJoin(table, right, false, toNativeOptions(options));
    return new Query(this, () => toTable(left), makeJoin);
  }

  /** Opens a Lance dataset, the latest version unless one is named by its number or tag. */
  open(uri: string, options: { version?: number | string } = {}): Promise<Dataset> {
    const opened = async () => {
      this.check();
      const { version } = options;
      const tag = typeof version === 'string' ? version : undefined;
      const number = typeof version === 'number' ? version : undefined;
      return new Dataset(this, uri, await translated(native.openDataset(uri, number, tag)));
    };
    return quiet(opened());
  }

  /** Closes the handles that are open. From now on every method rejects with `state`. */
  close(): Promise<void> {
    const closing = async () => {
      this.#closed = true;
      const open = [...this.#handles].flatMap((place) => place.deref() ?? []);
      const outcomes = await Promise.allSettled(open.map((handle) => handle.close()));
      for (const outcome of outcomes) {
        if (outcome.status === 'rejected') throw toError(outcome.reason);
      }
    };
    return quiet(closing());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /** @internal */
  check(): void {
    if (this.#closed) throw new KinjoError('state', 'the session was closed');
  }

  /** @internal */
  remember(handle: ResultHandle): void {
    const place = new WeakRef(handle);
    this.#handles.add(place);
    this.#places.set(handle, place);
    this.#collected.register(handle, place, handle);
  }

  /** @internal */
  forget(handle: ResultHandle): void {
    const place = this.#places.get(handle);
    if (place === undefined) return;
    this.#handles.delete(place);
    this.#collected.unregister(handle);
  }
}
