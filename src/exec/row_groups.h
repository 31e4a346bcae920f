// A number for each right row that says which rows belong together: those with equal keys. Four
// bytes a row, looked up by address.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "dataset/dataset.h"

namespace kinjo::exec {

/// Filled by one thread, then immutable and thread-safe. Tables without fragments use their row
/// ordinals as addresses.
class RowGroups {
 public:
  /// The group of rows that belong to none.
  static constexpr uint32_t kNone = UINT32_MAX;

  /// Puts a row into a group. Fastest when rows of one fragment come together.
  void Set(dataset::RowAddress address, uint32_t group);

  uint32_t Of(dataset::RowAddress address) const;
  /// groups[i] becomes the group of addresses[i]; dead rows are in none.
  void Of(std::span<const dataset::RowAddress> addresses, std::span<uint32_t> groups) const;

  /// Groups so far: 0 to num_groups() - 1.
  uint32_t num_groups() const { return static_cast<uint32_t>(rows_.size()); }
  /// Rows of a group; 0 for kNone.
  int64_t rows(uint32_t group) const { return group < rows_.size() ? rows_[group] : 0; }

  /// Calls visit(address, group) for each row that is in a group, fragment by fragment.
  void ForEach(const std::function<void(dataset::RowAddress, uint32_t)>& visit) const;

  int64_t size_bytes() const;

 private:
  struct Fragment {
    uint64_t id;  // the address without its last 32 bits
    std::vector<uint32_t> groups;
  };
  const Fragment* Find(uint64_t id) const;

  std::vector<Fragment> fragments_;  // rising
  std::vector<int64_t> rows_;        // of each group
};

}  // namespace kinjo::exec
