// `npm install` in a clone: the addon and the compiled TypeScript are made by ./dev, unless they
// are there. In a package from npm they always are, and this does nothing.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const folder = join(dirname(fileURLToPath(import.meta.url)), '..');
const made = ['prebuilds/linux-x64/kinjo_node.node', 'dist/index.js'];
const dev = join(folder, '..', '..', 'dev');
if (!made.every((path) => existsSync(join(folder, path))) && existsSync(dev)) {
  const built = spawnSync(dev, ['node', '--build'], { stdio: 'inherit' });
  process.exitCode = built.status ?? 1;
}
