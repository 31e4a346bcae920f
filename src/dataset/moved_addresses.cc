#include "dataset/moved_addresses.h"

#include <algorithm>
#include <utility>

namespace kinjo::dataset {
namespace {

constexpr int kOffsetBits = 32;
constexpr uint64_t kOffsetMask = 0xffffffff;
// Deleted rows are counted from the begin of a block on.
constexpr uint64_t kBlockRows = 512;

}  // namespace

void MovedAddresses::AddOld(uint64_t fragment_id, uint64_t physical_rows, format::DeadRows dead) {
  Group& group = groups_.back();
  Old old{.group = groups_.size() - 1,
          .first = group.rows,
          .physical_rows = physical_rows,
          .dead = {},
          .dead_before = {}};
  if (!dead.empty()) {
    uint32_t before = 0;
    for (uint64_t row = 0; row < physical_rows; row += kBlockRows) {
      old.dead_before.push_back(before);
      before += static_cast<uint32_t>(dead.CountIn(row, std::min(row + kBlockRows, physical_rows)));
    }
  }
  group.rows += physical_rows - dead.count();
  old.dead = std::move(dead);
  old_.emplace(fragment_id, std::move(old));
}

void MovedAddresses::SetNew(size_t group,
                            std::span<const format::proto::DataFragmentMessage> made) {
  uint64_t end = 0;
  for (const format::proto::DataFragmentMessage& fragment : made) {
    end += fragment.physical_rows;
    groups_[group].made.push_back({end, fragment.id});
  }
}

RowAddress MovedAddresses::Find(const Old& old, uint64_t row) const {
  uint64_t position = old.first + row;
  if (!old.dead_before.empty()) {
    const uint64_t block = row / kBlockRows;
    position -= old.dead_before[block] + old.dead.CountIn(block * kBlockRows, row);
  }
  const std::vector<New>& made = groups_[old.group].made;
  const auto found =
      std::upper_bound(made.begin(), made.end(), position,
                       [](uint64_t wanted, const New& fragment) { return wanted < fragment.end; });
  const uint64_t first = found == made.begin() ? 0 : std::prev(found)->end;
  return found->fragment_id << kOffsetBits | (position - first);
}

void MovedAddresses::Apply(std::span<RowAddress> addresses) const {
  for (RowAddress& address : addresses) {
    const auto found = old_.find(address >> kOffsetBits);
    if (found == old_.end()) continue;
    const uint64_t row = address & kOffsetMask;
    const Old& old = found->second;
    if (row < old.physical_rows && !old.dead.Contains(row)) address = Find(old, row);
  }
}

}  // namespace kinjo::dataset
