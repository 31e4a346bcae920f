// What object stores need to know, told for the addresses of one call, or for all that begin alike.
import { invalid, toError } from './errors';
import { native } from './native';
import { text } from './option_checks';

/** By Lance's names, `aws_region` or `awsRegion`; docs/storage.md lists them. */
export type StorageOptions = Readonly<Record<string, string | number | boolean>>;

export interface Located {
  /** Hold for the addresses of this call, from now on. */
  storageOptions?: StorageOptions;
}

function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** From now on `options` hold for the addresses that begin with `prefix`. */
export function setStorageOptions(options: StorageOptions, prefix = ''): void {
  if (typeof options !== 'object' || options === null || Array.isArray(options)) {
    throw invalid('storageOptions must be an object of names and values');
  }
  text('the prefix', prefix);
  const given = Object.entries(options).filter(([, value]) => value !== undefined);
  for (const [name, value] of given) {
    if (!['string', 'number', 'boolean'].includes(typeof value)) {
      throw invalid(`storageOptions.${name} must be a string`);
    }
    text(`storageOptions.${name}`, String(value));
  }
  const names = given.map(([name]) => snakeCase(name));
  const values = given.map(([, value]) => String(value));
  try {
    native.setStorageOptions(prefix, names, values);
  } catch (thrown) {
    throw toError(thrown);
  }
}

/** @internal Lets options hold for those places that are addresses. */
export function tellStorage(options: StorageOptions | undefined, ...places: unknown[]): void {
  if (options === undefined) return;
  for (const place of places) {
    const hasPath = typeof place === 'object' && place !== null && 'path' in place;
    const address = hasPath ? place.path : place;
    if (typeof address === 'string') setStorageOptions(options, address);
  }
}
