// ScanBlock's rate against the peak of the core it runs on. The two alternate and the best of each
// counts, so that a busy machine disturbs the ratio little. One thread.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

#include "kernels/block_scan.h"
#include "kernels/canonical_distance.h"
#include "kernels/simd_level.h"
#include "peak_rate.h"

namespace kinjo::bench {
namespace {

constexpr int64_t kRows = 1008;
constexpr int64_t kQueries = 240;

struct Block {
  kernels::GroupedRows rows;
  std::vector<float> queries;
  std::vector<float> bounds;
  std::vector<kernels::Hit> hits;
};

// Bounds as in the middle of a join: each query's 2nd nearest of the block survives.
Block MakeBlock(int64_t dim) {
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  std::vector<float> x(kRows * dim);
  Block block;
  block.queries.resize(kQueries * dim);
  for (float& value : x) value = normal(random);
  for (float& value : block.queries) value = normal(random);
  block.rows.Reset(kRows, dim, true);
  block.rows.SetRows(0, kRows, x.data(), nullptr, false);
  block.rows.MakeCodes(0, block.rows.num_groups());
  block.hits.resize(kQueries * kRows);
  for (int64_t q = 0; q < kQueries; ++q) {
    const float* query = block.queries.data() + q * dim;
    std::vector<double> distances(kRows);
    for (int64_t row = 0; row < kRows; ++row) {
      distances[row] = kernels::CanonicalL2(query, x.data() + row * dim, dim);
    }
    std::nth_element(distances.begin(), distances.begin() + 1, distances.end());
    block.bounds.push_back(
        kernels::L2Bound(distances[1], kernels::CanonicalDot(query, query, dim), dim));
  }
  return block;
}

double ScanGflops(Block& block, kernels::RowCodes codes, int64_t* survivors) {
  const int64_t dim = block.rows.dim();
  const auto start = std::chrono::steady_clock::now();
  *survivors =
      kernels::ScanBlock({block.rows.rows(), block.rows.init(), dim, 0, block.rows.num_groups(),
                          block.queries.data(), block.bounds.data(), kQueries, codes},
                         block.hits.data());
  const std::chrono::duration<double, std::nano> taken = std::chrono::steady_clock::now() - start;
  return 2.0 * kQueries * kRows * static_cast<double>(dim) / taken.count();
}

}  // namespace
}  // namespace kinjo::bench

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 100;
  for (const std::string& level : kinjo::kernels::AvailableSimdLevels()) {
    if (argc > 2 && level != argv[2]) continue;
    if (!kinjo::kernels::ForceSimdLevel(level).ok()) return 1;
    for (const int64_t dim : {16, 50, 128, 768, 1536}) {
      kinjo::bench::Block block = kinjo::bench::MakeBlock(dim);
      const kinjo::kernels::RowCodes codes = block.rows.codes();
      double peak = 0, floats = 0, bytes = 0;
      int64_t survivors = 0, byte_survivors = 0;
      for (int round = 0; round < rounds; ++round) {
        peak = std::max(peak, kinjo::bench::PeakGflops());
        floats = std::max(floats, kinjo::bench::ScanGflops(block, {}, &survivors));
        if (codes.codes == nullptr) continue;
        bytes = std::max(bytes, kinjo::bench::ScanGflops(block, codes, &byte_survivors));
      }
      std::printf("%-8s dim %5lld  peak %6.1f GFLOP/s  floats %6.1f (%5.1f %%, %lld survivors)",
                  level.c_str(), static_cast<long long>(dim), peak, floats, 100 * floats / peak,
                  static_cast<long long>(survivors));
      if (codes.codes != nullptr) {
        std::printf("  bytes %6.1f (%5.1f %%, %lld)", bytes, 100 * bytes / peak,
                    static_cast<long long>(byte_survivors));
      }
      std::printf("\n");
    }
  }
  return 0;
}
