// The arithmetic that the contract fixes (docs/kernels.md, docs/format/index-file.md), written as
// plain loops: canonical sums, unit vectors, elements as stored. Nothing of the engine is used.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "arrow/util/float16.h"
#include "format/index_file/index_files.h"

namespace kinjo::oracle {

using Numbers = std::vector<double>;

/// Element j goes to lane j mod 8; the lanes are added by one fixed tree.
template <typename Term>
double LaneSum(size_t count, Term term) {
  double lane[8] = {};
  for (size_t j = 0; j < count; ++j) lane[j % 8] += term(j);
  return ((lane[0] + lane[4]) + (lane[2] + lane[6])) + ((lane[1] + lane[5]) + (lane[3] + lane[7]));
}

inline double SquaredL2(std::span<const double> a, std::span<const double> b) {
  return LaneSum(a.size(), [&](size_t j) { return (a[j] - b[j]) * (a[j] - b[j]); });
}
inline double Dot(std::span<const double> a, std::span<const double> b) {
  return LaneSum(a.size(), [&](size_t j) { return a[j] * b[j]; });
}
inline int DifferingBits(std::span<const double> a, std::span<const double> b) {
  int bits = 0;
  for (size_t j = 0; j < a.size(); ++j) {
    bits += std::popcount(static_cast<unsigned>(a[j]) ^ static_cast<unsigned>(b[j]));
  }
  return bits;
}

inline bool IsFinite(std::span<const double> values) {
  return std::all_of(values.begin(), values.end(), [](double v) { return std::isfinite(v); });
}
inline bool IsZero(std::span<const double> values) {
  return std::all_of(values.begin(), values.end(), [](double v) { return v == 0; });
}

/// Divided by the largest element first and then by the length, whose squares are added in order.
inline Numbers Unit(Numbers vector) {
  double largest = 0;
  for (const double value : vector) largest = std::max(largest, std::abs(value));
  if (largest == 0) return vector;
  double norm2 = 0;
  for (double& value : vector) {
    value /= largest;
    norm2 += value * value;
  }
  const double norm = std::sqrt(norm2);
  for (double& value : vector) value /= norm;
  return vector;
}

inline double Rounded(format::ElementType type, double value) {
  if (type == format::ElementType::kFloat16) return arrow::util::Float16(value).ToDouble();
  if (type == format::ElementType::kFloat32) return static_cast<float>(value);
  return value;
}
inline Numbers Rounded(format::ElementType type, Numbers values) {
  for (double& value : values) value = Rounded(type, value);
  return values;
}

template <typename T>
T ReadAs(const uint8_t* bytes, size_t i) {
  T value;
  std::memcpy(&value, bytes + i * sizeof(T), sizeof(T));
  return value;
}

/// Elements [first, first + count) of stored ones.
inline Numbers Elements(format::ElementType type, const arrow::Buffer& buffer, size_t first,
                        size_t count) {
  Numbers out(count);
  for (size_t j = 0; j < count; ++j) {
    switch (type) {
      case format::ElementType::kFloat16:
        out[j] =
            arrow::util::Float16::FromBits(ReadAs<uint16_t>(buffer.data(), first + j)).ToDouble();
        break;
      case format::ElementType::kFloat32:
        out[j] = ReadAs<float>(buffer.data(), first + j);
        break;
      case format::ElementType::kFloat64:
        out[j] = ReadAs<double>(buffer.data(), first + j);
        break;
      case format::ElementType::kUint8:
        out[j] = buffer.data()[first + j];
        break;
    }
  }
  return out;
}

}  // namespace kinjo::oracle
