#include "tests/oracle/naive_join.h"

#include <map>
#include <string>

namespace kinjo::oracle {

namespace {

using Matches = std::vector<NaiveMatch>;

bool CanMatch(const std::string& metric, const Numbers& vector) {
  return !vector.empty() && IsFinite(vector) && !(metric == "cosine" && IsZero(vector));
}

float ExactDistance(const std::string& metric, const Numbers& left, const Numbers& right) {
  if (metric == "hamming") return static_cast<float>(DifferingBits(left, right));
  if (metric == "l2") return static_cast<float>(SquaredL2(left, right));
  if (metric == "dot") return static_cast<float>(1 - Dot(left, right));
  const double norms = std::sqrt(Dot(left, left)) * std::sqrt(Dot(right, right));
  return static_cast<float>(std::max(0.0, 1 - Dot(left, right) / norms));
}

// In the distance range, in order, at most `count`.
Matches Best(Matches matches, const join::JoinOptions& options, int64_t count) {
  std::erase_if(matches, [&](const NaiveMatch& match) {
    if (!options.distance_range.has_value()) return false;
    const auto [lower, upper] = *options.distance_range;
    return !(lower <= match.distance && match.distance < upper);
  });
  std::sort(matches.begin(), matches.end(), [](const NaiveMatch& a, const NaiveMatch& b) {
    if (a.distance != b.distance) return a.distance < b.distance;
    return a.row->address < b.row->address;
  });
  if (static_cast<int64_t>(matches.size()) > count) matches.resize(static_cast<size_t>(count));
  return matches;
}

struct Rule {
  int64_t k;
  double margin;
  int64_t floor;
  int64_t cap;
};

// The table "How many partitions" of docs/format/index-file.md.
const std::map<std::string, std::vector<Rule>>& Rules() {
  static const std::map<std::string, std::vector<Rule>> rules = {{"l2",
                                                                  {{1, .2175, 5, 19},
                                                                   {10, .265, 6, 24},
                                                                   {100, .33, 11, 38},
                                                                   {200, .375, 15, 56},
                                                                   {500, .3725, 22, 81},
                                                                   {1000, .4175, 29, 93},
                                                                   {10000, .57, 98, 238},
                                                                   {100000, .75, 463, 704}}},
                                                                 {"cosine",
                                                                  {{1, .235, 3, 50},
                                                                   {10, .2875, 8, 77},
                                                                   {100, .38, 7, 106},
                                                                   {200, .415, 18, 156},
                                                                   {500, .45, 28, 192},
                                                                   {1000, .47, 34, 248},
                                                                   {10000, .6475, 104, 447},
                                                                   {100000, .58, 738, 958}}},
                                                                 {"dot",
                                                                  {{1, .14, 56, 112},
                                                                   {10, .055, 144, 432},
                                                                   {100, .0625, 200, 768},
                                                                   {200, .0675, 211, 833},
                                                                   {500, .07, 244, 971},
                                                                   {1000, .0725, 279, 1092},
                                                                   {10000, .0825, 517, 1824},
                                                                   {100000, .21, 1009, 2528}}},
                                                                 {"hamming", {}}};
  return rules;
}

const Rule* RuleFor(const std::string& metric, int64_t k) {
  for (const Rule& rule : Rules().at(metric)) {
    if (k <= rule.k) return &rule;
  }
  return nullptr;
}

using Ranked = std::vector<std::pair<float, uint32_t>>;

int64_t AdaptiveCount(const std::string& metric, int64_t k, const Ranked& ranked) {
  const float nearest = ranked[0].first;
  const Rule* rule = RuleFor(metric, k);
  int64_t count = 0;
  if (rule == nullptr) {
    const float limit = nearest * (k <= 1 ? 0.6f : k <= 10 ? 7.0f : 81.0f);
    for (const auto& [distance, partition] : ranked) count += distance <= limit;
    return std::max<int64_t>(count, 1);
  }
  const float scale = metric == "dot" ? std::abs(1.0f - nearest) : nearest;
  const float margin = static_cast<float>(rule->margin) * scale;
  for (const auto& [distance, partition] : ranked) count += distance - nearest <= margin;
  count = std::clamp(count, rule->floor, rule->cap);
  return std::min(count, static_cast<int64_t>(ranked.size()));
}

/// Partitions that a query may visit of a segment in all, and those of its first round.
struct Round {
  int64_t first = 0;
  int64_t most = 0;
};

Round CountRound(const NaiveSegment& segment, const Ranked& ranked,
                 const join::JoinOptions& options) {
  const auto partitions = static_cast<int64_t>(segment.num_partitions());
  if (options.nprobes.has_value()) {
    const int64_t count = std::min(partitions, *options.nprobes);
    return {count, count};
  }
  const int64_t most = std::min(partitions, options.maximum_nprobes.value_or(partitions));
  const int64_t least = std::min(most, options.minimum_nprobes.value_or(1));
  const int64_t adaptive =
      std::clamp(AdaptiveCount(segment.metric(), options.k, ranked), least, most);
  const double effort = options.search_effort.value_or(0.5);
  const int64_t from = effort < 0.5 ? least : adaptive;
  const int64_t to = effort < 0.5 ? adaptive : most;
  const double share = effort == 0.5 ? 0 : effort < 0.5 ? 2 * effort : 2 * effort - 1;
  const double count = static_cast<double>(from) *
                       std::pow(static_cast<double>(to) / static_cast<double>(from), share);
  const auto whole = static_cast<int64_t>(std::ceil(count - 1e-12 * count));
  return {std::clamp(whole, from, to), most};
}

/// The search of one left row through the index.
class Search {
 public:
  Search(const Numbers& left, const NaiveRight& right, const join::JoinOptions& options)
      : options_(options), right_(right) {
    for (const NaiveDelta& delta : right.deltas) {
      queries_.push_back(delta.segment->Prepare(left));
      ranked_.push_back(delta.segment->Rank(queries_.back()));
      rounds_.push_back(CountRound(*delta.segment, ranked_.back(), options));
    }
    visited_.assign(right.deltas.size(), 0);
  }

  /// The `candidates` best rows of the partitions that the left row visits.
  Matches Run(int64_t candidates) {
    for (size_t i = 0; i < right_.deltas.size(); ++i) {
      while (visited_[i] < rounds_[i].first) VisitNext(i);
    }
    while (!options_.nprobes.has_value() && MayGoOn() && !HasEnough(candidates)) {
      for (size_t i = 0; i < right_.deltas.size(); ++i) {
        if (visited_[i] < rounds_[i].most) VisitNext(i);
      }
    }
    return Best(met_, options_, candidates);
  }

 private:
  bool MayGoOn() const {
    for (size_t i = 0; i < visited_.size(); ++i) {
      if (visited_[i] < rounds_[i].most) return true;
    }
    return false;
  }

  // Rows nearer than the range don't count as met, those beyond it do.
  bool HasEnough(int64_t candidates) const {
    int64_t counted = 0;
    for (const NaiveMatch& match : met_) {
      counted +=
          !options_.distance_range.has_value() || match.distance >= options_.distance_range->first;
    }
    if (counted >= options_.k) return true;
    return static_cast<int64_t>(Best(met_, options_, candidates).size()) >= options_.k;
  }

  void VisitNext(size_t i) {
    const NaiveDelta& delta = right_.deltas[i];
    const size_t partition = ranked_[i][static_cast<size_t>(visited_[i]++)].second;
    const std::vector<uint64_t>& ids = delta.segment->RowIds(partition);
    for (size_t row = 0; row < ids.size(); ++row) {
      const NaiveRow* found = FindRow(delta, ids[row]);
      if (found == nullptr || !delta.segment->CanMatch(partition, row)) continue;
      met_.push_back({delta.segment->Distance(queries_[i], partition, row), found});
    }
  }

  // The live row of that id that passes, in a fragment that the segment covers.
  const NaiveRow* FindRow(const NaiveDelta& delta, uint64_t row_id) const {
    for (const NaiveRow& row : right_.rows) {
      if (row.row_id != row_id) continue;
      const bool covered =
          std::count(delta.fragments.begin(), delta.fragments.end(), row.fragment) > 0;
      return covered && row.live && row.passes ? &row : nullptr;
    }
    return nullptr;
  }

  const join::JoinOptions& options_;
  const NaiveRight& right_;
  std::vector<NaiveQuery> queries_;
  std::vector<Ranked> ranked_;
  std::vector<Round> rounds_;
  std::vector<int64_t> visited_;
  Matches met_;
};

bool IsCovered(const NaiveRight& right, const NaiveRow& row) {
  return std::any_of(right.deltas.begin(), right.deltas.end(), [&](const NaiveDelta& delta) {
    return std::count(delta.fragments.begin(), delta.fragments.end(), row.fragment) > 0;
  });
}

// "Where at most k rows pass, or so few that the first round of partitions wouldn't meet k of them,
// each of them is scored, exactly": not where the caller caps the partitions.
bool ScoresAllPassing(const NaiveRight& right, const std::string& metric,
                      const join::JoinOptions& options) {
  if (options.where.empty()) return false;
  int64_t passing = 0;
  for (const NaiveRow& row : right.rows) {
    if (options.fast_search && !IsCovered(right, row)) continue;
    passing += row.live && row.passes;
  }
  if (passing == 0) return true;
  if (options.nprobes.has_value() || options.maximum_nprobes.has_value()) return false;
  if (passing <= options.k) return true;
  const Rule* rule = RuleFor(metric, options.k);
  const int64_t round =
      std::max(options.minimum_nprobes.value_or(1), rule == nullptr ? INT64_MAX : rule->cap);
  double partitions = 0;
  double visited = 0;
  for (const NaiveDelta& delta : right.deltas) {
    const auto count = static_cast<int64_t>(delta.segment->num_partitions());
    partitions += static_cast<double>(count);
    visited += static_cast<double>(std::min(count, round));
  }
  return static_cast<double>(passing) * visited < static_cast<double>(options.k) * partitions;
}

}  // namespace

std::vector<NaiveMatch> NaiveJoin(const Numbers& left, const NaiveRight& right,
                                  const std::string& metric, const join::JoinOptions& options) {
  if (!CanMatch(metric, left)) return {};
  const auto exact = [&](const NaiveRow& row) {
    return NaiveMatch{ExactDistance(metric, left, row.vector), &row};
  };
  const auto scan = [&](auto wanted) {
    Matches matches;
    for (const NaiveRow& row : right.rows) {
      if (row.live && row.passes && CanMatch(metric, row.vector) && wanted(row)) {
        matches.push_back(exact(row));
      }
    }
    return matches;
  };
  const bool uses_index = !right.deltas.empty() && options.index != join::IndexUse::kNever;
  if (!uses_index) return Best(scan([](const NaiveRow&) { return true; }), options, options.k);
  if (ScoresAllPassing(right, metric, options)) {
    return Best(
        scan([&](const NaiveRow& row) { return !options.fast_search || IsCovered(right, row); }),
        options, options.k);
  }
  const int64_t candidates = options.k * options.refine_factor.value_or(1);
  bool has_unindexed = false;
  for (const NaiveRow& row : right.rows) {
    has_unindexed = has_unindexed || (row.live && !IsCovered(right, row));
  }
  const bool merges = has_unindexed && !options.fast_search;
  const bool refines = merges || options.refine_factor.has_value();
  join::JoinOptions of_candidates = options;
  if (refines && options.distance_range.has_value()) {
    of_candidates.distance_range->second = std::numeric_limits<float>::infinity();
  }
  const Matches found = Search(left, right, of_candidates).Run(candidates);
  if (!refines) return Best(found, options, options.k);
  Matches matches =
      merges ? scan([&](const NaiveRow& row) { return !IsCovered(right, row); }) : Matches();
  for (const NaiveMatch& match : found) {
    if (CanMatch(metric, match.row->vector)) matches.push_back(exact(*match.row));
  }
  return Best(matches, options, options.k);
}

}  // namespace kinjo::oracle
