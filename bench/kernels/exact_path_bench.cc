// The exact path in small, in the loop structure that docs/kernels.md recommends: the right rows
// are grouped once, each left tile then runs through them in growing steps with its bounds
// tightened between steps. Reads raw float32 files, writes the neighbours' row numbers, prints the
// seconds.
//
// exact_path_bench LEFT.f32 RIGHT.f32 DIM K THREADS OUT.i64
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <string>
#include <vector>

#include "base/thread_pool.h"
#include "kernels/block_scan.h"
#include "kernels/canonical_distance.h"
#include "kernels/top_k.h"

namespace kinjo::bench {
namespace {

constexpr int64_t kLeftTile = 240;        // ten panels of 24 queries
constexpr int64_t kFirstStepGroups = 3;   // while fewer than k are held everything survives
constexpr int64_t kLastStepGroups = 252;  // 4,032 rows: 0.5 MB of codes at 128 dimensions

struct Right {
  std::vector<float> values;  // row-major, as they came
  std::vector<float> centre;
  kernels::GroupedRows grouped;
};

// What a worker reuses from tile to tile.
struct Workspace {
  std::vector<float> moved;
  std::vector<float> bounds;
  std::vector<double> norms2;
  std::vector<double> distances;
  std::vector<kernels::Hit> hits;
};

std::vector<float> ReadFloats(const char* path) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  std::vector<float> values(static_cast<size_t>(file.tellg()) / sizeof(float));
  file.seekg(0);
  file.read(reinterpret_cast<char*>(values.data()),
            static_cast<std::streamsize>(values.size() * sizeof(float)));
  return values;
}

// Mean of a few rows: any point near the data does.
std::vector<float> Centre(const std::vector<float>& rows, int64_t dim) {
  std::vector<double> sum(dim, 0.0);
  const int64_t count = std::min<int64_t>(static_cast<int64_t>(rows.size()) / dim, 1024);
  for (int64_t i = 0; i < count * dim; ++i) sum[i % dim] += rows[i];
  std::vector<float> centre(dim);
  for (int64_t j = 0; j < dim; ++j) {
    centre[j] = static_cast<float>(sum[j] / static_cast<double>(count));
  }
  return centre;
}

void MoveQueries(const float* queries, int64_t count, const Right& right, Workspace* work) {
  const int64_t dim = right.grouped.dim();
  work->moved.resize(count * dim);
  work->norms2.assign(count, 0.0);
  work->bounds.assign(count, std::numeric_limits<float>::infinity());
  for (int64_t q = 0; q < count; ++q) {
    for (int64_t j = 0; j < dim; ++j) {
      const float value = queries[q * dim + j] - right.centre[j];
      work->moved[q * dim + j] = value;
      work->norms2[q] += static_cast<double>(value) * value;
    }
  }
}

// Scores the survivors of one step by the canonical distance and tightens the bounds.
void Settle(const float* queries, int64_t num_hits, const Right& right, Workspace* work,
            std::vector<kernels::TopK>* best) {
  const int64_t dim = right.grouped.dim();
  work->distances.resize(num_hits);
  kernels::CanonicalL2Hits(queries, right.values.data(), dim, work->hits.data(), num_hits,
                           work->distances.data());
  for (int64_t i = 0; i < num_hits; ++i) {
    const kernels::Hit hit = work->hits[i];
    kernels::TopK& top = (*best)[hit.query];
    if (top.Push({static_cast<float>(work->distances[i]), hit.row}) && top.full()) {
      work->bounds[hit.query] =
          kernels::L2Bound(top.worst_distance(), work->norms2[hit.query], dim);
    }
  }
}

void JoinTile(const float* queries, int64_t count, int64_t k, const Right& right, Workspace* work,
              int64_t* out) {
  const int64_t dim = right.grouped.dim();
  MoveQueries(queries, count, right, work);
  work->hits.resize(count * kLastStepGroups * kernels::kGroupRows);
  std::vector<kernels::TopK> best(count, kernels::TopK(k));
  int64_t step = kFirstStepGroups;
  for (int64_t group = 0; group < right.grouped.num_groups();) {
    const int64_t groups = std::min(step, right.grouped.num_groups() - group);
    const int64_t hits =
        kernels::ScanBlock({right.grouped.rows(), right.grouped.init(), dim, group, groups,
                            work->moved.data(), work->bounds.data(), count, right.grouped.codes()},
                           work->hits.data());
    Settle(queries, hits, right, work, &best);
    group += groups;
    step = std::min(step * 2, kLastStepGroups);
  }
  for (int64_t q = 0; q < count; ++q) {
    for (const kernels::Neighbor& neighbor : best[q].TakeSorted()) {
      *out++ = static_cast<int64_t>(neighbor.address);
    }
  }
}

arrow::Status Join(const std::vector<float>& left, int64_t dim, int64_t k, base::ThreadPool* pool,
                   Right* right, std::vector<int64_t>* out) {
  const base::CancelToken cancel;
  const int64_t num_left = static_cast<int64_t>(left.size()) / dim;
  const int64_t num_right = static_cast<int64_t>(right->values.size()) / dim;
  right->centre = Centre(right->values, dim);
  right->grouped.Reset(num_right, dim, true);
  constexpr int64_t kRowsAtOnce = 1024;
  ARROW_RETURN_NOT_OK(pool->ParallelFor(
      (num_right + kRowsAtOnce - 1) / kRowsAtOnce, cancel, [&](int64_t item, int) {
        const int64_t first = item * kRowsAtOnce;
        right->grouped.SetRows(first, std::min(kRowsAtOnce, num_right - first),
                               right->values.data() + first * dim, right->centre.data(), false);
        right->grouped.MakeCodes(
            first / kernels::kGroupRows,
            std::min(kRowsAtOnce / kernels::kGroupRows,
                     right->grouped.num_groups() - first / kernels::kGroupRows));
        return arrow::Status::OK();
      }));
  out->assign(num_left * k, -1);
  std::vector<Workspace> work(pool->size());
  return pool->ParallelFor(
      (num_left + kLeftTile - 1) / kLeftTile, cancel, [&](int64_t item, int worker) {
        const int64_t first = item * kLeftTile;
        JoinTile(left.data() + first * dim, std::min(kLeftTile, num_left - first), k, *right,
                 &work[worker], out->data() + first * k);
        return arrow::Status::OK();
      });
}

}  // namespace
}  // namespace kinjo::bench

int main(int argc, char** argv) {
  if (argc != 7) {
    std::fprintf(stderr, "usage: exact_path_bench LEFT.f32 RIGHT.f32 DIM K THREADS OUT.i64\n");
    return 2;
  }
  const std::vector<float> left = kinjo::bench::ReadFloats(argv[1]);
  kinjo::bench::Right right;
  right.values = kinjo::bench::ReadFloats(argv[2]);
  kinjo::base::ThreadPool pool(std::atoi(argv[5]));
  std::vector<int64_t> out;
  const std::clock_t cpu_start = std::clock();
  const auto start = std::chrono::steady_clock::now();
  const arrow::Status status =
      kinjo::bench::Join(left, std::atoll(argv[3]), std::atoll(argv[4]), &pool, &right, &out);
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
  const double cpu_taken = static_cast<double>(std::clock() - cpu_start) / CLOCKS_PER_SEC;
  if (!status.ok()) {
    std::fprintf(stderr, "%s\n", status.ToString().c_str());
    return 1;
  }
  std::ofstream(argv[6], std::ios::binary)
      .write(reinterpret_cast<const char*>(out.data()),
             static_cast<std::streamsize>(out.size() * sizeof(int64_t)));
  std::printf("%.6f %.6f\n", taken.count(), cpu_taken);
  return 0;
}
