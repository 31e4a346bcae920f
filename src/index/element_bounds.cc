#include "index/element_bounds.h"

#include <algorithm>
#include <span>
#include <vector>

namespace kinjo::index {

namespace {

constexpr int64_t kBlockRows = 1024;

template <typename T>
arrow::Status Widen(const ColumnVectors& vectors, kernels::Metric metric,
                    const BuildContext& context, ElementBounds* bounds) {
  std::vector<uint32_t> positions;
  LeftOutRows left_out;
  FindIndexedRows(vectors, metric, &positions, &left_out);
  const auto size = static_cast<int64_t>(positions.size());
  const int64_t blocks = (size + kBlockRows - 1) / kBlockRows;
  std::vector<ElementBounds> of_blocks(static_cast<size_t>(blocks));
  ARROW_RETURN_NOT_OK(context.pool->ParallelFor(blocks, context.cancel, [&](int64_t block, int) {
    const int64_t first = block * kBlockRows;
    const auto some = std::span(positions).subspan(
        static_cast<size_t>(first), static_cast<size_t>(std::min(kBlockRows, size - first)));
    std::vector<T> rows(some.size() * static_cast<size_t>(vectors.dim));
    PrepareVectors(vectors, metric, some, rows.data());
    const auto [least, most] = std::minmax_element(rows.begin(), rows.end());
    of_blocks[static_cast<size_t>(block)] = {static_cast<double>(*least),
                                             static_cast<double>(*most)};
    return arrow::Status::OK();
  }));
  for (const ElementBounds& block : of_blocks) {
    bounds->least = std::min(bounds->least, block.least);
    bounds->most = std::max(bounds->most, block.most);
  }
  return arrow::Status::OK();
}

}  // namespace

format::SqModel ElementBounds::ToModel() const {
  format::SqModel sq;
  if (least > most) return sq;
  sq.start = least;
  sq.end = most;
  return sq;
}

arrow::Status WidenBounds(const ColumnVectors& vectors, kernels::Metric metric,
                          const BuildContext& context, ElementBounds* bounds) {
  return vectors.type == format::ElementType::kFloat64
             ? Widen<double>(vectors, metric, context, bounds)
             : Widen<float>(vectors, metric, context, bounds);
}

}  // namespace kinjo::index
