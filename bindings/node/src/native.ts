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

/** A batch in one block: native/packed_batch.h has the layout. */
export interface PackedBatch {
  readonly data: ArrayBuffer;
  readonly directory: number;
  readonly rows: number;
}

export interface Progress {
  /** Left rows that are done. */
  readonly doneRows: number;
  /** -1 while it isn't known. */
  readonly totalRows: number;
  readonly elapsedSeconds: number;
  readonly rowsPerSecond: number;
  /** -1 while it isn't known. */
  readonly remainingSeconds: number;
}

export interface Addon {
  openDataset(uri: string, version?: number, tag?: string): Promise<NativeDataset>;
  describeDataset(dataset: NativeDataset, index?: string): Promise<string>;
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
    right: string | NativeDataset,
    search: boolean,
    options: Record<string, unknown>,
  ): Promise<NativeJoin>;
  explainJoin(join: NativeJoin, verbose: boolean): Promise<string>;
  analyzeJoin(join: NativeJoin): Promise<string>;
  reportJoin(join: NativeJoin): Promise<string>;
  joinSchema(join: NativeJoin): ArrowField;
  runJoin(join: NativeJoin, complete: boolean): Promise<NativeStream>;
  describeRuntime(): string;
  setArrowThreads(threads: number): void;

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
  return addon;
}

export const native: Addon = load();
