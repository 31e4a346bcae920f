#include "join_request.h"

#include <charconv>

#include "outcome.h"

namespace kinjo::cli {

namespace {

// A whole number is a version, anything else the tag of one.
void SetVersion(const std::string& text, JoinOptions* options) {
  int64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [read, wrong] = std::from_chars(text.data(), end, number);
  if (!text.empty() && wrong == std::errc() && read == end) {
    options->right_version = number;
  } else {
    options->right_tag = text;
  }
}

}  // namespace

JoinOptions OptionsOf(const Flags& flags) {
  JoinOptions options;
  options.k = flags.k.value_or(options.k);
  options.on = flags.on.value_or("");
  options.left_on = flags.left_on.value_or("");
  options.right_on = flags.right_on.value_or("");
  options.how = flags.how.value_or(options.how);
  options.metric = flags.metric.value_or("");
  options.nprobes = flags.nprobes;
  options.minimum_nprobes = flags.minimum_nprobes;
  options.maximum_nprobes = flags.maximum_nprobes;
  options.refine_factor = flags.refine_factor;
  options.index = flags.index.value_or(options.index);
  options.fast_search = flags.fast_search;
  options.distance_range = flags.distance_range;
  options.left_select = flags.left_select;
  options.right_select = flags.right_select;
  options.suffix = flags.suffix.value_or(options.suffix);
  options.with_row_id = flags.with_row_id;
  options.with_query_index = flags.with_query_index;
  SetVersion(flags.right_version.value_or(""), &options);
  options.memory_limit_bytes = flags.memory_limit;
  options.threads = flags.threads;
  options.where = flags.where.value_or("");
  options.by = flags.by;
  options.exclude_self = flags.exclude_self;
  options.ef = flags.ef;
  options.search_effort = flags.search_effort;
  options.recall = flags.recall;
  options.approx_mode = flags.approx_mode.value_or(options.approx_mode);
  options.unordered_pairs = flags.unordered_pairs;
  options.mutual = flags.mutual;
  options.clusters = flags.clusters;
  return options;
}

JoinRequest MakeJoin(const char* command, const Flags& flags) {
  return MakeJoin(command, flags, OptionsOf(flags));
}

JoinRequest MakeJoin(const char* command, const Flags& flags, const JoinOptions& options) {
  if (!flags.left) return {{}, FailCommandLine(command, "--left is needed: the left table")};
  if (!flags.right) return {{}, FailCommandLine(command, "--right is needed: the right table")};
  const Result<void> checked = Join::Check(options);
  if (!checked.ok()) return {{}, FailCommandLine(command, checked.error())};
  Result<Table> left = Table::Open(*flags.left);
  if (!left.ok()) return {{}, Fail(command, left.error())};
  Result<Join> join = Join::Make(*left, *flags.right, options);
  if (!join.ok()) return {{}, Fail(command, join.error())};
  return {*std::move(join), kDone};
}

}  // namespace kinjo::cli
