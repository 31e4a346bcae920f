// Body of the search for each query's best row, for one SIMD level.
//
// A register tile is that of the block scan: kQueries queries times the groups that the
// accumulators allow. Every query has a best score, a second best and the best's place in each
// lane, which a finished tile brings up to date; lanes are compared once all groups are done. A
// panel of queries is small enough that this and the packed queries stay in the first cache.

#if defined(KINJO_KERNELS_NEAREST_ROW_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef KINJO_KERNELS_NEAREST_ROW_INL_H_
#undef KINJO_KERNELS_NEAREST_ROW_INL_H_
#else
#define KINJO_KERNELS_NEAREST_ROW_INL_H_
#endif

#include <cstdint>

#include "hwy/highway.h"
#include "kernels/block_scan-inl.h"
#include "kernels/nearest_row.h"

HWY_BEFORE_NAMESPACE();
namespace kinjo::kernels {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

constexpr int kNearestTiles = kNearestPanelQueries / kQueries;

// What one query knows of the rows seen so far, lane by lane. A place is the number of a vector of
// rows, which a float holds exactly up to 2^24.
struct BestOfLanes {
  alignas(64) float best[kFloatsPerVector];
  alignas(64) float second[kFloatsPerVector];
  alignas(64) float place[kFloatsPerVector];
};

// One tile of queries, packed [dim][kQueries], against kG groups from `group` on.
template <int kG>
HWY_INLINE void NearestTile(const NearestScan& scan, const float* HWY_RESTRICT packed,
                            int64_t group, BestOfLanes* HWY_RESTRICT lanes) {
  constexpr int kVectors = kG * kGroupVectors;
  const Floats d;
  const int64_t group_floats = scan.dim * kGroupRows;
  const float* HWY_RESTRICT rows = scan.rows + group * group_floats;
  const float* init = scan.init + group * kGroupRows;
  FloatVec score[kQueries][kVectors];
  for (int q = 0; q < kQueries; ++q) {
    for (int v = 0; v < kVectors; ++v) score[q][v] = hn::Load(d, init + v * kFloatsPerVector);
  }
  for (int64_t j = 0; j < scan.dim; ++j) {
    FloatVec row[kVectors];
    for (int v = 0; v < kVectors; ++v) {
      row[v] = hn::Load(d, rows + (v / kGroupVectors) * group_floats + j * kGroupRows +
                               (v % kGroupVectors) * kFloatsPerVector);
    }
    for (int q = 0; q < kQueries; ++q) {
      const FloatVec element = hn::Set(d, packed[j * kQueries + q]);
      for (int v = 0; v < kVectors; ++v) {
        score[q][v] = hn::NegMulAdd(element, row[v], score[q][v]);
      }
    }
  }
  const float first_place = static_cast<float>(group * kGroupVectors);
  for (int q = 0; q < kQueries; ++q) {
    FloatVec best = hn::Load(d, lanes[q].best);
    FloatVec second = hn::Load(d, lanes[q].second);
    FloatVec place = hn::Load(d, lanes[q].place);
    for (int v = 0; v < kVectors; ++v) {
      const auto better = hn::Lt(score[q][v], best);
      second = hn::Min(second, hn::Max(best, score[q][v]));
      place = hn::IfThenElse(better, hn::Set(d, first_place + static_cast<float>(v)), place);
      best = hn::Min(best, score[q][v]);
    }
    hn::Store(best, d, lanes[q].best);
    hn::Store(second, d, lanes[q].second);
    hn::Store(place, d, lanes[q].place);
  }
}

// The best of all lanes, and the best of the others and of that lane's second.
HWY_INLINE NearestRow CompareLanes(const BestOfLanes& lanes) {
  int winner = 0;
  for (int lane = 1; lane < kFloatsPerVector; ++lane) {
    winner = lanes.best[lane] < lanes.best[winner] ? lane : winner;
  }
  float second = lanes.second[winner];
  for (int lane = 0; lane < kFloatsPerVector; ++lane) {
    const float other = lane == winner ? second : lanes.best[lane];
    second = other < second ? other : second;
  }
  return {
      static_cast<uint32_t>(lanes.place[winner]) * kFloatsPerVector + static_cast<uint32_t>(winner),
      lanes.best[winner], second};
}

// Packs `count` queries as [tile][dim][kQueries], the last tile filled up with zeros. (Two loops:
// one over all places, with place / kQueries and place % kQueries, is made wrong by clang 19 at
// -O1.)
HWY_NOINLINE void PackNearest(const NearestScan& scan, int64_t first, int64_t count,
                              float* HWY_RESTRICT packed) {
  for (int64_t begin = 0; begin < count; begin += kQueries, packed += scan.dim * kQueries) {
    for (int64_t q = 0; q < kQueries; ++q) {
      float* to = packed + q;
      if (begin + q >= count) {
        for (int64_t j = 0; j < scan.dim; ++j) to[j * kQueries] = 0.0f;
        continue;
      }
      const float* from = scan.queries + (first + begin + q) * scan.stride;
      for (int64_t j = 0; j < scan.dim; ++j) to[j * kQueries] = from[j];
    }
  }
}

void FindNearest(const NearestScan& scan, float* scratch, NearestRow* out) {
  constexpr int64_t kPanel = kNearestTiles * kQueries;
  constexpr int kG = TileGroups(kQueries);
  BestOfLanes lanes[kPanel];
  for (int64_t first = 0; first < scan.num_queries; first += kPanel) {
    const int64_t rest = scan.num_queries - first;
    const int64_t count = rest < kPanel ? rest : kPanel;
    const int64_t tiles = (count + kQueries - 1) / kQueries;
    PackNearest(scan, first, count, scratch);
    for (int64_t i = 0; i < tiles * kQueries; ++i) {
      for (int lane = 0; lane < kFloatsPerVector; ++lane) {
        lanes[i].best[lane] = kInfinity;
        lanes[i].second[lane] = kInfinity;
        lanes[i].place[lane] = 0;
      }
    }
    int64_t group = 0;
    for (; group + kG <= scan.num_groups; group += kG) {
      for (int64_t tile = 0; tile < tiles; ++tile) {
        NearestTile<kG>(scan, scratch + tile * scan.dim * kQueries, group, lanes + tile * kQueries);
      }
    }
    for (; group < scan.num_groups; ++group) {
      for (int64_t tile = 0; tile < tiles; ++tile) {
        NearestTile<1>(scan, scratch + tile * scan.dim * kQueries, group, lanes + tile * kQueries);
      }
    }
    for (int64_t i = 0; i < count; ++i) out[first + i] = CompareLanes(lanes[i]);
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace kinjo::kernels
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
