// Any bytes as the files of a scalar index. The first byte picks what they are: a set of row ids, a
// bitmap file, or the two files of a B-tree, of which a 32-bit length tells the first one's size.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "arrow/buffer.h"
#include "format/index_file/bitmap_file.h"
#include "format/index_file/btree_file.h"
#include "format/index_file/row_id_map.h"
#include "io/random_reader.h"

namespace kinjo::format {
namespace {

constexpr uint64_t kRowsMax = 100'000;

arrow::Result<std::shared_ptr<LanceFile>> OpenBytes(std::string_view bytes) {
  return LanceFile::Open(
      io::OpenBuffer(arrow::Buffer::FromString(std::string(bytes)), "index.lance"));
}

void Walk(const std::vector<RowIdGroup>& groups) {
  uint64_t rows = 0;
  for (const RowIdGroup& group : groups) {
    group.lower.ForEachBlock([&](std::span<const uint32_t> block) {
      rows += block.size();
      return rows < kRowsMax;
    });
  }
}

void ReadBitmaps(std::string_view bytes) {
  auto opened = OpenBytes(bytes);
  if (!opened.ok()) return;
  const auto file = BitmapFile::Assemble(*std::move(opened));
  if (!file.ok() || (*file)->num_keys() > kRowsMax) return;
  const auto keys = (*file)->ReadKeys({0, (*file)->num_keys()});
  if (keys.ok() && static_cast<uint64_t>((*keys)->length()) != (*file)->num_keys()) {
    __builtin_trap();
  }
  std::vector<uint64_t> all;
  for (uint64_t key = 0; key < (*file)->num_keys(); ++key) all.push_back(key);
  const auto sets = (*file)->ReadSets(all);
  if (!sets.ok()) return;
  for (int64_t i = 0; i < (*sets)->length(); ++i) {
    const auto groups = (*file)->ParseSet((*sets)->GetView(i));
    if (groups.ok()) Walk(*groups);
  }
}

void ReadBtree(std::string_view bytes) {
  uint32_t size = 0;
  if (bytes.size() < sizeof(size)) return;
  std::memcpy(&size, bytes.data(), sizeof(size));
  bytes.remove_prefix(sizeof(size));
  const auto lookup = OpenBytes(bytes.substr(0, size));
  auto data = OpenBytes(bytes.substr(std::min<size_t>(size, bytes.size())));
  if (!lookup.ok() || !data.ok()) return;
  const auto file = BtreeFile::Assemble(*lookup, *std::move(data));
  if (!file.ok()) return;
  uint64_t rows = 0;
  for (int64_t page = 0; page < (*file)->num_pages(); ++page) {
    const RowRange range = (*file)->page_rows(page);
    if (range.begin != rows || range.end <= range.begin) __builtin_trap();
    rows = range.end;
    if (rows > kRowsMax) return;
    const auto read = (*file)->Read(range);
    if (read.ok() && read->values->length() != read->row_ids->length()) __builtin_trap();
  }
}

}  // namespace
}  // namespace kinjo::format

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  switch (data[0] % 3) {
    case 0: {
      const auto groups = kinjo::format::ParseRowIdMap(bytes, "index.lance");
      if (groups.ok()) kinjo::format::Walk(*groups);
      return 0;
    }
    case 1:
      kinjo::format::ReadBitmaps(bytes);
      return 0;
    default:
      kinjo::format::ReadBtree(bytes);
      return 0;
  }
}
