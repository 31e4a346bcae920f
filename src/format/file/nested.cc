#include "format/file/nested.h"

#include <algorithm>
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

// A row of more structs than this is an attack, not data: a page of nulls has no bytes.
constexpr uint64_t kMostEntriesPerRow = uint64_t{1} << 20;

// What lies above a field.
struct Above {
  SchemaLayers layers;   // from the top
  uint64_t entries = 1;  // of the field for each row
  bool fixed_list = false;
};

// A struct without fields is stored as if it were null, and there is nothing else to it.
bool IsEmptyStruct(const arrow::DataType& type) {
  return type.id() == arrow::Type::STRUCT && type.num_fields() == 0;
}

arrow::Status AddLeaf(const Field& field, uint32_t column, const Above& above, FieldNode* node,
                      FieldPlan* plan) {
  StoredLeaf leaf{.field = &field, .column = column, .shape = {}, .entries_per_row = above.entries};
  auto stored = IsEmptyStruct(*node->type) ? arrow::null() : StoredType(node->type);
  const BlobForm blob = BlobFormOf(field);
  if (blob == BlobForm::kPlaces && above.layers.size() > 1) {
    return base::NotSupported("field '", field.name,
                              "': blobs within lists or structs aren't read of data files of "
                              "version 2.1; rewrite the dataset with version 2.2");
  }
  if (blob != BlobForm::kNone) stored = BlobPlaceType(blob);
  if (stored->id() == arrow::Type::STRUCT) {
    ARROW_ASSIGN_OR_RAISE(stored, PackedRowType(field.name, *stored));
  }
  ARROW_ASSIGN_OR_RAISE(leaf.shape.type, MakeLeafType(field.name, stored));
  leaf.shape.is_dictionary = node->type->id() == arrow::Type::DICTIONARY;
  leaf.shape.layers.assign(above.layers.rbegin(), above.layers.rend());
  node->kind = FieldNode::Kind::kLeaf;
  node->leaf = plan->leaves.size();
  plan->leaves.push_back(std::move(leaf));
  return arrow::Status::OK();
}

// Counts the items of a fixed-size list of structs into what is above its children.
arrow::Status EnterFixedList(const Field& field, const arrow::DataType& type, Above* above) {
  const auto items =
      static_cast<uint64_t>(static_cast<const arrow::FixedSizeListType&>(type).list_size());
  const bool in_list = std::find(above->layers.begin(), above->layers.end(), LayerKind::kList) !=
                       above->layers.end();
  if (in_list || items > kMostEntriesPerRow / above->entries) {
    return base::NotSupported("field '", field.name, "': values of type ", type.ToString(),
                              in_list ? " aren't read within lists" : " have too many items a row");
  }
  above->entries *= items;
  above->fixed_list = true;
  return arrow::Status::OK();
}

arrow::Status PlanNode(const Field& field, const ColumnMap& columns, Above above, FieldNode* node,
                       FieldPlan* plan) {
  node->field = &field;
  node->depth = above.layers.size();
  ARROW_ASSIGN_OR_RAISE(node->type, ToArrowType(field));
  const auto found = columns.find(field.id);
  if (found != columns.end() || field.children.empty()) {
    above.layers.push_back(LayerKind::kItem);
    if (found == columns.end()) return arrow::Status::OK();
    return AddLeaf(field, found->second, above, node, plan);
  }
  const auto id = node->type->id();
  const bool is_list =
      id == arrow::Type::LIST || id == arrow::Type::LARGE_LIST || id == arrow::Type::MAP;
  const bool is_fixed_list = id == arrow::Type::FIXED_SIZE_LIST;
  if ((!is_list && !is_fixed_list && id != arrow::Type::STRUCT) || (is_list && above.fixed_list)) {
    return base::NotSupported("field '", field.name, "': values of type ", node->type->ToString(),
                              " aren't read", is_list ? " within fixed-size lists" : "");
  }
  const uint64_t entries = above.entries;
  if (is_fixed_list) ARROW_RETURN_NOT_OK(EnterFixedList(field, *node->type, &above));
  above.layers.push_back(is_list ? LayerKind::kList : LayerKind::kItem);
  for (const Field& child : field.children) {
    node->children.emplace_back();
    FieldNode* made = &node->children.back();
    ARROW_RETURN_NOT_OK(PlanNode(child, columns, above, made, plan));
    if (node->leaf == FieldNode::kNoLeaf) node->leaf = made->leaf;
  }
  if (node->leaf == FieldNode::kNoLeaf) return arrow::Status::OK();
  node->stride = plan->leaves[node->leaf].entries_per_row / entries;
  node->kind = is_list         ? FieldNode::Kind::kList
               : is_fixed_list ? FieldNode::Kind::kFixedList
                               : FieldNode::Kind::kStruct;
  return arrow::Status::OK();
}

// How the levels of one leaf read at one layer.
class LayerView {
 public:
  LayerView(const SchemaLayers& layers, const Levels& levels, size_t layer, uint64_t stride)
      : levels_(levels), stride_(stride), exists_(1, true), null_(1, false) {
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

  // Entries that aren't multiples of this start no element.
  uint64_t stride() const { return stride_; }
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
  const uint64_t stride_;
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
    elements.count = levels.num_entries / view.stride();
    return elements;
  }
  ARROW_ASSIGN_OR_RAISE(elements.validity,
                        arrow::AllocateEmptyBitmap(static_cast<int64_t>(levels.num_entries)));
  uint8_t* bits = elements.validity->mutable_data();
  for (uint64_t e = 0; e < levels.num_entries; e += view.stride()) {
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
  arrow::Result<std::shared_ptr<arrow::ArrayData>> BuildFixedList(const FieldNode& node,
                                                                  Elements elements);
  template <typename T>
  arrow::Result<std::shared_ptr<arrow::Buffer>> MakeOffsets(const FieldNode& node, uint64_t count);

  const Levels& LevelsOf(const FieldNode& node) const { return sinks_[node.leaf]->levels; }
  LayerView View(const FieldNode& node, size_t depth) const {
    const SchemaLayers& layers = plan_.leaves[node.leaf].shape.layers;
    return LayerView(layers, LevelsOf(node), layers.size() - 1 - depth, node.stride);
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
    case FieldNode::Kind::kFixedList:
      return BuildFixedList(node, std::move(elements));
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
  if (IsEmptyStruct(*node.type)) {
    return arrow::ArrayData::Make(node.type, static_cast<int64_t>(elements.count), {nullptr}, 0);
  }
  ARROW_ASSIGN_OR_RAISE(auto made, values.Finish(std::move(elements.validity),
                                                 static_cast<int64_t>(elements.null_count)));
  if (node.type->id() == arrow::Type::DICTIONARY) return EncodeDictionary(node.type, made);
  if (node.type->id() == arrow::Type::STRUCT) return UnpackStruct(node.type, *made, At(node));
  const BlobForm blob = BlobFormOf(*node.field);
  if (blob == BlobForm::kNone) return made;
  if (blobs_ == nullptr) {
    return At(node).NotSupported("field '", node.field->name,
                                 "': there is no file to read blobs of");
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

arrow::Result<std::shared_ptr<arrow::ArrayData>> ArrayBuilding::BuildFixedList(
    const FieldNode& node, Elements elements) {
  const int64_t items = static_cast<const arrow::FixedSizeListType&>(*node.type).list_size();
  auto made = arrow::ArrayData::Make(node.type, static_cast<int64_t>(elements.count),
                                     {std::move(elements.validity)},
                                     static_cast<int64_t>(elements.null_count));
  ARROW_ASSIGN_OR_RAISE(auto built, Build(node.children[0]));
  if (built->length != made->length * items) {
    return At(node).Corrupt("field '", node.field->name, "' has ", built->length, " structs in ",
                            made->length, " lists of ", items);
  }
  made->child_data.push_back(std::move(built));
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
