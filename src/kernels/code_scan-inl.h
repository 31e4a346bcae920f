// The block scan over bytes, for levels that multiply four pairs of bytes a lane in one
// instruction.
//
// A row is x' = alpha k + e with k integers in [-127, 127], alpha = max |x'_j| / 127 and e what is
// left; a query is q' = beta v + f in the same way. Rows are stored as k + 128 (unsigned, as the
// instruction wants one operand), so sum_j (k_j + 128) v_j - 128 sum_j v_j = k.v, exactly, and
//     score = code_init - alpha beta (k.v).
//
// Its error: q'.x' - alpha beta k.v = (beta v).e + f.x', at most |beta v| |e| + |f| |x'|. With any
// t > 0, 2 a b <= t a^2 + b^2 / t splits that into the row's and the query's part:
//     row:   |e|^2 / (2 t) + t |x'|^2 / 2        taken off init
//     query: |f|^2 / (2 t) + t |beta v|^2 / 2    added to the bound
// t = 1/160 is the usual |e| / |x'| (0.004 for even, 0.006 for normal elements); another ratio only
// widens the slack. The margins below cover that these parts are summed in float32 themselves
// (relative 2^-24 a step, dim <= 32,768), that e is computed with an error of 2^-22 |x'|, and the
// five roundings of the score, whose product is at most 4 |x'| |q'|.
//
// Rows and queries of odd magnitude: init = -inf or bound = +inf stay so (or become NaN, which
// survives). Below 2^-100 the scale is 0 and the whole vector is error.

#if defined(KINJO_KERNELS_CODE_SCAN_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef KINJO_KERNELS_CODE_SCAN_INL_H_
#undef KINJO_KERNELS_CODE_SCAN_INL_H_
#else
#define KINJO_KERNELS_CODE_SCAN_INL_H_
#endif

#include <cstdint>

#include "hwy/highway.h"
#include "kernels/block_scan-inl.h"
#include "kernels/block_scan.h"

#undef KINJO_KERNELS_HAVE_CODES
#if HWY_ARCH_X86 && HWY_TARGET == HWY_AVX3_DL
#define KINJO_KERNELS_HAVE_CODES 1
#else
#define KINJO_KERNELS_HAVE_CODES 0
#endif

#if KINJO_KERNELS_HAVE_CODES
HWY_BEFORE_NAMESPACE();
namespace kinjo::kernels {
namespace HWY_NAMESPACE {
namespace {

using Ints = hn::RebindToSigned<Floats>;
using IntVec = hn::Vec<Ints>;

constexpr float kErrorRatio = 1.0f / 160;
constexpr float kSmallestScaled = 0x1p-100f;

// sum += the four products of unsigned and signed bytes of each lane. By its name, since Highway's
// target of this level doesn't list the extension it tests for (AVX512_VNNI).
HWY_INLINE void AddByteProducts(IntVec& sum, IntVec unsigned_bytes, IntVec signed_bytes) {
  asm("vpdpbusd %2, %1, %0" : "+v"(sum.raw) : "v"(unsigned_bytes.raw), "v"(signed_bytes.raw));
}

// A part of the error: `rest2` is the squared norm of what the codes leave, `coded2` that of the
// vector that multiplies the other side's rest, `norm2` the vector's own.
HWY_INLINE FloatVec ErrorPart(FloatVec rest2, FloatVec coded2, FloatVec norm2, int64_t dim) {
  const Floats d;
  const FloatVec rest = hn::MulAdd(rest2, hn::Set(d, 1.05f), hn::Mul(norm2, hn::Set(d, 0x1p-33f)));
  const FloatVec part = hn::MulAdd(rest, hn::Set(d, 0.5f / kErrorRatio),
                                   hn::Mul(coded2, hn::Set(d, 1.01f * 0.5f * kErrorRatio)));
  const FloatVec rounding =
      hn::MulAdd(norm2, hn::Set(d, 0x1p-20f), hn::Set(d, static_cast<float>(dim + 8) * 0x1p-112f));
  return hn::Add(part, rounding);
}

// Factors to codes and back for elements up to `largest`.
HWY_INLINE void Scales(FloatVec largest, FloatVec* to_code, FloatVec* from_code) {
  const Floats d;
  const auto usable = hn::Ge(largest, hn::Set(d, kSmallestScaled));
  *from_code = hn::IfThenElseZero(usable, hn::Mul(largest, hn::Set(d, 1.0f / 127)));
  *to_code = hn::IfThenElseZero(usable, hn::Div(hn::Set(d, 127.0f), largest));
}

// Sixteen rows at once, one a lane.
void MakeGroupCodes(const float* group, const float* init, int64_t dim, uint8_t* codes,
                    float* scales, float* code_init) {
  const Floats d;
  const Ints ints;
  FloatVec largest = hn::Zero(d);
  FloatVec norm2 = hn::Zero(d);
  for (int64_t j = 0; j < dim; ++j) {
    const FloatVec x = hn::Load(d, group + j * kGroupRows);
    largest = hn::Max(largest, hn::Abs(x));
    norm2 = hn::MulAdd(x, x, norm2);
  }
  FloatVec to_code, from_code;
  Scales(largest, &to_code, &from_code);
  FloatVec rest2 = hn::Zero(d);
  for (int64_t step = 0; step < CodeSteps(dim); ++step) {
    IntVec packed = hn::Set(ints, static_cast<int32_t>(0x80808080u));
    for (int64_t j = 4 * step; j < dim && j < 4 * step + 4; ++j) {
      const FloatVec x = hn::Load(d, group + j * kGroupRows);
      const IntVec code = hn::NearestInt(hn::Mul(x, to_code));
      const FloatVec rest = hn::NegMulAdd(from_code, hn::ConvertTo(d, code), x);
      rest2 = hn::MulAdd(rest, rest, rest2);
      // Adding modulo 256 sets the byte to code + 128: flip its top bit.
      const IntVec byte = hn::And(code, hn::Set(ints, 255));
      packed = hn::Xor(packed, hn::ShiftLeftSame(byte, static_cast<int>(8 * (j - 4 * step))));
    }
    hn::Store(packed, ints, reinterpret_cast<int32_t*>(codes) + step * kGroupRows);
  }
  const FloatVec start = hn::Load(d, init);
  const FloatVec part = ErrorPart(rest2, norm2, norm2, dim);
  const FloatVec rounding = hn::Mul(hn::Add(hn::Abs(start), part), hn::Set(d, 0x1p-20f));
  const auto padding = hn::Eq(start, hn::Set(d, kInfinity));
  hn::Store(from_code, d, scales);
  hn::Store(hn::IfThenElse(padding, start, hn::Sub(hn::Sub(start, part), rounding)), d, code_init);
}

// Codes one query into slot `at` of the panel.
HWY_INLINE void PackCodedQuery(const float* query, int64_t dim, float bound, int at,
                               int32_t* packed, Panel* panel) {
  const Floats d;
  const Ints ints;
  const hn::Rebind<int8_t, Ints> bytes;
  FloatVec largest = hn::Zero(d);
  FloatVec norm2 = hn::Zero(d);
  for (int64_t j = 0; j < dim; j += kGroupRows) {
    const auto inside = hn::FirstN(d, static_cast<size_t>(dim - j));
    const FloatVec x = hn::MaskedLoad(inside, d, query + j);
    largest = hn::Max(largest, hn::Abs(x));
    norm2 = hn::MulAdd(x, x, norm2);
  }
  FloatVec to_code, from_code;
  Scales(hn::MaxOfLanes(d, largest), &to_code, &from_code);
  FloatVec rest2 = hn::Zero(d);
  FloatVec coded2 = hn::Zero(d);
  IntVec sum = hn::Zero(ints);
  int32_t* to = packed + (at / kQueries) * CodeSteps(dim) * kQueries + at % kQueries;
  for (int64_t j = 0; j < dim; j += kGroupRows) {
    const auto inside = hn::FirstN(d, static_cast<size_t>(dim - j));
    const FloatVec x = hn::MaskedLoad(inside, d, query + j);
    const IntVec code = hn::NearestInt(hn::Mul(x, to_code));
    const FloatVec coded = hn::Mul(from_code, hn::ConvertTo(d, code));
    const FloatVec rest = hn::Sub(x, coded);
    rest2 = hn::MulAdd(rest, rest, rest2);
    coded2 = hn::MulAdd(coded, coded, coded2);
    sum = hn::Add(sum, code);
    alignas(16) int32_t steps[4];
    hn::StoreU(hn::DemoteTo(bytes, code), bytes, reinterpret_cast<int8_t*>(steps));
    for (int64_t step = j / 4; step < CodeSteps(dim) && step < j / 4 + 4; ++step) {
      to[step * kQueries] = steps[step - j / 4];
    }
  }
  const FloatVec part =
      ErrorPart(hn::SumOfLanes(d, rest2), hn::SumOfLanes(d, coded2), hn::SumOfLanes(d, norm2), dim);
  const float slack = hn::GetLane(part);
  const float magnitude = bound < 0 ? -bound : bound;
  panel->bounds[at] = bound + slack + (magnitude + slack) * 0x1p-20f;
  panel->slacks[at] = slack + slack * 0x1p-10f;
  panel->scales[at] = hn::GetLane(from_code);
  panel->starts[at] = -128 * hn::GetLane(hn::SumOfLanes(ints, sum));
}

// PackPanel for codes.
HWY_NOINLINE void PackCodedPanel(const BlockScan& scan, void* scratch, int capacity, int64_t* next,
                                 Panel* panel) {
  int32_t* packed = static_cast<int32_t*>(scratch);
  panel->packed = packed;
  panel->count = 0;
  for (; *next < scan.num_queries && panel->count < capacity; ++*next) {
    const float bound = scan.bounds == nullptr ? 0.0f : scan.bounds[*next];
    if (bound == -kInfinity) continue;
    const int at = panel->count++;
    panel->ids[at] = static_cast<uint32_t>(*next);
    PackCodedQuery(scan.queries + *next * scan.dim, scan.dim, bound, at, packed, panel);
  }
  // The rest of the last tile.
  const int used = panel->count % kQueries;
  if (used == 0) return;
  const int begin = panel->count - used;
  int32_t* last = packed + begin / kQueries * CodeSteps(scan.dim) * kQueries;
  for (int slot = used; slot < kQueries; ++slot) {
    int32_t* to = last + slot;
    for (int64_t step = 0; step < CodeSteps(scan.dim); ++step) to[step * kQueries] = 0;
    panel->bounds[begin + slot] = -kInfinity;
    panel->scales[begin + slot] = 0;
    panel->starts[begin + slot] = 0;
  }
}

// Rows and queries as bytes.
struct CodeForm {
  template <int kQ, int kVectors>
  static HWY_INLINE void Score(const BlockScan& scan, const Panel& panel, int first_query,
                               int64_t group, FloatVec (&score)[kQ][kVectors]) {
    static_assert(kGroupVectors == 1);
    const Floats d;
    const Ints ints;
    const int64_t steps = CodeSteps(scan.dim);
    const int64_t group_bytes = steps * kGroupRows * 4;
    const int32_t* HWY_RESTRICT packed =
        static_cast<const int32_t*>(panel.packed) + first_query * steps;
    const uint8_t* HWY_RESTRICT codes = scan.codes.codes + group * group_bytes;
    IntVec sum[kQ][kVectors];
    for (int q = 0; q < kQ; ++q) {
      for (int v = 0; v < kVectors; ++v) sum[q][v] = hn::Set(ints, panel.starts[first_query + q]);
    }
    for (int64_t step = 0; step < steps; ++step) {
      IntVec row[kVectors];
      for (int v = 0; v < kVectors; ++v) {
        row[v] = hn::Load(
            ints, reinterpret_cast<const int32_t*>(codes + v * group_bytes) + step * kGroupRows);
      }
      for (int q = 0; q < kQ; ++q) {
        const IntVec element = hn::Set(ints, packed[step * kQueries + q]);
        for (int v = 0; v < kVectors; ++v) AddByteProducts(sum[q][v], row[v], element);
      }
    }
    const float* init = scan.codes.init + group * kGroupRows;
    const float* scales = scan.codes.scales + group * kGroupRows;
    for (int v = 0; v < kVectors; ++v) {
      const FloatVec start = hn::Load(d, init + v * kGroupRows);
      const FloatVec row_scale = hn::Load(d, scales + v * kGroupRows);
      for (int q = 0; q < kQ; ++q) {
        const FloatVec product = hn::Mul(row_scale, hn::ConvertTo(d, sum[q][v]));
        score[q][v] = hn::NegMulAdd(hn::Set(d, panel.scales[first_query + q]), product, start);
      }
    }
  }
};

// Keeps every score, with the query's part of the error on top.
struct KeepCodeScores {
  const Panel* panel;
  float* scores;
  int64_t stride;
  int64_t base_row;

  template <int kQ, int kVectors>
  HWY_INLINE void Finish(const FloatVec (&score)[kQ][kVectors], int first_query,
                         int64_t first_row) {
    const Floats d;
    for (int q = 0; q < kQ && first_query + q < panel->count; ++q) {
      const FloatVec slack = hn::Set(d, panel->slacks[first_query + q]);
      float* to = scores + int64_t{panel->ids[first_query + q]} * stride + (first_row - base_row);
      for (int v = 0; v < kVectors; ++v) {
        hn::StoreU(hn::Add(score[q][v], slack), d, to + v * kFloatsPerVector);
      }
    }
  }
};

void ScoreCodes(const BlockScan& scan, void* scratch, int64_t scratch_bytes, float* scores,
                int64_t stride) {
  const int capacity = PanelCapacity(CodeSteps(scan.dim), scratch_bytes);
  Panel panel;
  KeepCodeScores keep{&panel, scores, stride, scan.first_group * kGroupRows};
  for (int64_t next = 0; next < scan.num_queries;) {
    PackCodedPanel(scan, scratch, capacity, &next, &panel);
    ScanPanel<CodeForm>(scan, panel, keep);
  }
}

int64_t ScanCodes(const BlockScan& scan, void* scratch, int64_t scratch_bytes, Hit* hits) {
  const int capacity = PanelCapacity(CodeSteps(scan.dim), scratch_bytes);
  Panel panel;
  Filter filter{&panel, scan.init, hits};
  for (int64_t next = 0; next < scan.num_queries;) {
    PackCodedPanel(scan, scratch, capacity, &next, &panel);
    ScanPanel<CodeForm>(scan, panel, filter);
  }
  return filter.hits - hits;
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace kinjo::kernels
HWY_AFTER_NAMESPACE();
#endif  // KINJO_KERNELS_HAVE_CODES

#endif  // per-target include guard
