// Answers the cases of a file, one line of JSON each: what tests/conformance/test_node.py judges.
// Rows come as objects and as a table, which must be the same.
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { tableToIPC } from 'apache-arrow';
import { join, open } from '../esm/index.mjs';

const camelCase = (name) => name.replace(/_([a-z])/g, (_, letter) => letter.toUpperCase());
const snakeCase = (name) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
const snaked = (value) =>
  value === null || typeof value !== 'object' || Array.isArray(value)
    ? value
    : Object.fromEntries(
        Object.entries(value).map(([name, one]) => [snakeCase(name), snaked(one)]),
      );

/** JSON has no infinities: they are texts there. */
const bound = (value) =>
  typeof value === 'string' ? Number(value.replace('inf', 'Infinity')) : value;

function optionsOf(given) {
  const options = {};
  for (const [name, value] of Object.entries(given)) {
    if (name === 'right_tag') options.rightVersion = value;
    else if (name === 'memory_limit_bytes') options.memoryLimit = value;
    else if (name === 'exclude_self') options.excludeSelf = value === '' ? true : value;
    else if (name === 'distance_range') options.distanceRange = value.map(bound);
    else options[camelCase(name)] = value;
  }
  return options;
}

async function queryOf({ command = 'join', left, right, options: given }) {
  const options = optionsOf(given);
  if (command === 'join') return join(left, right, options);
  const { rightVersion: version, ...others } = options;
  return (await open(right, { version })).search(left, others);
}

function sameRows(rows, table) {
  assert.equal(rows.length, table.numRows);
  for (const name of table.schema.names) {
    const column = table.getChild(name);
    rows.forEach((row, i) => {
      const value = column.get(i);
      if (value === null || typeof value !== 'object') {
        if (!(row[name] instanceof Date)) assert.deepEqual(row[name], value, name);
      }
    });
  }
}

async function answer(one) {
  const query = await queryOf(one);
  const plan = await query.explain();
  if (one.expect.explain !== undefined) return { plan };
  const handle = await query.executeAsync();
  if (one.action === 'cancel') {
    const signal = AbortSignal.abort();
    await query.execute({ signal });
  }
  if (one.action === 'read_after_close') {
    await handle.close();
    await handle.fetchChunk();
  }
  const rows = await handle.fetchAll();
  const report = snaked(await handle.report());
  await handle.close();
  const table = await (await query.execute()).fetchAll({ as: 'arrow' });
  sameRows(rows, table);
  writeFileSync(one.output, tableToIPC(table, 'file'));
  return { rows: one.output, report };
}

/** The names of options as the C ABI has them, in which the expected texts are. */
function plain(message) {
  return message.replace(/\b[a-z]+([A-Z][a-z]+)+\b/g, (word) => snakeCase(word));
}

for (const one of JSON.parse(readFileSync(process.argv[2], 'utf8'))) {
  const { name, left, right } = one;
  let said;
  try {
    said = await answer(one);
  } catch (thrown) {
    if (thrown.code === undefined || thrown.code === 'ERR_ASSERTION') throw thrown;
    said = { error: { code: thrown.code, plain_message: plain(thrown.message) } };
  }
  console.log(JSON.stringify({ name, left, right, ...said }));
}
