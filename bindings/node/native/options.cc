#include "options.h"

#include <functional>
#include <map>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace kinjo_node {

namespace {

using Options = kinjo::JoinOptions;
using Setter = std::function<void(const Napi::Value&, Options*)>;

template <typename T>
T ValueOf(const Napi::Value& value) {
  if constexpr (std::is_same_v<T, bool>) {
    return value.ToBoolean();
  } else if constexpr (std::is_same_v<T, std::string>) {
    return value.ToString();
  } else if constexpr (std::is_same_v<T, double>) {
    return value.ToNumber().DoubleValue();
  } else if constexpr (std::is_same_v<T, int64_t>) {
    return value.ToNumber().Int64Value();
  } else if constexpr (std::is_same_v<T, std::pair<float, float>>) {
    const auto range = value.As<Napi::Array>();
    return {range.Get(0U).ToNumber().FloatValue(), range.Get(1U).ToNumber().FloatValue()};
  } else {
    const auto list = value.As<Napi::Array>();
    T texts;
    for (uint32_t i = 0; i < list.Length(); ++i) texts.push_back(list.Get(i).ToString());
    return texts;
  }
}

template <typename T>
Setter Set(T Options::* member) {
  return [member](const Napi::Value& value, Options* options) {
    options->*member = ValueOf<T>(value);
  };
}

template <typename T>
Setter Set(std::optional<T> Options::* member) {
  return [member](const Napi::Value& value, Options* options) {
    options->*member = ValueOf<T>(value);
  };
}

const std::map<std::string, Setter>& Setters() {
  static const std::map<std::string, Setter> setters = {
      {"k", Set(&Options::k)},
      {"on", Set(&Options::on)},
      {"left_on", Set(&Options::left_on)},
      {"right_on", Set(&Options::right_on)},
      {"how", Set(&Options::how)},
      {"metric", Set(&Options::metric)},
      {"nprobes", Set(&Options::nprobes)},
      {"minimum_nprobes", Set(&Options::minimum_nprobes)},
      {"maximum_nprobes", Set(&Options::maximum_nprobes)},
      {"refine_factor", Set(&Options::refine_factor)},
      {"index", Set(&Options::index)},
      {"fast_search", Set(&Options::fast_search)},
      {"distance_range", Set(&Options::distance_range)},
      {"left_select", Set(&Options::left_select)},
      {"right_select", Set(&Options::right_select)},
      {"suffix", Set(&Options::suffix)},
      {"with_row_id", Set(&Options::with_row_id)},
      {"with_query_index", Set(&Options::with_query_index)},
      {"right_version", Set(&Options::right_version)},
      {"right_tag", Set(&Options::right_tag)},
      {"memory_limit_bytes", Set(&Options::memory_limit_bytes)},
      {"threads", Set(&Options::threads)},
      {"where", Set(&Options::where)},
      {"ef", Set(&Options::ef)},
      {"search_effort", Set(&Options::search_effort)},
      {"approx_mode", Set(&Options::approx_mode)},
      {"by", Set(&Options::by)},
      {"exclude_self", Set(&Options::exclude_self)},
      {"unordered_pairs", Set(&Options::unordered_pairs)},
      {"mutual", Set(&Options::mutual)},
      {"clusters", Set(&Options::clusters)},
      {"recall", Set(&Options::recall)},
  };
  return setters;
}

}  // namespace

kinjo::JoinOptions ToJoinOptions(const Napi::Object& given) {
  Options options;
  const Napi::Array names = given.GetPropertyNames();
  for (uint32_t i = 0; i < names.Length(); ++i) {
    const std::string name = names.Get(i).ToString();
    const auto found = Setters().find(name);
    if (found == Setters().end()) {
      throw Napi::TypeError::New(given.Env(), "there is no option " + name);
    }
    found->second(given.Get(name), &options);
  }
  return options;
}

}  // namespace kinjo_node
