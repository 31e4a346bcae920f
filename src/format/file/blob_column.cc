#include "format/file/blob_column.h"

#include <cstring>
#include <utility>
#include <vector>

#include "arrow/array/util.h"
#include "arrow/util/bit_util.h"
#include "arrow/util/bitmap_generate.h"
#include "format/file/packed_struct.h"

namespace kinjo::format::file {

namespace {

// The child of BlobPlaceType with this name, of unsigned numbers.
template <typename ArrayType>
const ArrayType& Numbers(const arrow::StructArray& places, const char* name) {
  return static_cast<const ArrayType&>(*places.GetFieldByName(name));
}

// Where the values lie, and which are null.
struct Places {
  std::vector<io::ByteRange> ranges;  // of the values that have bytes
  std::vector<int64_t> offsets;
  std::shared_ptr<arrow::Buffer> validity;
  int64_t null_count = 0;
};

arrow::Result<Places> FindPlaces(const arrow::StructArray& rows, BlobForm form, uint64_t file_size,
                                 const Where& where) {
  const auto& positions = Numbers<arrow::UInt64Array>(rows, "position");
  const auto& sizes = Numbers<arrow::UInt64Array>(rows, "size");
  Places places;
  ARROW_ASSIGN_OR_RAISE(places.validity, arrow::AllocateEmptyBitmap(rows.length()));
  places.offsets.push_back(0);
  uint64_t total = 0;
  for (int64_t i = 0; i < rows.length(); ++i) {
    const uint64_t size = sizes.Value(i);
    bool null = rows.IsNull(i);
    if (form == BlobForm::kPlaces) {
      null = null || (size == 0 && positions.Value(i) != 0);
    } else if (const auto kind = Numbers<arrow::UInt8Array>(rows, "kind").Value(i);
               !null && kind != 0) {
      return where.NotSupported("a blob that lies in a file of its own (kind ", int{kind}, ")");
    }
    if (null) {
      ++places.null_count;
    } else {
      arrow::bit_util::SetBit(places.validity->mutable_data(), i);
      if (positions.Value(i) > file_size || size > file_size - positions.Value(i)) {
        return where.Corrupt("a blob of ", size, " bytes at ", positions.Value(i),
                             " lies outside the file's ", file_size, " bytes");
      }
      total += size;
      if (total > file_size) {
        return where.Corrupt("blobs of ", total, " bytes in a file of ", file_size);
      }
      if (size > 0) places.ranges.push_back({positions.Value(i), size});
    }
    places.offsets.push_back(static_cast<int64_t>(total));
  }
  if (places.null_count == 0) places.validity = nullptr;
  return places;
}

}  // namespace

std::shared_ptr<arrow::DataType> BlobPlaceType(BlobForm form) {
  arrow::FieldVector fields = {arrow::field("position", arrow::uint64()),
                               arrow::field("size", arrow::uint64())};
  if (form == BlobForm::kDescriptors) {
    fields.insert(fields.begin(), arrow::field("kind", arrow::uint8()));
    fields.push_back(arrow::field("blob_id", arrow::uint32()));
    fields.push_back(arrow::field("blob_uri", arrow::utf8()));
  }
  return arrow::struct_(fields);
}

arrow::Result<std::shared_ptr<arrow::ArrayData>> ReadBlobs(
    const std::shared_ptr<arrow::DataType>& type, BlobForm form, const arrow::ArrayData& packed,
    io::RandomReader* reader, const Where& where) {
  if (type->id() != arrow::Type::LARGE_BINARY) {
    return where.NotSupported("blobs of type ", type->ToString());
  }
  ARROW_ASSIGN_OR_RAISE(const auto rows, UnpackStruct(BlobPlaceType(form), packed, where));
  const arrow::StructArray structs(rows);
  ARROW_ASSIGN_OR_RAISE(Places places, FindPlaces(structs, form, reader->size(), where));
  ARROW_ASSIGN_OR_RAISE(const auto parts, reader->ReadRanges(places.ranges));
  ARROW_ASSIGN_OR_RAISE(std::shared_ptr<arrow::Buffer> values,
                        arrow::AllocateBuffer(places.offsets.back()));
  uint8_t* end = values->mutable_data();
  for (const auto& part : parts) end = std::copy_n(part->data(), part->size(), end);
  return arrow::ArrayData::Make(
      type, structs.length(),
      {std::move(places.validity), arrow::Buffer::FromVector(std::move(places.offsets)),
       std::move(values)},
      places.null_count);
}

}  // namespace kinjo::format::file
