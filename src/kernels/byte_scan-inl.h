// Bodies of byte_scan.h, for the levels that have those of code_scan-inl.h. A register tile is 8
// queries times 3 groups: 24 sums, as many as the block scan keeps.

#if defined(KINJO_KERNELS_BYTE_SCAN_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef KINJO_KERNELS_BYTE_SCAN_INL_H_
#undef KINJO_KERNELS_BYTE_SCAN_INL_H_
#else
#define KINJO_KERNELS_BYTE_SCAN_INL_H_
#endif

#include <cstdint>
#include <cstring>
#include <limits>

#include "hwy/highway.h"
#include "kernels/byte_scan.h"
#include "kernels/code_scan-inl.h"

#if KINJO_KERNELS_HAVE_CODES
HWY_BEFORE_NAMESPACE();
namespace kinjo::kernels {
namespace HWY_NAMESPACE {
namespace {

// Words of four elements of 16 rows: [step][row]. Padding bytes are 128, so that k is 0 there.
HWY_INLINE void TurnWords(const uint8_t* const* rows, int64_t dim, int32_t* words) {
  const hn::FixedTag<uint32_t, 4> d;
  int64_t j = 0;
  for (; j + 16 <= dim; j += 16) {
    for (int quad = 0; quad < kGroupRows; quad += 4) {
      const auto row0 =
          hn::BitCast(d, hn::LoadU(hn::Repartition<uint8_t, decltype(d)>(), rows[quad] + j));
      const auto row1 =
          hn::BitCast(d, hn::LoadU(hn::Repartition<uint8_t, decltype(d)>(), rows[quad + 1] + j));
      const auto row2 =
          hn::BitCast(d, hn::LoadU(hn::Repartition<uint8_t, decltype(d)>(), rows[quad + 2] + j));
      const auto row3 =
          hn::BitCast(d, hn::LoadU(hn::Repartition<uint8_t, decltype(d)>(), rows[quad + 3] + j));
      const auto low01 = hn::InterleaveLower(d, row0, row1);
      const auto low23 = hn::InterleaveLower(d, row2, row3);
      const auto high01 = hn::InterleaveUpper(d, row0, row1);
      const auto high23 = hn::InterleaveUpper(d, row2, row3);
      auto* to = reinterpret_cast<uint32_t*>(words) + j / 4 * kGroupRows + quad;
      hn::Store(hn::ConcatLowerLower(d, low23, low01), d, to);
      hn::Store(hn::ConcatUpperUpper(d, low23, low01), d, to + kGroupRows);
      hn::Store(hn::ConcatLowerLower(d, high23, high01), d, to + 2 * kGroupRows);
      hn::Store(hn::ConcatUpperUpper(d, high23, high01), d, to + 3 * kGroupRows);
    }
  }
  for (; j < dim; j += 4) {
    const int64_t count = dim - j < 4 ? dim - j : 4;
    for (int row = 0; row < kGroupRows; ++row) {
      uint32_t word = 0x80808080u;
      for (int64_t i = 0; i < count; ++i) {
        const int shift = static_cast<int>(8 * i);
        word = (word & ~(255u << shift)) | static_cast<uint32_t>(rows[row][j + i]) << shift;
      }
      words[j / 4 * kGroupRows + row] = static_cast<int32_t>(word);
    }
  }
}

void GroupRowsOfBytes(const uint8_t* const* rows, int64_t dim, int32_t* words, int32_t* norms2) {
  const Ints ints;
  TurnWords(rows, dim, words);
  const IntVec flip = hn::Set(ints, static_cast<int32_t>(0x80808080u));
  const IntVec ones = hn::Set(ints, 0x01010101);
  IntVec products = hn::Zero(ints);  // of k + 128 and k
  IntVec sums = hn::Zero(ints);      // of k
  for (int64_t step = 0; step < CodeSteps(dim); ++step) {
    const IntVec row = hn::Load(ints, words + step * kGroupRows);
    const IntVec k = hn::Xor(row, flip);
    AddByteProducts(products, row, k);
    AddByteProducts(sums, ones, k);
  }
  hn::Store(hn::Sub(products, hn::ShiftLeft<7>(sums)), ints, norms2);
}

// The sum and the squared norm of v = query - 128.
void SumQueryBytes(const uint8_t* bytes, int64_t dim, int32_t* sum, int32_t* norm2) {
  const Ints ints;
  const auto lanes = static_cast<int64_t>(4 * hn::Lanes(ints));
  const IntVec flip = hn::Set(ints, static_cast<int32_t>(0x80808080u));
  const IntVec ones = hn::Set(ints, 0x01010101);
  IntVec products = hn::Zero(ints);  // of v + 128 and v
  IntVec sums = hn::Zero(ints);      // of v
  for (int64_t j = 0; j < dim; j += lanes) {
    alignas(64) uint8_t tail[64];
    const uint8_t* from = bytes + j;
    if (dim - j < lanes) {
      std::memset(tail, 128, sizeof(tail));
      std::memcpy(tail, from, static_cast<size_t>(dim - j));
      from = tail;
    }
    const IntVec query = hn::BitCast(ints, hn::LoadU(hn::Repartition<uint8_t, Ints>(), from));
    const IntVec v = hn::Xor(query, flip);
    AddByteProducts(products, query, v);
    AddByteProducts(sums, ones, v);
  }
  *sum = hn::GetLane(hn::SumOfLanes(ints, sums));
  *norm2 = hn::GetLane(hn::SumOfLanes(ints, products)) - 128 * *sum;
}

// Writes those of one query's values that are within the limit. Out of line, so that the sums of a
// register tile stay in registers.
template <int kG>
HWY_NOINLINE ByteHit* EmitBytes(const int32_t* values, int32_t limit, int32_t norm2, uint32_t query,
                                uint32_t first_row, ByteHit* hits) {
  const Ints ints;
  for (int g = 0; g < kG; ++g) {
    const int at = g * static_cast<int>(kGroupRows);
    const auto beyond = hn::Gt(hn::Load(ints, values + at), hn::Set(ints, limit));
    uint8_t bytes[8] = {};
    hn::StoreMaskBits(ints, hn::Not(beyond), bytes);
    uint32_t bits = bytes[0] | static_cast<uint32_t>(bytes[1]) << 8;
    for (; bits != 0; bits &= bits - 1) {
      const int slot = at + __builtin_ctz(bits);
      *hits++ = {query, first_row + static_cast<uint32_t>(slot), values[slot] + norm2};
    }
  }
  return hits;
}

struct KeepByteHits {
  const PackedBytes* queries;
  ByteHit* hits;

  template <int kG>
  HWY_INLINE void Finish(const IntVec (&value)[kG], int64_t query, int64_t group) {
    const Ints ints;
    const int32_t limit = queries->limits()[query];
    const IntVec limits = hn::Set(ints, limit);
    auto beyond = hn::Gt(value[0], limits);
    for (int g = 1; g < kG; ++g) beyond = hn::And(beyond, hn::Gt(value[g], limits));
    if (HWY_LIKELY(hn::AllTrue(ints, beyond))) return;
    alignas(64) int32_t spilled[kG * kGroupRows];
    for (int g = 0; g < kG; ++g) hn::Store(value[g], ints, spilled + g * kGroupRows);
    hits = EmitBytes<kG>(spilled, limit, queries->norms2()[query], static_cast<uint32_t>(query),
                         static_cast<uint32_t>(group * kGroupRows), hits);
  }
};

struct KeepLeastBytes {
  const PackedBytes* queries;
  int32_t* minima;
  int64_t sets;
  int64_t first_group;

  template <int kG>
  HWY_INLINE void Finish(const IntVec (&value)[kG], int64_t query, int64_t group) {
    if (query >= queries->num_queries()) return;
    const Ints ints;
    int32_t* of_query = minima + query * sets * kGroupRows;
    int64_t set = (group - first_group) % sets;
    for (int g = 0; g < kG; ++g) {
      int32_t* to = of_query + set * kGroupRows;
      hn::StoreU(hn::Min(hn::LoadU(ints, to), value[g]), ints, to);
      if (++set == sets) set = 0;
    }
  }
};

// |k|^2 - 2 k.v of kQ queries and kG groups.
template <int kQ, int kG>
HWY_INLINE void ScoreByteTile(const ByteScan& scan, int64_t query, int64_t group,
                              IntVec (&value)[kQ][kG]) {
  const Ints ints;
  const int64_t steps = CodeSteps(scan.rows->dim());
  const int64_t group_words = steps * kGroupRows;
  const int32_t* HWY_RESTRICT packed = scan.queries->words() + query * steps;
  const int32_t* HWY_RESTRICT rows = scan.rows->words() + group * group_words;
  const int32_t* HWY_RESTRICT starts = scan.queries->starts() + query;
  const int32_t* HWY_RESTRICT norms2 = scan.rows->norms2() + group * kGroupRows;
  IntVec sum[kQ][kG];
  for (int q = 0; q < kQ; ++q) {
    for (int g = 0; g < kG; ++g) sum[q][g] = hn::Set(ints, starts[q]);
  }
  for (int64_t step = 0; step < steps; ++step) {
    IntVec row[kG];
    for (int g = 0; g < kG; ++g) {
      row[g] = hn::Load(ints, rows + g * group_words + step * kGroupRows);
    }
    for (int q = 0; q < kQ; ++q) {
      const IntVec element = hn::Set(ints, packed[step * kByteTile + q]);
      for (int g = 0; g < kG; ++g) AddByteProducts(sum[q][g], row[g], element);
    }
  }
  for (int g = 0; g < kG; ++g) {
    const IntVec norm2 = hn::Load(ints, norms2 + g * kGroupRows);
    for (int q = 0; q < kQ; ++q) value[q][g] = hn::Sub(norm2, hn::ShiftLeft<1>(sum[q][g]));
  }
}

template <int kQ, int kG, class Epilogue>
HWY_INLINE void ByteTile(const ByteScan& scan, int64_t query, int64_t group, Epilogue& epilogue) {
  IntVec value[kQ][kG];
  ScoreByteTile<kQ, kG>(scan, query, group, value);
  for (int q = 0; q < kQ; ++q) epilogue.template Finish<kG>(value[q], query + q, group);
}

template <int kQ, class Epilogue>
HWY_NOINLINE void ByteTiles(const ByteScan& scan, int64_t first_tile, int64_t end_tile,
                            Epilogue& epilogue) {
  const int64_t end = scan.first_group + scan.num_groups;
  int64_t group = scan.first_group;
  for (; group + 3 <= end; group += 3) {
    for (int64_t tile = first_tile; tile < end_tile; ++tile) {
      ByteTile<kQ, 3>(scan, tile * kByteTile, group, epilogue);
    }
  }
  for (; group < end; ++group) {
    for (int64_t tile = first_tile; tile < end_tile; ++tile) {
      ByteTile<kQ, 1>(scan, tile * kByteTile, group, epilogue);
    }
  }
}

template <class Epilogue>
HWY_INLINE void ScanAllBytes(const ByteScan& scan, Epilogue& epilogue) {
  const int64_t full = scan.queries->num_queries() / kByteTile;
  const int64_t rest = scan.queries->num_queries() % kByteTile;
  if (full > 0) ByteTiles<8>(scan, 0, full, epilogue);
  if (rest == 1) return ByteTiles<1>(scan, full, full + 1, epilogue);
  if (rest == 2) return ByteTiles<2>(scan, full, full + 1, epilogue);
  if (rest == 3 || rest == 4) return ByteTiles<4>(scan, full, full + 1, epilogue);
  if (rest > 0) ByteTiles<8>(scan, full, full + 1, epilogue);
}

int64_t ScanBytes(const ByteScan& scan, ByteHit* hits) {
  KeepByteHits keep{scan.queries, hits};
  ScanAllBytes(scan, keep);
  return keep.hits - hits;
}

void LeastBytes(const ByteScan& scan, int64_t sets, int32_t* minima) {
  const Ints ints;
  const int64_t classes = sets * kGroupRows;
  const int64_t num_queries = scan.queries->num_queries();
  const IntVec none = hn::Set(ints, std::numeric_limits<int32_t>::max());
  for (int64_t i = 0; i < num_queries * classes; i += kGroupRows)
    hn::StoreU(none, ints, minima + i);
  KeepLeastBytes keep{scan.queries, minima, sets, scan.first_group};
  ScanAllBytes(scan, keep);
  // |k|^2 - 2 k.v so far, but where there is no row.
  for (int64_t query = 0; query < num_queries; ++query) {
    const IntVec norm2 = hn::Set(ints, scan.queries->norms2()[query]);
    for (int64_t i = 0; i < classes; i += kGroupRows) {
      int32_t* to = minima + query * classes + i;
      const IntVec value = hn::LoadU(ints, to);
      hn::StoreU(hn::IfThenElse(hn::Eq(value, none), none, hn::Add(value, norm2)), ints, to);
    }
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace kinjo::kernels
HWY_AFTER_NAMESPACE();
#endif  // KINJO_KERNELS_HAVE_CODES

#endif  // per-target include guard
