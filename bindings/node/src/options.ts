// The options of a join by JavaScript's names and types, checked here as far as types go; values
// and combinations are the engine's to judge.
import { invalid } from './errors';

/** What a join may be asked; docs/semantics.md says what each means. */
export interface JoinOptions {
  /** Neighbours of each left row; 10. */
  k?: number;
  /** Vector column of both sides; not needed when each has only one. */
  on?: string;
  leftOn?: string;
  rightOn?: string;
  how?: 'inner' | 'left';
  metric?: 'l2' | 'cosine' | 'dot' | 'hamming';
  /** Visit exactly so many partitions. */
  nprobes?: number;
  minimumNprobes?: number;
  maximumNprobes?: number;
  /** Re-rank k * refineFactor candidates on their true vectors. */
  refineFactor?: number;
  /** `auto` (default), `require`, `never`, or the name of an index. */
  index?: string;
  fastSearch?: boolean;
  /** Only matches with lower <= distance < upper; null or undefined: no bound. */
  distanceRange?: readonly [lower: number | null | undefined, upper: number | null | undefined];
  leftSelect?: readonly string[];
  rightSelect?: readonly string[];
  suffix?: string;
  withRowId?: boolean;
  withQueryIndex?: boolean;
  /** A version's number, or its tag. */
  rightVersion?: number | string;
  /** Bytes, or a text such as `4GiB`. */
  memoryLimit?: number | string;
  threads?: number;
  /** A SQL predicate over right columns. */
  where?: string;
  ef?: number;
  searchEffort?: number;
  approxMode?: 'fast' | 'normal' | 'accurate';
  by?: string | readonly string[];
  /** true: the same row of the same table; else the key column that tells. */
  excludeSelf?: boolean | string;
  unorderedPairs?: boolean;
  mutual?: boolean;
  clusters?: boolean;
  recall?: number;
}

type Check = (name: string, value: unknown) => unknown;

function shown(value: unknown): string {
  return typeof value === 'string' ? `'${value}'` : String(value);
}

function mustBe(what: string, name: string, value: unknown): Error {
  return invalid(`${name} must be ${what}, but is ${shown(value)}`);
}

const integer: Check = (name, value) => {
  const number = typeof value === 'bigint' ? Number(value) : value;
  if (typeof number !== 'number' || !Number.isSafeInteger(number)) {
    throw mustBe('an integer', name, value);
  }
  return number;
};

const decimal: Check = (name, value) => {
  if (typeof value !== 'number') throw mustBe('a number', name, value);
  return value;
};

const text: Check = (name, value) => {
  if (typeof value !== 'string') throw mustBe('a string', name, value);
  return value;
};

const flag: Check = (name, value) => {
  if (typeof value !== 'boolean') throw mustBe('true or false', name, value);
  return value;
};

const texts: Check = (name, value) => {
  const list = typeof value === 'string' ? [value] : value;
  if (!Array.isArray(list) || !list.every((one) => typeof one === 'string')) {
    throw mustBe('a list of strings', name, value);
  }
  return list;
};

const range: Check = (name, value) => {
  const isBound = (bound: unknown) => bound == null || typeof bound === 'number';
  if (!Array.isArray(value) || value.length !== 2 || !value.every(isBound)) {
    throw mustBe('[lower, upper]', name, value);
  }
  const [lower, upper] = value;
  return [lower ?? -Infinity, upper ?? Infinity];
};

const POWERS = ['', 'K', 'M', 'G', 'T'];

const bytes: Check = (name, value) => {
  if (typeof value !== 'string') return integer(name, value);
  const found = /^\s*(\d+(?:\.\d+)?)\s*([KMGT]?)(i?)B?\s*$/i.exec(value);
  if (found === null) throw mustBe('a number of bytes or a text such as 4GiB', name, value);
  const [, number, power = '', binary] = found;
  const unit = binary ? 1024 : 1000;
  return Math.floor(Number(number) * unit ** POWERS.indexOf(power.toUpperCase()));
};

const OPTIONS: Record<keyof JoinOptions, readonly [native: string, check: Check]> = {
  k: ['k', integer],
  on: ['on', text],
  leftOn: ['left_on', text],
  rightOn: ['right_on', text],
  how: ['how', text],
  metric: ['metric', text],
  nprobes: ['nprobes', integer],
  minimumNprobes: ['minimum_nprobes', integer],
  maximumNprobes: ['maximum_nprobes', integer],
  refineFactor: ['refine_factor', integer],
  index: ['index', text],
  fastSearch: ['fast_search', flag],
  distanceRange: ['distance_range', range],
  leftSelect: ['left_select', texts],
  rightSelect: ['right_select', texts],
  suffix: ['suffix', text],
  withRowId: ['with_row_id', flag],
  withQueryIndex: ['with_query_index', flag],
  rightVersion: [
    'right_version',
    (name, value) => (typeof value === 'string' ? value : integer(name, value)),
  ],
  memoryLimit: ['memory_limit_bytes', bytes],
  threads: ['threads', integer],
  where: ['where', text],
  ef: ['ef', integer],
  searchEffort: ['search_effort', decimal],
  approxMode: ['approx_mode', text],
  by: ['by', texts],
  excludeSelf: [
    'exclude_self',
    (name, value) => (typeof value === 'boolean' ? value : text(name, value)),
  ],
  unorderedPairs: ['unordered_pairs', flag],
  mutual: ['mutual', flag],
  clusters: ['clusters', flag],
  recall: ['recall', decimal],
};

/** The options by the C ABI's names; what is undefined isn't given. */
export function toNativeOptions(options: JoinOptions): Record<string, unknown> {
  const given: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(options) as [keyof JoinOptions, unknown][]) {
    if (!Object.hasOwn(OPTIONS, name)) throw invalid(`there is no option '${name}'`);
    if (value === undefined) continue;
    const [native, check] = OPTIONS[name];
    const checked = check(name, value);
    if (name === 'rightVersion' && typeof checked === 'string') {
      given.right_tag = checked;
    } else if (name === 'excludeSelf') {
      if (checked !== false) given[native] = checked === true ? '' : checked;
    } else {
      given[native] = checked;
    }
  }
  return given;
}
