#include "format/file/packed_struct.h"

#include <cstring>
#include <utility>
#include <vector>

#include "format/file/leaf_type.h"
#include "format/file/value_sink.h"

namespace kinjo::format::file {

namespace {

arrow::Result<std::vector<LeafType>> ChildTypes(const std::string& field_name,
                                                const arrow::DataType& type) {
  std::vector<LeafType> children;
  for (const auto& field : type.fields()) {
    const std::string name = field_name + "." + field->name();
    ARROW_ASSIGN_OR_RAISE(LeafType leaf, MakeLeafType(name, field->type()));
    const bool whole_bytes = leaf.kind == LeafType::Kind::kFixed && leaf.bits_per_value % 8 == 0;
    if (!whole_bytes && leaf.kind != LeafType::Kind::kVariable) {
      return base::NotSupported("field '", name, "': values of type ", field->type()->ToString(),
                                " aren't read out of a packed struct");
    }
    children.push_back(std::move(leaf));
  }
  return children;
}

bool IsVariable(const LeafType& leaf) { return leaf.kind == LeafType::Kind::kVariable; }

// Adds the children of one row to their sinks.
arrow::Status AppendRow(Bytes row, const std::vector<LeafType>& children, const Where& where,
                        std::vector<ValueSink>* sinks) {
  const auto take = [&](uint64_t size, Bytes* part) {
    if (size > row.size()) {
      return where.Corrupt("a row of a packed struct ends within a value of ", size, " bytes");
    }
    *part = row.first(size);
    row = row.subspan(size);
    return arrow::Status::OK();
  };
  for (size_t i = 0; i < children.size(); ++i) {
    Bytes part;
    if (IsVariable(children[i])) {
      ARROW_RETURN_NOT_OK(take(sizeof(uint64_t), &part));
      ARROW_RETURN_NOT_OK(take(LoadUnsigned(part.data(), sizeof(uint64_t)), &part));
      ARROW_RETURN_NOT_OK((*sinks)[i].AppendVariable(part, where));
      continue;
    }
    ARROW_RETURN_NOT_OK(take(children[i].bits_per_value / 8, &part));
    ARROW_ASSIGN_OR_RAISE(uint8_t* out, (*sinks)[i].AppendFixed(1));
    std::memcpy(out, part.data(), part.size());
  }
  if (!row.empty())
    return where.Corrupt("a row of a packed struct with ", row.size(), " bytes more");
  return arrow::Status::OK();
}

Bytes RowOf(const arrow::ArrayData& rows, int64_t i) {
  if (rows.type->id() == arrow::Type::FIXED_SIZE_BINARY) {
    const auto width = static_cast<int64_t>(rows.type->byte_width());
    return {rows.buffers[1]->data() + (rows.offset + i) * width, static_cast<size_t>(width)};
  }
  const auto* offsets = rows.GetValues<int64_t>(1);
  return {rows.buffers[2]->data() + offsets[i], static_cast<size_t>(offsets[i + 1] - offsets[i])};
}

}  // namespace

arrow::Result<std::shared_ptr<arrow::DataType>> PackedRowType(const std::string& field_name,
                                                              const arrow::DataType& type) {
  ARROW_ASSIGN_OR_RAISE(const auto children, ChildTypes(field_name, type));
  uint64_t bits = 0;
  for (const LeafType& child : children) {
    if (IsVariable(child)) return arrow::large_binary();
    bits += child.bits_per_value;
  }
  if (bits == 0 || bits > INT32_MAX) {
    return base::NotSupported("field '", field_name, "': packed structs of ", bits / 8, " bytes");
  }
  return arrow::fixed_size_binary(static_cast<int32_t>(bits / 8));
}

arrow::Result<std::shared_ptr<arrow::ArrayData>> UnpackStruct(
    const std::shared_ptr<arrow::DataType>& type, const arrow::ArrayData& rows,
    const Where& where) {
  ARROW_ASSIGN_OR_RAISE(const auto children, ChildTypes("", *type));
  std::vector<ValueSink> sinks;
  for (const LeafType& child : children) {
    sinks.emplace_back(child);
    ARROW_RETURN_NOT_OK(sinks.back().Reserve(static_cast<uint64_t>(rows.length), 0));
  }
  for (int64_t i = 0; i < rows.length; ++i) {
    if (rows.IsNull(i)) {
      for (ValueSink& sink : sinks) ARROW_RETURN_NOT_OK(sink.AppendEmpty(1));
    } else {
      ARROW_RETURN_NOT_OK(AppendRow(RowOf(rows, i), children, where, &sinks));
    }
  }
  auto made =
      arrow::ArrayData::Make(type, rows.length, {rows.buffers[0]}, rows.null_count, rows.offset);
  for (ValueSink& sink : sinks) {
    ARROW_ASSIGN_OR_RAISE(auto child, sink.Finish(nullptr, 0));
    made->child_data.push_back(std::move(child));
  }
  return made;
}

}  // namespace kinjo::format::file
