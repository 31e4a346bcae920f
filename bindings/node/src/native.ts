// The addon: which file it is, and what it exports. Handles are opaque here and end when they are
// collected.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { ArrowField } from './arrow_types';

declare const brand: unique symbol;
type Opaque<Name extends string> = { readonly [brand]: Name };
export type NativeTable = Opaque<'table'>;
export type NativeDataset = Opaque<'dataset'>;
export type NativeJoin = Opaque<'join'>;
export type NativeStream = Opaque<'stream'>;
export type NativeWatch = Opaque<'watch'>;

/** A batch in one block: native/packed_batch.h has the layout. */
export interface PackedBatch {
  readonly data: ArrayBuffer;
  readonly directory: number;
  readonly rows: number;
}

export interface Progress {
  /** Rows that are done: the left's, those written, or parts of the work on an index. */
  readonly doneRows: number;
  /** -1 while it isn't known. */
  readonly totalRows: number;
  readonly elapsedSeconds: number;
  readonly rowsPerSecond: number;
  /** -1 while it isn't known. */
  readonly remainingSeconds: number;
}

/** What a change of a dataset did. */
export interface WriteReport {
  /** The dataset's now. */
  readonly version: number;
  readonly rows: number;
  /** New ones. */
  readonly fragments: number;
  /** Those that were replaced. */
  readonly oldFragments: number;
  readonly bytes: number;
}

type Options = Record<string, unknown>;

export interface Addon {
  openDataset(uri: string, version?: number, tag?: string): Promise<NativeDataset>;
  describeDataset(dataset: NativeDataset, index?: string): Promise<string>;
  datasetVersion(dataset: NativeDataset): number;
  countRows(watch: NativeWatch, dataset: NativeDataset, where?: string): Promise<number>;
  scanDataset(
    dataset: NativeDataset,
    columns: string[] | undefined,
    where: string | undefined,
    limit: number | undefined,
    offset: number | undefined,
    withRowId: boolean,
  ): Promise<NativeStream>;

  makeWatch(): NativeWatch;
  raiseWatch(watch: NativeWatch): void;
  watchProgress(watch: NativeWatch): Progress | null;
  writeDataset(
    watch: NativeWatch,
    uri: string,
    rows: NativeTable,
    options: Options,
  ): Promise<WriteReport>;
  deleteRows(watch: NativeWatch, uri: string, where: string): Promise<WriteReport>;
  compactDataset(watch: NativeWatch, uri: string, options: Options): Promise<WriteReport>;
  createIndex(watch: NativeWatch, uri: string, options: Options): Promise<string>;
  optimizeIndex(watch: NativeWatch, uri: string, name: string, options: Options): Promise<string>;
  dropIndex(uri: string, name: string): Promise<number>;
  renameIndex(uri: string, name: string, newName: string): Promise<number>;

  openTable(uri: string, format?: string, version?: number): Promise<NativeTable>;
  tableFromIpc(bytes: Uint8Array, name: string): Promise<NativeTable>;
  tableFromVectors(
    values: NodeJS.TypedArray,
    element: string,
    width: number,
    lengths?: number[],
  ): NativeTable;
  makeJoin(
    left: NativeTable,
    right: string | NativeDataset | NativeTable,
    kind: 'uri' | 'dataset' | 'search' | 'table',
    options: Options,
  ): Promise<NativeJoin>;
  explainJoin(join: NativeJoin, verbose: boolean): Promise<string>;
  analyzeJoin(join: NativeJoin): Promise<string>;
  reportJoin(join: NativeJoin): Promise<string>;
  joinSchema(join: NativeJoin): ArrowField;
  runJoin(join: NativeJoin, complete: boolean): Promise<NativeStream>;
  describeRuntime(): string;
  setArrowThreads(threads: number): void;
  setStorageOptions(prefix: string, names: string[], values: string[]): void;
  /** Ends what runs and waits for it; nothing is settled from then on. */
  stop(): void;

  streamFetch(stream: NativeStream, maxRows?: number): Promise<PackedBatch | null>;
  streamHasMore(stream: NativeStream): Promise<boolean>;
  streamFinish(stream: NativeStream): Promise<void>;
  streamCancel(stream: NativeStream): Promise<void>;
  streamClose(stream: NativeStream): Promise<void>;
  streamSchema(stream: NativeStream): ArrowField;
  streamProgress(stream: NativeStream): Progress | null;
}

function load(): Addon {
  const given = process.env.KINJO_NODE_ADDON;
  const built = join(__dirname, '..', 'prebuilds', `${process.platform}-${process.arch}`);
  const path = given ?? join(built, 'kinjo_node.node');
  if (!existsSync(path)) {
    throw new Error(
      `kinjo has no build for ${process.platform}-${process.arch} at ${path}; ` +
        'in a clone of its repository ./dev node makes one',
    );
  }
  // eslint-disable-next-line @typescript-eslint/no-require-imports
  const addon = require(path) as Addon;
  // This copy of Arrow is the package's own, so its pools are sized as joins are by default.
  const runtime = JSON.parse(addon.describeRuntime()) as { threads: number };
  addon.setArrowThreads(runtime.threads);
  // The process would take down what the engine's threads are using.
  process.once('exit', () => addon.stop());
  return addon;
}

export const native: Addon = load();
