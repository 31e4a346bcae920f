// The promises of a result handle, over a source that answers when the test says.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { kinjo, numbersOf, Script, stateOf, tick } from './script.mjs';

const unhandled = [];
process.on('unhandledRejection', (reason) => unhandled.push(reason));
test.after(async () => {
  await new Promise((resolve) => setTimeout(resolve, 20));
  assert.deepEqual(unhandled, []);
});

const rejects = (promise, code, message = /./) =>
  assert.rejects(promise, (error) => {
    assert.equal(error.name, 'KinjoError');
    assert.equal(error.code, code);
    assert.match(error.message, message);
    return true;
  });

test('a pending handle is one batch ahead and no more', async () => {
  const script = new Script('pending');
  await script.answer([0, 1]);
  await tick();
  assert.equal(script.asked.fetch, 1);
  assert.deepEqual(numbersOf(await script.handle.fetchChunk()), [0, 1]);
  await script.answer([2]);
  await tick();
  assert.equal(script.asked.fetch, 2);
});

test('a complete handle fetches on demand', async () => {
  const script = new Script('complete');
  await tick();
  assert.equal(script.asked.fetch, 0);
  const rows = script.handle.fetchChunk();
  await script.answer([0, 1]);
  assert.deepEqual(numbersOf(await rows), [0, 1]);
  await tick();
  assert.equal(script.asked.fetch, 1);
});

for (const kind of ['pending', 'complete']) {
  const it = (name, body) => test(`${kind}: ${name}`, () => body(new Script(kind)));

  it('overlapping calls share one fetch; no batch is lost or doubled', async (script) => {
    const { handle } = script;
    const calls = [handle.hasMoreRows(), handle.fetchChunk(), handle.fetchChunk()];
    const last = handle.hasMoreRows();
    await script.answer([0]);
    await tick();
    assert.equal(script.asked.fetch, 2);
    await script.answer([1]);
    await script.answer(null);
    const [more, first, second] = await Promise.all(calls);
    assert.equal(more, true);
    assert.deepEqual([numbersOf(first), numbersOf(second)], [[0], [1]]);
    assert.equal(await last, false);
    assert.deepEqual(await handle.fetchChunk(), []);
  });

  it('chunks are exact until the tail', async (script) => {
    let next = 0;
    script.onAsk = (request) => {
      request.answer(next < 15 ? [next++, next++, next++] : null);
      return true;
    };
    for (const waiting of script.waiting.splice(0)) script.onAsk(waiting);
    const sizes = [];
    for await (const rows of script.handle.batches({ maxRows: 4 })) sizes.push(rows.length);
    assert.deepEqual(sizes, [4, 4, 4, 3]);
  });

  it('rows before an error come first; it is thrown once, then state', async (script) => {
    script.onAsk = (request) => request.kind === 'close' && (request.answer(null), true);
    const all = script.handle.fetchChunk({ maxRows: 10 });
    await script.answer([0, 1, 2]);
    (await script.next('fetch')).fail('io', 'disk on fire');
    assert.deepEqual(numbersOf(await all), [0, 1, 2]);
    await tick();
    await rejects(script.handle.fetchChunk(), 'io', /disk on fire/);
    await rejects(script.handle.fetchChunk(), 'state', /disk on fire/);
    await rejects(script.handle.hasMoreRows(), 'state');
  });

  it('a clean-up that fails is the cause of the fetch error', async (script) => {
    const rows = script.handle.fetchChunk();
    (await script.next('fetch')).fail('corrupt', 'bad bytes');
    (await script.next('close')).fail('io', 'no way to close');
    await assert.rejects(rows, (error) => {
      assert.equal(error.code, 'corrupt');
      assert.equal(error.cause.code, 'io');
      assert.match(error.cause.message, /no way to close/);
      return true;
    });
  });

  it('a failed close keeps the rows and may be retried', async (script) => {
    const { handle } = script;
    const more = handle.hasMoreRows();
    await script.answer([0, 1]);
    assert.equal(await more, true);
    const closes = [handle.close(), handle.close()];
    const meanwhile = handle.fetchChunk();
    (await script.next('close')).fail('io', 'not now');
    for (const close of closes) await rejects(close, 'io', /not now/);
    await rejects(meanwhile, 'state');
    assert.equal(script.asked.close, 1);
    assert.deepEqual(numbersOf(await handle.fetchChunk()), [0, 1]);
    const again = handle.close();
    (await script.next('close')).answer(null);
    await again;
    await handle.close();
    await rejects(handle.fetchChunk(), 'state', /closed/);
    await rejects(handle.hasMoreRows(), 'state', /closed/);
  });

  it('after a failed close all rows that are left are still given', async (script) => {
    const more = script.handle.hasMoreRows();
    await script.answer([0, 1]);
    assert.equal(await more, true);
    const closed = script.handle.close();
    (await script.next('close')).fail('io', 'not now');
    await rejects(closed, 'io');
    let next = 2;
    script.onAsk = (request) => {
      request.answer(request.kind === 'fetch' && next < 5 ? [next++] : null);
      return true;
    };
    for (const waiting of script.waiting.splice(0)) script.onAsk(waiting);
    const first = await script.handle.fetchChunk({ maxRows: 3 });
    assert.deepEqual(numbersOf(first), [0, 1, 2]);
    assert.deepEqual(numbersOf(await script.handle.fetchAll()), [3, 4]);
    assert.equal(await script.handle.hasMoreRows(), false);
  });

  it('close after an error asks nothing of the source again', async (script) => {
    const rows = script.handle.fetchChunk();
    (await script.next('fetch')).fail('io', 'disk on fire');
    (await script.next('close')).answer(null);
    await rejects(rows, 'io');
    await script.handle.close();
    assert.equal(script.asked.close, 1);
    await rejects(script.handle.fetchAll(), 'state');
  });

  it('cancel and close settle while a fetch hangs', async (script) => {
    const { handle } = script;
    const rows = handle.fetchChunk();
    const hanging = await script.next('fetch');
    const cancelled = handle.cancel();
    await rejects(rows, 'state', /cancelled/);
    (await script.next('cancel')).answer(null);
    await cancelled;
    const closed = handle.close();
    (await script.next('close')).answer(null);
    await closed;
    hanging.answer([7]); // heard by nobody
    await rejects(handle.fetchChunk(), 'state');
  });

  it('cancel during close blocks at once, and both settle', async (script) => {
    const { handle } = script;
    const rows = handle.fetchChunk();
    const closed = handle.close();
    const closing = await script.next('close');
    assert.equal(await stateOf(rows), 'pending');
    const cancelled = handle.cancel();
    await rejects(rows, 'state');
    closing.fail('io', 'not now');
    (await script.next('cancel')).answer(null);
    await rejects(closed, 'io');
    await cancelled;
    await rejects(handle.hasMoreRows(), 'state');
  });

  it('cancel stays even if the source fails it', async (script) => {
    const cancelled = script.handle.cancel();
    (await script.next('cancel')).fail('io', 'no line');
    await rejects(cancelled, 'io');
    await rejects(script.handle.fetchChunk(), 'state');
  });

  it('leaving a loop early closes the handle', async (script) => {
    script.onAsk = (request) => (request.answer(request.kind === 'fetch' ? [1, 2] : null), true);
    for (const waiting of script.waiting.splice(0)) script.onAsk(waiting);
    for await (const row of script.handle) {
      assert.equal(row.n, 1n);
      break;
    }
    await rejects(script.handle.fetchChunk(), 'state', /closed/);
  });

  it('an error that nobody awaits is unhandled nowhere', async (script) => {
    script.onAsk = (request) => (request.fail('io', 'disk on fire'), true);
    for (const waiting of script.waiting.splice(0)) script.onAsk(waiting);
    script.handle.fetchChunk();
    script.handle.fetchAll();
    script.handle.hasMoreRows();
    script.handle.close();
    script.handle.cancel();
    await tick();
  });
}

test('a backend that throws at once rejects like one that answers so', async () => {
  const thrown = { code: 'io', message: 'no stream', path: '', offset: -1, cause: null };
  const names = ['streamFetch', 'streamHasMore', 'streamFinish', 'streamCancel', 'streamClose'];
  const thrower = () => {
    throw thrown;
  };
  const backend = Object.fromEntries(names.map((name) => [name, thrower]));
  backend.streamSchema = () => ({ name: '', format: '+s', children: [], dictionary: null });
  const owner = { check() {}, forget() {} };
  const handle = new kinjo.ResultHandle(backend, {}, undefined, 'pending', owner);
  const calls = ['fetchChunk', 'fetchAll', 'hasMoreRows', 'finished', 'cancel', 'close'];
  for (const call of calls) await rejects(handle[call](), 'io', /no stream/);
  await rejects(handle.explain(), 'invalid', /no join/);
});

test('200 batches of 1 MB are drained with bounded memory', async () => {
  const script = new Script('pending');
  const values = new BigInt64Array(1 << 17);
  let left = 200;
  script.onAsk = (request) => {
    if (request.kind !== 'fetch') request.answer(null);
    else request.answerBatch(left-- > 0 ? values : null);
    return true;
  };
  for (const waiting of script.waiting.splice(0)) script.onAsk(waiting);
  let rows = 0;
  let most = 0;
  const before = process.memoryUsage().rss;
  while (true) {
    const table = await script.handle.fetchChunk({ as: 'arrow' });
    if (table.numRows === 0) break;
    rows += table.numRows;
    most = Math.max(most, process.memoryUsage().rss - before);
  }
  assert.equal(rows, 200 << 17);
  assert.ok(most < 120e6, `${most} bytes more`);
});
