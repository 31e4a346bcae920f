// What a user may ask of a join, by the names of every face (CLI, C, Python, ...;
// docs/bindings.md).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "join/ways.h"
#include "kernels/metric.h"

namespace kinjo::join {

/// Which rows of the left side come out.
enum class How : uint8_t { kInner, kLeft };

/// Which path may answer. A name is given in JoinOptions::index_name.
enum class IndexUse : uint8_t { kAuto, kRequire, kNever, kNamed };

/// How an IVF_RQ index scores its codes. Lance's option; docs/semantics.md says what it does here.
enum class ApproxMode : uint8_t { kFast, kNormal, kAccurate };

/// A plain record; Validate (join/validate.h) is the only place that judges it.
struct JoinOptions {
  int64_t k = 10;
  std::string on;        ///< vector column of both sides; "" = the only vector column of each side
  std::string left_on;   ///< overrides `on`
  std::string right_on;  ///< overrides `on`
  How how = How::kInner;
  std::optional<kernels::Metric>
      metric;  ///< nothing = the index's own, else l2 (hamming for uint8)
  std::optional<int64_t> nprobes;
  std::optional<int64_t> minimum_nprobes;
  std::optional<int64_t> maximum_nprobes;
  std::optional<int64_t> refine_factor;
  /// In [0, 1]: 0.5 is the adaptive first round, less visits fewer partitions, more visits more.
  std::optional<double> search_effort;
  /// In (0, 1]: probes, ef and (unless given) refine_factor are chosen for this recall at run.
  std::optional<double> recall;
  std::optional<int64_t> ef;  ///< breadth of a graph search; nothing = max(256, 1.5 candidates)
  ApproxMode approx_mode = ApproxMode::kNormal;
  std::string where;  ///< SQL predicate over right columns; "" = every row
  /// Key columns, "a" or "left:right": a left row finds right rows with equal values only.
  std::vector<std::string> by;
  /// Drops the right row that the left row is: the one with an equal key column ("a" or
  /// "left:right"), or, "", the same row of the same table.
  std::optional<std::string> exclude_self;
  IndexUse index = IndexUse::kAuto;
  std::string index_name;
  bool fast_search = false;
  std::optional<std::pair<float, float>> distance_range;  ///< [lower, upper)
  std::optional<std::vector<std::string>> left_select;    ///< nothing = all
  std::optional<std::vector<std::string>> right_select;   ///< nothing = all but the vector
  std::string suffix = "_right";
  bool with_row_id = false;
  bool with_query_index = false;
  /// Of a self-join: each pair of rows once, and no row with itself.
  bool unordered_pairs = false;
  /// Only matches that are among each other's k.
  bool mutual = false;
  /// Of a self-join: each left row once, with the cluster that the matches connect it to.
  bool clusters = false;
  std::optional<uint64_t> right_version;
  std::string right_tag;  ///< of the version, instead of its number; "" = none
  std::optional<int64_t> memory_limit_bytes;
  std::optional<int64_t> threads;
  /// Left rows a query block holds at most; nothing = as many as the memory limit allows. Changes
  /// only speed.
  std::optional<int64_t> block_rows;
  /// No face has it: of tests. Unless given, the environment's (join/way_choice.h).
  ForcedWays forced_ways;
};

}  // namespace kinjo::join
