// Numbers for keys: each distinct run of bytes has one, in the order they came.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace kinjo::join {

/// Filled by one thread, then immutable and thread-safe.
class KeyTable {
 public:
  static constexpr uint32_t kAbsent = UINT32_MAX;

  /// The number of `key`, which is new or known.
  uint32_t Add(std::string_view key);
  /// kAbsent when it was never added.
  uint32_t Find(std::string_view key) const;

  uint32_t size() const { return static_cast<uint32_t>(ends_.size()); }
  int64_t size_bytes() const;

 private:
  std::string_view KeyOf(uint32_t number) const;
  /// The slot that holds `key`, or the empty one where it belongs. Requires: there is one.
  size_t SlotOf(std::string_view key) const;
  void Grow();

  std::vector<uint32_t> slots_;  // numbers by hash; kAbsent = empty; a power of two
  std::vector<char> bytes_;      // all keys
  std::vector<uint64_t> ends_;   // of each key in `bytes_`
};

}  // namespace kinjo::join
