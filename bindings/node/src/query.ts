// Joins and searches before they run.
import type * as arrow from 'apache-arrow';
import { schemaOf } from './arrow_types';
import { aborted, quiet, translated } from './errors';
import { native, type NativeJoin, type NativeTable } from './native';
import { flag, optionsOf, signalOf } from './option_checks';
import { ResultHandle, type HandleKind } from './result_handle';
import type { Session } from './session';

export interface ExecuteOptions {
  /** Cancels the work when aborted. */
  signal?: AbortSignal;
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
    return quiet(this.#execute('complete', options));
  }

  /** Resolves once the work has begun: it goes on while rows are read, one batch ahead. */
  executeAsync(options: ExecuteOptions = {}): Promise<ResultHandle> {
    return quiet(this.#execute('pending', options));
  }

  /** The plan: the path, the index and why, the memory. Reads no left row. */
  explain(options: { verbose?: boolean } = {}): Promise<string> {
    const explained = async () => {
      const { verbose = false } = optionsOf(options, ['verbose']);
      const join = await this.#made();
      return translated(native.explainJoin(join, flag('verbose', verbose) as boolean));
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

  async #execute(kind: HandleKind, options: ExecuteOptions): Promise<ResultHandle> {
    const signal = signalOf(optionsOf(options, ['signal']).signal);
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

/** @internal The signal doesn't keep the handle alive. */
export function cancelOnAbort(handle: ResultHandle, signal: AbortSignal): void {
  const weak = new WeakRef(handle);
  const cancel = () => void weak.deref()?.cancel();
  if (signal.aborted) cancel();
  else signal.addEventListener('abort', cancel, { once: true });
}
