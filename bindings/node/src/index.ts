// What the package gives: join, open, writeDataset and createVectorIndex, the classes behind
// them, and the types.
import { useArrow } from './arrow_copy';
import type { Left } from './left';
import { native } from './native';
import type { JoinOptions } from './options';
import type { CreateIndexOptions, WriteDatasetOptions } from './change_options';
import type { Dataset, IndexReport } from './dataset';
import type { Query } from './query';
import { Session, type OpenOptions, type Right } from './session';

export { KinjoError, type ErrorCode } from './errors';
export type { Left, NumberArray, Queries, TablePath, Vectors } from './left';
export type {
  CompactOptions,
  CreateIndexOptions,
  IndexOptions,
  OptimizeOptions,
  ScanOptions,
  WriteDatasetOptions,
  WriteOptions,
} from './change_options';
export type { ChangeOptions } from './changes';
export { Dataset, type IndexDescription, type IndexReport } from './dataset';
export type { Progress, WriteReport } from './native';
export type { JoinOptions } from './options';
export {
  ResultHandle,
  type FetchOptions,
  type FinishedOptions,
  type HandleKind,
  type Report,
} from './result_handle';
export type { Row } from './rows';
export { Query, type ExecuteOptions } from './query';
export { Session, type OpenOptions, type Right } from './session';
export { setStorageOptions, type StorageOptions } from './storage';

const everybodys = new Session();

/**
 * Joins each row of `left` to its nearest rows of `right`: a path, a dataset that is open, or rows
 * in memory. Nothing runs before execute.
 */
export function join(left: Left, right: Right, options?: JoinOptions): Query {
  return everybodys.join(left, right, options);
}

/** Opens a Lance dataset, the latest version unless one is named by its number or tag. */
export function open(uri: string, options?: OpenOptions): Promise<Dataset> {
  return everybodys.open(uri, options);
}

/**
 * Writes rows as a Lance dataset, in one commit: all of it is there afterwards, or nothing. Gives
 * the dataset as it is then.
 */
export function writeDataset(
  rows: Left,
  uri: string,
  options?: WriteDatasetOptions,
): Promise<Dataset> {
  return everybodys.writeDataset(rows, uri, options);
}

/** Builds a vector index over a dataset, which may be open, and commits it. */
export function createVectorIndex(
  dataset: string | Dataset,
  options?: CreateIndexOptions,
): Promise<IndexReport> {
  return everybodys.createVectorIndex(dataset, options);
}

/** What this build and machine have: version, instruction sets, threads, memory. */
export function describeRuntime(): Record<string, unknown> {
  return JSON.parse(native.describeRuntime()) as Record<string, unknown>;
}

/** @internal For esm/index.mjs. */
export const internal = { useArrow };
