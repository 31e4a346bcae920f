// Builds an index of float32 rows in memory and searches it as index_probe searches one on disk.
//
//   built_probe ROWS DIM TYPE METRIC PARTITIONS SUB_VECTORS BITS QUERIES K NPROBES
//
// ROWS is a file of float32 vectors, row after row, whose ids count up from 0; QUERIES one of
// float64 vectors. NPROBES 0 = all partitions. Prints a line for each result: query, row id,
// distance.
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <numeric>
#include <string>
#include <vector>

#include "index/built_files.h"
#include "tests/interop/segment_search.h"

namespace kinjo {
namespace {

arrow::Status Run(char** argv) {
  ARROW_ASSIGN_OR_RAISE(const auto bytes, ReadWhole(argv[1]));
  const int64_t dim = std::atoll(argv[2]);
  const index::ColumnVectors vectors{
      .data = bytes->data(), .num_rows = bytes->size() / (4 * dim), .dim = dim};
  std::vector<uint64_t> row_ids(static_cast<size_t>(vectors.num_rows));
  std::iota(row_ids.begin(), row_ids.end(), uint64_t{0});
  const auto metric = kernels::ParseMetric(argv[4]);
  if (!metric.has_value()) return base::Invalid("metric is '", argv[4], "'");
  const index::TrainingOptions options{.index_type = argv[3],
                                       .metric = *metric,
                                       .num_partitions = std::atoll(argv[5]),
                                       .num_sub_vectors = std::atoll(argv[6]),
                                       .num_bits = std::atoi(argv[7])};
  base::ThreadPool pool(2);
  const std::vector<index::VectorsWithIds> pieces = {{vectors, row_ids}};
  ARROW_ASSIGN_OR_RAISE(
      auto segment,
      index::BuildSegment(pieces, options, {.pool = &pool, .cancel = {}, .progress = {}}));
  ARROW_ASSIGN_OR_RAISE(const std::vector<double> queries, ReadQueries(argv[8]));
  Search search =
      StartSearch(std::move(segment), queries, std::atoll(argv[9]), std::atoll(argv[10]));
  for (int64_t p = 0; p < search.segment->num_partitions(); ++p) {
    ARROW_RETURN_NOT_OK(SearchPartition(p, &search));
  }
  PrintResults(&search);
  return arrow::Status::OK();
}

}  // namespace
}  // namespace kinjo

int main(int argc, char** argv) {
  if (argc != 11) {
    std::cerr << "usage: built_probe ROWS DIM TYPE METRIC PARTITIONS SUB_VECTORS BITS QUERIES K "
                 "NPROBES\n";
    return 2;
  }
  const arrow::Status status = kinjo::Run(argv);
  if (status.ok()) return 0;
  std::cerr << kinjo::base::ErrorCodeName(kinjo::base::CodeOf(status)) << ": "
            << kinjo::base::MessageOf(status) << "\n";
  return 1;
}
