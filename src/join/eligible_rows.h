// Which right rows may come out for which left rows: decided when the join is planned
// (EligibilityPlan), found once when it runs (EligibleRows), and handed to the operators with each
// block of queries (exec/query_eligibility.h). docs/decisions/eligible-rows.md says why so.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/cancel_token.h"
#include "base/error.h"
#include "base/memory_budget.h"
#include "exec/row_groups.h"
#include "join/columns.h"
#include "join/key_columns.h"
#include "join/key_table.h"
#include "join/options.h"
#include "join/right_side.h"
#include "join/run_counters.h"

namespace kinjo::join {

struct JoinPlan;

/// `by` and `exclude_self`, with their columns found. Immutable.
struct EligibilityPlan {
  KeyColumns by;  ///< none = any row matches any
  bool excludes_self = false;
  KeyColumns self;  ///< none = a left row is the right row that lies in its place

  bool groups_rows() const { return !by.left.empty(); }
  bool excludes_by_place() const { return excludes_self && self.left.empty(); }
  bool everything() const { return !groups_rows() && !excludes_self; }
};

/// Judges `by` and `exclude_self` against the two sides. Reads no row.
arrow::Result<EligibilityPlan> PlanEligibility(const JoinOptions& options,
                                               const tabular::TableSource& left,
                                               const RightSide& right, const Side& left_side,
                                               const Side& right_side);

/// Right rows by the values of key columns.
struct RightKeys {
  KeyTable table;  ///< the number of a key is its rows' group
  exec::RowGroups rows;
  int64_t size_bytes() const { return table.size_bytes() + rows.size_bytes(); }
};

/// Bytes that the right rows' keys may take, estimated; 0 where there are none. How many groups
/// there are is only guessed: what they take beyond that is taken of the budget when it shows.
int64_t ByBytes(const EligibilityPlan& plan, const RightSide& right);
int64_t SelfBytes(const EligibilityPlan& plan, const RightSide& right);

/// Of one run. Immutable; thread-safe.
class EligibleRows {
 public:
  /// Reads the right key columns, once each, of the rows that pass the filter. `plan` is the run's.
  static arrow::Result<std::unique_ptr<EligibleRows>> Make(const JoinPlan& plan,
                                                           const base::CancelToken& cancel,
                                                           base::MemoryBudget* budget,
                                                           RunCounters* counters);

  /// Null without `by`.
  const RightKeys* by() const { return by_.get(); }
  /// Null unless rows are told apart by a key.
  const RightKeys* self() const { return self_.get(); }

  /// So few rows are in the group that each is scored, though the plan has an index.
  bool scores_all(uint32_t group) const { return group < few_.size() && few_[group]; }
  /// Taken of the budget for keys and groups.
  int64_t reserved_bytes() const;
  /// The rows of some groups (rising, each once).
  std::shared_ptr<const dataset::RowMask> RowsOf(const std::vector<uint32_t>& groups) const;

 private:
  EligibleRows() = default;

  std::unique_ptr<RightKeys> by_;
  std::unique_ptr<RightKeys> self_;
  std::vector<bool> few_;  // of each group
  std::vector<base::Reservation> reservations_;
};

}  // namespace kinjo::join
