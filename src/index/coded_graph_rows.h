// The rows of a partition, as a quantizer coded them, made ready for building a graph over them.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "format/index_file/index_files.h"
#include "index/graph_rows.h"
#include "kernels/metric.h"

namespace kinjo::index {

/// Rows and what they needed to be compared: nothing where the stored bytes do.
struct CodedGraphRows {
  std::vector<float> decoded;
  std::unique_ptr<GraphRows> rows;
};

/// Codes of PQ lie as the model says. `stored` must outlive what is returned. PQ under l2 and
/// cosine is compared by residuals: the centroid they are from is the same for all. Not for RQ.
CodedGraphRows MakeCodedGraphRows(const format::PartitionRows& stored, format::ElementType element,
                                  int64_t dim, const format::QuantizerModel& quantizer,
                                  kernels::Metric metric);

/// Bytes that it takes for a row beside the stored ones.
int64_t CodedGraphRowBytes(format::ElementType element, int64_t dim,
                           const format::QuantizerModel& quantizer);

}  // namespace kinjo::index
