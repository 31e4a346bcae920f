// One segment of a scalar index, asked for the rows whose values pass a test. It hands the test its
// own values, so that an index can't mean anything else than a scan does: bounds only spare it
// values that can't pass.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include "arrow/array.h"
#include "base/cancel_token.h"
#include "base/error.h"
#include "dataset/value_bounds.h"
#include "format/index_file/bitmap_file.h"
#include "format/index_file/btree_file.h"

namespace kinjo::dataset {

/// Immutable; thread-safe.
class ScalarSegment {
 public:
  /// True, false or null (unknown) for each value.
  using Test = std::function<arrow::Result<std::shared_ptr<arrow::BooleanArray>>(
      const std::shared_ptr<arrow::Array>& values)>;
  /// Takes row ids of index entries whose value passes (`known`), or of whose value it is unknown.
  /// Ids may be of rows that are gone.
  using Take = std::function<arrow::Status(bool known, std::span<const uint64_t> row_ids)>;

  struct Lookup {
    Test test;
    /// Values outside of the bounds, null aside, are false.
    ValueBounds bounds;
    /// What the test gives for null.
    bool null_passes = false;
    bool null_is_unknown = true;
    /// Whether `take` wants to know of rows that are unknown.
    bool wants_unknown = false;
  };

  virtual ~ScalarSegment() = default;

  /// Of the values.
  virtual const std::shared_ptr<arrow::DataType>& type() const = 0;
  /// Values that a lookup would read, and all values.
  struct Cost {
    uint64_t read = 0;
    uint64_t all = 0;
  };
  virtual Cost CostOf(const Lookup& lookup) const = 0;
  virtual arrow::Status Find(const Lookup& lookup, const base::CancelToken& cancel,
                             const Take& take) const = 0;
};

std::shared_ptr<ScalarSegment> MakeBtreeSegment(std::shared_ptr<format::BtreeFile> file);
std::shared_ptr<ScalarSegment> MakeBitmapSegment(std::shared_ptr<format::BitmapFile> file);

}  // namespace kinjo::dataset
