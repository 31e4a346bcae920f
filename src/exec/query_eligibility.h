// Which right rows may come out for one query of a block and not for another: those of the query's
// group (`by`), and not the row that the query's own left row is (`exclude_self`). Every operator
// that ranks rows looks here first, so that a row that may not come out takes nobody's place.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "exec/row_groups.h"

namespace kinjo::exec {

/// A row that some query excludes: who it is, and its position among the rows that were looked at.
struct ExcludedRow {
  uint64_t self;
  uint32_t position;
};

/// Of one block. Immutable once finished; thread-safe.
struct QueryEligibility {
  /// No row is this one.
  static constexpr uint64_t kNobody = std::numeric_limits<uint64_t>::max();

  /// Groups of right rows; null = a query may find all of them.
  const RowGroups* groups = nullptr;
  std::vector<uint32_t> group;  ///< of each query, rising; with `groups`

  bool excludes = false;
  /// A row is who its group is; null = its address.
  const RowGroups* selves = nullptr;
  std::vector<uint64_t> self;  ///< of each query; with `excludes`

  /// Call once, when all else is set.
  void Finish();

  bool Excludes(int64_t query, uint64_t address) const {
    return excludes && self[query] == SelfOf(address);
  }
  /// Right rows that `query` excludes, at most.
  int64_t excluded_rows(int64_t query) const {
    if (!excludes || self[query] == kNobody) return 0;
    return selves == nullptr ? 1 : selves->rows(static_cast<uint32_t>(self[query]));
  }
  /// The rows that any query excludes, by `self`, then position. Empty without `excludes`.
  std::vector<ExcludedRow> FindExcluded(std::span<const uint64_t> addresses) const;
  /// Those among them that `query` excludes.
  std::span<const ExcludedRow> ExcludedFor(int64_t query,
                                           std::span<const ExcludedRow> excluded) const;

  /// The queries [first, last) of each group, one group after another: calls visit(group, first,
  /// last) until all of [begin, end) are done.
  template <typename Visit>
  void ForEachGroup(int64_t begin, int64_t end, const Visit& visit) const {
    for (int64_t first = begin; first < end;) {
      int64_t last = first + 1;
      while (last < end && group[last] == group[first]) ++last;
      visit(group[first], first, last);
      first = last;
    }
  }

 private:
  uint64_t SelfOf(uint64_t address) const {
    if (selves == nullptr) return address;
    const uint32_t own = selves->Of(address);
    return own == RowGroups::kNone ? kNobody - 1 : own;
  }

  std::vector<uint64_t> sorted_;  // `self` without kNobody, rising, each once
};

}  // namespace kinjo::exec
