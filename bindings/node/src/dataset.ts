// Lance datasets: looked at, searched, read and changed.
import {
  toCompactOptions,
  toIndexOptions,
  toOptimizeOptions,
  toWriteOptions,
  type CompactOptions,
  type CreateIndexOptions,
  type OptimizeOptions,
  type ScanOptions,
  type WriteDatasetOptions,
} from './change_options';
import { parted, watched, type ChangeOptions } from './changes';
import { aborted, quiet, translated } from './errors';
import { toQueries, toTable, type Left, type Queries } from './left';
import { native, type NativeDataset, type WriteReport } from './native';
import { flag, integer, optionsOf, signalOf, text, texts } from './option_checks';
import { toNativeOptions, type JoinOptions } from './options';
import { cancelOnAbort, Query } from './query';
import { ResultHandle, withCamelCase } from './result_handle';
import type { Session } from './session';
import { tellStorage } from './storage';

const SCAN = ['columns', 'where', 'limit', 'offset', 'withRowId', 'signal'] as const;

/** An object of the engine's JSON, by names in camelCase. */
function told<T>(json: string): T {
  return withCamelCase(JSON.parse(json)) as T;
}

/** What building an index, or bringing one up to date, did. */
export type IndexReport = Record<string, unknown> & { name: string; version: number };

/** What the manifest tells of an index. */
export type IndexDescription = Record<string, unknown> & {
  name: string;
  column: string;
  type: string;
  metric: string;
  usable: boolean;
  coveredRows: number;
  uncoveredRows: number;
};

/** @internal The rows of a left side as a dataset, in one commit. */
export async function write(
  session: Session,
  rows: Left,
  uri: string,
  options: WriteDatasetOptions,
): Promise<WriteReport> {
  session.check();
  const [work, watching] = parted(options);
  text('uri', uri);
  const given = toWriteOptions(work);
  const table = await toTable(rows);
  return watched(session, watching, (watch) => native.writeDataset(watch, uri, table, given));
}

/**
 * One version of a Lance dataset, as it was then whatever others write later; what a query opens of
 * its indexes stays open. What this object itself changes takes it on to the version that came of
 * it: queries that were made before keep theirs.
 */
export class Dataset {
  readonly uri: string;
  readonly #session: Session;
  #dataset: NativeDataset;

  /** @internal */
  constructor(session: Session, uri: string, dataset: NativeDataset) {
    this.#session = session;
    this.uri = uri;
    this.#dataset = dataset;
  }

  /** The version that is open. */
  get version(): number {
    return native.datasetVersion(this.#dataset);
  }

  /** The nearest rows to one vector, to several, or to those of a table. */
  search(queries: Queries, options: JoinOptions = {}): Query {
    const dataset = this.#dataset;
    const makeTable = async () => {
      tellStorage(optionsOf(options).storageOptions, queries);
      return toQueries(queries);
    };
    return new Query(this.#session, makeTable, async (table) =>
      native.makeJoin(table, dataset, 'search', toNativeOptions(options)),
    );
  }

  /** Joins a left table with this dataset as the right side. */
  join(left: Left, options: JoinOptions = {}): Query {
    return this.#session.join(left, this, options);
  }

  /** @internal What is open. */
  get held(): NativeDataset {
    return this.#dataset;
  }

  /** The dataset's own rows, in its order, as a pending handle. */
  scan(options: ScanOptions = {}): Promise<ResultHandle> {
    return quiet(this.#scan(options));
  }

  async #scan(options: ScanOptions) {
    this.#session.check();
    const { columns, where, limit, offset, withRowId, ...others } = optionsOf(options, SCAN);
    const signal = signalOf(others.signal);
    if (signal?.aborted) throw aborted(signal);
    const stream = await translated(() =>
      native.scanDataset(
        this.#dataset,
        columns === undefined ? undefined : (texts('columns', columns) as string[]),
        where === undefined ? undefined : (text('where', where) as string),
        limit === undefined ? undefined : (integer('limit', limit) as number),
        offset === undefined ? undefined : (integer('offset', offset) as number),
        withRowId === undefined ? false : (flag('withRowId', withRowId) as boolean),
      ),
    );
    const handle = new ResultHandle(native, stream, undefined, 'pending', this.#session);
    this.#session.remember(handle);
    if (signal !== undefined) cancelOnAbort(handle, signal);
    return handle;
  }

  /** How many rows there are, or pass a SQL predicate. */
  countRows(options: { where?: string; signal?: AbortSignal } = {}): Promise<number> {
    const counted = async () => {
      const { where, signal } = optionsOf(options, ['where', 'signal']);
      if (where !== undefined) text('where', where);
      return watched(this.#session, { signal }, (watch) =>
        native.countRows(watch, this.#dataset, where),
      );
    };
    return quiet(counted());
  }

  /** The vector indexes: how each is called, its column, type and metric, the rows it covers. */
  indices(): Promise<IndexDescription[]> {
    return quiet(this.#described().then((told) => told.indexes as IndexDescription[]));
  }

  /** Versions, tags, columns, fragments, indexes. */
  describe(): Promise<Record<string, unknown>> {
    return this.#described();
  }

  /** One index with what its files tell. */
  describeIndex(name: string): Promise<Record<string, unknown>> {
    return this.#described(() => text('name', name) as string);
  }

  #described(indexOf?: () => string): Promise<Record<string, unknown>> {
    const described = async () => {
      this.#session.check();
      const index = indexOf?.();
      return told<Record<string, unknown>>(
        await translated(native.describeDataset(this.#dataset, index)),
      );
    };
    return quiet(described());
  }

  /** The change is committed; this object is of its version now, or of a later one of its own. */
  async #movedTo<Told extends { version: number }>(told: Told): Promise<Told> {
    const opened = await translated(native.openDataset(this.uri, told.version));
    if (told.version > this.version) this.#dataset = opened;
    return told;
  }

  #changed<Told extends { version: number }>(change: () => Promise<Told>): Promise<Told> {
    const changed = async () => {
      this.#session.check();
      return this.#movedTo(await change());
    };
    return quiet(changed());
  }

  /** Adds rows to the latest version, and gives their number. */
  append(rows: Left, options: ChangeOptions = {}): Promise<number> {
    const appended = this.#changed(() =>
      write(this.#session, rows, this.uri, { ...optionsOf(options), mode: 'append' }),
    );
    return quiet(appended.then((told) => told.rows));
  }

  /**
   * Deletes the rows of the latest version for which a SQL predicate is true, and gives their
   * number.
   */
  delete(where: string, options: ChangeOptions = {}): Promise<number> {
    const deleted = this.#changed(async () => {
      text('where', where);
      return watched(this.#session, options, (watch) => native.deleteRows(watch, this.uri, where));
    });
    return quiet(deleted.then((told) => told.rows));
  }

  /** Makes large fragments of small ones, without their deleted rows. */
  compact(options: CompactOptions & ChangeOptions = {}): Promise<WriteReport> {
    return this.#changed(async () => {
      const [work, watching] = parted(options);
      const given = toCompactOptions(work);
      return watched(this.#session, watching, (watch) =>
        native.compactDataset(watch, this.uri, given),
      );
    });
  }

  /** Builds a vector index over the latest version, commits it, and tells what was built. */
  createVectorIndex(options: CreateIndexOptions = {}): Promise<IndexReport> {
    return this.#changed(async () => {
      const [work, watching] = parted(options);
      const given = toIndexOptions(work);
      return told<IndexReport>(
        await watched(this.#session, watching, (watch) =>
          native.createIndex(watch, this.uri, given),
        ),
      );
    });
  }

  /**
   * Brings one vector index, or all, up to the rows of the latest version, and tells of each
   * whether there was anything to do (`changed`).
   */
  optimizeIndices(
    options: OptimizeOptions & ChangeOptions & { name?: string } = {},
  ): Promise<(IndexReport & { changed: boolean })[]> {
    return quiet(this.#optimize(options));
  }

  async #optimize(options: OptimizeOptions & ChangeOptions & { name?: string }) {
    this.#session.check();
    const [{ name, ...work }, watching] = parted(options);
    const given = toOptimizeOptions(work);
    if (name !== undefined) text('name', name);
    const reports: (IndexReport & { changed: boolean })[] = [];
    for (const one of name === undefined ? await this.#latestNames() : [name]) {
      const text = await watched(this.#session, watching, (watch) =>
        native.optimizeIndex(watch, this.uri, one, given),
      );
      reports.push(await this.#movedTo(told<IndexReport & { changed: boolean }>(text)));
    }
    return reports;
  }

  async #latestNames(): Promise<string[]> {
    const latest = await this.#session.open(this.uri);
    return (await latest.indices()).map((index) => index.name);
  }

  /** Takes an index out of the dataset. Older versions keep it. */
  dropIndex(name: string): Promise<void> {
    return this.#renumbered(() => native.dropIndex(this.uri, text('name', name) as string));
  }

  /** Gives an index another name, which must be free. */
  renameIndex(name: string, newName: string): Promise<void> {
    return this.#renumbered(() =>
      native.renameIndex(
        this.uri,
        text('name', name) as string,
        text('newName', newName) as string,
      ),
    );
  }

  #renumbered(change: () => Promise<number>): Promise<void> {
    const changed = this.#changed(async () => ({ version: await translated(change) }));
    return quiet(changed.then(() => undefined));
  }
}
