// Index files made in memory, for tests and fuzzing: two opened files that hold given metadata,
// global buffers and columns, and the protobuf bytes that go into them.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "arrow/array.h"
#include "arrow/array/concatenate.h"
#include "format/file/lance_file.h"

namespace kinjo::format {

/// A LanceFile over arrays. Columns are the fields of the schema, in order; ids are their
/// positions.
class MemoryLanceFile final : public LanceFile {
 public:
  explicit MemoryLanceFile(std::string path) : path_(std::move(path)) {}

  void SetMetadata(const std::string& key, std::string value) {
    schema_.metadata[key] = std::move(value);
  }
  void EraseMetadata(const std::string& key) { schema_.metadata.erase(key); }
  void AddColumn(std::string name, std::string logical_type, std::shared_ptr<arrow::Array> values) {
    const auto id = static_cast<int32_t>(arrays_.size());
    schema_.fields.push_back(
        Field{.id = id, .name = std::move(name), .logical_type = std::move(logical_type)});
    own_columns_[id] = static_cast<uint32_t>(id);
    arrays_.push_back(std::move(values));
  }
  Schema& mutable_schema() { return schema_; }
  std::vector<std::shared_ptr<arrow::Array>>& arrays() { return arrays_; }
  std::vector<std::string>& global_buffers() { return global_buffers_; }

  FileVersion version() const override { return {2, 2}; }
  uint64_t num_rows() const override {
    return arrays_.empty() ? 0 : static_cast<uint64_t>(arrays_[0]->length());
  }
  uint32_t num_columns() const override { return static_cast<uint32_t>(arrays_.size()); }
  const std::string& path() const override { return path_; }
  const Schema& schema() const override { return schema_; }
  const ColumnMap& own_columns() const override { return own_columns_; }
  int num_global_buffers() const override { return static_cast<int>(global_buffers_.size()); }
  arrow::Result<std::shared_ptr<arrow::Buffer>> ReadGlobalBuffer(int number) override {
    return arrow::Buffer::FromString(global_buffers_.at(static_cast<size_t>(number)));
  }
  arrow::Result<std::shared_ptr<arrow::Array>> ReadRowsInTurn(const Field& field,
                                                              const ColumnMap& columns,
                                                              std::span<const RowRange> ranges,
                                                              PagesAtHand*) override {
    const auto& array = arrays_.at(columns.at(field.id));
    arrow::ArrayVector pieces;
    for (const RowRange& range : ranges) {
      pieces.push_back(array->Slice(static_cast<int64_t>(range.begin),
                                    static_cast<int64_t>(range.end - range.begin)));
    }
    if (pieces.size() == 1) return pieces.front();
    return arrow::Concatenate(pieces);
  }
  arrow::Result<std::vector<std::string>> DescribePages(uint32_t) override {
    return std::vector<std::string>{};
  }

 private:
  std::string path_;
  Schema schema_;
  ColumnMap own_columns_;
  std::vector<std::shared_ptr<arrow::Array>> arrays_;
  std::vector<std::string> global_buffers_ = {""};  // buffer 0 is the descriptor
};

inline void PutVarint(uint64_t value, std::string* out) {
  for (; value >= 0x80; value >>= 7) out->push_back(static_cast<char>(value | 0x80));
  out->push_back(static_cast<char>(value));
}

/// A length-delimited field.
inline void PutBytes(uint32_t number, std::string_view bytes, std::string* out) {
  PutVarint(uint64_t{number} << 3 | 2, out);
  PutVarint(bytes.size(), out);
  out->append(bytes);
}

/// A packed field of varints; nothing when empty.
template <typename T>
void PutPacked(uint32_t number, const std::vector<T>& values, std::string* out) {
  std::string packed;
  for (const T value : values) PutVarint(value, &packed);
  if (!values.empty()) PutBytes(number, packed, out);
}

inline std::string EncodeTensor(uint32_t data_type, const std::vector<uint32_t>& shape,
                                std::string_view data) {
  std::string out;
  PutVarint(1 << 3, &out);
  PutVarint(data_type, &out);
  PutPacked(2, shape, &out);
  PutBytes(3, data, &out);
  return out;
}

/// `centroids` is an encoded tensor, or empty.
inline std::string EncodeIvf(const std::vector<uint64_t>& offsets,
                             const std::vector<uint32_t>& lengths, std::string_view centroids) {
  std::string out;
  PutPacked(2, offsets, &out);
  PutPacked(3, lengths, &out);
  if (!centroids.empty()) PutBytes(4, centroids, &out);
  return out;
}

}  // namespace kinjo::format
