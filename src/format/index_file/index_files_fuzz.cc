// Fuzzes all that an index says about itself: the JSON texts, the IVF models, the codebook or the
// rotation, and how they fit the columns. The input is, one after another, each as a 16-bit
// little-endian length and that many bytes: `lance:index`, `storage_metadata`, the IVF of
// index.idx, the IVF of auxiliary.idx, the tensor of the quantizer; then a byte with the number of
// rows, a byte with the width of a code, a byte whose value picks name and type of the code column,
// and a byte with the width of the ex codes.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>

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
  }
}

}  // namespace
}  // namespace kinjo::format

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  kinjo::format::Run(data, size);
  return 0;
}
