// A batch's columns as apache-arrow sees them: types from the C interface's format strings, and
// data over the one block that a batch comes in.
import type * as arrow from 'apache-arrow';
import { lib } from './arrow_copy';
import { KinjoError } from './errors';
import type { PackedBatch } from './native';

/** A field as the Arrow C schema has it. */
export interface ArrowField {
  readonly name: string;
  readonly format: string;
  readonly nullable: boolean;
  readonly keysSorted: boolean;
  readonly children: readonly ArrowField[];
  readonly dictionary: ArrowField | null;
}

/** One column of a batch: views of the block, null where a type has no such buffer. */
export interface Column {
  readonly field: ArrowField;
  readonly length: number;
  readonly validity: Uint8Array | null;
  readonly offsets: Int32Array | null;
  readonly values: Uint8Array | null;
  readonly children: readonly Column[];
  readonly dictionary: Column | null;
}

const RECORD_NUMBERS = 7;

/** The columns of a batch; they share its memory. */
export function columnsOf(schema: ArrowField, batch: PackedBatch): readonly Column[] {
  const block = batch.data;
  const directory = new Float64Array(block, batch.directory);
  let record = 0;
  const read = (field: ArrowField): Column => {
    const at = record;
    record += RECORD_NUMBERS;
    const number = (index: number): number => directory[at + index] as number;
    const length = number(0);
    const bitmap = number(2);
    const offsets = number(3);
    const values = number(5);
    return {
      field,
      length,
      validity: bitmap < 0 ? null : new Uint8Array(block, bitmap, (length + 7) >> 3),
      offsets: offsets < 0 ? null : new Int32Array(block, offsets, number(4) / 4),
      values: values < 0 ? null : new Uint8Array(block, values, number(6)),
      children: field.children.map(read),
      dictionary: field.dictionary === null ? null : read(field.dictionary),
    };
  };
  return read(schema).children;
}

const UNITS: Record<string, arrow.TimeUnit> = {
  s: lib.TimeUnit.SECOND,
  m: lib.TimeUnit.MILLISECOND,
  u: lib.TimeUnit.MICROSECOND,
  n: lib.TimeUnit.NANOSECOND,
};

const PLAIN: Record<string, () => arrow.DataType> = {
  n: () => new lib.Null(),
  b: () => new lib.Bool(),
  c: () => new lib.Int8(),
  C: () => new lib.Uint8(),
  s: () => new lib.Int16(),
  S: () => new lib.Uint16(),
  i: () => new lib.Int32(),
  I: () => new lib.Uint32(),
  l: () => new lib.Int64(),
  L: () => new lib.Uint64(),
  e: () => new lib.Float16(),
  f: () => new lib.Float32(),
  g: () => new lib.Float64(),
  tdD: () => new lib.DateDay(),
  tdm: () => new lib.DateMillisecond(),
};
// 32-bit offsets are what a batch is packed with, whatever its source had.
for (const format of ['u', 'U', 'vu']) PLAIN[format] = () => new lib.Utf8();
for (const format of ['z', 'Z', 'vz']) PLAIN[format] = () => new lib.Binary();

/** Bits of a decimal, its precision and scale. */
export function decimalOf(format: string): { precision: number; scale: number; bits: number } {
  const [precision = 0, scale = 0, bits = 128] = format.slice(2).split(',').map(Number);
  return { precision, scale, bits };
}

function valueTypeOf(field: ArrowField): arrow.DataType {
  const { format } = field;
  const plain = PLAIN[format];
  if (plain !== undefined) return plain();
  const children = field.children.map(fieldOf);
  const child = children[0] as arrow.Field;
  const unit = UNITS[format[2] ?? ''] as arrow.TimeUnit;
  if (format.startsWith('d:')) {
    const { precision, scale, bits } = decimalOf(format);
    return new lib.Decimal(scale, precision, bits);
  }
  if (format.startsWith('w:')) return new lib.FixedSizeBinary(Number(format.slice(2)));
  if (format.startsWith('ts')) {
    return new lib.Timestamp(unit, format.slice(4) || null);
  }
  if (format.startsWith('tt')) return new lib.Time(unit, /[sm]$/.test(format) ? 32 : 64);
  if (format.startsWith('tD')) return new lib.Duration(unit);
  if (format === '+l' || format === '+L') return new lib.List(child);
  if (format.startsWith('+w:')) return new lib.FixedSizeList(Number(format.slice(3)), child);
  if (format === '+s') return new lib.Struct(children);
  if (format === '+m') {
    return new lib.Map_(
      child as arrow.Field<arrow.Struct<{ key: arrow.DataType; value: arrow.DataType }>>,
      field.keysSorted,
    );
  }
  throw new KinjoError(
    'not_supported',
    `'${field.name}' has an Arrow type of the format '${format}'`,
  );
}

function typeOf(field: ArrowField): arrow.DataType {
  if (field.dictionary === null) return valueTypeOf(field);
  const indices = valueTypeOf(field) as arrow.Int32;
  return new lib.Dictionary(valueTypeOf(field.dictionary), indices);
}

function fieldOf(field: ArrowField): arrow.Field {
  return new lib.Field(field.name, typeOf(field), field.nullable);
}

/** The schema of a table with these columns. */
export function schemaOf(root: ArrowField): arrow.Schema {
  return new lib.Schema(root.children.map(fieldOf));
}

type Values = ArrayBufferView<ArrayBuffer>;
const ARRAYS: Record<string, new (buffer: ArrayBufferLike, at: number, length: number) => Values> =
  {
    c: Int8Array as never,
    C: Uint8Array as never,
    s: Int16Array as never,
    S: Uint16Array as never,
    i: Int32Array as never,
    I: Uint32Array as never,
    l: BigInt64Array as never,
    L: BigUint64Array as never,
    e: Uint16Array as never,
    f: Float32Array as never,
    g: Float64Array as never,
    tdD: Int32Array as never,
    tdm: BigInt64Array as never,
    tts: Int32Array as never,
    ttm: Int32Array as never,
  };

/** The values of a column of fixed width as the typed array of its kind; bytes otherwise. */
export function typedValues(column: Column): ArrayLike<number | bigint> & ArrayBufferView {
  const { format } = column.field;
  const values = column.values as Uint8Array;
  let kind = ARRAYS[format];
  if (kind === undefined && format.startsWith('t')) kind = BigInt64Array as never;
  if (kind === undefined && format.startsWith('d:')) kind = Uint32Array as never;
  if (kind === undefined) return values;
  const width = (kind as unknown as { BYTES_PER_ELEMENT: number }).BYTES_PER_ELEMENT;
  return new kind(values.buffer, values.byteOffset, values.byteLength / width) as never;
}

function dataOf(column: Column, type: arrow.DataType): arrow.Data {
  const children = column.children.map((child, i) =>
    dataOf(child, type.children[i]?.type as arrow.DataType),
  );
  const common = {
    type,
    length: column.length,
    nullCount: column.validity === null ? 0 : -1,
    nullBitmap: column.validity ?? undefined,
  };
  if (column.dictionary !== null) {
    const dictionary = (type as arrow.Dictionary).dictionary as arrow.DataType;
    const values = lib.makeVector(dataOf(column.dictionary, dictionary));
    return lib.makeData({ ...common, data: typedValues(column), dictionary: values } as never);
  }
  if (lib.DataType.isNull(type)) return lib.makeData({ type, length: column.length } as never);
  if (column.offsets !== null) {
    const offsets = { valueOffsets: column.offsets };
    if (column.values === null) {
      return lib.makeData({ ...common, ...offsets, child: children[0] } as never);
    }
    return lib.makeData({ ...common, ...offsets, data: column.values } as never);
  }
  if (column.values === null) {
    const nested = lib.DataType.isStruct(type) ? { children } : { child: children[0] };
    return lib.makeData({ ...common, ...nested } as never);
  }
  return lib.makeData({ ...common, data: typedValues(column) } as never);
}

/** A record batch over the memory of `batch`. */
export function recordBatchOf(
  schema: arrow.Schema,
  root: ArrowField,
  batch: PackedBatch,
): arrow.RecordBatch {
  const children = columnsOf(root, batch).map((column, i) =>
    dataOf(column, schema.fields[i]?.type as arrow.DataType),
  );
  const type = new lib.Struct(schema.fields);
  const data = lib.makeData({ type, length: batch.rows, nullCount: 0, children } as never);
  return new lib.RecordBatch(schema, data as unknown as arrow.Data<arrow.Struct>);
}
