#include "join/recall_choice.h"

#include <algorithm>
#include <limits>
#include <span>
#include <unordered_map>
#include <utility>

#include "exec/ann_ivf_partition.h"
#include "join/covered_rows.h"
#include "join/validate.h"
#include "join/way_choice.h"

namespace kinjo::join {

namespace {

// A row that is read and scored on its true vector costs as much as so many codes.
constexpr double kRefinedRowCost = 64;
// So does a node that a graph search looks at: nodes lie apart in memory.
constexpr double kNodeCost = 8;

// Refine factors hand on about so many candidates at most, but at least so many times k.
constexpr int64_t kCandidatesTried = 1000;
constexpr int64_t kWideFactor = 16;
// Most codes need less, and fewer candidates are found sooner.
constexpr int64_t kNarrowFactor = 8;

constexpr int64_t kEfMin = 32;
constexpr int64_t kEfMax = 2048;

// The partitions of true neighbours are ranked so deep at first: this part of all, at least so
// many. Most targets are reached well before, and to rank them all takes longer than to search.
constexpr int64_t kDepthShare = 8;
constexpr int64_t kDepthMin = 32;

// Queries whose partitions are ranked at a time.
constexpr int64_t kRankedQueries = 64;

// A larger refine factor must find more than this share to be worth showing.
constexpr double kWorthwhileRecall = 0.001;

double MeanOf(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return values.empty() ? 1 : sum / static_cast<double>(values.size());
}

bool HasGraph(const JoinPlan& plan) {
  const auto& segments = plan.choice.index->segments;
  return std::any_of(segments.begin(), segments.end(),
                     [](const auto& segment) { return segment->has_graph(); });
}

// The index's own distances decide which rows are handed on.
bool HasExactCodes(const JoinPlan& plan) {
  const auto& segments = plan.choice.index->segments;
  return !plan.multivector() &&
         std::all_of(segments.begin(), segments.end(), [](const auto& s) { return s->is_exact(); });
}

int64_t WidestFactor(const JoinPlan& plan) {
  if (plan.options.refine_factor.has_value()) return *plan.options.refine_factor;
  if (HasExactCodes(plan)) return 0;
  const int64_t k = plan.options.k;
  const int64_t factor = std::max(kCandidatesTried / k, kWideFactor);
  return std::max<int64_t>(1, std::min(factor, kCandidatesMax / k));
}

bool IsScanned(const JoinPlan& plan, uint64_t address) {
  if (!plan.scans_unindexed()) return false;
  const auto& fragments = plan.choice.index->unindexed_fragments;
  return std::binary_search(fragments.begin(), fragments.end(), address >> 32);
}

}  // namespace

ProbeSettings WidestSettings(const JoinPlan& plan) {
  ProbeSettings widest{.nprobes = 1, .refine_factor = WidestFactor(plan)};
  for (const auto& segment : plan.choice.index->segments) {
    widest.nprobes = std::max(widest.nprobes, segment->num_partitions());
  }
  const int64_t candidates = plan.options.k * std::max<int64_t>(widest.refine_factor, 1);
  if (HasGraph(plan)) widest.ef = std::max(kEfMax, candidates);
  return widest;
}

arrow::Status ApplySettings(const ProbeSettings& settings, JoinPlan* plan) {
  plan->probes = {.minimum = settings.nprobes, .effort = 0};
  plan->options.refine_factor.reset();
  if (settings.refine_factor > 0) plan->options.refine_factor = settings.refine_factor;
  plan->candidates = plan->options.k * std::max<int64_t>(settings.refine_factor, 1);
  plan->refines = settings.refine_factor > 0 || plan->scans_unindexed();
  if (settings.ef > 0) plan->ef = settings.ef;
  return ChooseWays(plan);
}

arrow::Result<AnsweredSample> AnswerSample(LeftSample rows, const JoinPlan& plan,
                                           const EligibleRows* eligible, base::ThreadPool* pool,
                                           const base::CancelToken& cancel) {
  JoinPlan exact = plan;
  if (plan.options.fast_search && plan.rows == nullptr) exact.rows = CoveredRows(plan, nullptr);
  exact.LeaveIndex();
  RunCounters counters;
  BlockSearch search(exact, eligible, pool, cancel, &counters);
  AnsweredSample sample{.rows = std::move(rows), .exact = {}};
  ARROW_ASSIGN_OR_RAISE(sample.exact, search.Search(sample.rows.all, {}));
  return sample;
}

SettingsSearch::SettingsSearch(const AnsweredSample& sample, const JoinPlan& plan,
                               const EligibleRows* eligible, base::ThreadPool* pool,
                               base::CancelToken cancel)
    : sample_(sample),
      plan_(plan),
      eligible_(eligible),
      pool_(pool),
      cancel_(std::move(cancel)),
      wide_(plan) {
  for (const auto& segment : plan.choice.index->segments) {
    const int64_t partitions = segment->num_partitions();
    most_probes_ = std::max(most_probes_, partitions);
    int64_t rows = 0;
    for (int64_t p = 0; p < partitions; ++p) {
      rows += static_cast<int64_t>(segment->partition_rows(p));
    }
    if (partitions > 0) probe_cost_ += static_cast<double>(rows) / static_cast<double>(partitions);
  }
}

bool SettingsSearch::searches() const { return HasGraph(plan_) || !HasExactCodes(plan_); }

std::vector<int64_t> SettingsSearch::EfSteps() const {
  if (!HasGraph(plan_)) return {0};
  const int64_t factor = plan_.options.refine_factor.value_or(1);
  const int64_t least = std::max(kEfMin, plan_.options.k * factor);
  std::vector<int64_t> steps;
  for (int64_t ef = kEfMin; ef < std::max(kEfMax, least); ef *= 2) {
    if (ef >= least) steps.push_back(ef);
  }
  steps.push_back(std::max(kEfMax, least));
  return steps;
}

std::vector<int64_t> SettingsSearch::Factors(bool wide) const {
  if (plan_.options.refine_factor.has_value()) return {*plan_.options.refine_factor};
  if (HasExactCodes(plan_)) return {0};
  const int64_t widest = WidestFactor(plan_);
  // An unrefined answer is held to a range by its estimates, which the curve doesn't know.
  const int64_t least = plan_.options.distance_range.has_value() ? 1 : 0;
  return RefineSteps(least, wide ? widest : std::min(widest, kNarrowFactor));
}

bool SettingsSearch::Reaches(const std::vector<double>& recalls, double target) const {
  const int64_t population = sample_.rows.is_census() ? static_cast<int64_t>(recalls.size())
                                                      : sample_.rows.left_rows.value_or(-1);
  return ReachesTarget(recalls, population, plan_.options.k, target);
}

arrow::Status SettingsSearch::RankSome(size_t segment, int64_t first_query, int64_t depth,
                                       const std::vector<std::vector<uint64_t>>& rows,
                                       const std::unordered_map<uint64_t, PartitionPlace>& places,
                                       std::vector<std::vector<uint32_t>>* ranks) {
  const auto& opened = plan_.choice.index->segments[segment];
  const int64_t dim = sample_.rows.choosing_block.queries.dim;
  const int64_t count = std::min(kRankedQueries, static_cast<int64_t>(rows.size()) - first_query);
  exec::AnnIvfPartition ranking(opened, pool_, cancel_);
  ARROW_RETURN_NOT_OK(
      ranking.Start(std::span(queries_).subspan(static_cast<size_t>(first_query * dim),
                                                static_cast<size_t>(count * dim)),
                    plan_.options.k, {.nprobes = depth}));
  std::vector<uint32_t> rank_of(static_cast<size_t>(opened->num_partitions()), kNoRank);
  for (int64_t i = 0; i < count; ++i) {
    const auto visited = ranking.visited(static_cast<uint32_t>(i));
    std::fill(rank_of.begin(), rank_of.end(), kNoRank);
    for (size_t rank = 0; rank < visited.size(); ++rank) {
      rank_of[visited[rank].partition] = static_cast<uint32_t>(rank);
    }
    const std::vector<uint64_t>& own = rows[first_query + i];
    for (size_t row = 0; row < own.size(); ++row) {
      const PartitionPlace& place = places.at(own[row]);
      if (place.partition < 0 || place.segment != segment) continue;
      (*ranks)[first_query + i][row] = rank_of[place.partition];
    }
  }
  return arrow::Status::OK();
}

arrow::Result<std::vector<std::vector<uint32_t>>> SettingsSearch::RanksOf(
    const std::vector<std::vector<uint64_t>>& rows, int64_t depth) {
  std::unordered_map<uint64_t, PartitionPlace> places;
  for (const auto& own : rows) {
    for (const uint64_t address : own) places.emplace(address, PartitionPlace{});
  }
  ARROW_RETURN_NOT_OK(prober_->Locate(&places));
  std::vector<std::vector<uint32_t>> ranks(rows.size());
  for (size_t q = 0; q < rows.size(); ++q) ranks[q].assign(rows[q].size(), kNoRank);
  for (size_t segment = 0; segment < plan_.choice.index->segments.size(); ++segment) {
    for (int64_t first = 0; first < static_cast<int64_t>(rows.size()); first += kRankedQueries) {
      ARROW_RETURN_NOT_OK(RankSome(segment, first, depth, rows, places, &ranks));
    }
  }
  return ranks;
}

arrow::Status SettingsSearch::Start() {
  if (plan_.multivector()) return arrow::Status::OK();
  const exec::QueryRows& queries = sample_.rows.choosing_block.queries;
  queries_.assign(queries.bytes.begin(), queries.bytes.end());
  if (queries_.empty()) queries_ = queries.values;
  truths_.resize(static_cast<size_t>(queries.num_queries));
  indexed_truths_.resize(truths_.size());
  for (size_t row = 0; row < sample_.rows.choosing.size(); ++row) {
    const int32_t query = sample_.rows.choosing_block.query_of_row[row];
    // Those behind have all rows of their group scored.
    if (query < 0 || query >= queries.num_queries) continue;
    truths_[query].scanned_truths = 0;
    indexed_truths_[query].clear();
    for (const kernels::Neighbor& truth : sample_.exact[sample_.rows.all.query_of_row[row]]) {
      if (IsScanned(plan_, truth.address)) {
        ++truths_[query].scanned_truths;
      } else {
        indexed_truths_[query].push_back(truth.address);
      }
    }
  }
  prober_.emplace(wide_, pool_, cancel_, &counters_);
  return RankTruths(std::min(most_probes_, std::max(kDepthMin, most_probes_ / kDepthShare)));
}

arrow::Status SettingsSearch::RankTruths(int64_t depth) {
  if (depth <= ranked_truths_) return arrow::Status::OK();
  ARROW_ASSIGN_OR_RAISE(auto ranks, RanksOf(indexed_truths_, depth));
  for (size_t q = 0; q < truths_.size(); ++q) truths_[q].truth_ranks = std::move(ranks[q]);
  ranked_truths_ = depth;
  return arrow::Status::OK();
}

arrow::Result<int64_t> SettingsSearch::LeastProbes(double target) {
  while (true) {
    ProbeCurve reach(plan_.options.k, false);
    for (const CurveQuery& query : truths_) reach.Add(query);
    for (const int64_t probes : ProbeSteps(most_probes_)) {
      if (probes > ranked_truths_) break;
      if (Reaches(reach.Reach(probes), target)) return probes;
    }
    if (ranked_truths_ == most_probes_) return most_probes_;
    ARROW_RETURN_NOT_OK(RankTruths(std::min(most_probes_, kDepthShare * ranked_truths_)));
  }
}

arrow::Result<ProbeCurve> SettingsSearch::Curve(const ProbeSettings& widest) {
  ProbeCurve curve(plan_.options.k, searches());
  if (!searches()) {
    ARROW_RETURN_NOT_OK(RankTruths(widest.nprobes));
    for (const CurveQuery& query : truths_) curve.Add(query);
    return curve;
  }
  wide_.probes = {.nprobes = widest.nprobes};
  if (widest.ef != 0 && wide_.ef != widest.ef) {
    wide_.ef = widest.ef;
    prober_.emplace(wide_, pool_, cancel_, &counters_);
  }
  const int64_t probed_before = counters_.batch.partitions_probed.load();
  const int64_t nodes_before = counters_.batch.index_comparisons.load();
  const exec::QueryRows& queries = sample_.rows.choosing_block.queries;
  exec::NeighborHeaps heaps;
  heaps.Reset(queries.num_queries, plan_.options.k * std::max<int64_t>(widest.refine_factor, 1),
              plan_.candidate_range(widest.refine_factor > 0),
              &sample_.rows.choosing_block.eligibility);
  ARROW_RETURN_NOT_OK(prober_->Probe(queries, plan_.options.k, &heaps));
  std::vector<std::vector<uint64_t>> found(truths_.size());
  for (size_t q = 0; q < found.size(); ++q) {
    for (const auto& neighbor : heaps.TakeSorted(static_cast<int64_t>(q))) {
      found[q].push_back(neighbor.address);
    }
  }
  const int64_t probed = counters_.batch.partitions_probed.load() - probed_before;
  const int64_t nodes = counters_.batch.index_comparisons.load() - nodes_before;
  ARROW_ASSIGN_OR_RAISE(auto ranks, RanksOf(found, widest.nprobes));
  for (size_t q = 0; q < found.size(); ++q) {
    CurveQuery query = truths_[q];
    query.candidate_ranks = std::move(ranks[q]);
    for (const uint64_t address : found[q]) {
      const auto& own = indexed_truths_[q];
      const auto truth = std::find(own.begin(), own.end(), address);
      query.candidate_truths.push_back(
          truth == own.end() ? -1 : static_cast<int32_t>(truth - own.begin()));
    }
    curve.Add(std::move(query));
  }
  if (HasGraph(plan_)) {
    probe_cost_ = kNodeCost * static_cast<double>(nodes) /
                  static_cast<double>(std::max<int64_t>(probed, 1)) *
                  static_cast<double>(plan_.choice.index->segments.size());
  }
  return curve;
}

std::optional<SettingsSearch::Priced> SettingsSearch::Cheapest(const ProbeCurve& curve,
                                                               const ProbeSettings& widest,
                                                               double target) const {
  std::optional<Priced> best;
  const bool wide = widest.refine_factor > kNarrowFactor;
  for (const int64_t factor : Factors(wide)) {
    if (plan_.options.k * std::max<int64_t>(factor, 1) > widest.ef && widest.ef > 0) break;
    const double refine_cost = kRefinedRowCost * static_cast<double>(plan_.options.k * factor);
    for (const int64_t probes : ProbeSteps(widest.nprobes)) {
      const double cost = probe_cost_ * static_cast<double>(probes) + refine_cost;
      if (best.has_value() && cost >= best->cost) break;
      if (!Reaches(curve.Recalls(probes, factor), target)) continue;
      best = {{.nprobes = probes, .refine_factor = factor, .ef = widest.ef}, cost};
    }
  }
  return best;
}

arrow::Result<std::optional<SettingsSearch::Priced>> SettingsSearch::CheapestWithin(int64_t probes,
                                                                                    bool wide,
                                                                                    double target) {
  std::optional<Priced> best;
  for (const int64_t ef : EfSteps()) {
    int64_t factor = Factors(wide).back();
    if (ef > 0) factor = std::min(factor, std::max<int64_t>(ef / plan_.options.k, 1));
    if (Factors(wide).back() == 0) factor = 0;
    const ProbeSettings widest{.nprobes = probes, .refine_factor = factor, .ef = ef};
    ARROW_ASSIGN_OR_RAISE(const ProbeCurve curve, Curve(widest));
    const std::optional<Priced> found = Cheapest(curve, widest, target);
    if (!found.has_value()) {
      if (best.has_value()) break;
      continue;
    }
    if (best.has_value() && found->cost >= best->cost) break;  // a broader beam only costs
    best = found;
  }
  return best;
}

arrow::Result<ProbeSettings> SettingsSearch::ChooseBySearching(double target) {
  JoinPlan tried = plan_;
  RunCounters counters;
  ProbeSettings settings = WidestSettings(plan_);
  for (int64_t probes = 1;; probes = std::min(2 * probes, most_probes_)) {
    for (const int64_t factor : {int64_t{0}, int64_t{2}, int64_t{8}}) {
      settings.nprobes = probes;
      settings.refine_factor = plan_.options.refine_factor.value_or(factor);
      ARROW_RETURN_NOT_OK(ApplySettings(settings, &tried));
      BlockSearch search(tried, eligible_, pool_, cancel_, &counters);
      ARROW_ASSIGN_OR_RAISE(const Matches found, search.Search(sample_.rows.choosing_block, {}));
      std::vector<double> recalls;
      for (size_t row = 0; row < sample_.rows.choosing.size(); ++row) {
        const int32_t query = sample_.rows.choosing_block.query_of_row[row];
        if (query < 0) continue;
        AppendRecall(sample_.exact[sample_.rows.all.query_of_row[row]], found[query], &recalls);
      }
      if (Reaches(recalls, target)) return settings;
      if (plan_.options.refine_factor.has_value()) break;
    }
    if (probes == most_probes_) return WidestSettings(plan_);
  }
}

arrow::Result<ProbeSettings> SettingsSearch::Choose(double target) {
  if (plan_.multivector()) return ChooseBySearching(target);
  ARROW_ASSIGN_OR_RAISE(const int64_t least, LeastProbes(target));
  if (!searches()) return ProbeSettings{.nprobes = least, .refine_factor = Factors(false).back()};
  // Half as many probes again leave room for fewer candidates; if those don't suffice, more do, or
  // all partitions.
  const std::vector<std::pair<int64_t, bool>> rounds = {
      {std::min(most_probes_, least + least / 2 + 1), false},
      {std::min(most_probes_, 2 * least), true},
      {most_probes_, true}};
  for (size_t i = 0; i < rounds.size(); ++i) {
    if (i > 0 && rounds[i].first == rounds[i - 1].first &&
        Factors(rounds[i].second) == Factors(rounds[i - 1].second)) {
      continue;
    }
    ARROW_ASSIGN_OR_RAISE(const auto found,
                          CheapestWithin(rounds[i].first, rounds[i].second, target));
    if (found.has_value()) return found->settings;
  }
  return WidestSettings(plan_);
}

arrow::Result<std::vector<ProbeSettings>> SettingsSearch::Ladder(int64_t ef) {
  std::vector<ProbeSettings> ladder;
  if (plan_.multivector()) {
    for (int64_t probes = 1; probes < most_probes_; probes *= 2) {
      ladder.push_back({probes, plan_.options.refine_factor.value_or(2), ef});
    }
    ladder.push_back({most_probes_, plan_.options.refine_factor.value_or(2), ef});
    return ladder;
  }
  int64_t factor = Factors(true).back();
  if (ef > 0 && factor > 0) factor = std::max<int64_t>(1, std::min(factor, ef / plan_.options.k));
  ARROW_ASSIGN_OR_RAISE(const ProbeCurve curve,
                        Curve({.nprobes = most_probes_, .refine_factor = factor, .ef = ef}));
  for (int64_t probes = 1;; probes = std::min(2 * probes, most_probes_)) {
    const double best = MeanOf(curve.Recalls(probes, factor));
    for (const int64_t enough : Factors(true)) {
      if (enough < factor && MeanOf(curve.Recalls(probes, enough)) < best - kWorthwhileRecall) {
        continue;
      }
      ladder.push_back({probes, std::min(enough, factor), ef});
      break;
    }
    if (probes == most_probes_) return ladder;
  }
}

}  // namespace kinjo::join
