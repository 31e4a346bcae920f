// One sample for bench/node_streams.py, in a process of its own: prints one line of JSON.
import { join } from '../bindings/node/esm/index.mjs';

const asked = JSON.parse(process.argv[2]);
const options = { k: 1, on: 'vec', rightSelect: [], threads: asked.threads };

/** Reads the batch as a consumer would: every byte of its first column. */
function workOn(table) {
  const column = table.getChildAt(0);
  let sum = 0;
  for (let i = 0; i < column.length; ++i) sum += Number(column.get(i));
  return sum;
}

async function drain() {
  const begin = performance.now();
  const query = join(asked.left, asked.right, options);
  const handle = asked.mode === 'pending' ? await query.executeAsync() : await query.execute();
  await handle.finished();
  const drained = performance.now();
  let rows = 0;
  let batches = 0;
  while (true) {
    const table = await handle.fetchChunk({ as: 'arrow' });
    if (table.numRows === 0) break;
    rows += table.numRows;
    batches += 1;
    if (asked.work) workOn(table);
  }
  const end = performance.now();
  await handle.close();
  return {
    kind: handle.kind,
    rows,
    batches,
    drain_ms: end - drained,
    elapsed_ms: end - begin,
    rss_mib: process.resourceUsage().maxRSS / 1024,
  };
}

async function rowsOfBothKinds() {
  const query = join(asked.left, asked.right, options);
  const times = { ours_ms: 0, arrow_ms: 0 };
  const [ours, arrows] = [await query.execute(), await query.execute()];
  for (let i = 0; i < 30; ++i) {
    let begin = performance.now();
    const rows = await ours.fetchChunk();
    if (i >= 5) times.ours_ms += performance.now() - begin;
    begin = performance.now();
    const table = await arrows.fetchChunk({ as: 'arrow' });
    const objects = table.toArray().map((row) => row.toJSON());
    if (i >= 5) times.arrow_ms += performance.now() - begin;
    if (objects.length !== rows.length) throw new Error('not the same rows');
    if (rows.length === 0) break;
  }
  await Promise.all([ours.close(), arrows.close()]);
  return times;
}

const middle = (values) => values.sort((a, b) => a - b)[values.length >> 1];

/** Medians of several drains, after one that compiles the consumer: a short one measures that. */
async function drains() {
  await drain();
  const all = [];
  for (let i = 0; i < asked.repeats; ++i) all.push(await drain());
  const times = ['drain_ms', 'elapsed_ms'].map((key) => [key, middle(all.map((one) => one[key]))]);
  return { ...all.at(-1), ...Object.fromEntries(times) };
}

console.log(JSON.stringify(await (asked.mode === 'rows' ? rowsOfBothKinds() : drains())));
