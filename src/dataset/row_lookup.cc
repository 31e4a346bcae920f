#include "dataset/row_lookup.h"

#include <algorithm>
#include <utility>

namespace kinjo::dataset {
namespace {

constexpr int kOffsetBits = 32;
constexpr uint64_t kOffsetMask = 0xffffffff;

}  // namespace

FragmentTable::FragmentTable(std::vector<const Fragment*> fragments)
    : by_id_(std::move(fragments)) {
  std::sort(by_id_.begin(), by_id_.end(),
            [](const Fragment* a, const Fragment* b) { return a->id() < b->id(); });
  if (by_id_.empty()) return;
  first_id_ = by_id_.front()->id();
  const uint64_t span = by_id_.back()->id() - first_id_ + 1;
  if (span > by_id_.size() * 16 + 4096) return;
  dense_.resize(span);
  for (const Fragment* fragment : by_id_) dense_[fragment->id() - first_id_] = fragment;
}

const Fragment* FragmentTable::Find(uint64_t id) const {
  if (!dense_.empty()) {
    const uint64_t place = id - first_id_;  // wraps to a huge number below first_id_
    return place < dense_.size() ? dense_[place] : nullptr;
  }
  const auto found = std::lower_bound(
      by_id_.begin(), by_id_.end(), id,
      [](const Fragment* fragment, uint64_t wanted) { return fragment->id() < wanted; });
  return found != by_id_.end() && (*found)->id() == id ? *found : nullptr;
}

arrow::Status StableRowIds::Build() const {
  std::vector<format::RowRange> live;
  for (const Fragment* fragment : fragments_->fragments()) {
    const RowAddress base = fragment->id() << kOffsetBits;
    fragment->row_ids()->ForEachRun([&](const format::RowIdSequence::Run& run) {
      live.clear();
      const uint64_t end = run.first_position + run.length;
      fragment->dead().AppendLiveRanges(run.first_position, end, &live);
      for (const format::RowRange& range : live) {
        runs_.push_back({run.first_id + (range.begin - run.first_position), base + range.begin,
                         range.end - range.begin});
      }
    });
  }
  std::sort(runs_.begin(), runs_.end(),
            [](const Run& a, const Run& b) { return a.first_id < b.first_id; });
  for (size_t i = 1; i < runs_.size(); ++i) {
    if (runs_[i].first_id - runs_[i - 1].first_id < runs_[i - 1].length) {
      return base::MakeError(
          base::ErrorCode::kCorrupt,
          base::Concat("two live rows have the row id ", runs_[i].first_id, ", one in fragment ",
                       runs_[i - 1].first_address >> kOffsetBits, ", one in fragment ",
                       runs_[i].first_address >> kOffsetBits));
    }
  }
  return arrow::Status::OK();
}

arrow::Status StableRowIds::Find(std::span<const uint64_t> ids,
                                 std::span<RowAddress> addresses) const {
  std::call_once(once_, [this] { status_ = Build(); });
  ARROW_RETURN_NOT_OK(status_);
  for (size_t i = 0; i < ids.size(); ++i) {
    const uint64_t id = ids[i];  // `addresses` may be the same memory
    const auto after =
        std::upper_bound(runs_.begin(), runs_.end(), id,
                         [](uint64_t wanted, const Run& run) { return wanted < run.first_id; });
    addresses[i] = kDeadRow;
    if (after == runs_.begin()) continue;
    const Run& run = *std::prev(after);
    const uint64_t place = id - run.first_id;
    if (place < run.length) addresses[i] = run.first_address + place;
  }
  return arrow::Status::OK();
}

void KeepLiveRows(const FragmentTable& covered, std::span<RowAddress> addresses) {
  uint64_t last_id = kDeadRow;
  const Fragment* fragment = nullptr;
  for (RowAddress& address : addresses) {
    const uint64_t id = address >> kOffsetBits;
    if (id != last_id) {
      last_id = id;
      fragment = covered.Find(id);
    }
    if (fragment == nullptr || !fragment->IsLive(address & kOffsetMask)) address = kDeadRow;
  }
}

}  // namespace kinjo::dataset
