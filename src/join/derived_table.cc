#include "join/derived_table.h"

#include <utility>

#include "arrow/util/iterator.h"

namespace kinjo::join {

namespace {

class DerivedSource final : public tabular::TableSource {
 public:
  explicit DerivedSource(DerivedTable table) : table_(std::move(table)) {}

  const std::string& uri() const override { return table_.uri; }
  const std::string& format() const override { return table_.format; }
  std::shared_ptr<arrow::Schema> schema() const override { return table_.schema; }
  std::optional<int64_t> num_rows() const override { return table_.num_rows; }

  arrow::Result<std::shared_ptr<arrow::RecordBatchReader>> Read(
      const std::optional<std::vector<std::string>>& columns) override {
    return table_.read(columns);
  }
  arrow::Result<std::shared_ptr<arrow::RecordBatch>> Take(
      const std::vector<std::string>& columns, std::span<const uint64_t> ordinals) override {
    return table_.take(columns, ordinals);
  }

 private:
  const DerivedTable table_;
};

}  // namespace

std::shared_ptr<tabular::TableSource> MakeDerivedTable(DerivedTable table) {
  return std::make_shared<DerivedSource>(std::move(table));
}

arrow::Result<std::shared_ptr<arrow::RecordBatchReader>> MakeReader(
    std::shared_ptr<arrow::Schema> schema,
    std::function<arrow::Result<std::shared_ptr<arrow::RecordBatch>>()> next) {
  return arrow::RecordBatchReader::MakeFromIterator(arrow::MakeFunctionIterator(std::move(next)),
                                                    std::move(schema));
}

}  // namespace kinjo::join
