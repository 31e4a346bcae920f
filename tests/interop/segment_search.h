// Exhaustive search of an index segment for the programs of the interop tests: partitions ranked,
// every row of those visited scored. Knows no dataset, so no deletions.
#pragma once

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "format/index_file/index_files.h"
#include "index/ivf_segment.h"
#include "io/random_reader.h"
#include "kernels/top_k.h"

namespace kinjo {

/// All bytes of a file.
inline arrow::Result<std::shared_ptr<arrow::Buffer>> ReadWhole(const std::string& path) {
  ARROW_ASSIGN_OR_RAISE(const io::Location location, io::ResolveUri(path));
  ARROW_ASSIGN_OR_RAISE(const auto reader, io::OpenFile(location));
  return reader->Read({0, reader->size()});
}

/// A file of float64 vectors, row after row.
inline arrow::Result<std::vector<double>> ReadQueries(const std::string& path) {
  ARROW_ASSIGN_OR_RAISE(const auto bytes, ReadWhole(path));
  const auto* values = reinterpret_cast<const double*>(bytes->data());
  return std::vector<double>(values, values + bytes->size() / 8);
}

/// Queries on their way through a segment.
struct Search {
  std::shared_ptr<index::IvfSegment> segment;
  index::QueryBlock queries;
  std::vector<std::vector<index::RankedPartition>> ranked;
  std::vector<kernels::TopK> best;
  uint64_t bytes_needed = 0;
};

/// Scores all rows of one partition for the queries that visit it.
inline arrow::Status SearchPartition(int64_t partition, Search* search) {
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

/// Prepares the search of `vectors` for the k nearest in `nprobes` partitions (0 = all).
inline Search StartSearch(std::shared_ptr<index::IvfSegment> segment,
                          const std::vector<double>& vectors, int64_t k, int64_t nprobes) {
  Search search;
  search.segment = std::move(segment);
  search.queries = search.segment->PrepareQueries(vectors);
  search.segment->RankPartitions(search.queries, 0, search.queries.num_queries,
                                 nprobes == 0 ? search.segment->num_partitions() : nprobes,
                                 &search.ranked);
  for (int64_t q = 0; q < search.queries.num_queries; ++q) search.best.emplace_back(k);
  return search;
}

/// A line for each result: query, row id, distance.
inline void PrintResults(Search* search) {
  for (size_t q = 0; q < search->best.size(); ++q) {
    for (const kernels::Neighbor& row : search->best[q].TakeSorted()) {
      std::printf("%zu %llu %.9g\n", q, static_cast<unsigned long long>(row.address),
                  static_cast<double>(row.distance));
    }
  }
}

}  // namespace kinjo
