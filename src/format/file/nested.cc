#include "format/file/nested.h"

#include <limits>
#include <utility>

#include "arrow/array/util.h"
#include "arrow/util/bit_util.h"
#include "arrow/util/bitmap_generate.h"
#include "format/file/blob_column.h"
#include "format/file/dictionary_column.h"
#include "format/file/packed_struct.h"

namespace kinjo::format::file {

namespace {

arrow::Status AddLeaf(const Field& field, uint32_t column, SchemaLayers layers_from_top,
                      FieldNode* node, FieldPlan* plan) {
  StoredLeaf leaf{.field = &field, .column = column, .shape = {}};
  auto stored = StoredType(node->type);
  const BlobForm blob = BlobFormOf(field);
  if (blob != BlobForm::kNone) stored = BlobPlaceType(blob);
  if (stored->id() == arrow::Type::STRUCT) {
    ARROW_ASSIGN_OR_RAISE(stored, PackedRowType(field.name, *stored));
  }
  ARROW_ASSIGN_OR_RAISE(leaf.shape.type, MakeLeafType(field.name, stored));
  leaf.shape.is_dictionary = node->type->id() == arrow::Type::DICTIONARY;
  leaf.shape.layers.assign(layers_from_top.rbegin(), layers_from_top.rend());
  node->kind = FieldNode::Kind::kLeaf;
  node->leaf = plan->leaves.size();
  plan->leaves.push_back(std::move(leaf));
  return arrow::Status::OK();
}

arrow::Status PlanNode(const Field& field, const ColumnMap& columns, SchemaLayers layers_from_top,
                       FieldNode* node, FieldPlan* plan) {
  node->field = &field;
  node->depth = layers_from_top.size();
  ARROW_ASSIGN_OR_RAISE(node->type, ToArrowType(field));
  const auto found = columns.find(field.id);
  if (found != columns.end() || field.children.empty()) {
    layers_from_top.push_back(LayerKind::kItem);
    if (found == columns.end()) return arrow::Status::OK();
    return AddLeaf(field, found->second, std::move(layers_from_top), node, plan);
  }
  const auto id = node->type->id();
  const bool is_list =
      id == arrow::Type::LIST || id == arrow::Type::LARGE_LIST || id == arrow::Type::MAP;
  if (!is_list && id != arrow::Type::STRUCT) {
    return base::NotSupported("field '", field.name, "': values of type ", node->type->ToString(),
                              " aren't read");
  }
  layers_from_top.push_back(is_list ? LayerKind::kList : LayerKind::kItem);
  for (const Field& child : field.children) {
    node->children.emplace_back();
    FieldNode* made = &node->children.back();
    ARROW_RETURN_NOT_OK(PlanNode(child, columns, layers_from_top, made, plan));
    if (node->leaf == FieldNode::kNoLeaf) node->leaf = made->leaf;
  }
  if (node->leaf != FieldNode::kNoLeaf) {
    node->kind = is_list ? FieldNode::Kind::kList : FieldNode::Kind::kStruct;
  }
  return arrow::Status::OK();
}

// How the levels of one leaf read at one layer.
class LayerView {
 public:
  LayerView(const SchemaLayers& layers, const Levels& levels, size_t layer)
      : levels_(levels), exists_(1, true), null_(1, false) {
    for (size_t i = 0; i <= layer; ++i) min_rep_ += layers[i] == LayerKind::kList;
    bool list_between = false;  // in layer + 1..j
    for (size_t j = 0; j < layers.size(); ++j) {
      const bool is_list = layers[j] == LayerKind::kList;
      list_between = list_between || (j > layer && is_list);
      exists_.push_back(!list_between);
      null_.push_back(j >= layer);
      if (is_list) {
        exists_.push_back(!list_between);
        null_.push_back(j > layer);
      }
    }
  }

  // Entry e starts an element of the layer.
  bool Starts(uint64_t e) const {
    return (levels_.rep.empty() || levels_.rep[e] >= min_rep_) && exists_[Def(e)] != 0;
  }
  bool IsNull(uint64_t e) const { return null_[Def(e)] != 0; }
  // Every entry is an element and none is null.
  bool IsPlain() const { return levels_.def.empty() && (levels_.rep.empty() || min_rep_ == 0); }

 private:
  uint16_t Def(uint64_t e) const { return levels_.def.empty() ? 0 : levels_.def[e]; }

  const Levels& levels_;
  uint16_t min_rep_ = 0;
  // By renumbered definition level.
  std::vector<uint8_t> exists_;
  std::vector<uint8_t> null_;
};

struct Elements {
  uint64_t count = 0;
  uint64_t null_count = 0;
  std::shared_ptr<arrow::Buffer> validity;  // null: all valid
};

// Counts the elements of a layer and gathers their validity.
arrow::Result<Elements> FindElements(const LayerView& view, const Levels& levels) {
  Elements elements;
  if (view.IsPlain()) {
    elements.count = levels.num_entries;
    return elements;
  }
  ARROW_ASSIGN_OR_RAISE(elements.validity,
                        arrow::AllocateEmptyBitmap(static_cast<int64_t>(levels.num_entries)));
  uint8_t* bits = elements.validity->mutable_data();
  for (uint64_t e = 0; e < levels.num_entries; ++e) {
    if (!view.Starts(e)) continue;
    if (view.IsNull(e)) {
      ++elements.null_count;
    } else {
      arrow::bit_util::SetBit(bits, static_cast<int64_t>(elements.count));
    }
    ++elements.count;
  }
  if (elements.null_count == 0) elements.validity = nullptr;
  return elements;
}

class ArrayBuilding {
 public:
  ArrayBuilding(const FieldPlan& plan, std::vector<std::unique_ptr<ColumnSink>>* sinks,
                const std::string& path, io::RandomReader* blobs)
      : plan_(plan), sinks_(*sinks), path_(path), blobs_(blobs) {}

  arrow::Result<std::shared_ptr<arrow::ArrayData>> Build(const FieldNode& node);

 private:
  arrow::Result<std::shared_ptr<arrow::ArrayData>> BuildLeaf(const FieldNode& node,
                                                             Elements elements);
  arrow::Result<std::shared_ptr<arrow::ArrayData>> BuildStruct(const FieldNode& node,
                                                               Elements elements);
  arrow::Result<std::shared_ptr<arrow::ArrayData>> BuildList(const FieldNode& node,
                                                             Elements elements);
  template <typename T>
  arrow::Result<std::shared_ptr<arrow::Buffer>> MakeOffsets(const FieldNode& node, uint64_t count);

  const Levels& LevelsOf(const FieldNode& node) const { return sinks_[node.leaf]->levels; }
  LayerView View(const FieldNode& node, size_t depth) const {
    const SchemaLayers& layers = plan_.leaves[node.leaf].shape.layers;
    return LayerView(layers, LevelsOf(node), layers.size() - 1 - depth);
  }
  Where At(const FieldNode& node) const {
    return Where{.path = &path_, .column = plan_.leaves[node.leaf].column};
  }

  const FieldPlan& plan_;
  std::vector<std::unique_ptr<ColumnSink>>& sinks_;
  const std::string& path_;
  io::RandomReader* const blobs_;
};

arrow::Result<std::shared_ptr<arrow::ArrayData>> ArrayBuilding::Build(const FieldNode& node) {
  ARROW_ASSIGN_OR_RAISE(Elements elements, FindElements(View(node, node.depth), LevelsOf(node)));
  switch (node.kind) {
    case FieldNode::Kind::kLeaf:
      return BuildLeaf(node, std::move(elements));
    case FieldNode::Kind::kStruct:
      return BuildStruct(node, std::move(elements));
    default:
      return BuildList(node, std::move(elements));
  }
}

arrow::Result<std::shared_ptr<arrow::ArrayData>> ArrayBuilding::BuildLeaf(const FieldNode& node,
                                                                          Elements elements) {
  ValueSink& values = sinks_[node.leaf]->values;
  if (values.size() != elements.count) {
    return At(node).Corrupt("the levels of the rows own ", elements.count, " values, where ",
                            values.size(), " were read");
  }
  ARROW_ASSIGN_OR_RAISE(auto made, values.Finish(std::move(elements.validity),
                                                 static_cast<int64_t>(elements.null_count)));
  if (node.type->id() == arrow::Type::DICTIONARY) return EncodeDictionary(node.type, made);
  if (node.type->id() == arrow::Type::STRUCT) return UnpackStruct(node.type, *made, At(node));
  const BlobForm blob = BlobFormOf(*node.field);
  if (blob == BlobForm::kNone) return made;
  if (blobs_ == nullptr || node.depth > 0) {
    return At(node).NotSupported("field '", node.field->name, "': blobs within lists or structs");
  }
  return ReadBlobs(node.type, blob, *made, blobs_, At(node));
}

arrow::Result<std::shared_ptr<arrow::ArrayData>> ArrayBuilding::BuildStruct(const FieldNode& node,
                                                                            Elements elements) {
  const auto length = static_cast<int64_t>(elements.count);
  auto made = arrow::ArrayData::Make(node.type, length, {std::move(elements.validity)},
                                     static_cast<int64_t>(elements.null_count));
  for (const FieldNode& child : node.children) {
    if (child.kind == FieldNode::Kind::kMissing) {
      ARROW_ASSIGN_OR_RAISE(auto nulls, arrow::MakeArrayOfNull(child.type, length));
      made->child_data.push_back(nulls->data());
      continue;
    }
    ARROW_ASSIGN_OR_RAISE(auto built, Build(child));
    if (built->length != length) {
      return At(child).Corrupt("field '", child.field->name, "' has ", built->length, " values in ",
                               length, " structs");
    }
    made->child_data.push_back(std::move(built));
  }
  return made;
}

template <typename T>
arrow::Result<std::shared_ptr<arrow::Buffer>> ArrayBuilding::MakeOffsets(const FieldNode& node,
                                                                         uint64_t count) {
  const LayerView lists = View(node, node.depth);
  const LayerView items = View(node, node.depth + 1);
  ARROW_ASSIGN_OR_RAISE(std::shared_ptr<arrow::Buffer> buffer,
                        arrow::AllocateBuffer(static_cast<int64_t>((count + 1) * sizeof(T))));
  T* out = reinterpret_cast<T*>(buffer->mutable_data());
  const uint64_t num_entries = LevelsOf(node).num_entries;
  if (num_entries > static_cast<uint64_t>(std::numeric_limits<T>::max())) {
    return base::MakeError(base::ErrorCode::kCapacity,
                           base::Concat("field '", node.field->name, "': the rows asked for hold ",
                                        num_entries, " list items; read fewer rows at a time"),
                           path_);
  }
  T total = 0;
  for (uint64_t e = 0; e < num_entries; ++e) {
    if (lists.Starts(e)) *out++ = total;
    total += items.Starts(e);
  }
  *out = total;
  return buffer;
}

arrow::Result<std::shared_ptr<arrow::ArrayData>> ArrayBuilding::BuildList(const FieldNode& node,
                                                                          Elements elements) {
  ARROW_ASSIGN_OR_RAISE(auto offsets, node.type->id() == arrow::Type::LARGE_LIST
                                          ? MakeOffsets<int64_t>(node, elements.count)
                                          : MakeOffsets<int32_t>(node, elements.count));
  auto made = arrow::ArrayData::Make(node.type, static_cast<int64_t>(elements.count),
                                     {std::move(elements.validity), std::move(offsets)},
                                     static_cast<int64_t>(elements.null_count));
  ARROW_ASSIGN_OR_RAISE(auto items, Build(node.children[0]));
  made->child_data.push_back(std::move(items));
  return made;
}

}  // namespace

arrow::Result<FieldPlan> PlanField(const Field& field, const ColumnMap& columns) {
  FieldPlan plan;
  ARROW_RETURN_NOT_OK(PlanNode(field, columns, {}, &plan.root, &plan));
  return plan;
}

arrow::Result<std::shared_ptr<arrow::ArrayData>> BuildArray(
    const FieldPlan& plan, std::vector<std::unique_ptr<ColumnSink>>* sinks, uint64_t num_rows,
    const std::string& path, io::RandomReader* blobs) {
  ArrayBuilding building(plan, sinks, path, blobs);
  ARROW_ASSIGN_OR_RAISE(auto made, building.Build(plan.root));
  if (made->length != static_cast<int64_t>(num_rows)) {
    return base::Corrupt(path, 0, "field '", plan.root.field->name, "': ", made->length,
                         " rows were read, where ", num_rows, " were asked for");
  }
  return made;
}

}  // namespace kinjo::format::file
