// `kinjo index`: vector indexes made, kept, measured, listed, and taken away.
#include <optional>
#include <string>
#include <vector>

#include "commands.h"
#include "curve_text.h"
#include "described.h"
#include "figures.h"
#include "outcome.h"
#include "row_output.h"
#include "text_table.h"
#include "watched_run.h"

namespace kinjo::cli {

namespace {

ProgressKind ProgressOf(const Flags& flags) {
  return ProgressBeside(flags.index_progress, /*output=*/"");
}

Result<DescribedDataset> Describe(const std::string& uri) {
  Result<Dataset> dataset = Dataset::Open(uri);
  if (!dataset.ok()) return dataset.error();
  const Result<std::string> json = dataset->Describe();
  if (!json.ok()) return json.error();
  return ReadDataset(json.value());
}

Error NoIndex(const std::string& message) {
  Error error;
  error.code = KINJO_ERROR_NOT_FOUND;
  error.message = message;
  return error;
}

/// The vector index that is meant: by its name, or the only one.
Result<DescribedIndex> FindIndex(const std::string& uri, const Text& name) {
  const Result<DescribedDataset> dataset = Describe(uri);
  if (!dataset.ok()) return dataset.error();
  std::string names;
  for (const DescribedIndex& index : dataset.value().indexes) {
    if (name == index.name) return index;
    names += (names.empty() ? "" : ", ") + index.name;
  }
  if (names.empty()) return NoIndex(uri + " has no vector index");
  if (name) return NoIndex(uri + " has no vector index '" + *name + "'; it has " + names);
  if (dataset.value().indexes.size() == 1) return dataset.value().indexes.front();
  return NoIndex(uri + " has several vector indexes, choose one by --name: " + names);
}

std::string LeftOutText(const DescribedBuild& build) {
  std::string text;
  const auto add = [&](uint64_t rows, const char* why) {
    if (rows > 0) text += (text.empty() ? "" : ", ") + Count(rows) + " " + why;
  };
  add(build.null_rows, "null");
  add(build.non_finite_rows, "with NaN or infinity");
  add(build.zero_rows, "zero");
  return text.empty() ? "" : "left out: " + text + "\n";
}

std::string BuiltText(const DescribedBuild& build) {
  std::string text = build.type + ", " + build.metric + ", " +
                     Counted(build.num_partitions, "partition") + ", " +
                     Counted(build.num_rows, "row") + ", " + Size(build.index_bytes) + "\n";
  for (const std::string& choice : build.choices) text += "chosen: " + choice + "\n";
  text += LeftOutText(build);
  if (build.empty_partitions > 0) {
    text += Counted(build.empty_partitions, "partition") +
            (build.empty_partitions == 1 ? " has" : " have") + " no rows\n";
  }
  return text + "built in " + Duration(build.total_s) + ", with " + Size(build.peak_memory_bytes) +
         " of memory at most\n";
}

/// Rows of the dataset are searched in it, each without itself: what the index misses of their true
/// neighbours.
Result<std::string> MeasureIndex(const std::string& uri, const DescribedIndex& index,
                                 const Flags& flags) {
  JoinOptions options;
  options.k = flags.check_k.value_or(options.k);
  options.on = index.column;
  options.index = index.name;
  options.metric = index.metric;
  options.recall = flags.check_recall.value_or(kDefaultRecallTarget);
  options.exclude_self = "";
  options.memory_limit_bytes = flags.index_memory_limit;
  options.threads = flags.index_threads;
  Result<Table> left = Table::Open(uri);
  if (!left.ok()) return left.error();
  Result<Join> join = Join::Make(*left, uri, options);
  if (!join.ok()) return join.error();
  return RunWatched(ProgressKind::kNone, [&](const RunOptions& run) { return join->Tune(run); });
}

int Check(const char* command, const Flags& flags, const Text& name, bool json) {
  const Result<DescribedIndex> index = FindIndex(*flags.indexed, name);
  if (!index.ok()) return Fail(command, index.error());
  const Result<std::string> curve = MeasureIndex(*flags.indexed, index.value(), flags);
  if (!curve.ok()) return Fail(command, curve.error());
  return Print(command, json ? curve.value() + "\n" : CurveText(ReadCurve(curve.value())));
}

int NeedDataset(const char* command) {
  return FailCommandLine(command, "DATASET is needed: the Lance dataset");
}

IndexOptions OptionsOf(const Flags& flags) {
  IndexOptions options;
  options.column = flags.column.value_or("");
  options.name = flags.name.value_or("");
  options.replace = flags.replace;
  options.type = flags.type.value_or("");
  options.metric = flags.index_metric.value_or("");
  options.num_partitions = flags.num_partitions;
  options.target_partition_size = flags.target_partition_size;
  options.num_sub_vectors = flags.num_sub_vectors;
  options.num_bits = flags.num_bits;
  options.m = flags.m;
  options.ef_construction = flags.ef_construction;
  options.max_level = flags.max_level;
  options.sample_rate = flags.sample_rate;
  options.max_iterations = flags.max_iterations;
  options.seed = flags.seed;
  options.threads = flags.index_threads;
  options.memory_limit_bytes = flags.index_memory_limit;
  return options;
}

}  // namespace

int RunIndexCreate(const Flags& flags) {
  constexpr const char* kCommand = "index create";
  if (!flags.indexed) return NeedDataset(kCommand);
  if (const std::string wrong = WrongProgress(flags.index_progress); !wrong.empty()) {
    return FailCommandLine(kCommand, wrong);
  }
  const Result<std::string> json = RunWatched(ProgressOf(flags), [&](const RunOptions& run) {
    return Index::Create(*flags.indexed, OptionsOf(flags), run);
  });
  if (!json.ok()) return Fail(kCommand, json.error());
  const DescribedIndexChange created = ReadCreated(json.value());
  const int told = Print(kCommand, flags.index_json ? json.value() + "\n"
                                                    : "index " + created.name + ", version " +
                                                          std::to_string(created.version) + ": " +
                                                          BuiltText(created.build));
  if (told != kDone || !flags.check) return told;
  return Check(kCommand, flags, created.name, flags.index_json);
}

int RunIndexList(const Flags& flags) {
  constexpr const char* kCommand = "index list";
  if (!flags.indexed) return NeedDataset(kCommand);
  Result<Dataset> dataset = Dataset::Open(*flags.indexed);
  if (!dataset.ok()) return Fail(kCommand, dataset.error());
  const Result<std::string> json = dataset->Describe();
  if (!json.ok()) return Fail(kCommand, json.error());
  if (flags.index_json) return Print(kCommand, IndexesJson(json.value()) + "\n");
  const DescribedDataset described = ReadDataset(json.value());
  if (described.indexes.empty() && described.scalar_indexes.empty()) {
    return Print(kCommand, *flags.indexed + " has no index\n");
  }
  TextTable table({{"index"},
                   {"column"},
                   {"type"},
                   {"metric"},
                   {"segments", true},
                   {"rows covered", true},
                   {"not covered", true},
                   {""}});
  for (const auto* indexes : {&described.indexes, &described.scalar_indexes}) {
    for (const DescribedIndex& index : *indexes) {
      table.Add({index.name, index.column, index.type, index.metric, Count(index.segments.size()),
                 Count(index.covered_rows), Count(index.uncovered_rows),
                 index.usable ? "" : "not usable: " + index.unusable_reason});
    }
  }
  return Print(kCommand, table.Text());
}

int RunIndexOptimize(const Flags& flags) {
  constexpr const char* kCommand = "index optimize";
  if (!flags.indexed) return NeedDataset(kCommand);
  if (const std::string wrong = WrongProgress(flags.index_progress); !wrong.empty()) {
    return FailCommandLine(kCommand, wrong);
  }
  const Result<DescribedIndex> index = FindIndex(*flags.indexed, flags.name);
  if (!index.ok()) return Fail(kCommand, index.error());
  IndexOptimizeOptions options;
  options.num_indices_to_merge = flags.num_indices_to_merge;
  options.retrain = flags.retrain;
  options.threads = flags.index_threads;
  options.memory_limit_bytes = flags.index_memory_limit;
  const Result<std::string> json = RunWatched(ProgressOf(flags), [&](const RunOptions& run) {
    return Index::Optimize(*flags.indexed, index.value().name, options, run);
  });
  if (!json.ok()) return Fail(kCommand, json.error());
  const DescribedIndexChange optimized = ReadOptimized(json.value());
  std::string text = "index " + optimized.name + ", version " + std::to_string(optimized.version);
  if (optimized.changed) {
    text += ": a new segment";
    if (optimized.replaced_segments > 0) {
      text += " in place of " + Counted(optimized.replaced_segments, "segment");
    }
    text += ": " + BuiltText(optimized.build);
  } else {
    text += ": up to date\n";
  }
  const int told = Print(kCommand, flags.index_json ? json.value() + "\n" : text);
  if (told != kDone || !flags.check) return told;
  return Check(kCommand, flags, optimized.name, flags.index_json);
}

int RunIndexDrop(const Flags& flags) {
  constexpr const char* kCommand = "index drop";
  if (!flags.indexed) return NeedDataset(kCommand);
  if (!flags.name) return FailCommandLine(kCommand, "--name is needed: the index that goes");
  const Result<uint64_t> version = Index::Drop(*flags.indexed, *flags.name);
  if (!version.ok()) return Fail(kCommand, version.error());
  const std::string number = std::to_string(version.value());
  return Print(kCommand, flags.index_json ? "{\"version\":" + number + "}\n"
                                          : "version " + number + " has no index " + *flags.name +
                                                "; older versions keep it\n");
}

int RunIndexRename(const Flags& flags) {
  constexpr const char* kCommand = "index rename";
  if (!flags.indexed) return NeedDataset(kCommand);
  if (!flags.name) return FailCommandLine(kCommand, "--name is needed: the index");
  if (!flags.new_name) return FailCommandLine(kCommand, "--new-name is needed: its new name");
  const Result<uint64_t> version = Index::Rename(*flags.indexed, *flags.name, *flags.new_name);
  if (!version.ok()) return Fail(kCommand, version.error());
  const std::string number = std::to_string(version.value());
  return Print(kCommand, flags.index_json ? "{\"version\":" + number + "}\n"
                                          : "index " + *flags.name + " is " + *flags.new_name +
                                                " from version " + number + " on\n");
}

int RunIndexCheck(const Flags& flags) {
  constexpr const char* kCommand = "index check";
  if (!flags.indexed) return NeedDataset(kCommand);
  return Check(kCommand, flags, flags.name, flags.index_json);
}

}  // namespace kinjo::cli
