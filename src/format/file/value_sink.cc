#include "format/file/value_sink.h"

#include <algorithm>
#include <utility>

#include "arrow/util/bit_util.h"
#include "arrow/util/bitmap_ops.h"
#include "format/file/scratch.h"

namespace kinjo::format::file {

arrow::Status BitSink::Grow(uint64_t count) {
  const auto needed = static_cast<int64_t>(BytesForBits(size_ + count));
  if (buffer_ == nullptr) {
    ARROW_ASSIGN_OR_RAISE(buffer_, arrow::AllocateResizableBuffer(0));
  }
  if (needed > buffer_->capacity()) {
    ARROW_RETURN_NOT_OK(buffer_->Reserve(std::max(needed, 2 * buffer_->capacity())));
  }
  const int64_t old = buffer_->size();
  ARROW_RETURN_NOT_OK(buffer_->Resize(needed, false));
  if (needed > old) std::memset(buffer_->mutable_data() + old, 0, needed - old);
  return arrow::Status::OK();
}

arrow::Status BitSink::Append(const uint8_t* bits, uint64_t offset, uint64_t count) {
  if (count == 0) return arrow::Status::OK();
  ARROW_RETURN_NOT_OK(Grow(count));
  arrow::internal::CopyBitmap(bits, static_cast<int64_t>(offset), static_cast<int64_t>(count),
                              buffer_->mutable_data(), static_cast<int64_t>(size_));
  size_ += count;
  return arrow::Status::OK();
}

arrow::Status BitSink::AppendRepeated(bool value, uint64_t count) {
  if (count == 0) return arrow::Status::OK();
  ARROW_RETURN_NOT_OK(Grow(count));
  arrow::bit_util::SetBitsTo(buffer_->mutable_data(), static_cast<int64_t>(size_),
                             static_cast<int64_t>(count), value);
  size_ += count;
  return arrow::Status::OK();
}

arrow::Result<std::shared_ptr<arrow::Buffer>> BitSink::Finish() {
  if (buffer_ != nullptr) buffer_->ZeroPadding();
  return std::shared_ptr<arrow::Buffer>(std::move(buffer_));
}

arrow::Status ValueSink::GrowBytes(std::shared_ptr<arrow::ResizableBuffer>* buffer, uint64_t used,
                                   uint64_t more) {
  uint64_t needed = 0;
  if (!CheckedAdd(used, more, &needed) || needed > INT64_MAX) {
    return arrow::Status::CapacityError("an array of more than 2^63 bytes");
  }
  if (*buffer == nullptr) {
    ARROW_ASSIGN_OR_RAISE(*buffer, arrow::AllocateResizableBuffer(0));
  }
  const auto bytes = static_cast<int64_t>(needed);
  if (bytes > (*buffer)->capacity()) {
    ARROW_RETURN_NOT_OK((*buffer)->Reserve(std::max(bytes, 2 * (*buffer)->capacity())));
  }
  return (*buffer)->Resize(bytes, false);
}

uint64_t ValueSink::gathered_bytes() const {
  uint64_t bytes = value_bytes_ + BytesForBits(bits_.size());
  if (leaf_.kind == LeafType::Kind::kVariable) bytes += size_ * (leaf_.large_offsets ? 8 : 4);
  for (const BitSink& level : item_validity_) bytes += BytesForBits(level.size());
  return bytes;
}

arrow::Status ValueSink::Reserve(uint64_t values, uint64_t bytes) {
  if (leaf_.kind == LeafType::Kind::kVariable) {
    const uint64_t width = leaf_.large_offsets ? 8 : 4;
    if (offsets_ == nullptr) {
      ARROW_ASSIGN_OR_RAISE(offsets_, arrow::AllocateResizableBuffer(0));
    }
    ARROW_RETURN_NOT_OK(offsets_->Reserve(static_cast<int64_t>((size_ + values + 1) * width)));
  } else if (leaf_.kind == LeafType::Kind::kFixed && leaf_.bits_per_value % 8 == 0) {
    bytes = values * (leaf_.bits_per_value / 8);
  } else {
    return arrow::Status::OK();
  }
  if (values_ == nullptr) {
    ARROW_ASSIGN_OR_RAISE(values_, arrow::AllocateResizableBuffer(0));
  }
  return values_->Reserve(static_cast<int64_t>(value_bytes_ + bytes));
}

arrow::Status ValueSink::Append(const ValueBlock& block, uint64_t start, uint64_t count,
                                const Where& where) {
  if (count == 0) return arrow::Status::OK();
  switch (leaf_.kind) {
    case LeafType::Kind::kNull:
      return AppendEmpty(count);
    case LeafType::Kind::kVariable:
      return AppendVariableBlock(block, start, count, where);
    case LeafType::Kind::kFixed:
      break;
  }
  return AppendFixedBlock(block, start, count, where);
}

arrow::Status ValueSink::AppendFixedBlock(const ValueBlock& block, uint64_t start, uint64_t count,
                                          const Where& where) {
  const bool widened_bool = leaf_.bits_per_value == 1 && block.bits_per_value == 8;
  if (block.variable || (block.bits_per_value != leaf_.bits_per_value && !widened_bool)) {
    return where.Corrupt("values of ", block.variable ? "variable width" : "", " ",
                         block.bits_per_value, " bits in a column of type ",
                         leaf_.type->ToString());
  }
  if (!block.item_validity.empty() && block.item_validity.size() != leaf_.items_per_value.size()) {
    return where.Corrupt(block.item_validity.size(), " levels of fixed-size lists in a column of ",
                         leaf_.type->ToString());
  }
  for (size_t level = 0; level < block.item_validity.size(); ++level) {
    const auto& validity = block.item_validity[level];
    if (validity.items_per_value != leaf_.items_per_value[level]) {
      return where.Corrupt("fixed-size lists of ", validity.items_per_value,
                           " items in a column of ", leaf_.type->ToString());
    }
  }
  for (size_t level = 0; level < leaf_.items_per_value.size(); ++level) {
    const uint8_t* bits = block.item_validity.empty() ? nullptr : block.item_validity[level].bits;
    const uint64_t offset = start * leaf_.items_per_value[level];
    ARROW_RETURN_NOT_OK(AppendItemValidity(level, bits, offset, count));
  }
  if (leaf_.bits_per_value % 8 != 0) {
    ARROW_RETURN_NOT_OK(AppendBits(block, start, count));
    size_ += count;
    return arrow::Status::OK();
  }
  const uint64_t width = leaf_.bits_per_value / 8;
  ARROW_RETURN_NOT_OK(GrowBytes(&values_, value_bytes_, count * width));
  std::memcpy(values_->mutable_data() + value_bytes_, block.values + start * width, count * width);
  value_bytes_ += count * width;
  size_ += count;
  return arrow::Status::OK();
}

arrow::Status ValueSink::AppendBits(const ValueBlock& block, uint64_t start, uint64_t count) {
  if (block.bits_per_value == leaf_.bits_per_value) {
    return bits_.Append(block.values, start * leaf_.bits_per_value, count * leaf_.bits_per_value);
  }
  for (uint64_t i = start; i < start + count; ++i) {
    ARROW_RETURN_NOT_OK(bits_.AppendRepeated(block.values[i] != 0, 1));
  }
  return arrow::Status::OK();
}

arrow::Status ValueSink::AppendItemValidity(size_t level, const uint8_t* bits, uint64_t offset,
                                            uint64_t count) {
  const uint64_t items = leaf_.items_per_value[level];
  if (bits == nullptr && (item_validity_.empty() || item_validity_[level].size() == 0)) {
    return arrow::Status::OK();  // all valid so far: made up for when a null comes
  }
  if (item_validity_.empty()) item_validity_.resize(leaf_.items_per_value.size());
  BitSink& sink = item_validity_[level];
  if (sink.size() < size_ * items) {
    ARROW_RETURN_NOT_OK(sink.AppendRepeated(true, size_ * items - sink.size()));
  }
  if (bits == nullptr) return sink.AppendRepeated(true, count * items);
  return sink.Append(bits, offset, count * items);
}

arrow::Status ValueSink::CheckDataSize(uint64_t more, const Where& where) const {
  if (leaf_.large_offsets || (more <= INT32_MAX && value_bytes_ + more <= INT32_MAX))
    return arrow::Status::OK();
  return base::MakeError(
      base::ErrorCode::kCapacity,
      base::Concat("column ", where.column, ": the rows asked for hold more than 2 GiB of ",
                   leaf_.type->ToString(), "; read fewer rows at a time"),
      *where.path);
}

arrow::Result<uint8_t*> ValueSink::GrowOffsets(uint64_t count) {
  const uint64_t width = leaf_.large_offsets ? 8 : 4;
  const bool first = offsets_ == nullptr || offsets_->size() == 0;
  ARROW_RETURN_NOT_OK(GrowBytes(&offsets_, first ? 0 : (size_ + 1) * width,
                                (first ? size_ + 1 + count : count) * width));
  if (first) std::memset(offsets_->mutable_data(), 0, width);
  return offsets_->mutable_data() + (size_ + 1) * width;
}

namespace {

// Writes the ends of values as offsets of T.
template <typename T>
void WriteEnds(const ValueBlock& block, uint64_t start, uint64_t count, uint64_t base,
               uint8_t* out) {
  const uint64_t first = block.offset(start);
  for (uint64_t i = 0; i < count; ++i) {
    const T end = static_cast<T>(base + (block.offset(start + i + 1) - first));
    std::memcpy(out + i * sizeof(T), &end, sizeof(T));
  }
}

}  // namespace

arrow::Status ValueSink::AppendVariableBlock(const ValueBlock& block, uint64_t start,
                                             uint64_t count, const Where& where) {
  if (!block.variable) {
    return where.Corrupt("values of ", block.bits_per_value, " bits in a column of type ",
                         leaf_.type->ToString());
  }
  const uint64_t first = block.offset(start);
  const uint64_t bytes = block.offset(start + count) - first;
  ARROW_RETURN_NOT_OK(CheckDataSize(bytes, where));
  ARROW_ASSIGN_OR_RAISE(uint8_t* ends, GrowOffsets(count));
  ARROW_RETURN_NOT_OK(GrowBytes(&values_, value_bytes_, bytes));
  if (leaf_.large_offsets) {
    WriteEnds<int64_t>(block, start, count, value_bytes_, ends);
  } else {
    WriteEnds<int32_t>(block, start, count, value_bytes_, ends);
  }
  if (bytes != 0) std::memcpy(values_->mutable_data() + value_bytes_, block.bytes + first, bytes);
  value_bytes_ += bytes;
  size_ += count;
  return arrow::Status::OK();
}

arrow::Status ValueSink::AppendVariable(Bytes value, const Where& where) {
  ARROW_RETURN_NOT_OK(CheckDataSize(value.size(), where));
  ARROW_ASSIGN_OR_RAISE(uint8_t* end, GrowOffsets(1));
  ARROW_RETURN_NOT_OK(GrowBytes(&values_, value_bytes_, value.size()));
  if (!value.empty()) {
    std::memcpy(values_->mutable_data() + value_bytes_, value.data(), value.size());
  }
  value_bytes_ += value.size();
  std::memcpy(end, &value_bytes_, leaf_.large_offsets ? 8 : 4);
  ++size_;
  return arrow::Status::OK();
}

arrow::Status ValueSink::AppendPicked(const ValueBlock& block, std::span<const uint64_t> items,
                                      const Where& where) {
  if (items.empty()) return arrow::Status::OK();
  if (leaf_.kind == LeafType::Kind::kVariable && block.variable) {
    return AppendPickedVariable(block, items, where);
  }
  const bool plain = leaf_.kind == LeafType::Kind::kFixed && !block.variable &&
                     leaf_.items_per_value.empty() && leaf_.bits_per_value % 8 == 0 &&
                     block.bits_per_value == leaf_.bits_per_value;
  if (!plain) {
    for (const uint64_t item : items) ARROW_RETURN_NOT_OK(Append(block, item, 1, where));
    return arrow::Status::OK();
  }
  const uint64_t width = leaf_.bits_per_value / 8;
  ARROW_ASSIGN_OR_RAISE(uint8_t* out, AppendFixed(items.size()));
  for (size_t i = 0; i < items.size(); ++i) {
    std::memcpy(out + i * width, block.values + items[i] * width, width);
  }
  return arrow::Status::OK();
}

arrow::Status ValueSink::AppendPickedVariable(const ValueBlock& block,
                                              std::span<const uint64_t> items, const Where& where) {
  uint64_t bytes = 0;
  for (const uint64_t item : items) {
    if (!CheckedAdd(bytes, block.offset(item + 1) - block.offset(item), &bytes)) {
      return arrow::Status::CapacityError("values of more than 2^64 bytes");
    }
  }
  ARROW_RETURN_NOT_OK(CheckDataSize(bytes, where));
  ARROW_ASSIGN_OR_RAISE(uint8_t* ends, GrowOffsets(items.size()));
  ARROW_RETURN_NOT_OK(GrowBytes(&values_, value_bytes_, bytes));
  const uint64_t width = leaf_.large_offsets ? 8 : 4;
  uint8_t* data = values_->mutable_data();
  for (size_t i = 0; i < items.size(); ++i) {
    const uint64_t begin = block.offset(items[i]);
    const uint64_t size = block.offset(items[i] + 1) - begin;
    if (size != 0) std::memcpy(data + value_bytes_, block.bytes + begin, size);
    value_bytes_ += size;
    std::memcpy(ends + i * width, &value_bytes_, width);
  }
  size_ += items.size();
  return arrow::Status::OK();
}

arrow::Status ValueSink::AppendRepeated(const ValueBlock& block, uint64_t count,
                                        const Where& where) {
  constexpr uint64_t kPiece = 1024;
  const std::vector<uint64_t> first(std::min(count, kPiece), 0);
  for (uint64_t done = 0; done < count; done += kPiece) {
    const uint64_t now = std::min(kPiece, count - done);
    ARROW_RETURN_NOT_OK(AppendPicked(block, std::span(first).first(now), where));
  }
  return arrow::Status::OK();
}

arrow::Status ValueSink::AppendEmpty(uint64_t count) {
  if (count == 0) return arrow::Status::OK();
  if (leaf_.kind == LeafType::Kind::kVariable) {
    ARROW_ASSIGN_OR_RAISE(uint8_t* ends, GrowOffsets(count));
    const uint64_t width = leaf_.large_offsets ? 8 : 4;
    for (uint64_t i = 0; i < count; ++i) std::memcpy(ends + i * width, &value_bytes_, width);
    if (values_ == nullptr) ARROW_RETURN_NOT_OK(GrowBytes(&values_, 0, 0));
  } else if (leaf_.kind == LeafType::Kind::kFixed) {
    for (size_t level = 0; level < leaf_.items_per_value.size(); ++level) {
      ARROW_RETURN_NOT_OK(AppendItemValidity(level, nullptr, 0, count));
    }
    return AppendZeros(count);
  }
  size_ += count;
  return arrow::Status::OK();
}

arrow::Status ValueSink::AppendZeros(uint64_t count) {
  uint64_t bits = 0;
  if (!CheckedMultiply(count, leaf_.bits_per_value, &bits) || bits / 8 > Scratch::kMostBytes) {
    return base::MakeError(
        base::ErrorCode::kCapacity,
        base::Concat(count, " values of ", leaf_.type->ToString(), ", all null, take more than ",
                     Scratch::kMostBytes, " bytes; read fewer rows at a time"));
  }
  if (leaf_.bits_per_value % 8 != 0) {
    ARROW_RETURN_NOT_OK(bits_.AppendRepeated(false, bits));
  } else {
    ARROW_RETURN_NOT_OK(GrowBytes(&values_, value_bytes_, bits / 8));
    std::memset(values_->mutable_data() + value_bytes_, 0, bits / 8);
    value_bytes_ += bits / 8;
  }
  size_ += count;
  return arrow::Status::OK();
}

arrow::Result<uint8_t*> ValueSink::AppendFixed(uint64_t count) {
  const uint64_t bytes = count * (leaf_.bits_per_value / 8);
  ARROW_RETURN_NOT_OK(GrowBytes(&values_, value_bytes_, bytes));
  uint8_t* out = values_->mutable_data() + value_bytes_;
  value_bytes_ += bytes;
  size_ += count;
  return out;
}

void ValueSink::Adopt(std::shared_ptr<arrow::Buffer> buffer, uint64_t count) {
  adopted_ = std::move(buffer);
  size_ = count;
}

arrow::Result<std::shared_ptr<arrow::ArrayData>> ValueSink::FinishFixed(
    const std::shared_ptr<arrow::Buffer>& validity, int64_t null_count) {
  std::shared_ptr<arrow::Buffer> values = adopted_;
  if (values == nullptr && leaf_.bits_per_value % 8 != 0) {
    ARROW_ASSIGN_OR_RAISE(values, bits_.Finish());
  } else if (values == nullptr) {
    values = std::move(values_);
  }
  if (values == nullptr) {
    ARROW_ASSIGN_OR_RAISE(auto empty, arrow::AllocateBuffer(0));
    values = std::move(empty);
  }
  // The types from the outside in; the innermost owns the values.
  std::vector<std::shared_ptr<arrow::DataType>> types{leaf_.type};
  for (size_t level = 0; level < leaf_.items_per_value.size(); ++level) {
    types.push_back(static_cast<const arrow::FixedSizeListType&>(*types.back()).value_type());
  }
  std::shared_ptr<arrow::ArrayData> inner;
  for (size_t level = types.size(); level-- > 0;) {
    std::shared_ptr<arrow::Buffer> bits = validity;
    uint64_t length = size_;
    int64_t nulls = null_count;
    if (level > 0) {
      bits = nullptr;
      nulls = 0;
      length = size_ * leaf_.items_per_value[level - 1];
      if (!item_validity_.empty() && item_validity_[level - 1].size() != 0) {
        ARROW_ASSIGN_OR_RAISE(bits, item_validity_[level - 1].Finish());
        nulls = arrow::kUnknownNullCount;
      }
    }
    std::vector<std::shared_ptr<arrow::Buffer>> buffers{bits};
    if (inner == nullptr) buffers.push_back(values);
    auto made = arrow::ArrayData::Make(types[level], static_cast<int64_t>(length),
                                       std::move(buffers), nulls);
    if (inner != nullptr) made->child_data.push_back(std::move(inner));
    inner = std::move(made);
  }
  return inner;
}

arrow::Result<std::shared_ptr<arrow::ArrayData>> ValueSink::Finish(
    std::shared_ptr<arrow::Buffer> validity, int64_t null_count) {
  const auto length = static_cast<int64_t>(size_);
  if (leaf_.kind == LeafType::Kind::kNull) {
    return arrow::ArrayData::Make(leaf_.type, length, {nullptr}, length);
  }
  if (leaf_.kind == LeafType::Kind::kFixed) return FinishFixed(validity, null_count);
  if (offsets_ == nullptr || offsets_->size() == 0) {
    ARROW_RETURN_NOT_OK(GrowOffsets(0).status());
  }
  if (values_ == nullptr) ARROW_RETURN_NOT_OK(GrowBytes(&values_, 0, 0));
  return arrow::ArrayData::Make(leaf_.type, length, {std::move(validity), offsets_, values_},
                                null_count);
}

}  // namespace kinjo::format::file
