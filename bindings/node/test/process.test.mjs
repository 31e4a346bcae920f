// What a whole process sees: it ends by itself, loads the package either way, keeps nothing.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);
const here = dirname(fileURLToPath(import.meta.url));
const RIGHT = join(here, '../../../tests/golden/added_column.lance');
const PACKAGE = join(here, '../esm/index.mjs');

/** Runs a module in a process of its own, which must end by itself. */
async function runs(body, ...flags) {
  const begin = `import { join, open, Session } from ${JSON.stringify(PACKAGE)};
    const RIGHT = ${JSON.stringify(RIGHT)};
    process.on('unhandledRejection', (reason) => {
      console.log('unhandled', reason);
      process.exit(9);
    });
    const rows = Array.from({ length: 2000 }, (_, q) => ({ q, vec: [q, q % 7, 1, 2] }));
    const query = join(rows, RIGHT, { k: 5, on: 'vec', rightSelect: ['id'] });\n`;
  const words = [...flags, '--input-type=module', '-e', begin + body];
  const { stdout } = await run(process.execPath, words, {
    timeout: process.env.KINJO_SLOW ? 900_000 : 120_000,
  });
  return stdout.trim();
}

test('a process ends with handles that nobody closed or read', async () => {
  const made = 'const h = [await query.executeAsync(), await query.execute()];';
  assert.equal(await runs(`${made} console.log(h.length)`), '2');
});

// Many times, for what an exit takes down under a running engine is a matter of luck.
test('a process ends at once, in the midst of work', async () => {
  const begun = [
    'await query.executeAsync();',
    'query.executeAsync(); await query.explain();',
    'query.execute(); await new Promise((resolve) => setTimeout(resolve, 5));',
    `const d = await writeDataset(rows, mkdtempSync(tmpdir() + '/kinjo-node-') + '/d.lance');
     d.createVectorIndex({ type: 'IVF_HNSW_FLAT' }); await d.countRows();`,
  ];
  for (const one of [...begun, ...begun, ...begun]) {
    const body = `import { mkdtempSync } from 'node:fs';
      import { tmpdir } from 'node:os';
      import { writeDataset } from ${JSON.stringify(PACKAGE)};
      ${one} console.log('out'); process.exit(0)`;
    assert.equal(await runs(body), 'out');
  }
});

test('an exit handler may still ask, and hears nothing', async () => {
  const body = `const h = await query.executeAsync();
    process.on('exit', () => {
      h.fetchAll(); h.cancel(); h.close(); query.execute();
      console.log('left');
    });
    process.exit(0)`;
  assert.equal(await runs(body), 'left');
});

for (const end of ['cancel', 'close']) {
  test(`${end} in the midst of a fetch keeps nothing alive`, async () => {
    const body = `const left = { vectors: new Float32Array(4 * 2_000_000), width: 4 };
      const long = join(left, RIGHT, { k: 50, leftOn: 'vector', rightOn: 'vec', where: 'id > 3' });
      const handle = await long.executeAsync();
      const all = handle.fetchAll().catch((error) => console.log(error.code));
      await handle.${end}();
      await all;
      process.on('exit', () => console.log('by itself'));
      console.log((await handle.report()).leftRows < 2_000_000)`;
    assert.equal(await runs(body), 'state\ntrue\nby itself');
  });
}

test('a rejection that nobody awaits ends nothing', async () => {
  const body = `const h = await query.executeAsync();
    h.cancel(); h.fetchChunk(); h.fetchAll(); h.hasMoreRows(); h.finished();
    join(rows, RIGHT, { k: 0 }).execute(); open('nowhere.lance');
    await new Promise((resolve) => setTimeout(resolve, 100)); console.log('here')`;
  assert.equal(await runs(body), 'here');
});

test('require and import give one package', async () => {
  const body = `import { createRequire } from 'node:module';
    const required = createRequire(${JSON.stringify(PACKAGE)})('../dist/index.js');
    console.log(required.join === join, required.Session === Session)`;
  assert.equal(await runs(body), 'true true');
});

test('worker threads have it too, and may be ended', async () => {
  const code = `import(${JSON.stringify(PACKAGE)}).then(async ({ open }) => {
    const handle = await (await open(${JSON.stringify(RIGHT)})).search([1, 2, 3, 4]).executeAsync();
    const { parentPort } = await import('node:worker_threads');
    parentPort.postMessage((await handle.fetchAll()).length);
  })`;
  const body = `import { Worker } from 'node:worker_threads';
    for (let i = 0; i < 3; ++i) {
      const worker = new Worker(${JSON.stringify(code)}, { eval: true });
      const said = new Promise((resolve) => worker.on('message', resolve).on('error', resolve));
      console.log(await said);
      await worker.terminate();
    }`;
  assert.equal(await runs(body), '10\n10\n10');
});

test('rows come where code from text is forbidden', async () => {
  const body = `const handle = await (await open(RIGHT)).search([1, 2, 3, 4], { k: 2 }).execute();
    const found = await handle.fetchAll();
    console.log(found.length, Object.keys(found[0]).join())`;
  const said = await runs(body, '--disallow-code-generation-from-strings');
  assert.equal(said, '2 id,name,doubled,text,never_written,_distance,_rank');
});

const HANDLES = process.env.KINJO_SLOW ? 10_000 : 300;
test(`${HANDLES} handles leave no memory, no thread and no file`, async () => {
  const body = `import { readdirSync } from 'node:fs';
    const dataset = await open(RIGHT);
    const count = (name) => readdirSync('/proc/self/' + name).length;
    const settle = async () => {
      for (let i = 0; i < 20; ++i) {
        gc();
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
      return { rss: process.memoryUsage().rss, tasks: count('task'), files: count('fd') };
    };
    const some = async (handles) => {
      for (let i = 0; i < handles; ++i) {
        const start = i % 2 ? 'execute' : 'executeAsync';
        const handle = await dataset.search([i, 1, 2, 3], { k: 3 })[start]();
        if (i % 3) await handle.fetchChunk({ maxRows: 2 });
        if (i % 5) await handle.close();
      }
    };
    await some(${HANDLES / 5});
    const before = await settle();
    await some(${HANDLES});
    const after = await settle();
    console.log(JSON.stringify({ before, after }))`;
  const { before, after } = JSON.parse(await runs(body, '--expose-gc'));
  assert.ok(after.tasks <= before.tasks + 2, `${before.tasks} threads, then ${after.tasks}`);
  assert.ok(after.files <= before.files + 2, `${before.files} files, then ${after.files}`);
  assert.ok(after.rss - before.rss < 50e6, `${after.rss - before.rss} bytes more`);
});
