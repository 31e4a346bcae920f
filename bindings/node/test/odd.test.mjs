// Values that are none, numbers at the edge, memory of other kinds: each has an answer, or an error
// with a code.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join as joinPath } from 'node:path';
import { test } from 'node:test';
import * as arrow from 'apache-arrow';
import { createVectorIndex, join, KinjoError, open, writeDataset } from '../esm/index.mjs';

const folder = mkdtempSync(joinPath(tmpdir(), 'kinjo-node-odd-'));
test.after(() => rmSync(folder, { recursive: true }));

const ROWS = [
  [1, 0],
  [0, 1],
  [1, 1],
].map((vec, id) => ({ id, vec }));

const invalid = (call, message = /./) =>
  assert.rejects(call, (error) => {
    assert.ok(error instanceof KinjoError, error.stack);
    assert.equal(error.code, 'invalid');
    assert.match(error.message, message);
    return true;
  });

async function all(query) {
  const handle = await query.execute();
  return handle.fetchAll();
}
const nearest = async (left, options = {}) =>
  (await all(join(left, ROWS, { k: 1, how: 'left', rightSelect: ['id'], ...options }))).map(
    (row) => row.id_right ?? row.id,
  );

test('rows that match nothing', async () => {
  const rows = [{ vec: null }, { vec: [NaN, 1] }, { vec: [Infinity, 0] }, { vec: [0, 2] }];
  assert.deepEqual(await nearest(rows), [null, null, null, 1]);
  assert.equal((await all(join(ROWS, ROWS, { k: 1000 }))).length, 9);
  await invalid(all(join(ROWS, ROWS, { k: Number.MAX_SAFE_INTEGER })), /k must be at most/);
  await invalid(all(join(ROWS, ROWS, { k: 2n ** 70n })), /k must be an integer/);
});

test('tables of several batches, slices, and lists of every kind', async () => {
  const item = (type) => new arrow.Field('item', type, true);
  const table = (rows, type) => new arrow.Table({ vec: arrow.vectorFromArray(rows, type) });
  const fixed = new arrow.FixedSizeList(2, item(new arrow.Float32()));
  const chunked = table([[1, 0], null], fixed).concat(table([[1, 1]], fixed));
  assert.deepEqual(await nearest(chunked), [0, null, 2]);
  assert.deepEqual(await nearest(chunked.slice(1, 3)), [null, 2]);
  assert.deepEqual(await nearest(chunked.slice(1, 1)), []);
  for (const type of [
    new arrow.FixedSizeList(2, item(new arrow.Float16())),
    new arrow.FixedSizeList(2, item(new arrow.Float64())),
    new arrow.List(item(new arrow.Float32())),
    new arrow.LargeList(item(new arrow.Float32())),
  ]) {
    const rows = [[0, 1], null, [1, 0]];
    assert.deepEqual(await nearest(table(rows, type)), [1, null, 0], type.toString());
    assert.deepEqual(await nearest(table(rows, type).slice(1, 3)), [null, 0], type.toString());
  }
});

test('memory that is part of other memory, or shared', async () => {
  const shared = new Float32Array(new SharedArrayBuffer(8));
  shared.set([0, 1]);
  const part = new Float32Array([9, 0, 1, 9]).subarray(1, 3);
  for (const vectors of [shared, part]) {
    const options = { leftOn: 'vector', rightOn: 'vec' };
    assert.deepEqual(await nearest({ vectors, width: 2 }, options), [1]);
  }
  const bytes = arrow.tableToIPC(arrow.tableFromArrays({ id: [1] }), 'stream');
  const copy = new Uint8Array(new SharedArrayBuffer(bytes.length));
  copy.set(bytes);
  await invalid(all(join(copy, ROWS)), /no vector column/); // it was read
});

test('numbers and dates at the edge', async () => {
  const edges = [2n ** 63n - 1n, -(2n ** 63n), 0n, null];
  const rows = edges.map((a) => ({ a, vec: [1, 1] }));
  assert.deepEqual(
    (await all(join(rows, ROWS, { k: 1 }))).map((row) => row.a),
    edges,
  );
  for (const a of [2n ** 63n, -(2n ** 63n) - 1n]) {
    await invalid(all(join([{ a, vec: [1, 1] }], ROWS)), /column 'a': the value of row 0, -?922/);
  }
  const noTime = { a: new Date(NaN), vec: [1, 1] };
  await invalid(all(join([{ a: new Date(0), vec: [1, 1] }, noTime], ROWS)), /row 1, Invalid Date/);
  for (const a of [Symbol('a'), () => 1, { b: 1 }, [1n]]) {
    await invalid(all(join([{ a, vec: [1, 1] }], ROWS, { on: 'vec' })), /column 'a'/);
  }
});

test('texts with a zero byte are refused, for they would be cut there', async () => {
  const uri = joinPath(folder, 'zero.lance');
  const dataset = await writeDataset(ROWS, uri);
  for (const call of [
    () => open(`${uri}\0.old`),
    () => open(uri, { version: 'tag\0' }),
    () => all(join(ROWS, `${uri}\0`)),
    () => all(join(`${uri}\0`, ROWS)),
    () => all(join({ path: `${uri}\0` }, ROWS)),
    () => all(join(ROWS, uri, { where: 'id = 1\0 or id = 2' })),
    () => all(join(ROWS, uri, { rightSelect: ['id\0'] })),
    () => all(join(ROWS, uri, { rightVersion: 'tag\0' })),
    () => dataset.countRows({ where: 'id = 1\0' }),
    () => dataset.scan({ columns: ['id\0'] }),
    () => dataset.delete('id = 1\0 and id = 2'),
    () => dataset.dropIndex('id\0'),
    () => writeDataset(ROWS, `${uri}\0`, { mode: 'overwrite' }),
  ]) {
    await invalid(call(), /zero byte/);
  }
  assert.equal(await dataset.countRows(), 3);
});

test('options that are none, or of the wrong kind', async () => {
  const uri = joinPath(folder, 'options.lance');
  const dataset = await writeDataset(ROWS, uri, null);
  const handle = await join(ROWS, ROWS, null).execute(null);
  assert.equal(await dataset.countRows(null), 3);
  await (await dataset.scan(null)).close();
  await dataset.compact(null);
  await handle.finished(null);
  for (const call of [
    () => all(join(ROWS, ROWS, 5)),
    () => all(join(ROWS, ROWS, { recall: NaN })),
    () => all(join(ROWS, ROWS, { searchEffort: NaN })),
    () => all(join(ROWS, ROWS, { distanceRange: [NaN, 1] })),
    () => join(ROWS, ROWS).execute({ signal: 5 }),
    () => join(ROWS, ROWS).execute({ signals: 5 }),
    () => join(ROWS, ROWS).explain({ verbose: 'yes' }),
    () => handle.fetchChunk({ as: 'json' }),
    () => handle.fetchChunk({ as: {} }),
    () => handle.fetchChunk({ maxrows: 1 }),
    () => handle.fetchChunk({ maxRows: 0 }),
    () => handle.fetchAll({ maxRows: 1 }),
    () => handle.finished({ callback: 5 }),
    () => handle.finished({ progress: 5 }),
    () => open(uri, 5),
    () => dataset.append(ROWS, { signal: {} }),
    () => dataset.compact({ callback: 5 }),
    () => dataset.describeIndex(5),
    () => dataset.optimizeIndices({ name: 5 }),
    () => dataset.countRows({ were: 'id = 1' }),
    () => createVectorIndex(null),
    () => writeDataset(ROWS),
    () => all(join({ vectors: undefined, width: 2 }, ROWS)),
    () => all(join({ path: 5 }, ROWS)),
    () => all(join({ path: uri, versoin: 1 }, ROWS)),
    () => all(dataset.search(5)),
    () => all(dataset.search(null)),
    () => all(dataset.search([[1, 2], [1]])),
    () => all(dataset.search([1, 2, 3])),
  ]) {
    await invalid(call(), /./);
  }
  assert.equal((await handle.fetchAll()).length, 9); // nothing was taken
  assert.equal(await dataset.countRows(), 3);
});

test('one query as several handles at once, and one handle for several readers', async () => {
  const query = join(ROWS, ROWS);
  const handles = await Promise.all(Array.from({ length: 40 }, () => query.executeAsync()));
  const rows = await Promise.all(handles.map((handle) => handle.fetchAll()));
  assert.ok(rows.every((one) => one.length === 9));
  const shared = await query.executeAsync();
  let taken = 0;
  const reader = async () => {
    for await (const row of shared) taken += row._rank > 0 ? 1 : 0;
  };
  await Promise.all([reader(), reader(), reader()]);
  assert.equal(taken, 9);
});
