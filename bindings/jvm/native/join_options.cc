#include "join_options.h"

#include <charconv>
#include <functional>
#include <limits>
#include <map>
#include <string_view>
#include <utility>

#include "java_error.h"

namespace kinjo::jvm {
namespace {

// An option as its name and text, for messages.
struct Given {
  std::string_view name;
  const std::string& text;
};

[[noreturn]] void ThrowUnreadable(const Given& given, const std::string& wanted) {
  ThrowInvalid(std::string(given.name) + ": \"" + given.text + "\" is not " + wanted);
}

template <typename T>
T NumberOf(const Given& given, std::string_view text, const std::string& wanted) {
  T number{};
  const char* end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || stopped != end) ThrowUnreadable(given, wanted);
  return number;
}

int64_t Integer(const Given& given) {
  return NumberOf<int64_t>(given, given.text, "a whole number");
}

double Decimal(const Given& given) { return NumberOf<double>(given, given.text, "a number"); }

bool Switch(const Given& given) {
  if (given.text == "true") return true;
  if (given.text != "false") ThrowUnreadable(given, "true or false");
  return false;
}

// "LOWER,UPPER"; an empty side is unbounded.
std::pair<float, float> Range(const Given& given) {
  const std::string wanted = "two numbers with a comma between them";
  const size_t comma = given.text.find(',');
  if (comma == std::string::npos) ThrowUnreadable(given, wanted);
  const std::string_view lower = std::string_view(given.text).substr(0, comma);
  const std::string_view upper = std::string_view(given.text).substr(comma + 1);
  constexpr float kEndless = std::numeric_limits<float>::infinity();
  return {lower.empty() ? -kEndless : NumberOf<float>(given, lower, wanted),
          upper.empty() ? kEndless : NumberOf<float>(given, upper, wanted)};
}

// Names with commas between them; none in an empty text.
std::vector<std::string> List(const Given& given) {
  std::vector<std::string> names;
  if (given.text.empty()) return names;
  std::string_view rest = given.text;
  while (true) {
    const size_t comma = rest.find(',');
    names.emplace_back(rest.substr(0, comma));
    if (comma == std::string_view::npos) return names;
    rest.remove_prefix(comma + 1);
  }
}

using Setter = std::function<void(const Given&, JoinOptions*)>;

// The setter that stores what `read` makes of the text in one member.
template <typename Member, typename Read>
Setter Into(Member JoinOptions::* member, const Read& read) {
  return [=](const Given& given, JoinOptions* options) { options->*member = read(given); };
}

Setter Into(std::string JoinOptions::* member) {
  return [=](const Given& given, JoinOptions* options) { options->*member = given.text; };
}

const std::map<std::string, Setter, std::less<>>& Setters() {
  using O = JoinOptions;
  static const std::map<std::string, Setter, std::less<>> setters = {
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

[[noreturn]] void ThrowUnknown(const std::string& name) {
  std::string message = "no option is named \"" + name + "\"; there are:";
  for (const auto& [known, setter] : Setters()) message += " " + known;
  ThrowInvalid(std::move(message));
}

}  // namespace

JoinOptions ParseJoinOptions(const std::vector<std::string>& names,
                             const std::vector<std::string>& texts) {
  JoinOptions options;
  for (size_t i = 0; i < names.size(); ++i) {
    const auto found = Setters().find(names[i]);
    if (found == Setters().end()) ThrowUnknown(names[i]);
    found->second({names[i], texts[i]}, &options);
  }
  return options;
}

}  // namespace kinjo::jvm
