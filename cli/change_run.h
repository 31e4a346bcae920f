// What the commands that change a dataset share: a run that is watched and can be interrupted, and
// how its end is told.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "flags.h"
#include "kinjo/kinjo.hpp"

namespace kinjo::cli {

/// The numbers of a report that a command tells in its JSON, by name.
using ReportNumbers = std::vector<std::pair<const char*, uint64_t>>;

struct ChangeWords {
  const char* command;
  /// The closing line, without the program's name and a full stop.
  std::function<std::string(const kinjo_write_report&)> closing;
  std::function<ReportNumbers(const kinjo_write_report&)> numbers;
};

/// Runs `change`, shows its progress as the flags ask, and tells how it ended. Gives the exit code.
int RunChange(const ChangeWords& words, const Flags& flags,
              const std::function<Result<kinjo_write_report>(const RunOptions&)>& change);

/// A whole number is a version, anything else the tag of one.
struct VersionOrTag {
  std::optional<int64_t> version;
  std::string tag;
};
VersionOrTag ReadVersion(const std::string& text);

/// "items.lance is at version 3".
std::string AtVersion(const Flags& flags, const kinjo_write_report& report);

}  // namespace kinjo::cli
