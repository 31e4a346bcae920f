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
#include "kernels/top_k.h"

namespace kinjo {
namespace {

arrow::Result<std::vector<double>> ReadQueries(const std::string& path) {
  ARROW_ASSIGN_OR_RAISE(const io::Location location, io::ResolveUri(path));
  ARROW_ASSIGN_OR_RAISE(const auto reader, io::OpenFile(location));
  ARROW_ASSIGN_OR_RAISE(const auto bytes, reader->Read({0, reader->size()}));
  const auto* values = reinterpret_cast<const double*>(bytes->data());
  return std::vector<double>(values, values + bytes->size() / 8);
}

struct Search {
  std::shared_ptr<index::IvfSegment> segment;
  index::QueryBlock queries;
  std::vector<std::vector<index::RankedPartition>> ranked;
  std::vector<kernels::TopK> best;
  uint64_t bytes_needed = 0;
};

// Scores all rows of one partition for the queries that visit it.
arrow::Status SearchPartition(int64_t partition, Search* search) {
  const index::IvfSegment& segment = *search->segment;
  ARROW_ASSIGN_OR_RAISE(const format::PartitionRows stored, segment.Load(partition));
  const auto* row_ids = reinterpret_cast<const uint64_t*>(stored.row_ids->data());
  const std::vector<uint64_t> addresses(row_ids, row_ids + stored.num_rows);
  index::DecodedPartition decoded;
  segment.Decode(partition, stored, addresses, ~uint64_t{0}, &decoded);
  search->bytes_needed += segment.partition_bytes(partition);
  for (int64_t q = 0; q < search->queries.num_queries; ++q) {
    for (const index::RankedPartition& ranked : search->ranked[q]) {
      if (ranked.partition != partition) continue;
      const auto kept = static_cast<int64_t>(decoded.addresses.size());
      for (int64_t slot = 0; slot < kept; ++slot) {
        const float distance = segment.Distance(partition, search->queries.query(q), decoded, slot);
        search->best[q].Push({distance, decoded.addresses[slot]});
      }
    }
  }
  return arrow::Status::OK();
}

arrow::Status Run(const std::string& directory, const std::string& query_path, int64_t k,
                  int64_t nprobes) {
  ARROW_ASSIGN_OR_RAISE(const io::Location location, io::ResolveUri(directory));
  auto counters = std::make_shared<io::IoCounters>();
  ARROW_ASSIGN_OR_RAISE(auto files, format::IndexFiles::Open(location, counters));
  Search search;
  ARROW_ASSIGN_OR_RAISE(search.segment, index::IvfSegment::Make(std::move(files)));
  ARROW_ASSIGN_OR_RAISE(const std::vector<double> vectors, ReadQueries(query_path));
  search.queries = search.segment->PrepareQueries(vectors);
  const int64_t num_partitions = search.segment->num_partitions();
  search.segment->RankPartitions(search.queries, 0, search.queries.num_queries,
                                 nprobes == 0 ? num_partitions : nprobes, &search.ranked);
  for (int64_t q = 0; q < search.queries.num_queries; ++q) search.best.emplace_back(k);
  // One read before counting: it fetches the metadata of the columns.
  ARROW_RETURN_NOT_OK(search.segment->Load(0).status());
  const uint64_t bytes_before = counters->bytes_read;
  for (int64_t p = 0; p < num_partitions; ++p) ARROW_RETURN_NOT_OK(SearchPartition(p, &search));
  std::printf("# %s %s %lld %lld %llu %llu\n", search.segment->index_type().c_str(),
              std::string(kernels::MetricName(search.segment->metric())).c_str(),
              static_cast<long long>(num_partitions), static_cast<long long>(search.segment->dim()),
              static_cast<unsigned long long>(search.bytes_needed),
              static_cast<unsigned long long>(counters->bytes_read - bytes_before));
  for (size_t q = 0; q < search.best.size(); ++q) {
    for (const kernels::Neighbor& row : search.best[q].TakeSorted()) {
      std::printf("%zu %llu %.9g\n", q, static_cast<unsigned long long>(row.address),
                  static_cast<double>(row.distance));
    }
  }
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
