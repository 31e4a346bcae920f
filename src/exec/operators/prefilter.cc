#include "exec/operators/prefilter.h"

#include <algorithm>

#include "arrow/array.h"
#include "exec/operators/vector_query.h"

namespace kinjo::exec {

arrow::Result<Prefilter> Prefilter::FilteredRowIds(OperatorPtr source) {
  const auto field = source->schema()->GetFieldByName(kRowIdColumn);
  if (field == nullptr || field->type()->id() != arrow::Type::UINT64) {
    return base::Invalid("the prefilter's input ", source->name(), " has no uint64 column \"",
                         kRowIdColumn, "\"");
  }
  Prefilter prefilter;
  prefilter.source_ = std::move(source);
  return prefilter;
}

Prefilter Prefilter::Masked(std::shared_ptr<const dataset::RowMask> mask) {
  Prefilter prefilter;
  prefilter.mask_ = std::move(mask);
  return prefilter;
}

arrow::Result<Prefilter> Prefilter::WithSource(OperatorPtr source) const {
  if (source_ == nullptr) return *this;
  return FilteredRowIds(std::move(source));
}

arrow::Result<std::shared_ptr<const dataset::RowMask>> Prefilter::Load(
    const dataset::Dataset& dataset, PlanRun* run) const {
  if (source_ == nullptr) return mask_;
  if (auto known = run->FindMask(source_.get())) return known;
  auto mask = std::make_shared<dataset::RowMask>();
  ARROW_ASSIGN_OR_RAISE(const auto stream, source_->Open(run));
  while (true) {
    ARROW_ASSIGN_OR_RAISE(const auto batch, stream->Next());
    if (batch == nullptr) break;
    ARROW_ASSIGN_OR_RAISE(const auto addresses,
                          FindLiveRows(dataset, *batch->GetColumnByName(kRowIdColumn)));
    for (const dataset::RowAddress address : addresses) {
      if (address != dataset::kDeadRow) mask->Add(address);
    }
  }
  run->KeepMask(source_.get(), mask);
  return mask;
}

arrow::Result<std::vector<dataset::RowAddress>> FindLiveRows(const dataset::Dataset& dataset,
                                                             const arrow::Array& row_ids) {
  dataset::IndexSegmentInfo everything;
  for (const dataset::FragmentInfo& fragment : dataset.fragments()) {
    everything.fragment_ids.push_back(fragment.id);
  }
  std::sort(everything.fragment_ids.begin(), everything.fragment_ids.end());
  const auto& ids = static_cast<const arrow::UInt64Array&>(row_ids);
  const auto rows = static_cast<size_t>(ids.length());
  std::vector<dataset::RowAddress> addresses(rows);
  ARROW_RETURN_NOT_OK(dataset.ResolveRowIds(everything, {ids.raw_values(), rows}, addresses));
  for (int64_t i = 0; i < ids.length(); ++i) {
    if (ids.IsNull(i)) addresses[i] = dataset::kDeadRow;
  }
  return addresses;
}

}  // namespace kinjo::exec
