// The queries of a block in the order in which they are searched: equal ones are one, those of one
// group of right rows lie together, and what needs no search isn't among them.
#pragma once

#include <cstdint>
#include <vector>

#include "exec/query_eligibility.h"
#include "exec/query_rows.h"
#include "join/eligible_rows.h"

namespace kinjo::join {

/// What a left row's keys say.
struct RowIdentity {
  uint32_t group = 0;  ///< of right rows; exec::RowGroups::kNone = none match
  uint64_t self = exec::QueryEligibility::kNobody;
};

/// Queries that are searched together, and what each may find.
struct QuerySet {
  exec::QueryRows rows;
  exec::QueryEligibility eligibility;
};

/// Queries of a block. They are numbered through: those searched, those of small groups, and last,
/// if there are any, all those that match nothing, as one.
struct ArrangedQueries {
  QuerySet searched;
  QuerySet few;             ///< all rows of their groups are scored (EligibleRows::scores_all)
  int64_t num_queries = 0;  ///< in all
  int64_t duplicates = 0;   ///< queries that are answered by an equal one
  std::vector<int32_t> number_of;  ///< of each query as it came
};

/// Arranges queries. `identities` has an entry for each, or is empty when every row may come out;
/// then `eligible` may be null.
ArrangedQueries ArrangeQueries(exec::QueryRows queries, const std::vector<RowIdentity>& identities,
                               bool excludes, const EligibleRows* eligible);

}  // namespace kinjo::join
