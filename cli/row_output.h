// Where a command's rows go, and what the terminal shows meanwhile.
#pragma once

#include <optional>
#include <string>

#include "flags.h"
#include "kinjo/kinjo.hpp"
#include "progress.h"

namespace kinjo::cli {

inline constexpr const char* kStandardOutput = "-";

/// How the rows are written to `output`: on standard output as a table for a terminal, else as JSON
/// Lines, unless the flags name a format.
SinkOptions SinkOf(const Flags& flags, const std::string& output);

/// What is wrong with the word of --progress, or "".
std::string WrongProgress(const std::optional<std::string>& word);

/// The progress that `word` asks for beside rows that go to `output`.
ProgressKind ProgressBeside(const std::optional<std::string>& word, const std::string& output);

}  // namespace kinjo::cli
