// Rows as a table for people: aligned columns under their names, numbers to the right, long vectors
// and texts cut, and how many rows there were.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "arrow/type_traits.h"
#include "tabular/display_width.h"
#include "tabular/format_writer.h"
#include "tabular/value_text.h"

namespace kinjo::tabular {

namespace {

// Widths are those of the first rows, so that output starts early and memory stays small.
constexpr size_t kSampledRows = 50;
constexpr int64_t kMaxColumnWidth = 40;
constexpr int kSignificantDigits = 6;
constexpr int64_t kShownListItems = 2;

bool IsNumber(const arrow::DataType& type) {
  return arrow::is_integer(type.id()) || arrow::is_floating(type.id()) ||
         arrow::is_decimal(type.id());
}

class TerminalTable final : public FormatWriter {
 public:
  TerminalTable(arrow::io::OutputStream* out, std::vector<std::unique_ptr<ValueText>> texts,
                const arrow::Schema& schema)
      : out_(out), texts_(std::move(texts)) {
    for (const auto& field : schema.fields()) {
      names_.push_back(FitToLine(field->name(), kMaxColumnWidth));
      widths_.push_back(DisplayWidth(names_.back()));
      to_the_right_.push_back(IsNumber(*field->type()));
    }
  }

  arrow::Status Write(const arrow::RecordBatch& batch) override {
    for (int64_t row = 0; row < batch.num_rows(); ++row) {
      std::vector<std::string> cells = Render(batch, row);
      ++rows_;
      if (started_) {
        AppendLine(cells);
      } else {
        sample_.push_back(std::move(cells));
        if (sample_.size() == kSampledRows) Start();
      }
    }
    return Flush();
  }

  arrow::Status Finish() override {
    Start();
    lines_ += rows_ == 1 ? "1 row\n" : rows_ == 0 ? "no rows\n" : base::Concat(rows_, " rows\n");
    return Flush();
  }

 private:
  std::vector<std::string> Render(const arrow::RecordBatch& batch, int64_t row) const {
    std::vector<std::string> cells;
    std::string text;
    for (size_t i = 0; i < texts_.size(); ++i) {
      const arrow::Array& column = *batch.column(static_cast<int>(i));
      text.clear();
      if (column.IsNull(row)) {
        text = "null";
      } else {
        texts_[i]->AppendPlain(column, row, &text);
      }
      cells.push_back(FitToLine(text, kMaxColumnWidth));
    }
    return cells;
  }

  // The widths are fixed now: writes the head and what was held back.
  void Start() {
    if (started_) return;
    started_ = true;
    for (const std::vector<std::string>& cells : sample_) {
      for (size_t i = 0; i < cells.size(); ++i) {
        widths_[i] = std::max(widths_[i], DisplayWidth(cells[i]));
      }
    }
    AppendLine(names_);
    std::vector<std::string> rules(widths_.size());
    for (size_t i = 0; i < rules.size(); ++i) {
      for (int64_t column = 0; column < widths_[i]; ++column) rules[i] += "─";
    }
    AppendLine(rules);
    for (const std::vector<std::string>& cells : sample_) AppendLine(cells);
    sample_.clear();
  }

  void AppendLine(const std::vector<std::string>& cells) {
    for (size_t i = 0; i < cells.size(); ++i) {
      const int64_t missing = std::max<int64_t>(0, widths_[i] - DisplayWidth(cells[i]));
      const std::string padding(static_cast<size_t>(missing), ' ');
      if (i > 0) lines_ += "  ";
      if (to_the_right_[i]) lines_ += padding;
      lines_ += cells[i];
      if (!to_the_right_[i] && i + 1 < cells.size()) lines_ += padding;
    }
    lines_ += '\n';
  }

  arrow::Status Flush() {
    if (lines_.empty()) return arrow::Status::OK();
    const arrow::Status status = out_->Write(lines_.data(), static_cast<int64_t>(lines_.size()));
    lines_.clear();
    return status.ok() ? out_->Flush() : status;
  }

  arrow::io::OutputStream* out_;
  std::vector<std::unique_ptr<ValueText>> texts_;
  std::vector<std::string> names_;
  std::vector<int64_t> widths_;
  std::vector<bool> to_the_right_;
  std::vector<std::vector<std::string>> sample_;
  std::string lines_;
  bool started_ = false;
  int64_t rows_ = 0;
};

}  // namespace

arrow::Result<std::unique_ptr<FormatWriter>> MakeTerminalTable(
    arrow::io::OutputStream* out, const std::shared_ptr<arrow::Schema>& schema,
    const SinkOptions&) {
  const TextStyle style{.non_finite_is_null = false,
                        .significant_digits = kSignificantDigits,
                        .separator = ", ",
                        .max_list_items = kShownListItems};
  std::vector<std::unique_ptr<ValueText>> texts;
  for (const auto& field : schema->fields()) {
    ARROW_ASSIGN_OR_RAISE(auto text, MakeValueText(*field->type(), style, field->name()));
    texts.push_back(std::move(text));
  }
  return std::make_unique<TerminalTable>(out, std::move(texts), *schema);
}

}  // namespace kinjo::tabular
