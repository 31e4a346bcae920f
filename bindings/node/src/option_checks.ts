// What an option must be as far as types go; values and combinations are the engine's to judge.
import { invalid } from './errors';

export type Check = (name: string, value: unknown) => unknown;

function shown(value: unknown): string {
  return typeof value === 'string' ? `'${value}'` : String(value);
}

/**
 * The options of a call: none for undefined and null, and an object else, with no other names than
 * those known, if they are told.
 */
export function optionsOf<O extends object>(
  options: O | null | undefined,
  known?: readonly (keyof O & string)[],
): Partial<O> {
  if (options === undefined || options === null) return {};
  if (typeof options !== 'object') throw mustBe('an object', 'the options', options);
  const names = Object.keys(options) as (keyof O & string)[];
  const unknown = known && names.find((name) => !known.includes(name));
  if (unknown !== undefined) throw invalid(`there is no option '${unknown}'`);
  return options;
}

/** Texts end at a zero byte where they are read. */
function whole(name: string, value: string): string {
  if (value.includes('\0')) throw invalid(`${name} holds a zero byte: ${JSON.stringify(value)}`);
  return value;
}

function mustBe(what: string, name: string, value: unknown): Error {
  return invalid(`${name} must be ${what}, but is ${shown(value)}`);
}

export const integer: Check = (name, value) => {
  const number = typeof value === 'bigint' ? Number(value) : value;
  if (typeof number !== 'number' || !Number.isSafeInteger(number)) {
    throw mustBe('an integer', name, value);
  }
  return number;
};

export const decimal: Check = (name, value) => {
  if (typeof value !== 'number' || Number.isNaN(value)) throw mustBe('a number', name, value);
  return value;
};

export const text: Check = (name, value) => {
  if (typeof value !== 'string') throw mustBe('a string', name, value);
  return whole(name, value);
};

export const signalOf = (value: unknown): AbortSignal | undefined => {
  if (value === undefined || value === null) return undefined;
  if (value instanceof AbortSignal) return value;
  // One of another realm, or a stand-in.
  const { aborted, addEventListener } = value as Partial<AbortSignal>;
  if (typeof aborted === 'boolean' && typeof addEventListener === 'function') {
    return value as AbortSignal;
  }
  throw mustBe('an AbortSignal', 'signal', value);
};

type Callback<T> = (told: T) => unknown;

export function callbackOf<T>(value: Callback<T> | null | undefined): Callback<T> | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'function') throw mustBe('a function', 'callback', value);
  return value;
}

export const flag: Check = (name, value) => {
  if (typeof value !== 'boolean') throw mustBe('true or false', name, value);
  return value;
};

export const texts: Check = (name, value) => {
  const list = typeof value === 'string' ? [value] : value;
  if (!Array.isArray(list) || !list.every((one) => typeof one === 'string')) {
    throw mustBe('a list of strings', name, value);
  }
  for (const one of list) whole(name, one);
  return list;
};

export const range: Check = (name, value) => {
  const isBound = (bound: unknown) => bound == null || typeof bound === 'number';
  if (!Array.isArray(value) || value.length !== 2 || !value.every(isBound)) {
    throw mustBe('[lower, upper]', name, value);
  }
  const [lower, upper] = value;
  return [lower ?? -Infinity, upper ?? Infinity];
};

const POWERS = ['', 'K', 'M', 'G', 'T'];

export const bytes: Check = (name, value) => {
  if (typeof value !== 'string') return integer(name, value);
  const found = /^\s*(\d+(?:\.\d+)?)\s*([KMGT]?)(i?)B?\s*$/i.exec(value);
  if (found === null) throw mustBe('a number of bytes or a text such as 4GiB', name, value);
  const [, number, power = '', binary] = found;
  const unit = binary ? 1024 : 1000;
  return Math.floor(Number(number) * unit ** POWERS.indexOf(power.toUpperCase()));
};

/** The C ABI's name of each option, and its check. */
export type OptionTable<Options> = Record<keyof Options, readonly [native: string, check: Check]>;

/** Calls `take` with each option that is given, checked, by the C ABI's name. */
export function eachOption<Options extends object>(
  options: Options,
  table: OptionTable<Options>,
  take: (native: string, value: unknown) => void,
): void {
  for (const [name, value] of Object.entries(options) as [keyof Options & string, unknown][]) {
    if (!Object.hasOwn(table, name)) throw invalid(`there is no option '${name}'`);
    if (value === undefined) continue;
    const [native, check] = table[name];
    take(native, check(name, value));
  }
}
