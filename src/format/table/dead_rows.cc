#include "format/table/dead_rows.h"

#include <algorithm>
#include <bit>
#include <string_view>

#include "arrow/array.h"
#include "arrow/io/memory.h"
#include "arrow/ipc/reader.h"
#include "arrow/memory_pool.h"
#include "arrow/record_batch.h"
#include "format/table/roaring_bitmap.h"

namespace kinjo::format {
namespace {

arrow::Status Malformed(const std::string& path, const std::string& why) {
  return base::Corrupt(path, 0, "malformed deletion file: ", why);
}

arrow::Status TooFar(const std::string& path, uint64_t row, uint64_t physical_rows) {
  return base::Corrupt(path, 0, "the deletion file lists row ", row, " of a fragment of ",
                       physical_rows, " rows");
}

arrow::Result<DeadRows> ReadBitmap(const std::string& path, const arrow::Buffer& bytes,
                                   uint64_t physical_rows) {
  const auto bitmap = RoaringBitmap::Parse(static_cast<std::string_view>(bytes));
  if (!bitmap.has_value()) return Malformed(path, "not a Roaring bitmap");
  DeadRows dead;
  // A sound bitmap visits each row once. Counting visits ends the walk over one whose containers
  // repeat.
  uint64_t visits = 0;
  uint64_t bad_row = 0;
  const bool all = bitmap->ForEach([&](uint32_t row) {
    if (row >= physical_rows || ++visits > physical_rows) {
      bad_row = row;
      return false;
    }
    dead.Add(row);
    return true;
  });
  if (!all && bad_row >= physical_rows) return TooFar(path, bad_row, physical_rows);
  if (!all) return Malformed(path, "the bitmap lists rows twice");
  return dead;
}

arrow::Status AddColumn(const arrow::RecordBatch& batch, const std::string& path,
                        uint64_t physical_rows, DeadRows* dead) {
  if (batch.num_columns() != 1 || batch.column(0)->type_id() != arrow::Type::UINT32) {
    return Malformed(path, "not one column of uint32");
  }
  const arrow::Status valid = batch.ValidateFull();
  if (!valid.ok()) return Malformed(path, valid.message());
  const auto& rows = static_cast<const arrow::UInt32Array&>(*batch.column(0));
  if (rows.null_count() != 0) return Malformed(path, "a row offset is null");
  for (int64_t i = 0; i < rows.length(); ++i) {
    if (rows.Value(i) >= physical_rows) return TooFar(path, rows.Value(i), physical_rows);
    dead->Add(rows.Value(i));
  }
  return arrow::Status::OK();
}

arrow::Result<DeadRows> ReadArrowArray(const std::string& path,
                                       std::shared_ptr<arrow::Buffer> bytes,
                                       uint64_t physical_rows) {
  arrow::ipc::IpcReadOptions options = arrow::ipc::IpcReadOptions::Defaults();
  options.use_threads = false;
  // A compressed buffer states its own size: the pool refuses one beyond what the rows can need.
  // (The cap looks at all that is allocated, so between it and the process's pool stands one that
  // counts this file's alone.)
  arrow::ProxyMemoryPool own(arrow::default_memory_pool());
  arrow::CappedMemoryPool pool(
      &own, static_cast<int64_t>(physical_rows * sizeof(uint32_t)) + 2 * bytes->size() + (1 << 20));
  options.memory_pool = &pool;
  auto source = std::make_shared<arrow::io::BufferReader>(std::move(bytes));
  arrow::Result<std::shared_ptr<arrow::ipc::RecordBatchFileReader>> file =
      arrow::ipc::RecordBatchFileReader::Open(source, options);
  if (!file.ok()) return Malformed(path, file.status().message());
  DeadRows dead;
  for (int i = 0; i < (*file)->num_record_batches(); ++i) {
    arrow::Result<std::shared_ptr<arrow::RecordBatch>> batch = (*file)->ReadRecordBatch(i);
    if (!batch.ok()) return Malformed(path, batch.status().message());
    ARROW_RETURN_NOT_OK(AddColumn(**batch, path, physical_rows, &dead));
  }
  return dead;
}

}  // namespace

void DeadRows::Add(uint64_t row) {
  const uint64_t number = row / kBlockRows;
  if (number >= blocks_.size()) blocks_.resize(number + 1);
  std::unique_ptr<Block>& block = blocks_[number];
  if (block == nullptr) block = std::make_unique<Block>();
  uint64_t& word = (*block)[row % kBlockRows / 64];
  const uint64_t bit = uint64_t{1} << (row % 64);
  count_ += (word & bit) == 0 ? 1 : 0;
  word |= bit;
}

uint64_t DeadRows::CountIn(uint64_t begin, uint64_t end) const {
  uint64_t count = 0;
  for (uint64_t row = begin; row < end;) {
    const uint64_t next = std::min((row / 64 + 1) * 64, end);
    const uint64_t block = row / kBlockRows;
    if (block >= blocks_.size()) break;
    if (blocks_[block] != nullptr) {
      uint64_t word = (*blocks_[block])[row % kBlockRows / 64] >> (row % 64);
      if (next - row < 64) word &= (uint64_t{1} << (next - row)) - 1;
      count += static_cast<uint64_t>(std::popcount(word));
    }
    row = next;
  }
  return count;
}

uint64_t DeadRows::FindNext(uint64_t row, uint64_t end, bool dead) const {
  while (row < end) {
    const uint64_t number = row / kBlockRows;
    if (number >= blocks_.size()) return dead ? end : row;
    if (blocks_[number] == nullptr) {
      if (!dead) return row;
      row = (number + 1) * kBlockRows;
      continue;
    }
    uint64_t word = (*blocks_[number])[row % kBlockRows / 64];
    if (!dead) word = ~word;
    word >>= row % 64;
    if (word != 0) return std::min(end, row + static_cast<uint64_t>(std::countr_zero(word)));
    row = (row / 64 + 1) * 64;
  }
  return end;
}

uint64_t DeadRows::AppendLiveRanges(uint64_t begin, uint64_t end,
                                    std::vector<RowRange>* ranges) const {
  uint64_t total = 0;
  uint64_t row = begin;
  while (true) {
    const uint64_t first = FindNext(row, end, /*dead=*/false);
    if (first == end) return total;
    const uint64_t last = FindNext(first, end, /*dead=*/true);
    ranges->push_back({first, last});
    total += last - first;
    row = last;
  }
}

arrow::Result<DeadRows> ReadDeletionFile(io::RandomReader* reader, DeletionFileType type,
                                         uint64_t physical_rows) {
  ARROW_ASSIGN_OR_RAISE(std::shared_ptr<arrow::Buffer> bytes, reader->Read({0, reader->size()}));
  if (type == DeletionFileType::kBitmap) return ReadBitmap(reader->path(), *bytes, physical_rows);
  return ReadArrowArray(reader->path(), std::move(bytes), physical_rows);
}

}  // namespace kinjo::format
