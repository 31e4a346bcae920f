#include "row_output.h"

#include <unistd.h>

namespace kinjo::cli {

namespace {

bool RowsGoToTerminal(const std::string& output) {
  return output == kStandardOutput && isatty(STDOUT_FILENO) == 1;
}

}  // namespace

SinkOptions SinkOf(const Flags& flags, const std::string& output) {
  SinkOptions sink;
  sink.format = flags.format.value_or("");
  if (sink.format.empty() && output == kStandardOutput) {
    sink.format = RowsGoToTerminal(output) ? "table" : "jsonl";
  }
  sink.compression = flags.compression.value_or("");
  sink.row_group_rows = flags.row_group_rows;
  return sink;
}

std::string WrongProgress(const std::optional<std::string>& word) {
  if (!word || *word == "auto" || *word == "json" || *word == "none") return "";
  return "--progress must be auto, json or none, but is '" + *word + "'";
}

// A bar beside rows on the same terminal would be written into them.
ProgressKind ProgressBeside(const std::optional<std::string>& word, const std::string& output) {
  if (word == "json") return ProgressKind::kJson;
  if (word == "none") return ProgressKind::kNone;
  const bool bar = isatty(STDERR_FILENO) == 1 && !RowsGoToTerminal(output);
  return bar ? ProgressKind::kBar : ProgressKind::kNone;
}

}  // namespace kinjo::cli
