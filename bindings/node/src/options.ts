// The options of a join by JavaScript's names and types.
import type { Located } from './storage';
import {
  bytes,
  decimal,
  eachOption,
  flag,
  integer,
  optionsOf,
  range,
  text,
  texts,
  type OptionTable,
} from './option_checks';

/** What a join may be asked; docs/semantics.md says what each means. */
export interface JoinOptions extends Located {
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
  /** A version's number, its tag, or a time: the newest made by then. */
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

const OPTIONS: OptionTable<Omit<JoinOptions, keyof Located>> = {
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
    (name, value) => (typeof value === 'string' ? text(name, value) : integer(name, value)),
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
  const work = { ...optionsOf(options) };
  delete work.storageOptions;
  eachOption(work, OPTIONS, (native, value) => {
    if (native === 'right_version' && typeof value === 'string') given.right_tag = value;
    else if (native === 'exclude_self' && value === false) return;
    else given[native] = native === 'exclude_self' && value === true ? '' : value;
  });
  return given;
}
