// Searches one index segment through the index room alone, row by row: what tests/interop compares
// with pylance. Knows no dataset, so no deletions.
//
//   index_probe DIRECTORY QUERIES K NPROBES
//
// DIRECTORY is `_indices/<uuid>`; QUERIES is a file of float64 vectors, row after row; NPROBES 0 =
// all partitions. Prints `# type metric partitions dim bytes_needed bytes_read`, then a line for
// each result: query, row id, distance.
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "format/index_file/index_files.h"
#include "index/ivf_segment.h"
#include "io/random_reader.h"
#include "tests/interop/segment_search.h"

namespace kinjo {
namespace {

arrow::Status Run(const std::string& directory, const std::string& query_path, int64_t k,
                  int64_t nprobes) {
  ARROW_ASSIGN_OR_RAISE(const io::Location location, io::ResolveUri(directory));
  auto counters = std::make_shared<io::IoCounters>();
  ARROW_ASSIGN_OR_RAISE(auto files, format::IndexFiles::Open(location, counters));
  ARROW_ASSIGN_OR_RAISE(auto segment, index::IvfSegment::Make(std::move(files)));
  ARROW_ASSIGN_OR_RAISE(const std::vector<double> vectors, ReadQueries(query_path));
  Search search = StartSearch(std::move(segment), vectors, k, nprobes);
  const int64_t num_partitions = search.segment->num_partitions();
  // One read before counting: it fetches the metadata of the columns.
  ARROW_RETURN_NOT_OK(search.segment->Load(0).status());
  const uint64_t bytes_before = counters->bytes_read;
  for (int64_t p = 0; p < num_partitions; ++p) ARROW_RETURN_NOT_OK(SearchPartition(p, &search));
  std::printf("# %s %s %lld %lld %llu %llu\n", search.segment->index_type().c_str(),
              std::string(kernels::MetricName(search.segment->metric())).c_str(),
              static_cast<long long>(num_partitions), static_cast<long long>(search.segment->dim()),
              static_cast<unsigned long long>(search.bytes_needed),
              static_cast<unsigned long long>(counters->bytes_read - bytes_before));
  PrintResults(&search);
  return arrow::Status::OK();
}

}  // namespace
}  // namespace kinjo

int main(int argc, char** argv) {
  if (argc != 5) {
    std::cerr << "usage: index_probe DIRECTORY QUERIES K NPROBES\n";
    return 2;
  }
  const arrow::Status status =
      kinjo::Run(argv[1], argv[2], std::atoll(argv[3]), std::atoll(argv[4]));
  if (status.ok()) return 0;
  std::cerr << kinjo::base::ErrorCodeName(kinjo::base::CodeOf(status)) << ": "
            << kinjo::base::MessageOf(status) << "\n";
  return 1;
}
