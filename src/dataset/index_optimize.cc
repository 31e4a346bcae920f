#include "dataset/index_optimize.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <utility>

#include "format/index_file/index_files.h"

namespace kinjo::dataset {

namespace {

/// One segment as it is.
struct OpenedSegment {
  const IndexSegmentInfo* info = nullptr;
  std::shared_ptr<format::IndexFiles> files;
  uint64_t stored_rows = 0;
  uint64_t live_rows = 0;  ///< of the fragments that it covers
};

/// What will become one segment.
struct Plan {
  std::vector<size_t> merged;          ///< numbers of segments
  std::vector<uint64_t> fragment_ids;  ///< of the new segment
};

uint64_t LiveRows(const FragmentInfo& fragment) {
  return fragment.physical_rows - fragment.deleted_rows;
}

class Optimizer {
 public:
  Optimizer(std::shared_ptr<Dataset> dataset, const IndexInfo& index,
            const IndexOptimizeOptions& options)
      : dataset_(std::move(dataset)), index_(index), options_(options) {}

  arrow::Result<OptimizedIndex> Run();

 private:
  arrow::Status OpenSegments();
  void FindUncovered();
  std::vector<size_t> ChooseMerged() const;
  std::vector<size_t> ChooseSmallAndStale() const;
  bool IsStale(const OpenedSegment& segment) const;
  Plan MakePlan() const;
  const OpenedSegment& Largest() const;
  arrow::Result<BuiltSegment> Build(const Plan& plan) const;
  IndexParams ParamsOf(const format::IndexFiles& files) const;

  const std::shared_ptr<Dataset> dataset_;
  const IndexInfo& index_;
  const IndexOptimizeOptions& options_;
  std::vector<OpenedSegment> segments_;
  std::vector<uint64_t> uncovered_;  ///< fragments with live rows
  uint64_t new_rows_ = 0;
  bool lists_ = false;
};

arrow::Status Optimizer::OpenSegments() {
  for (size_t i = 0; i < index_.segments.size(); ++i) {
    OpenedSegment segment;
    segment.info = &index_.segments[i];
    ARROW_ASSIGN_OR_RAISE(segment.files, dataset_->OpenIndexFiles(index_, i));
    const auto& lengths = segment.files->ivf().lengths;
    segment.stored_rows = std::accumulate(lengths.begin(), lengths.end(), uint64_t{0});
    const auto& covered = segment.info->fragment_ids;
    for (const FragmentInfo& fragment : dataset_->fragments()) {
      if (std::binary_search(covered.begin(), covered.end(), fragment.id)) {
        segment.live_rows += LiveRows(fragment);
      }
    }
    segments_.push_back(std::move(segment));
  }
  return arrow::Status::OK();
}

void Optimizer::FindUncovered() {
  std::set<uint64_t> covered;
  for (const OpenedSegment& segment : segments_) {
    covered.insert(segment.info->fragment_ids.begin(), segment.info->fragment_ids.end());
  }
  for (const FragmentInfo& fragment : dataset_->fragments()) {
    if (covered.contains(fragment.id) || LiveRows(fragment) == 0) continue;
    uncovered_.push_back(fragment.id);
    new_rows_ += LiveRows(fragment);
  }
}

// A quarter of the stored rows is gone. (Of lists, rows and vectors can't be compared.)
bool Optimizer::IsStale(const OpenedSegment& segment) const {
  return !lists_ && segment.live_rows < segment.stored_rows / 4 * 3;
}

std::vector<size_t> Optimizer::ChooseSmallAndStale() const {
  std::vector<size_t> order(segments_.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    if (segments_[a].stored_rows != segments_[b].stored_rows) {
      return segments_[a].stored_rows < segments_[b].stored_rows;
    }
    return a < b;
  });
  std::vector<size_t> merged;
  uint64_t rows = new_rows_;
  for (const size_t i : order) {
    const bool small = rows > 0 && segments_[i].stored_rows <= 2 * rows;
    if (!small && !IsStale(segments_[i])) continue;
    merged.push_back(i);
    rows += segments_[i].live_rows;
  }
  return merged;
}

std::vector<size_t> Optimizer::ChooseMerged() const {
  std::vector<size_t> merged;
  if (options_.retrain) {
    merged.resize(segments_.size());
    std::iota(merged.begin(), merged.end(), size_t{0});
    return merged;
  }
  if (!options_.num_indices_to_merge.has_value()) return ChooseSmallAndStale();
  const auto count =
      std::min(static_cast<size_t>(*options_.num_indices_to_merge), segments_.size());
  // One segment without new rows is merged with nothing.
  if (count == 0 || (count == 1 && new_rows_ == 0)) return merged;
  for (size_t i = segments_.size() - count; i < segments_.size(); ++i) merged.push_back(i);
  return merged;
}

Plan Optimizer::MakePlan() const {
  Plan plan;
  plan.merged = ChooseMerged();
  plan.fragment_ids = uncovered_;
  for (const size_t i : plan.merged) {
    const auto& covered = segments_[i].info->fragment_ids;
    plan.fragment_ids.insert(plan.fragment_ids.end(), covered.begin(), covered.end());
  }
  std::sort(plan.fragment_ids.begin(), plan.fragment_ids.end());
  return plan;
}

const OpenedSegment& Optimizer::Largest() const {
  return *std::max_element(
      segments_.begin(), segments_.end(),
      [](const OpenedSegment& a, const OpenedSegment& b) { return a.stored_rows < b.stored_rows; });
}

// As the index was built, with partitions for the rows of today.
IndexParams Optimizer::ParamsOf(const format::IndexFiles& files) const {
  IndexParams params;
  params.type = index_.type;
  params.metric = index_.metric;
  params.num_partitions = static_cast<int64_t>(files.ivf().num_partitions());
  if (const auto* pq = std::get_if<format::PqCodebook>(&files.quantizer())) {
    params.num_sub_vectors = pq->num_sub_vectors;
    params.num_bits = pq->num_bits;
  } else if (const auto* rq = std::get_if<format::RqModel>(&files.quantizer())) {
    params.num_bits = rq->num_bits;
  }
  if (index_.graphs.has_value() && index_.graphs->m > 1) {
    params.m = index_.graphs->m;
    params.ef_construction = index_.graphs->ef_construction;
    params.max_level = index_.graphs->max_level;
  }
  return params;
}

arrow::Result<BuiltSegment> Optimizer::Build(const Plan& plan) const {
  const OpenedSegment& largest = Largest();
  IndexParams params = ParamsOf(*largest.files);
  if (options_.retrain) {
    uint64_t rows = 0;
    for (const FragmentInfo& fragment : dataset_->fragments()) rows += LiveRows(fragment);
    const double growth =
        static_cast<double>(rows) / static_cast<double>(std::max<uint64_t>(largest.live_rows, 1));
    params.num_partitions =
        std::max<int64_t>(1, std::llround(static_cast<double>(params.num_partitions) * growth));
  } else {
    params.centroids = largest.files->ivf().centroids;
    const auto* pq = std::get_if<format::PqCodebook>(&largest.files->quantizer());
    if (pq != nullptr) params.codebook = pq->codebook;
  }
  return BuildSegment(dataset_, index_.column, plan.fragment_ids, params, options_.build);
}

arrow::Result<OptimizedIndex> Optimizer::Run() {
  OptimizedIndex out;
  out.name = index_.name;
  out.version = dataset_->version();
  const format::Field* field = dataset_->schema().FindPath(index_.column);
  lists_ = field != nullptr && field->logical_type.starts_with("list");
  ARROW_RETURN_NOT_OK(OpenSegments());
  FindUncovered();
  const Plan plan = MakePlan();
  if (plan.fragment_ids.empty()) return out;
  ARROW_ASSIGN_OR_RAISE(BuiltSegment built, Build(plan));
  for (const size_t i : plan.merged) out.replaced.push_back(segments_[i].info->uuid);
  ARROW_ASSIGN_OR_RAISE(out.version,
                        CommitBuilt(dataset_->uri(), index_.name, built.segment, Existing::kKeep,
                                    out.replaced, options_.build.cancel));
  out.changed = true;
  out.built = std::move(built);
  return out;
}

}  // namespace

arrow::Result<OptimizedIndex> OptimizeIndex(const std::string& uri, const std::string& name,
                                            const IndexOptimizeOptions& options) {
  if (options.num_indices_to_merge.has_value() && *options.num_indices_to_merge < 0) {
    return base::Invalid("num_indices_to_merge = ", *options.num_indices_to_merge,
                         ": it must be at least 0");
  }
  if (options.num_indices_to_merge.has_value() && options.retrain) {
    return base::Invalid("num_indices_to_merge = ", *options.num_indices_to_merge,
                         " says nothing where everything is built anew (retrain)");
  }
  ARROW_ASSIGN_OR_RAISE(const std::shared_ptr<Dataset> dataset, Dataset::Open(uri));
  std::string names;
  for (const IndexInfo& index : dataset->vector_indexes()) {
    if (index.name != name) {
      names += (names.empty() ? "" : ", ") + index.name;
      continue;
    }
    if (!index.unusable_reason.empty()) {
      return base::NotSupported("index '", name, "' of ", uri,
                                " can't be optimized: ", index.unusable_reason);
    }
    return Optimizer(dataset, index, options).Run();
  }
  return base::NotFound(uri, " has no vector index '", name, "'; ",
                        names.empty() ? "it has none" : "it has " + names);
}

}  // namespace kinjo::dataset
