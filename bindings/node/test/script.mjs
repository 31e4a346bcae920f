// A result handle over a source that does nothing by itself: what the stream asks waits here until
// the test answers. The stream and the addon are the real ones.
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
process.env.KINJO_NODE_ADDON =
  process.env.KINJO_NODE_SCRIPTED ??
  join(here, '../../../build/release/bindings/node/kinjo_node_scripted.node');
const require = createRequire(import.meta.url);
export const kinjo = require('../dist/index.js');
const { native } = require('../dist/native.js');
const CODES = { invalid: 1, not_found: 2, io: 3, corrupt: 4 };

/** The loop has run what was posted to it. */
export const tick = () => new Promise((resolve) => setTimeout(resolve, 2));

export class Script {
  /** Requests that wait, oldest first: {kind, answer(numbers), fail(code, message)}. */
  waiting = [];
  asked = { fetch: 0, cancel: 0, close: 0 };
  /** Called for each request; true: it was dealt with. */
  onAsk = () => false;

  constructor(kind, owner = { check() {}, forget() {} }) {
    const stream = native.scriptedStream(kind === 'complete', (asked, request) => {
      this.asked[asked] += 1;
      const waiter = {
        kind: asked,
        answer: (numbers) =>
          native.answerRequest(request, numbers ? BigInt64Array.from(numbers, BigInt) : null),
        answerBatch: (values) => native.answerRequest(request, values),
        fail: (code, message) => native.failRequest(request, CODES[code], message),
      };
      if (!this.onAsk(waiter)) this.waiting.push(waiter);
    });
    this.handle = new kinjo.ResultHandle(native, stream, undefined, kind, owner);
  }

  /** The oldest request of a kind, once it has come. */
  async next(kind) {
    for (let i = 0; i < 500; ++i) {
      const at = this.waiting.findIndex((waiter) => waiter.kind === kind);
      if (at >= 0) return this.waiting.splice(at, 1)[0];
      await tick();
    }
    throw new Error(`the stream asked for no ${kind}`);
  }
  async answer(numbers) {
    (await this.next('fetch')).answer(numbers);
  }
}

export const numbersOf = (rows) => rows.map((row) => Number(row.n));

/** What a promise came to, without waiting longer than the loop needs. */
export async function stateOf(promise) {
  const pending = Symbol('pending');
  await tick();
  const settled = promise.then(
    (value) => ({ value }),
    (error) => ({ error }),
  );
  const first = await Promise.race([settled, Promise.resolve(pending)]);
  return first === pending ? 'pending' : first;
}
