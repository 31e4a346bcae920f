// What goes wrong, as one class with the codes that every face of Kinjo has.

export type ErrorCode =
  | 'invalid'
  | 'not_found'
  | 'io'
  | 'corrupt'
  | 'not_supported'
  | 'capacity'
  | 'cancelled'
  | 'conflict'
  | 'refused'
  | 'state'
  | 'internal';

export class KinjoError extends Error {
  override readonly name = 'KinjoError';
  /** What kind of thing went wrong; docs/semantics.md lists the codes. */
  readonly code: ErrorCode;
  /** The file that the error is about, if the message doesn't say all. */
  readonly path: string | undefined;
  /** The byte of that file. */
  readonly offset: number | undefined;

  constructor(
    code: ErrorCode,
    message: string,
    details: { path?: string; offset?: number; cause?: unknown } = {},
  ) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.code = code;
    this.path = details.path;
    this.offset = details.offset;
  }
}

interface NativeError {
  code: ErrorCode;
  message: string;
  path?: string;
  offset?: number;
  cause?: NativeError | null;
}

function isNativeError(value: unknown): value is NativeError {
  return (
    typeof value === 'object' && value !== null && !(value instanceof Error) && 'code' in value
  );
}

/** @internal What the addon threw, as an error of ours. */
export function toError(thrown: unknown): unknown {
  if (!isNativeError(thrown)) return thrown;
  return new KinjoError(thrown.code, inCamelCase(thrown.message), {
    path: thrown.path === '' ? undefined : thrown.path,
    offset: thrown.offset === undefined || thrown.offset < 0 ? undefined : thrown.offset,
    cause: thrown.cause ? toError(thrown.cause) : undefined,
  });
}

const OPTIONS =
  'left_on right_on minimum_nprobes maximum_nprobes refine_factor fast_search distance_range ' +
  'left_select right_select with_row_id with_query_index right_version right_tag search_effort ' +
  'approx_mode exclude_self unordered_pairs memory_limit_bytes memory_limit max_rows ' +
  'data_version vector_column max_rows_per_file max_bytes_per_file stable_row_ids ' +
  'target_rows deleted_share_max num_partitions target_partition_size num_sub_vectors num_bits ' +
  'ef_construction max_level sample_rate max_iterations num_indices_to_merge';
const OPTION_NAMES = new RegExp(`(?<![\\w'"-])(${OPTIONS.split(' ').join('|')})\\b`, 'g');

/** Messages name options as the C ABI does; here they are spelled as JavaScript has them. */
function inCamelCase(message: string): string {
  return message.replace(OPTION_NAMES, (name) =>
    name === 'memory_limit_bytes' ? 'memoryLimit' : camelCase(name),
  );
}

/** @internal */
export function camelCase(name: string): string {
  return name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

/** @internal */
export function invalid(message: string): KinjoError {
  return new KinjoError('invalid', message);
}

/** @internal What work rejects with that a signal stopped. */
export function aborted(signal: AbortSignal): KinjoError {
  return new KinjoError('cancelled', 'aborted by a signal', { cause: signal.reason });
}

/** @internal A promise of the addon's, with errors of ours. */
export async function translated<T>(promise: Promise<T> | (() => Promise<T>)): Promise<T> {
  try {
    return await (typeof promise === 'function' ? promise() : promise);
  } catch (thrown) {
    throw toError(thrown);
  }
}

/**
 * @internal The same promise, whose rejection is nobody's unhandled one: who awaits it hears of it,
 * and who doesn't isn't ended by it.
 */
export function quiet<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => undefined);
  return promise;
}
