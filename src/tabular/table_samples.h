// For the tests of this room: a folder that goes away, and tables with values of every type.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "arrow/json/from_string.h"
#include "arrow/record_batch.h"
#include "arrow/table.h"
#include "arrow/type.h"
#include "tabular/table_sink.h"
#include "tabular/table_source.h"

namespace kinjo::tabular {

/// A new folder below the system's temporary one, removed with all in it.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "kinjo-tabular-XXXXXX").string();
    const char* made = mkdtemp(name.data());
    path_ = made == nullptr ? "/no-temporary-folder" : made;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  /// The path of `name` below the folder; parent folders are made.
  std::string Path(const std::string& name) const {
    std::filesystem::create_directories((path_ / name).parent_path());
    return (path_ / name).string();
  }
  std::string Write(const std::string& name, const std::string& bytes) const {
    std::ofstream(Path(name), std::ios::binary) << bytes;
    return Path(name);
  }
  std::string path() const { return path_.string(); }
  /// All names in the folder itself, hidden ones too.
  std::vector<std::string> Names() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(path_)) {
      names.push_back(entry.path().filename().string());
    }
    std::sort(names.begin(), names.end());
    return names;
  }

 private:
  std::filesystem::path path_;
};

inline std::string Slurp(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

inline std::shared_ptr<arrow::RecordBatch> BatchFromJson(
    const std::shared_ptr<arrow::Schema>& schema, const std::string& json) {
  const auto rows = arrow::json::ArrayFromJSONString(arrow::struct_(schema->fields()), json);
  return arrow::RecordBatch::FromStructArray(rows.ValueOrDie()).ValueOrDie();
}

/// `rows` rows from the ordinal `first` on: id int64, name utf8 (null each 7th), v
/// fixed_size_list<float>[3] (null each 5th when `null_vectors`), d list<double>.
inline std::shared_ptr<arrow::RecordBatch> VectorRows(int64_t first, int64_t rows,
                                                      bool null_vectors = false) {
  const auto schema =
      arrow::schema({arrow::field("id", arrow::int64()), arrow::field("name", arrow::utf8()),
                     arrow::field("v", arrow::fixed_size_list(arrow::float32(), 3)),
                     arrow::field("d", arrow::list(arrow::float64()))});
  std::string json = "[";
  for (int64_t i = first; i < first + rows; ++i) {
    const std::string n = std::to_string(i);
    if (i > first) json += ",";
    json += "{\"id\":" + n + ",\"name\":" + (i % 7 == 0 ? "null" : "\"row " + n + "\"");
    json += ",\"v\":";
    json += null_vectors && i % 5 == 0 ? "null" : "[" + n + ".5,-" + n + ",0.1]";
    json += ",\"d\":[" + (i % 3 == 0 ? std::string() : n + ".25,1e-9") + "]}";
  }
  return BatchFromJson(schema, json + "]");
}

inline std::shared_ptr<arrow::Table> ToTable(const arrow::RecordBatchVector& batches) {
  return arrow::Table::FromRecordBatches(batches).ValueOrDie()->CombineChunks().ValueOrDie();
}

inline arrow::Status WriteAll(const std::string& path, const arrow::RecordBatchVector& batches,
                              const SinkOptions& options = {}) {
  ARROW_ASSIGN_OR_RAISE(auto sink, OpenSink(path, batches.at(0)->schema(), options));
  for (const auto& batch : batches) ARROW_RETURN_NOT_OK(sink->Write(*batch));
  return sink->Finish();
}

/// Reads a source to its end as one table; no batch may be empty or longer than `batch_rows`.
inline arrow::Result<std::shared_ptr<arrow::Table>> ReadAll(
    TableSource* source, const std::optional<std::vector<std::string>>& columns = std::nullopt,
    int64_t batch_rows = std::numeric_limits<int64_t>::max()) {
  ARROW_ASSIGN_OR_RAISE(auto reader, source->Read(columns));
  arrow::RecordBatchVector batches;
  while (true) {
    ARROW_ASSIGN_OR_RAISE(auto batch, reader->Next());
    if (batch == nullptr) break;
    if (batch->num_rows() < 1 || batch->num_rows() > batch_rows) {
      return base::Internal("a batch has ", batch->num_rows(), " rows");
    }
    if (!batch->schema()->Equals(*reader->schema())) return base::Internal("a batch is odd");
    ARROW_RETURN_NOT_OK(batch->ValidateFull());
    batches.push_back(std::move(batch));
  }
  ARROW_ASSIGN_OR_RAISE(auto table, arrow::Table::FromRecordBatches(reader->schema(), batches));
  return table->CombineChunks();
}

inline std::shared_ptr<arrow::Table> ReadUri(const std::string& uri,
                                             const SourceOptions& options = {}) {
  const auto source = OpenTable(uri, options).ValueOrDie();
  return ReadAll(source.get(), std::nullopt, options.batch_rows).ValueOrDie();
}

/// Empty when the tables have the same columns, types and values (NaN equals NaN); else both as
/// text.
inline std::string Difference(const arrow::Table& got, const arrow::Table& expected) {
  const auto options = arrow::EqualOptions::Defaults().nans_equal(true);
  const bool same = got.schema()->Equals(*expected.schema(), /*check_metadata=*/false) &&
                    got.Equals(expected, options);
  return same ? std::string() : got.ToString() + "\ninstead of\n" + expected.ToString();
}

}  // namespace kinjo::tabular
