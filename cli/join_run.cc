#include "join_run.h"

#include <cmath>

#include "described.h"
#include "figures.h"
#include "outcome.h"
#include "parts_run.h"
#include "row_output.h"
#include "watched_run.h"

namespace kinjo::cli {

namespace {

std::string CountedLeft(const RunWords& words, uint64_t rows) {
  return Counted(rows, words.left_row, words.left_rows);
}

// The flags given that may keep a left row from getting k matches.
std::string CapsOf(const Flags& flags) {
  std::string text;
  const auto add = [&](bool given, const char* name) {
    if (given) text += (text.empty() ? "" : ", ") + std::string(name);
  };
  add(flags.nprobes.has_value(), "--nprobes");
  add(flags.maximum_nprobes.has_value(), "--maximum-nprobes");
  add(flags.fast_search, "--fast-search");
  add(flags.distance_range.has_value(), "--distance-range");
  return text;
}

// What a recall target came to, if there was one.
std::string RecallRemark(const RunWords& words, const kinjo_join_report& report,
                         const Flags& flags) {
  if (std::isnan(report.recall)) return "";
  std::string text = "; recall " + Fraction(report.recall);
  if (report.recall_measured_rows == 0) return text + ", every row was scored";
  text += " (" + Fraction(report.recall_low) + " to " + Fraction(report.recall_high) + ", from " +
          CountedLeft(words, static_cast<uint64_t>(report.recall_measured_rows)) + ") with " +
          SettingsText(report.chosen_nprobes, report.chosen_refine_factor, report.chosen_ef);
  text += ", chosen in " + Duration(report.recall_choosing_s);
  return flags.recall && report.recall_high < *flags.recall ? text + ": the target was missed"
                                                            : text;
}

// The rows that make a reader wonder, if there are any.
std::string Remarks(const RunWords& words, const kinjo_join_report& report, const DescribedRun& run,
                    const Flags& flags) {
  std::string text;
  const auto nulls = static_cast<uint64_t>(report.skipped_null_rows);
  const auto odd = static_cast<uint64_t>(report.skipped_non_finite_rows);
  if (nulls + odd > 0) {
    text += "; " + CountedLeft(words, nulls + odd) + " skipped (";
    if (nulls > 0) text += Count(nulls) + " with a null vector";
    if (nulls > 0 && odd > 0) text += ", ";
    // A zero vector has no direction; other metrics take it.
    const char* kinds = run.metric == "cosine" ? "NaN, infinite or zero" : "NaN or infinite";
    if (odd > 0) text += Count(odd) + " with a " + kinds + " vector";
    text += ')';
  }
  if (report.duplicate_rows > 0) {
    text += "; " + CountedLeft(words, static_cast<uint64_t>(report.duplicate_rows)) +
            " answered with an equal one";
  }
  if (flags.clusters) {
    const auto full = static_cast<uint64_t>(report.left_rows - report.short_rows) - nulls - odd;
    if (full == 0) return text;
    return text + "; " + CountedLeft(words, full) +
           " with k matches within the distance, or more: a larger -k may join clusters";
  }
  if (report.short_rows > 0) {
    text += "; " + CountedLeft(words, static_cast<uint64_t>(report.short_rows)) +
            " with fewer than k matches";
    if (report.capped_rows > 0) {
      text += ", " + Count(static_cast<uint64_t>(report.capped_rows)) + " of them cut by " +
              CapsOf(flags);
    }
  }
  return text;
}

std::string Summary(const RunWords& words, const kinjo_join_report& report, const DescribedRun& run,
                    const Flags& flags) {
  const auto left_rows = static_cast<uint64_t>(report.left_rows);
  std::string text = Counted(static_cast<uint64_t>(report.result_rows), "row") + " from " +
                     CountedLeft(words, left_rows) + " in " + Duration(report.total_s);
  if (flags.clusters) text += ", " + Counted(run.clusters, "cluster");
  if (report.total_s > 0 && left_rows > 0) {
    const double rate = static_cast<double>(left_rows) / report.total_s;
    text += " (" + Count(static_cast<uint64_t>(rate)) + " queries/s)";
  }
  if (run.scored_all_passing) {
    text += ", index " + run.index_name + " not searched: few rows pass, all were scored";
  } else {
    text += report.index_used ? ", through index " + run.index_name : ", exact path";
  }
  text += ", metric " + run.metric;
  if (report.index_used) {
    text += report.exact_distances ? ", exact distances" : ", approximate distances";
  }
  if (report.measured_memory_bytes >= 0) {
    text += ", memory +" + Size(static_cast<uint64_t>(report.measured_memory_bytes));
  }
  return text + RecallRemark(words, report, flags) + Remarks(words, report, run, flags);
}

// Tells how the run went, in the form that was asked for.
int TellReport(const RunWords& words, const Join& join, const Flags& flags) {
  const Result<std::string> json = join.DescribeReport();
  if (!json.ok()) return Fail(words.command, json.error());
  if (flags.json) {
    Tell(json.value() + "\n");
    return kDone;
  }
  if (flags.progress == "none") return kDone;
  const Result<kinjo_join_report> report = join.Report();
  if (!report.ok()) return Fail(words.command, report.error());
  Tell("kinjo: " + Summary(words, report.value(), ReadRun(json.value()), flags) + "\n");
  return kDone;
}

Result<void> DropRows(Join* join, const RunOptions& run) {
  Result<Stream> stream = join->Run(run);
  if (!stream.ok()) return stream.error();
  while (true) {
    const Result<Batch> batch = stream->Next();
    if (!batch.ok()) return batch.error();
    if (batch.value().empty()) return stream->Close();
  }
}

Result<void> WriteRows(Join* join, const Flags& flags, const std::string& output,
                       const RunOptions& run) {
  const Result<int64_t> written = join->Write(output, SinkOf(flags, output), run);
  if (!written.ok()) return written.error();
  return {};
}

// Runs the join into the place that the flags name, "" being none.
Result<void> RunRows(Join* join, const Flags& flags, const std::string& output,
                     const RunOptions& run, kinjo_parts_info* parts) {
  if (flags.resume) return join->WriteParts(output, PartsOf(flags), run, parts);
  return output.empty() ? DropRows(join, run) : WriteRows(join, flags, output, run);
}

// The plan goes where the rows don't.
int TellAnalysis(const char* command, const Join& join, const std::string& output) {
  Result<std::string> plan = join.Analyze();
  if (!plan.ok()) return Fail(command, plan.error());
  if (plan->empty() || plan->back() != '\n') *plan += '\n';
  if (output != kStandardOutput) return Print(command, *plan);
  Tell(*plan);
  return kDone;
}

// The pools that decode files are this program's own: they get as many threads as the join.
Result<void> SizePools(const Flags& flags) {
  if (flags.threads) return SetArrowThreads(*flags.threads);
  const Result<std::string> json = DescribeRuntime();
  if (!json.ok()) return json.error();
  return SetArrowThreads(ReadRuntime(json.value()).threads);
}

int CheckWords(const char* command, const Flags& flags) {
  if (flags.explain && flags.analyze) {
    return FailCommandLine(command,
                           "--explain reads no row and --analyze runs the join: give one of them");
  }
  if (flags.explain && flags.json) {
    return FailCommandLine(command,
                           "--json prints the report of a run and --explain runs nothing: give one "
                           "of them");
  }
  if (flags.verbose && !flags.explain) {
    return FailCommandLine(command, "--verbose needs --explain: it says more of the plan");
  }
  if (flags.output && flags.output->empty()) {
    return FailCommandLine(command, "--output is empty; name a file, or - for standard output");
  }
  if (flags.right_version && flags.right_version->empty()) {
    return FailCommandLine(command, "--right-version is empty; give a version or a tag");
  }
  if (const std::string wrong = WrongParts(flags); !wrong.empty()) {
    return FailCommandLine(command, wrong);
  }
  if (const std::string wrong = WrongProgress(flags.progress); !wrong.empty()) {
    return FailCommandLine(command, wrong);
  }
  return kDone;
}

}  // namespace

int TellPlan(const char* command, const Flags& flags, const JoinRequest& request) {
  if (!request.join) return request.exit_code;
  Result<std::string> plan = request.join->Explain(flags.verbose);
  if (!plan.ok()) return Fail(command, plan.error());
  if (plan->empty() || plan->back() != '\n') *plan += '\n';
  return Print(command, *plan);
}

int RunRequest(const RunWords& words, const Flags& flags,
               const std::function<JoinRequest()>& make) {
  if (const int wrong = CheckWords(words.command, flags); wrong != kDone) return wrong;
  if (flags.explain) return TellPlan(words.command, flags, make());
  const bool drops_rows = flags.analyze && !flags.output;
  const std::string output = flags.output.value_or(drops_rows ? "" : kStandardOutput);
  if (!drops_rows) {
    const Result<void> checked = flags.resume ? Join::CheckParts(output, PartsOf(flags))
                                              : Join::CheckSink(output, SinkOf(flags, output));
    if (!checked.ok()) return FailCommandLine(words.command, checked.error());
    if (!flags.resume) {
      const Result<void> placed = Join::CheckSinkPlace(output, SinkOf(flags, output));
      if (!placed.ok()) return Fail(words.command, placed.error());
    }
  }
  JoinRequest request = make();
  if (!request.join) return request.exit_code;
  const Result<void> sized = SizePools(flags);
  if (!sized.ok()) return Fail(words.command, sized.error());

  kinjo_parts_info parts{};
  const Result<void> done = RunWatched(
      ProgressBeside(flags.progress, output),
      [&](const RunOptions& run) { return RunRows(&*request.join, flags, output, run, &parts); });
  if (!done.ok()) {
    const int failed = Fail(words.command, done.error());
    TellUnfinishedParts(output, parts);
    return failed;
  }
  if (flags.resume && TellParts(flags, output, parts) && !flags.json) return kDone;
  if (flags.analyze) {
    const int failed = TellAnalysis(words.command, *request.join, output);
    if (failed != kDone) return failed;
  }
  return TellReport(words, *request.join, flags);
}

}  // namespace kinjo::cli
