// The handle of one execution: rows in chunks or all at once, how far the work is, cancel and
// close. The promises about overlap, errors and ends are kept below, by the result stream
// (docs/streams.md).
import type * as arrow from 'apache-arrow';
import { lib } from './arrow_copy';
import { recordBatchOf, schemaOf, type ArrowField } from './arrow_types';
import { camelCase, KinjoError, quiet, translated } from './errors';
import type { Addon, NativeJoin, NativeStream, PackedBatch, Progress } from './native';
import { callbackOf, flag, optionsOf, text } from './option_checks';
import { telling } from './progress';
import { RowMaker, type Row } from './rows';

/** `pending`: work goes on while rows are read, one batch ahead. `complete`: all work is done. */
export type HandleKind = 'pending' | 'complete';

export interface FetchOptions {
  /** Exactly so many rows, until the tail of the result; without it the next batch as it comes. */
  maxRows?: number;
  /** Plain objects (default), or an apache-arrow Table. */
  as?: 'rows' | 'arrow';
}

export interface FinishedOptions {
  /** Tell the progress while the work goes on, and not only at its end; true. */
  progress?: boolean;
  callback?: (progress: Progress) => unknown;
}

/** Counts of the run, by docs/bindings.md's names in camelCase. */
export type Report = Record<string, unknown>;

/** @internal What a handle needs of the session it belongs to. */
export interface Owner {
  check(): void;
  forget(handle: ResultHandle): void;
}

type As<O> = O extends { as: 'arrow' } ? arrow.Table : Row[];

function checkShape(as: unknown): void {
  if (as === undefined || as === 'rows' || as === 'arrow') return;
  const given = text('as', as) as string;
  throw new KinjoError('invalid', `as must be 'rows' or 'arrow', but is '${given}'`);
}

/** @internal */
export function withCamelCase(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withCamelCase);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => [camelCase(name), withCamelCase(one)]),
  );
}

export class ResultHandle implements AsyncIterable<Row> {
  readonly kind: HandleKind;
  readonly #native: Addon;
  readonly #stream: NativeStream;
  readonly #join: NativeJoin | undefined;
  readonly #owner: Owner;
  readonly #field: ArrowField;
  readonly #rows: RowMaker;
  #schema: arrow.Schema | undefined;

  /** @internal */
  constructor(
    native: Addon,
    stream: NativeStream,
    join: NativeJoin | undefined,
    kind: HandleKind,
    owner: Owner,
  ) {
    this.#native = native;
    this.#stream = stream;
    this.#join = join;
    this.kind = kind;
    this.#owner = owner;
    this.#field = native.streamSchema(stream);
    this.#rows = new RowMaker(this.#field);
  }

  /** Runs a call unless the session is closed. Its rejection is nobody's unhandled one. */
  #run<T>(call: () => Promise<T>): Promise<T> {
    const guarded = async () => {
      this.#owner.check();
      return translated(call);
    };
    return quiet(guarded());
  }

  #shaped(batch: PackedBatch, as: FetchOptions['as']): Row[] | arrow.RecordBatch {
    if (as !== 'arrow') return this.#rows.rowsOf(batch);
    return recordBatchOf(this.#arrowSchema(), this.#field, batch);
  }

  #arrowSchema(): arrow.Schema {
    return (this.#schema ??= schemaOf(this.#field));
  }

  /**
   * The next rows; none at the end. Calls that overlap are served in their order. Rejects with the
   * error of the rows that it would have given, once, and with `state` after that.
   */
  fetchChunk<O extends FetchOptions>(options?: O): Promise<As<O>> {
    return this.#run(async () => {
      const { maxRows, as } = optionsOf<FetchOptions>(options, ['maxRows', 'as']);
      checkShape(as);
      if (maxRows !== undefined && !Number.isSafeInteger(maxRows)) {
        throw new KinjoError('invalid', `maxRows must be an integer, but is ${String(maxRows)}`);
      }
      const batch = await this.#native.streamFetch(this.#stream, maxRows);
      if (as === 'arrow') {
        const batches = batch === null ? [] : [this.#shaped(batch, as) as arrow.RecordBatch];
        return new lib.Table(this.#arrowSchema(), batches) as As<O>;
      }
      return (batch === null ? [] : this.#shaped(batch, as)) as As<O>;
    });
  }

  /** All rows that are left. */
  fetchAll<O extends Pick<FetchOptions, 'as'>>(options?: O): Promise<As<O>> {
    return this.#run(async () => {
      const { as } = optionsOf<FetchOptions>(options, ['as']);
      checkShape(as);
      const shaped: (Row[] | arrow.RecordBatch)[] = [];
      while (true) {
        const batch = await this.#native.streamFetch(this.#stream);
        if (batch === null) break;
        shaped.push(this.#shaped(batch, as));
      }
      if (as === 'arrow') {
        return new lib.Table(this.#arrowSchema(), shaped as arrow.RecordBatch[]) as As<O>;
      }
      return (shaped as Row[][]).flat() as As<O>;
    });
  }

  /** Whether a fetch would give rows, or an error. Takes nothing, also before the first fetch. */
  hasMoreRows(): Promise<boolean> {
    return this.#run(() => this.#native.streamHasMore(this.#stream));
  }

  /**
   * Resolves when the work is done, without any row being read: those of a pending handle wait in a
   * temporary file. Rejects with the error that ended the work.
   */
  finished(options: FinishedOptions = {}): Promise<void> {
    return this.#run(async () => {
      const given = optionsOf(options, ['callback', 'progress']);
      const callback = callbackOf(given.callback);
      const progress = flag('progress', given.progress ?? true) as boolean;
      const done = this.#native.streamFinish(this.#stream);
      if (callback === undefined) return done;
      const read = () => this.#native.streamProgress(this.#stream);
      return telling(done, read, callback, progress);
    });
  }

  /**
   * Blocks further reads at once and asks the work to stop. Fetches that wait reject with `state`;
   * rows of a fetch that is under way never come.
   */
  cancel(): Promise<void> {
    return this.#run(() => this.#native.streamCancel(this.#stream));
  }

  /**
   * Ends the work and frees the rows. If it fails, rows that weren't read stay, and it may be
   * called again; calls that overlap share one outcome.
   */
  close(): Promise<void> {
    return quiet(this.#close());
  }

  async #close(): Promise<void> {
    await translated(() => this.#native.streamClose(this.#stream));
    this.#owner.forget(this);
  }

  getSchema(): Promise<arrow.Schema> {
    return this.#run(() => Promise.resolve(this.#arrowSchema()));
  }

  /** The plan that runs. */
  explain(options: { verbose?: boolean } = {}): Promise<string> {
    return this.#run(async () => {
      const { verbose = false } = optionsOf(options, ['verbose']);
      return this.#native.explainJoin(this.#ofJoin(), flag('verbose', verbose) as boolean);
    });
  }

  /** The plan with what was measured so far. */
  analyze(): Promise<string> {
    return this.#run(() => this.#native.analyzeJoin(this.#ofJoin()));
  }

  /** Counts so far; final once the work is done. */
  report(): Promise<Report> {
    return this.#run(async () => {
      const text = await this.#native.reportJoin(this.#ofJoin());
      return withCamelCase(JSON.parse(text)) as Report;
    });
  }

  #ofJoin(): NativeJoin {
    if (this.#join === undefined) throw new KinjoError('invalid', 'this handle has no join');
    return this.#join;
  }

  /** Rows one by one. Leaving the loop early closes the handle. */
  async *[Symbol.asyncIterator](): AsyncGenerator<Row, void, undefined> {
    for await (const rows of this.batches()) yield* rows;
  }

  /** Chunks as fetchChunk gives them, to the end. Leaving the loop early closes the handle. */
  async *batches<O extends FetchOptions>(options?: O): AsyncGenerator<As<O>, void, undefined> {
    let left = true;
    try {
      while (true) {
        const chunk = await this.fetchChunk(options);
        if ((Array.isArray(chunk) ? chunk.length : (chunk as arrow.Table).numRows) === 0) break;
        yield chunk;
      }
      left = false;
    } finally {
      if (left) await this.close().catch(() => undefined);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}
