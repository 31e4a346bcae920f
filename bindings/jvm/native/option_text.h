// Options given as names and texts: how a text is read as the kind of its option, and which member
// of the options it fills.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "java_error.h"

namespace kinjo::jvm {

/// An option as its name and text, for messages.
struct Given {
  std::string_view name;
  const std::string& text;
};

// All throw EngineFailure (`invalid`) for a text of another kind.

int64_t Integer(const Given& given);
double Decimal(const Given& given);
bool Switch(const Given& given);
/// "LOWER,UPPER"; an empty side is unbounded.
std::pair<float, float> Range(const Given& given);
/// Names with commas between them; none in an empty text.
std::vector<std::string> List(const Given& given);

template <typename Options>
using OptionSetters =
    std::map<std::string, std::function<void(const Given&, Options*)>, std::less<>>;

/// The setter that stores what `read` makes of the text in one member.
template <typename Options, typename Member, typename Read>
auto Into(Member Options::* member, const Read& read) {
  return [=](const Given& given, Options* options) { options->*member = read(given); };
}
template <typename Options>
auto Into(std::string Options::* member) {
  return [=](const Given& given, Options* options) { options->*member = given.text; };
}

/// Throws EngineFailure (`invalid`) for a name that has no setter, with the names that do.
template <typename Options>
Options ParseOptions(const OptionSetters<Options>& setters, const std::vector<std::string>& names,
                     const std::vector<std::string>& texts) {
  Options options;
  for (size_t i = 0; i < names.size(); ++i) {
    const auto found = setters.find(names[i]);
    if (found == setters.end()) {
      std::string message = "no option is named \"" + names[i] + "\"; there are:";
      for (const auto& [known, setter] : setters) message += " " + known;
      ThrowInvalid(std::move(message));
    }
    found->second({names[i], texts[i]}, &options);
  }
  return options;
}

}  // namespace kinjo::jvm
