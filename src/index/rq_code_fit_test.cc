// Codes of RaBitQ rows: how near their direction is to the best there is, and their bytes against
// the tables of the format written bit by bit.
#include "index/rq_code_fit.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "index/rq_encoder.h"

namespace kinjo::index {
namespace {

std::vector<float> Magnitudes(int64_t dim, uint32_t seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  std::vector<double> values;
  double norm2 = 0;
  for (int64_t j = 0; j < dim; ++j) {
    values.push_back(std::abs(normal(random)));
    norm2 += values.back() * values.back();
  }
  std::vector<float> magnitudes;
  for (const double value : values) {
    magnitudes.push_back(static_cast<float>(value / std::sqrt(norm2)));
  }
  return magnitudes;
}

double Cosine(const std::vector<float>& magnitudes, const std::vector<uint8_t>& codes) {
  double product = 0;
  double norm2 = 0;
  for (size_t j = 0; j < codes.size(); ++j) {
    product += magnitudes[j] * (codes[j] + 0.5);
    norm2 += (codes[j] + 0.5) * (codes[j] + 0.5);
  }
  return product / std::sqrt(norm2);
}

// The best over every step size at which some element changes its code.
double BestCosine(const std::vector<float>& magnitudes, int ex_bits) {
  const int most = (1 << ex_bits) - 1;
  double best = 0;
  for (const float magnitude : magnitudes) {
    for (int step = 1; step <= most; ++step) {
      const double scale = step / static_cast<double>(magnitude) * (1 + 1e-12);
      std::vector<uint8_t> codes;
      for (const float other : magnitudes) {
        codes.push_back(static_cast<uint8_t>(std::min<double>(scale * other, most)));
      }
      best = std::max(best, Cosine(magnitudes, codes));
    }
  }
  return best;
}

TEST(RqCodeFit, IsNearlyTheBestCode) {
  for (const int64_t dim : {24, 64, 128}) {
    for (int ex_bits = 1; ex_bits <= 6; ++ex_bits) {
      double lost = 0;
      for (uint32_t seed = 0; seed < 20; ++seed) {
        const std::vector<float> magnitudes = Magnitudes(dim, seed);
        std::vector<uint8_t> codes(static_cast<size_t>(dim));
        FitRqCode(magnitudes.data(), dim, ex_bits, codes.data());
        for (const uint8_t code : codes) ASSERT_LT(code, 1 << ex_bits);
        const double best = BestCosine(magnitudes, ex_bits);
        lost += (best - Cosine(magnitudes, codes)) / (1 - best) / 20;
      }
      // Of the angle that the best code leaves.
      EXPECT_LT(lost, 0.04) << "dim " << dim << " ex_bits " << ex_bits;
    }
  }
}

TEST(RqCodeFit, NoMagnitudeIsNoCode) {
  const std::vector<float> magnitudes(16, 0.0f);
  std::vector<uint8_t> codes(16, 9);
  FitRqCode(magnitudes.data(), 16, 4, codes.data());
  EXPECT_EQ(codes, std::vector<uint8_t>(16, 0));
}

TEST(RqCodeFit, BytesAreThoseOfTheFormat) {
  std::mt19937 random(4);
  for (const int64_t dim : {8, 24, 64, 72, 128, 200}) {
    for (int ex_bits = 1; ex_bits <= 8; ++ex_bits) {
      std::vector<uint32_t> codes;
      std::vector<uint8_t> low;
      for (int64_t j = 0; j < dim; ++j) {
        codes.push_back(random() & ((1u << (ex_bits + 1)) - 1));
        low.push_back(static_cast<uint8_t>(codes.back() & ((1u << ex_bits) - 1)));
      }
      const std::vector<uint8_t> expected = EncodeExCodes(codes, dim, ex_bits);
      std::vector<uint8_t> packed(expected.size(), 0xA5);
      PackRqExCodes(low.data(), dim, ex_bits, packed.data());
      EXPECT_EQ(packed, expected) << "dim " << dim << " ex_bits " << ex_bits;
    }
  }
}

TEST(RqCodeFit, SignsArePermutedAsTheFormatHasThem) {
  std::mt19937 random(5);
  const int64_t dim = 24;
  for (const int64_t num_rows : {1, 31, 32, 33, 100}) {
    std::vector<uint32_t> codes;
    for (int64_t i = 0; i < num_rows * dim; ++i) codes.push_back(random() & 1);
    const std::vector<uint8_t> plain = EncodeSigns(codes, dim, 0, false);
    // As records hold them: other bytes between.
    std::vector<uint8_t> records(static_cast<size_t>(num_rows * 7), 0xEE);
    for (int64_t i = 0; i < num_rows; ++i) {
      std::copy_n(plain.begin() + i * 3, 3, records.begin() + i * 7);
    }
    std::vector<uint8_t> packed(plain.size());
    PackRqSigns(records.data(), 7, num_rows, 3, packed.data());
    EXPECT_EQ(packed, EncodeSigns(codes, dim, 0, true)) << num_rows;
  }
}

}  // namespace
}  // namespace kinjo::index
