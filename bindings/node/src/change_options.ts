// The options of writing, of indexes and of scans by JavaScript's names and types.
import type { ChangeOptions } from './changes';
import type { Located } from './storage';
import { bytes, decimal, eachOption, flag, integer, text, type OptionTable } from './option_checks';

/** How rows become a dataset; docs/writing.md says what each option means. */
export interface WriteOptions {
  /** `create` (default) fails where there is a dataset. */
  mode?: 'create' | 'append' | 'overwrite';
  /** File version of the data files; the dataset's own unless given, else `2.2`. */
  dataVersion?: '2.2' | '2.1' | '2.0';
  /** A column of lists that all have one length: it becomes a column of vectors. */
  vectorColumn?: string;
  maxRowsPerFile?: number;
  /** Bytes, or a text such as `4GiB`. */
  maxBytesPerFile?: number | string;
  /** Row ids that a compaction doesn't change; of a new dataset. */
  stableRowIds?: boolean;
  memoryLimit?: number | string;
}

const WRITE: OptionTable<WriteOptions> = {
  mode: ['mode', text],
  dataVersion: ['data_version', text],
  vectorColumn: ['vector_column', text],
  maxRowsPerFile: ['max_rows_per_file', integer],
  maxBytesPerFile: ['max_bytes_per_file', bytes],
  stableRowIds: ['stable_row_ids', flag],
  memoryLimit: ['memory_limit_bytes', bytes],
};

/** What a compaction makes large. */
export interface CompactOptions {
  /** Rows of a fragment: neighbours with fewer are put together. */
  targetRows?: number;
  /** A fragment with a larger share of deleted rows is rewritten in any case; 0.1. */
  deletedShareMax?: number;
}

const COMPACT: OptionTable<CompactOptions> = {
  targetRows: ['target_rows', integer],
  deletedShareMax: ['deleted_share_max', decimal],
};

/** A vector index; docs/index-building.md says what each option means. The rest is chosen. */
export interface IndexOptions {
  /** The vector column; where there is one, it needs no name. */
  column?: string;
  type?:
    | 'IVF_FLAT'
    | 'IVF_PQ'
    | 'IVF_SQ'
    | 'IVF_RQ'
    | 'IVF_HNSW_FLAT'
    | 'IVF_HNSW_PQ'
    | 'IVF_HNSW_SQ';
  metric?: 'l2' | 'cosine' | 'dot' | 'hamming';
  /** The column's name and `_idx` unless given. */
  name?: string;
  /** Takes the place of an index of that name. */
  replace?: boolean;
  numPartitions?: number;
  /** Rows a partition, where numPartitions isn't given. */
  targetPartitionSize?: number;
  numSubVectors?: number;
  numBits?: number;
  m?: number;
  efConstruction?: number;
  maxLevel?: number;
  sampleRate?: number;
  maxIterations?: number;
  seed?: number;
  threads?: number;
  memoryLimit?: number | string;
}

const INDEX: OptionTable<IndexOptions> = {
  column: ['column', text],
  type: ['type', text],
  metric: ['metric', text],
  name: ['name', text],
  replace: ['replace', flag],
  numPartitions: ['num_partitions', integer],
  targetPartitionSize: ['target_partition_size', integer],
  numSubVectors: ['num_sub_vectors', integer],
  numBits: ['num_bits', integer],
  m: ['m', integer],
  efConstruction: ['ef_construction', integer],
  maxLevel: ['max_level', integer],
  sampleRate: ['sample_rate', integer],
  maxIterations: ['max_iterations', integer],
  seed: ['seed', integer],
  threads: ['threads', integer],
  memoryLimit: ['memory_limit_bytes', bytes],
};

/** How an index is brought up to the rows of today. */
export interface OptimizeOptions {
  /** The newest segments that are merged with the new rows; 0 merges none. */
  numIndicesToMerge?: number;
  /** Everything anew, in one segment, with a model of today's rows. */
  retrain?: boolean;
  threads?: number;
  memoryLimit?: number | string;
}

const OPTIMIZE: OptionTable<OptimizeOptions> = {
  numIndicesToMerge: ['num_indices_to_merge', integer],
  retrain: ['retrain', flag],
  threads: ['threads', integer],
  memoryLimit: ['memory_limit_bytes', bytes],
};

/** Which rows of a dataset a scan gives. */
export interface ScanOptions {
  /** Top-level columns, in this order; all unless given. */
  columns?: readonly string[];
  /** A SQL predicate. */
  where?: string;
  /** Rows at most. */
  limit?: number;
  /** Rows to pass over before the first. */
  offset?: number;
  /** Adds `_rowid`. */
  withRowId?: boolean;
  signal?: AbortSignal;
}

function byName<Options extends object>(table: OptionTable<Options>) {
  return (options: Options): Record<string, unknown> => {
    const given: Record<string, unknown> = {};
    eachOption(options, table, (native, value) => {
      given[native] = value;
    });
    return given;
  };
}

export const toWriteOptions = byName(WRITE);
export const toCompactOptions = byName(COMPACT);
export const toIndexOptions = byName(INDEX);
export const toOptimizeOptions = byName(OPTIMIZE);

export type WriteDatasetOptions = WriteOptions & ChangeOptions & Located;
export type CreateIndexOptions = IndexOptions & ChangeOptions;
