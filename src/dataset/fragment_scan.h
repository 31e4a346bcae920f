// A pull iterator over the live rows of some fragments.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/error.h"
#include "dataset/dataset.h"
#include "dataset/fragment.h"
#include "dataset/row_mask.h"

namespace kinjo::dataset {

/// Scans `fragments` one after another. Holds `owner` so that they live as long as the scan.
class FragmentScan final : public Scan {
 public:
  FragmentScan(std::shared_ptr<Dataset> owner, std::vector<Fragment*> fragments,
               std::vector<const format::Field*> fields, std::shared_ptr<arrow::Schema> schema,
               uint64_t batch_rows, std::shared_ptr<const RowMask> rows)
      : owner_(std::move(owner)),
        fragments_(std::move(fragments)),
        fields_(std::move(fields)),
        schema_(std::move(schema)),
        batch_rows_(batch_rows),
        rows_(std::move(rows)) {}

  arrow::Result<ScanBatch> Next() override;

 private:
  /// Appends the live rows of the next window of `fragment` and moves behind it; gives how many.
  uint64_t NextRanges(const Fragment& fragment, std::vector<format::RowRange>* ranges);

  const std::shared_ptr<Dataset> owner_;
  const std::vector<Fragment*> fragments_;
  const std::vector<const format::Field*> fields_;
  const std::shared_ptr<arrow::Schema> schema_;
  const uint64_t batch_rows_;
  const std::shared_ptr<const RowMask> rows_;  ///< null = every row
  size_t fragment_ = 0;
  uint64_t row_ = 0;             ///< next physical row of that fragment
  format::PagesAtHand at_hand_;  ///< of the fragment read last
  const Fragment* at_hand_of_ = nullptr;
};

}  // namespace kinjo::dataset
