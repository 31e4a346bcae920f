// `kinjo tune`: how recall, speed and reads depend on the settings, as a table, JSON or a picture.
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>

#include "commands.h"
#include "curve_plot.h"
#include "curve_text.h"
#include "described.h"
#include "figures.h"
#include "join_request.h"
#include "outcome.h"
#include "text_table.h"
#include "watched_run.h"

namespace kinjo::cli {

namespace {

constexpr const char* kCommand = "tune";

bool EndsWith(const std::string& text, const std::string& end) {
  return text.size() > end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

std::string CurveTable(const DescribedCurve& curve) {
  bool refines = false;
  bool graph = false;
  for (const DescribedPoint& point : curve.points) {
    refines = refines || point.refine_factor > 0;
    graph = graph || point.ef > 0;
  }
  std::vector<TextTable::Column> columns = {{"nprobes", true}};
  if (refines) columns.push_back({"refine factor", true});
  if (graph) columns.push_back({"ef", true});
  for (const char* heading : {"recall", "95 % interval", "queries/s", "read", "partitions"}) {
    columns.push_back({heading, true});
  }
  columns.push_back({""});
  TextTable table(columns);
  const auto setting = [](int64_t value) {
    return value == 0 ? std::string("-") : Count(static_cast<uint64_t>(value));
  };
  for (const DescribedPoint& point : curve.points) {
    std::vector<std::string> cells = {setting(point.nprobes)};
    if (refines) cells.push_back(setting(point.refine_factor));
    if (graph) cells.push_back(setting(point.ef));
    cells.push_back(Fraction(point.recall));
    cells.push_back(Fraction(point.recall_low) + " to " + Fraction(point.recall_high));
    cells.push_back(Count(static_cast<uint64_t>(point.queries_per_s)));
    cells.push_back(Size(point.bytes_read));
    cells.push_back(Count(point.partitions_read));
    const bool reaches = point.recall >= curve.target;
    cells.push_back(!point.pick ? ""
                    : reaches   ? "<- for " + Fraction(curve.target)
                                : "<- the most; " + Fraction(curve.target) + " is not reached");
    table.Add(std::move(cells));
  }
  return table.Text();
}

}  // namespace

std::string CurveText(const DescribedCurve& curve) {
  std::string text = "recall@" + std::to_string(curve.k) + ", metric " + curve.metric;
  if (curve.index_name.empty()) {
    text += ", exact path: every row is scored";
  } else {
    text += ", through index " + curve.index_name + " (" + curve.index_type + ")";
  }
  text += ", measured on " + Counted(curve.measured_rows, "left row");
  if (curve.measured_rows == 0) text += ": none has a neighbour to find";
  return text + "\n\n" + CurveTable(curve);
}

namespace {

Result<void> WriteText(const std::string& path, const std::string& text) {
  const std::string unfinished = path + ".unfinished";
  std::ofstream file(unfinished, std::ios::binary | std::ios::trunc);
  file << text;
  file.close();
  if (file && std::rename(unfinished.c_str(), path.c_str()) == 0) return {};
  Error error;
  error.code = KINJO_ERROR_IO;
  error.message = path + ": could not be written: " + std::strerror(errno);
  std::remove(unfinished.c_str());
  return error;
}

}  // namespace

int RunTune(const Flags& flags) {
  if (flags.plot && !EndsWith(*flags.plot, ".svg")) {
    return FailCommandLine(kCommand, "--output must end with .svg, but is '" + *flags.plot +
                                         "': the plot is an SVG file");
  }
  JoinOptions options = OptionsOf(flags);
  options.recall = flags.recall.value_or(kDefaultRecallTarget);
  JoinRequest request = MakeJoin(kCommand, flags, options);
  if (!request.join) return request.exit_code;
  const Result<std::string> json = RunWatched(
      ProgressKind::kNone, [&](const RunOptions& run) { return request.join->Tune(run); });
  if (!json.ok()) return Fail(kCommand, json.error());
  const DescribedCurve curve = ReadCurve(json.value());
  if (flags.plot) {
    const Result<void> written = WriteText(*flags.plot, DrawCurve(curve));
    if (!written.ok()) return Fail(kCommand, written.error());
  }
  return Print(kCommand, flags.tune_json ? json.value() + "\n" : CurveText(curve));
}

}  // namespace kinjo::cli
