#include "dataset/filter.h"

#include <algorithm>
#include <atomic>
#include <optional>
#include <set>
#include <utility>

#include "dataset/filter_parts.h"
#include "dataset/index_answer.h"

namespace kinjo::dataset {
namespace {

using predicate::ExpressionKind;

/// Physical rows of a fragment that one item of work scans; a multiple of a bitmap's block.
constexpr uint64_t kItemRows = uint64_t{1} << 19;

/// A part of the predicate. Rows pass that pass every part.
struct Part {
  std::vector<ExpressionPtr> conjuncts;
  std::unique_ptr<IndexAnswer> index;  ///< null when a scan must answer
  TruthRows rows;                      ///< the index's answer
};

/// The predicate in parts.
struct Parts {
  std::vector<Part> parts;
  /// A conjunct may fail. It must do so with an index as it does without: it is asked of the rows
  /// that no conjunct before it made false, so indexes tell of unknown rows too, and answer nothing
  /// that stands behind it.
  bool can_fail = false;
};

Parts CutIntoParts(Dataset* dataset, const predicate::Predicate& filter) {
  const std::vector<ExpressionPtr> conjuncts = ConjunctsOf(filter.root());
  const auto first_failing =
      std::find_if(conjuncts.begin(), conjuncts.end(),
                   [](const ExpressionPtr& conjunct) { return conjunct->can_fail; });
  Parts cut;
  cut.can_fail = first_failing != conjuncts.end();
  for (ExpressionPtr& group :
       GroupByColumn(ExpressionKind::kAnd, {conjuncts.begin(), first_failing})) {
    auto index = IndexAnswer::Plan(dataset, group, /*wants_unknown=*/cut.can_fail);
    cut.parts.push_back({.conjuncts = {std::move(group)}, .index = std::move(index)});
  }
  for (auto rest = first_failing; rest != conjuncts.end(); ++rest) {
    cut.parts.push_back({.conjuncts = {*rest}});
  }
  return cut;
}

/// One piece of the scan.
struct Item {
  uint64_t fragment_id = 0;
  std::shared_ptr<const RowMask> candidates;  ///< null = every live row
  ExpressionPtr rest;                         ///< null = the whole predicate
};

class Evaluation {
 public:
  Evaluation(Dataset* dataset, const predicate::Predicate& filter, base::ThreadPool* pool,
             const base::CancelToken& cancel, const FilterOptions& options)
      : dataset_(dataset), filter_(filter), pool_(pool), cancel_(cancel), options_(options) {}

  arrow::Result<FilterAnswer> Run() {
    if (options_.use_indexes) ARROW_RETURN_NOT_OK(AskIndexes());
    for (const FragmentInfo& fragment : dataset_->fragments()) PlanFragment(fragment);
    std::vector<RowMask> found(items_.size());
    ARROW_RETURN_NOT_OK(
        pool_->ParallelFor(static_cast<int64_t>(items_.size()), cancel_, [&](int64_t i, int) {
          return Scan(items_[static_cast<size_t>(i)], &found[static_cast<size_t>(i)]);
        }));
    for (RowMask& mask : found) {
      rows_.UniteWith(mask);
      mask = RowMask();
    }
    FilterAnswer answer;
    answer.rows = std::make_shared<const RowMask>(std::move(rows_));
    answer.rows_evaluated = rows_evaluated_.load();
    answer.indexes.assign(indexes_.begin(), indexes_.end());
    return answer;
  }

 private:
  arrow::Status AskIndexes() {
    cut_ = CutIntoParts(dataset_, filter_);
    for (Part& part : cut_.parts) {
      if (part.index == nullptr) continue;
      ARROW_ASSIGN_OR_RAISE(const bool good, part.index->Open());
      if (!good) {
        part.index = nullptr;
        continue;
      }
      auto answered = part.index->Run(cancel_);
      if (!answered.ok() && base::CodeOf(answered.status()) == base::ErrorCode::kNotSupported) {
        part.index = nullptr;  // opened, but its values can't be read: the scan can do without
        continue;
      }
      ARROW_ASSIGN_OR_RAISE(part.rows, std::move(answered));
      part.index->AddNames(&indexes_);
    }
    return arrow::Status::OK();
  }

  /// Rows that the indexes alone let through are done; others become items.
  void PlanFragment(const FragmentInfo& fragment) {
    std::optional<RowMask> candidates;
    std::vector<ExpressionPtr> rest;
    for (const Part& part : cut_.parts) {
      if (!AnswersIn(part, fragment.id)) {
        rest.insert(rest.end(), part.conjuncts.begin(), part.conjuncts.end());
        continue;
      }
      RowMask open = RowsIn(fragment.id, part.rows.passing);
      if (cut_.can_fail) open.UniteWith(RowsIn(fragment.id, part.rows.unknown));
      if (candidates.has_value()) {
        candidates->IntersectWith(open);
      } else {
        candidates = std::move(open);
      }
    }
    if (!candidates.has_value()) return AddItems(fragment, nullptr, nullptr);
    if (rest.empty()) return rows_.UniteWith(*candidates);
    AddItems(fragment, &*candidates, MakeNode(ExpressionKind::kAnd, std::move(rest)));
  }

  static bool AnswersIn(const Part& part, uint64_t fragment_id) {
    return part.index != nullptr &&
           std::binary_search(part.index->fragment_ids().begin(), part.index->fragment_ids().end(),
                              fragment_id);
  }

  static RowMask RowsIn(uint64_t fragment_id, const RowMask& rows) {
    return rows.InFragments(std::span(&fragment_id, 1));
  }

  /// Drops rows for which an index's part is unknown.
  void DropUnknown(uint64_t fragment_id, RowMask* found) const {
    if (!cut_.can_fail) return;
    for (const Part& part : cut_.parts) {
      if (AnswersIn(part, fragment_id)) found->IntersectWith(part.rows.passing);
    }
  }

  void AddItems(const FragmentInfo& fragment, const RowMask* candidates,
                const ExpressionPtr& rest) {
    const RowAddress base = fragment.id << 32;
    for (uint64_t begin = 0; begin < fragment.physical_rows; begin += kItemRows) {
      const uint64_t end = std::min(fragment.physical_rows, begin + kItemRows);
      Item item{.fragment_id = fragment.id, .rest = rest};
      const bool whole = begin == 0 && end == fragment.physical_rows;
      if (candidates != nullptr || !whole) {
        RowMask rows;
        rows.AddRange(base + begin, base + end);
        if (candidates != nullptr) rows.IntersectWith(*candidates);
        if (rows.count() == 0) continue;
        item.candidates = std::make_shared<const RowMask>(std::move(rows));
      }
      items_.push_back(std::move(item));
    }
  }

  arrow::Status Scan(const Item& item, RowMask* found) {
    ScanOptions scan_options;
    scan_options.columns =
        item.rest == nullptr ? filter_.columns() : predicate::ColumnsOf(*item.rest);
    scan_options.fragment_ids = {item.fragment_id};
    scan_options.batch_rows = options_.batch_rows;
    scan_options.rows = item.candidates;
    ARROW_ASSIGN_OR_RAISE(const auto scan, dataset_->MakeScan(scan_options));
    std::vector<RowAddress> passing;
    while (true) {
      ARROW_RETURN_NOT_OK(cancel_.Check());
      ARROW_ASSIGN_OR_RAISE(const ScanBatch batch, scan->Next());
      if (batch.batch == nullptr) break;
      ARROW_ASSIGN_OR_RAISE(const auto truth, item.rest == nullptr
                                                  ? filter_.Evaluate(*batch.batch)
                                                  : predicate::Evaluate(*item.rest, *batch.batch));
      ARROW_RETURN_NOT_OK(KeepPassing(*truth, batch.addresses, &passing));
      found->Add(passing);
      rows_evaluated_.fetch_add(truth->length(), std::memory_order_relaxed);
    }
    DropUnknown(item.fragment_id, found);
    return arrow::Status::OK();
  }

  Dataset* dataset_;
  const predicate::Predicate& filter_;
  base::ThreadPool* pool_;
  const base::CancelToken& cancel_;
  const FilterOptions& options_;
  Parts cut_;
  std::vector<Item> items_;
  std::set<std::string> indexes_;
  RowMask rows_;
  std::atomic<int64_t> rows_evaluated_{0};
};

}  // namespace

arrow::Status KeepPassing(const arrow::BooleanArray& truth, std::span<const RowAddress> addresses,
                          std::vector<RowAddress>* passing) {
  if (static_cast<size_t>(truth.length()) != addresses.size()) {
    return base::Internal("a filter gave ", truth.length(), " values for ", addresses.size(),
                          " rows");
  }
  passing->clear();
  for (int64_t i = 0; i < truth.length(); ++i) {
    if (truth.IsValid(i) && truth.Value(i)) passing->push_back(addresses[static_cast<size_t>(i)]);
  }
  return arrow::Status::OK();
}

arrow::Result<FilterAnswer> EvaluateFilter(Dataset* dataset, const predicate::Predicate& filter,
                                           base::ThreadPool* pool, const base::CancelToken& cancel,
                                           const FilterOptions& options) {
  return Evaluation(dataset, filter, pool, cancel, options).Run();
}

std::vector<std::string> IndexesFor(Dataset* dataset, const predicate::Predicate& filter) {
  std::set<std::string> names;
  const Parts cut = CutIntoParts(dataset, filter);
  for (const Part& part : cut.parts) {
    if (part.index != nullptr) part.index->AddNames(&names);
  }
  return {names.begin(), names.end()};
}

}  // namespace kinjo::dataset
