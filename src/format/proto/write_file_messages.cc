#include "format/proto/write_file_messages.h"

#include <span>

#include "format/proto/wire_writer.h"

namespace kinjo::format::proto {

namespace {

// lance.file.v2.Encoding with an Any inside, or no encoding at all.
WireWriter EncodingMessage(const Encoding& encoding) {
  if (encoding.kind != Encoding::Kind::kDirect) return WireWriter().PresentBytes(3, {});
  const WireWriter any = WireWriter().Bytes(1, encoding.type_url).Bytes(2, encoding.value);
  return WireWriter().Message(2, WireWriter().Message(1, any));
}

WireWriter PageMessage(const Page& page) {
  WireWriter message;
  message.PackedNumbers(1, std::span<const uint64_t>(page.buffer_offsets))
      .PackedNumbers(2, std::span<const uint64_t>(page.buffer_sizes))
      .Number(3, page.length)
      .Message(4, EncodingMessage(page.encoding))
      .Number(5, page.priority);
  return message;
}

WireWriter TreeMessage(const CompressiveEncoding& encoding);

WireWriter NodeMessage(const CompressiveEncoding& node) {
  using Kind = CompressiveEncoding::Kind;
  WireWriter message;
  const auto child = [&](uint32_t field, size_t number) {
    message.Message(field, TreeMessage(node.children[number]));
  };
  switch (node.kind) {
    case Kind::kFlat:
    case Kind::kInlineBitpacking:
      message.Number(1, node.bits);
      break;
    case Kind::kVariable:
    case Kind::kByteStreamSplit:
      child(1, 0);
      break;
    case Kind::kConstant:
      if (node.value) message.PresentBytes(1, *node.value);
      break;
    case Kind::kOutOfLineBitpacking:
      message.Number(1, node.bits);
      child(3, 0);
      break;
    case Kind::kFsst:
      message.Bytes(1, node.symbol_table);
      child(2, 0);
      break;
    case Kind::kRle:
      child(1, 0);
      child(2, 1);
      break;
    case Kind::kGeneral:
      message.Message(1, WireWriter().Number(1, static_cast<uint64_t>(node.scheme)));
      child(3, 0);
      break;
    case Kind::kFixedSizeList:
      message.Number(1, node.items_per_value);
      child(2, 0);
      message.Bool(3, node.has_validity);
      break;
    default:
      break;
  }
  return message;
}

WireWriter TreeMessage(const CompressiveEncoding& encoding) {
  return WireWriter().Message(static_cast<uint32_t>(encoding.kind), NodeMessage(encoding));
}

void AppendLayers(uint32_t field, const std::vector<RepDefLayer>& layers, WireWriter* message) {
  std::vector<uint64_t> numbers;
  numbers.reserve(layers.size());
  for (const RepDefLayer layer : layers) numbers.push_back(static_cast<uint64_t>(layer));
  message->PackedNumbers(field, std::span<const uint64_t>(numbers));
}

void AppendTree(uint32_t field, const std::optional<CompressiveEncoding>& encoding,
                WireWriter* message) {
  if (encoding) message->Message(field, TreeMessage(*encoding));
}

WireWriter LayoutMessage(const MiniBlockLayout& layout) {
  WireWriter message;
  AppendTree(1, layout.rep_compression, &message);
  AppendTree(2, layout.def_compression, &message);
  message.Message(3, TreeMessage(layout.value_compression));
  AppendTree(4, layout.dictionary, &message);
  message.Number(5, layout.num_dictionary_items);
  AppendLayers(6, layout.layers, &message);
  message.Number(7, layout.num_buffers)
      .Number(8, layout.repetition_index_depth)
      .Number(9, layout.num_items)
      .Bool(10, layout.has_large_chunk);
  return message;
}

WireWriter LayoutMessage(const FullZipLayout& layout) {
  WireWriter message;
  message.Number(1, layout.bits_rep).Number(2, layout.bits_def);
  // One of the two is always there: they are a oneof.
  if (layout.bits_per_offset == 0) {
    message.PresentNumber(3, layout.bits_per_value);
  } else {
    message.PresentNumber(4, layout.bits_per_offset);
  }
  message.Number(5, layout.num_items).Number(6, layout.num_visible_items);
  message.Message(7, TreeMessage(layout.value_compression));
  AppendLayers(8, layout.layers, &message);
  return message;
}

WireWriter LayoutMessage(const ConstantLayout& layout) {
  WireWriter message;
  AppendLayers(5, layout.layers, &message);
  if (layout.inline_value) message.PresentBytes(6, *layout.inline_value);
  AppendTree(7, layout.rep_compression, &message);
  AppendTree(8, layout.def_compression, &message);
  message.Number(9, layout.num_rep_values).Number(10, layout.num_def_values);
  return message;
}

WireWriter ArrayMessage(const ArrayEncoding& encoding);

WireWriter ArrayNodeMessage(const ArrayEncoding& node) {
  using Kind = ArrayEncoding::Kind;
  WireWriter message;
  const auto child = [&](WireWriter* parent, uint32_t field, size_t number) {
    parent->Message(field, ArrayMessage(node.children[number]));
  };
  switch (node.kind) {
    case Kind::kFlat:
      message.Number(1, node.bits_per_value)
          .Message(2, WireWriter()
                          .Number(1, node.buffer_index)
                          .Number(2, static_cast<uint64_t>(node.buffer_type)));
      if (!node.compression.empty()) {
        message.Message(3, WireWriter().Bytes(1, node.compression));
      }
      break;
    case Kind::kNullable: {
      WireWriter inner;
      for (size_t i = 0; i < node.children.size(); ++i) {
        child(&inner, static_cast<uint32_t>(i) + 1, i);
      }
      message.Message(static_cast<uint32_t>(node.nulls) + 1, inner);
      break;
    }
    case Kind::kFixedSizeList:
      message.Number(1, node.dimension);
      child(&message, 2, 0);
      message.Bool(3, node.has_validity);
      break;
    case Kind::kList:
      child(&message, 1, 0);
      message.Number(2, node.null_adjustment).Number(3, node.num_items);
      break;
    case Kind::kBinary:
    case Kind::kDictionary:
      child(&message, 1, 0);
      child(&message, 2, 1);
      message.Number(3, node.kind == Kind::kBinary ? node.null_adjustment : node.num_items);
      break;
    case Kind::kFsst:
      child(&message, 1, 0);
      message.Bytes(2, node.symbol_table);
      break;
    default:
      break;
  }
  return message;
}

WireWriter ArrayMessage(const ArrayEncoding& encoding) {
  return WireWriter().Message(static_cast<uint32_t>(encoding.kind), ArrayNodeMessage(encoding));
}

void AppendFields(const std::vector<Field>& fields, WireWriter* schema) {
  for (const Field& field : fields) {
    WireWriter message;
    WriteField(field, &message);
    schema->Message(1, message);
    AppendFields(field.children, schema);
  }
}

}  // namespace

std::string Write(const FileDescriptor& descriptor) {
  WireWriter schema;
  AppendFields(descriptor.fields, &schema);
  schema.Map(5, descriptor.metadata);
  return WireWriter().Message(1, schema).Number(2, descriptor.num_rows).text();
}

std::string Write(const ColumnMetadata& metadata) {
  WireWriter message;
  message.Message(1, EncodingMessage(metadata.encoding));
  for (const Page& page : metadata.pages) message.Message(2, PageMessage(page));
  return std::move(message).text();
}

std::string Write(const CompressiveEncoding& encoding) { return TreeMessage(encoding).text(); }

std::string Write(const PageLayout& layout) {
  const auto number = static_cast<uint32_t>(layout.kind);
  switch (layout.kind) {
    case PageLayout::Kind::kMiniBlock:
      return WireWriter().Message(number, LayoutMessage(layout.mini_block)).text();
    case PageLayout::Kind::kConstant:
      return WireWriter().Message(number, LayoutMessage(layout.constant)).text();
    case PageLayout::Kind::kFullZip:
      return WireWriter().Message(number, LayoutMessage(layout.full_zip)).text();
    default:
      return {};
  }
}

std::string Write(const ArrayEncoding& encoding) { return ArrayMessage(encoding).text(); }

}  // namespace kinjo::format::proto
