#include "format/file/shredding.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "arrow/util/bit_util.h"
#include "format/file/arrow_values.h"
#include "format/file/writable_schema.h"

namespace kinjo::format::file {

namespace {

// Rows on their way down to a leaf. `rep` is empty above the first list, `def` while nothing is
// null. An entry that ended at a list further up has no element.
struct Entries {
  static constexpr int64_t kNone = -1;

  std::vector<int64_t> element;  // in the array at hand, its offset not added
  std::vector<uint16_t> rep;
  std::vector<uint16_t> def;

  uint64_t size() const { return element.size(); }
};

class Shredding {
 public:
  Shredding(const FieldPlan& plan, size_t leaf, const std::string& path, ColumnSink* sink)
      : plan_(plan), shape_(plan.leaves[leaf].shape), leaf_(leaf), path_(path), sink_(sink) {}

  arrow::Status Run(const arrow::ArrayData& array, int64_t begin, int64_t count);

 private:
  uint16_t NullLevel(size_t layer) const;
  arrow::Status MarkNulls(const FieldNode& node, const arrow::ArrayData& array);
  arrow::Status EnterList(const FieldNode& node, const arrow::ArrayData& array);
  arrow::Status EnterFixedList(const FieldNode& node, const arrow::ArrayData& array);
  template <typename Offset>
  void ExpandLists(const arrow::ArrayData& array, uint16_t empty_level, uint16_t rep);
  arrow::Status TakeLeaf(const FieldNode& node, const arrow::ArrayData& array);
  void AppendLevels();

  const FieldPlan& plan_;
  const LeafColumn& shape_;
  const size_t leaf_;
  const std::string& path_;
  ColumnSink* sink_;
  Entries entries_;
  bool flat_ = true;  // entries are rows [first_, first_ + count_), still without `element`
  int64_t first_ = 0;
  uint64_t count_ = 0;
};

// The number that a layer's null has; a list's empty is one more.
uint16_t Shredding::NullLevel(size_t layer) const {
  uint16_t level = 1;
  for (size_t i = 0; i < layer; ++i) level += shape_.layers[i] == LayerKind::kList ? 2 : 1;
  return level;
}

arrow::Status Shredding::MarkNulls(const FieldNode& node, const arrow::ArrayData& array) {
  const uint8_t* bits =
      array.buffers.empty() || array.buffers[0] == nullptr ? nullptr : array.buffers[0]->data();
  const bool all_null = array.type->id() == arrow::Type::NA;
  if (!all_null && (bits == nullptr || array.GetNullCount() == 0)) return arrow::Status::OK();
  const uint16_t level = NullLevel(shape_.layers.size() - 1 - node.depth);
  const uint64_t count = flat_ ? count_ : entries_.size();
  bool any = false;
  for (uint64_t e = 0; e < count; ++e) {
    const int64_t element = flat_ ? first_ + static_cast<int64_t>(e) : entries_.element[e];
    if (element < 0 || (!entries_.def.empty() && entries_.def[e] != 0)) continue;
    if (!all_null && arrow::bit_util::GetBit(bits, array.offset + element)) continue;
    if (entries_.def.empty()) entries_.def.resize(count);
    entries_.def[e] = level;
    any = true;
  }
  return any && !node.field->nullable ? NullNotAllowed(*node.field, path_) : arrow::Status::OK();
}

template <typename Offset>
void Shredding::ExpandLists(const arrow::ArrayData& array, uint16_t empty_level, uint16_t rep) {
  const auto* offsets = array.GetValues<Offset>(1);
  const uint64_t count = flat_ ? count_ : entries_.size();
  const uint16_t row_rep = static_cast<uint16_t>(
      std::count(shape_.layers.begin(), shape_.layers.end(), LayerKind::kList));
  Entries out;
  out.element.reserve(count);
  const bool has_def = !entries_.def.empty();
  for (uint64_t e = 0; e < count; ++e) {
    const int64_t list = flat_ ? first_ + static_cast<int64_t>(e) : entries_.element[e];
    const uint16_t first_rep = entries_.rep.empty() ? row_rep : entries_.rep[e];
    const uint16_t def = has_def ? entries_.def[e] : 0;
    const bool ended = def != 0;
    const int64_t begin = ended ? 0 : offsets[list];
    const int64_t end = ended ? 0 : offsets[list + 1];
    if (begin == end) {
      if (out.def.empty()) out.def.resize(out.element.size());
      out.element.push_back(Entries::kNone);
      out.rep.push_back(first_rep);
      out.def.push_back(ended ? def : empty_level);
      continue;
    }
    const auto length = static_cast<uint64_t>(end - begin);
    for (int64_t item = begin; item < end; ++item) out.element.push_back(item);
    out.rep.push_back(first_rep);
    out.rep.insert(out.rep.end(), length - 1, rep);
    if (!out.def.empty()) out.def.resize(out.element.size());
  }
  entries_ = std::move(out);
  flat_ = false;
}

arrow::Status Shredding::EnterList(const FieldNode& node, const arrow::ArrayData& array) {
  ARROW_RETURN_NOT_OK(MarkNulls(node, array));
  const size_t layer = shape_.layers.size() - 1 - node.depth;
  // An item behind the first starts a list of the list layer below this one, if there is one.
  uint16_t rep = 0;
  for (size_t i = 0; i < layer; ++i) rep += shape_.layers[i] == LayerKind::kList;
  const auto empty_level = static_cast<uint16_t>(NullLevel(layer) + 1);
  if (node.type->id() == arrow::Type::LARGE_LIST) {
    ExpandLists<int64_t>(array, empty_level, rep);
  } else {
    ExpandLists<int32_t>(array, empty_level, rep);
  }
  return arrow::Status::OK();
}

// Every item gets an entry, also those of a null row, all with the row's level. No list lies above,
// so the entries are still a stretch of elements.
arrow::Status Shredding::EnterFixedList(const FieldNode& node, const arrow::ArrayData& array) {
  ARROW_RETURN_NOT_OK(MarkNulls(node, array));
  const int64_t items = static_cast<const arrow::FixedSizeListType&>(*node.type).list_size();
  first_ = (first_ + array.offset) * items;
  count_ *= static_cast<uint64_t>(items);
  if (entries_.def.empty()) return arrow::Status::OK();
  std::vector<uint16_t> def;
  def.reserve(count_);
  for (const uint16_t level : entries_.def)
    def.insert(def.end(), static_cast<size_t>(items), level);
  entries_.def = std::move(def);
  return arrow::Status::OK();
}

arrow::Status Shredding::TakeLeaf(const FieldNode& node, const arrow::ArrayData& array) {
  ARROW_RETURN_NOT_OK(MarkNulls(node, array));
  ArrowValues values;
  ARROW_RETURN_NOT_OK(values.Open(shape_, array));
  if (values.HasNullItems()) {
    // A null inside an Arrow dictionary is the null of every value that points at it.
    const uint64_t count = flat_ ? count_ : entries_.size();
    bool any = false;
    for (uint64_t e = 0; e < count; ++e) {
      const int64_t element = flat_ ? first_ + static_cast<int64_t>(e) : entries_.element[e];
      if (element < 0 || (!entries_.def.empty() && entries_.def[e] != 0)) continue;
      if (!values.ItemIsNull(element)) continue;
      if (entries_.def.empty()) entries_.def.resize(count);
      entries_.def[e] = 1;
      any = true;
    }
    if (any && !node.field->nullable) return NullNotAllowed(*node.field, path_);
  }
  const Where where{.path = &path_, .column = plan_.leaves[leaf_].column};
  if (flat_) return values.Append(first_, static_cast<int64_t>(count_), where, &sink_->values);
  const std::vector<int64_t>& elements = entries_.element;
  for (size_t e = 0; e < elements.size();) {
    if (elements[e] == Entries::kNone) {
      ++e;
      continue;
    }
    size_t end = e + 1;
    // Lists that ended here may lie between two items that are neighbours all the same.
    int64_t next = elements[e] + 1;
    while (end < elements.size() && (elements[end] == next || elements[end] == Entries::kNone)) {
      next += elements[end] != Entries::kNone;
      ++end;
    }
    ARROW_RETURN_NOT_OK(values.Append(elements[e], next - elements[e], where, &sink_->values));
    e = end;
  }
  return arrow::Status::OK();
}

void Shredding::AppendLevels() {
  Levels* levels = &sink_->levels;
  const uint64_t count = flat_ ? count_ : entries_.size();
  if (!entries_.rep.empty()) {
    levels->rep.insert(levels->rep.end(), entries_.rep.begin(), entries_.rep.end());
  }
  if (!entries_.def.empty()) {
    levels->def.resize(levels->num_entries);
    levels->def.insert(levels->def.end(), entries_.def.begin(), entries_.def.end());
  } else if (!levels->def.empty()) {
    levels->def.resize(levels->num_entries + count);
  }
  levels->num_entries += count;
}

arrow::Status Shredding::Run(const arrow::ArrayData& array, int64_t begin, int64_t count) {
  first_ = begin;
  count_ = static_cast<uint64_t>(count);
  const FieldNode* node = &plan_.root;
  const arrow::ArrayData* data = &array;
  while (node->kind != FieldNode::Kind::kLeaf) {
    size_t child = 0;
    while (child + 1 < node->children.size() && node->children[child + 1].leaf <= leaf_) ++child;
    if (node->kind == FieldNode::Kind::kList) {
      ARROW_RETURN_NOT_OK(EnterList(*node, *data));
    } else if (node->kind == FieldNode::Kind::kFixedList) {
      ARROW_RETURN_NOT_OK(EnterFixedList(*node, *data));
    } else {
      ARROW_RETURN_NOT_OK(MarkNulls(*node, *data));
      // Elements of a struct's children are counted from the struct's own offset on.
      first_ += data->offset;
      if (data->offset != 0) {
        for (int64_t& element : entries_.element) {
          if (element != Entries::kNone) element += data->offset;
        }
      }
    }
    data = data->child_data[child].get();
    node = &node->children[child];
  }
  ARROW_RETURN_NOT_OK(TakeLeaf(*node, *data));
  AppendLevels();
  return arrow::Status::OK();
}

}  // namespace

arrow::Status ShredLeaf(const FieldPlan& plan, size_t leaf, const arrow::ArrayData& array,
                        int64_t begin, int64_t count, const std::string& path, ColumnSink* sink) {
  return Shredding(plan, leaf, path, sink).Run(array, begin, count);
}

}  // namespace kinjo::format::file
