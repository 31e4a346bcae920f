#include "change_run.h"

#include <charconv>

#include "outcome.h"
#include "row_output.h"
#include "watched_run.h"

namespace kinjo::cli {

namespace {

std::string JsonOf(const ReportNumbers& numbers) {
  std::string json;
  for (const auto& [name, value] : numbers) {
    json += json.empty() ? "{\"" : ", \"";
    json += name;
    json += "\": " + std::to_string(value);
  }
  return json + "}\n";
}

}  // namespace

int RunChange(const ChangeWords& words, const Flags& flags,
              const std::function<Result<kinjo_write_report>(const RunOptions&)>& change) {
  if (const std::string wrong = WrongProgress(flags.change_progress); !wrong.empty()) {
    return FailCommandLine(words.command, wrong);
  }
  const Result<kinjo_write_report> done =
      RunWatched(ProgressBeside(flags.change_progress, /*output=*/""), change);
  if (!done.ok()) return Fail(words.command, done.error());
  if (flags.change_json) return Print(words.command, JsonOf(words.numbers(done.value())));
  if (flags.change_progress != "none") Tell("kinjo: " + words.closing(done.value()) + "\n");
  return kDone;
}

VersionOrTag ReadVersion(const std::string& text) {
  int64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [read, wrong] = std::from_chars(text.data(), end, number);
  if (!text.empty() && wrong == std::errc() && read == end) return {number, ""};
  return {{}, text};
}

std::string AtVersion(const Flags& flags, const kinjo_write_report& report) {
  return *flags.changed + " is at version " + std::to_string(report.version);
}

}  // namespace kinjo::cli
