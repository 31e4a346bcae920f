#include "dataset/fragment_scan.h"

#include <algorithm>
#include <utility>

namespace kinjo::dataset {

uint64_t FragmentScan::NextRanges(const Fragment& fragment, std::vector<format::RowRange>* ranges) {
  if (rows_ == nullptr) {
    const uint64_t begin = row_;
    row_ += std::min(batch_rows_, fragment.physical_rows() - row_);
    return fragment.dead().AppendLiveRanges(begin, row_, ranges);
  }
  std::vector<format::RowRange> wanted;
  row_ = std::min(rows_->AppendRanges(fragment.id(), row_, batch_rows_, &wanted),
                  fragment.physical_rows());
  uint64_t rows = 0;
  for (const format::RowRange& range : wanted) {
    const uint64_t end = std::min(range.end, fragment.physical_rows());
    if (range.begin < end) rows += fragment.dead().AppendLiveRanges(range.begin, end, ranges);
  }
  return rows;
}

arrow::Result<ScanBatch> FragmentScan::Next() {
  std::vector<format::RowRange> ranges;
  uint64_t rows = 0;
  Fragment* fragment = nullptr;
  // A window that is wholly dead gives no batch: go on to the next.
  while (rows == 0) {
    if (fragment_ == fragments_.size()) return ScanBatch{};
    fragment = fragments_[fragment_];
    ranges.clear();
    rows = NextRanges(*fragment, &ranges);
    if (row_ == fragment->physical_rows()) {
      ++fragment_;
      row_ = 0;
    }
  }
  ScanBatch result;
  result.addresses.reserve(rows);
  const RowAddress base = fragment->id() << 32;
  for (const format::RowRange& range : ranges) {
    for (uint64_t row = range.begin; row < range.end; ++row) result.addresses.push_back(base | row);
  }
  if (at_hand_of_ != fragment) at_hand_.Clear();
  at_hand_of_ = fragment;
  arrow::ArrayVector arrays;
  for (const format::Field* field : fields_) {
    ARROW_ASSIGN_OR_RAISE(std::shared_ptr<arrow::Array> array,
                          fragment->ReadColumn(*field, ranges, &at_hand_));
    arrays.push_back(std::move(array));
  }
  result.batch = arrow::RecordBatch::Make(schema_, static_cast<int64_t>(rows), std::move(arrays));
  return result;
}

}  // namespace kinjo::dataset
