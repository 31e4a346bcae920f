#include "join/covered_rows.h"

#include <algorithm>
#include <vector>

namespace kinjo::join {

std::shared_ptr<const dataset::RowMask> CoveredRows(const JoinPlan& plan,
                                                    const dataset::RowMask* rows) {
  const auto& unindexed = plan.choice.index->unindexed_fragments;
  std::vector<uint64_t> covered;
  dataset::RowMask all;
  for (const dataset::FragmentInfo& fragment : plan.right->dataset()->fragments()) {
    if (std::binary_search(unindexed.begin(), unindexed.end(), fragment.id)) continue;
    covered.push_back(fragment.id);
    if (rows != nullptr) continue;
    const uint64_t begin = fragment.id << 32;
    all.AddRange(begin, begin + fragment.physical_rows);
  }
  return std::make_shared<const dataset::RowMask>(rows == nullptr ? std::move(all)
                                                                  : rows->InFragments(covered));
}

}  // namespace kinjo::join
