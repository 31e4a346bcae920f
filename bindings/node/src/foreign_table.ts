// Tables of another copy of apache-arrow: a program that imports it has the ES modules and this
// package the CommonJS ones, whose classes differ though their objects are alike. What has no code
// in it (types, fields, data) is taken over with the classes changed; bytes are shared.
import type * as arrow from 'apache-arrow';
import { lib } from './arrow_copy';

type Anything = Record<string, unknown>;

function ownClass(value: object): { prototype: object } | undefined {
  const { name } = value.constructor;
  const classes = lib as unknown as Record<string, { prototype: object } | undefined>;
  return classes[name] ?? classes[name.replace(/_$/, '')];
}

function adopt(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return value;
  if (Array.isArray(value)) return value.map(adopt);
  if (value instanceof Map) {
    return new Map([...value].map(([key, one]: [unknown, unknown]) => [key, adopt(one)]));
  }
  // Vectors choose their class by what is in them.
  if (value.constructor.name === 'Vector') {
    return new lib.Vector(adopt((value as arrow.Vector).data) as arrow.Data[]);
  }
  const adopted = Object.create(ownClass(value)?.prototype ?? Object.prototype) as Anything;
  for (const [name, one] of Object.entries(value)) adopted[name] = adopt(one);
  return adopted;
}

/** The same table by the classes that this package writes tables with. */
export function ownTable(table: arrow.Table): arrow.Table {
  // instanceof says yes to other copies' too.
  if (Object.getPrototypeOf(table) === lib.Table.prototype) return table;
  const schema = adopt(table.schema) as arrow.Schema;
  const batches = table.batches.map(
    (batch) => new lib.RecordBatch(schema, adopt(batch.data) as arrow.Data<arrow.Struct>),
  );
  return new lib.Table(schema, batches);
}
