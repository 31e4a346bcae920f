#include "join/executor.h"

#include <algorithm>
#include <numeric>

#include "base/cancel_scope.h"
#include "base/process_memory.h"
#include "join/cluster_batches.h"
#include "join/reverse_search.h"
#include "join/temporary_index.h"

namespace kinjo::join {

namespace {

constexpr std::chrono::milliseconds kProgressInterval(200);

double Seconds(const std::atomic<int64_t>& ns) {
  return static_cast<double>(ns.load(std::memory_order_relaxed)) * 1e-9;
}

/// Stores what the process grew by in its own life, at its end.
class MemoryMeter {
 public:
  explicit MemoryMeter(std::atomic<int64_t>* bytes) : bytes_(bytes) {}
  ~MemoryMeter() { bytes_->store(growth_.bytes().value_or(-1)); }
  MemoryMeter(const MemoryMeter&) = delete;
  MemoryMeter& operator=(const MemoryMeter&) = delete;

 private:
  std::atomic<int64_t>* bytes_;
  base::MemoryGrowth growth_;
};

/// 0 when they aren't known.
double RowsToScan(const JoinPlan& plan) {
  if (plan.rows != nullptr) return static_cast<double>(plan.rows->count());
  return static_cast<double>(plan.right->num_rows().value_or(0));
}

}  // namespace

struct Executor::Rooms {
  /// `run_plan` knows the rows that passed the filter, and is settled.
  Rooms(JoinPlan run_plan, const EligibleRows* eligible_rows, base::ThreadPool* pool,
        const base::CancelToken& token, RunCounters* counters)
      : plan(std::move(run_plan)),
        cancel(token),
        eligible(eligible_rows),
        search(plan, eligible, pool, token, counters),
        results(plan, token, counters) {}

  const JoinPlan plan;
  base::CancelToken cancel;
  const EligibleRows* eligible;
  BlockSearch search;
  ResultBatches results;
};

Executor::Executor(std::shared_ptr<const JoinPlan> plan, base::ProgressCallback progress,
                   PartCut cut)
    : plan_(std::move(plan)),
      progress_(std::move(progress)),
      cut_(cut),
      budget_(plan_->memory.limit_bytes),
      requests_before_(plan_->right->requests()),
      bytes_before_(plan_->right->bytes_read()) {}

arrow::Status Executor::Reserve(const JoinPlan& plan, const EligibleRows* eligible,
                                std::vector<base::Reservation>* reservations) {
  const MemoryPlan& memory = plan.memory;
  // The planned bytes hold the mask unless the table didn't tell its rows.
  const int64_t mask_bytes = plan.rows == nullptr ? 0 : plan.rows->size_bytes();
  const int64_t more_mask_bytes =
      plan.rows == nullptr ? 0 : std::max<int64_t>(0, mask_bytes - plan.filter->mask_bytes);
  const int64_t key_bytes =
      std::min(memory.key_bytes, eligible == nullptr ? 0 : eligible->reserved_bytes());
  const std::pair<int64_t, const char*> parts[] = {
      {memory.fixed_bytes - key_bytes, "the threads' buffers"},
      {memory.pair_bytes, "pairs of all left rows"},
      {memory.block_bytes, "a query block"},
      {memory.cache_bytes, "kept partitions"},
      {memory.kept_bytes, "kept right rows"},
      {memory.take_bytes, "right rows being read"},
      {memory.output_bytes, "rows being written"},
      {more_mask_bytes, "the rows that pass"}};
  for (const auto& [bytes, what] : parts) {
    ARROW_ASSIGN_OR_RAISE(auto reservation, budget_.Reserve(bytes, what));
    reservations->push_back(std::move(reservation));
  }
  return arrow::Status::OK();
}

arrow::Result<Matches> Executor::Search(const LeftBlock& block, Rooms* rooms) {
  const double right_rows = RowsToScan(rooms->plan);
  const auto block_rows = static_cast<double>(block.num_rows);
  return rooms->search.Search(block, [&](int64_t rows) {
    if (right_rows > 0) TellProgress(false, block_rows * static_cast<double>(rows) / right_rows);
  });
}

void Executor::CountShort(const LeftBlock& block, const Matches& matches, const Rooms& rooms) {
  const JoinPlan& plan = *plan_;
  // A fast search has narrowed the rows that pass to those of the index's fragments.
  const bool rows_there = rooms.plan.rows == nullptr ||
                          static_cast<int64_t>(rooms.plan.rows->count()) < counters_.filter_rows;
  const bool leaves_fragments = plan.uses_index() && plan.options.fast_search && rows_there &&
                                !plan.choice.index->unindexed_fragments.empty();
  int64_t short_rows = 0;
  int64_t capped = 0;
  for (const int32_t query : block.query_of_row) {
    if (query < 0) continue;
    const auto found = static_cast<int64_t>(matches[query].size());
    if (found >= plan.options.k) continue;
    ++short_rows;
    const Prober::Met& met = rooms.search.met()[query];
    const bool range_cuts = plan.options.distance_range.has_value() && found < met.rows;
    capped += leaves_fragments || !met.all || range_cuts;
  }
  counters_.short_rows.fetch_add(short_rows, std::memory_order_relaxed);
  counters_.capped_rows.fetch_add(capped, std::memory_order_relaxed);
}

void Executor::TellProgress(bool always, double block_rows_done) {
  if (!progress_) return;
  const auto now = std::chrono::steady_clock::now();
  if (!always && now - told_ < kProgressInterval) return;
  told_ = now;
  const auto of_this_run =
      static_cast<int64_t>(pass_.rows_before + pass_.share * (pass_.rows + block_rows_done));
  const bool finished = counters_.finished.load();
  base::Progress told{.done_rows = cut_.first_row + of_this_run,
                      .total_rows = plan_->left->num_rows().value_or(-1),
                      .elapsed_s = std::chrono::duration<double>(now - started_).count()};
  if (told.total_rows >= 0) told.done_rows = std::min(told.done_rows, told.total_rows);
  if (finished) {
    told.done_rows = told.total_rows = counters_.resumed_rows.load() + counters_.left_rows.load();
  }
  if (told.elapsed_s > 0) told.rows_per_s = static_cast<double>(of_this_run) / told.elapsed_s;
  if (told.total_rows >= 0 && (told.rows_per_s > 0 || finished)) {
    const auto left = static_cast<double>(std::max<int64_t>(told.total_rows - told.done_rows, 0));
    told.remaining_s = finished ? 0 : left / told.rows_per_s;
  }
  progress_(told);
}

arrow::Status Executor::MarkPart(const stream::ResultStream::Emit& emit) const {
  ARROW_ASSIGN_OR_RAISE(auto mark, arrow::RecordBatch::MakeEmpty(plan_->layout.schema));
  return emit(std::move(mark));
}

arrow::Status Executor::SettleRecall(const EligibleRows* eligible, base::ThreadPool* pool,
                                     const base::CancelToken& cancel, JoinPlan* plan) {
  if (!plan->options.recall.has_value()) return arrow::Status::OK();
  RecallReport report{.target = *plan->options.recall};
  if (!plan->uses_index()) {
    report.exact = true;
    counters_.SetRecall(report);
    return arrow::Status::OK();
  }
  const PhaseTimer timer(&counters_.choose_ns);
  // The run goes on with the partitions that the choosing has read, if it may keep them all.
  int64_t bytes = plan->memory.sample_bytes;
  if (plan->memory.keeps_index && bytes <= plan->memory.limit_bytes - plan->memory.cache_bytes) {
    plan->partitions = std::make_shared<exec::PartitionCache>(plan->memory.cache_bytes);
    bytes += plan->memory.cache_bytes;
  }
  if (eligible != nullptr) bytes -= std::min(plan->memory.key_bytes, eligible->reserved_bytes());
  ARROW_ASSIGN_OR_RAISE(const auto reserved, budget_.Reserve(bytes, "choosing for recall"));
  const SampleSizes sizes =
      SampleSizes::For(plan->left->num_rows(), plan->options.k, plan->multivector());
  ARROW_ASSIGN_OR_RAISE(auto rows, DrawLeftSample(sizes, eligible, plan));
  report.chosen = WidestSettings(*plan);
  report.estimate = EstimateRecall({}, -1);
  if (rows.has_value()) {
    ARROW_ASSIGN_OR_RAISE(const auto sample,
                          AnswerSample(*std::move(rows), *plan, eligible, pool, cancel));
    SettingsSearch search(sample, *plan, eligible, pool, cancel);
    ARROW_RETURN_NOT_OK(search.Start());
    ARROW_ASSIGN_OR_RAISE(report.chosen, search.Choose(report.target));
    report.choosing_rows = static_cast<int64_t>(sample.rows.choosing.size());
    meter_ = RecallMeter(sample);
  }
  counters_.SetRecall(report);
  return ApplySettings(report.chosen, plan);
}

void Executor::TellRecall() {
  std::optional<RecallReport> report = counters_.recall();
  if (!report.has_value() || report->exact) return;
  report->estimate = meter_.Estimate(counters_.left_rows.load());
  report->measured = report->estimate.rows > 0;
  counters_.SetRecall(*report);
}

arrow::Status Executor::SearchBlocks(Rooms* rooms, Pairing* pairing,
                                     const stream::ResultStream::Emit& emit) {
  const bool waits = plan_->reads_left_twice();
  ARROW_ASSIGN_OR_RAISE(
      const auto reader,
      LeftReader::Open(rooms->plan, rooms->eligible, waits ? LeftParts::kVectors : LeftParts::kAll,
                       cut_.part_rows));
  ARROW_ASSIGN_OR_RAISE(const int64_t resumed, reader->Skip(cut_.first_row, rooms->cancel));
  counters_.resumed_rows.store(resumed);
  bool part_open = cut_.part_rows > 0 && cut_.first_row == 0;  // no rows at all are a part too
  LeftBlock block;
  KeptMatches kept;
  while (true) {
    ARROW_RETURN_NOT_OK(rooms->cancel.Check());
    ARROW_RETURN_NOT_OK(reader->Next(&block));
    if (block.num_rows == 0) return part_open ? MarkPart(emit) : arrow::Status::OK();
    counters_.skipped_null_rows.fetch_add(block.null_rows);
    counters_.skipped_non_finite_rows.fetch_add(block.non_finite_rows);
    ARROW_ASSIGN_OR_RAISE(const Matches matches, Search(block, rooms));
    counters_.duplicate_rows.fetch_add(block.duplicate_rows);
    CountShort(block, matches, *rooms);
    meter_.Add(block, matches);
    if (pairing != nullptr) ARROW_RETURN_NOT_OK(pairing->Add(block, matches, &kept));
    if (!waits) {
      ARROW_RETURN_NOT_OK(
          rooms->results.Emit(block, matches, pairing == nullptr ? nullptr : &kept, emit));
    }
    counters_.left_rows.fetch_add(block.num_rows);
    pass_.rows += static_cast<double>(block.num_rows);
    TellProgress(false);
    part_open = cut_.part_rows > 0 && reader->next_row() % cut_.part_rows != 0;
    if (cut_.part_rows > 0 && !part_open) ARROW_RETURN_NOT_OK(MarkPart(emit));
  }
}

arrow::Status Executor::SearchReverse(base::ThreadPool* pool, const base::CancelToken& cancel,
                                      Pairing* pairing) {
  ARROW_ASSIGN_OR_RAISE(const std::vector<uint64_t> addresses, pairing->MatchedRows());
  Rooms rooms(MakeReversePlan(*plan_, &addresses), nullptr, pool, cancel, &counters_);
  ARROW_ASSIGN_OR_RAISE(const auto reader,
                        LeftReader::Open(rooms.plan, nullptr, LeftParts::kVectors));
  const double half = pass_.share * pass_.rows;
  pass_ = {.rows_before = half,
           .share = half / static_cast<double>(std::max<size_t>(addresses.size(), 1))};
  LeftBlock block;
  while (true) {
    ARROW_RETURN_NOT_OK(cancel.Check());
    ARROW_RETURN_NOT_OK(reader->Next(&block));
    if (block.num_rows == 0) return arrow::Status::OK();
    ARROW_ASSIGN_OR_RAISE(const Matches matches, Search(block, &rooms));
    for (int64_t i = 0; i < block.num_rows; ++i) {
      const int32_t query = block.query_of_row[i];
      if (query >= 0) pairing->AddReverse(addresses[block.first_row + i], matches[query]);
    }
    pass_.rows += static_cast<double>(block.num_rows);
    TellProgress(false);
  }
}

arrow::Status Executor::GivePairs(const base::CancelToken& cancel, Pairing* pairing,
                                  const stream::ResultStream::Emit& emit) {
  ARROW_RETURN_NOT_OK(pairing->Decide());
  ARROW_ASSIGN_OR_RAISE(const auto reader, LeftReader::Open(*plan_, nullptr, LeftParts::kColumns));
  ResultBatches results(*plan_, cancel, &counters_);
  LeftBlock block;
  Matches matches;
  KeptMatches kept;
  while (true) {
    ARROW_RETURN_NOT_OK(cancel.Check());
    ARROW_RETURN_NOT_OK(reader->Next(&block));
    ARROW_RETURN_NOT_OK(pairing->CheckRows(block.first_row, block.num_rows));
    if (block.num_rows == 0) return arrow::Status::OK();
    if (plan_->options.clusters) {
      ARROW_RETURN_NOT_OK(EmitClusters(*plan_, block, pairing, cancel, &counters_, emit));
    } else {
      pairing->Get(block.first_row, block.num_rows, &matches, &kept);
      block.query_of_row.resize(static_cast<size_t>(block.num_rows));
      std::iota(block.query_of_row.begin(), block.query_of_row.end(), 0);
      ARROW_RETURN_NOT_OK(results.Emit(block, matches, &kept, emit));
    }
    TellProgress(false);
  }
}

arrow::Status Executor::RunBlocks(JoinPlan plan, const EligibleRows* eligible,
                                  base::ThreadPool* pool, const base::CancelToken& cancel,
                                  const stream::ResultStream::Emit& emit) {
  std::unique_ptr<Pairing> pairing;
  if (plan.gives_pairs()) {
    ARROW_ASSIGN_OR_RAISE(pairing, Pairing::Make(*plan_, pool, cancel, &budget_, &counters_));
  }
  if (plan.searches_reverse()) pass_.share = 0.5;
  {
    Rooms rooms(std::move(plan), eligible, pool, cancel, &counters_);
    ARROW_RETURN_NOT_OK(SearchBlocks(&rooms, pairing.get(), emit));
  }
  if (!plan_->reads_left_twice()) return arrow::Status::OK();
  if (plan_->searches_reverse()) {
    ARROW_RETURN_NOT_OK(SearchReverse(pool, cancel, pairing.get()));
  }
  return GivePairs(cancel, pairing.get(), emit);
}

arrow::Status Executor::Run(const base::CancelToken& cancel,
                            const stream::ResultStream::Emit& emit) {
  const base::CancelScope scope(cancel);
  const PhaseTimer timer(&counters_.total_ns);
  started_ = told_ = std::chrono::steady_clock::now();
  TellProgress(true);
  const MemoryMeter meter(&counters_.measured_memory_bytes);
  if (cut_.first_row > 0 && plan_->left->num_rows() == cut_.first_row) {  // nothing is left to do
    counters_.resumed_rows.store(cut_.first_row);
    counters_.finished.store(true);
    TellProgress(true);
    return arrow::Status::OK();
  }
  base::ThreadPool pool(plan_->threads);
  JoinPlan plan = *plan_;
  ARROW_RETURN_NOT_OK(ApplyRightFilter(&pool, cancel, &budget_, &counters_, &plan));
  std::unique_ptr<EligibleRows> eligible;
  if (!plan.eligibility.everything()) {
    ARROW_ASSIGN_OR_RAISE(eligible, EligibleRows::Make(plan, cancel, &budget_, &counters_));
  }
  ARROW_RETURN_NOT_OK(BuildTemporaryIndex(&pool, cancel, &budget_, &counters_, &plan));
  ARROW_RETURN_NOT_OK(SettleRecall(eligible.get(), &pool, cancel, &plan));
  counters_.SetWay(plan.considered.front());
  std::vector<base::Reservation> reservations;
  ARROW_RETURN_NOT_OK(Reserve(plan, eligible.get(), &reservations));
  ARROW_RETURN_NOT_OK(RunBlocks(std::move(plan), eligible.get(), &pool, cancel, emit));
  counters_.finished.store(true);
  TellRecall();
  TellProgress(true);
  return arrow::Status::OK();
}

JoinReport Executor::report() const {
  JoinReport report;
  report.path = plan_->uses_index() ? "index" : "exact";
  if (plan_->uses_index()) report.index_name = plan_->choice.index->info.name;
  report.metric = kernels::MetricName(plan_->metric());
  const ConsideredWay way = counters_.way().value_or(plan_->considered.front());
  report.way = way.name;
  report.estimated_s = way.estimate.seconds;
  report.exact_distances = plan_->exact_distances() || counters_.scored_all_passing.load();
  report.recall = counters_.recall();
  if (report.recall.has_value()) {
    report.recall->choose_s = Seconds(counters_.choose_ns);
    report.exact_distances |= report.recall->chosen.refine_factor > 0;
  }
  report.left_rows = counters_.left_rows.load();
  report.resumed_rows = counters_.resumed_rows.load();
  report.skipped_null_rows = counters_.skipped_null_rows.load();
  report.skipped_non_finite_rows = counters_.skipped_non_finite_rows.load();
  report.duplicate_rows = counters_.duplicate_rows.load();
  report.short_rows = counters_.short_rows.load();
  report.capped_rows = counters_.capped_rows.load();
  report.result_rows = counters_.result_rows.load();
  report.dropped_matches = counters_.dropped_matches.load();
  report.clusters = counters_.clusters.load();
  report.partitions_ranked = counters_.partitions_ranked.load();
  report.partitions_probed = counters_.batch.partitions_probed.load();
  report.partitions_read = counters_.batch.partitions_read.load();
  report.partitions_skipped = counters_.batch.partitions_skipped.load();
  report.index_comparisons = counters_.batch.index_comparisons.load();
  report.exact_comparisons = counters_.exact_comparisons.load();
  report.rows_refined = counters_.rows_refined.load();
  report.rows_scanned = counters_.rows_scanned.load();
  report.filter_rows = counters_.filter_rows.load();
  report.filter_rows_evaluated = counters_.filter_rows_evaluated.load();
  report.scored_all_passing = counters_.scored_all_passing.load();
  report.filter_indexes = counters_.filter_indexes();
  report.requests = plan_->right->requests() - requests_before_;
  report.bytes_read = plan_->right->bytes_read() - bytes_before_;
  report.peak_memory_bytes = budget_.peak_bytes();
  const int64_t measured = counters_.measured_memory_bytes.load();
  if (measured >= 0) report.measured_memory_bytes = measured;
  report.filter_s = Seconds(counters_.filter_ns);
  report.rank_s = Seconds(counters_.rank_ns);
  report.probe_s = Seconds(counters_.probe_ns);
  report.refine_s = Seconds(counters_.refine_ns);
  report.exact_s = Seconds(counters_.exact_ns);
  report.take_s = Seconds(counters_.take_ns);
  report.total_s = Seconds(counters_.total_ns);
  return report;
}

}  // namespace kinjo::join
