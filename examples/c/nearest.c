/* Prints the three nearest right rows of each left row:
 *
 *     nearest LEFT RIGHT COLUMN
 *
 * LEFT is a table (Parquet, Arrow, CSV, JSON Lines, .npy, Lance), RIGHT a Lance dataset, COLUMN the
 * vector column of both. The rows come as Arrow C arrays, which this program reads by hand. Build:
 *
 *     cc -std=c99 -I include examples/c/nearest.c -L build/release/src/capi -lkinjo -o nearest
 */
#include <stdio.h>
#include <string.h>

#include "kinjo/kinjo.h"

static int fail(const char* what, kinjo_error* error) {
  fprintf(stderr, "%s: %s: %s\n", what, kinjo_error_code_name(kinjo_error_get_code(error)),
          kinjo_error_get_message(error));
  kinjo_error_free(error);
  return 1;
}

/* The position of a column, or -1. */
static int64_t find_column(const struct ArrowSchema* schema, const char* name) {
  for (int64_t i = 0; i < schema->n_children; ++i) {
    if (strcmp(schema->children[i]->name, name) == 0) return i;
  }
  return -1;
}

/* Values of a fixed-width column: buffer 0 says which are valid, buffer 1 holds them. */
static const void* values_of(const struct ArrowArray* column) { return column->buffers[1]; }

static void print_batch(const struct ArrowSchema* schema, const struct ArrowArray* batch) {
  const struct ArrowArray* query = batch->children[find_column(schema, "_query_index")];
  const struct ArrowArray* rank = batch->children[find_column(schema, "_rank")];
  const struct ArrowArray* row_id = batch->children[find_column(schema, "_rowid")];
  const struct ArrowArray* distance = batch->children[find_column(schema, "_distance")];
  for (int64_t i = 0; i < batch->length; ++i) {
    const int64_t row = i + batch->offset;
    printf("%lld\t%d\t%llu\t%g\n",
           (long long)((const int64_t*)values_of(query))[row + query->offset],
           (int)((const int32_t*)values_of(rank))[row + rank->offset],
           (unsigned long long)((const uint64_t*)values_of(row_id))[row + row_id->offset],
           (double)((const float*)values_of(distance))[row + distance->offset]);
  }
}

static int print_rows(kinjo_stream* stream) {
  struct ArrowSchema schema;
  struct ArrowArray batch;
  kinjo_error* error = NULL;
  if (!kinjo_stream_get_schema(stream, &schema, &error)) return fail("schema", error);
  printf("query\trank\trow id\tdistance\n");
  while (kinjo_stream_next(stream, &batch, &error)) {
    if (batch.release == NULL) break;
    print_batch(&schema, &batch);
    batch.release(&batch);
  }
  schema.release(&schema);
  return error == NULL ? 0 : fail("next", error);
}

int main(int argc, char** argv) {
  kinjo_error* error = NULL;
  kinjo_table* left = NULL;
  kinjo_join* join = NULL;
  kinjo_stream* stream = NULL;
  kinjo_join_options options;
  int result;

  if (argc != 4) {
    fprintf(stderr, "usage: nearest LEFT RIGHT COLUMN\n");
    return 2;
  }
  if (!kinjo_table_open(argv[1], NULL, &left, &error)) return fail("left", error);

  kinjo_join_options_init(&options, sizeof(options));
  options.k = 3;
  options.on = argv[3];
  options.with_row_id = true;
  options.with_query_index = true;
  if (!kinjo_join_make(left, argv[2], &options, &join, &error)) {
    kinjo_table_free(left);
    return fail("join", error);
  }
  if (kinjo_join_run(join, NULL, &stream, &error)) {
    result = print_rows(stream);
  } else {
    result = fail("run", error);
  }
  kinjo_stream_free(stream);
  kinjo_join_free(join);
  kinjo_table_free(left);
  return result;
}
