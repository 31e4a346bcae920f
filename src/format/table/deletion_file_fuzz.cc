// Any bytes as a deletion file: the first byte picks the kind, the rest is the file.
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "arrow/buffer.h"
#include "format/table/dead_rows.h"
#include "io/random_reader.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const uint64_t physical_rows = (data[0] & 2) != 0 ? 100'000 : 300;
  const auto type = static_cast<kinjo::format::DeletionFileType>(data[0] & 1);
  std::string bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const auto reader =
      kinjo::io::OpenBuffer(arrow::Buffer::FromString(std::move(bytes)), "0-1-2.bin");
  const auto dead = kinjo::format::ReadDeletionFile(reader.get(), type, physical_rows);
  if (!dead.ok()) return 0;
  std::vector<kinjo::format::RowRange> ranges;
  const uint64_t live = dead->AppendLiveRanges(0, physical_rows, &ranges);
  if (live + dead->count() != physical_rows) __builtin_trap();
  return 0;
}
