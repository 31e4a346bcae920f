// Batches as plain objects, a column at a time: loops over typed arrays, no object between the
// bytes and the row. What each Arrow type becomes is told in docs/node.md.
import { isAscii } from 'node:buffer';
import { columnsOf, decimalOf, typedValues, type ArrowField, type Column } from './arrow_types';
import type { PackedBatch } from './native';

export type Row = Record<string, unknown>;

/** Gives the value of a row that isn't null. */
type Reader = (row: number) => unknown;

function texts(column: Column): Reader {
  const values = column.values as Uint8Array;
  const offsets = column.offsets as Int32Array;
  const buffer = Buffer.from(values.buffer, values.byteOffset, values.byteLength);
  // Places in the bytes are then places in the text, which is decoded once for all rows.
  if (isAscii(values)) {
    const text = buffer.toString('latin1');
    return (row) => text.slice(offsets[row], offsets[row + 1]);
  }
  return (row) => {
    const begin = offsets[row] as number;
    const end = offsets[row + 1] as number;
    return buffer.toString('utf8', begin, end);
  };
}

function binaries(column: Column): Reader {
  const values = column.values as Uint8Array;
  const offsets = column.offsets as Int32Array;
  return (row) => values.slice(offsets[row], offsets[row + 1]);
}

function halfToNumber(half: number): number {
  const exponent = (half >> 10) & 31;
  const fraction = half & 1023;
  const sign = half & 0x8000 ? -1 : 1;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  if (exponent === 31) return fraction ? NaN : sign * Infinity;
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}

function decimals(column: Column): Reader {
  const { scale, bits } = decimalOf(column.field.format);
  const values = column.values as Uint8Array;
  const view = new DataView(values.buffer, values.byteOffset, values.byteLength);
  const bytes = bits / 8;
  return (row) => {
    let number = bits === 32 ? BigInt(view.getInt32(row * 4, true)) : 0n;
    for (let at = bytes - 8; at >= 0; at -= 8) {
      const word = view.getBigUint64(row * bytes + at, true);
      number = (number << 64n) | (at === bytes - 8 ? BigInt.asIntN(64, word) : word);
    }
    if (scale <= 0) return String(number * 10n ** BigInt(-scale));
    const sign = number < 0n ? '-' : '';
    const digits = String(number < 0n ? -number : number).padStart(scale + 1, '0');
    return `${sign}${digits.slice(0, -scale)}.${digits.slice(-scale)}`;
  };
}

const TICKS_PER_MILLISECOND: Record<string, number> = { m: 1, u: 1e3, n: 1e6 };

function timestamps(column: Column): Reader {
  const values = typedValues(column) as unknown as BigInt64Array;
  const unit = column.field.format[2] as string;
  if (unit === 's') return (row) => new Date(Number(values[row]) * 1000);
  const ticks = BigInt(TICKS_PER_MILLISECOND[unit] as number);
  return (row) => {
    const value = values[row] as bigint;
    const rest = value % ticks;
    return new Date(Number((value - rest) / ticks) - (rest < 0n ? 1 : 0));
  };
}

function isNumeric(field: ArrowField): boolean {
  return field.dictionary === null && 'cCsSiIlLfg'.includes(field.format);
}

/** Numbers without nulls as a typed array of their own, any other items as an array. */
function items(child: Column): (begin: number, end: number) => unknown {
  if (isNumeric(child.field) && child.validity === null) {
    const values = typedValues(child) as unknown as Float32Array;
    return (begin, end) => values.slice(begin, end);
  }
  const value = valueReader(child);
  return (begin, end) => {
    const list: unknown[] = [];
    for (let i = begin; i < end; ++i) list.push(value(i));
    return list;
  };
}

function maps(column: Column): Reader {
  const offsets = column.offsets as Int32Array;
  const [keys, values] = (column.children[0] as Column).children.map(valueReader) as [
    Reader,
    Reader,
  ];
  return (row) => {
    const map = new Map<unknown, unknown>();
    for (let i = offsets[row] as number; i < (offsets[row + 1] as number); ++i) {
      map.set(keys(i), values(i));
    }
    return map;
  };
}

function structs(column: Column): Reader {
  const readers = column.children.map((child) => [child.field.name, valueReader(child)] as const);
  return (row) => {
    const value: Row = {};
    for (const [name, reader] of readers) setOwn(value, name, reader(row));
    return value;
  };
}

/** Also for the one name that isn't an ordinary property. */
function setOwn(row: Row, name: string, value: unknown): void {
  if (name !== '__proto__') row[name] = value;
  else
    Object.defineProperty(row, name, {
      value,
      enumerable: true,
      configurable: true,
      writable: true,
    });
}

function plainReader(column: Column): Reader {
  const { format } = column.field;
  const { offsets } = column;
  if (format === 'n') return () => null;
  if (['u', 'U', 'vu'].includes(format)) return texts(column);
  if (['z', 'Z', 'vz'].includes(format)) return binaries(column);
  if (format === '+m') return maps(column);
  if (format === '+s') return structs(column);
  if (format === '+l' || format === '+L') {
    const slice = items(column.children[0] as Column);
    return (row) => slice(offsets?.[row] as number, offsets?.[row + 1] as number);
  }
  if (format.startsWith('+w:')) {
    const width = Number(format.slice(3));
    const slice = items(column.children[0] as Column);
    return (row) => slice(row * width, (row + 1) * width);
  }
  const bytes = column.values as Uint8Array;
  if (format === 'b') return (row) => (((bytes[row >> 3] as number) >> (row & 7)) & 1) === 1;
  if (format.startsWith('w:')) {
    const width = Number(format.slice(2));
    return (row) => bytes.slice(row * width, (row + 1) * width);
  }
  if (format.startsWith('d:')) return decimals(column);
  if (format.startsWith('ts')) return timestamps(column);
  const values = typedValues(column);
  if (format === 'e') return (row) => halfToNumber(values[row] as number);
  if (format === 'tdD') return (row) => new Date((values[row] as number) * 86_400_000);
  if (format === 'tdm') return (row) => new Date(Number(values[row]));
  return (row) => values[row];
}

function isNull(validity: Uint8Array, row: number): boolean {
  return (((validity[row >> 3] as number) >> (row & 7)) & 1) === 0;
}

function valueReader(column: Column): Reader {
  let read = plainReader(column);
  if (column.dictionary !== null) {
    const index = read;
    const value = valueReader(column.dictionary);
    read = (row) => value(Number(index(row)));
  }
  const { validity } = column;
  if (validity === null) return read;
  return (row) => (isNull(validity, row) ? null : read(row));
}

/** Makes the rows of a batch from its columns: arrays to be indexed and readers to be called. */
type Maker = (columns: readonly unknown[], count: number) => Row[];

/** A plain number column may be indexed; others have a reader. */
function isIndexed(column: Column): boolean {
  return isNumeric(column.field) && column.validity === null;
}

/**
 * One object literal with all names: rows then have one shape from the start, which is several
 * times faster than adding properties. Null where a program forbids code from text.
 */
function compiledMaker(names: readonly string[], indexed: readonly boolean[]): Maker | null {
  const values = names.map((name, c) => {
    const value = indexed[c] ? `c${c}[i]` : `c${c}(i)`;
    return `[${JSON.stringify(name)}]: ${value}`;
  });
  const taken = names.map((_, c) => `const c${c} = columns[${c}];`).join(' ');
  const body = `${taken} const rows = new Array(count);
    for (let i = 0; i < count; ++i) rows[i] = { ${values.join(', ')} };
    return rows;`;
  try {
    // eslint-disable-next-line @typescript-eslint/no-implied-eval
    return new Function('columns', 'count', body) as Maker;
  } catch {
    return null;
  }
}

function plainMaker(names: readonly string[], indexed: readonly boolean[]): Maker {
  const read = (column: unknown, c: number, row: number) =>
    indexed[c] ? (column as ArrayLike<unknown>)[row] : (column as Reader)(row);
  return (columns, count) => {
    const rows: Row[] = [];
    for (let i = 0; i < count; ++i) {
      const row: Row = {};
      names.forEach((name, c) => setOwn(row, name, read(columns[c], c, i)));
      rows.push(row);
    }
    return rows;
  };
}

/** Turns the batches of one result into rows. None of their memory is held by the rows. */
export class RowMaker {
  readonly #schema: ArrowField;
  readonly #names: readonly string[];
  /** By which columns of a batch can be indexed: those without nulls in it. */
  readonly #makers = new Map<string, Maker>();

  constructor(schema: ArrowField) {
    this.#schema = schema;
    this.#names = schema.children.map((field) => field.name);
  }

  rowsOf(batch: PackedBatch): Row[] {
    const columns = columnsOf(this.#schema, batch);
    const indexed = columns.map(isIndexed);
    const values = columns.map((column, c) =>
      indexed[c] ? typedValues(column) : valueReader(column),
    );
    return this.#makerOf(indexed)(values, batch.rows);
  }

  #makerOf(indexed: readonly boolean[]): Maker {
    const key = indexed.map(Number).join('');
    let maker = this.#makers.get(key);
    if (maker === undefined) {
      maker = compiledMaker(this.#names, indexed) ?? plainMaker(this.#names, indexed);
      this.#makers.set(key, maker);
    }
    return maker;
  }
}
