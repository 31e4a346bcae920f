// Bodies of the block scan for one SIMD level.
//
// A register tile is kQueries queries times G groups of rows: every step j loads the G groups'
// vectors of dimension j once and multiplies them by each query's element, broadcast from a packed
// panel. 24 accumulators of AVX-512's 32 registers (8 queries x 3 groups), or 12 of 16 elsewhere,
// hide the latency of the multiply-add and leave room for the operands. The panel holds as many
// queries as the scratch takes, packed [tile][dim][kQueries]; queries whose bound is -inf are left
// out when it is packed. Rows are the outer loop and tiles the inner one, so that a group is loaded
// from far away once a panel.

#if defined(KINJO_KERNELS_BLOCK_SCAN_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef KINJO_KERNELS_BLOCK_SCAN_INL_H_
#undef KINJO_KERNELS_BLOCK_SCAN_INL_H_
#else
#define KINJO_KERNELS_BLOCK_SCAN_INL_H_
#endif

#include <cstdint>
#include <limits>

#include "hwy/highway.h"
#include "kernels/block_scan.h"

HWY_BEFORE_NAMESPACE();
namespace kinjo::kernels {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// A constant, so that no body compiled for a level calls an inline function of the library.
constexpr float kInfinity = std::numeric_limits<float>::infinity();

using Floats = hn::CappedTag<float, kGroupRows>;
using FloatVec = hn::Vec<Floats>;
constexpr int kFloatsPerVector = hn::MaxLanes(Floats());
constexpr int kGroupVectors = kGroupRows / kFloatsPerVector;
constexpr int kQueries = kGroupVectors == 1   ? 8
                         : kGroupVectors == 2 ? 6
                         : kGroupVectors == 4 ? 3
                                              : 1;
constexpr int kAccumulators = kGroupVectors == 1 ? 24 : 12;

// Groups of a register tile of `queries` queries: what the accumulators allow, at most 4.
constexpr int TileGroups(int queries) {
  const int groups = kAccumulators / (queries * kGroupVectors);
  return groups < 1 ? 1 : groups > 4 ? 4 : groups;
}

// Queries packed for register tiles, and where their survivors go.
constexpr int kPanelQueries = 256;
constexpr int kPanelSlots = kPanelQueries + kQueries;
struct Panel {
  int count;           // queries in it
  const void* packed;  // [tile][step][kQueries], whose elements are the form's
  alignas(64) float bounds[kPanelSlots];
  uint32_t ids[kPanelSlots];
  // Of queries packed as codes only (code_scan-inl.h).
  float scales[kPanelSlots];
  int32_t starts[kPanelSlots];
  float slacks[kPanelSlots];  // the query's part of the error
};

// Appends the survivors among the vectors of one query's scores. A padding row (init = +inf) is
// dropped here, where the bound +inf would have let it through. A NaN survives: it can only come
// from a row or query too large for float32, which the canonical distance has to judge.
template <int kVectors>
HWY_NOINLINE Hit* EmitSurvivors(const float* scores, const float* init, float bound, uint32_t query,
                                uint32_t first_row, Hit* hits) {
  const Floats d;
  const FloatVec limit = hn::Set(d, bound);
  const FloatVec infinity = hn::Set(d, kInfinity);
  for (int v = 0; v < kVectors; ++v) {
    const int at = v * kFloatsPerVector;
    const auto beyond = hn::Gt(hn::LoadU(d, scores + at), limit);
    const auto padding = hn::Eq(hn::LoadU(d, init + at), infinity);
    uint8_t bytes[8] = {};
    hn::StoreMaskBits(d, hn::Not(hn::Or(beyond, padding)), bytes);
    uint32_t bits = bytes[0] | static_cast<uint32_t>(bytes[1]) << 8;
    for (; bits != 0; bits &= bits - 1) {
      const uint32_t lane = static_cast<uint32_t>(__builtin_ctz(bits));
      *hits++ = {query, first_row + static_cast<uint32_t>(at) + lane};
    }
  }
  return hits;
}

// What is done with a finished register tile: keep the survivors.
struct Filter {
  const Panel* panel;
  const float* init;
  Hit* hits;

  template <int kQ, int kVectors>
  HWY_INLINE void Finish(const FloatVec (&score)[kQ][kVectors], int first_query,
                         int64_t first_row) {
    const Floats d;
    for (int q = 0; q < kQ; ++q) {
      const FloatVec limit = hn::Set(d, panel->bounds[first_query + q]);
      auto beyond = hn::Gt(score[q][0], limit);
      for (int v = 1; v < kVectors; ++v) beyond = hn::And(beyond, hn::Gt(score[q][v], limit));
      if (HWY_LIKELY(hn::AllTrue(d, beyond))) continue;
      if (first_query + q >= panel->count) break;
      alignas(64) float spilled[kVectors * kFloatsPerVector];
      for (int v = 0; v < kVectors; ++v) hn::Store(score[q][v], d, spilled + v * kFloatsPerVector);
      hits = EmitSurvivors<kVectors>(spilled, init + first_row, panel->bounds[first_query + q],
                                     panel->ids[first_query + q], static_cast<uint32_t>(first_row),
                                     hits);
    }
  }
};

// What is done with a finished register tile: store all of it.
struct Keep {
  const Panel* panel;
  float* scores;
  int64_t stride;
  int64_t base_row;

  template <int kQ, int kVectors>
  HWY_INLINE void Finish(const FloatVec (&score)[kQ][kVectors], int first_query,
                         int64_t first_row) {
    const Floats d;
    for (int q = 0; q < kQ && first_query + q < panel->count; ++q) {
      float* to = scores + int64_t{panel->ids[first_query + q]} * stride + (first_row - base_row);
      for (int v = 0; v < kVectors; ++v) hn::StoreU(score[q][v], d, to + v * kFloatsPerVector);
    }
  }
};

// Rows and queries as floats: how a register tile computes its scores from them.
struct FloatForm {
  template <int kQ, int kVectors>
  static HWY_INLINE void Score(const BlockScan& scan, const Panel& panel, int first_query,
                               int64_t group, FloatVec (&score)[kQ][kVectors]) {
    const Floats d;
    const int64_t dim = scan.dim;
    const int64_t group_floats = dim * kGroupRows;
    const float* HWY_RESTRICT packed = static_cast<const float*>(panel.packed) + first_query * dim;
    const float* HWY_RESTRICT rows = scan.rows + group * group_floats;
    const float* init = scan.init + group * kGroupRows;
    for (int q = 0; q < kQ; ++q) {
      for (int v = 0; v < kVectors; ++v) score[q][v] = hn::Load(d, init + v * kFloatsPerVector);
    }
    for (int64_t j = 0; j < dim; ++j) {
      FloatVec row[kVectors];
      for (int v = 0; v < kVectors; ++v) {
        row[v] = hn::Load(d, rows + (v / kGroupVectors) * group_floats + j * kGroupRows +
                                 (v % kGroupVectors) * kFloatsPerVector);
      }
      for (int q = 0; q < kQ; ++q) {
        const FloatVec element = hn::Set(d, packed[j * kQueries + q]);
        for (int v = 0; v < kVectors; ++v) {
          score[q][v] = hn::NegMulAdd(element, row[v], score[q][v]);
        }
      }
    }
  }
};

// kQ queries against kG groups from `group` on.
template <class Form, int kQ, int kG, class Epilogue>
HWY_INLINE void RegisterTile(const BlockScan& scan, const Panel& panel, int first_query,
                             int64_t group, Epilogue& epilogue) {
  FloatVec score[kQ][kG * kGroupVectors];
  Form::Score(scan, panel, first_query, group, score);
  epilogue.Finish(score, first_query, group * kGroupRows);
}

// The tiles [first_tile, end_tile) of the panel, kQ queries of each, against all groups.
template <class Form, int kQ, class Epilogue>
HWY_NOINLINE void ScanTiles(const BlockScan& scan, const Panel& panel, int first_tile, int end_tile,
                            Epilogue& epilogue) {
  constexpr int kG = TileGroups(kQ);
  const int64_t end = scan.first_group + scan.num_groups;
  int64_t group = scan.first_group;
  for (; group + kG <= end; group += kG) {
    for (int tile = first_tile; tile < end_tile; ++tile) {
      RegisterTile<Form, kQ, kG>(scan, panel, tile * kQueries, group, epilogue);
    }
  }
  if constexpr (kG > 1) {
    for (; group < end; ++group) {
      for (int tile = first_tile; tile < end_tile; ++tile) {
        RegisterTile<Form, kQ, 1>(scan, panel, tile * kQueries, group, epilogue);
      }
    }
  }
}

// The whole panel: full tiles together, the last one with the narrowest kernel that holds it.
template <class Form, class Epilogue>
HWY_INLINE void ScanPanel(const BlockScan& scan, const Panel& panel, Epilogue& epilogue) {
  const int full = panel.count / kQueries;
  const int rest = panel.count % kQueries;
  if (full > 0) ScanTiles<Form, kQueries>(scan, panel, 0, full, epilogue);
  if (rest == 0) return;
  if constexpr (kQueries > 4) {
    if (rest > 2 && rest <= 4) return ScanTiles<Form, 4>(scan, panel, full, full + 1, epilogue);
  }
  if constexpr (kQueries > 2) {
    if (rest == 2) return ScanTiles<Form, 2>(scan, panel, full, full + 1, epilogue);
    if (rest == 1) return ScanTiles<Form, 1>(scan, panel, full, full + 1, epilogue);
  }
  ScanTiles<Form, kQueries>(scan, panel, full, full + 1, epilogue);
}

// Packs queries from `*next` on until the panel is full; moves `*next` behind the last one taken.
// Without bounds every query is taken.
HWY_NOINLINE void PackPanel(const BlockScan& scan, bool filter, void* scratch, int capacity,
                            int64_t* next, Panel* panel) {
  float* HWY_RESTRICT packed = static_cast<float*>(scratch);
  panel->packed = packed;
  panel->count = 0;
  for (; *next < scan.num_queries && panel->count < capacity; ++*next) {
    if (filter && scan.bounds[*next] == -kInfinity) continue;
    const int at = panel->count++;
    const float* query = scan.queries + *next * scan.dim;
    float* to = packed + (at / kQueries) * scan.dim * kQueries + at % kQueries;
    for (int64_t j = 0; j < scan.dim; ++j) to[j * kQueries] = query[j];
    panel->ids[at] = static_cast<uint32_t>(*next);
    panel->bounds[at] = filter ? scan.bounds[*next] : -kInfinity;
  }
  // The rest of the last tile.
  const int used = panel->count % kQueries;
  if (used == 0) return;
  const int begin = panel->count - used;
  float* last = packed + begin / kQueries * scan.dim * kQueries;
  for (int slot = used; slot < kQueries; ++slot) {
    float* to = last + slot;
    for (int64_t j = 0; j < scan.dim; ++j) to[j * kQueries] = 0.0f;
    panel->bounds[begin + slot] = -kInfinity;
  }
}

// Queries a panel takes: whole tiles, of `steps` elements a query, that fit into the scratch.
HWY_INLINE int PanelCapacity(int64_t steps, int64_t scratch_bytes) {
  const int64_t tiles = scratch_bytes / (steps * kQueries * static_cast<int64_t>(sizeof(float)));
  const int most = kPanelQueries / kQueries;
  return (tiles < most ? static_cast<int>(tiles) : most) * kQueries;
}

int64_t Scan(const BlockScan& scan, void* scratch, int64_t scratch_bytes, Hit* hits) {
  const int capacity = PanelCapacity(scan.dim, scratch_bytes);
  Panel panel;
  Filter filter{&panel, scan.init, hits};
  for (int64_t next = 0; next < scan.num_queries;) {
    PackPanel(scan, true, scratch, capacity, &next, &panel);
    ScanPanel<FloatForm>(scan, panel, filter);
  }
  return filter.hits - hits;
}

void Score(const BlockScan& scan, void* scratch, int64_t scratch_bytes, float* scores,
           int64_t stride) {
  const int capacity = PanelCapacity(scan.dim, scratch_bytes);
  Panel panel;
  Keep keep{&panel, scores, stride, scan.first_group * kGroupRows};
  for (int64_t next = 0; next < scan.num_queries;) {
    PackPanel(scan, false, scratch, capacity, &next, &panel);
    ScanPanel<FloatForm>(scan, panel, keep);
  }
}

#if HWY_TARGET == HWY_SCALAR

void FillGroup(const float* x, const float* centre, int64_t dim, float* group, double* norms2) {
  for (int row = 0; row < kGroupRows; ++row) {
    norms2[row] = 0;
    for (int64_t j = 0; j < dim; ++j) {
      const float value = x[row * dim + j] - (centre == nullptr ? 0.0f : centre[j]);
      group[j * kGroupRows + row] = value;
      norms2[row] += static_cast<double>(value) * value;
    }
  }
}

#else

// Four rows' elements j..j+3, moved, as four columns, each stored as a quarter of a group's line;
// adds their squares to the rows' norms.
template <class V, class N>
HWY_INLINE void FillQuad(const float* x, int64_t dim, V centre, float* group, N& low, N& high) {
  const hn::FixedTag<float, 4> d;
  const hn::FixedTag<double, 2> norm;
  const auto row0 = hn::Sub(hn::LoadU(d, x), centre);
  const auto row1 = hn::Sub(hn::LoadU(d, x + dim), centre);
  const auto row2 = hn::Sub(hn::LoadU(d, x + 2 * dim), centre);
  const auto row3 = hn::Sub(hn::LoadU(d, x + 3 * dim), centre);
  const auto low01 = hn::InterleaveLower(d, row0, row1);
  const auto low23 = hn::InterleaveLower(d, row2, row3);
  const auto high01 = hn::InterleaveUpper(d, row0, row1);
  const auto high23 = hn::InterleaveUpper(d, row2, row3);
  const V columns[4] = {
      hn::ConcatLowerLower(d, low23, low01), hn::ConcatUpperUpper(d, low23, low01),
      hn::ConcatLowerLower(d, high23, high01), hn::ConcatUpperUpper(d, high23, high01)};
  for (int j = 0; j < 4; ++j) {
    hn::Store(columns[j], d, group + j * kGroupRows);
    const auto first = hn::PromoteTo(norm, hn::LowerHalf(columns[j]));
    const auto second = hn::PromoteTo(norm, hn::UpperHalf(hn::Half<decltype(d)>(), columns[j]));
    low = hn::MulAdd(first, first, low);
    high = hn::MulAdd(second, second, high);
  }
}

void FillGroup(const float* x, const float* centre, int64_t dim, float* group, double* norms2) {
  const hn::FixedTag<float, 4> d;
  const hn::FixedTag<double, 2> norm;
  for (int quad = 0; quad < kGroupRows; quad += 4) {
    const float* rows = x + quad * dim;
    auto low = hn::Zero(norm);
    auto high = hn::Zero(norm);
    int64_t j = 0;
    for (; j + 4 <= dim; j += 4) {
      const auto moved = centre == nullptr ? hn::Zero(d) : hn::LoadU(d, centre + j);
      FillQuad(rows + j, dim, moved, group + j * kGroupRows + quad, low, high);
    }
    hn::StoreU(low, norm, norms2 + quad);
    hn::StoreU(high, norm, norms2 + quad + 2);
    for (; j < dim; ++j) {
      for (int row = 0; row < 4; ++row) {
        const float value = rows[row * dim + j] - (centre == nullptr ? 0.0f : centre[j]);
        group[j * kGroupRows + quad + row] = value;
        norms2[quad + row] += static_cast<double>(value) * value;
      }
    }
  }
}

#endif  // HWY_TARGET == HWY_SCALAR

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace kinjo::kernels
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
