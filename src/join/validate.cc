#include "join/validate.h"

#include <cmath>
#include <utility>

namespace kinjo::join {

namespace {

arrow::Status CheckRange(const char* name, const std::optional<int64_t>& value, int64_t minimum,
                         int64_t maximum) {
  if (!value.has_value()) return arrow::Status::OK();
  if (*value < minimum) {
    return base::Invalid(name, " must be at least ", minimum, ", but is ", *value);
  }
  if (*value > maximum) {
    return base::Invalid(name, " must be at most ", maximum, ", but is ", *value);
  }
  return arrow::Status::OK();
}

arrow::Status CheckProbes(const JoinOptions& options) {
  ARROW_RETURN_NOT_OK(CheckRange("nprobes", options.nprobes, 1, INT64_MAX));
  ARROW_RETURN_NOT_OK(CheckRange("minimum_nprobes", options.minimum_nprobes, 1, INT64_MAX));
  ARROW_RETURN_NOT_OK(CheckRange("maximum_nprobes", options.maximum_nprobes, 1, INT64_MAX));
  if (options.nprobes.has_value() && options.minimum_nprobes.has_value()) {
    return base::Invalid("nprobes = ", *options.nprobes,
                         " and minimum_nprobes = ", *options.minimum_nprobes,
                         " can't be given together: nprobes fixes both ends");
  }
  if (options.nprobes.has_value() && options.maximum_nprobes.has_value()) {
    return base::Invalid("nprobes = ", *options.nprobes,
                         " and maximum_nprobes = ", *options.maximum_nprobes,
                         " can't be given together: nprobes fixes both ends");
  }
  if (options.minimum_nprobes.value_or(1) > options.maximum_nprobes.value_or(INT64_MAX)) {
    return base::Invalid("minimum_nprobes = ", *options.minimum_nprobes,
                         " is above maximum_nprobes = ", *options.maximum_nprobes);
  }
  return arrow::Status::OK();
}

arrow::Status CheckSearchEffort(const JoinOptions& options) {
  if (!options.search_effort.has_value()) return arrow::Status::OK();
  const double effort = *options.search_effort;
  if (!(effort >= 0 && effort <= 1)) {  // also NaN
    return base::Invalid("search_effort must be from 0 to 1, but is ", effort);
  }
  if (options.nprobes.has_value()) {
    return base::Invalid("search_effort = ", effort, " and nprobes = ", *options.nprobes,
                         " can't be given together: both say how many partitions are visited");
  }
  return arrow::Status::OK();
}

arrow::Status CheckRecall(const JoinOptions& options) {
  if (!options.recall.has_value()) return arrow::Status::OK();
  const double recall = *options.recall;
  if (!(recall > 0 && recall <= 1)) {  // also NaN
    return base::Invalid("recall must be above 0 and at most 1, but is ", recall);
  }
  const std::pair<const char*, std::optional<double>> chosen[] = {
      {"nprobes", options.nprobes},
      {"minimum_nprobes", options.minimum_nprobes},
      {"maximum_nprobes", options.maximum_nprobes},
      {"ef", options.ef},
      {"search_effort", options.search_effort}};
  for (const auto& [name, value] : chosen) {
    if (!value.has_value()) continue;
    return base::Invalid("recall = ", recall, " and ", name, " = ", *value,
                         " can't be given together: recall chooses it");
  }
  const std::pair<const char*, bool> pairs[] = {{"unordered_pairs", options.unordered_pairs},
                                                {"mutual", options.mutual},
                                                {"clusters", options.clusters}};
  for (const auto& [name, given] : pairs) {
    if (!given) continue;
    return base::Invalid(
        "recall = ", recall, " and ", name,
        " can't be given together: recall is measured on the k nearest, before pairs are chosen "
        "among them");
  }
  return arrow::Status::OK();
}

// A graph search hands on at most `ef` rows.
arrow::Status CheckEf(const JoinOptions& options) {
  ARROW_RETURN_NOT_OK(CheckRange("ef", options.ef, 1, kCandidatesMax));
  const int64_t factor = options.refine_factor.value_or(1);
  if (options.ef.value_or(INT64_MAX) >= options.k * factor) return arrow::Status::OK();
  return base::Invalid("ef must be at least ", options.k * factor,
                       " (k * refine_factor), but ef = ", *options.ef, ", k = ", options.k,
                       " and refine_factor = ", factor);
}

arrow::Status CheckDistanceRange(const JoinOptions& options) {
  if (!options.distance_range.has_value()) return arrow::Status::OK();
  const auto [lower, upper] = *options.distance_range;
  if (std::isnan(lower) || std::isnan(upper)) {
    return base::Invalid("distance_range must not hold NaN, but is [", lower, ", ", upper, ")");
  }
  if (!(lower < upper)) {
    return base::Invalid("distance_range must have its lower end below its upper end, but is [",
                         lower, ", ", upper, ")");
  }
  return arrow::Status::OK();
}

// unordered_pairs, mutual and clusters say what becomes of matches; here, what doesn't go together.
arrow::Status CheckPairs(const JoinOptions& options) {
  if (options.unordered_pairs && options.clusters) {
    return base::Invalid(
        "unordered_pairs = true and clusters = true can't be given together: clusters gives left "
        "rows, not pairs");
  }
  if (options.unordered_pairs && options.how == How::kLeft) {
    return base::Invalid(
        "unordered_pairs = true and how = left can't be given together: a row whose pairs came out "
        "at other rows is not one without match");
  }
  const bool by_key = !options.exclude_self.value_or("").empty();
  if (by_key && (options.unordered_pairs || options.clusters)) {
    return base::Invalid(options.clusters ? "clusters" : "unordered_pairs",
                         " = true and exclude_self = ", *options.exclude_self,
                         " can't be given together: a row is told by its place in the table there");
  }
  if (!options.clusters) return arrow::Status::OK();
  if (options.how == How::kLeft) {
    return base::Invalid(
        "clusters = true and how = left can't be given together: clusters gives every left row "
        "once");
  }
  if (options.right_select.has_value()) {
    return base::Invalid(
        "clusters = true and right_select can't be given together: clusters gives left rows only");
  }
  if (options.with_row_id) {
    return base::Invalid(
        "clusters = true and with_row_id = true can't be given together: clusters gives left rows "
        "only");
  }
  if (options.distance_range.has_value() && std::isfinite(options.distance_range->second)) {
    return arrow::Status::OK();
  }
  return base::Invalid(
      "clusters = true needs a distance_range with an upper end: rows within it are one cluster");
}

}  // namespace

arrow::Status ValidateOptions(const JoinOptions& options) {
  ARROW_RETURN_NOT_OK(CheckRange("k", options.k, 1, kCandidatesMax));
  ARROW_RETURN_NOT_OK(CheckRange("refine_factor", options.refine_factor, 1, kCandidatesMax));
  const int64_t factor = options.refine_factor.value_or(1);
  if (options.k * factor > kCandidatesMax) {
    return base::Invalid("k * refine_factor must be at most ", kCandidatesMax,
                         ", but k = ", options.k, " and refine_factor = ", factor);
  }
  ARROW_RETURN_NOT_OK(CheckProbes(options));
  ARROW_RETURN_NOT_OK(CheckSearchEffort(options));
  ARROW_RETURN_NOT_OK(CheckRecall(options));
  ARROW_RETURN_NOT_OK(CheckEf(options));
  ARROW_RETURN_NOT_OK(CheckDistanceRange(options));
  ARROW_RETURN_NOT_OK(CheckPairs(options));
  ARROW_RETURN_NOT_OK(CheckRange("threads", options.threads, 1, kThreadsMax));
  ARROW_RETURN_NOT_OK(CheckRange("memory_limit", options.memory_limit_bytes, 1, INT64_MAX));
  ARROW_RETURN_NOT_OK(CheckRange("block_rows", options.block_rows, 1, INT32_MAX));
  if (options.right_version.has_value() && !options.right_tag.empty()) {
    return base::Invalid("right_version = ", *options.right_version,
                         " and right_tag = ", options.right_tag,
                         " can't be given together: a tag names a version");
  }
  if (options.index == IndexUse::kNamed && options.index_name.empty()) {
    return base::Invalid("index asks for an index by name, but the name is empty");
  }
  if (options.fast_search && options.index == IndexUse::kNever) {
    return base::Invalid(
        "fast_search = true and index = never can't be given together: fast_search skips the rows "
        "that no index covers");
  }
  return arrow::Status::OK();
}

arrow::Status ValidatePairs(const JoinOptions& options, const std::string& why_not) {
  if (why_not.empty() || (!options.unordered_pairs && !options.clusters)) {
    return arrow::Status::OK();
  }
  return base::Invalid(options.clusters ? "clusters" : "unordered_pairs",
                       " = true needs a self-join, of one table with itself by one vector column, "
                       "but ",
                       why_not);
}

arrow::Status ValidatePath(const JoinOptions& options, bool uses_index, const std::string& reason) {
  if (!options.fast_search || uses_index) return arrow::Status::OK();
  return base::Invalid("fast_search = true needs an index, but index = auto found none to use: ",
                       reason);
}

}  // namespace kinjo::join
