// Fuzzes all that an index says about itself: the JSON texts, the IVF models, the codebook or the
// rotation, the graphs, and how they fit the columns. The input is, one after another, each as a
// 16-bit little-endian length and that many bytes: `lance:index`, `storage_metadata`, the IVF of
// index.idx, the IVF of auxiliary.idx, the tensor of the quantizer; then a byte with the number of
// rows, a byte with the width of a code, a byte whose value picks name and type of the code column,
// and a byte with the width of the ex codes; then two more texts, `lance:hnsw` and the rows of the
// graphs.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "arrow/array/array_primitive.h"
#include "arrow/array/util.h"
#include "arrow/type.h"
#include "format/index_file/index_files.h"
#include "format/index_file/index_fixture.h"

namespace kinjo::format {
namespace {

/// Takes parts off the front of the input; whatever is missing reads as nothing.
class Input {
 public:
  Input(const uint8_t* data, size_t size) : rest_(reinterpret_cast<const char*>(data), size) {}

  std::string TakeText() {
    const size_t low = TakeByte();
    const size_t length = std::min(low | size_t{TakeByte()} << 8, rest_.size());
    std::string text(rest_.substr(0, length));
    rest_.remove_prefix(length);
    return text;
  }
  uint8_t TakeByte() {
    if (rest_.empty()) return 0;
    const auto byte = static_cast<uint8_t>(rest_.front());
    rest_.remove_prefix(1);
    return byte;
  }

 private:
  std::string_view rest_;
};

std::shared_ptr<arrow::Array> Zeros(const std::shared_ptr<arrow::DataType>& type, int64_t count) {
  if (type->id() != arrow::Type::FIXED_SIZE_LIST) {
    const int64_t bytes = count * type->byte_width();
    return arrow::MakeArray(arrow::ArrayData::Make(
        type, count,
        {nullptr, arrow::Buffer::FromString(std::string(static_cast<size_t>(bytes), '\0'))}, 0));
  }
  const auto& list = static_cast<const arrow::FixedSizeListType&>(*type);
  const auto values = Zeros(list.value_type(), count * list.list_size());
  return arrow::MakeArray(
      arrow::ArrayData::Make(type, count, {nullptr}, {values->data()}, /*null_count=*/0));
}

std::shared_ptr<arrow::Array> Numbers(const std::vector<uint32_t>& values) {
  const std::string bytes(reinterpret_cast<const char*>(values.data()), values.size() * 4);
  return std::make_shared<arrow::UInt32Array>(static_cast<int64_t>(values.size()),
                                              arrow::Buffer::FromString(bytes));
}

/// The rows of the graphs: each is a node, a count, and so many neighbours.
void AddGraphColumns(const std::string& text, MemoryLanceFile* index) {
  std::vector<uint32_t> nodes;
  std::vector<uint32_t> neighbors;
  std::vector<uint32_t> offsets = {0};
  for (size_t at = 0; at + 1 < text.size();) {
    nodes.push_back(static_cast<uint8_t>(text[at]));
    const size_t count = std::min<size_t>(static_cast<uint8_t>(text[at + 1]), text.size() - at - 2);
    for (size_t i = 0; i < count; ++i) {
      neighbors.push_back(static_cast<uint8_t>(text[at + 2 + i]) * 0x01010101u >> (i % 4 * 8));
    }
    offsets.push_back(static_cast<uint32_t>(neighbors.size()));
    at += 2 + count;
  }
  index->AddColumn("__vector_id", "uint32", Numbers(nodes));
  const auto rows = static_cast<int64_t>(nodes.size());
  const auto lists = arrow::MakeArray(arrow::ArrayData::Make(
      arrow::list(arrow::uint32()), rows, {nullptr, Numbers(offsets)->data()->buffers[1]},
      {Numbers(neighbors)->data()}, /*null_count=*/0));
  index->AddColumn("__neighbors", "list", lists);
  index->mutable_schema().fields[1].children.push_back(
      Field{.id = 2, .name = "item", .logical_type = "uint32"});
}

/// What a search in a graph relies on.
void CheckGraph(const PartitionGraph& graph, uint64_t num_rows) {
  bool holds = graph.num_nodes == num_rows && graph.levels.empty() == (num_rows == 0) &&
               (num_rows == 0 || graph.entry_point < num_rows);
  for (size_t level = 0; level < graph.levels.size(); ++level) {
    const GraphLevel& at = graph.levels[level];
    const size_t nodes = level == 0 ? num_rows : at.nodes.size();
    holds = holds && at.offsets.size() == nodes + 1 && at.offsets.back() == at.neighbors.size() &&
            std::is_sorted(at.offsets.begin(), at.offsets.end()) &&
            std::is_sorted(at.nodes.begin(), at.nodes.end());
    for (const uint32_t id : at.neighbors) holds = holds && id < num_rows;
  }
  if (!holds) __builtin_trap();
}

void Run(const uint8_t* data, size_t size) {
  Input input(data, size);
  auto index = std::make_shared<MemoryLanceFile>("index.idx");
  auto auxiliary = std::make_shared<MemoryLanceFile>("auxiliary.idx");
  index->SetMetadata("lance:index", input.TakeText());
  index->SetMetadata("lance:ivf", "1");
  auxiliary->SetMetadata("lance:ivf", "1");
  auxiliary->SetMetadata("storage_metadata", input.TakeText());
  index->global_buffers().push_back(input.TakeText());
  auxiliary->global_buffers().push_back(input.TakeText());
  auxiliary->global_buffers().push_back(input.TakeText());
  const int64_t num_rows = input.TakeByte();
  const int32_t width = input.TakeByte();
  const uint8_t kind = input.TakeByte();
  const int32_t ex_width = input.TakeByte();
  constexpr const char* kElements[] = {"uint8", "halffloat", "float", "double"};
  const std::string type = base::Concat("fixed_size_list:", kElements[kind % 4], ":", width);
  auxiliary->AddColumn("_rowid", "uint64", Zeros(arrow::uint64(), num_rows));
  const Field codes{.id = 1, .name = "codes", .logical_type = type};
  const auto arrow_type = ToArrowType(codes);
  if (!arrow_type.ok()) return;
  constexpr const char* kNames[] = {"__pq_code", "__sq_code", "flat", "_rabit_codes"};
  auxiliary->AddColumn(kNames[kind / 64], type, Zeros(*arrow_type, num_rows));
  if (kind / 64 == 3) {
    for (const char* name :
         {"__add_factors", "__scale_factors", "__add_factors_ex", "__scale_factors_ex"}) {
      auxiliary->AddColumn(name, "float", Zeros(arrow::float32(), num_rows));
    }
    auxiliary->AddColumn("__blocked_ex_codes", base::Concat("fixed_size_list:uint8:", ex_width),
                         Zeros(arrow::fixed_size_list(arrow::uint8(), ex_width), num_rows));
  }

  index->SetMetadata("lance:hnsw", input.TakeText());
  AddGraphColumns(input.TakeText(), index.get());

  const auto files = IndexFiles::Assemble(index, auxiliary);
  if (!files.ok()) return;
  for (uint64_t p = 0; p < (*files)->ivf().num_partitions(); ++p) {
    const auto rows = (*files)->ReadPartition(p);
    if (!rows.ok()) continue;
    // What the index room relies on.
    if (rows->size_bytes() != (*files)->partition_bytes(p) ||
        static_cast<uint64_t>(rows->row_ids->size()) != rows->num_rows * 8) {
      __builtin_trap();
    }
    if (!(*files)->ivf().kind.has_graph) continue;
    const auto graph = (*files)->ReadGraph(p);
    if (graph.ok()) CheckGraph(*graph, rows->num_rows);
  }
}

}  // namespace
}  // namespace kinjo::format

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  kinjo::format::Run(data, size);
  return 0;
}
