#include "capi/join_options.h"

#include <cmath>
#include <limits>

#include "capi/optional_number.h"
#include "capi/wall.h"

namespace kinjo::capi {

namespace {

kinjo_join_options JoinDefaults() {
  const join::JoinOptions defaults;
  kinjo_join_options options{};
  options.struct_size = sizeof(options);
  options.k = defaults.k;
  options.nprobes = KINJO_UNSET;
  options.minimum_nprobes = KINJO_UNSET;
  options.maximum_nprobes = KINJO_UNSET;
  options.refine_factor = KINJO_UNSET;
  options.right_version = KINJO_UNSET;
  options.memory_limit_bytes = KINJO_UNSET;
  options.threads = KINJO_UNSET;
  options.ef = KINJO_UNSET;
  options.search_effort = std::numeric_limits<double>::quiet_NaN();
  options.recall = std::numeric_limits<double>::quiet_NaN();
  return options;
}

kinjo_run_options RunDefaults() {
  return {sizeof(kinjo_run_options), nullptr, nullptr, nullptr, false};
}

arrow::Result<join::How> ToHow(const std::string& word) {
  if (word.empty() || word == "inner") return join::How::kInner;
  if (word == "left") return join::How::kLeft;
  return base::Invalid("how is '", word, "'; it must be inner or left");
}

arrow::Result<std::optional<kernels::Metric>> ToMetric(const std::string& word) {
  if (word.empty()) return std::nullopt;
  const std::optional<kernels::Metric> metric = kernels::ParseMetric(word);
  if (metric) return metric;
  return base::Invalid("metric is '", word, "'; it must be l2, cosine, dot or hamming");
}

arrow::Result<join::ApproxMode> ToApproxMode(const std::string& word) {
  if (word.empty() || word == "normal") return join::ApproxMode::kNormal;
  if (word == "fast") return join::ApproxMode::kFast;
  if (word == "accurate") return join::ApproxMode::kAccurate;
  return base::Invalid("approx_mode is '", word, "'; it must be fast, normal or accurate");
}

void SetIndex(const std::string& word, join::JoinOptions* options) {
  if (word.empty() || word == "auto") {
    options->index = join::IndexUse::kAuto;
  } else if (word == "require") {
    options->index = join::IndexUse::kRequire;
  } else if (word == "never") {
    options->index = join::IndexUse::kNever;
  } else {
    options->index = join::IndexUse::kNamed;
    options->index_name = word;
  }
}

// A null list is "not given"; a list of none is a list.
arrow::Result<std::optional<std::vector<std::string>>> ToNames(const char* option,
                                                               const char* const* names,
                                                               size_t num_names) {
  if (names == nullptr) return std::nullopt;
  std::vector<std::string> result;
  for (size_t i = 0; i < num_names; ++i) {
    if (names[i] == nullptr) return base::Invalid(option, "[", i, "] is NULL");
    result.emplace_back(names[i]);
  }
  return result;
}

}  // namespace

arrow::Result<join::JoinOptions> ToJoinOptions(const kinjo_join_options* options) {
  kinjo_join_options given = JoinDefaults();
  ARROW_RETURN_NOT_OK(ReadStruct(options, "kinjo_join_options", &given));
  join::JoinOptions result;
  result.k = given.k;
  result.on = TextOf(given.on);
  result.left_on = TextOf(given.left_on);
  result.right_on = TextOf(given.right_on);
  ARROW_ASSIGN_OR_RAISE(result.how, ToHow(TextOf(given.how)));
  ARROW_ASSIGN_OR_RAISE(result.metric, ToMetric(TextOf(given.metric)));
  result.nprobes = OptionalNumber(given.nprobes);
  result.minimum_nprobes = OptionalNumber(given.minimum_nprobes);
  result.maximum_nprobes = OptionalNumber(given.maximum_nprobes);
  result.refine_factor = OptionalNumber(given.refine_factor);
  SetIndex(TextOf(given.index), &result);
  result.fast_search = given.fast_search;
  if (given.has_distance_range) {
    result.distance_range = std::pair(given.distance_lower, given.distance_upper);
  }
  ARROW_ASSIGN_OR_RAISE(result.left_select,
                        ToNames("left_select", given.left_select, given.num_left_select));
  ARROW_ASSIGN_OR_RAISE(result.right_select,
                        ToNames("right_select", given.right_select, given.num_right_select));
  if (given.suffix != nullptr) result.suffix = given.suffix;
  result.with_row_id = given.with_row_id;
  result.with_query_index = given.with_query_index;
  ARROW_ASSIGN_OR_RAISE(result.right_version,
                        OptionalVersion("right_version", given.right_version));
  result.memory_limit_bytes = OptionalNumber(given.memory_limit_bytes);
  result.threads = OptionalNumber(given.threads);
  result.where = TextOf(given.where);
  result.ef = OptionalNumber(given.ef);
  if (!std::isnan(given.search_effort)) result.search_effort = given.search_effort;
  ARROW_ASSIGN_OR_RAISE(result.approx_mode, ToApproxMode(TextOf(given.approx_mode)));
  result.right_tag = TextOf(given.right_tag);
  ARROW_ASSIGN_OR_RAISE(auto by, ToNames("by", given.by, given.num_by));
  if (by.has_value()) result.by = *std::move(by);
  if (given.exclude_self != nullptr) result.exclude_self = given.exclude_self;
  result.unordered_pairs = given.unordered_pairs;
  result.mutual = given.mutual;
  result.clusters = given.clusters;
  if (!std::isnan(given.recall)) result.recall = given.recall;
  return result;
}

arrow::Result<RunControl> ToRunControl(const kinjo_run_options* options) {
  kinjo_run_options given = RunDefaults();
  ARROW_RETURN_NOT_OK(ReadStruct(options, "kinjo_run_options", &given));
  RunControl control;
  control.complete = given.complete;
  if (given.cancel != nullptr) control.cancel = given.cancel->token;
  if (given.progress != nullptr) {
    control.progress = [report = given.progress,
                        context = given.progress_context](const base::Progress& progress) {
      const kinjo_progress shown{sizeof(kinjo_progress), progress.done_rows,  progress.total_rows,
                                 progress.elapsed_s,     progress.rows_per_s, progress.remaining_s};
      report(context, &shown);
    };
  }
  return control;
}

}  // namespace kinjo::capi

void kinjo_join_options_init(kinjo_join_options* options, size_t struct_size) {
  kinjo::capi::InitStruct(options, struct_size, kinjo::capi::JoinDefaults());
}

void kinjo_run_options_init(kinjo_run_options* options, size_t struct_size) {
  kinjo::capi::InitStruct(options, struct_size, kinjo::capi::RunDefaults());
}
