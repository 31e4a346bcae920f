#include "exec/row_groups.h"

#include <algorithm>

namespace kinjo::exec {

namespace {

constexpr int kOffsetBits = 32;

template <typename Fragments>
auto LowerBound(Fragments* fragments, uint64_t id) {
  return std::lower_bound(
      fragments->begin(), fragments->end(), id,
      [](const auto& fragment, uint64_t wanted) { return fragment.id < wanted; });
}

}  // namespace

void RowGroups::Set(dataset::RowAddress address, uint32_t group) {
  const uint64_t id = address >> kOffsetBits;
  auto fragment = LowerBound(&fragments_, id);
  if (fragment == fragments_.end() || fragment->id != id) {
    fragment = fragments_.insert(fragment, Fragment{id, {}});
  }
  const auto offset = static_cast<uint32_t>(address);
  if (offset >= fragment->groups.size()) fragment->groups.resize(size_t{offset} + 1, kNone);
  fragment->groups[offset] = group;
  if (group >= rows_.size()) rows_.resize(size_t{group} + 1, 0);
  ++rows_[group];
}

const RowGroups::Fragment* RowGroups::Find(uint64_t id) const {
  const auto fragment = LowerBound(&fragments_, id);
  return fragment == fragments_.end() || fragment->id != id ? nullptr : &*fragment;
}

uint32_t RowGroups::Of(dataset::RowAddress address) const {
  uint32_t group = kNone;
  Of({&address, 1}, {&group, 1});
  return group;
}

void RowGroups::Of(std::span<const dataset::RowAddress> addresses,
                   std::span<uint32_t> groups) const {
  // No fragment has the last one's id (dataset::kDeadRow).
  uint64_t id = dataset::kDeadRow >> kOffsetBits;
  const Fragment* fragment = nullptr;
  for (size_t i = 0; i < addresses.size(); ++i) {
    if (addresses[i] >> kOffsetBits != id) {
      id = addresses[i] >> kOffsetBits;
      fragment = Find(id);
    }
    const auto offset = static_cast<uint32_t>(addresses[i]);
    const bool known = fragment != nullptr && offset < fragment->groups.size();
    groups[i] = known ? fragment->groups[offset] : kNone;
  }
}

void RowGroups::ForEach(const std::function<void(dataset::RowAddress, uint32_t)>& visit) const {
  for (const Fragment& fragment : fragments_) {
    for (size_t offset = 0; offset < fragment.groups.size(); ++offset) {
      const uint32_t group = fragment.groups[offset];
      if (group != kNone) visit(fragment.id << kOffsetBits | offset, group);
    }
  }
}

int64_t RowGroups::size_bytes() const {
  size_t bytes = rows_.capacity() * sizeof(int64_t);
  for (const Fragment& fragment : fragments_) {
    bytes += sizeof(Fragment) + fragment.groups.capacity() * sizeof(uint32_t);
  }
  return static_cast<int64_t>(bytes);
}

}  // namespace kinjo::exec
