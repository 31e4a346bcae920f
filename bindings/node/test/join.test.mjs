// Joins and searches on the golden datasets, from every kind of left side, as rows and as tables.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join as joinPath } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import * as arrow from 'apache-arrow';
import kinjo, { join, KinjoError, open, Session } from '../esm/index.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const golden = (name) => joinPath(here, '../../../tests/golden', name);
const RIGHT = golden('added_column.lance'); // 78 rows, vec of width 4
const folder = mkdtempSync(joinPath(tmpdir(), 'kinjo-node-'));
const unhandled = [];
process.on('unhandledRejection', (reason) => unhandled.push(reason));
test.after(() => {
  rmSync(folder, { recursive: true });
  assert.deepEqual(unhandled, []);
});

const rejects = (promise, code, message = /./) =>
  assert.rejects(promise, (error) => {
    assert.ok(error instanceof KinjoError, error);
    assert.equal(error.code, code);
    assert.match(error.message, message);
    return true;
  });

const VECTORS = [
  [0.5, 0.5, 0.5, 0.5],
  [1, 2, 3, 4],
  [-1, 0, 0.25, 8],
];
const OBJECTS = VECTORS.map((vec, q) => ({ q, vec }));
const OPTIONS = { k: 3, on: 'vec', rightSelect: ['id'] };

async function answers(query) {
  const handle = await query.execute();
  const rows = await handle.fetchAll();
  await handle.close();
  return rows.map((row) => [row.id, row._distance, row._rank]);
}

test('one answer from every kind of left side', async () => {
  const expected = await answers(join(OBJECTS, RIGHT, OPTIONS));
  assert.equal(expected.length, 9);
  assert.deepEqual(
    expected.map(([, , rank]) => rank),
    [1, 2, 3, 1, 2, 3, 1, 2, 3],
  );
  const typed = VECTORS.map((vec, q) => ({ q, vec: Float32Array.from(vec) }));
  assert.deepEqual(await answers(join(typed, RIGHT, OPTIONS)), expected);
  const item = new arrow.Field('item', new arrow.Float32(), true);
  const column = arrow.vectorFromArray(VECTORS, new arrow.FixedSizeList(4, item));
  const table = new arrow.Table({ vec: column });
  assert.deepEqual(await answers(join(table, RIGHT, OPTIONS)), expected);
  for (const kind of ['stream', 'file']) {
    const bytes = arrow.tableToIPC(table, kind);
    assert.deepEqual(await answers(join(bytes, RIGHT, OPTIONS)), expected);
  }
  const words = arrow.vectorFromArray(
    ['a', 'b', 'a'],
    new arrow.Dictionary(new arrow.Utf8(), new arrow.Int32()),
  );
  const worded = await join(new arrow.Table({ vec: column, words }), RIGHT, OPTIONS).execute();
  assert.equal((await worded.fetchAll())[3].words, 'b');
  const path = joinPath(folder, 'left.arrow');
  writeFileSync(path, arrow.tableToIPC(table, 'file'));
  assert.deepEqual(await answers(join(path, RIGHT, OPTIONS)), expected);
  assert.deepEqual(await answers(join({ path, format: 'arrow' }, RIGHT, OPTIONS)), expected);
  const flat = { vectors: Float32Array.from(VECTORS.flat()), width: 4 };
  const named = { ...OPTIONS, on: undefined, leftOn: 'vector', rightOn: 'vec' };
  assert.deepEqual(await answers(join(flat, RIGHT, named)), expected);
  const dataset = await open(RIGHT);
  assert.deepEqual(await answers(dataset.join(OBJECTS, OPTIONS)), expected);
  const asked = { k: 3, rightSelect: ['id'] };
  assert.deepEqual(await answers(dataset.search(VECTORS, asked)), expected);
  const first = expected.slice(0, 3);
  for (const one of [VECTORS[0], Float32Array.from(VECTORS[0]), Float64Array.from(VECTORS[0])]) {
    assert.deepEqual(await answers(dataset.search(one, asked)), first);
  }
});

test('one answer from every kind of right side', async () => {
  const dataset = await open(RIGHT);
  const expected = await answers(join(OBJECTS, RIGHT, OPTIONS));
  assert.deepEqual(await answers(join(OBJECTS, dataset, OPTIONS)), expected);
  const table = await (await dataset.scan()).fetchAll({ as: 'arrow' });
  assert.deepEqual(await answers(join(OBJECTS, table, OPTIONS)), expected);
  const bytes = arrow.tableToIPC(table, 'file');
  assert.deepEqual(await answers(join(OBJECTS, bytes, OPTIONS)), expected);
  const path = joinPath(folder, 'right.arrow');
  writeFileSync(path, bytes);
  assert.deepEqual(await answers(join(OBJECTS, path, OPTIONS)), expected);
  assert.deepEqual(await answers(join(OBJECTS, { path }, OPTIONS)), expected);
  assert.deepEqual(await answers(join(OBJECTS, { path: RIGHT }, OPTIONS)), expected);
});

test('rows in memory are joined with themselves', async () => {
  const rows = [0, 1, 10, 11].map((x, id) => ({ id, vec: [x, 0] }));
  const pairs = join(rows, rows, { k: 1, unorderedPairs: true, rightSelect: ['id'] });
  for (let i = 0; i < 2; ++i) {
    const handle = await pairs.execute();
    const found = await handle.fetchAll();
    assert.deepEqual(
      found.map((row) => [row.id, row.id_right]),
      [
        [0, 1],
        [2, 3],
      ],
    );
  }
  // Equal rows of two objects aren't the same rows.
  await rejects(join(rows, [...rows], { unorderedPairs: true }).execute(), 'invalid', /self-join/);
});

test('chunks, all rows and tables are the same rows, pending or complete', async () => {
  const query = join(OBJECTS, RIGHT, { k: 40, on: 'vec' });
  const whole = await (await query.execute()).fetchAll();
  assert.equal(whole.length, 120);
  assert.equal(typeof whole[0].id, 'bigint');
  assert.equal(typeof whole[0].q, 'number');
  for (const start of ['execute', 'executeAsync']) {
    const handle = await query[start]();
    assert.equal(handle.kind, start === 'execute' ? 'complete' : 'pending');
    assert.equal(await handle.hasMoreRows(), true);
    const rows = [];
    while (await handle.hasMoreRows()) {
      const chunk = await handle.fetchChunk({ maxRows: 50 });
      assert.equal(chunk.length, rows.length === 100 ? 20 : 50);
      rows.push(...chunk);
    }
    assert.deepEqual(rows, whole);
    await handle.close();
    const table = await (await query[start]()).fetchAll({ as: 'arrow' });
    assert.deepEqual(table.schema.names, Object.keys(whole[0]));
    assert.deepEqual(
      table.toArray().map((row) => row._distance),
      whole.map((row) => row._distance),
    );
    const looped = [];
    for await (const row of await query[start]()) looped.push(row);
    assert.deepEqual(looped, whole);
  }
});

test('every type of column as rows and as a table', async () => {
  for (const version of ['types_v20', 'types_v21', 'types_v22']) {
    const dataset = await open(golden(`${version}.lance`));
    const { schema } = await dataset.describe();
    const lists = schema.filter((field) => /^fixed_size_list<[^<]*float/.test(field.type));
    const width = Number(/\[(\d+)\]$/.exec(lists[0].type)[1]);
    const query = dataset.search(new Float32Array(width), {
      k: 1000,
      on: lists[0].name,
      rightSelect: schema.map((field) => field.name),
    });
    const rows = await (await query.execute()).fetchAll();
    const table = await (await query.execute()).fetchAll({ as: 'arrow' });
    assert.equal(rows.length, table.numRows);
    assert.ok(rows.length > 0);
    for (const [i, row] of rows.entries()) {
      for (const name of table.schema.names) {
        const value = table.getChild(name).get(i);
        assert.equal(row[name] === null, value === null, `${version} ${name} ${i}`);
        if (
          ['number', 'bigint', 'string', 'boolean'].includes(typeof row[name]) &&
          value !== null
        ) {
          if (typeof value !== 'object') assert.deepEqual(row[name], value, name);
        }
      }
    }
  }
});

test('rows of many types come back as they went in', async () => {
  const rows = [
    { q: 1, big: 2n ** 60n, text: 'plain', flag: true, day: new Date(86_400_000), vec: VECTORS[0] },
    { q: -2, big: null, text: 'größer – 近所', flag: null, day: null, vec: VECTORS[1] },
    { q: 0.5, big: -1n, text: null, flag: false, day: new Date(-1), vec: VECTORS[2] },
    { q: null, big: 0n, text: '', flag: true, day: new Date(0), vec: VECTORS[2], late: 'x' },
  ];
  const handle = await join(rows, RIGHT, { k: 1, on: 'vec', rightSelect: [] }).execute();
  const found = await handle.fetchAll();
  assert.equal(found.length, 4);
  for (const [i, row] of rows.entries()) {
    for (const name of ['q', 'big', 'text', 'flag', 'day'])
      assert.deepEqual(found[i][name], row[name]);
    assert.deepEqual([...found[i].vec], row.vec);
    assert.equal(found[i].late, row.late ?? null);
  }
  await rejects(
    join(
      [
        { vec: VECTORS[0], odd: 1 },
        { vec: VECTORS[1], odd: 'x' },
      ],
      RIGHT,
      OPTIONS,
    ).execute(),
    'invalid',
    /odd/,
  );
});

test('plan, schema and report', async () => {
  const query = join(OBJECTS, RIGHT, OPTIONS);
  assert.match(await query.explain(), /^KnnJoin: path=exact, k=3/);
  const columns = ['q', 'vec', 'id', '_distance', '_rank'];
  assert.deepEqual((await query.getSchema()).names, columns);
  const handle = await query.execute();
  assert.deepEqual((await handle.getSchema()).names, columns);
  assert.match(await handle.explain({ verbose: true }), /KnnJoin/);
  assert.match(await handle.analyze(), /KnnJoin/);
  const report = await handle.report();
  assert.equal(report.leftRows, 3);
  assert.equal(report.resultRows, 9);
});

test('errors have codes and name options as they were given', async () => {
  await rejects(join(OBJECTS, RIGHT, { ...OPTIONS, k: 0 }).execute(), 'invalid', /k must be/);
  await rejects(join(OBJECTS, RIGHT, { refineFactor: 0 }).explain(), 'invalid', /refineFactor/);
  await rejects(join(OBJECTS, RIGHT, { k: 1.5 }).execute(), 'invalid', /k must be an integer/);
  await rejects(join(OBJECTS, RIGHT, { nearest: 1 }).execute(), 'invalid', /no option 'nearest'/);
  await rejects(join('nowhere.parquet', RIGHT).execute(), 'not_found', /nowhere/);
  await rejects(open('nowhere.lance'), 'not_found');
  await rejects(join(new Uint8Array([1, 2, 3]), RIGHT).execute(), 'invalid', /Arrow IPC/);
  await rejects(join(OBJECTS, RIGHT, { ...OPTIONS, index: 'require' }).execute(), 'refused');
  await rejects(join(OBJECTS, RIGHT, { ...OPTIONS, memoryLimit: '1MiB' }).execute(), 'capacity');
  await rejects(join(3, RIGHT).execute(), 'invalid', /left must be/);
  for (const right of [3, null, undefined, true, {}]) {
    await rejects(join(OBJECTS, right).execute(), 'invalid', /right must be/);
  }
});

test('progress is told until the work is done', async () => {
  const handle = await join(OBJECTS, RIGHT, OPTIONS).executeAsync();
  const told = [];
  await handle.finished({ callback: (progress) => told.push(progress) });
  assert.equal(told.at(-1).doneRows, 3);
  assert.equal((await handle.fetchAll()).length, 9);
  const thrower = () => {
    throw new Error('from the callback');
  };
  const other = await join(OBJECTS, RIGHT, OPTIONS).executeAsync();
  await assert.rejects(other.finished({ callback: thrower }), /from the callback/);
});

test('a signal cancels', async () => {
  const query = join(OBJECTS, RIGHT, OPTIONS);
  await rejects(query.execute({ signal: AbortSignal.abort('why') }), 'cancelled');
  const controller = new AbortController();
  const handle = await query.executeAsync({ signal: controller.signal });
  controller.abort();
  await rejects(handle.fetchChunk(), 'state', /cancelled/);
  const late = new AbortController();
  const executing = query.execute({ signal: late.signal });
  late.abort(new Error('changed my mind'));
  await assert.rejects(executing, (error) => {
    assert.equal(error.code, 'cancelled');
    assert.match(error.cause.message, /changed my mind/);
    return true;
  });
});

test('a session closes its handles, and everything rejects after', async () => {
  const session = new Session();
  const dataset = await session.open(RIGHT);
  const query = dataset.search(VECTORS[0]);
  const handles = [await query.execute(), await query.executeAsync()];
  const closed = await query.execute();
  await closed.close();
  await session.close();
  await session.close();
  for (const handle of handles) {
    for (const method of [
      'fetchChunk',
      'fetchAll',
      'hasMoreRows',
      'finished',
      'cancel',
      'report',
    ]) {
      await rejects(handle[method](), 'state');
    }
    for (const method of ['getSchema', 'explain', 'analyze'])
      await rejects(handle[method](), 'state');
  }
  for (const method of ['execute', 'executeAsync', 'explain', 'getSchema']) {
    await rejects(query[method](), 'state', /session was closed/);
  }
  await rejects(session.open(RIGHT), 'state');
  await rejects(session.join(OBJECTS, RIGHT, OPTIONS).execute(), 'state');
  await rejects(dataset.describe(), 'state');
  assert.equal((await answers(kinjo.join(OBJECTS, RIGHT, OPTIONS))).length, 9); // others go on
});

test('many at once, and the loop goes on turning', async () => {
  let ticks = 0;
  const timer = setInterval(() => ++ticks, 1);
  const left = { vectors: new Float32Array(4 * 20_000).map((_, i) => Math.sin(i)), width: 4 };
  const options = { k: 5, leftOn: 'vector', rightOn: 'vec', rightSelect: ['id'] };
  const query = join(left, RIGHT, options);
  const tables = await Promise.all(
    Array.from({ length: 8 }, async () => (await query.execute()).fetchAll({ as: 'arrow' })),
  );
  clearInterval(timer);
  for (const table of tables) assert.equal(table.numRows, 100_000);
  assert.ok(ticks > 0);
});
