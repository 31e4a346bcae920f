// What object stores need to know, told by each call that is given an address. The store is a
// server that only writes down who asked for what.
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { test } from 'node:test';
import { join, KinjoError, open, setStorageOptions, writeDataset } from '../esm/index.mjs';

const asked = [];
const server = createServer((request, response) => {
  const [, credential = ''] = /Credential=([^,]*)/.exec(request.headers.authorization) ?? [];
  asked.push([request.url, credential]);
  response.writeHead(403).end();
});
await new Promise((listening) => server.listen(0, '127.0.0.1', listening));
test.after(() => server.close());

const ROWS = [{ id: 1, vec: [1, 2] }];
const told = (key = 'AKIDCALL') => ({
  awsEndpoint: `http://127.0.0.1:${server.address().port}`,
  allow_http: true,
  aws_access_key_id: key,
  awsSecretAccessKey: 's',
  aws_region: 'eu-north-1',
  clientMaxRetries: 0,
});
const refused = (call, code = 'io', message = /403/) =>
  assert.rejects(call, (error) => {
    assert.ok(error instanceof KinjoError, error);
    assert.equal(error.code, code);
    assert.match(error.message, message);
    return true;
  });

const CALLS = {
  open: (uri, storageOptions) => open(uri, { storageOptions }),
  right: (uri, storageOptions) => join(ROWS, uri, { storageOptions }).explain(),
  left: (uri, storageOptions) => join({ path: uri }, ROWS, { storageOptions }).execute(),
  write: (uri, storageOptions) => writeDataset(ROWS, uri, { storageOptions }),
};

for (const [name, call] of Object.entries(CALLS)) {
  test(`a call tells for its own addresses: ${name}`, async () => {
    asked.length = 0;
    await refused(call(`s3://bucket-${name}/d.lance`, told()));
    assert.ok(asked.length > 0);
    for (const [path, credential] of asked) {
      assert.ok(path.startsWith(`/bucket-${name}`), path);
      assert.match(credential, /^AKIDCALL\/.*\/eu-north-1\/s3\//);
    }
  });
}

test('they hold from then on until others are told', async () => {
  for (const key of ['AKIDONE', 'AKIDTWO']) {
    setStorageOptions(told(key), 's3://bucket/');
    asked.length = 0;
    await refused(open('s3://bucket/d.lance'));
    assert.deepEqual([...new Set(asked.map(([, credential]) => credential.split('/')[0]))], [key]);
  }
});

test('what is refused', async () => {
  const cases = [
    [[], /must be an object/],
    [{ aws_region: null }, /aws_region must be a string/],
    [{ awsRegoin: 'x' }, /aws_regoin/],
    [{ aws_region: 'x\0y' }, /zero byte/],
    [{ connections: 0 }, /connections/],
  ];
  for (const [storageOptions, message] of cases) {
    await refused(open('nowhere.lance', { storageOptions }), 'invalid', message);
    await refused(join(ROWS, 'nowhere', { storageOptions }).execute(), 'invalid', message);
    assert.throws(() => setStorageOptions(storageOptions, 's3://refused'), KinjoError);
  }
});
