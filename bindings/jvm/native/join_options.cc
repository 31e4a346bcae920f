#include "join_options.h"

#include "option_text.h"

namespace kinjo::jvm {
namespace {

const OptionSetters<JoinOptions>& Setters() {
  using O = JoinOptions;
  static const OptionSetters<JoinOptions> setters = {
      {"k", Into(&O::k, Integer)},
      {"on", Into(&O::on)},
      {"left_on", Into(&O::left_on)},
      {"right_on", Into(&O::right_on)},
      {"how", Into(&O::how)},
      {"metric", Into(&O::metric)},
      {"nprobes", Into(&O::nprobes, Integer)},
      {"minimum_nprobes", Into(&O::minimum_nprobes, Integer)},
      {"maximum_nprobes", Into(&O::maximum_nprobes, Integer)},
      {"refine_factor", Into(&O::refine_factor, Integer)},
      {"index", Into(&O::index)},
      {"fast_search", Into(&O::fast_search, Switch)},
      {"distance_range", Into(&O::distance_range, Range)},
      {"left_select", Into(&O::left_select, List)},
      {"right_select", Into(&O::right_select, List)},
      {"suffix", Into(&O::suffix)},
      {"with_row_id", Into(&O::with_row_id, Switch)},
      {"with_query_index", Into(&O::with_query_index, Switch)},
      {"memory_limit_bytes", Into(&O::memory_limit_bytes, Integer)},
      {"threads", Into(&O::threads, Integer)},
      {"where", Into(&O::where)},
      {"ef", Into(&O::ef, Integer)},
      {"search_effort", Into(&O::search_effort, Decimal)},
      {"approx_mode", Into(&O::approx_mode)},
  };
  return setters;
}

}  // namespace

JoinOptions ParseJoinOptions(const std::vector<std::string>& names,
                             const std::vector<std::string>& texts) {
  return ParseOptions(Setters(), names, texts);
}

}  // namespace kinjo::jvm
