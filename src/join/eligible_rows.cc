#include "join/eligible_rows.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "join/left_identity.h"
#include "join/plan.h"
#include "join/right_filter.h"

namespace kinjo::join {

namespace {

// Of a key, where vectors have room to grow: places in a table that is at least a quarter full, its
// end among the keys, and the number of its rows.
constexpr int64_t kKeyOverheadBytes = 4 * 4 + 2 * 8 + 2 * 8;

constexpr int64_t kGroupsGuessed = 4096;

int64_t RightKeysBytes(const RightSide& right, const std::vector<KeyColumn>& columns,
                       int64_t distinct) {
  if (columns.empty()) return 0;
  int64_t rows = right.num_rows().value_or(0);
  if (const auto dataset = right.dataset(); dataset != nullptr) {
    rows = 0;
    for (const auto& fragment : dataset->fragments()) {
      rows += static_cast<int64_t>(fragment.physical_rows);
    }
  }
  // Besides, a bit a row tells those of some groups (RowsOf).
  return 2 * rows * static_cast<int64_t>(sizeof(uint32_t)) + rows / 4 +
         std::min(rows, distinct) * (kKeyOverheadBytes + 2 * KeySize(columns));
}

std::vector<std::string> RootsOf(const std::vector<KeyColumn>& columns) {
  std::vector<std::string> roots;
  for (const KeyColumn& column : columns) {
    if (std::find(roots.begin(), roots.end(), column.root) == roots.end()) {
      roots.push_back(column.root);
    }
  }
  return roots;
}

/// Takes more of the budget as the keys grow.
class GrowingReservation {
 public:
  GrowingReservation(base::MemoryBudget* budget, std::string what,
                     std::vector<base::Reservation>* reservations)
      : budget_(budget), what_(std::move(what)), reservations_(reservations) {}

  arrow::Status CoverAtLeast(int64_t bytes) {
    constexpr int64_t kStepBytes = int64_t{1} << 16;
    if (bytes <= covered_bytes_) return arrow::Status::OK();
    const int64_t more = covered_bytes_ == 0 ? bytes : std::max(bytes - covered_bytes_, kStepBytes);
    ARROW_ASSIGN_OR_RAISE(auto reservation, budget_->Reserve(more, what_));
    reservations_->push_back(std::move(reservation));
    covered_bytes_ += more;
    return arrow::Status::OK();
  }

 private:
  base::MemoryBudget* budget_;
  const std::string what_;
  std::vector<base::Reservation>* reservations_;
  int64_t covered_bytes_ = 0;
};

/// The fragments whose rows may come out; nothing = all.
std::optional<std::vector<uint64_t>> FragmentsOf(const JoinPlan& plan) {
  if (!plan.uses_index() || !plan.options.fast_search) return std::nullopt;
  std::vector<uint64_t> fragments;
  for (const dataset::IndexSegmentInfo& segment : plan.choice.index->info.segments) {
    fragments.insert(fragments.end(), segment.fragment_ids.begin(), segment.fragment_ids.end());
  }
  std::sort(fragments.begin(), fragments.end());
  fragments.erase(std::unique(fragments.begin(), fragments.end()), fragments.end());
  return fragments;
}

arrow::Result<std::unique_ptr<RightKeys>> ReadRightKeys(const JoinPlan& plan,
                                                        const std::vector<KeyColumn>& columns,
                                                        const base::CancelToken& cancel,
                                                        GrowingReservation* memory) {
  auto keys = std::make_unique<RightKeys>();
  ARROW_ASSIGN_OR_RAISE(
      const auto scan,
      plan.right->ScanColumns(RootsOf(columns), FragmentsOf(plan), kScanBatchRows, plan.rows));
  while (true) {
    ARROW_RETURN_NOT_OK(cancel.Check());
    ARROW_ASSIGN_OR_RAISE(const dataset::ScanBatch batch, scan->Next());
    if (batch.batch == nullptr) break;
    ARROW_ASSIGN_OR_RAISE(const KeyBytes read, ReadKeys(*batch.batch, columns));
    for (size_t row = 0; row < batch.addresses.size(); ++row) {
      if (!read.is_key[row]) continue;
      keys->rows.Set(batch.addresses[row], keys->table.Add(read.keys[row]));
    }
    ARROW_RETURN_NOT_OK(memory->CoverAtLeast(keys->size_bytes()));
  }
  return keys;
}

}  // namespace

arrow::Result<EligibilityPlan> PlanEligibility(const JoinOptions& options,
                                               const tabular::TableSource& left,
                                               const RightSide& right, const Side& left_side,
                                               const Side& right_side) {
  EligibilityPlan plan;
  ARROW_ASSIGN_OR_RAISE(plan.by, ResolveKeys("by", options.by, left_side, right_side));
  plan.excludes_self = options.exclude_self.has_value();
  if (!plan.excludes_self) return plan;
  if (!options.exclude_self->empty()) {
    ARROW_ASSIGN_OR_RAISE(
        plan.self, ResolveKeys("exclude_self", {*options.exclude_self}, left_side, right_side));
    return plan;
  }
  const std::string why = LeftIdentity::WhyNotSame(left, right);
  if (why.empty()) return plan;
  return base::Invalid("exclude_self can't tell which right row a left row is: ", why,
                       "; name the key column that does (COLUMN, or LEFT:RIGHT where its name "
                       "differs)");
}

int64_t ByBytes(const EligibilityPlan& plan, const RightSide& right) {
  return RightKeysBytes(right, plan.by.right, kGroupsGuessed);
}

int64_t SelfBytes(const EligibilityPlan& plan, const RightSide& right) {
  return RightKeysBytes(right, plan.self.right, INT64_MAX);
}

arrow::Result<std::unique_ptr<EligibleRows>> EligibleRows::Make(const JoinPlan& plan,
                                                                const base::CancelToken& cancel,
                                                                base::MemoryBudget* budget,
                                                                RunCounters* counters) {
  std::unique_ptr<EligibleRows> eligible(new EligibleRows());
  const PhaseTimer timer(&counters->filter_ns);
  if (plan.eligibility.groups_rows()) {
    GrowingReservation memory(budget, "the right rows by key", &eligible->reservations_);
    ARROW_RETURN_NOT_OK(memory.CoverAtLeast(ByBytes(plan.eligibility, *plan.right)));
    ARROW_ASSIGN_OR_RAISE(eligible->by_,
                          ReadRightKeys(plan, plan.eligibility.by.right, cancel, &memory));
    const exec::RowGroups& rows = eligible->by_->rows;
    eligible->few_.assign(rows.num_groups(), false);
    for (uint32_t group = 0; plan.uses_index() && group < rows.num_groups(); ++group) {
      eligible->few_[group] = NeedsNoSearch(plan, rows.rows(group));
    }
  }
  if (!plan.eligibility.self.right.empty()) {
    GrowingReservation memory(budget, "the right rows' keys", &eligible->reservations_);
    ARROW_RETURN_NOT_OK(memory.CoverAtLeast(SelfBytes(plan.eligibility, *plan.right)));
    ARROW_ASSIGN_OR_RAISE(eligible->self_,
                          ReadRightKeys(plan, plan.eligibility.self.right, cancel, &memory));
  }
  return eligible;
}

int64_t EligibleRows::reserved_bytes() const {
  int64_t bytes = 0;
  for (const base::Reservation& reservation : reservations_) bytes += reservation.bytes();
  return bytes;
}

std::shared_ptr<const dataset::RowMask> EligibleRows::RowsOf(
    const std::vector<uint32_t>& groups) const {
  std::vector<bool> wanted(by_->rows.num_groups(), false);
  for (const uint32_t group : groups) wanted[group] = true;
  auto mask = std::make_shared<dataset::RowMask>();
  std::vector<dataset::RowAddress> addresses;
  constexpr size_t kTogether = 1024;
  by_->rows.ForEach([&](dataset::RowAddress address, uint32_t group) {
    if (!wanted[group]) return;
    addresses.push_back(address);
    if (addresses.size() < kTogether) return;
    mask->Add(addresses);
    addresses.clear();
  });
  mask->Add(addresses);
  return mask;
}

}  // namespace kinjo::join
