#include "join/self_rows.h"

#include <algorithm>
#include <numeric>

namespace kinjo::join {

namespace {

uint64_t LiveRows(const dataset::FragmentInfo& fragment) {
  return fragment.physical_rows - fragment.deleted_rows;
}

arrow::Result<std::vector<uint32_t>> ReadLiveRows(dataset::Dataset* dataset,
                                                  const dataset::FragmentInfo& fragment,
                                                  const base::CancelToken& cancel) {
  dataset::ScanOptions options;  // no columns: only the deletions are looked at
  options.fragment_ids = {{fragment.id}};
  ARROW_ASSIGN_OR_RAISE(const auto scan, dataset->MakeScan(options));
  std::vector<uint32_t> live;
  live.reserve(LiveRows(fragment));
  while (true) {
    ARROW_RETURN_NOT_OK(cancel.Check());
    ARROW_ASSIGN_OR_RAISE(const dataset::ScanBatch batch, scan->Next());
    if (batch.batch == nullptr) break;
    for (const uint64_t address : batch.addresses) live.push_back(static_cast<uint32_t>(address));
  }
  if (live.size() != LiveRows(fragment)) {
    return base::Internal("fragment ", fragment.id, " of ", dataset->uri(), " has ", live.size(),
                          " live rows instead of ", LiveRows(fragment));
  }
  return live;
}

}  // namespace

arrow::Result<SelfRows> SelfRows::Make(dataset::Dataset* dataset, int64_t num_rows,
                                       const base::CancelToken& cancel) {
  SelfRows rows(num_rows);
  if (dataset == nullptr) return rows;
  rows.num_rows_ = 0;
  for (const dataset::FragmentInfo& fragment : dataset->fragments()) {
    const auto live = static_cast<int64_t>(LiveRows(fragment));
    if (live == 0) continue;
    Run run{.fragment_id = fragment.id, .first_row = rows.num_rows_, .live = {}};
    if (fragment.deleted_rows > 0) {
      ARROW_ASSIGN_OR_RAISE(run.live, ReadLiveRows(dataset, fragment, cancel));
    }
    rows.num_rows_ += live;
    rows.runs_.push_back(std::move(run));
  }
  rows.by_fragment_id_.resize(rows.runs_.size());
  std::iota(rows.by_fragment_id_.begin(), rows.by_fragment_id_.end(), uint32_t{0});
  std::ranges::sort(rows.by_fragment_id_, {},
                    [&](uint32_t position) { return rows.runs_[position].fragment_id; });
  return rows;
}

int64_t SelfRows::SizeBytes(const dataset::Dataset* dataset) {
  if (dataset == nullptr) return 0;
  int64_t bytes = 0;
  for (const dataset::FragmentInfo& fragment : dataset->fragments()) {
    bytes += static_cast<int64_t>(sizeof(Run) + sizeof(uint32_t));
    if (fragment.deleted_rows > 0) bytes += static_cast<int64_t>(LiveRows(fragment)) * 4;
  }
  return bytes;
}

uint64_t SelfRows::AddressOf(int64_t row) const {
  if (runs_.empty()) return static_cast<uint64_t>(row);
  const auto after = std::ranges::upper_bound(runs_, row, {}, &Run::first_row);
  const Run& run = *(after - 1);
  const auto at = static_cast<size_t>(row - run.first_row);
  return run.fragment_id << 32 | (run.live.empty() ? at : run.live[at]);
}

int64_t SelfRows::RowOf(uint64_t address) const {
  if (runs_.empty()) return static_cast<int64_t>(address);
  const auto position = std::ranges::lower_bound(
      by_fragment_id_, address >> 32, {}, [&](uint32_t at) { return runs_[at].fragment_id; });
  const Run& run = runs_[*position];
  const auto physical = static_cast<uint32_t>(address);
  if (run.live.empty()) return run.first_row + physical;
  return run.first_row + (std::ranges::lower_bound(run.live, physical) - run.live.begin());
}

}  // namespace kinjo::join
