// `kinjo info`: a Lance dataset (columns, versions, files, indexes and what they cover), or this
// program on this machine.
#include <algorithm>
#include <map>
#include <sstream>
#include <utility>

#include "change_run.h"
#include "commands.h"
#include "described.h"
#include "figures.h"
#include "outcome.h"
#include "text_table.h"

namespace kinjo::cli {

namespace {

constexpr const char* kCommand = "info";

// Of "2026-02-28T23:59:59": the fraction of a second is left to --json.
constexpr size_t kSecondsWidth = 19;

// "fixed_size_list<item: float>[50]" as "float[50]": what a reader wants to know of a vector.
std::string TypeText(const std::string& type) {
  const std::string begin = "fixed_size_list<item: ";
  const size_t end = type.rfind(">[");
  if (type.rfind(begin, 0) != 0 || end == std::string::npos) return type;
  std::string element = type.substr(begin.size(), end - begin.size());
  if (element.find('<') != std::string::npos) return type;
  const std::string not_null = " not null";
  if (element.size() > not_null.size() &&
      element.compare(element.size() - not_null.size(), not_null.size(), not_null) == 0) {
    element.erase(element.size() - not_null.size());
  }
  return element + type.substr(end + 1);
}

template <typename Item, typename ToText>
std::string Joined(const std::vector<Item>& items, const ToText& to_text) {
  std::string text;
  for (const Item& item : items) text += (text.empty() ? "" : ", ") + to_text(item);
  return text;
}

// "0-2, 5": runs of rising numbers, shortened.
std::string Numbers(const std::vector<uint64_t>& numbers) {
  std::string text;
  for (size_t i = 0; i < numbers.size();) {
    size_t last = i;
    while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1) ++last;
    text += (text.empty() ? "" : ", ") + std::to_string(numbers[i]);
    if (last > i) text += "-" + std::to_string(numbers[last]);
    i = last + 1;
  }
  return text.empty() ? "none" : text;
}

std::string Coverage(const DescribedIndex& index) {
  if (index.uncovered_rows == 0) return "all rows";
  const uint64_t rows = index.covered_rows + index.uncovered_rows;
  return Count(index.covered_rows) + " of " + Counted(rows, "row");
}

std::string Use(const DescribedIndex& index) {
  return index.usable ? "usable" : "not usable: " + index.unusable_reason;
}

std::string HeadText(const DescribedDataset& dataset) {
  std::string text = dataset.uri + ": Lance dataset, version " + std::to_string(dataset.version);
  if (!dataset.versions.empty() && dataset.versions.back() != dataset.version) {
    text += " (the latest is " + std::to_string(dataset.versions.back()) + ")";
  }
  text += ", file format " + dataset.format_version + "\n";
  text += Counted(dataset.num_rows, "row") + " in " + Counted(dataset.fragments.size(), "fragment");
  if (dataset.num_deleted_rows > 0) text += ", " + Count(dataset.num_deleted_rows) + " deleted";
  return text + "\n";
}

std::string ColumnsText(const DescribedDataset& dataset) {
  TextTable table({{"column"}, {"type"}, {""}});
  for (const DescribedColumn& column : dataset.columns) {
    table.Add({column.name, TypeText(column.type), column.nullable ? "" : "not null"});
  }
  return "\n" + table.Text();
}

std::string IndexesText(const DescribedDataset& dataset) {
  if (dataset.indexes.empty()) return "\nno vector index: joins take the exact path\n";
  TextTable table(
      {{"vector index"}, {"column"}, {"type"}, {"metric"}, {"segments", true}, {"covers"}, {""}});
  for (const DescribedIndex& index : dataset.indexes) {
    table.Add({index.name, index.column, index.type, index.metric, Count(index.segments.size()),
               Coverage(index), Use(index)});
  }
  return "\n" + table.Text();
}

std::string ScalarIndexesText(const DescribedDataset& dataset) {
  if (dataset.scalar_indexes.empty()) return "";
  TextTable table({{"scalar index"}, {"column"}, {"type"}, {"covers"}, {""}});
  for (const DescribedIndex& index : dataset.scalar_indexes) {
    table.Add({index.name, index.column, index.type, Coverage(index), Use(index)});
  }
  return "\n" + table.Text();
}

std::string FragmentsText(const DescribedDataset& dataset) {
  TextTable table({{"fragment", true}, {"rows", true}, {"deleted", true}, {"files"}});
  for (const DescribedFragment& fragment : dataset.fragments) {
    table.Add({std::to_string(fragment.id), Count(fragment.rows), Count(fragment.deleted_rows),
               Joined(fragment.files, [](const std::string& file) { return file; })});
  }
  return "\n" + table.Text();
}

std::string VersionsText(const std::vector<DescribedVersion>& versions) {
  TextTable table({{"version", true},
                   {"made"},
                   {"operation"},
                   {"rows", true},
                   {"fragments", true},
                   {"written by"},
                   {"tags"}});
  for (const DescribedVersion& version : versions) {
    table.Add({std::to_string(version.version), version.made.substr(0, kSecondsWidth),
               version.operation, Count(version.num_rows), Count(version.num_fragments),
               version.writer, Joined(version.tags, [](const std::string& tag) { return tag; })});
  }
  return "\n" + table.Text();
}

// What a page's text says besides how much the page holds.
std::string EncodingOf(const std::string& page) {
  std::istringstream words(page);
  std::string text;
  for (std::string word; words >> word;) {
    if (word.rfind("rows=", 0) == 0 || word.rfind("items=", 0) == 0) continue;
    text += (text.empty() ? "" : " ") + word;
  }
  return text;
}

// How often each encoding occurs in the pages of one column, all files together.
struct ColumnPages {
  std::string name;
  uint64_t files = 0;
  uint64_t pages = 0;
  std::map<std::string, uint64_t> encodings;
};

std::vector<ColumnPages> PagesOf(const std::vector<DescribedFile>& files) {
  std::vector<ColumnPages> columns;
  for (const DescribedFile& file : files) {
    for (const DescribedStoredColumn& stored : file.columns) {
      const std::string name = stored.name.empty() ? "(dropped)" : stored.name;
      auto column = std::find_if(columns.begin(), columns.end(),
                                 [&](const ColumnPages& each) { return each.name == name; });
      if (column == columns.end()) column = columns.insert(column, ColumnPages{name, 0, 0, {}});
      ++column->files;
      column->pages += stored.pages.size();
      for (const std::string& page : stored.pages) ++column->encodings[EncodingOf(page)];
    }
  }
  return columns;
}

std::string FilesText(const std::vector<DescribedFile>& files) {
  TextTable list({{"fragment", true}, {"file"}, {"size", true}, {"format"}, {"columns", true}});
  for (const DescribedFile& file : files) {
    list.Add({std::to_string(file.fragment_id), file.path, Size(file.bytes), file.format_version,
              Count(file.columns.size())});
  }
  TextTable table({{"column"}, {"files", true}, {"pages", true}, {"encoding", false}});
  for (const ColumnPages& column : PagesOf(files)) {
    std::string name = column.name;
    std::string counts = Count(column.files);
    std::string pages = Count(column.pages);
    for (const auto& [encoding, number] : column.encodings) {
      table.Add({name, counts, pages, encoding + (number > 1 ? " x" + Count(number) : "")});
      name = counts = pages = "";
    }
    if (column.encodings.empty()) table.Add({name, counts, pages, ""});
  }
  return "\n" + list.Text() + "\n" + table.Text();
}

std::string TagsText(const DescribedDataset& dataset) {
  if (dataset.tags.empty()) return "";
  TextTable table({{"tag"}, {"version", true}, {""}});
  for (const DescribedTag& tag : dataset.tags) {
    table.Add({tag.name, std::to_string(tag.version),
               tag.branch.empty() ? "" : "of branch " + tag.branch});
  }
  return "\n" + table.Text();
}

std::string IndexText(const DescribedIndex& index) {
  std::string text = index.name + ": " + index.type + " on " + index.column + ", metric " +
                     index.metric + ", " + Use(index) + "\ncovers " + Coverage(index);
  if (!index.uncovered_fragments.empty()) {
    text += "; not the fragments " + Numbers(index.uncovered_fragments);
  }
  text += "\n\n";
  TextTable table({{"segment"},
                   {"version", true},
                   {"fragments"},
                   {"rows", true},
                   {"partitions", true},
                   {"smallest", true},
                   {"largest", true},
                   {"vectors"}});
  for (const DescribedSegment& segment : index.segments) {
    std::vector<std::string> cells = {segment.uuid, std::to_string(segment.dataset_version),
                                      Numbers(segment.fragment_ids)};
    if (!segment.element_type.empty()) {
      cells.insert(cells.end(),
                   {Count(segment.num_rows), Count(segment.num_partitions),
                    Count(segment.smallest_partition), Count(segment.largest_partition),
                    segment.element_type + "[" + std::to_string(segment.dimension) + "]"});
    } else {
      cells.insert(cells.end(), 5, "?");
    }
    table.Add(std::move(cells));
  }
  return text + table.Text();
}

int InfoOnProgram(const Flags& flags) {
  const Result<std::string> json = DescribeRuntime();
  if (!json.ok()) return Fail(kCommand, json.error());
  if (flags.info_json) return Print(kCommand, json.value() + "\n");
  const DescribedRuntime runtime = ReadRuntime(json.value());
  const std::string levels =
      Joined(runtime.simd_levels, [](const std::string& level) { return level; });
  return Print(kCommand, "kinjo " + runtime.version + ", with Arrow " + runtime.arrow_version +
                             "\n\n  instructions   " + runtime.simd_level + "\n  available      " +
                             levels + " (KINJO_SIMD=NAME chooses one)\n  threads        " +
                             std::to_string(runtime.threads) + "\n  memory limit   " +
                             Size(runtime.memory_limit_bytes) + "\n");
}

int InfoOnIndex(const Dataset& dataset, const Flags& flags) {
  const Result<std::string> json = dataset.DescribeIndex(*flags.index_name);
  if (!json.ok()) return Fail(kCommand, json.error());
  if (flags.info_json) return Print(kCommand, json.value() + "\n");
  return Print(kCommand, IndexText(ReadIndex(json.value())));
}

Result<Dataset> OpenDescribed(const Flags& flags) {
  if (!flags.info_version) return Dataset::Open(*flags.dataset);
  const VersionOrTag which = ReadVersion(*flags.info_version);
  return Dataset::Open(*flags.dataset, which.version, which.tag);
}

int InfoOnDataset(const Dataset& dataset, const Flags& flags) {
  const Result<std::string> json = dataset.Describe();
  if (!json.ok()) return Fail(kCommand, json.error());
  std::vector<std::pair<std::string, std::string>> more;
  if (flags.versions) {
    const Result<std::string> history = dataset.DescribeVersions();
    if (!history.ok()) return Fail(kCommand, history.error());
    more.emplace_back("history", history.value());
  }
  if (flags.files) {
    const Result<std::string> files = dataset.DescribeFiles();
    if (!files.ok()) return Fail(kCommand, files.error());
    more.emplace_back("data_files", files.value());
  }
  if (flags.info_json) return Print(kCommand, WithMembers(json.value(), more) + "\n");
  const DescribedDataset described = ReadDataset(json.value());
  std::string text = HeadText(described);
  for (const auto& [name, members] : more) {
    const bool is_history = name == "history";
    text += is_history ? VersionsText(ReadVersions(members)) : FilesText(ReadFiles(members));
  }
  if (flags.versions) text += TagsText(described);
  if (flags.fragments) text += FragmentsText(described);
  if (!flags.versions && !flags.fragments && !flags.files) {
    text += ColumnsText(described) + IndexesText(described) + ScalarIndexesText(described) +
            TagsText(described);
  }
  return Print(kCommand, text);
}

}  // namespace

int RunInfo(const Flags& flags) {
  if (flags.cpu) return InfoOnProgram(flags);
  if (!flags.dataset) {
    return FailCommandLine(kCommand, "DATASET is needed: a Lance dataset; or --cpu");
  }
  if (flags.info_version && flags.info_version->empty()) {
    return FailCommandLine(kCommand, "--version is empty; give a version, a tag or a time");
  }
  const Result<Dataset> dataset = OpenDescribed(flags);
  if (!dataset.ok()) return Fail(kCommand, dataset.error());
  if (flags.index_name) return InfoOnIndex(dataset.value(), flags);
  return InfoOnDataset(dataset.value(), flags);
}

}  // namespace kinjo::cli
