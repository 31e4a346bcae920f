#include "join/key_table.h"

#include <functional>

namespace kinjo::join {

std::string_view KeyTable::KeyOf(uint32_t number) const {
  const uint64_t begin = number == 0 ? 0 : ends_[number - 1];
  return {bytes_.data() + begin, static_cast<size_t>(ends_[number] - begin)};
}

size_t KeyTable::SlotOf(std::string_view key) const {
  size_t slot = std::hash<std::string_view>()(key) & (slots_.size() - 1);
  while (slots_[slot] != kAbsent && KeyOf(slots_[slot]) != key) {
    slot = (slot + 1) & (slots_.size() - 1);
  }
  return slot;
}

void KeyTable::Grow() {
  constexpr size_t kSlotsMin = 64;
  slots_.assign(slots_.empty() ? kSlotsMin : 2 * slots_.size(), kAbsent);
  for (uint32_t number = 0; number < size(); ++number) slots_[SlotOf(KeyOf(number))] = number;
}

uint32_t KeyTable::Add(std::string_view key) {
  if (2 * (ends_.size() + 1) > slots_.size()) Grow();
  uint32_t& number = slots_[SlotOf(key)];
  if (number == kAbsent) {
    number = size();
    bytes_.insert(bytes_.end(), key.begin(), key.end());
    ends_.push_back(bytes_.size());
  }
  return number;
}

uint32_t KeyTable::Find(std::string_view key) const {
  return slots_.empty() ? kAbsent : slots_[SlotOf(key)];
}

int64_t KeyTable::size_bytes() const {
  return static_cast<int64_t>(slots_.capacity() * sizeof(uint32_t) + bytes_.capacity() +
                              ends_.capacity() * sizeof(uint64_t));
}

}  // namespace kinjo::join
