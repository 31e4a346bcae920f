#include "exec/query_eligibility.h"

namespace kinjo::exec {

namespace {

bool ByPlace(const ExcludedRow& a, const ExcludedRow& b) {
  return a.self != b.self ? a.self < b.self : a.position < b.position;
}

}  // namespace

void QueryEligibility::Finish() {
  sorted_ = self;
  std::sort(sorted_.begin(), sorted_.end());
  sorted_.erase(std::unique(sorted_.begin(), sorted_.end()), sorted_.end());
  if (!sorted_.empty() && sorted_.back() == kNobody) sorted_.pop_back();
}

std::vector<ExcludedRow> QueryEligibility::FindExcluded(std::span<const uint64_t> addresses) const {
  std::vector<ExcludedRow> found;
  if (sorted_.empty()) return found;
  // A block's rows mostly lie together: few addresses are looked up.
  const uint64_t lowest = sorted_.front();
  const uint64_t highest = sorted_.back();
  for (size_t i = 0; i < addresses.size(); ++i) {
    const uint64_t own = SelfOf(addresses[i]);
    if (own < lowest || own > highest) continue;
    if (!std::binary_search(sorted_.begin(), sorted_.end(), own)) continue;
    found.push_back({own, static_cast<uint32_t>(i)});
  }
  std::sort(found.begin(), found.end(), ByPlace);
  return found;
}

std::span<const ExcludedRow> QueryEligibility::ExcludedFor(
    int64_t query, std::span<const ExcludedRow> excluded) const {
  if (excluded.empty()) return {};
  const auto first =
      std::lower_bound(excluded.begin(), excluded.end(), ExcludedRow{self[query], 0}, ByPlace);
  auto last = first;
  while (last != excluded.end() && last->self == self[query]) ++last;
  return {first, last};
}

}  // namespace kinjo::exec
