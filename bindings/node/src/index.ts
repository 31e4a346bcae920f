// What the package gives: join and open, the classes behind them, and the types.
import { useArrow } from './arrow_copy';
import type { Left } from './left';
import { native } from './native';
import type { JoinOptions } from './options';
import { Session, type Dataset, type Query } from './session';

export { KinjoError, type ErrorCode } from './errors';
export type { Left, NumberArray, Queries, TablePath, Vectors } from './left';
export type { Progress } from './native';
export type { JoinOptions } from './options';
export {
  ResultHandle,
  type FetchOptions,
  type FinishedOptions,
  type HandleKind,
  type Report,
} from './result_handle';
export type { Row } from './rows';
export { Dataset, Query, Session, type ExecuteOptions } from './session';

const everybodys = new Session();

/** Joins each row of `left` to its nearest rows of `right`, a path. Nothing runs before execute. */
export function join(left: Left, right: string, options?: JoinOptions): Query {
  return everybodys.join(left, right, options);
}

/** Opens a Lance dataset, the latest version unless one is named by its number or tag. */
export function open(uri: string, options?: { version?: number | string }): Promise<Dataset> {
  return everybodys.open(uri, options);
}

/** What this build and machine have: version, instruction sets, threads, memory. */
export function describeRuntime(): Record<string, unknown> {
  return JSON.parse(native.describeRuntime()) as Record<string, unknown>;
}

/** @internal For esm/index.mjs. */
export const internal = { useArrow };
