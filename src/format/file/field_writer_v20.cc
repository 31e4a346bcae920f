#include "format/file/field_writer_v20.h"

#include <span>
#include <utility>

#include "arrow/util/bit_util.h"
#include "format/file/array_page_encoder.h"
#include "format/file/arrow_values.h"
#include "format/file/dictionary_column.h"
#include "format/file/page_content.h"
#include "format/file/writable_schema.h"
#include "format/file/write_choices.h"
#include "format/proto/write_file_messages.h"

namespace kinjo::format::file {

namespace {

// Elements [begin, begin + count) of an array, from its own start.
struct ElementRun {
  int64_t begin = 0;
  int64_t count = 0;
};
using ElementRuns = std::vector<ElementRun>;

bool IsNullAt(const arrow::ArrayData& array, int64_t element) {
  if (array.type->id() == arrow::Type::NA) return true;
  const auto& bits = array.buffers[0];
  return bits != nullptr && !arrow::bit_util::GetBit(bits->data(), array.offset + element);
}

void AddRun(int64_t begin, int64_t count, ElementRuns* runs) {
  if (count == 0) return;
  if (!runs->empty() && runs->back().begin + runs->back().count == begin) {
    runs->back().count += count;
  } else {
    runs->push_back({begin, count});
  }
}

class FieldWriterV20 final : public FieldWriter {
 public:
  explicit FieldWriterV20(const FieldWriteContext& context) : context_(context) {}

  arrow::Status Init(const Field& field) { return MakeNode(field, field, &root_); }

  arrow::Status Add(const arrow::ArrayData& array, int64_t begin, int64_t count,
                    PageSink* pages) override {
    ARROW_RETURN_NOT_OK(Gather({{begin, count}}, array, &root_));
    return WriteFull(&root_, pages);
  }
  arrow::Status Flush(PageSink* pages) override { return WriteAll(&root_, pages); }
  uint64_t pending_bytes() const override { return BytesBelow(root_); }

 private:
  enum class Kind : uint8_t { kLeaf, kList, kStruct };
  struct Node {
    Kind kind = Kind::kLeaf;
    const Field* field = nullptr;
    uint32_t column = 0;
    std::vector<Node> children;
    uint64_t first_row = 0;
    uint64_t num_rows = 0;  // gathered
    // Of a leaf.
    std::unique_ptr<LeafColumn> leaf;
    std::unique_ptr<ColumnSink> sink;
    WriteChoices choices;
    // Of a list: where each ends, in items of the page, and which are null.
    std::vector<uint64_t> ends;
    std::vector<bool> is_null;
  };

  arrow::Status MakeNode(const Field& root, const Field& field, Node* node);
  arrow::Status Gather(const ElementRuns& runs, const arrow::ArrayData& array, Node* node);
  arrow::Status GatherLeaf(const ElementRuns& runs, const arrow::ArrayData& array, Node* node);
  template <typename Offset>
  arrow::Status GatherLists(const ElementRuns& runs, const arrow::ArrayData& array, Node* node);
  arrow::Status CheckNull(const Node& node) const;
  arrow::Status WriteFull(Node* node, PageSink* pages);
  arrow::Status WriteAll(Node* node, PageSink* pages);
  arrow::Status WritePage(Node* node, PageSink* pages);
  static uint64_t BytesOf(const Node& node);
  static uint64_t BytesBelow(const Node& node) {
    uint64_t bytes = BytesOf(node);
    for (const Node& child : node.children) bytes += BytesBelow(child);
    return bytes;
  }

  const FieldWriteContext& context_;
  Node root_;
};

arrow::Status FieldWriterV20::MakeNode(const Field& root, const Field& field, Node* node) {
  node->field = &field;
  node->column = context_.columns.at(field.id);
  ARROW_ASSIGN_OR_RAISE(const auto type, ToArrowType(field));
  const bool is_list = type->id() == arrow::Type::LIST || type->id() == arrow::Type::LARGE_LIST;
  if (is_list || type->id() == arrow::Type::STRUCT) {
    node->kind = is_list ? Kind::kList : Kind::kStruct;
    for (const Field& child : field.children) {
      node->children.emplace_back();
      ARROW_RETURN_NOT_OK(MakeNode(root, child, &node->children.back()));
    }
    return arrow::Status::OK();
  }
  node->leaf = std::make_unique<LeafColumn>();
  ARROW_ASSIGN_OR_RAISE(node->leaf->type, MakeLeafType(field.name, StoredType(type)));
  node->leaf->layers = {LayerKind::kItem};
  node->leaf->is_dictionary = type->id() == arrow::Type::DICTIONARY;
  node->sink = std::make_unique<ColumnSink>(*node->leaf, 0);
  ARROW_ASSIGN_OR_RAISE(node->choices, MakeWriteChoices(root, field, context_.version));
  return arrow::Status::OK();
}

arrow::Status FieldWriterV20::CheckNull(const Node& node) const {
  if (node.kind == Kind::kStruct) {
    return base::MakeError(base::ErrorCode::kNotSupported,
                           base::Concat("writing field '", node.field->name,
                                        "': a struct is null, and version 2.0 has no null structs"),
                           context_.path);
  }
  if (node.field->nullable) return arrow::Status::OK();
  return NullNotAllowed(*node.field, context_.path);
}

arrow::Status FieldWriterV20::GatherLeaf(const ElementRuns& runs, const arrow::ArrayData& array,
                                         Node* node) {
  ArrowValues values;
  ARROW_RETURN_NOT_OK(values.Open(*node->leaf, array));
  const Where where{.path = &context_.path, .column = node->column};
  Levels& levels = node->sink->levels;
  for (const ElementRun& run : runs) {
    for (int64_t i = run.begin; i < run.begin + run.count; ++i) {
      const bool is_null = IsNullAt(array, i) || (values.HasNullItems() && values.ItemIsNull(i));
      if (is_null) ARROW_RETURN_NOT_OK(CheckNull(*node));
      levels.def.push_back(is_null);
    }
    levels.num_entries += static_cast<uint64_t>(run.count);
    ARROW_RETURN_NOT_OK(values.Append(run.begin, run.count, where, &node->sink->values));
  }
  return arrow::Status::OK();
}

template <typename Offset>
arrow::Status FieldWriterV20::GatherLists(const ElementRuns& runs, const arrow::ArrayData& array,
                                          Node* node) {
  const auto* offsets = array.GetValues<Offset>(1);
  ElementRuns items;
  uint64_t end = node->ends.empty() ? 0 : node->ends.back();
  for (const ElementRun& run : runs) {
    for (int64_t i = run.begin; i < run.begin + run.count; ++i) {
      const bool is_null = IsNullAt(array, i);
      if (is_null) ARROW_RETURN_NOT_OK(CheckNull(*node));
      if (!is_null) {
        const int64_t length = offsets[i + 1] - offsets[i];
        AddRun(offsets[i], length, &items);
        end += static_cast<uint64_t>(length);
      }
      node->ends.push_back(end);
      node->is_null.push_back(is_null);
    }
  }
  return Gather(items, *array.child_data[0], node->children.data());
}

arrow::Status FieldWriterV20::Gather(const ElementRuns& runs, const arrow::ArrayData& array,
                                     Node* node) {
  for (const ElementRun& run : runs) node->num_rows += static_cast<uint64_t>(run.count);
  switch (node->kind) {
    case Kind::kLeaf:
      return GatherLeaf(runs, array, node);
    case Kind::kList:
      return array.type->id() == arrow::Type::LARGE_LIST ? GatherLists<int64_t>(runs, array, node)
                                                         : GatherLists<int32_t>(runs, array, node);
    case Kind::kStruct:
      break;
  }
  ElementRuns children;
  for (const ElementRun& run : runs) {
    for (int64_t i = run.begin; i < run.begin + run.count; ++i) {
      if (IsNullAt(array, i)) return CheckNull(*node);
    }
    children.push_back({run.begin + array.offset, run.count});
  }
  for (size_t i = 0; i < node->children.size(); ++i) {
    ARROW_RETURN_NOT_OK(Gather(children, *array.child_data[i], &node->children[i]));
  }
  return arrow::Status::OK();
}

uint64_t FieldWriterV20::BytesOf(const Node& node) {
  if (node.sink == nullptr) return node.ends.size() * sizeof(uint64_t);
  return node.sink->values.gathered_bytes() + 2 * node.sink->levels.def.size();
}

arrow::Status FieldWriterV20::WriteFull(Node* node, PageSink* pages) {
  if (BytesOf(*node) >= context_.page_bytes) ARROW_RETURN_NOT_OK(WritePage(node, pages));
  for (Node& child : node->children) ARROW_RETURN_NOT_OK(WriteFull(&child, pages));
  return arrow::Status::OK();
}

arrow::Status FieldWriterV20::WriteAll(Node* node, PageSink* pages) {
  if (node->num_rows != 0) ARROW_RETURN_NOT_OK(WritePage(node, pages));
  for (Node& child : node->children) ARROW_RETURN_NOT_OK(WriteAll(&child, pages));
  return arrow::Status::OK();
}

arrow::Status FieldWriterV20::WritePage(Node* node, PageSink* pages) {
  EncodedArrayPage page;
  if (node->kind == Kind::kStruct) {
    page.encoding.kind = proto::ArrayEncoding::Kind::kStruct;
  } else if (node->kind == Kind::kList) {
    page.encoding.kind = proto::ArrayEncoding::Kind::kList;
    page.encoding.num_items = node->ends.back();
    page.encoding.null_adjustment = page.encoding.num_items + 1;
    for (size_t i = 0; i < node->ends.size(); ++i) {
      if (node->is_null[i]) node->ends[i] += page.encoding.null_adjustment;
    }
    page.encoding.children.push_back(FlatWithoutNulls(64, 0));
    page.buffers.push_back(BufferOfNumbers(node->ends));
    node->ends.clear();
    node->is_null.clear();
  } else {
    ARROW_ASSIGN_OR_RAISE(const PageContent content,
                          MakePageContent(*node->leaf, node->num_rows, node->sink.get()));
    node->sink = std::make_unique<ColumnSink>(*node->leaf, 0);
    page = EncodeArrayPage(content, node->choices);
  }
  proto::Encoding encoding{.kind = proto::Encoding::Kind::kDirect,
                           .type_url = "/lance.encodings.ArrayEncoding",
                           .value = proto::Write(page.encoding)};
  ARROW_RETURN_NOT_OK(pages->AddPage(node->column, page.buffers, std::move(encoding),
                                     node->num_rows, node->first_row));
  node->first_row += node->num_rows;
  node->num_rows = 0;
  return arrow::Status::OK();
}

}  // namespace

arrow::Result<std::unique_ptr<FieldWriter>> MakeFieldWriterV20(const Field& field,
                                                               const FieldWriteContext& context) {
  auto writer = std::make_unique<FieldWriterV20>(context);
  ARROW_RETURN_NOT_OK(writer->Init(field));
  return writer;
}

}  // namespace kinjo::format::file
