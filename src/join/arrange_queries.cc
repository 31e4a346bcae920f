#include "join/arrange_queries.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <numeric>
#include <string_view>
#include <utility>

namespace kinjo::join {

namespace {

std::string_view BytesOf(const exec::QueryRows& queries, int64_t i) {
  if (!queries.bytes.empty()) {
    return {reinterpret_cast<const char*>(queries.query_bytes(i)),
            static_cast<size_t>(queries.dim)};
  }
  return {reinterpret_cast<const char*>(queries.query(i)),
          static_cast<size_t>(queries.dim) * sizeof(double)};
}

RowIdentity IdentityOf(const std::vector<RowIdentity>& identities, int64_t i) {
  return identities.empty() ? RowIdentity{} : identities[i];
}

/// The first query that equals each one, bit by bit, and may find the same rows.
std::vector<int32_t> FindFirst(const exec::QueryRows& queries,
                               const std::vector<RowIdentity>& identities) {
  const auto count = static_cast<size_t>(queries.num_queries);
  size_t num_slots = 64;
  while (num_slots < 2 * count) num_slots *= 2;
  std::vector<int32_t> slots(num_slots, -1);
  std::vector<int32_t> first(count);
  for (size_t i = 0; i < count; ++i) {
    const auto number = static_cast<int64_t>(i);
    const std::string_view bytes = BytesOf(queries, number);
    const RowIdentity own = IdentityOf(identities, number);
    size_t slot = std::hash<std::string_view>()(bytes) ^ (own.group * 0x9e3779b97f4a7c15u) ^
                  (own.self * 0xc2b2ae3d27d4eb4fu);
    for (slot &= num_slots - 1; slots[slot] >= 0; slot = (slot + 1) & (num_slots - 1)) {
      const RowIdentity other = IdentityOf(identities, slots[slot]);
      if (own.group == other.group && own.self == other.self &&
          bytes == BytesOf(queries, slots[slot])) {
        break;
      }
    }
    if (slots[slot] < 0) slots[slot] = static_cast<int32_t>(i);
    first[i] = slots[slot];
  }
  return first;
}

/// Which part of the arrangement a query belongs to.
enum class Part : uint8_t { kSearched, kFew, kNone };

Part PartOf(const RowIdentity& identity, const EligibleRows* eligible) {
  if (identity.group == exec::RowGroups::kNone) return Part::kNone;
  const bool few = eligible != nullptr && eligible->scores_all(identity.group);
  return few ? Part::kFew : Part::kSearched;
}

QuerySet Gather(const exec::QueryRows& queries, const std::vector<RowIdentity>& identities,
                std::span<const int32_t> chosen, bool excludes, const EligibleRows* eligible) {
  QuerySet set;
  set.rows.metric = queries.metric;
  set.rows.dim = queries.dim;
  set.rows.num_queries = static_cast<int64_t>(chosen.size());
  exec::QueryEligibility& eligibility = set.eligibility;
  const bool groups = eligible != nullptr && eligible->by() != nullptr;
  if (groups) eligibility.groups = &eligible->by()->rows;
  eligibility.excludes = excludes;
  if (eligible != nullptr && eligible->self() != nullptr) {
    eligibility.selves = &eligible->self()->rows;
  }
  const auto dim = static_cast<size_t>(queries.dim);
  if (!queries.values.empty()) set.rows.values.reserve(chosen.size() * dim);
  for (const int32_t i : chosen) {
    if (!queries.values.empty()) {
      set.rows.values.insert(set.rows.values.end(), queries.query(i), queries.query(i) + dim);
    }
    if (!queries.norms.empty()) set.rows.norms.push_back(queries.norms[i]);
    if (!queries.bytes.empty()) {
      set.rows.bytes.insert(set.rows.bytes.end(), queries.query_bytes(i),
                            queries.query_bytes(i) + dim);
    }
    if (groups) eligibility.group.push_back(identities[i].group);
    if (excludes) eligibility.self.push_back(identities[i].self);
  }
  eligibility.Finish();
  return set;
}

}  // namespace

ArrangedQueries ArrangeQueries(exec::QueryRows queries, const std::vector<RowIdentity>& identities,
                               bool excludes, const EligibleRows* eligible) {
  ArrangedQueries out;
  const std::vector<int32_t> first = FindFirst(queries, identities);
  std::vector<int32_t> order;
  for (size_t i = 0; i < first.size(); ++i) {
    if (first[i] == static_cast<int32_t>(i)) order.push_back(first[i]);
  }
  out.duplicates = static_cast<int64_t>(first.size() - order.size());
  out.number_of.resize(first.size());
  if (identities.empty() && out.duplicates == 0) {
    std::iota(out.number_of.begin(), out.number_of.end(), 0);
    out.num_queries = queries.num_queries;
    out.searched.rows = std::move(queries);
    return out;
  }
  const auto place = [&](int32_t i) {
    const RowIdentity identity = IdentityOf(identities, i);
    return std::pair(PartOf(identity, eligible), identity.group);
  };
  std::sort(order.begin(), order.end(),
            [&](int32_t a, int32_t b) { return std::pair(place(a), a) < std::pair(place(b), b); });
  const auto begin_of = [&](Part part) {
    return std::partition_point(order.begin(), order.end(),
                                [&](int32_t i) { return place(i).first < part; });
  };
  const auto few = begin_of(Part::kFew);
  const auto none = begin_of(Part::kNone);
  out.searched = Gather(queries, identities, {order.begin(), few}, excludes, eligible);
  out.few = Gather(queries, identities, {few, none}, excludes, eligible);
  const int64_t found = none - order.begin();
  out.num_queries = found + (none == order.end() ? 0 : 1);
  std::vector<int32_t> number(first.size(), 0);
  for (int64_t at = 0; at < static_cast<int64_t>(order.size()); ++at) {
    number[order[at]] = static_cast<int32_t>(std::min(at, found));
  }
  for (size_t i = 0; i < first.size(); ++i) out.number_of[i] = number[first[i]];
  return out;
}

}  // namespace kinjo::join
