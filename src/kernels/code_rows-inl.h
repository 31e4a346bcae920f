// Bodies of code_rows.h for one SIMD level. The lanes are rows, so that every row's arithmetic runs
// in the order of its elements; products of two floats are exact in double, so that a fused add
// changes nothing.

#if defined(KINJO_KERNELS_CODE_ROWS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef KINJO_KERNELS_CODE_ROWS_INL_H_
#undef KINJO_KERNELS_CODE_ROWS_INL_H_
#else
#define KINJO_KERNELS_CODE_ROWS_INL_H_
#endif

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "hwy/highway.h"
#include "kernels/code_rows.h"

HWY_BEFORE_NAMESPACE();
namespace kinjo::kernels {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

constexpr int kRowTile = 16;  // elements of 16 rows that are turned at a time
using RowDoubles = hn::CappedTag<double, 8>;
constexpr int kRowLanes = hn::MaxLanes(RowDoubles());

// Stores one line's part, and adds to the rows' norms.
HWY_INLINE void StoreLane(hn::Vec<RowDoubles> value, float* to, hn::Vec<RowDoubles>& norm2) {
  const RowDoubles wide;
  const hn::Rebind<float, RowDoubles> narrow;
  const auto rounded = hn::DemoteTo(narrow, value);
  hn::Store(rounded, narrow, to);
  const auto exact = hn::PromoteTo(wide, rounded);
  norm2 = hn::MulAdd(exact, exact, norm2);
}

// tile[element][row] of kRowTile bytes from each of 16 rows.
HWY_INLINE void TurnBytes(const uint8_t* const* rows, int64_t first, uint8_t* tile) {
#if HWY_TARGET == HWY_SCALAR
  for (int row = 0; row < kGroupRows; ++row) {
    for (int j = 0; j < kRowTile; ++j) tile[j * kGroupRows + row] = rows[row][first + j];
  }
#else
  const hn::FixedTag<uint8_t, 16> d;
  hn::Vec<decltype(d)> lines[16];
  hn::Vec<decltype(d)> turned[16];
  for (int row = 0; row < 16; ++row) lines[row] = hn::LoadU(d, rows[row] + first);
  // Four shuffles of the 256 bytes: each takes the first half and the second in turns.
  for (int round = 0; round < 4; ++round) {
    for (int i = 0; i < 8; ++i) {
      turned[2 * i] = hn::InterleaveLower(d, lines[i], lines[i + 8]);
      turned[2 * i + 1] = hn::InterleaveUpper(d, lines[i], lines[i + 8]);
    }
    for (int i = 0; i < 16; ++i) lines[i] = turned[i];
  }
  for (int i = 0; i < 16; ++i) hn::StoreU(lines[i], d, tile + i * 16);
#endif
}

void GroupBytes(const ByteRows& from, int64_t dim, float* group, double* norms2) {
  const RowDoubles wide;
  const hn::Rebind<int32_t, RowDoubles> words;
  const hn::Rebind<uint8_t, RowDoubles> bytes;
  const auto start = hn::Set(wide, from.start);
  const auto step = hn::Set(wide, from.step);
  std::fill(norms2, norms2 + kGroupRows, 0.0);
  HWY_ALIGN uint8_t tile[kRowTile * kGroupRows];
  for (int64_t first = 0; first < dim; first += kRowTile) {
    const int64_t count = std::min<int64_t>(kRowTile, dim - first);
    if (count == kRowTile) {
      TurnBytes(from.rows, first, tile);
    } else {
      for (int row = 0; row < kGroupRows; ++row) {
        for (int64_t j = 0; j < count; ++j) tile[j * kGroupRows + row] = from.rows[row][first + j];
      }
    }
    for (int lane = 0; lane < kGroupRows; lane += kRowLanes) {
      auto norm2 = hn::LoadU(wide, norms2 + lane);
      for (int64_t j = 0; j < count; ++j) {
        const auto code = hn::PromoteTo(
            wide, hn::PromoteTo(words, hn::LoadU(bytes, tile + j * kGroupRows + lane)));
        const auto moved = hn::Sub(code, hn::Set(wide, from.centre[first + j]));
        StoreLane(hn::Add(start, hn::Mul(moved, step)), group + (first + j) * kGroupRows + lane,
                  norm2);
      }
      hn::StoreU(norm2, wide, norms2 + lane);
    }
  }
}

// line[row] = rows[row][j] for kRowTile elements, in floats.
HWY_INLINE void TurnFloats(const float* rows, int64_t stride, int64_t count, float* tile) {
#if HWY_TARGET != HWY_SCALAR
  if (count == kRowTile) {
    const hn::FixedTag<float, 4> d;
    for (int quad = 0; quad < kGroupRows; quad += 4) {
      const float* x = rows + quad * stride;
      for (int j = 0; j < kRowTile; j += 4) {
        const auto row0 = hn::LoadU(d, x + j);
        const auto row1 = hn::LoadU(d, x + stride + j);
        const auto row2 = hn::LoadU(d, x + 2 * stride + j);
        const auto row3 = hn::LoadU(d, x + 3 * stride + j);
        const auto low01 = hn::InterleaveLower(d, row0, row1);
        const auto low23 = hn::InterleaveLower(d, row2, row3);
        const auto high01 = hn::InterleaveUpper(d, row0, row1);
        const auto high23 = hn::InterleaveUpper(d, row2, row3);
        float* to = tile + j * kGroupRows + quad;
        hn::Store(hn::ConcatLowerLower(d, low23, low01), d, to);
        hn::Store(hn::ConcatUpperUpper(d, low23, low01), d, to + kGroupRows);
        hn::Store(hn::ConcatLowerLower(d, high23, high01), d, to + 2 * kGroupRows);
        hn::Store(hn::ConcatUpperUpper(d, high23, high01), d, to + 3 * kGroupRows);
      }
    }
    return;
  }
#endif
  for (int row = 0; row < kGroupRows; ++row) {
    for (int64_t j = 0; j < count; ++j) tile[j * kGroupRows + row] = rows[row * stride + j];
  }
}

void GroupScaled(const ScaledRows& from, int64_t dim, float* group, double* norms2) {
  const RowDoubles wide;
  const hn::Rebind<float, RowDoubles> narrow;
  std::fill(norms2, norms2 + kGroupRows, 0.0);
  HWY_ALIGN float tile[kRowTile * kGroupRows];
  for (int64_t first = 0; first < dim; first += kRowTile) {
    const int64_t count = std::min<int64_t>(kRowTile, dim - first);
    TurnFloats(from.rows + first, from.stride, count, tile);
    for (int lane = 0; lane < kGroupRows; lane += kRowLanes) {
      const auto scale = hn::LoadU(wide, from.scales + lane);
      const auto term =
          from.centre == nullptr ? hn::Zero(wide) : hn::LoadU(wide, from.terms + lane);
      auto norm2 = hn::LoadU(wide, norms2 + lane);
      for (int64_t j = 0; j < count; ++j) {
        const auto x = hn::PromoteTo(wide, hn::Load(narrow, tile + j * kGroupRows + lane));
        auto value = hn::Mul(scale, x);
        if (from.centre != nullptr) {
          value = hn::Add(hn::Mul(term, hn::Set(wide, from.centre[first + j])), value);
        }
        StoreLane(value, group + (first + j) * kGroupRows + lane, norm2);
      }
      hn::StoreU(norm2, wide, norms2 + lane);
    }
  }
}

void DoubleCodes(const uint8_t* signs, const uint8_t* values, int ex_bits, int64_t count,
                 float* out) {
  const hn::CappedTag<int32_t, 8> words;
  constexpr int kCodeLanes = hn::MaxLanes(hn::CappedTag<int32_t, 8>());
  const hn::Rebind<uint8_t, decltype(words)> bytes;
  const hn::Rebind<float, decltype(words)> floats;
  HWY_ALIGN static constexpr int32_t kBits[8] = {1, 2, 4, 8, 16, 32, 64, 128};
  const auto top = hn::Set(words, 2 << ex_bits);
  const auto bias = hn::Set(words, (2 << ex_bits) - 1);
  for (int64_t i = 0; i < count; i += 8) {
    const auto sign_bits = hn::Set(words, signs[i / 8]);
    for (int lane = 0; lane < 8; lane += kCodeLanes) {
      const auto is_set = hn::TestBit(sign_bits, hn::Load(words, kBits + lane));
      const auto value = hn::PromoteTo(words, hn::LoadU(bytes, values + i + lane));
      const auto code = hn::Add(hn::Add(value, value), hn::IfThenElseZero(is_set, top));
      hn::StoreU(hn::ConvertTo(floats, hn::Sub(code, bias)), floats, out + i + lane);
    }
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace kinjo::kernels
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
