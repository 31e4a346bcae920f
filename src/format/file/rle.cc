#include "format/file/rle.h"

#include <algorithm>

namespace kinjo::format::file {

namespace {

// Writers split long runs, so no honest run is near this; it keeps a few bytes from asking for a
// huge allocation.
constexpr uint64_t kMaxRun = 1 << 20;

template <typename T>
void FillRun(const uint8_t* value, uint64_t count, uint8_t* out) {
  const T number = Load<T>(value);
  for (uint64_t i = 0; i < count; ++i) std::memcpy(out + i * sizeof(T), &number, sizeof(T));
}

void FillRun(const uint8_t* value, uint32_t width, uint64_t count, uint8_t* out) {
  switch (width) {
    case 1:
      std::memset(out, *value, count);
      return;
    case 2:
      return FillRun<uint16_t>(value, count, out);
    case 4:
      return FillRun<uint32_t>(value, count, out);
    case 8:
      return FillRun<uint64_t>(value, count, out);
    default:
      for (uint64_t i = 0; i < count; ++i) std::memcpy(out + i * width, value, width);
  }
}

template <typename T>
OwnRuns FindRunsOf(const uint8_t* values, uint64_t count) {
  OwnRuns runs;
  for (uint64_t i = 0; i < count;) {
    const T value = Load<T>(values + i * sizeof(T));
    uint64_t length = 1;
    while (i + length < count && length < UINT8_MAX &&
           Load<T>(values + (i + length) * sizeof(T)) == value) {
      ++length;
    }
    const uint8_t* bytes = values + i * sizeof(T);
    runs.values.insert(runs.values.end(), bytes, bytes + sizeof(T));
    runs.lengths.push_back(static_cast<uint8_t>(length));
    i += length;
  }
  return runs;
}

uint64_t LengthOf(const Runs& runs, uint64_t run) {
  return LoadUnsigned(runs.lengths.data() + run * runs.length_width, runs.length_width);
}

}  // namespace

OwnRuns FindRuns(const uint8_t* values, uint32_t width, uint64_t count) {
  switch (width) {
    case 1:
      return FindRunsOf<uint8_t>(values, count);
    case 2:
      return FindRunsOf<uint16_t>(values, count);
    case 4:
      return FindRunsOf<uint32_t>(values, count);
    default:
      return FindRunsOf<uint64_t>(values, count);
  }
}

arrow::Result<Bytes> ExpandRuns(const Runs& runs, uint64_t num_values, bool wrapped,
                                const Where& where, Scratch* scratch) {
  const uint64_t num_runs = runs.lengths.size() / runs.length_width;
  if (runs.lengths.size() % runs.length_width != 0 ||
      runs.values.size() / runs.value_width < num_runs) {
    return where.Corrupt("run-length buffers of ", runs.values.size(), " and ", runs.lengths.size(),
                         " bytes don't match");
  }
  if (num_values > num_runs * kMaxRun) {
    return where.Corrupt(num_runs, " runs can't hold ", num_values, " values");
  }
  // Added up before anything is allocated: the count is only a claim of the file.
  uint64_t total = 0;
  for (uint64_t run = 0; run < num_runs; ++run) {
    if (!CheckedAdd(total, LengthOf(runs, run), &total)) {
      return where.Corrupt("run lengths overflow");
    }
  }
  const bool right =
      wrapped ? total >= num_values && (total - num_values) % 65536 == 0 : total == num_values;
  if (!right) {
    return where.Corrupt("run lengths add up to ", total, " where ", num_values,
                         " values are meant");
  }
  uint64_t out_bytes = 0;
  if (!CheckedMultiply(num_values, runs.value_width, &out_bytes)) {
    return where.Corrupt(num_values, " values of ", runs.value_width, " bytes in runs");
  }
  ARROW_ASSIGN_OR_RAISE(uint8_t* out, scratch->Take(out_bytes, where));
  uint64_t filled = 0;
  for (uint64_t run = 0; run < num_runs; ++run) {
    const uint64_t count = std::min(LengthOf(runs, run), num_values - filled);
    FillRun(runs.values.data() + run * runs.value_width, runs.value_width, count,
            out + filled * runs.value_width);
    filled += count;
  }
  return Bytes(out, out_bytes);
}

}  // namespace kinjo::format::file
