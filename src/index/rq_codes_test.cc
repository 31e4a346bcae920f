#include "index/rq_codes.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

#include "index/rq_encoder.h"

namespace kinjo::index {
namespace {

std::vector<uint32_t> RandomCodes(int64_t count, int bits, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<uint32_t> codes(static_cast<size_t>(count));
  for (uint32_t& code : codes) code = static_cast<uint32_t>(random() >> (64 - bits));
  return codes;
}

// The tables name every bit of a block once.
TEST(RqCodes, TheTablesOfExCodesAreWhole) {
  for (int ex_bits = 1; ex_bits <= 8; ++ex_bits) {
    std::set<int64_t> places;
    for (int64_t i = 0; i < 64; ++i) {
      for (int64_t bit = 0; bit < ex_bits; ++bit) places.insert(ExBitPlace(ex_bits, i, bit));
    }
    EXPECT_EQ(places.size(), static_cast<size_t>(64 * ex_bits)) << ex_bits;
    EXPECT_EQ(*places.rbegin(), 64 * ex_bits - 1) << ex_bits;
  }
}

TEST(RqCodes, ReadsWhatTheTablesSay) {
  for (int ex_bits = 0; ex_bits <= 8; ++ex_bits) {
    for (const int64_t dim : {8, 24, 64, 72, 136}) {
      for (const int64_t num_rows : {1, 31, 32, 33, 79, 96}) {
        for (const bool packed : {true, false}) {
          SCOPED_TRACE(testing::Message() << ex_bits << " ex bits, width " << dim << ", "
                                          << num_rows << " rows" << (packed ? ", packed" : ""));
          const auto codes = RandomCodes(num_rows * dim, ex_bits + 1,
                                         static_cast<uint64_t>(dim * 1000 + num_rows));
          const auto signs = EncodeSigns(codes, dim, ex_bits, packed);
          const auto ex = EncodeExCodes(codes, dim, ex_bits);
          ASSERT_EQ(signs.size(), static_cast<size_t>(num_rows * dim / 8));
          const RqCodes stored{.signs = signs.data(),
                               .ex_codes = ex_bits == 0 ? nullptr : ex.data(),
                               .num_rows = num_rows,
                               .dim = dim,
                               .ex_bits = ex_bits,
                               .packed = packed};
          std::vector<float> doubled(static_cast<size_t>(RqRowRoom(dim)));
          for (int64_t row = 0; row < num_rows; ++row) {
            ReadRqRow(stored, row, doubled.data());
            for (int64_t i = 0; i < dim; ++i) {
              // Twice (code - (2^ex_bits - 1/2)).
              const int expected = 2 * static_cast<int>(codes[row * dim + i]) - (2 << ex_bits) + 1;
              ASSERT_EQ(doubled[i], static_cast<float>(expected)) << row << " " << i;
            }
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace kinjo::index
