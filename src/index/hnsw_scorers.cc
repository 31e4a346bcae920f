#include "index/hnsw_scorers.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <type_traits>
#include <utility>
#include <vector>

#include "index/elements.h"
#include "index/row_prefetch.h"
#include "kernels/node_distance.h"

namespace kinjo::index {

namespace {

using kernels::Metric;
using kernels::NodeElement;

/// Rows that are vectors, or bytes that stand for elements: distance = offset + scale * sum.
class DenseScorer final : public NodeScorer {
 public:
  using Kernel = void (*)(const kernels::NodeRows& rows, const uint32_t* nodes, int64_t count,
                          float* out);

  DenseScorer(std::vector<float> query, const uint8_t* rows, int64_t row_bytes, NodeElement element,
              Kernel kernel, float offset, float scale)
      : query_(std::move(query)),
        rows_{query_.data(), rows, element, static_cast<int64_t>(query_.size())},
        row_bytes_(row_bytes),
        kernel_(kernel),
        offset_(offset),
        scale_(scale) {}

  void Score(std::span<const uint32_t> nodes, float* distances) const override {
    const auto* rows = static_cast<const uint8_t*>(rows_.rows);
    PrefetchRows(rows, row_bytes_, nodes.first(std::min(kScoredTogether, nodes.size())));
    while (!nodes.empty()) {
      const auto some = nodes.first(std::min(kScoredTogether, nodes.size()));
      nodes = nodes.subspan(some.size());
      PrefetchRows(rows, row_bytes_, nodes.first(std::min(kScoredTogether, nodes.size())));
      kernel_(rows_, some.data(), static_cast<int64_t>(some.size()), distances);
      for (size_t i = 0; i < some.size(); ++i) distances[i] = offset_ + scale_ * distances[i];
      distances += some.size();
    }
  }

 private:
  const std::vector<float> query_;
  const kernels::NodeRows rows_;
  const int64_t row_bytes_;
  const Kernel kernel_;
  const float offset_;
  const float scale_;
};

/// Vectors as they are.
template <typename T>
class FlatScorers final : public ScorerMaker<T> {
 public:
  FlatScorers(const format::IndexFiles& files, Metric metric)
      : dim_(files.dim()), type_(files.ivf().centroids.type), metric_(metric) {}

  std::unique_ptr<NodeScorer> Make(const T*, const double* query,
                                   const format::PartitionRows& stored) const override {
    const uint8_t* rows = stored.codes->data();
    const uint32_t element_bytes = format::ElementBytes(type_);
    if (reinterpret_cast<uintptr_t>(rows) % element_bytes != 0) return nullptr;
    std::vector<float> narrow(query, query + dim_);
    float offset = 0;
    float scale = 1;
    DenseScorer::Kernel kernel = &kernels::NodeL2;
    if (metric_ != Metric::kL2) {
      const bool cosine = metric_ == Metric::kCosine;
      kernel = cosine ? &kernels::NodeCosine : &kernels::NodeDot;
      offset = 1;
      scale = cosine ? -1 / Length(narrow) : -1;
    }
    const NodeElement element =
        type_ == format::ElementType::kFloat16 ? NodeElement::kHalf : NodeElement::kFloat;
    return std::make_unique<DenseScorer>(std::move(narrow), rows, dim_ * element_bytes, element,
                                         kernel, offset, scale);
  }

 private:
  static float Length(const std::vector<float>& vector) {
    double norm2 = 0;
    for (const float value : vector) norm2 += static_cast<double>(value) * value;
    return static_cast<float>(std::sqrt(norm2));
  }

  const int64_t dim_;
  const format::ElementType type_;
  const Metric metric_;
};

/// Adds over one table entry a code byte.
class TableScorer final : public NodeScorer {
 public:
  /// `tables` is [code_bytes][256]; codes are row-major.
  TableScorer(std::vector<float> tables, const uint8_t* codes, int64_t code_bytes, float offset,
              float scale)
      : tables_(std::move(tables)),
        codes_(codes),
        code_bytes_(code_bytes),
        offset_(offset),
        scale_(scale) {}

  void Score(std::span<const uint32_t> nodes, float* distances) const override {
    PrefetchRows(codes_, code_bytes_, nodes.first(std::min(kScoredTogether, nodes.size())));
    for (size_t i = 0; i < nodes.size(); ++i) {
      if (i + kScoredTogether < nodes.size()) {
        PrefetchRows(codes_, code_bytes_, nodes.subspan(i + kScoredTogether, 1));
      }
      distances[i] = offset_ + scale_ * Sum(codes_ + int64_t{nodes[i]} * code_bytes_);
    }
  }

 private:
  // Four sums side by side, in a fixed order.
  float Sum(const uint8_t* code) const {
    float sums[4] = {};
    const float* table = tables_.data();
    int64_t b = 0;
    for (; b + 4 <= code_bytes_; b += 4, table += 4 * 256) {
      for (int lane = 0; lane < 4; ++lane) sums[lane] += table[lane * 256 + code[b + lane]];
    }
    for (; b < code_bytes_; ++b, table += 256) sums[0] += table[code[b]];
    return (sums[0] + sums[2]) + (sums[1] + sums[3]);
  }

  const std::vector<float> tables_;
  const uint8_t* const codes_;
  const int64_t code_bytes_;
  const float offset_;
  const float scale_;
};

/// Codebook entries, by a table of the query's distances to all of them.
template <typename T>
class PqScorers final : public ScorerMaker<T> {
 public:
  PqScorers(const format::PqCodebook& pq, Metric metric)
      : dim_(pq.dim),
        sub_dim_(static_cast<int64_t>(pq.codebook.cols)),
        num_entries_(int64_t{1} << pq.num_bits),
        metric_(metric),
        rounds_residual_(pq.codebook.type == format::ElementType::kFloat16) {
    // Element by element, so that all entries are worked on side by side.
    const std::vector<T> codebook = WidenTensor<T>(pq.codebook);
    turned_.resize(codebook.size());
    for (int64_t m = 0; m < dim_ / sub_dim_; ++m) {
      for (int64_t k = 0; k < num_entries_; ++k) {
        for (int64_t j = 0; j < sub_dim_; ++j) {
          turned_[(m * sub_dim_ + j) * num_entries_ + k] =
              static_cast<float>(codebook[(m * num_entries_ + k) * sub_dim_ + j]);
        }
      }
    }
  }

  std::unique_ptr<NodeScorer> Make(const T* centroid, const double* query,
                                   const format::PartitionRows& stored) const override {
    const bool dot = metric_ == Metric::kDot;
    std::vector<float> tables(static_cast<size_t>(dim_ / sub_dim_ * num_entries_), 0.0f);
    for (int64_t j = 0; j < dim_; ++j) {
      double element = query[j];
      if (!dot) element -= static_cast<double>(centroid[j]);
      if (!dot && rounds_residual_) element = RoundToFloat16(element);
      const auto moved = static_cast<float>(element);
      const float* entries = turned_.data() + j * num_entries_;
      float* table = tables.data() + j / sub_dim_ * num_entries_;
      if (dot) {
        for (int64_t k = 0; k < num_entries_; ++k) table[k] += moved * entries[k];
      } else {
        for (int64_t k = 0; k < num_entries_; ++k) {
          table[k] += (moved - entries[k]) * (moved - entries[k]);
        }
      }
    }
    if (num_entries_ == 16) tables = PairTables(tables);
    const float scale = dot ? -1.0f : metric_ == Metric::kCosine ? 0.5f : 1.0f;
    return std::make_unique<TableScorer>(std::move(tables), stored.codes->data(), stored.code_bytes,
                                         dot ? 1.0f : 0.0f, scale);
  }

 private:
  // A byte of two 4-bit codes is one entry of a table of 256; the low half comes first.
  static std::vector<float> PairTables(const std::vector<float>& tables) {
    std::vector<float> pairs(tables.size() / 32 * 256);
    for (size_t i = 0; i < pairs.size(); ++i) {
      const float* first = tables.data() + i / 256 * 32;
      pairs[i] = first[i % 16] + first[16 + i % 256 / 16];
    }
    return pairs;
  }

  const int64_t dim_;
  const int64_t sub_dim_;
  const int64_t num_entries_;
  const Metric metric_;
  const bool rounds_residual_;
  std::vector<float> turned_;  // [sub-vector][sub_dim][entry]
};

/// Bytes that stand for elements. Queries come as such bytes for l2 and cosine.
template <typename T>
class SqScorers final : public ScorerMaker<T> {
 public:
  SqScorers(const format::IndexFiles& files, Metric metric)
      : dim_(files.dim()), model_(std::get<format::SqModel>(files.quantizer())), metric_(metric) {}

  std::unique_ptr<NodeScorer> Make(const T*, const double* query,
                                   const format::PartitionRows& stored) const override {
    const auto step = static_cast<float>((model_.end - model_.start) / 255);
    float offset = 0;
    float scale = step * step;
    DenseScorer::Kernel kernel = &kernels::NodeL2;
    if (metric_ == Metric::kCosine) scale /= 2;
    if (metric_ == Metric::kDot) {
      kernel = &kernels::NodeDot;
      const double sum = std::accumulate(query, query + dim_, 0.0);
      offset = static_cast<float>(1 - model_.start * sum);
      scale = -step;
    }
    return std::make_unique<DenseScorer>(std::vector<float>(query, query + dim_),
                                         stored.codes->data(), dim_, NodeElement::kByte, kernel,
                                         offset, scale);
  }

 private:
  const int64_t dim_;
  const format::SqModel model_;
  const Metric metric_;
};

}  // namespace

template <typename T>
std::unique_ptr<ScorerMaker<T>> MakeScorerMaker(const format::IndexFiles& files, Metric metric) {
  switch (files.ivf().kind.quantizer) {
    case format::QuantizerKind::kFlat:
      if (std::is_same_v<T, double>) return nullptr;
      return std::make_unique<FlatScorers<T>>(files, metric);
    case format::QuantizerKind::kPq:
      return std::make_unique<PqScorers<T>>(std::get<format::PqCodebook>(files.quantizer()),
                                            metric);
    case format::QuantizerKind::kSq:
      return std::make_unique<SqScorers<T>>(files, metric);
    case format::QuantizerKind::kRq:
      break;
  }
  return nullptr;
}

template std::unique_ptr<ScorerMaker<float>> MakeScorerMaker(const format::IndexFiles&, Metric);
template std::unique_ptr<ScorerMaker<double>> MakeScorerMaker(const format::IndexFiles&, Metric);

}  // namespace kinjo::index
