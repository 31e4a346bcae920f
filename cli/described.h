// The library's JSON descriptions read back into plain records, for the texts that people read. The
// only user of the JSON library here.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace kinjo::cli {

struct DescribedRuntime {
  std::string version;
  std::string arrow_version;
  std::string simd_level;
  std::vector<std::string> simd_levels;
  int64_t threads = 0;
  uint64_t memory_limit_bytes = 0;
};

struct DescribedColumn {
  std::string name;
  std::string type;
  bool nullable = false;
};

struct DescribedFragment {
  uint64_t id = 0;
  uint64_t rows = 0;
  uint64_t deleted_rows = 0;
  std::vector<std::string> files;
};

struct DescribedSegment {
  std::string uuid;
  uint64_t dataset_version = 0;
  std::vector<uint64_t> fragment_ids;
  // Of an index described by itself only.
  uint64_t num_partitions = 0;
  uint64_t dimension = 0;
  std::string element_type;
  uint64_t num_rows = 0;
  uint64_t smallest_partition = 0;
  uint64_t largest_partition = 0;
};

struct DescribedIndex {
  std::string name;
  std::string column;
  std::string type;
  std::string metric;  ///< "" of a scalar index
  bool usable = false;
  std::string unusable_reason;
  uint64_t covered_rows = 0;
  uint64_t uncovered_rows = 0;
  std::vector<uint64_t> uncovered_fragments;
  std::vector<DescribedSegment> segments;
};

struct DescribedTag {
  std::string name;
  uint64_t version = 0;
  std::string branch;
};

struct DescribedDataset {
  std::string uri;
  uint64_t version = 0;
  std::vector<uint64_t> versions;
  std::vector<DescribedTag> tags;
  std::string format_version;
  uint64_t num_rows = 0;
  uint64_t num_deleted_rows = 0;
  std::vector<DescribedColumn> columns;
  std::vector<DescribedFragment> fragments;
  std::vector<DescribedIndex> indexes;
  std::vector<DescribedIndex> scalar_indexes;
};

struct DescribedVersion {
  uint64_t version = 0;
  std::string made;       ///< "" where it isn't told
  std::string operation;  ///< the same
  std::string writer;     ///< the same
  uint64_t num_rows = 0;
  uint64_t num_fragments = 0;
  std::vector<std::string> tags;
};

struct DescribedStoredColumn {
  std::string name;                ///< "" of a column that was dropped
  std::vector<std::string> pages;  ///< encoding, then " rows=" and their number
};

struct DescribedFile {
  uint64_t fragment_id = 0;
  std::string path;
  uint64_t bytes = 0;
  std::string format_version;
  std::vector<DescribedStoredColumn> columns;
};

std::vector<DescribedVersion> ReadVersions(const std::string& json);
std::vector<DescribedFile> ReadFiles(const std::string& json);
/// The object of a dataset with more members, each a name and its JSON.
std::string WithMembers(const std::string& dataset_json,
                        const std::vector<std::pair<std::string, std::string>>& members);
DescribedRuntime ReadRuntime(const std::string& json);
DescribedDataset ReadDataset(const std::string& json);
DescribedIndex ReadIndex(const std::string& json);
/// What only the JSON report of a run tells.
struct DescribedRun {
  std::string index_name;  ///< "" for the exact path
  std::string metric;
  bool scored_all_passing = false;  ///< few rows passed the filter: the index wasn't searched
  uint64_t clusters = 0;            ///< 0 unless asked for
};
/// One setting of a recall curve; a setting of 0 isn't used.
struct DescribedPoint {
  int64_t nprobes = 0;
  int64_t refine_factor = 0;
  int64_t ef = 0;
  double recall = 0;
  double recall_low = 0;
  double recall_high = 0;
  double queries_per_s = 0;
  uint64_t bytes_read = 0;
  uint64_t partitions_read = 0;
  bool pick = false;
};

struct DescribedCurve {
  std::string index_name;  ///< "" for the exact path
  std::string index_type;
  std::string metric;
  int64_t k = 0;
  double target = 0;
  uint64_t measured_rows = 0;
  std::vector<DescribedPoint> points;
};
DescribedCurve ReadCurve(const std::string& json);

DescribedRun ReadRun(const std::string& report_json);

/// What a build of an index tells: kinjo_index_create, or the segment of kinjo_index_optimize.
struct DescribedBuild {
  std::string type;
  std::string metric;
  uint64_t num_partitions = 0;
  std::vector<std::string> choices;
  uint64_t num_rows = 0;
  uint64_t null_rows = 0;
  uint64_t non_finite_rows = 0;
  uint64_t zero_rows = 0;
  uint64_t empty_partitions = 0;
  uint64_t index_bytes = 0;
  uint64_t peak_memory_bytes = 0;
  double total_s = 0;
};
struct DescribedIndexChange {
  std::string name;
  uint64_t version = 0;
  bool changed = true;
  uint64_t replaced_segments = 0;
  DescribedBuild build;
};
/// The lists of indexes in a dataset's JSON, as one object of both.
std::string IndexesJson(const std::string& dataset_json);

DescribedIndexChange ReadCreated(const std::string& json);
DescribedIndexChange ReadOptimized(const std::string& json);

}  // namespace kinjo::cli
