// `kinjo info`: a Lance dataset (columns, fragments, indexes and what they cover), or this program
// on this machine.
#include "commands.h"
#include "described.h"
#include "figures.h"
#include "outcome.h"
#include "text_table.h"

namespace kinjo::cli {

namespace {

constexpr const char* kCommand = "info";

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

std::string VersionsText(const DescribedDataset& dataset) {
  return "\nversions: " + Numbers(dataset.versions) + "\n";
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

}  // namespace

int RunInfo(const Flags& flags) {
  if (flags.cpu) return InfoOnProgram(flags);
  if (!flags.dataset) {
    return FailCommandLine(kCommand, "DATASET is needed: a Lance dataset; or --cpu");
  }
  const Result<Dataset> dataset = Dataset::Open(*flags.dataset);
  if (!dataset.ok()) return Fail(kCommand, dataset.error());
  if (flags.index_name) return InfoOnIndex(dataset.value(), flags);
  const Result<std::string> json = dataset.value().Describe();
  if (!json.ok()) return Fail(kCommand, json.error());
  if (flags.info_json) return Print(kCommand, json.value() + "\n");
  const DescribedDataset described = ReadDataset(json.value());
  std::string text = HeadText(described);
  if (flags.versions) text += VersionsText(described) + TagsText(described);
  if (flags.fragments) text += FragmentsText(described);
  if (!flags.versions && !flags.fragments) {
    text += ColumnsText(described) + IndexesText(described) + ScalarIndexesText(described) +
            TagsText(described);
  }
  return Print(kCommand, text);
}

}  // namespace kinjo::cli
