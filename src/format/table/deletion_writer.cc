#include "format/table/deletion_writer.h"

#include <utility>
#include <vector>

#include "arrow/array.h"
#include "arrow/io/memory.h"
#include "arrow/ipc/writer.h"
#include "arrow/record_batch.h"
#include "arrow/util/compression.h"
#include "format/table/roaring_bitmap.h"

namespace kinjo::format {
namespace {

// From so many rows on a bitmap is written.
constexpr uint64_t kBitmapRows = 5000;

/// The rows in [0, physical_rows) that are dead, rising.
std::vector<uint32_t> DeadOffsets(const DeadRows& dead, uint64_t physical_rows) {
  std::vector<RowRange> live;
  dead.AppendLiveRanges(0, physical_rows, &live);
  live.push_back({physical_rows, physical_rows});
  std::vector<uint32_t> offsets;
  offsets.reserve(dead.count());
  uint64_t begin = 0;
  for (const RowRange& range : live) {
    for (uint64_t row = begin; row < range.begin; ++row) {
      offsets.push_back(static_cast<uint32_t>(row));
    }
    begin = range.end;
  }
  return offsets;
}

arrow::Result<std::shared_ptr<arrow::Buffer>> EncodeArrow(const std::vector<uint32_t>& offsets) {
  const auto count = static_cast<int64_t>(offsets.size());
  const auto column = std::make_shared<arrow::UInt32Array>(count, arrow::Buffer::Wrap(offsets));
  const auto schema = arrow::schema({arrow::field("row_id", arrow::uint32(), /*nullable=*/false)});
  const auto batch = arrow::RecordBatch::Make(schema, count, {column});
  ARROW_ASSIGN_OR_RAISE(const auto sink, arrow::io::BufferOutputStream::Create());
  arrow::ipc::IpcWriteOptions options = arrow::ipc::IpcWriteOptions::Defaults();
  ARROW_ASSIGN_OR_RAISE(options.codec, arrow::util::Codec::Create(arrow::Compression::ZSTD));
  options.min_space_savings = 0.0;
  options.use_threads = false;
  ARROW_ASSIGN_OR_RAISE(const auto writer, arrow::ipc::MakeFileWriter(sink, schema, options));
  ARROW_RETURN_NOT_OK(writer->WriteRecordBatch(*batch));
  ARROW_RETURN_NOT_OK(writer->Close());
  return sink->Finish();
}

}  // namespace

arrow::Result<EncodedDeletions> EncodeDeletions(const DeadRows& dead, uint64_t physical_rows) {
  const std::vector<uint32_t> offsets = DeadOffsets(dead, physical_rows);
  if (offsets.size() >= kBitmapRows) {
    return EncodedDeletions{DeletionFileType::kBitmap,
                            arrow::Buffer::FromString(EncodeRoaring(offsets))};
  }
  ARROW_ASSIGN_OR_RAISE(auto bytes, EncodeArrow(offsets));
  return EncodedDeletions{DeletionFileType::kArrowArray, std::move(bytes)};
}

}  // namespace kinjo::format
