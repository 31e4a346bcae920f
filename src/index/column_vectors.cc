#include "index/column_vectors.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <type_traits>

#include "arrow/util/float16.h"
#include "index/chance.h"
#include "index/elements.h"
#include "index/vector_scratch.h"
#include "kernels/canonical_distance.h"

namespace kinjo::index {

namespace {

using format::ElementType;

// The largest magnitude is divided out first, so that nothing overflows or vanishes.
template <typename T>
void MakeUnitVector(const T* in, int64_t dim, T* out) {
  double largest = 0;
  for (int64_t j = 0; j < dim; ++j) {
    largest = std::max(largest, std::abs(static_cast<double>(in[j])));
  }
  VectorScratch<double> scaled(dim);
  for (int64_t j = 0; j < dim; ++j) scaled[j] = in[j] / largest;
  const double norm = std::sqrt(kernels::CanonicalDot(scaled.data(), scaled.data(), dim));
  for (int64_t j = 0; j < dim; ++j) out[j] = static_cast<T>(scaled[j] / norm);
}

// Where a row of the column lies as it is, without a copy; else widened into `scratch`.
template <typename T>
const T* RowOf(const ColumnVectors& vectors, int64_t row, T* scratch) {
  const uint8_t* data = vectors.row(row);
  if (vectors.type != ElementType::kFloat16 && reinterpret_cast<uintptr_t>(data) % sizeof(T) == 0) {
    return reinterpret_cast<const T*>(data);
  }
  WidenElements(vectors.type, data, vectors.dim, scratch);
  return scratch;
}

template <typename T>
void FindFiniteRows(const ColumnVectors& vectors, bool cosine, std::vector<uint32_t>* kept,
                    LeftOutRows* left_out) {
  VectorScratch<T> scratch(vectors.dim);
  for (int64_t i = 0; i < vectors.num_rows; ++i) {
    if (!vectors.is_valid(i)) {
      ++left_out->null_rows;
      continue;
    }
    const T* row = RowOf(vectors, i, scratch.data());
    if (!AllFinite(row, vectors.dim)) {
      ++left_out->odd_rows;
    } else if (cosine && std::all_of(row, row + vectors.dim, [](T value) { return value == 0; })) {
      ++left_out->zero_rows;
    } else {
      kept->push_back(static_cast<uint32_t>(i));
    }
  }
}

}  // namespace

LeftOutRows& LeftOutRows::operator+=(const LeftOutRows& other) {
  null_rows += other.null_rows;
  odd_rows += other.odd_rows;
  zero_rows += other.zero_rows;
  return *this;
}

void FindIndexedRows(const ColumnVectors& vectors, kernels::Metric metric,
                     std::vector<uint32_t>* kept, LeftOutRows* left_out) {
  kept->clear();
  const bool cosine = metric == kernels::Metric::kCosine;
  if (vectors.type == ElementType::kFloat64) {
    FindFiniteRows<double>(vectors, cosine, kept, left_out);
  } else if (vectors.type != ElementType::kUint8) {
    FindFiniteRows<float>(vectors, cosine, kept, left_out);
  } else {
    for (int64_t i = 0; i < vectors.num_rows; ++i) {
      if (!vectors.is_valid(i)) {
        ++left_out->null_rows;
      } else {
        kept->push_back(static_cast<uint32_t>(i));
      }
    }
  }
}

template <typename T>
void PrepareVectors(const ColumnVectors& vectors, kernels::Metric metric,
                    std::span<const uint32_t> positions, T* out) {
  VectorScratch<T> scratch(vectors.dim);
  for (const uint32_t position : positions) {
    const T* row = RowOf(vectors, position, scratch.data());
    if (metric == kernels::Metric::kCosine) {
      MakeUnitVector(row, vectors.dim, out);
      RoundToElements(vectors.type, out, vectors.dim);
    } else {
      std::copy(row, row + vectors.dim, out);
    }
    out += vectors.dim;
  }
}

template <typename T>
void RoundToElements(ElementType type, T* values, int64_t count) {
  if (type != ElementType::kFloat16) return;
  std::transform(values, values + count, values,
                 [](T value) { return static_cast<T>(RoundToFloat16(value)); });
}

template <typename T>
void StoreElements(ElementType type, const T* values, int64_t count, uint8_t* out) {
  if (type == ElementType::kFloat16) {
    for (int64_t i = 0; i < count; ++i) {
      const uint16_t bits = arrow::util::Float16::FromDouble(values[i]).bits();
      std::memcpy(out + 2 * i, &bits, sizeof(bits));
    }
  } else if (count > 0) {
    std::memcpy(out, values, static_cast<size_t>(count) * sizeof(T));
  }
}

template <typename T>
format::Tensor MakeTensor(ElementType type, std::span<const T> values, int64_t cols) {
  std::vector<uint8_t> bytes(values.size() * format::ElementBytes(type));
  StoreElements(type, values.data(), static_cast<int64_t>(values.size()), bytes.data());
  return {.type = type,
          .rows = values.size() / static_cast<size_t>(cols),
          .cols = static_cast<uint64_t>(cols),
          .data = arrow::Buffer::FromVector(std::move(bytes))};
}

std::vector<int64_t> SamplePositions(int64_t total, int64_t count, uint64_t seed) {
  std::vector<int64_t> positions;
  positions.reserve(static_cast<size_t>(std::min(total, count)));
  // Each number is taken with the chance that what is still wanted makes of what is left.
  for (int64_t i = 0; i < total && count > 0; ++i) {
    const auto left = static_cast<uint64_t>(total - i);
    if (ChanceBelow(seed, static_cast<uint64_t>(i), left) >= static_cast<uint64_t>(count)) continue;
    positions.push_back(i);
    --count;
  }
  return positions;
}

template void PrepareVectors(const ColumnVectors&, kernels::Metric, std::span<const uint32_t>,
                             float*);
template void PrepareVectors(const ColumnVectors&, kernels::Metric, std::span<const uint32_t>,
                             double*);
template void RoundToElements(ElementType, float*, int64_t);
template void RoundToElements(ElementType, double*, int64_t);
template void StoreElements(ElementType, const float*, int64_t, uint8_t*);
template void StoreElements(ElementType, const double*, int64_t, uint8_t*);
template format::Tensor MakeTensor(ElementType, std::span<const float>, int64_t);
template format::Tensor MakeTensor(ElementType, std::span<const double>, int64_t);

}  // namespace kinjo::index
