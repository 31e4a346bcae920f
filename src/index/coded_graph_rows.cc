#include "index/coded_graph_rows.h"

#include <algorithm>
#include <variant>

#include "index/elements.h"

namespace kinjo::index {

namespace {

using format::ElementType;
using kernels::NodeElement;

std::vector<float> DecodePq(const format::PartitionRows& stored, const format::PqCodebook& pq) {
  std::vector<float> codebook;
  if (pq.codebook.type == ElementType::kFloat64) {
    const std::vector<double> wide = WidenTensor<double>(pq.codebook);
    codebook.assign(wide.begin(), wide.end());
  } else {
    codebook = WidenTensor<float>(pq.codebook);
  }
  const auto sub_dim = static_cast<size_t>(pq.codebook.cols);
  const size_t entries = size_t{1} << pq.num_bits;
  const size_t code_bytes = size_t{pq.num_sub_vectors} * pq.num_bits / 8;
  std::vector<float> rows(stored.num_rows * pq.dim);
  const uint8_t* codes = stored.codes->data();
  const size_t row_step = pq.transposed ? 1 : code_bytes;
  const size_t byte_step = pq.transposed ? stored.num_rows : 1;
  for (uint64_t i = 0; i < stored.num_rows; ++i, codes += row_step) {
    for (size_t m = 0; m < pq.num_sub_vectors; ++m) {
      const size_t code =
          pq.num_bits == 8 ? codes[m * byte_step] : codes[m / 2 * byte_step] >> (m % 2 * 4) & 15;
      const float* entry = codebook.data() + (m * entries + code) * sub_dim;
      std::copy_n(entry, sub_dim, rows.data() + i * pq.dim + m * sub_dim);
    }
  }
  return rows;
}

}  // namespace

CodedGraphRows MakeCodedGraphRows(const format::PartitionRows& stored, ElementType element,
                                  int64_t dim, const format::QuantizerModel& quantizer,
                                  kernels::Metric metric) {
  CodedGraphRows out;
  const auto num_rows = static_cast<uint32_t>(stored.num_rows);
  DenseGraphRows dense{.rows = stored.codes->data(), .num_nodes = num_rows, .dim = dim};
  if (element == ElementType::kUint8) {
    out.rows = MakeBitGraphRows(stored.codes->data(), num_rows, dim);
    return out;
  }
  if (const auto* sq = std::get_if<format::SqModel>(&quantizer)) {
    dense.element = NodeElement::kByte;
    dense.start = sq->start;
    dense.scale = (sq->end - sq->start) / 255;
  } else if (const auto* pq = std::get_if<format::PqCodebook>(&quantizer)) {
    out.decoded = DecodePq(stored, *pq);
    dense.rows = out.decoded.data();
  } else if (element == ElementType::kFloat64) {
    const auto* wide = reinterpret_cast<const double*>(stored.codes->data());
    out.decoded.assign(wide, wide + stored.num_rows * static_cast<uint64_t>(dim));
    dense.rows = out.decoded.data();
  } else if (element == ElementType::kFloat16) {
    dense.element = NodeElement::kHalf;
  }
  out.rows = MakeDenseGraphRows(dense, metric);
  return out;
}

int64_t CodedGraphRowBytes(ElementType element, int64_t dim,
                           const format::QuantizerModel& quantizer) {
  const bool decoded =
      std::holds_alternative<format::PqCodebook>(quantizer) ||
      (std::holds_alternative<format::FlatModel>(quantizer) && element == ElementType::kFloat64);
  return decoded ? dim * static_cast<int64_t>(sizeof(float)) : 0;
}

}  // namespace kinjo::index
