// The oracle of the join's tests: every pair, one after another, in double.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <random>
#include <utility>
#include <vector>

#include "join/memory_sides.h"
#include "kernels/metric.h"
#include "kernels/top_k.h"

namespace kinjo::join {

/// The distance, or NaN when the pair can't match.
inline double PlainDistance(kernels::Metric metric, const std::vector<double>& a,
                            const std::vector<double>& b) {
  constexpr double kNever = std::numeric_limits<double>::quiet_NaN();
  if (a.empty() || b.empty()) return kNever;
  double dot = 0, l2 = 0, a2 = 0, b2 = 0, bits = 0;
  for (size_t j = 0; j < a.size(); ++j) {
    if (!std::isfinite(a[j]) || !std::isfinite(b[j])) return kNever;
    dot += a[j] * b[j];
    l2 += (a[j] - b[j]) * (a[j] - b[j]);
    a2 += a[j] * a[j];
    b2 += b[j] * b[j];
    if (metric == kernels::Metric::kHamming) {
      bits += std::popcount(
          static_cast<unsigned>(static_cast<uint8_t>(a[j]) ^ static_cast<uint8_t>(b[j])));
    }
  }
  switch (metric) {
    case kernels::Metric::kL2:
      return l2;
    case kernels::Metric::kDot:
      return 1 - dot;
    case kernels::Metric::kHamming:
      return bits;
    default:
      return a2 == 0 || b2 == 0 ? kNever : std::max(0.0, 1 - dot / std::sqrt(a2 * b2));
  }
}

/// The k nearest rows of each left vector, best first; the address is the row's number.
/// `eligible[i]` false leaves right row i out; empty lets all in.
inline std::vector<std::vector<kernels::Neighbor>> BruteForce(kernels::Metric metric,
                                                              const Vectors& left,
                                                              const Vectors& right, int64_t k,
                                                              const std::vector<bool>& eligible) {
  std::vector<std::vector<kernels::Neighbor>> answer;
  for (const auto& query : left) {
    std::vector<kernels::Neighbor> all;
    for (size_t i = 0; i < right.size(); ++i) {
      if (!eligible.empty() && !eligible[i]) continue;
      const auto distance = static_cast<float>(PlainDistance(metric, query, right[i]));
      if (!std::isnan(distance)) all.push_back({distance, i});
    }
    std::sort(all.begin(), all.end());
    if (static_cast<int64_t>(all.size()) > k) all.resize(static_cast<size_t>(k));
    answer.push_back(std::move(all));
  }
  return answer;
}

/// Small integers: distances are exact in double, and ties are many.
inline Vectors IntegerVectors(int64_t count, int64_t dim, uint32_t seed, int low = -3,
                              int high = 3) {
  std::mt19937 random(seed);
  std::uniform_int_distribution<int> value(low, high);
  Vectors out(static_cast<size_t>(count), std::vector<double>(static_cast<size_t>(dim)));
  for (auto& vector : out) {
    for (double& element : vector) element = value(random);
  }
  return out;
}

/// Normal floats around `offset`.
inline Vectors FloatVectors(int64_t count, int64_t dim, uint32_t seed, double offset = 0,
                            double spread = 1) {
  std::mt19937 random(seed);
  std::normal_distribution<double> value(offset, spread);
  Vectors out(static_cast<size_t>(count), std::vector<double>(static_cast<size_t>(dim)));
  for (auto& vector : out) {
    for (double& element : vector) element = static_cast<float>(value(random));
  }
  return out;
}

/// A result as lists of neighbours by left row (column `_query_index`), the address being the
/// value of the right column `id_name`.
inline std::vector<std::vector<kernels::Neighbor>> NeighboursOf(const arrow::Table& table,
                                                                int64_t left_rows,
                                                                const std::string& id_name) {
  std::vector<std::vector<kernels::Neighbor>> out(static_cast<size_t>(left_rows));
  if (table.num_rows() == 0) return out;
  const auto& query = ColumnOf<arrow::Int64Array>(table, "_query_index");
  const auto& id = ColumnOf<arrow::Int64Array>(table, id_name);
  const auto& distance = ColumnOf<arrow::FloatArray>(table, "_distance");
  for (int64_t i = 0; i < table.num_rows(); ++i) {
    if (distance.IsNull(i)) continue;
    out[static_cast<size_t>(query.Value(i))].push_back(
        {distance.Value(i), static_cast<uint64_t>(id.Value(i))});
  }
  return out;
}

}  // namespace kinjo::join
