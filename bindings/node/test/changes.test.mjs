// Datasets that the package writes, changes and indexes, read again by itself.
import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join as joinPath } from 'node:path';
import { test } from 'node:test';
import * as arrow from 'apache-arrow';
import { createVectorIndex, join, KinjoError, open, Session, writeDataset } from '../esm/index.mjs';

const folder = mkdtempSync(joinPath(tmpdir(), 'kinjo-node-'));
const unhandled = [];
process.on('unhandledRejection', (reason) => unhandled.push(reason));
test.after(() => {
  rmSync(folder, { recursive: true });
  assert.deepEqual(unhandled, []);
});

let places = 0;
const place = () => joinPath(folder, `${++places}.lance`);

const rejects = (promise, code, message = /./) =>
  assert.rejects(promise, (error) => {
    assert.ok(error instanceof KinjoError, error);
    assert.equal(error.code, code);
    assert.match(error.message, message);
    return true;
  });

/** Numbers between -1 and 1, the same each time. */
function numbers(count, seed) {
  let state = seed;
  return Float32Array.from({ length: count }, () => {
    state = (Math.imul(state, 1664525) + 1013904223) | 0;
    return state / 2 ** 31;
  });
}

function rowsOf(count, width = 8, firstId = 0) {
  const values = numbers(count * width, firstId + 1);
  return Array.from({ length: count }, (_, i) => ({
    id: firstId + i,
    text: `text ${firstId + i}`,
    vec: values.slice(i * width, (i + 1) * width),
  }));
}

async function idsOf(dataset, options = {}) {
  const handle = await dataset.scan({ columns: ['id'], ...options });
  const rows = await handle.fetchAll();
  await handle.close();
  return rows.map((row) => Number(row.id));
}

test('what is written is read, from every kind of rows', async () => {
  const rows = rowsOf(300);
  const first = await writeDataset(rows, place());
  assert.equal(first.version, 1);
  assert.equal(await first.countRows(), 300);
  const table = await (await first.scan()).fetchAll({ as: 'arrow' });
  const sources = [
    table,
    arrow.tableToIPC(table, 'stream'),
    arrow.tableToIPC(table, 'file'),
    first.uri,
    { path: first.uri, format: 'lance' },
  ];
  for (const source of sources) {
    const dataset = await writeDataset(source, place());
    const read = await (await dataset.scan()).fetchAll();
    assert.deepEqual(read, rows);
    const near = await join(rows, dataset.uri, { k: 1, rightSelect: ['id'] }).execute();
    assert.ok((await near.fetchAll()).every((row) => row.id === row.id_right));
  }
  const flat = { vectors: numbers(40, 7), width: 4 };
  assert.equal(await (await writeDataset(flat, place())).countRows(), 10);
});

test('a scan gives some columns of some rows', async () => {
  const dataset = await writeDataset(rowsOf(30), place());
  assert.deepEqual(await idsOf(dataset, { limit: 3 }), [0, 1, 2]);
  assert.deepEqual(await idsOf(dataset, { offset: 27 }), [27, 28, 29]);
  const some = { where: 'id % 2 = 0', limit: 2, offset: 4 };
  assert.deepEqual(await idsOf(dataset, some), [8, 10]);
  assert.deepEqual(await idsOf(dataset, { offset: 30 }), []);
  assert.equal((await open(dataset.uri, { version: 1n })).version, 1);
});

test('modes and options of writing', async () => {
  const uri = place();
  const [all, ten, seven] = [rowsOf(300), rowsOf(10), rowsOf(7)];
  await writeDataset(all, uri, { maxRowsPerFile: 100, dataVersion: '2.1', stableRowIds: true });
  const described = await (await open(uri)).describe();
  assert.equal(described.formatVersion, '2.1');
  assert.equal(described.fragments.length, 3);
  await rejects(writeDataset(all, uri), 'conflict');
  assert.equal(await (await writeDataset(ten, uri, { mode: 'append' })).countRows(), 310);
  assert.equal(await (await writeDataset(seven, uri, { mode: 'overwrite' })).countRows(), 7);
  for (const [version, count] of [
    [1, 300],
    [2, 310],
    [3, 7],
  ]) {
    assert.equal(await (await open(uri, { version })).countRows(), count);
  }
  const lists = rowsOf(5).map(({ id, vec }) => ({ id, vec: id === 3 ? null : Array.from(vec) }));
  const item = new arrow.List(new arrow.Field('item', new arrow.Float32(), true));
  const table = new arrow.Table({
    id: arrow.vectorFromArray(lists.map((row) => row.id)),
    vec: arrow.vectorFromArray(
      lists.map((row) => row.vec),
      item,
    ),
  });
  const { schema } = await (await writeDataset(table, place(), { vectorColumn: 'vec' })).describe();
  assert.match(schema.find((field) => field.name === 'vec').type, /^fixed_size_list<.*\[8\]$/);
});

test('options of changes that cannot be are refused, by their names here', async () => {
  const rows = rowsOf(20);
  const dataset = await writeDataset(rows, place());
  await rejects(writeDataset(rows, place(), { mode: 'upsert' }), 'invalid', /mode is 'upsert'/);
  await rejects(writeDataset(rows, place(), { maxRowsPerFile: 0 }), 'invalid', /maxRowsPerFile/);
  await rejects(writeDataset(rows, place(), { rows: 1 }), 'invalid', /no option 'rows'/);
  await rejects(writeDataset(rows, place(), { mode: 3 }), 'invalid', /mode must be a string/);
  await rejects(writeDataset(7, place()), 'invalid', /left must be/);
  await rejects(dataset.createVectorIndex({ nlist: 4 }), 'invalid', /no option 'nlist'/);
  await rejects(dataset.createVectorIndex({ type: 'IVF_NONE' }), 'invalid', /IVF_NONE/);
  await rejects(dataset.createVectorIndex({ numPartitions: 0 }), 'invalid', /numPartitions/);
  await rejects(dataset.createVectorIndex({ numBits: 1.5 }), 'invalid', /must be an integer/);
  await rejects(dataset.createVectorIndex({ column: 'nowhere' }), 'not_found', /nowhere/);
  await rejects(dataset.optimizeIndices({ name: 'nowhere' }), 'not_found');
  await rejects(dataset.delete('id <'), 'invalid', /character/);
  await rejects(dataset.delete(), 'invalid', /where must be a string/);
  await rejects(dataset.compact({ targetRows: 0 }), 'invalid', /targetRows/);
  await rejects(dataset.scan({ limits: 1 }), 'invalid', /no option 'limits'/);
  await rejects(dataset.scan({ columns: ['nowhere'] }), 'not_found', /nowhere/);
  await rejects(dataset.scan({ offset: -1 }), 'invalid', /offset/);
  await rejects(dataset.scan({ offset: 0.5 }), 'invalid', /offset must be an integer/);
  await rejects(dataset.scan({ withRowId: 'yes' }), 'invalid', /withRowId/);
  await rejects(open(dataset.uri, { versoin: 1 }), 'invalid', /no option 'versoin'/);
  await rejects(open(dataset.uri, { version: 1.5 }), 'invalid', /version must be an integer/);
  await rejects(open(7), 'invalid', /uri must be a string/);
  await rejects(dataset.countRows({ where: 'nowhere > 1' }), 'not_found', /nowhere/);
  await rejects(createVectorIndex('nowhere.lance'), 'not_found');
  assert.equal(dataset.version, 1);
});

test('a dataset moves on by its own changes', async () => {
  const uri = place();
  const dataset = await writeDataset(rowsOf(300), uri, { maxRowsPerFile: 100 });
  const other = await open(uri);
  assert.equal(await dataset.append(rowsOf(20)), 20);
  assert.equal(await dataset.delete('id < 15'), 30);
  assert.equal(dataset.version, 3);
  assert.deepEqual([await dataset.countRows(), await other.countRows()], [290, 300]);
  assert.equal(await dataset.countRows({ where: 'id >= 290' }), 10);
  assert.equal(await dataset.delete('id > 1000'), 0);
  assert.equal(dataset.version, 3);
  const told = await dataset.compact();
  assert.deepEqual([told.version, dataset.version], [4, 4]);
  assert.ok(told.oldFragments > told.fragments);
  const ids = [...Array(300).keys()].slice(15);
  assert.deepEqual(
    (await idsOf(dataset)).sort((a, b) => a - b),
    [...ids, ...[15, 16, 17, 18, 19]].sort((a, b) => a - b),
  );
  assert.deepEqual(await idsOf(other, { limit: 3, where: 'id > 7' }), [8, 9, 10]);
  const withIds = await (await other.scan({ columns: ['id'], withRowId: true })).fetchChunk();
  assert.deepEqual(Object.keys(withIds[0]), ['id', '_rowid']);
});

test('appends at once are all kept', async () => {
  const dataset = await writeDataset(rowsOf(10), place());
  const counts = await Promise.all(
    [1, 2, 3, 4, 5].map((i) => dataset.append(rowsOf(i, 8, i * 100))),
  );
  assert.deepEqual(counts, [1, 2, 3, 4, 5]);
  assert.equal(dataset.version, 6);
  assert.equal(await dataset.countRows(), 25);
});

for (const type of ['IVF_FLAT', 'IVF_PQ', 'IVF_SQ', 'IVF_RQ', 'IVF_HNSW_SQ']) {
  test(`an index of the type ${type} is built and searched`, async () => {
    const dataset = await writeDataset(rowsOf(2000, 16), place());
    const told = await createVectorIndex(dataset, { column: 'vec', type, numPartitions: 4 });
    assert.deepEqual(
      [told.type, told.numPartitions, told.version, told.name],
      [type, 4, 2, 'vec_idx'],
    );
    assert.equal(dataset.version, 2);
    const [index] = await dataset.indices();
    assert.deepEqual(
      [index.name, index.type, index.column, index.usable, index.coveredRows],
      ['vec_idx', type, 'vec', true, 2000],
    );
    const queries = rowsOf(20, 16, 5000).map((row) => row.vec);
    const found = async (options) => {
      const handle = await dataset
        .search(queries, { k: 10, rightSelect: ['id'], ...options })
        .execute();
      return (await handle.fetchAll()).map((row) => `${row._query_index} ${row.id}`);
    };
    const truth = new Set(await found({ index: 'never' }));
    const given = await found({ index: 'require', nprobes: 4, refineFactor: 20 });
    assert.ok(given.filter((pair) => truth.has(pair)).length >= 198);
  });
}

test('an index is kept up to date, renamed and dropped', async () => {
  const uri = place();
  const first = await writeDataset(rowsOf(1000), uri);
  const built = await createVectorIndex(uri, {
    type: 'IVF_FLAT',
    numPartitions: 4,
    metric: 'cosine',
  });
  assert.equal(built.metric, 'cosine');
  const dataset = await open(uri);
  assert.deepEqual([first.version, dataset.version], [1, 2]);
  assert.equal((await dataset.optimizeIndices())[0].changed, false);
  await dataset.append(rowsOf(100, 8, 1000));
  assert.equal((await dataset.indices())[0].uncoveredRows, 100);
  const [report] = await dataset.optimizeIndices({ name: 'vec_idx', numIndicesToMerge: 0 });
  assert.deepEqual([report.changed, report.version], [true, 4]);
  assert.equal((await dataset.indices())[0].uncoveredRows, 0);
  assert.equal((await dataset.optimizeIndices({ retrain: true }))[0].changed, true);
  await dataset.renameIndex('vec_idx', 'by_meaning');
  assert.deepEqual(
    (await dataset.indices()).map((index) => index.name),
    ['by_meaning'],
  );
  await dataset.dropIndex('by_meaning');
  assert.deepEqual(await dataset.indices(), []);
  assert.equal(dataset.version, 7);
  await rejects(dataset.dropIndex('by_meaning'), 'not_found');
});

test('progress of changes is told, and what the callback throws comes back', async () => {
  const told = [];
  const callback = (progress) => told.push(progress);
  const dataset = await writeDataset(rowsOf(500), place(), { callback });
  assert.equal(told.at(-1).doneRows, 500);
  told.length = 0;
  await dataset.createVectorIndex({ type: 'IVF_FLAT', callback });
  assert.equal(told.at(-1).doneRows, told.at(-1).totalRows);
  const thrower = () => {
    throw new Error('from the callback');
  };
  await assert.rejects(dataset.append(rowsOf(5), { callback: thrower }), /from the callback/);
});

const aborts = (promise, reason) =>
  assert.rejects(promise, (error) => {
    assert.equal(error.code, 'cancelled');
    assert.match(String(error.cause), reason);
    return true;
  });

test('a signal stops a change, which then never was', async () => {
  const never = place();
  await aborts(writeDataset(rowsOf(5), never, { signal: AbortSignal.abort('before') }), /before/);
  assert.equal(existsSync(never), false);
  const vectors = { vectors: numbers(60_000 * 32, 3), width: 32 };
  const dataset = await writeDataset(vectors, place());
  const controller = new AbortController();
  const callback = () => controller.abort(new Error('changed my mind'));
  const slow = { type: 'IVF_HNSW_FLAT', efConstruction: 400, numPartitions: 2 };
  await aborts(
    dataset.createVectorIndex({ ...slow, signal: controller.signal, callback }),
    /changed my mind/,
  );
  assert.equal((await open(dataset.uri)).version, 1);
  assert.deepEqual(await dataset.indices(), []);
});

test('a session stops its changes, and everything rejects after', async () => {
  const session = new Session();
  const vectors = { vectors: numbers(60_000 * 32, 3), width: 32 };
  const dataset = await session.writeDataset(vectors, place());
  const scan = await dataset.scan();
  const building = dataset.createVectorIndex({
    type: 'IVF_HNSW_FLAT',
    efConstruction: 400,
    numPartitions: 2,
  });
  await dataset.countRows();
  await session.close();
  await rejects(building, 'state', /session was closed/);
  await rejects(scan.fetchChunk(), 'state');
  const calls = [
    () => session.writeDataset(vectors, place()),
    () => session.createVectorIndex(dataset.uri),
    () => session.createVectorIndex(dataset),
    () => dataset.append(vectors),
    () => dataset.delete('true'),
    () => dataset.compact(),
    () => dataset.createVectorIndex(),
    () => dataset.optimizeIndices(),
    () => dataset.optimizeIndices({ name: 'x' }),
    () => dataset.dropIndex('x'),
    () => dataset.renameIndex('x', 'y'),
    () => dataset.scan(),
    () => dataset.countRows(),
    () => dataset.indices(),
  ];
  for (const call of calls) await rejects(call(), 'state', /session was closed/);
  assert.equal((await open(dataset.uri)).version, 1);
});

test('changes that nobody awaits are unhandled nowhere', async () => {
  const dataset = await writeDataset(rowsOf(20), place());
  writeDataset(rowsOf(1), dataset.uri);
  createVectorIndex('nowhere.lance');
  dataset.delete('nowhere > 1');
  dataset.dropIndex('nowhere');
  dataset.optimizeIndices({ name: 'nowhere' });
  dataset.append([{ other: 1 }]);
  dataset.scan({ columns: ['nowhere'] });
  dataset.countRows({ where: '(' });
  await new Promise((resolve) => setTimeout(resolve, 200));
});
