// The left side of a join, or the queries of a search, from whatever JavaScript has: a path, Arrow
// IPC bytes, an apache-arrow table, rows as objects, or vectors as numbers.
import type * as arrow from 'apache-arrow';
import { lib } from './arrow_copy';
import { invalid, toError, translated } from './errors';
import { ownTable } from './foreign_table';
import { native, type NativeTable } from './native';
import { integer, optionsOf, text } from './option_checks';

export type NumberArray = Float32Array | Float64Array | Uint8Array | Int8Array;

/** Vectors in one typed array, `width` numbers each. */
export interface Vectors {
  readonly vectors: NumberArray;
  readonly width: number;
}

/** A file, folder, glob or Lance dataset. */
export interface TablePath {
  readonly path: string;
  readonly format?: 'parquet' | 'arrow' | 'csv' | 'jsonl' | 'npy' | 'lance';
  /** Of a Lance dataset. */
  readonly version?: number;
}

/** Bytes are an Arrow IPC stream or file. */
export type Left =
  | string
  | TablePath
  | Uint8Array
  | ArrayBuffer
  | arrow.Table
  | Vectors
  | readonly Readonly<Record<string, unknown>>[];

type Numbers = readonly number[] | Float32Array | Float64Array | Int8Array;
/** One vector, several, or several lists of vectors for a column of lists; or any left side. */
export type Queries = Left | Numbers | readonly Numbers[] | readonly (readonly Numbers[])[];

function elementOf(values: NumberArray): string {
  if (values instanceof Float32Array) return 'float32';
  if (values instanceof Float64Array) return 'float64';
  if (values instanceof Int8Array) return 'int8';
  if (values instanceof Uint8Array) return 'uint8';
  throw invalid('vectors must be a Float32Array, Float64Array, Int8Array or Uint8Array');
}

/** Memory that other threads may change isn't handed on. */
function unshared<A extends NumberArray>(values: A): A {
  return values.buffer instanceof ArrayBuffer ? values : (values.slice() as A);
}

function fromVectors(given: NumberArray, width: number, lengths?: number[]): NativeTable {
  const element = elementOf(given);
  const values = unshared(given);
  if (!Number.isSafeInteger(width)) throw invalid(`width must be an integer, but is ${width}`);
  if (width > 0 && values.length % width !== 0) {
    throw invalid(`width = ${width} does not divide the ${values.length} numbers of the vectors`);
  }
  try {
    return native.tableFromVectors(values, element, width, lengths);
  } catch (thrown) {
    throw toError(thrown);
  }
}

function isNumbers(value: unknown): value is Numbers {
  if (
    value instanceof Float32Array ||
    value instanceof Float64Array ||
    value instanceof Int8Array
  ) {
    return true;
  }
  return Array.isArray(value) && value.length > 0 && value.every((one) => typeof one === 'number');
}

/** Several vectors behind each other; all must be of the first one's kind and width. */
function joined(vectors: readonly Numbers[]): { values: NumberArray; width: number } {
  const first = vectors[0];
  const width = first?.length ?? 0;
  const Kind = (
    Array.isArray(first) ? Float32Array : first?.constructor
  ) as Float32ArrayConstructor;
  const values = new Kind(width * vectors.length);
  vectors.forEach((vector, i) => {
    if (vector.length !== width) {
      throw invalid(`query ${i} has ${vector.length} numbers and query 0 has ${width}`);
    }
    values.set(vector, i * width);
  });
  return { values, width };
}

function fromNumbers(queries: unknown): NativeTable | undefined {
  if (isNumbers(queries)) {
    const { values, width } = joined([queries]);
    return fromVectors(values, width);
  }
  if (!Array.isArray(queries) || queries.length === 0) return undefined;
  if (queries.every(isNumbers)) {
    const { values, width } = joined(queries);
    return fromVectors(values, width);
  }
  if (queries.every((list) => Array.isArray(list) && list.every(isNumbers))) {
    const lists = queries;
    const { values, width } = joined(lists.flat());
    return fromVectors(
      values,
      width,
      lists.map((list) => list.length),
    );
  }
  return undefined;
}

/** Rows as objects: the columns in the order in which rows name them. */
function fromObjects(rows: readonly Readonly<Record<string, unknown>>[]): arrow.Table {
  const names = new Set<string>();
  for (const [i, row] of rows.entries()) {
    if (typeof row !== 'object' || row === null) throw invalid(`row ${i} is not an object`);
    for (const name of Object.keys(row)) names.add(name);
  }
  const columns: Record<string, arrow.Vector> = {};
  for (const name of names)
    columns[name] = toVector(
      name,
      rows.map((row) => row[name] ?? null),
    );
  return new lib.Table(columns);
}

function isTypedVector(value: unknown): value is Exclude<NumberArray, Uint8Array> {
  return ArrayBuffer.isView(value) && !(value instanceof DataView);
}

/** A column of vectors of one width, if these are. */
function toVectors(values: readonly unknown[]): arrow.Vector | undefined {
  const first = values.find((value) => value !== null);
  const isVector = (value: unknown) => isTypedVector(value) || isNumbers(value);
  if (!values.every((value) => value === null || isVector(value))) return undefined;
  const width = (first as ArrayLike<number>).length;
  if (!values.every((value) => value === null || (value as Numbers).length === width)) {
    return undefined;
  }
  const Kind = (
    Array.isArray(first) ? Float64Array : (first as object).constructor
  ) as Float64ArrayConstructor;
  const all = new Kind(width * values.length);
  const validity = new Uint8Array((values.length + 7) >> 3);
  values.forEach((value, i) => {
    if (value === null) return;
    all.set(value as Numbers, i * width);
    validity[i >> 3] = (validity[i >> 3] as number) | (1 << (i & 7));
  });
  const items = lib.makeVector(all);
  const type = new lib.FixedSizeList(width, new lib.Field('item', items.type, true));
  const child = items.data[0];
  const data = { type, length: values.length, nullCount: -1, nullBitmap: validity, child };
  return lib.makeVector(lib.makeData(data as never));
}

/** Refuses a column for its first value that is wrong. */
function refuse(
  name: string,
  values: readonly unknown[],
  isWrong: (value: unknown) => boolean,
  why: string,
): void {
  const row = values.findIndex((value) => value !== null && isWrong(value));
  if (row < 0) return;
  throw invalid(`column '${name}': the value of row ${row}, ${String(values[row])}, is ${why}`);
}

function scalarType(name: string, values: readonly unknown[]): arrow.DataType {
  const kinds = new Set(values.filter((value) => value !== null).map((value) => typeof value));
  if (values.every((value) => value === null)) return new lib.Null();
  if (values.every((value) => value === null || value instanceof Date)) {
    refuse(name, values, (value) => Number.isNaN((value as Date).getTime()), 'no time');
    return new lib.TimestampMillisecond();
  }
  if (kinds.size === 1) {
    if (kinds.has('string')) return new lib.Utf8();
    if (kinds.has('boolean')) return new lib.Bool();
    if (kinds.has('bigint')) {
      const isBeyond = (value: unknown) => BigInt.asIntN(64, value as bigint) !== value;
      refuse(name, values, isBeyond, 'beyond 64 bits with a sign');
      return new lib.Int64();
    }
    if (kinds.has('number')) {
      const narrow = (value: unknown) =>
        value === null || (value as number) === ((value as number) | 0);
      return values.every(narrow) ? new lib.Int32() : new lib.Float64();
    }
  }
  throw invalid(
    `column '${name}' has values of mixed or unknown kinds: numbers, bigints, strings, booleans, ` +
      'Dates or vectors are known',
  );
}

function toVector(name: string, values: readonly unknown[]): arrow.Vector {
  const isList = (value: unknown) => Array.isArray(value) || isTypedVector(value);
  if (values.some(isList)) {
    const vectors = toVectors(values);
    if (vectors !== undefined) return vectors;
    const numbers = (value: unknown) =>
      value === null || isNumbers(value) || (value as []).length === 0;
    if (!values.every(numbers)) throw invalid(`column '${name}' has lists of other than numbers`);
    const type = new lib.List(new lib.Field('item', new lib.Float64(), true));
    return lib.vectorFromArray(
      values.map((value) => value && Array.from(value as Numbers)),
      type,
    );
  }
  return lib.vectorFromArray(values as unknown[], scalarType(name, values)) as arrow.Vector;
}

function isTable(value: object): value is arrow.Table {
  return value instanceof lib.Table || ('schema' in value && 'batches' in value);
}

function openPath(given: TablePath): Promise<NativeTable> {
  const { path, format, version } = optionsOf(given, ['path', 'format', 'version']);
  return translated(
    native.openTable(
      text('path', path) as string,
      format === undefined ? undefined : (text('format', format) as string),
      version === undefined ? undefined : (integer('version', version) as number),
    ),
  );
}

/** Makes the engine's table of one side of a join. */
export async function toTable(left: Left, side = 'left'): Promise<NativeTable> {
  if (typeof left === 'string') return translated(native.openTable(text(side, left) as string));
  if (left instanceof Uint8Array) return translated(native.tableFromIpc(unshared(left), side));
  if (left instanceof ArrayBuffer) return toTable(new Uint8Array(left), side);
  if (Array.isArray(left)) {
    const rows = left as readonly Record<string, unknown>[];
    return toTable(lib.tableToIPC(fromObjects(rows), 'stream'), side);
  }
  if (typeof left === 'object' && left !== null) {
    if (isTable(left)) return toTable(lib.tableToIPC(ownTable(left), 'stream'), side);
    if ('vectors' in left) return fromVectors(left.vectors, left.width);
    if ('path' in left) return openPath(left);
  }
  throw invalid(
    `${side} must be a path, Arrow IPC bytes, an Arrow table, an array of objects or ` +
      '{vectors, width}',
  );
}

/** The same for the queries of a search, which may be bare numbers too. */
export async function toQueries(queries: Queries): Promise<NativeTable> {
  const table = fromNumbers(queries);
  return table === undefined ? toTable(queries as Left) : table;
}
