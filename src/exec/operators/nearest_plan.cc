#include "exec/operators/nearest_plan.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "exec/multivector_array.h"
#include "exec/operators/ann_ivf_partition_operator.h"
#include "exec/operators/ann_ivf_sub_index_operator.h"
#include "exec/operators/dataset_scan_operator.h"
#include "exec/operators/filter_operator.h"
#include "exec/operators/knn_vector_distance_operator.h"
#include "exec/operators/multivector_scoring_operator.h"
#include "exec/operators/project_operator.h"
#include "exec/operators/refine_operator.h"
#include "exec/operators/take_operator.h"
#include "exec/operators/top_k_operator.h"
#include "exec/operators/union_operator.h"

namespace kinjo::exec {

namespace {

/// Index entries that each query vector of a multivector looks for, in units of k.
constexpr int64_t kEntriesOfMultivector = 10;

class Planner {
 public:
  Planner(std::shared_ptr<dataset::Dataset> dataset, const NearestRequest& request)
      : dataset_(std::move(dataset)), request_(request), query_(request.query) {}

  arrow::Result<OperatorPtr> Plan() {
    ARROW_RETURN_NOT_OK(Check());
    OperatorPtr nearest;
    if (request_.index == nullptr) {
      ARROW_ASSIGN_OR_RAISE(nearest, ExactSearch(std::nullopt));
    } else {
      FindFragments();
      ARROW_ASSIGN_OR_RAISE(nearest, IndexSearch());
    }
    std::vector<std::string> columns = request_.columns;
    columns.emplace_back(kDistanceColumn);
    if (request_.with_row_id) columns.emplace_back(kRowIdColumn);
    if (!request_.columns.empty()) {
      ARROW_ASSIGN_OR_RAISE(nearest, TakeOperator::Make(nearest, dataset_, request_.columns));
    }
    return ProjectOperator::Make(nearest, columns);
  }

 private:
  arrow::Status Check() {
    ARROW_ASSIGN_OR_RAISE(const auto field, FindVectorField(*dataset_->arrow_schema(),
                                                            query_.column, dataset_->uri()));
    ARROW_RETURN_NOT_OK(CheckQueryFits(query_, *field->type()));
    is_multivector_ = MultivectorTypeOf(*field->type()).has_value();
    if (query_.k < 1) return base::Invalid("k is ", query_.k, ", below 1");
    if (query_.refine_factor.value_or(1) < 1) {
      return base::Invalid("refine_factor is ", *query_.refine_factor, ", below 1");
    }
    if (query_.refine_factor.value_or(1) > std::numeric_limits<int64_t>::max() / query_.k) {
      return base::Invalid("k * refine_factor is more than can be counted: k is ", query_.k,
                           ", refine_factor ", *query_.refine_factor);
    }
    if (query_.ef.value_or(query_.candidates()) < query_.candidates()) {
      return base::Invalid("ef is ", *query_.ef, ", below k * refine_factor, which is ",
                           query_.candidates());
    }
    if (query_.minimum_nprobes < 1) {
      return base::Invalid("minimum_nprobes is ", query_.minimum_nprobes, ", below 1");
    }
    if (query_.maximum_nprobes.value_or(query_.minimum_nprobes) < query_.minimum_nprobes) {
      return base::Invalid("minimum_nprobes is ", query_.minimum_nprobes,
                           ", above maximum_nprobes, which is ", *query_.maximum_nprobes);
    }
    return arrow::Status::OK();
  }

  bool filters() const { return request_.predicate != nullptr || request_.mask != nullptr; }

  void FindFragments() {
    for (const dataset::IndexSegmentInfo& segment : request_.index->segments) {
      indexed_.insert(indexed_.end(), segment.fragment_ids.begin(), segment.fragment_ids.end());
    }
    std::sort(indexed_.begin(), indexed_.end());
    indexed_.erase(std::unique(indexed_.begin(), indexed_.end()), indexed_.end());
    for (const dataset::FragmentInfo& fragment : dataset_->fragments()) {
      if (!std::binary_search(indexed_.begin(), indexed_.end(), fragment.id)) {
        unindexed_.push_back(fragment.id);
      }
    }
  }

  arrow::Result<OperatorPtr> IndexSearch() {
    const bool merges = !unindexed_.empty() && !request_.fast_search;
    ARROW_ASSIGN_OR_RAISE(const Prefilter prefilter, MakePrefilter());
    OperatorPtr plan;
    if (is_multivector_) {
      ARROW_ASSIGN_OR_RAISE(plan, MultivectorSearch(prefilter));
    } else {
      ARROW_ASSIGN_OR_RAISE(plan, AnnSearch(query_, prefilter));
    }
    if (query_.refine_factor.has_value() || merges) {
      ARROW_ASSIGN_OR_RAISE(plan, RefineOperator::Make(plan, dataset_, query_, RefineScope::kAll));
    } else if (filters() && request_.scores_unreached) {
      ARROW_ASSIGN_OR_RAISE(plan,
                            RefineOperator::Make(plan, dataset_, query_, RefineScope::kUnreached));
    }
    if (!merges) return plan;
    ARROW_ASSIGN_OR_RAISE(auto exact, ExactSearch(unindexed_));
    ARROW_ASSIGN_OR_RAISE(plan, UnionOperator::Make({std::move(plan), std::move(exact)}));
    return TopKOperator::Make(plan, dataset_, query_.k, query_.distance_range);
  }

  /// The filter of the index's rows; of a predicate, a plan over the indexed fragments.
  arrow::Result<Prefilter> MakePrefilter() {
    if (request_.predicate == nullptr) return Prefilter::Masked(request_.mask);
    DatasetScanOptions options;
    options.columns = request_.predicate->columns();
    options.with_row_id = true;
    options.fragment_ids = indexed_;
    ARROW_ASSIGN_OR_RAISE(auto plan, DatasetScanOperator::Make(dataset_, std::move(options)));
    ARROW_ASSIGN_OR_RAISE(plan, FilterOperator::Make(plan, request_.predicate));
    ARROW_ASSIGN_OR_RAISE(plan, ProjectOperator::Make(plan, {kRowIdColumn}));
    return Prefilter::FilteredRowIds(std::move(plan));
  }

  arrow::Result<OperatorPtr> AnnSearch(const VectorQuery& query, const Prefilter& prefilter) {
    std::vector<std::string> uuids;
    uuids.reserve(request_.index->segments.size());
    for (const auto& segment : request_.index->segments) uuids.push_back(segment.uuid);
    ARROW_ASSIGN_OR_RAISE(auto plan, AnnIvfPartitionOperator::Make(dataset_, uuids, query));
    ARROW_ASSIGN_OR_RAISE(
        plan, AnnIvfSubIndexOperator::Make(plan, dataset_, *request_.index, query, prefilter));
    return TopKOperator::Make(plan, dataset_, query.candidates());
  }

  arrow::Result<OperatorPtr> MultivectorSearch(const Prefilter& prefilter) {
    const auto width = query_.vector.size() / static_cast<size_t>(query_.num_vectors);
    std::vector<OperatorPtr> searches;
    for (int64_t i = 0; i < query_.num_vectors; ++i) {
      VectorQuery query = query_;
      const auto begin = query_.vector.begin() + i * static_cast<int64_t>(width);
      query.vector.assign(begin, begin + static_cast<int64_t>(width));
      query.num_vectors = 1;
      if (CanMatch(query_) && !CanMatch(query)) continue;
      query.k = std::min(query_.k, std::numeric_limits<int64_t>::max() / kEntriesOfMultivector) *
                kEntriesOfMultivector;
      query.refine_factor.reset();
      query.distance_range.reset();
      query.ef.reset();
      ARROW_ASSIGN_OR_RAISE(auto search, AnnSearch(query, prefilter));
      searches.push_back(std::move(search));
    }
    ARROW_ASSIGN_OR_RAISE(auto plan, MultivectorScoringOperator::Make(std::move(searches), query_));
    return TopKOperator::Make(plan, dataset_, query_.candidates(), query_.distance_range);
  }

  /// The k nearest of some fragments by their true vectors.
  arrow::Result<OperatorPtr> ExactSearch(std::optional<std::vector<uint64_t>> fragment_ids) {
    DatasetScanOptions options;
    options.columns = {query_.column};
    options.with_row_id = true;
    options.fragment_ids = std::move(fragment_ids);
    options.mask = request_.mask;
    if (request_.predicate != nullptr) {
      for (const std::string& column : request_.predicate->columns()) {
        if (column != query_.column) options.columns.push_back(column);
      }
    }
    ARROW_ASSIGN_OR_RAISE(auto plan, DatasetScanOperator::Make(dataset_, std::move(options)));
    if (request_.predicate != nullptr) {
      ARROW_ASSIGN_OR_RAISE(plan, FilterOperator::Make(plan, request_.predicate));
    }
    ARROW_ASSIGN_OR_RAISE(plan, KnnVectorDistanceOperator::Make(plan, query_));
    ARROW_ASSIGN_OR_RAISE(plan, ProjectOperator::Make(plan, {kDistanceColumn, kRowIdColumn}));
    return TopKOperator::Make(plan, dataset_, query_.k, query_.distance_range);
  }

  std::shared_ptr<dataset::Dataset> dataset_;
  const NearestRequest& request_;
  const VectorQuery& query_;
  bool is_multivector_ = false;
  std::vector<uint64_t> indexed_;    // fragments, rising
  std::vector<uint64_t> unindexed_;  // fragments
};

}  // namespace

arrow::Result<OperatorPtr> MakeNearestPlan(std::shared_ptr<dataset::Dataset> dataset,
                                           const NearestRequest& request) {
  return Planner(std::move(dataset), request).Plan();
}

}  // namespace kinjo::exec
