#include "kernels/canonical_distance.h"

#include <bit>
#include <random>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "kernels/block_scan.h"
#include "kernels/every_simd_level.h"

namespace kinjo::kernels {
namespace {

// The contract in the plainest words: eight lanes and the tree.
template <class A, class B, class Term>
double Reference(const A* a, const B* b, int64_t dim, Term term) {
  double lane[8] = {};
  for (int64_t j = 0; j < dim; ++j) {
    const double added = term(static_cast<double>(a[j]), static_cast<double>(b[j]));
    lane[j % 8] = lane[j % 8] + added;
  }
  return ((lane[0] + lane[4]) + (lane[2] + lane[6])) + ((lane[1] + lane[5]) + (lane[3] + lane[7]));
}
double Squared(double a, double b) {
  const double difference = a - b;
  return difference * difference;
}
double Product(double a, double b) { return a * b; }

uint64_t Bits(double value) { return std::bit_cast<uint64_t>(value); }

template <class T>
std::vector<T> Random(std::mt19937_64& random, int64_t size, double offset, double scale) {
  std::normal_distribution<double> normal(0, 1);
  std::vector<T> values(size);
  for (T& value : values) value = static_cast<T>(offset + scale * normal(random));
  return values;
}

template <class A, class B>
void ExpectSameBits(std::mt19937_64& random, int64_t dim, double offset, double scale) {
  const std::vector<A> a = Random<A>(random, dim, offset, scale);
  const std::vector<B> b = Random<B>(random, dim, offset, scale);
  EXPECT_EQ(Bits(CanonicalL2(a.data(), b.data(), dim)),
            Bits(Reference(a.data(), b.data(), dim, Squared)))
      << dim;
  EXPECT_EQ(Bits(CanonicalDot(a.data(), b.data(), dim)),
            Bits(Reference(a.data(), b.data(), dim, Product)))
      << dim;
}

TEST(CanonicalDistance, SameBitsAsThePlainLanesAtEveryLevelAndWidth) {
  EXPECT_TRUE(AtEverySimdLevel([](const std::string& level) {
    SCOPED_TRACE(level);
    std::mt19937_64 random(7);
    for (int64_t dim = 0; dim <= 131; ++dim) {
      ExpectSameBits<float, float>(random, dim, 0, 1);
      ExpectSameBits<double, float>(random, dim, 1e6, 1);
      ExpectSameBits<double, double>(random, dim, 0, 1e200);
    }
    for (const int64_t dim : {768, 1000, 1536, 4096, 5001}) {
      ExpectSameBits<float, float>(random, dim, 3, 1e30);
      ExpectSameBits<float, float>(random, dim, 0, 1e-42);
    }
  }));
}

// Products that need more than 53 bits tell a fused multiply-add from two roundings.
TEST(CanonicalDistance, ProductsAreRoundedBeforeTheyAreAdded) {
  const std::vector<double> a(16, 1.0 + 0x1p-30);
  EXPECT_TRUE(AtEverySimdLevel([&](const std::string& level) {
    SCOPED_TRACE(level);
    const double square = (1.0 + 0x1p-30) * (1.0 + 0x1p-30);
    EXPECT_EQ(Bits(CanonicalDot(a.data(), a.data(), 16)), Bits(16 * square));
  }));
}

TEST(CanonicalDistance, NegativeZeroTermsInATailMakeNoNegativeZero) {
  const std::vector<float> a = {-1.0f, -2.0f, -3.0f};
  const std::vector<float> zero(3, 0.0f);
  EXPECT_TRUE(AtEverySimdLevel([&](const std::string& level) {
    SCOPED_TRACE(level);
    EXPECT_EQ(Bits(CanonicalDot(a.data(), zero.data(), 3)), Bits(0.0));
  }));
}

TEST(CanonicalDistance, HitsAreTheSingleDistances) {
  constexpr int64_t kDim = 37;
  std::mt19937_64 random(3);
  const std::vector<float> queries = Random<float>(random, 5 * kDim, 0, 1);
  const std::vector<double> exact(queries.begin(), queries.end());
  const std::vector<float> rows = Random<float>(random, 9 * kDim, 0, 1);
  const std::vector<Hit> hits = {{4, 8}, {0, 0}, {2, 7}, {4, 0}};
  EXPECT_TRUE(AtEverySimdLevel([&](const std::string& level) {
    SCOPED_TRACE(level);
    std::vector<double> l2(hits.size()), l2_double(hits.size()), dot(hits.size()),
        dot_double(hits.size());
    const int64_t count = static_cast<int64_t>(hits.size());
    CanonicalL2Hits(queries.data(), rows.data(), kDim, hits.data(), count, l2.data());
    CanonicalL2Hits(exact.data(), rows.data(), kDim, hits.data(), count, l2_double.data());
    CanonicalDotHits(queries.data(), rows.data(), kDim, hits.data(), count, dot.data());
    CanonicalDotHits(exact.data(), rows.data(), kDim, hits.data(), count, dot_double.data());
    for (size_t i = 0; i < hits.size(); ++i) {
      const float* query = queries.data() + hits[i].query * kDim;
      const float* row = rows.data() + hits[i].row * kDim;
      EXPECT_EQ(Bits(l2[i]), Bits(CanonicalL2(query, row, kDim)));
      EXPECT_EQ(Bits(l2_double[i]), Bits(l2[i]));
      EXPECT_EQ(Bits(dot[i]), Bits(CanonicalDot(query, row, kDim)));
      EXPECT_EQ(Bits(dot_double[i]), Bits(dot[i]));
    }
  }));
}

TEST(CanonicalDistance, OfAResidualIsThatOfTheDifference) {
  EXPECT_TRUE(AtEverySimdLevel([](const std::string& level) {
    SCOPED_TRACE(level);
    std::mt19937_64 random(13);
    for (int64_t dim = 0; dim <= 70; ++dim) {
      const std::vector<double> query = Random<double>(random, dim, 1e3, 1);
      const std::vector<float> centre = Random<float>(random, dim, 1e3, 1);
      const std::vector<float> row = Random<float>(random, dim, 0, 1);
      std::vector<double> residual = query;
      for (int64_t j = 0; j < dim; ++j) residual[j] -= static_cast<double>(centre[j]);
      EXPECT_EQ(Bits(CanonicalL2OfResidual(query.data(), centre.data(), row.data(), dim)),
                Bits(Reference(residual.data(), row.data(), dim, Squared)))
          << dim;
    }
  }));
}

TEST(HammingDistance, CountsDifferingBitsAtEveryLevelAndWidth) {
  EXPECT_TRUE(AtEverySimdLevel([](const std::string& level) {
    SCOPED_TRACE(level);
    std::mt19937_64 random(11);
    for (int64_t bytes = 0; bytes <= 300; ++bytes) {
      std::vector<uint8_t> a(bytes), b(bytes);
      int64_t expected = 0;
      for (int64_t j = 0; j < bytes; ++j) {
        a[j] = static_cast<uint8_t>(random());
        b[j] = static_cast<uint8_t>(random());
        expected += std::popcount(static_cast<uint8_t>(a[j] ^ b[j]));
      }
      EXPECT_EQ(HammingDistance(a.data(), b.data(), bytes), expected) << bytes;
    }
    const std::vector<uint8_t> ones(1 << 20, 0xff), zeros(1 << 20, 0);
    EXPECT_EQ(HammingDistance(ones.data(), zeros.data(), 1 << 20), 8 << 20);
  }));
}

}  // namespace
}  // namespace kinjo::kernels
