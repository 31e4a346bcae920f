#include "join/way_choice.h"

#include <algorithm>
#include <cstdlib>
#include <span>
#include <utility>
#include <vector>

#include "arrow/filesystem/filesystem.h"
#include "index/ivf_segment.h"
#include "io/random_reader.h"
#include "join/cost_model.h"
#include "join/memory_needs.h"
#include "join/partition_filter.h"
#include "join/recall_choice.h"
#include "join/row_bytes.h"
#include "join/temporary_index.h"

namespace kinjo::join {

namespace {

// Left rows where the side doesn't tell.
constexpr int64_t kRowsUnlessKnown = 10'000;

// Nanoseconds to evaluate a filter on a row: a step of the predicate on numbers, and on values
// without a width.
constexpr double kStepNs = 8;
constexpr double kTextStepNs = 25;

template <typename Way>
struct NamedWay {
  Way way;
  const char* word;  // in KINJO_WAYS
  const char* name;  // shown
};

constexpr NamedWay<ExactWay> kExactWays[] = {
    {ExactWay::kSharedBlocks, "shared", "blocks shared by the threads"},
    {ExactWay::kOwnBlocks, "own", "blocks of each thread"},
    {ExactWay::kPairs, "pairs", "pair by pair"},
    {ExactWay::kKeptBlocks, "kept", "right side resident"}};
constexpr NamedWay<IndexWay> kIndexWays[] = {
    {IndexWay::kOneByOne, "one-by-one", "one by one"},
    {IndexWay::kStreamed, "streamed", "partition-major, streamed"},
    {IndexWay::kResident, "resident", "partition-major, resident"}};
constexpr NamedWay<FilterWay> kFilterWays[] = {{FilterWay::kFirst, "first", "filter first"},
                                               {FilterWay::kBeside, "beside", "filter beside"}};

template <typename Way, size_t n>
const char* NameOf(const NamedWay<Way> (&ways)[n], Way way) {
  for (const auto& named : ways) {
    if (named.way == way) return named.name;
  }
  return "";
}

template <typename Way, size_t n>
arrow::Status Parse(const NamedWay<Way> (&ways)[n], const std::string& word,
                    std::optional<Way>* forced) {
  std::string words;
  for (const auto& named : ways) {
    if (word == named.word) {
      *forced = named.way;
      return arrow::Status::OK();
    }
    words += (words.empty() ? "" : ", ") + std::string(named.word);
  }
  return base::Invalid("KINJO_WAYS has \"", word, "\", but there are: ", words);
}

std::string NameOf(const JoinPlan& plan, const Ways& ways) {
  std::string name =
      plan.uses_index() ? NameOf(kIndexWays, ways.index) : NameOf(kExactWays, ways.exact);
  if (plan.filter != nullptr) name += std::string(", ") + NameOf(kFilterWays, ways.filter);
  return name;
}

arrow::Result<ForcedWays> ForcedWaysFor(const JoinPlan& plan) {
  const ForcedWays& asked = plan.options.forced_ways;
  if (asked.exact.has_value() || asked.index.has_value() || asked.filter.has_value()) return asked;
  return ForcedWaysOf(ForcedWaysText());
}

template <typename Way>
bool Allows(const std::optional<Way>& forced, Way way) {
  return !forced.has_value() || *forced == way;
}

// How true vectors can be scanned.
std::vector<ExactWay> ExactWaysOf(const JoinPlan& plan) {
  if (plan.multivector()) return {ExactWay::kSharedBlocks};
  std::vector<ExactWay> ways = {ExactWay::kSharedBlocks, ExactWay::kOwnBlocks};
  // Which rows a query block needs depends on its groups.
  if (plan.eligibility.groups_rows()) return ways;
  ways.push_back(ExactWay::kPairs);
  // The rows aren't known to fit before they are counted.
  if (plan.right->num_rows().has_value() && !plan.searches_reverse()) {
    ways.push_back(ExactWay::kKeptBlocks);
  }
  return ways;
}

// All ways of the plan that `forced` allows. Of two that take as long the first is gone.
std::vector<Ways> WaysOf(const JoinPlan& plan, const ForcedWays& forced) {
  std::vector<Ways> all;
  if (!plan.uses_index()) {
    for (const ExactWay exact : ExactWaysOf(plan)) {
      if (Allows(forced.exact, exact)) all.push_back({.exact = exact});
    }
    return all;
  }
  std::vector<FilterWay> filters = {FilterWay::kFirst};
  if (MayFilterBeside(plan)) filters.push_back(FilterWay::kBeside);
  for (const IndexWay index : {IndexWay::kResident, IndexWay::kStreamed, IndexWay::kOneByOne}) {
    for (const FilterWay filter : filters) {
      if (!Allows(forced.index, index) || !Allows(forced.filter, filter)) continue;
      all.push_back({.index = index, .filter = filter});
    }
  }
  return all;
}

// Partitions that a left row visits, over all segments.
double ProbesOf(const JoinPlan& plan) {
  int64_t probes = 0;
  for (const auto& segment : plan.choice.index->segments) {
    probes += RankedAtMost(plan.probes, plan.metric(), plan.wanted, segment->num_partitions());
  }
  return static_cast<double>(probes);
}

double StepNs(const JoinPlan& plan) {
  double ns = 0;
  for (const std::string& name : plan.filter->predicate->columns()) {
    const auto type = plan.right->schema()->GetFieldByName(name)->type();
    ns += arrow::is_fixed_width(type->id()) ? kStepNs : kTextStepNs;
  }
  return ns;
}

// A file of this machine is read at once or nearly: what opening took longer was something else.
StorageSpeed SpeedOf(const RightSide& right) {
  constexpr double kNearRequestNs = 20'000;
  StorageSpeed speed = StorageSpeedOf(right.requests(), right.read_ns());
  const auto location = io::ResolveUri(right.uri());
  if (location.ok() && location->file_system->type_name() == "local") {
    speed = {.request_ns = std::min(speed.request_ns, kNearRequestNs)};
  }
  return speed;
}

class Estimator {
 public:
  explicit Estimator(const JoinPlan& plan)
      : plan_(plan),
        model_(MeasuredSpeed(), SpeedOf(*plan.right), plan.threads),
        left_rows_(std::max<int64_t>(plan.left->num_rows().value_or(kRowsUnlessKnown), 1)) {}

  /// What the plan takes in its ways and memory.
  Estimate Of(const MemoryNeeds& needs) const {
    Estimate sum = plan_.uses_index() ? OfIndex(needs) : OfScan();
    if (plan_.uses_index() && plan_.scans_unindexed()) Add(OfScan(), &sum);
    return sum;
  }

 private:
  static void Add(const Estimate& more, Estimate* sum) {
    sum->seconds += more.seconds;
    sum->bytes_read += more.bytes_read;
  }

  Estimate OfScan() const {
    const int64_t vectors = std::max<int64_t>(plan_.row_vectors, 1);
    Estimate sum = model_.Exact({.left_rows = left_rows_ * vectors,
                                 .block_rows = plan_.memory.block_vectors,
                                 .right_rows = RowsScanned(plan_) * vectors,
                                 .batch_rows = plan_.scan_batch_rows() * vectors,
                                 .dim = plan_.dim,
                                 .element_bytes = ElementBytes(plan_.right_vector.type.element),
                                 .k = plan_.options.k,
                                 .cosine = plan_.metric() == kernels::Metric::kCosine},
                                plan_.ways.exact);
    if (!plan_.uses_index() && plan_.filter != nullptr && plan_.rows == nullptr) {
      Add(OfFilter({}), &sum);
    }
    return sum;
  }

  Estimate OfIndex(const MemoryNeeds& needs) const {
    IndexWork work{.left_rows = left_rows_,
                   .block_rows = plan_.memory.block_rows,
                   .rows = needs.index_rows,
                   .bytes = needs.index_bytes,
                   .probes = ProbesOf(plan_),
                   .dim = plan_.dim,
                   .candidates = plan_.candidates,
                   .refines = plan_.refines};
    for (const auto& segment : plan_.choice.index->segments) {
      work.partitions += segment->num_partitions();
    }
    work.cached = std::min(1.0, static_cast<double>(plan_.memory.cache_bytes) /
                                    static_cast<double>(std::max<int64_t>(work.bytes, 1)));
    Estimate sum = model_.Index(work);
    if (IsTemporary(plan_)) {
      sum.seconds += BuildSeconds(plan_, MeasuredSpeed().multiply_ns) / plan_.threads;
    }
    if (plan_.filter == nullptr || plan_.rows != nullptr) return sum;
    const double partitions = CostModel::PartitionsRead(work);
    const double rows_met = partitions * static_cast<double>(work.rows) /
                            static_cast<double>(std::max<int64_t>(work.partitions, 1));
    Add(OfFilter({.partitions = partitions, .rows_met = rows_met}), &sum);
    return sum;
  }

  Estimate OfFilter(FilterWork work) const {
    work.right_rows = plan_.right->num_rows().value_or(RowsScanned(plan_));
    for (const std::string& name : plan_.filter->predicate->columns()) {
      work.row_bytes += ValueBytes(*plan_.right->schema()->GetFieldByName(name)->type());
    }
    work.row_ns = StepNs(plan_);
    work.indexed = !plan_.filter->indexes.empty();
    return model_.Filter(work, plan_.uses_index() ? plan_.ways.filter : FilterWay::kFirst);
  }

  const JoinPlan& plan_;
  const CostModel model_;
  const int64_t left_rows_;
};

// Beside an index, un-indexed rows and samples are scanned: by blocks of each thread where those
// fit without taking room from the index.
arrow::Result<MemoryPlan> PlanScansBeside(const ForcedWays& forced, JoinPlan* plan) {
  plan->ways.exact = ExactWay::kSharedBlocks;
  auto shared = PlanMemory(NeedsOf(*plan));
  if (plan->multivector() || forced.exact == ExactWay::kSharedBlocks) return shared;
  plan->ways.exact = ExactWay::kOwnBlocks;
  auto own = PlanMemory(NeedsOf(*plan));
  if (own.ok() && (!shared.ok() || own->keeps_index >= shared->keeps_index)) return own;
  plan->ways.exact = ExactWay::kSharedBlocks;
  return shared;
}

}  // namespace

std::string ForcedWaysText() {
  const char* text = std::getenv("KINJO_WAYS");
  return text == nullptr ? "" : text;
}

arrow::Result<ForcedWays> ForcedWaysOf(const std::string& text) {
  ForcedWays forced;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    const std::string part = text.substr(begin, end - begin);
    begin = end + 1;
    const size_t equals = std::min(part.find('='), part.size());
    const std::string kind = part.substr(0, equals);
    const std::string word = part.substr(std::min(equals + 1, part.size()));
    if (kind == "exact") {
      ARROW_RETURN_NOT_OK(Parse(kExactWays, word, &forced.exact));
    } else if (kind == "index") {
      ARROW_RETURN_NOT_OK(Parse(kIndexWays, word, &forced.index));
    } else if (kind == "filter") {
      ARROW_RETURN_NOT_OK(Parse(kFilterWays, word, &forced.filter));
    } else if (kind != "temporary" || (word != "build" && word != "scan")) {
      return base::Invalid("KINJO_WAYS has \"", part,
                           "\", but there are: exact, index, filter, temporary=build|scan");
    }
  }
  return forced;
}

arrow::Status ChooseWays(JoinPlan* plan) {
  ARROW_ASSIGN_OR_RAISE(const ForcedWays forced, ForcedWaysFor(*plan));
  const std::vector<Ways> all = WaysOf(*plan, forced);
  if (all.empty()) {
    return base::Invalid("KINJO_WAYS asks for a way that this join can't go; it can't be forced");
  }
  plan->considered.clear();
  std::vector<MemoryPlan> memories;
  arrow::Status refused;
  for (const Ways& ways : all) {
    plan->ways = ways;
    auto memory = plan->uses_index() ? PlanScansBeside(forced, plan) : PlanMemory(NeedsOf(*plan));
    if (!memory.ok() && refused.ok()) refused = memory.status();
    ConsideredWay way{.ways = plan->ways, .name = NameOf(*plan, ways), .fits = memory.ok()};
    plan->memory = memory.ok() ? *memory : MemoryPlan{.block_rows = 1, .block_vectors = 1};
    const bool resident = plan->uses_index() && ways.index == IndexWay::kResident;
    if (resident && !plan->memory.keeps_index) way.fits = false;
    // Small query blocks make no limit large enough that is too small for the others.
    if (ways.index == IndexWay::kOneByOne && !refused.ok()) way.fits = false;
    if (memory.ok()) {
      way.estimate = Estimator(*plan).Of(NeedsOf(*plan));
      way.memory_bytes = memory->total_bytes();
    }
    plan->considered.push_back(std::move(way));
    memories.push_back(plan->memory);
  }
  const auto better = [](const ConsideredWay& a, const ConsideredWay& b) {
    if (a.fits != b.fits) return a.fits;
    return a.fits && a.estimate.seconds < b.estimate.seconds;
  };
  const auto best = std::min_element(plan->considered.begin(), plan->considered.end(), better);
  if (!best->fits) {
    if (!refused.ok()) return refused;
    return base::MakeError(base::ErrorCode::kCapacity,
                           "the index doesn't fit memory_limit, so that KINJO_WAYS can't keep it");
  }
  plan->ways = best->ways;
  plan->memory = memories[static_cast<size_t>(best - plan->considered.begin())];
  std::rotate(plan->considered.begin(), best, best + 1);
  return arrow::Status::OK();
}

arrow::Status ChooseWidestWays(JoinPlan* plan) {
  JoinPlan widest = *plan;
  ARROW_RETURN_NOT_OK(ApplySettings(WidestSettings(widest), &widest));
  plan->memory = widest.memory;
  plan->ways = widest.ways;
  plan->considered = widest.considered;
  return arrow::Status::OK();
}

}  // namespace kinjo::join
