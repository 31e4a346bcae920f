// Any bytes as a sequence of stable row ids: the first byte is the fragment's number of rows. What
// parses must give the same ids by position and by runs.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "format/table/row_id_sequence.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const uint64_t rows = data[0];
  const auto sequence = kinjo::format::RowIdSequence::Parse(bytes, rows, "1.manifest");
  if (!sequence.ok()) return 0;
  uint64_t position = 0;
  sequence->ForEachRun([&](const kinjo::format::RowIdSequence::Run& run) {
    for (uint64_t i = 0; i < run.length; ++i, ++position) {
      if (sequence->Get(position) != run.first_id + i) __builtin_trap();
    }
  });
  if (position != rows) __builtin_trap();
  return 0;
}
