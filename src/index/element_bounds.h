// The bounds of a scalar quantizer: the least and the greatest element of the rows that it codes.
#pragma once

#include <limits>

#include "base/error.h"
#include "format/index_file/index_files.h"
#include "index/build_context.h"
#include "index/column_vectors.h"
#include "kernels/metric.h"

namespace kinjo::index {

/// Of no row yet: least > most.
struct ElementBounds {
  double least = std::numeric_limits<double>::infinity();
  double most = -std::numeric_limits<double>::infinity();

  /// Zeros where there was no row.
  format::SqModel ToModel() const;
};

/// Widens `bounds` by the rows that an index holds of these, as they are coded (of unit length for
/// cosine), on the context's pool. The same numbers whatever the threads and the cut into calls.
arrow::Status WidenBounds(const ColumnVectors& vectors, kernels::Metric metric,
                          const BuildContext& context, ElementBounds* bounds);

}  // namespace kinjo::index
