#include "format/index_file/bitmap_file.h"

#include <utility>

#include "format/index_file/scalar_columns.h"

namespace kinjo::format {
namespace {

constexpr const char* kFile = "bitmap_page_lookup.lance";

}  // namespace

arrow::Result<std::shared_ptr<BitmapFile>> BitmapFile::Assemble(std::shared_ptr<LanceFile> file) {
  std::shared_ptr<BitmapFile> bitmaps(new BitmapFile());
  bitmaps->file_ = std::move(file);
  const LanceFile& opened = *bitmaps->file_;
  ARROW_ASSIGN_OR_RAISE(bitmaps->keys_, FindScalarColumn(opened, "keys", nullptr));
  ARROW_ASSIGN_OR_RAISE(bitmaps->bitmaps_, FindScalarColumn(opened, "bitmaps", arrow::binary()));
  ARROW_ASSIGN_OR_RAISE(bitmaps->type_, ToArrowType(*bitmaps->keys_));
  return bitmaps;
}

arrow::Result<std::shared_ptr<BitmapFile>> BitmapFile::Open(
    const io::Location& directory, const std::shared_ptr<io::IoCounters>& counters) {
  ARROW_ASSIGN_OR_RAISE(auto file, OpenScalarFile(directory, kFile, counters));
  return Assemble(std::move(file));
}

arrow::Result<std::shared_ptr<arrow::Array>> BitmapFile::ReadKeys(RowRange keys) const {
  return ReadScalarColumn(file_.get(), *keys_, {&keys, 1});
}

arrow::Result<std::shared_ptr<arrow::BinaryArray>> BitmapFile::ReadSets(
    std::span<const uint64_t> keys) const {
  std::vector<RowRange> ranges;
  for (const uint64_t key : keys) {
    if (!ranges.empty() && ranges.back().end == key) {
      ++ranges.back().end;
    } else {
      ranges.push_back({key, key + 1});
    }
  }
  ARROW_ASSIGN_OR_RAISE(const auto sets, ReadScalarColumn(file_.get(), *bitmaps_, ranges));
  if (sets->null_count() != 0) {
    return base::Corrupt(file_->path(), 0, "Keys of the bitmap index have no bitmap");
  }
  return std::static_pointer_cast<arrow::BinaryArray>(sets);
}

}  // namespace kinjo::format
