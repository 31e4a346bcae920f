#include "index/graph_rows.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "index/elements.h"
#include "index/row_prefetch.h"
#include "kernels/byte_distance.h"
#include "kernels/canonical_distance.h"

namespace kinjo::index {

namespace {

int64_t BytesOf(kernels::NodeElement element) {
  switch (element) {
    case kernels::NodeElement::kFloat:
      return 4;
    case kernels::NodeElement::kHalf:
      return 2;
    case kernels::NodeElement::kByte:
      break;
  }
  return 1;
}

float FiniteOrLast(float distance) {
  return std::isnan(distance) ? std::numeric_limits<float>::infinity() : distance;
}

class DenseRows final : public GraphRows {
 public:
  DenseRows(const DenseGraphRows& rows, kernels::Metric metric)
      : rows_(rows),
        bytes_(static_cast<const uint8_t*>(rows.rows)),
        row_bytes_(rows.dim * BytesOf(rows.element)),
        dot_(metric == kernels::Metric::kDot),
        ones_(static_cast<size_t>(rows.dim), 1.0f) {
    if (!dot_ || rows.start == 0) return;
    // (s + x a)(s + x b) summed = d s^2 + s x (sum a + sum b) + x^2 sum ab
    sums_.resize(rows.num_nodes);
    std::vector<uint32_t> nodes(rows.num_nodes);
    std::iota(nodes.begin(), nodes.end(), 0u);
    kernels::NodeDot(View(ones_), nodes.data(), rows.num_nodes, sums_.data());
  }

  uint32_t num_nodes() const override { return rows_.num_nodes; }

  void Select(uint32_t node, GraphQuery* query) const override {
    query->node = node;
    if (rows_.element != kernels::NodeElement::kByte) {
      query->values.resize(static_cast<size_t>(rows_.dim));
    }
    const int64_t first = int64_t{node} * rows_.dim;
    switch (rows_.element) {
      case kernels::NodeElement::kFloat:
        std::copy_n(static_cast<const float*>(rows_.rows) + first, rows_.dim,
                    query->values.begin());
        return;
      case kernels::NodeElement::kByte:
        return;  // measured where it lies
      case kernels::NodeElement::kHalf:
        break;
    }
    WidenElements(format::ElementType::kFloat16, bytes_ + node * row_bytes_, rows_.dim,
                  query->values.data());
  }

  void Measure(const GraphQuery& query, std::span<const uint32_t> nodes,
               float* distances) const override {
    const kernels::NodeRows view = View(query.values);
    PrefetchRows(bytes_, row_bytes_, nodes.first(std::min(kScoredTogether, nodes.size())));
    while (!nodes.empty()) {
      const auto some = nodes.first(std::min(kScoredTogether, nodes.size()));
      nodes = nodes.subspan(some.size());
      PrefetchRows(bytes_, row_bytes_, nodes.first(std::min(kScoredTogether, nodes.size())));
      MeasureSome(view, query.node, some, distances);
      distances += some.size();
    }
  }

 private:
  kernels::NodeRows View(const std::vector<float>& query) const {
    return {query.data(), rows_.rows, rows_.element, rows_.dim};
  }

  void MeasureSome(const kernels::NodeRows& view, uint32_t from, std::span<const uint32_t> nodes,
                   float* distances) const {
    const auto count = static_cast<int64_t>(nodes.size());
    const bool bytes = rows_.element == kernels::NodeElement::kByte;
    const kernels::ByteNodes byte_view{bytes_ + from * row_bytes_, bytes_, rows_.dim};
    if (!dot_) {
      if (bytes) return kernels::ByteL2(byte_view, nodes.data(), count, distances);
      kernels::NodeL2(view, nodes.data(), count, distances);
      for (int64_t i = 0; i < count; ++i) distances[i] = FiniteOrLast(distances[i]);
      return;
    }
    if (bytes) {
      kernels::ByteDot(byte_view, nodes.data(), count, distances);
    } else {
      kernels::NodeDot(view, nodes.data(), count, distances);
    }
    const auto scale2 = static_cast<float>(rows_.scale * rows_.scale);
    const auto mixed = static_cast<float>(rows_.start * rows_.scale);
    const auto fixed =
        static_cast<float>(static_cast<double>(rows_.dim) * rows_.start * rows_.start);
    for (int64_t i = 0; i < count; ++i) {
      const float sums = sums_.empty() ? 0.0f : fixed + mixed * (sums_[from] + sums_[nodes[i]]);
      distances[i] = FiniteOrLast(-(sums + scale2 * distances[i]));
    }
  }

  const DenseGraphRows rows_;
  const uint8_t* const bytes_;
  const int64_t row_bytes_;
  const bool dot_;
  const std::vector<float> ones_;
  std::vector<float> sums_;  // of each row's elements, where `start` moves them
};

class BitRows final : public GraphRows {
 public:
  BitRows(const uint8_t* rows, uint32_t num_nodes, int64_t bytes)
      : rows_(rows), num_nodes_(num_nodes), bytes_(bytes) {}

  uint32_t num_nodes() const override { return num_nodes_; }
  void Select(uint32_t node, GraphQuery* query) const override { query->node = node; }
  void Measure(const GraphQuery& query, std::span<const uint32_t> nodes,
               float* distances) const override {
    PrefetchRows(rows_, bytes_, nodes);
    const uint8_t* from = rows_ + query.node * bytes_;
    for (const uint32_t node : nodes) {
      *distances++ =
          static_cast<float>(kernels::HammingDistance(from, rows_ + node * bytes_, bytes_));
    }
  }

 private:
  const uint8_t* const rows_;
  const uint32_t num_nodes_;
  const int64_t bytes_;
};

}  // namespace

std::unique_ptr<GraphRows> MakeDenseGraphRows(const DenseGraphRows& rows, kernels::Metric metric) {
  return std::make_unique<DenseRows>(rows, metric);
}

std::unique_ptr<GraphRows> MakeBitGraphRows(const uint8_t* rows, uint32_t num_nodes,
                                            int64_t bytes) {
  return std::make_unique<BitRows>(rows, num_nodes, bytes);
}

}  // namespace kinjo::index
