// Parsing of version 2.0's tree of encodings; declared in file_messages.h.
#include <optional>

#include "format/proto/file_messages.h"
#include "format/proto/wire.h"

namespace kinjo::format::proto {

namespace {

using Kind = ArrayEncoding::Kind;

bool ParseTree(std::string_view bytes, int depth, ArrayEncoding* encoding);

bool ParseChild(const WireField& field, int depth, ArrayEncoding* parent) {
  if (field.type != WireType::kBytes) return false;
  parent->children.emplace_back();
  return ParseTree(field.bytes, depth + 1, &parent->children.back());
}

bool ParseBuffer(std::string_view bytes, ArrayEncoding* node) {
  WireReader reader(bytes);
  while (reader.Next()) {
    const WireField& field = reader.field();
    if (field.number == 1) node->buffer_index = field.as_uint32();
    if (field.number == 2) {
      if (field.value > 2) return false;
      node->buffer_type = static_cast<ArrayEncoding::BufferType>(field.value);
    }
  }
  return reader.ok();
}

bool ParseFlat(std::string_view bytes, ArrayEncoding* node) {
  WireReader reader(bytes);
  while (reader.Next()) {
    const WireField& field = reader.field();
    if (field.number == 1) node->bits_per_value = field.value;
    if (field.number == 2 && !ParseBuffer(field.bytes, node)) return false;
    if (field.number == 3) {
      WireReader compression(field.bytes);
      while (compression.Next()) {
        if (compression.field().number == 1) node->compression = compression.field().as_string();
      }
      if (!compression.ok()) return false;
    }
  }
  return reader.ok();
}

// Nullable is a oneof of its own: no_nulls {1 values}, some_nulls {1 validity, 2 values},
// all_nulls.
bool ParseNullable(std::string_view bytes, int depth, ArrayEncoding* node) {
  WireReader reader(bytes);
  while (reader.Next()) {
    const uint32_t number = reader.field().number;
    if (number < 1 || number > 3) continue;
    node->nulls = static_cast<ArrayEncoding::Nulls>(number - 1);
    node->children.clear();
    WireReader inner(reader.field().bytes);
    while (inner.Next()) {
      if (inner.field().number <= 2 && !ParseChild(inner.field(), depth, node)) return false;
    }
    if (!inner.ok()) return false;
  }
  const size_t expected = node->nulls == ArrayEncoding::Nulls::kNone   ? 1
                          : node->nulls == ArrayEncoding::Nulls::kSome ? 2
                                                                       : 0;
  return reader.ok() && node->children.size() == expected;
}

bool ParseList(std::string_view bytes, int depth, ArrayEncoding* node) {
  WireReader reader(bytes);
  while (reader.Next()) {
    const WireField& field = reader.field();
    if (field.number == 1 && !ParseChild(field, depth, node)) return false;
    if (field.number == 2) node->null_adjustment = field.value;
    if (field.number == 3) node->num_items = field.value;
  }
  return reader.ok() && node->children.size() == 1;
}

bool ParseFixedSizeList(std::string_view bytes, int depth, ArrayEncoding* node) {
  WireReader reader(bytes);
  while (reader.Next()) {
    const WireField& field = reader.field();
    if (field.number == 1) node->dimension = field.value;
    if (field.number == 2 && !ParseChild(field, depth, node)) return false;
    if (field.number == 3) node->has_validity = field.as_bool();
  }
  return reader.ok() && node->children.size() == 1;
}

bool ParseBinaryOrDictionary(std::string_view bytes, int depth, ArrayEncoding* node) {
  WireReader reader(bytes);
  while (reader.Next()) {
    const WireField& field = reader.field();
    if (field.number <= 2 && !ParseChild(field, depth, node)) return false;
    if (field.number == 3) {
      (node->kind == Kind::kBinary ? node->null_adjustment : node->num_items) = field.value;
    }
  }
  return reader.ok() && node->children.size() == 2;
}

bool ParseFsst(std::string_view bytes, int depth, ArrayEncoding* node) {
  WireReader reader(bytes);
  while (reader.Next()) {
    const WireField& field = reader.field();
    if (field.number == 1 && !ParseChild(field, depth, node)) return false;
    if (field.number == 2) node->symbol_table = field.as_string();
  }
  return reader.ok() && node->children.size() == 1;
}

bool ParsePackedStruct(std::string_view bytes, int depth, ArrayEncoding* node) {
  WireReader reader(bytes);
  while (reader.Next()) {
    const WireField& field = reader.field();
    if (field.number == 1 && !ParseChild(field, depth, node)) return false;
    if (field.number == 2 && !ParseBuffer(field.bytes, node)) return false;
  }
  return reader.ok() && !node->children.empty();
}

bool ParseNode(std::string_view bytes, int depth, ArrayEncoding* node) {
  switch (node->kind) {
    case Kind::kFlat:
      return ParseFlat(bytes, node);
    case Kind::kNullable:
      return ParseNullable(bytes, depth, node);
    case Kind::kFixedSizeList:
      return ParseFixedSizeList(bytes, depth, node);
    case Kind::kList:
      return ParseList(bytes, depth, node);
    case Kind::kBinary:
    case Kind::kDictionary:
      return ParseBinaryOrDictionary(bytes, depth, node);
    case Kind::kFsst:
      return ParseFsst(bytes, depth, node);
    case Kind::kPackedStruct:
      return ParsePackedStruct(bytes, depth, node);
    default:
      return true;
  }
}

bool ParseTree(std::string_view bytes, int depth, ArrayEncoding* encoding) {
  if (depth > kMaxEncodingDepth) return false;
  WireReader reader(bytes);
  while (reader.Next()) {
    const WireField& field = reader.field();
    if (field.number > 13 || field.type != WireType::kBytes) continue;
    *encoding = ArrayEncoding{};
    encoding->kind = static_cast<Kind>(field.number);
    if (!ParseNode(field.bytes, depth, encoding)) return false;
  }
  return reader.ok();
}

}  // namespace

bool ParseArrayEncoding(std::string_view bytes, ArrayEncoding* encoding) {
  return ParseTree(bytes, 0, encoding);
}

}  // namespace kinjo::format::proto
