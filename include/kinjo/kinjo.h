/* Kinjo's C ABI: the only wall between the engine and everything else (the command line, C++,
 * Python, Node, the JVM). The whole convention:
 *
 *  1. Every function that can fail is `bool kinjo_noun_verb(..., kinjo_error** error)`: true on
 *     success. On failure it returns false, stores an error that the caller owns in *error, and
 *     leaves every other output alone. `error` may be NULL when only the bool matters; *error is
 *     written on failure only, so it should be NULL before. There is no "last error" anywhere.
 *  2. Handles are opaque and owned by the caller, who ends each with its `kinjo_noun_free`. free
 *     takes NULL. Handles that depend on each other share what they need: they may be freed in any
 *     order (a table after its join was made, a join while its stream runs).
 *  3. Threads: different handles may be used from different threads. One handle is used by one
 *     thread at a time, except for the functions marked [any thread].
 *  4. Strings are UTF-8 and end with NUL. A `const char*` argument is copied before the call
 *     returns. A `const char*` result lives as long as the handle it came from. A `char**` output
 * is owned by the caller and freed with kinjo_string_free.
 *  5. Structs that the caller fills begin with `struct_size` and are filled by their `_init`
 *     function first, which is given sizeof: fields are only ever added at the end, so a program
 *     built against an older header keeps working. A NULL pointer to an options struct means the
 *     defaults. An optional number that was not given is KINJO_UNSET (never 0, which is a value and
 *     is checked like any other).
 *  6. Options are judged in one place, by the engine, and rejected with the name, the value and the
 *     bound; nothing is clamped.
 *  7. Data crosses as Arrow C Data and C Stream structs only. A struct that a function fills is the
 *     caller's to release. A stream that a function takes is moved from: its release is NULL
 *     afterwards, on success and on failure.
 *  8. Callbacks come from one thread at a time, must be quick, and must not call back into the
 *     handle that they report on.
 *  9. No exception, signal or abort leaves the library, and no header but the C standard library's
 *     is needed to use it.
 */
#ifndef KINJO_KINJO_H_
#define KINJO_KINJO_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kinjo/arrow_c_abi.h"

#if defined(__GNUC__)
#define KINJO_EXPORT __attribute__((visibility("default")))
#else
#define KINJO_EXPORT
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* An optional number that was not given. */
#define KINJO_UNSET INT64_MIN

/* ---- Errors -------------------------------------------------------------------------------- */

typedef enum kinjo_error_code {
  KINJO_ERROR_INVALID = 1,   /* an option, an argument or a left row that can't be used */
  KINJO_ERROR_NOT_FOUND,     /* a file, dataset, version, column or index that isn't there */
  KINJO_ERROR_IO,            /* the operating system or the store failed */
  KINJO_ERROR_CORRUPT,       /* bytes that contradict the format: see path and offset */
  KINJO_ERROR_NOT_SUPPORTED, /* well-formed, but not read by this build */
  KINJO_ERROR_CAPACITY,      /* the memory limit is too small */
  KINJO_ERROR_CANCELLED,     /* stopped on request */
  KINJO_ERROR_CONFLICT,      /* another writer committed first, or is at work */
  KINJO_ERROR_REFUSED,       /* index "require", or the memory gate, said no */
  KINJO_ERROR_STATE,         /* used after close or cancel */
  KINJO_ERROR_INTERNAL       /* a bug of the library */
} kinjo_error_code;

typedef struct kinjo_error kinjo_error;

KINJO_EXPORT kinjo_error_code kinjo_error_get_code(const kinjo_error* error);
/* One line, without the code's name. */
KINJO_EXPORT const char* kinjo_error_get_message(const kinjo_error* error);
/* The file that the error is about, or "" when the message says all. */
KINJO_EXPORT const char* kinjo_error_get_path(const kinjo_error* error);
/* The byte of that file, or -1. */
KINJO_EXPORT int64_t kinjo_error_get_offset(const kinjo_error* error);
/* What failed while cleaning up after the error, or NULL; lives as long as `error`. */
KINJO_EXPORT const kinjo_error* kinjo_error_get_cause(const kinjo_error* error);
KINJO_EXPORT void kinjo_error_free(kinjo_error* error);

/* The lower-case name of a code, e.g. "not_found"; static. */
KINJO_EXPORT const char* kinjo_error_code_name(kinjo_error_code code);
/* The errno that says most of it, for who must return one: an ArrowArrayStream's callbacks. */
KINJO_EXPORT int kinjo_error_code_errno(kinjo_error_code code);

KINJO_EXPORT void kinjo_string_free(char* text);

/* ---- The library --------------------------------------------------------------------------- */

/* The library's version, e.g. "0.1.0"; static. [any thread] */
KINJO_EXPORT const char* kinjo_version(void);

/* The instruction set in use, e.g. "avx3": the best, unless the environment variable KINJO_SIMD
 * names another. Making a join or a search fails when it names one that isn't there. [any thread]
 */
KINJO_EXPORT bool kinjo_simd_level(char** level, kinjo_error** error);
/* All that this machine can run, best first, separated by commas. [any thread] */
KINJO_EXPORT bool kinjo_simd_levels(char** levels, kinjo_error** error);

/* What a join would use unless told otherwise, as one JSON object: version, arrow_version,
 * simd_level, simd_levels, threads, memory_limit_bytes. [any thread] */
KINJO_EXPORT bool kinjo_runtime_describe(char** json, kinjo_error** error);

/* Parquet, CSV and JSON files are decoded on the pools of the Arrow library that Kinjo is linked
 * with, which belong to the whole process: no join changes them. A program whose Arrow is Kinjo's
 * alone gives them `threads` threads here (the pool that waits for files at least 2, with fewer
 * Arrow's readers may wait for each other), best as many as its joins have. [any thread] */
KINJO_EXPORT bool kinjo_runtime_set_arrow_threads(int64_t threads, kinjo_error** error);

/* ---- Where data lies ----------------------------------------------------------------------- */

/* What an object store needs to know of the addresses that begin with `prefix` ("" or NULL: all):
 * `names[i]` is `values[i]`, under the names of docs/storage.md. In place of what was told for the
 * same prefix before; of several prefixes that fit an address the longest that tells an option
 * counts, and what none tells comes from the environment. An unknown name or a wrong value changes
 * nothing. Files that are open keep what they were opened with, but for keys that expired.
 * [any thread] */
KINJO_EXPORT bool kinjo_storage_set_options(const char* prefix, const char* const* names,
                                            const char* const* values, size_t num_options,
                                            kinjo_error** error);

/* ---- Cancelling ---------------------------------------------------------------------------- */

/* A flag that one run polls. Made before the run, given to it in kinjo_run_options; a stream that
 * is cancelled or closed before its end raises it too, so each run needs a flag of its own. */
typedef struct kinjo_cancel kinjo_cancel;

KINJO_EXPORT bool kinjo_cancel_make(kinjo_cancel** cancel, kinjo_error** error);
/* Asks the run that was given this flag to stop; it then fails with `cancelled`. For good.
 * [any thread, also a signal handler] */
KINJO_EXPORT void kinjo_cancel_raise(kinjo_cancel* cancel);
/* [any thread, also a signal handler] */
KINJO_EXPORT bool kinjo_cancel_is_raised(const kinjo_cancel* cancel);
KINJO_EXPORT void kinjo_cancel_free(kinjo_cancel* cancel);

/* ---- Lance datasets ------------------------------------------------------------------------ */

/* One version of a Lance dataset, as a snapshot. All functions but free: [any thread]. */
typedef struct kinjo_dataset kinjo_dataset;

typedef struct kinjo_dataset_options {
  size_t struct_size;
  int64_t version; /* KINJO_UNSET: the latest */
  /* Of the version, instead of its number; NULL: none. A tag of a branch opens that branch. A text
   * with a colon is a time, "2026-02-28T23:59:59+01:00": the newest version made by then. */
  const char* tag;
  /* The snapshot is of these fragments alone, as if there were no others; NULL: of all. An index is
   * searched as far as it covers them. */
  const uint64_t* fragment_ids;
  size_t num_fragment_ids;
} kinjo_dataset_options;

KINJO_EXPORT void kinjo_dataset_options_init(kinjo_dataset_options* options, size_t struct_size);

typedef struct kinjo_dataset_info {
  size_t struct_size; /* set by the caller; only that much is filled */
  uint64_t version;
  uint64_t num_rows; /* live rows */
  uint64_t num_deleted_rows;
  uint64_t num_fragments;
  uint64_t num_vector_indexes;
} kinjo_dataset_info;

KINJO_EXPORT bool kinjo_dataset_open(const char* uri, const kinjo_dataset_options* options,
                                     kinjo_dataset** dataset, kinjo_error** error);
KINJO_EXPORT bool kinjo_dataset_get_info(const kinjo_dataset* dataset, kinjo_dataset_info* info,
                                         kinjo_error** error);
KINJO_EXPORT bool kinjo_dataset_get_schema(const kinjo_dataset* dataset, struct ArrowSchema* schema,
                                           kinjo_error** error);
/* Everything that the manifest tells, as one JSON object: uri, version, versions,
 * tags [{name, version, branch}], format_version, num_rows, num_deleted_rows, schema [{name, type,
 * nullable}], fragments [{id, rows, deleted_rows, physical_rows, files}], indexes [{name, column,
 * type, metric, usable, unusable_reason, covered_rows, uncovered_rows, uncovered_fragments,
 * segments [{uuid, dataset_version, fragment_ids}]}], scalar_indexes [{the same without metric}],
 * those of kinds that filters use (BTREE, BITMAP). */
KINJO_EXPORT bool kinjo_dataset_describe(const kinjo_dataset* dataset, char** json,
                                         kinjo_error** error);
/* One index with what its files tell, as one JSON object: the object of kinjo_dataset_describe,
 * each segment with num_partitions, dimension, element_type, num_rows, smallest_partition,
 * largest_partition, exact_codes. */
KINJO_EXPORT bool kinjo_dataset_describe_index(const kinjo_dataset* dataset, const char* name,
                                               char** json, kinjo_error** error);
/* The versions there are now, rising, as one JSON array: [{version, made ("2026-02-28T22:59:59.5Z",
 * null where its writer left it out), operation ("Append", ...; null where none is told), writer,
 * num_rows, num_fragments, tags [text]}]. Reads every manifest. */
KINJO_EXPORT bool kinjo_dataset_describe_versions(const kinjo_dataset* dataset, char** json,
                                                  kinjo_error** error);
/* The data files of the snapshot, as one JSON array: [{fragment_id, path, uri, bytes,
 * format_version, columns [{name, number, pages [text]}]}]; name is null of a column that was
 * dropped, a page's text is its encoding and its rows. Opens every file. */
KINJO_EXPORT bool kinjo_dataset_describe_files(const kinjo_dataset* dataset, char** json,
                                               kinjo_error** error);
KINJO_EXPORT void kinjo_dataset_free(kinjo_dataset* dataset);

/* What a scan gives. */
typedef struct kinjo_scan_options {
  size_t struct_size;
  const char* const* columns; /* top-level names, in order; NULL: all */
  size_t num_columns;
  const char* where;            /* SQL predicate; NULL: every row */
  int64_t limit;                /* rows at most; KINJO_UNSET: all */
  bool with_row_id;             /* add `_rowid` */
  int64_t batch_rows;           /* of a batch at most; KINJO_UNSET: the library's choice */
  const uint64_t* fragment_ids; /* fragments to read, in the dataset's order; NULL: all */
  size_t num_fragment_ids;
  int64_t offset; /* rows to pass over before the first; KINJO_UNSET: none */
} kinjo_scan_options;

KINJO_EXPORT void kinjo_scan_options_init(kinjo_scan_options* options, size_t struct_size);

/* ---- Tables: the left side of a join ------------------------------------------------------- */

typedef struct kinjo_table kinjo_table;

typedef struct kinjo_table_options {
  size_t struct_size;
  const char* format; /* NULL or "": by the name's ending; parquet, arrow, csv, jsonl, npy, fvecs,
                         bvecs, ivecs, lance */
  int64_t version;    /* of a Lance dataset; KINJO_UNSET: the latest */
  int64_t batch_rows; /* rows read at a time; KINJO_UNSET: the library's choice */
} kinjo_table_options;

KINJO_EXPORT void kinjo_table_options_init(kinjo_table_options* options, size_t struct_size);

/* Opens a file, a folder (key=value folders become columns), a glob or a Lance dataset. */
KINJO_EXPORT bool kinjo_table_open(const char* uri, const kinjo_table_options* options,
                                   kinjo_table** table, kinjo_error** error);
/* Wraps a stream of record batches, read once, when the join runs. Views of strings and binaries
 * become plain ones. `stream` is moved from. `name` stands for it in messages. */
KINJO_EXPORT bool kinjo_table_from_stream(struct ArrowArrayStream* stream, const char* name,
                                          kinjo_table** table, kinjo_error** error);
/* Reads a stream of record batches to its end and keeps them: a table that tells its number of
 * rows, can be read again, and may be the right side of a join. Nothing is copied but views of
 * strings and binaries, as above. `stream` is moved from. */
KINJO_EXPORT bool kinjo_table_from_rows(struct ArrowArrayStream* stream, const char* name,
                                        kinjo_table** table, kinjo_error** error);
/* Wraps a copy of vectors in memory, num_vectors x width elements, row after row: a table of one
 * column, `vector`. `element_type` is "float32" (also NULL), "float64", "float16", "uint8" or
 * "int8". What a search is usually asked. */
KINJO_EXPORT bool kinjo_table_from_vectors(const void* values, const char* element_type,
                                           int64_t num_vectors, int64_t width, kinjo_table** table,
                                           kinjo_error** error);
/* Wraps a copy of lists of vectors in memory: list i has the next list_lengths[i] of the vectors in
 * `values`, `width` elements each. What a search of a multivector column is asked. */
KINJO_EXPORT bool kinjo_table_from_vector_lists(const void* values, const char* element_type,
                                                const int64_t* list_lengths, int64_t num_lists,
                                                int64_t width, kinjo_table** table,
                                                kinjo_error** error);
/* Wraps a copy of an Arrow IPC stream or file in memory. */
KINJO_EXPORT bool kinjo_table_from_ipc(const void* bytes, size_t num_bytes, const char* name,
                                       kinjo_table** table, kinjo_error** error);
KINJO_EXPORT bool kinjo_table_get_schema(const kinjo_table* table, struct ArrowSchema* schema,
                                         kinjo_error** error);
/* Stores -1 when only reading the table would tell. */
KINJO_EXPORT bool kinjo_table_get_num_rows(const kinjo_table* table, int64_t* num_rows,
                                           kinjo_error** error);
KINJO_EXPORT void kinjo_table_free(kinjo_table* table);

/* ---- Joins --------------------------------------------------------------------------------- */

/* What a join may be asked; docs/semantics.md says what each means. */
typedef struct kinjo_join_options {
  size_t struct_size;
  int64_t k;               /* neighbours of each left row; 10 */
  const char* on;          /* vector column of both sides; NULL: the only one of each */
  const char* left_on;     /* overrides `on` */
  const char* right_on;    /* overrides `on` */
  const char* how;         /* "inner" (the default, also NULL) or "left" */
  const char* metric;      /* l2, cosine, dot, hamming; NULL: the index's own, else l2 */
  int64_t nprobes;         /* exactly so many partitions */
  int64_t minimum_nprobes; /* at least so many before the search may stop */
  int64_t maximum_nprobes; /* a hard cap */
  int64_t refine_factor;   /* re-rank k * refine_factor candidates on true vectors */
  const char* index;       /* "auto" (also NULL), "require", "never", or an index's name */
  bool fast_search;        /* leave rows out that no index covers */
  bool has_distance_range; /* then only distances in [distance_lower, distance_upper) */
  float distance_lower;
  float distance_upper;
  const char* const* left_select; /* columns of the left to give; NULL: all */
  size_t num_left_select;
  const char* const* right_select; /* columns of the right; NULL: all but the vector */
  size_t num_right_select;
  const char* suffix;         /* for right columns whose name the left has; NULL: "_right" */
  bool with_row_id;           /* add `_rowid` */
  bool with_query_index;      /* add `_query_index`, the left row's ordinal */
  int64_t right_version;      /* of the right dataset; KINJO_UNSET: the latest */
  int64_t memory_limit_bytes; /* KINJO_UNSET: half of what this process may use */
  int64_t threads;            /* KINJO_UNSET: those that this process may use */
  const char* where;          /* SQL predicate over right columns; NULL: every row */
  int64_t ef;                 /* breadth of the search in a graph; KINJO_UNSET: by k */
  double search_effort;       /* 0 to 1, of the first round: 0.5 is the adaptive one; NaN: unset */
  const char* approx_mode;    /* "fast", "normal" (also NULL) or "accurate", as Lance has them for
                               * IVF_RQ; all are scored with exact sums */
  const char* right_tag; /* of the right dataset's version, instead of its number; NULL: none */
  const char* const* by; /* key columns, "a" or "left:right": a left row finds right rows with equal
                          * keys only; NULL: all */
  size_t num_by;
  const char* exclude_self; /* drop the right row that the left row is: the key column that tells,
                             * "a" or "left:right", or "", the same row of the same table; NULL:
                             * keep it */
  bool unordered_pairs;     /* of a self-join: each pair of rows once */
  bool mutual;              /* only matches that are among each other's k */
  bool clusters;            /* of a self-join: each left row once, with `_cluster` */
  double recall; /* above 0, at most 1: probes, ef and (unless given) refine_factor are chosen for
                  * it when the join runs, and the recall is measured; NaN: unset */
} kinjo_join_options;

KINJO_EXPORT void kinjo_join_options_init(kinjo_join_options* options, size_t struct_size);
/* Judges the options alone, before any file is opened. kinjo_join_make does this too. */
KINJO_EXPORT bool kinjo_join_options_check(const kinjo_join_options* options, kinjo_error** error);

typedef struct kinjo_progress {
  size_t struct_size; /* set by the library */
  int64_t done_rows;  /* left rows */
  int64_t total_rows; /* -1 while it isn't known */
  double elapsed_s;
  double rows_per_s;  /* of this run: rows that an earlier run finished don't count */
  double remaining_s; /* at this rate; -1 while it isn't known */
} kinjo_progress;

typedef void (*kinjo_progress_callback)(void* context, const kinjo_progress* progress);

/* How work is watched and stopped. */
typedef struct kinjo_run_options {
  size_t struct_size;
  const kinjo_cancel* cancel;       /* may be NULL; may be freed while the work runs */
  kinjo_progress_callback progress; /* may be NULL; when the run begins, then a few times a second
                                     * at most, and when every left row is done */
  void* progress_context;
  bool complete; /* of kinjo_join_run: all rows are made before they are read, and fetched on demand
                  * then (see kinjo_stream_finish); false: made while they are read */
} kinjo_run_options;

KINJO_EXPORT void kinjo_run_options_init(kinjo_run_options* options, size_t struct_size);

/* A join: made (all checked, the path chosen), explained, run once. */
typedef struct kinjo_join kinjo_join;
typedef struct kinjo_stream kinjo_stream;

/* What a run did, as far as programs need it; kinjo_join_describe_report tells everything. */
typedef struct kinjo_join_report {
  size_t struct_size; /* set by the caller; only that much is filled */
  bool index_used;    /* false: the exact path */
  bool exact_distances;
  int64_t left_rows;
  int64_t result_rows;
  int64_t skipped_null_rows;       /* null left vectors */
  int64_t skipped_non_finite_rows; /* left vectors with a NaN or an infinity; cosine: zero too */
  int64_t short_rows;              /* left rows with fewer than k matches */
  double total_s;
  int64_t capped_rows;  /* of the short rows, those cut by nprobes, maximum_nprobes, fast_search or
                           distance_range */
  int64_t resumed_rows; /* left rows that earlier runs had finished; not in left_rows */
  int64_t duplicate_rows;        /* left rows answered by an equal one of their block */
  int64_t peak_memory_bytes;     /* the most that was reserved of the memory limit */
  int64_t measured_memory_bytes; /* the most that the process's resident memory was above what it
                                    was when the run began, whoever took it; -1 before the run's
                                    end, and where the system doesn't tell */
  /* With a recall target, else NaN and 0: the measured recall and its interval of 95 % confidence
   * (1 on the exact path), and what was chosen (0: no refine, no graph, nothing to choose). */
  double recall;
  double recall_low;
  double recall_high;
  int64_t recall_measured_rows; /* left rows */
  int64_t recall_choosing_rows;
  double recall_choosing_s;
  int64_t chosen_nprobes;
  int64_t chosen_refine_factor;
  int64_t chosen_ef;
} kinjo_join_report;

/* Reads no left row. `right_uri` is a Lance dataset, else a Parquet or Arrow file, folder or glob.
 */
KINJO_EXPORT bool kinjo_join_make(kinjo_table* left, const char* right_uri,
                                  const kinjo_join_options* options, kinjo_join** join,
                                  kinjo_error** error);
/* The same on a dataset that is open: indexes that were opened for an earlier join or search on
 * this handle aren't opened again. right_version must be unset or the handle's. */
KINJO_EXPORT bool kinjo_join_make_on_dataset(kinjo_table* left, const kinjo_dataset* right,
                                             const kinjo_join_options* options, kinjo_join** join,
                                             kinjo_error** error);
/* The same on a table that can be read again: any but a stream. Its rows are numbered as they come,
 * and the numbers are their row ids. `left` and `right` may be one table, which makes it a
 * self-join. A table that was opened on a Lance dataset is joined as that dataset. */
KINJO_EXPORT bool kinjo_join_make_on_table(kinjo_table* left, kinjo_table* right,
                                           const kinjo_join_options* options, kinjo_join** join,
                                           kinjo_error** error);
/* A search: the join whose left rows are the queries, one or many, with its own defaults for what
 * comes out. No column of `queries`, unless left_select names some; and `_query_index` whenever
 * `queries` holds other than one row or can't tell (a stream), else on request. `on` names the
 * vector column of the dataset, and of the queries if they have a column of that name. Explained,
 * run, written and reported like any join. */
KINJO_EXPORT bool kinjo_search_make(const kinjo_dataset* dataset, kinjo_table* queries,
                                    const kinjo_join_options* options, kinjo_join** search,
                                    kinjo_error** error);
KINJO_EXPORT bool kinjo_join_get_schema(const kinjo_join* join, struct ArrowSchema* schema,
                                        kinjo_error** error);
/* The plan as text: operators, the path, the index and why, the indexes not taken, the estimated
 * memory, the memory limit and threads. `verbose` adds how the memory is shared out. */
KINJO_EXPORT bool kinjo_join_explain(const kinjo_join* join, bool verbose, char** text,
                                     kinjo_error** error);
/* Starts the join; its rows come from the stream. */
KINJO_EXPORT bool kinjo_join_run(kinjo_join* join, const kinjo_run_options* options,
                                 kinjo_stream** stream, kinjo_error** error);
/* Counts so far; final once the stream ended. [any thread] */
KINJO_EXPORT bool kinjo_join_get_report(const kinjo_join* join, kinjo_join_report* report,
                                        kinjo_error** error);
/* The same and every other counter, as one JSON object in one line. [any thread] */
KINJO_EXPORT bool kinjo_join_describe_report(const kinjo_join* join, char** json,
                                             kinjo_error** error);
/* The plan with what was measured; after the stream ended. */
KINJO_EXPORT bool kinjo_join_analyze(const kinjo_join* join, char** text, kinjo_error** error);
/* Instead of a run: searches a sample of the left rows with settings from few to all partitions and
 * measures each against the exact answers. The join must have a recall target. One JSON object:
 * path, index_name, index_type, metric, k, target, left_rows (-1: not known), choosing_rows, points
 * [{nprobes, refine_factor, ef, recall, recall_low, recall_high, measured_rows, queries_per_s,
 * bytes_read, partitions_probed, partitions_read, pick}]; a setting of 0 isn't used, and the one
 * with `pick` is what a run would choose by this sample. `options` may be NULL; its progress isn't
 * told. */
KINJO_EXPORT bool kinjo_join_tune(kinjo_join* join, const kinjo_run_options* options, char** json,
                                  kinjo_error** error);
/* Instead of a run: for each of the `count` left rows the partition of the index whose centroid is
 * nearest to its vector, or -1 for rows that can't match and for all where no index answers. Left
 * rows that are sorted by it and searched in large joins share more of what is read. `partitions`
 * is the caller's, and so is `options`, which may be NULL; progress isn't told. */
KINJO_EXPORT bool kinjo_join_nearest_partitions(kinjo_join* join, const kinjo_run_options* options,
                                                int32_t* partitions, int64_t count,
                                                kinjo_error** error);
KINJO_EXPORT void kinjo_join_free(kinjo_join* join);

/* ---- Streams ------------------------------------------------------------------------------- */

/* The rows of a running join, or of a caller's own source: pending (work goes on while the caller
 * reads, one batch is fetched ahead) or complete (batches are fetched on demand). All functions but
 * export and free: [any thread]; reads that overlap are served in the order of their calls. A fetch
 * that fails is the error of the one read that would have returned its batch. */
KINJO_EXPORT bool kinjo_stream_get_schema(const kinjo_stream* stream, struct ArrowSchema* schema,
                                          kinjo_error** error);
KINJO_EXPORT bool kinjo_stream_is_complete(const kinjo_stream* stream);
/* Gives the next batch as a struct array; at the end batch->release is NULL. Fails with `state`
 * after an error that was returned before, and after cancel, close or export. */
KINJO_EXPORT bool kinjo_stream_next(kinjo_stream* stream, struct ArrowArray* batch,
                                    kinjo_error** error);
/* The same with exactly max_rows rows, until the tail of the result has fewer. */
KINJO_EXPORT bool kinjo_stream_next_rows(kinjo_stream* stream, int64_t max_rows,
                                         struct ArrowArray* batch, kinjo_error** error);
/* Whether a read would now give rows or an error. Takes nothing. */
KINJO_EXPORT bool kinjo_stream_has_more(kinjo_stream* stream, bool* more, kinjo_error** error);
/* Works to the end without waiting for reads, whose batches then wait in a temporary file, and
 * tells how the work went. Reads go on as if nothing had happened: also to its error. */
KINJO_EXPORT bool kinjo_stream_finish(kinjo_stream* stream, kinjo_error** error);
/* Blocks further reads at once and asks the join to stop. */
KINJO_EXPORT void kinjo_stream_cancel(kinjo_stream* stream);
/* Stops what still runs and waits for it. A second close does nothing. If it fails, unread rows
 * stay, and it may be called again. */
KINJO_EXPORT bool kinjo_stream_close(kinjo_stream* stream, kinjo_error** error);

/* The same without waiting, for who must not wait. Each callback is called once, from any thread,
 * perhaps before the function returns, with an error that it must free or NULL; it must be quick
 * and may call the stream, but not free it. Close and cancel answer also while a fetch hangs. */
typedef void (*kinjo_batch_callback)(void* context, struct ArrowArray* batch, kinjo_error* error);
typedef void (*kinjo_answer_callback)(void* context, bool answer, kinjo_error* error);
typedef void (*kinjo_done_callback)(void* context, kinjo_error* error);

/* max_rows KINJO_UNSET: the next batch as it is. The callback moves from `batch`. */
KINJO_EXPORT void kinjo_stream_fetch_async(kinjo_stream* stream, int64_t max_rows,
                                           kinjo_batch_callback done, void* context);
KINJO_EXPORT void kinjo_stream_has_more_async(kinjo_stream* stream, kinjo_answer_callback done,
                                              void* context);
KINJO_EXPORT void kinjo_stream_finish_async(kinjo_stream* stream, kinjo_done_callback done,
                                            void* context);
KINJO_EXPORT void kinjo_stream_cancel_async(kinjo_stream* stream, kinjo_done_callback done,
                                            void* context);
KINJO_EXPORT void kinjo_stream_close_async(kinjo_stream* stream, kinjo_done_callback done,
                                           void* context);

/* Hands what is left to read over as an ArrowArrayStream, whose release closes it. The handle stays
 * good for cancel and free, which no longer closes. */
KINJO_EXPORT bool kinjo_stream_export(kinjo_stream* stream, struct ArrowArrayStream* out,
                                      kinjo_error** error);
/* Closes first, if need be, and waits for what still runs. */
KINJO_EXPORT void kinjo_stream_free(kinjo_stream* stream);

/* ---- Streams over a caller's own source ---------------------------------------------------- */

/* A call of the stream that waits for the source's answer. Answered exactly once, from any thread,
 * perhaps before the function that received it returns. */
typedef struct kinjo_request kinjo_request;

/* Rows from elsewhere behind the same stream: what tests of a binding are made with. The functions
 * must not block. fetch may be called while nothing else of fetch is under way; cancel and close
 * may come while one is. */
typedef struct kinjo_source {
  size_t struct_size;
  void* context;
  void (*fetch)(void* context, kinjo_request* request); /* the next batch */
  void (*cancel)(void* context, kinjo_request* request);
  void (*close)(void* context, kinjo_request* request); /* answered with an error: called again */
  void (*release)(void* context); /* the last call; no request is open but those never answered */
} kinjo_source;

/* Takes the source over: its release is called on failure too. `schema` is moved from. */
KINJO_EXPORT bool kinjo_stream_make(const kinjo_source* source, struct ArrowSchema* schema,
                                    bool complete, kinjo_stream** stream, kinjo_error** error);
/* Answers a fetch with a batch, which is moved from (NULL: the end), and any other with success. */
KINJO_EXPORT void kinjo_request_answer(kinjo_request* request, struct ArrowArray* batch);
/* Answers any request with an error. */
KINJO_EXPORT void kinjo_request_fail(kinjo_request* request, kinjo_error_code code,
                                     const char* message);

/* ---- Reading a dataset's rows -------------------------------------------------------------- */

/* Streams live rows in the dataset's order. Options, columns and the predicate are judged now, rows
 * are read as the stream is. `run_options` may be NULL; its progress is told, in rows that the
 * stream hands on, by a thread of the library. [any thread] */
KINJO_EXPORT bool kinjo_dataset_scan(const kinjo_dataset* dataset,
                                     const kinjo_scan_options* options,
                                     const kinjo_run_options* run_options, kinjo_stream** stream,
                                     kinjo_error** error);
/* Counts the live rows that pass `where` (NULL: all). [any thread] */
KINJO_EXPORT bool kinjo_dataset_count_rows(const kinjo_dataset* dataset, const char* where,
                                           const kinjo_run_options* run_options, int64_t* rows,
                                           kinjo_error** error);

/* ---- Writing a join's rows to a file or standard output ------------------------------------ */

typedef struct kinjo_sink_options {
  size_t struct_size;
  const char* format;      /* NULL or "": by the ending; parquet, arrow, csv, jsonl, lance, table */
  const char* compression; /* none, snappy, zstd, lz4, gzip, brotli; NULL: the usual one */
  int64_t row_group_rows;  /* Parquet; KINJO_UNSET: the library's choice */
  bool overwrite;          /* replace what is at the path; true */
} kinjo_sink_options;

KINJO_EXPORT void kinjo_sink_options_init(kinjo_sink_options* options, size_t struct_size);

/* Judges the options for `path` alone, before any file is touched. kinjo_join_write does this too.
 */
KINJO_EXPORT bool kinjo_sink_options_check(const char* path, const kinjo_sink_options* options,
                                           kinjo_error** error);

/* Judges the place as well: a folder, a parent folder that isn't there or may not be written to, a
 * file that may not be replaced. Makes nothing, and doesn't ask an object store. kinjo_join_write
 * does this too, once it has the join's columns. */
KINJO_EXPORT bool kinjo_sink_place_check(const char* path, const kinjo_sink_options* options,
                                         kinjo_error** error);

/* Runs the join and writes its rows to `path`, "-" for standard output. A file is written beside
 * and renamed when whole: on failure and on cancel nothing is at the path that wasn't there before.
 * The place is checked before a left row is read. `rows_written` may be NULL. */
KINJO_EXPORT bool kinjo_join_write(kinjo_join* join, const char* path,
                                   const kinjo_sink_options* sink_options,
                                   const kinjo_run_options* run_options, int64_t* rows_written,
                                   kinjo_error** error);

/* The same for a stream at hand, whose rows that weren't read yet are written; then it is closed.
 * It is cancelled as it was made to be. `rows_written` may be NULL. */
KINJO_EXPORT bool kinjo_stream_write(kinjo_stream* stream, const char* path,
                                     const kinjo_sink_options* sink_options, int64_t* rows_written,
                                     kinjo_error** error);

/* ---- Long joins: a folder of parts, continued after a crash -------------------------------- */

typedef struct kinjo_parts_options {
  size_t struct_size;
  const char* format;      /* NULL: "parquet"; also arrow, csv, jsonl */
  const char* compression; /* as in kinjo_sink_options */
  int64_t row_group_rows;  /* as in kinjo_sink_options */
  int64_t part_rows; /* left rows of a part; KINJO_UNSET: as the folder was begun, else 65536 */
} kinjo_parts_options;

KINJO_EXPORT void kinjo_parts_options_init(kinjo_parts_options* options, size_t struct_size);
/* Judges the options alone, before any file is touched. kinjo_join_write_parts does this too. */
KINJO_EXPORT bool kinjo_parts_options_check(const char* folder, const kinjo_parts_options* options,
                                            kinjo_error** error);

/* What a folder of parts holds. */
typedef struct kinjo_parts_info {
  size_t struct_size;   /* set by the caller; only that much is filled */
  bool finished;        /* every left row is in a part */
  int64_t parts;        /* finished parts */
  int64_t parts_before; /* of these, those of earlier runs */
  int64_t left_rows;    /* of the finished parts */
  int64_t rows;         /* result rows of the finished parts */
} kinjo_parts_info;

/* Runs the join into the files part-00000.parquet, part-00001.parquet, ... of a local folder, which
 * is made if need be, and keeps a journal beside them. Each part is whole or not there. When a run
 * was killed, cancelled or failed, the same call on a join made of the same sides and options goes
 * on with the parts that are missing; of a finished folder nothing is done. The files are the same
 * whether the run was interrupted or not. Refused: other sides or options (`invalid`, with what
 * differs; threads and memory limit may change), a folder with other files, a left side that is
 * read once, and a folder that another process is writing (`conflict`). `info` may be NULL, and is
 * filled on failure too. */
KINJO_EXPORT bool kinjo_join_write_parts(kinjo_join* join, const char* folder,
                                         const kinjo_parts_options* parts_options,
                                         const kinjo_run_options* run_options,
                                         kinjo_parts_info* info, kinjo_error** error);

/* ---- Vector indexes: making and keeping them ----------------------------------------------- */

/* What is asked of an index. Numbers that are KINJO_UNSET are chosen, from the data or as Lance
 * does; texts that are NULL are too. */
typedef struct kinjo_index_options {
  size_t struct_size;
  const char* column; /* NULL: the only column of vectors */
  const char* name;   /* NULL: the column's name and "_idx" */
  bool replace;       /* takes the place of an index of that name */
  const char* type;   /* IVF_FLAT, IVF_PQ (NULL), IVF_SQ, IVF_RQ, IVF_HNSW_FLAT, _PQ, _SQ */
  const char* metric; /* l2, cosine, dot, hamming; NULL: l2, hamming for uint8, cosine for lists */
  int64_t num_partitions;
  int64_t target_partition_size; /* rows a partition, where num_partitions isn't given */
  int64_t num_sub_vectors;       /* PQ */
  int64_t num_bits;              /* PQ: 8 or 4; RQ: 1 to 9, 5 unless given */
  int64_t m;                     /* HNSW: neighbours a node keeps; 20 */
  int64_t ef_construction;       /* HNSW: 150 */
  int64_t max_level;             /* HNSW: 7 */
  int64_t sample_rate;           /* rows to train on for each centroid; 256 */
  int64_t max_iterations;        /* passes of k-means; 50 */
  int64_t seed;                  /* 0 */
  int64_t threads;               /* KINJO_UNSET: all that the process may use */
  int64_t memory_limit_bytes;    /* KINJO_UNSET: half of what the process may use */
  /* A model trained elsewhere: elements of the column's type, row after row. NULL: trained here. */
  const void* centroids; /* num_centroids x width */
  int64_t num_centroids;
  const void* codebook; /* PQ: num_sub_vectors x 2^num_bits x (width / num_sub_vectors) */
  const char* model;    /* instead of both: a text that kinjo_index_train gave; NULL: none */
} kinjo_index_options;

KINJO_EXPORT void kinjo_index_options_init(kinjo_index_options* options, size_t struct_size);

/* Builds an index over the latest version of a dataset and commits it. `json` may be NULL; else one
 * object: name, version, type, metric, num_partitions, num_sub_vectors, num_bits, choices [text],
 * num_rows, null_rows, non_finite_rows, zero_rows (left out), trained_rows, empty_partitions,
 * largest_partition, index_bytes, peak_memory_bytes, train_s, encode_s, write_s, uuid,
 * fragment_ids. Progress counts the parts of the whole work as rows. After an error or a
 * cancel the dataset is as it was. */
KINJO_EXPORT bool kinjo_index_create(const char* dataset_uri, const kinjo_index_options* options,
                                     const kinjo_run_options* run_options, char** json,
                                     kinjo_error** error);

/* Learns the model of an index from a sample of all rows of the latest version, and writes nothing.
 * `model` is a text, for kinjo_index_options of the segments that shall share it. */
KINJO_EXPORT bool kinjo_index_train(const char* dataset_uri, const kinjo_index_options* options,
                                    const kinjo_run_options* run_options, char** model,
                                    kinjo_error** error);
/* Builds the files of one segment over some fragments of the latest version, and commits nothing:
 * for building the segments of an index in several processes, which are then committed together.
 * Where the segments shall share a model, each is given it. `segment` is a text for
 * kinjo_index_commit_segments. */
KINJO_EXPORT bool kinjo_index_build_segment(const char* dataset_uri,
                                            const kinjo_index_options* options,
                                            const uint64_t* fragment_ids, size_t num_fragments,
                                            const kinjo_run_options* run_options, char** segment,
                                            kinjo_error** error);
/* Commits segments as one index. */
KINJO_EXPORT bool kinjo_index_commit_segments(const char* dataset_uri, const char* const* segments,
                                              size_t num_segments, const char* name, bool replace,
                                              uint64_t* version, kinjo_error** error);

typedef struct kinjo_index_optimize_options {
  size_t struct_size;
  int64_t num_indices_to_merge; /* the newest segments that are merged with the new rows; 0: none;
                                 * KINJO_UNSET: small ones, and those with many deleted rows */
  bool retrain;                 /* everything anew, in one segment, with a model of today's rows */
  int64_t threads;
  int64_t memory_limit_bytes;
} kinjo_index_optimize_options;

KINJO_EXPORT void kinjo_index_optimize_options_init(kinjo_index_optimize_options* options,
                                                    size_t struct_size);

/* Brings an index up to the rows of the latest version. `json` may be NULL; else one object: name,
 * version, changed (false: nothing was to do, and no version was made), replaced [uuid], segment
 * (that of kinjo_index_create without name and version; null unless changed). */
KINJO_EXPORT bool kinjo_index_optimize(const char* dataset_uri, const char* name,
                                       const kinjo_index_optimize_options* options,
                                       const kinjo_run_options* run_options, char** json,
                                       kinjo_error** error);

/* Takes an index of any kind out of the dataset. Older versions keep it, and its files. `version`
 * may be NULL. */
KINJO_EXPORT bool kinjo_index_drop(const char* dataset_uri, const char* name, uint64_t* version,
                                   kinjo_error** error);
/* Gives an index another name, which must be free. */
KINJO_EXPORT bool kinjo_index_rename(const char* dataset_uri, const char* name,
                                     const char* new_name, uint64_t* version, kinjo_error** error);

/* ---- Writing Lance datasets ----------------------------------------------------------------- */

/* Every call below commits at most one new version, which is there whole or not at all: after an
 * error, a cancel or a crash the dataset is at the version it was at. A commit of another writer
 * that doesn't go with the change is `conflict`. docs/writing.md tells more. Local paths only. */

typedef struct kinjo_write_options {
  size_t struct_size;
  const char* mode;           /* "create" (also NULL), "append" or "overwrite" */
  const char* data_version;   /* file version of the data files, "2.2", "2.1" or "2.0"; NULL: the
                                 dataset's own, else "2.2" */
  const char* vector_column;  /* a column of lists that all have one length: it becomes a column of
                                 vectors; NULL: none */
  int64_t max_rows_per_file;  /* KINJO_UNSET: 1,048,576 */
  int64_t max_bytes_per_file; /* KINJO_UNSET: 90 GiB */
  bool stable_row_ids;        /* row ids that a compaction doesn't change; of a new dataset */
  int64_t memory_limit_bytes; /* KINJO_UNSET: half of what this process may use */
} kinjo_write_options;

KINJO_EXPORT void kinjo_write_options_init(kinjo_write_options* options, size_t struct_size);
/* Judges the options alone, before any file is opened. kinjo_dataset_write does this too. */
KINJO_EXPORT bool kinjo_write_options_check(const kinjo_write_options* options,
                                            kinjo_error** error);

/* What a change did; each call says what it fills. */
typedef struct kinjo_write_report {
  size_t struct_size; /* set by the caller; only that much is filled */
  uint64_t version;   /* of the dataset now */
  uint64_t rows;
  uint64_t fragments; /* new ones */
  uint64_t bytes;
  uint64_t old_fragments;
  uint64_t versions;
  uint64_t files;
} kinjo_write_report;

/* Writes the rows of a table as a dataset, or to the one that is there: rows, fragments and bytes
 * written. `rows` is read once. Progress counts its rows. In all calls `run_options` and `report`
 * may be NULL. */
KINJO_EXPORT bool kinjo_dataset_write(const char* uri, kinjo_table* rows,
                                      const kinjo_write_options* options,
                                      const kinjo_run_options* run_options,
                                      kinjo_write_report* report, kinjo_error** error);
/* Deletes the rows for which the SQL predicate `where` is true: rows deleted. Without such a row no
 * version is committed. Other writers' commits that come first are taken into account. */
KINJO_EXPORT bool kinjo_dataset_delete(const char* uri, const char* where,
                                       const kinjo_run_options* run_options,
                                       kinjo_write_report* report, kinjo_error** error);
/* Adds columns: row i of `columns` goes to the i-th row of a scan. Rows and bytes written. */
KINJO_EXPORT bool kinjo_dataset_add_columns(const char* uri, kinjo_table* columns,
                                            const kinjo_run_options* run_options,
                                            kinjo_write_report* report, kinjo_error** error);
/* Drops top-level columns and the indexes on them. No file is rewritten. */
KINJO_EXPORT bool kinjo_dataset_drop_columns(const char* uri, const char* const* names,
                                             size_t num_names, kinjo_write_report* report,
                                             kinjo_error** error);
/* Renames the column with the dotted path `column`; `name` is its own new name, without a path. */
KINJO_EXPORT bool kinjo_dataset_rename_column(const char* uri, const char* column, const char* name,
                                              kinjo_write_report* report, kinjo_error** error);

typedef struct kinjo_compact_options {
  size_t struct_size;
  int64_t target_rows;      /* rows of a fragment; KINJO_UNSET: 1,048,576 */
  double deleted_share_max; /* a fragment with a larger share of deleted rows is rewritten in any
                               case; NaN: 0.1 */
} kinjo_compact_options;

KINJO_EXPORT void kinjo_compact_options_init(kinjo_compact_options* options, size_t struct_size);
/* Makes large fragments of small ones, without their deleted rows: fragments, old_fragments, rows
 * and bytes. Vector indexes go on covering the rewritten rows; of other indexes these wait for an
 * optimize. Where there is nothing to do, no version is committed. `options` may be NULL. */
KINJO_EXPORT bool kinjo_dataset_compact(const char* uri, const kinjo_compact_options* options,
                                        const kinjo_run_options* run_options,
                                        kinjo_write_report* report, kinjo_error** error);

/* Makes an earlier version (its number, or a tag instead of KINJO_UNSET) the newest again. */
KINJO_EXPORT bool kinjo_dataset_restore(const char* uri, int64_t version, const char* tag,
                                        kinjo_write_report* report, kinjo_error** error);

/* Tags. `version` KINJO_UNSET: the newest. No version is committed. */
KINJO_EXPORT bool kinjo_dataset_create_tag(const char* uri, const char* tag, int64_t version,
                                           kinjo_error** error);
KINJO_EXPORT bool kinjo_dataset_update_tag(const char* uri, const char* tag, int64_t version,
                                           kinjo_error** error);
KINJO_EXPORT bool kinjo_dataset_delete_tag(const char* uri, const char* tag, kinjo_error** error);

typedef struct kinjo_cleanup_options {
  size_t struct_size;
  int64_t older_than_s;         /* versions younger than this stay; KINJO_UNSET: 14 days */
  int64_t keep_versions;        /* so many of the newest stay whatever their age; KINJO_UNSET: 1 */
  int64_t orphans_older_than_s; /* files that no version names go from this age on, since younger
                                   ones may be a writer's at work; KINJO_UNSET: 7 days */
} kinjo_cleanup_options;

KINJO_EXPORT void kinjo_cleanup_options_init(kinjo_cleanup_options* options, size_t struct_size);
/* Removes old versions and the files that only they name: versions, files and bytes removed. The
 * newest version and those with a tag stay. `options` may be NULL. */
KINJO_EXPORT bool kinjo_dataset_cleanup(const char* uri, const kinjo_cleanup_options* options,
                                        const kinjo_run_options* run_options,
                                        kinjo_write_report* report, kinjo_error** error);

#ifdef __cplusplus
}
#endif

#endif /* KINJO_KINJO_H_ */
