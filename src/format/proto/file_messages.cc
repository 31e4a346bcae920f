#include "format/proto/file_messages.h"

#include <initializer_list>
#include <sstream>

#include "format/proto/wire.h"
#include "format/proto/wire_writer.h"

namespace kinjo::format::proto {

namespace {

bool IsBytes(const WireField& field) { return field.type == WireType::kBytes; }

// Parses field.bytes with `parse` into an optional.
template <typename T, typename Parse>
bool ParseInto(const WireField& field, std::optional<T>* target, Parse parse) {
  target->emplace();
  return IsBytes(field) && parse(field.bytes, &**target);
}

bool ParseSchema(std::string_view bytes, FileDescriptor* descriptor) {
  WireReader reader(bytes);
  while (reader.Next()) {
    const WireField& field = reader.field();
    if (field.number == 1) {
      descriptor->fields.emplace_back();
      if (!IsBytes(field) || !ParseField(field.bytes, &descriptor->fields.back())) return false;
    } else if (field.number == 5) {
      if (!IsBytes(field) || !ParseMapEntry(field.bytes, &descriptor->metadata)) return false;
    }
  }
  return reader.ok();
}

bool ParseAny(std::string_view bytes, Encoding* encoding) {
  WireReader reader(bytes);
  while (reader.Next()) {
    const WireField& field = reader.field();
    if (field.number == 1) encoding->type_url = field.as_string();
    if (field.number == 2) encoding->value = field.as_string();
  }
  return reader.ok();
}

bool ParseDirect(std::string_view bytes, Encoding* encoding) {
  WireReader reader(bytes);
  while (reader.Next()) {
    if (reader.field().number == 1 && !ParseAny(reader.field().bytes, encoding)) return false;
  }
  return reader.ok();
}

bool ParseEncoding(std::string_view bytes, Encoding* encoding) {
  WireReader reader(bytes);
  while (reader.Next()) {
    const WireField& field = reader.field();
    if (field.number == 1) {
      encoding->kind = Encoding::Kind::kIndirect;
    } else if (field.number == 2) {
      encoding->kind = Encoding::Kind::kDirect;
      if (!ParseDirect(field.bytes, encoding)) return false;
    } else if (field.number == 3) {
      encoding->kind = Encoding::Kind::kNone;
    }
  }
  return reader.ok();
}

bool ParsePage(std::string_view bytes, Page* page) {
  WireReader reader(bytes);
  while (reader.Next()) {
    const WireField& field = reader.field();
    bool ok = true;
    switch (field.number) {
      case 1:
        ok = AppendVarints(field, &page->buffer_offsets);
        break;
      case 2:
        ok = AppendVarints(field, &page->buffer_sizes);
        break;
      case 3:
        page->length = field.value;
        break;
      case 4:
        ok = ParseEncoding(field.bytes, &page->encoding);
        break;
      case 5:
        page->priority = field.value;
        break;
      default:
        break;
    }
    if (!ok) return false;
  }
  return reader.ok() && page->buffer_offsets.size() == page->buffer_sizes.size();
}

bool ParseTree(std::string_view bytes, int depth, CompressiveEncoding* encoding);

// The scheme of a BufferCompression {1 scheme, 2 level}.
bool ParseScheme(std::string_view bytes, CompressionScheme* scheme) {
  WireReader reader(bytes);
  while (reader.Next()) {
    if (reader.field().number == 1) *scheme = static_cast<CompressionScheme>(reader.field().value);
  }
  return reader.ok();
}

// The numbers under which one kind of node keeps its parts; 0 where it has no such part.
struct NodeShape {
  uint32_t bits = 0;
  uint32_t compression = 0;
  uint32_t first_child = 0;
  uint32_t second_child = 0;
};

NodeShape ShapeOf(CompressiveEncoding::Kind kind) {
  using Kind = CompressiveEncoding::Kind;
  switch (kind) {
    case Kind::kFlat:
    case Kind::kInlineBitpacking:
      return {.bits = 1, .compression = 2};
    case Kind::kVariable:
      return {.compression = 2, .first_child = 1};
    case Kind::kOutOfLineBitpacking:
      return {.bits = 1, .first_child = 3};
    case Kind::kFsst:
      return {.first_child = 2};
    case Kind::kRle:
      return {.first_child = 1, .second_child = 2};
    case Kind::kByteStreamSplit:
      return {.first_child = 1};
    case Kind::kGeneral:
      return {.compression = 1, .first_child = 3};
    case Kind::kFixedSizeList:
    case Kind::kPackedStruct:
      return {.first_child = 2};
    default:
      return {};
  }
}

// A child of a variable packed struct: {1 values, 2 bits of a value or 3 bits of its length}.
bool ParsePackedChild(std::string_view bytes, int depth, CompressiveEncoding* node) {
  CompressiveEncoding::PackedWidth width;
  std::optional<CompressiveEncoding> values;
  WireReader reader(bytes);
  while (reader.Next()) {
    const WireField& field = reader.field();
    const auto parse = [depth](std::string_view child, CompressiveEncoding* target) {
      return ParseTree(child, depth + 1, target);
    };
    if (field.number == 1 && !ParseInto(field, &values, parse)) return false;
    if (field.number == 2) width.value_bits = field.value;
    if (field.number == 3) width.length_bits = field.value;
  }
  if (!values) return false;
  node->children.push_back(std::move(*values));
  node->packed_widths.push_back(width);
  return reader.ok();
}

// Parts of a node that only one kind has.
void ParseOwnPart(const WireField& field, CompressiveEncoding* node) {
  using Kind = CompressiveEncoding::Kind;
  if (node->kind == Kind::kConstant && field.number == 1) node->value = field.as_string();
  if (node->kind == Kind::kFsst && field.number == 1) node->symbol_table = field.as_string();
  if (node->kind == Kind::kFixedSizeList) {
    if (field.number == 1) node->items_per_value = field.value;
    if (field.number == 3) node->has_validity = field.as_bool();
  }
}

bool ParseNode(std::string_view bytes, int depth, CompressiveEncoding* node) {
  const NodeShape shape = ShapeOf(node->kind);
  std::optional<CompressiveEncoding> first;
  std::optional<CompressiveEncoding> second;
  WireReader reader(bytes);
  while (reader.Next()) {
    const WireField& field = reader.field();
    const auto parse = [depth](std::string_view child, CompressiveEncoding* target) {
      return ParseTree(child, depth + 1, target);
    };
    bool ok = true;
    if (node->kind == CompressiveEncoding::Kind::kVariablePackedStruct && field.number == 1) {
      ok = IsBytes(field) && ParsePackedChild(field.bytes, depth, node);
    } else if (field.number == shape.bits) {
      node->bits = field.value;
    } else if (field.number == shape.first_child) {
      ok = ParseInto(field, &first, parse);
    } else if (field.number == shape.second_child) {
      ok = ParseInto(field, &second, parse);
    } else if (field.number == shape.compression) {
      node->compressed = true;
      ok = ParseScheme(field.bytes, &node->scheme);
    } else {
      ParseOwnPart(field, node);
    }
    if (!ok) return false;
  }
  if (shape.first_child != 0) {
    if (!first) return false;
    node->children.push_back(std::move(*first));
  }
  if (shape.second_child != 0) {
    if (!second) return false;
    node->children.push_back(std::move(*second));
  }
  return reader.ok();
}

bool ParseTree(std::string_view bytes, int depth, CompressiveEncoding* encoding) {
  if (depth > kMaxEncodingDepth) return false;
  WireReader reader(bytes);
  while (reader.Next()) {
    const WireField& field = reader.field();
    if (field.number > 13 || !IsBytes(field)) continue;
    *encoding = CompressiveEncoding{};
    encoding->kind = static_cast<CompressiveEncoding::Kind>(field.number);
    if (!ParseNode(field.bytes, depth, encoding)) return false;
  }
  return reader.ok();
}

bool AppendLayers(const WireField& field, std::vector<RepDefLayer>* layers) {
  std::vector<uint32_t> numbers;
  if (!AppendVarints(field, &numbers)) return false;
  for (const uint32_t number : numbers) {
    if (number < 1 || number > 6) return false;
    layers->push_back(static_cast<RepDefLayer>(number));
  }
  return true;
}

bool ParseMiniBlock(std::string_view bytes, MiniBlockLayout* layout) {
  WireReader reader(bytes);
  while (reader.Next()) {
    const WireField& field = reader.field();
    bool ok = true;
    switch (field.number) {
      case 1:
        ok = ParseInto(field, &layout->rep_compression, ParseCompressiveEncoding);
        break;
      case 2:
        ok = ParseInto(field, &layout->def_compression, ParseCompressiveEncoding);
        break;
      case 3:
        ok = ParseCompressiveEncoding(field.bytes, &layout->value_compression);
        break;
      case 4:
        ok = ParseInto(field, &layout->dictionary, ParseCompressiveEncoding);
        break;
      case 5:
        layout->num_dictionary_items = field.value;
        break;
      case 6:
        ok = AppendLayers(field, &layout->layers);
        break;
      case 7:
        layout->num_buffers = field.value;
        break;
      case 8:
        layout->repetition_index_depth = field.as_uint32();
        break;
      case 9:
        layout->num_items = field.value;
        break;
      case 10:
        layout->has_large_chunk = field.as_bool();
        break;
      default:
        break;
    }
    if (!ok) return false;
  }
  return reader.ok();
}

bool ParseFullZip(std::string_view bytes, FullZipLayout* layout) {
  WireReader reader(bytes);
  while (reader.Next()) {
    const WireField& field = reader.field();
    bool ok = true;
    switch (field.number) {
      case 1:
        layout->bits_rep = field.as_uint32();
        break;
      case 2:
        layout->bits_def = field.as_uint32();
        break;
      case 3:
        layout->bits_per_value = field.as_uint32();
        break;
      case 4:
        layout->bits_per_offset = field.as_uint32();
        break;
      case 5:
        layout->num_items = field.as_uint32();
        break;
      case 6:
        layout->num_visible_items = field.as_uint32();
        break;
      case 7:
        ok = ParseCompressiveEncoding(field.bytes, &layout->value_compression);
        break;
      case 8:
        ok = AppendLayers(field, &layout->layers);
        break;
      default:
        break;
    }
    if (!ok) return false;
  }
  return reader.ok();
}

bool ParseConstant(std::string_view bytes, ConstantLayout* layout) {
  WireReader reader(bytes);
  while (reader.Next()) {
    const WireField& field = reader.field();
    bool ok = true;
    switch (field.number) {
      case 5:
        ok = AppendLayers(field, &layout->layers);
        break;
      case 6:
        layout->inline_value = field.as_string();
        break;
      case 7:
        ok = ParseInto(field, &layout->rep_compression, ParseCompressiveEncoding);
        break;
      case 8:
        ok = ParseInto(field, &layout->def_compression, ParseCompressiveEncoding);
        break;
      case 9:
        layout->num_rep_values = field.value;
        break;
      case 10:
        layout->num_def_values = field.value;
        break;
      default:
        break;
    }
    if (!ok) return false;
  }
  return reader.ok();
}

// {1 layout of the places, 2 layers}.
bool ParseBlob(std::string_view bytes, PageLayout* layout) {
  WireReader reader(bytes);
  while (reader.Next()) {
    if (reader.field().number != 1) continue;
    auto places = std::make_shared<PageLayout>();
    WireReader inner(reader.field().bytes);
    while (inner.Next()) {
      if (inner.field().number == static_cast<uint32_t>(PageLayout::Kind::kBlob)) return false;
    }
    if (!inner.ok() || !ParsePageLayout(reader.field().bytes, places.get())) return false;
    layout->places = std::move(places);
  }
  return reader.ok();
}

}  // namespace

bool ParseMapEntry(std::string_view bytes, std::map<std::string, std::string>* map) {
  std::string key;
  std::string value;
  WireReader reader(bytes);
  while (reader.Next()) {
    if (reader.field().number == 1) key = reader.field().as_string();
    if (reader.field().number == 2) value = reader.field().as_string();
  }
  (*map)[std::move(key)] = std::move(value);
  return reader.ok();
}

bool ParseField(std::string_view bytes, Field* field) {
  field->nullable = false;  // proto3: absent means false
  field->id = 0;
  field->parent_id = 0;
  WireReader reader(bytes);
  while (reader.Next()) {
    const WireField& part = reader.field();
    switch (part.number) {
      case 2:
        field->name = part.as_string();
        break;
      case 3:
        field->id = part.as_int32();
        break;
      case 4:
        field->parent_id = part.as_int32();
        break;
      case 5:
        field->logical_type = part.as_string();
        break;
      case 6:
        field->nullable = part.as_bool();
        break;
      case 10:
        if (!ParseMapEntry(part.bytes, &field->metadata)) return false;
        break;
      default:
        field->unread += reader.encoded();
        break;
    }
  }
  return reader.ok();
}

void WriteField(const Field& field, WireWriter* message) {
  message->Bytes(2, field.name)
      .SignedNumber(3, field.id)
      .SignedNumber(4, field.parent_id)
      .Bytes(5, field.logical_type)
      .Bool(6, field.nullable)
      .Map(10, field.metadata)
      .Fields(field.unread);
}

bool ParseFileDescriptor(std::string_view bytes, FileDescriptor* descriptor) {
  WireReader reader(bytes);
  while (reader.Next()) {
    const WireField& field = reader.field();
    if (field.number == 1 && !ParseSchema(field.bytes, descriptor)) return false;
    if (field.number == 2) descriptor->num_rows = field.value;
  }
  return reader.ok();
}

bool ParseColumnMetadata(std::string_view bytes, ColumnMetadata* metadata) {
  WireReader reader(bytes);
  while (reader.Next()) {
    const WireField& field = reader.field();
    if (field.number == 1 && !ParseEncoding(field.bytes, &metadata->encoding)) return false;
    if (field.number == 2) {
      metadata->pages.emplace_back();
      if (!IsBytes(field) || !ParsePage(field.bytes, &metadata->pages.back())) return false;
    }
  }
  return reader.ok();
}

bool ParseCompressiveEncoding(std::string_view bytes, CompressiveEncoding* encoding) {
  return ParseTree(bytes, 0, encoding);
}

bool ParsePageLayout(std::string_view bytes, PageLayout* layout) {
  WireReader reader(bytes);
  while (reader.Next()) {
    const WireField& field = reader.field();
    if (!IsBytes(field) || field.number > 4) continue;
    layout->kind = static_cast<PageLayout::Kind>(field.number);
    bool ok = true;
    if (layout->kind == PageLayout::Kind::kMiniBlock) {
      ok = ParseMiniBlock(field.bytes, &layout->mini_block);
    } else if (layout->kind == PageLayout::Kind::kConstant) {
      ok = ParseConstant(field.bytes, &layout->constant);
    } else if (layout->kind == PageLayout::Kind::kFullZip) {
      ok = ParseFullZip(field.bytes, &layout->full_zip);
    } else if (layout->kind == PageLayout::Kind::kBlob) {
      ok = ParseBlob(field.bytes, layout);
    }
    if (!ok) return false;
  }
  return reader.ok();
}

}  // namespace kinjo::format::proto
