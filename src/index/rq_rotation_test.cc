#include "index/rq_rotation.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <random>
#include "kernels/every_simd_level.h"
#include "kernels/rotate_rows.h"

namespace kinjo::index {
namespace {

using Matrix = std::vector<std::vector<double>>;  // rows

Matrix Multiply(const Matrix& a, const Matrix& b) {
  Matrix product(a.size(), std::vector<double>(b[0].size()));
  for (size_t i = 0; i < a.size(); ++i) {
    for (size_t j = 0; j < b[0].size(); ++j) {
      for (size_t k = 0; k < b.size(); ++k) product[i][j] += a[i][k] * b[k][j];
    }
  }
  return product;
}

Matrix Identity(size_t dim) {
  Matrix matrix(dim, std::vector<double>(dim));
  for (size_t i = 0; i < dim; ++i) matrix[i][i] = 1;
  return matrix;
}

// The rounds as matrices: flips, Hadamard's matrix by its signs, the mixing of halves.
Matrix RoundsAsMatrix(const std::vector<uint8_t>& signs, size_t dim) {
  const size_t span = std::bit_floor(dim);
  const size_t sign_bytes = (dim + 7) / 8;
  Matrix all = Identity(dim);
  for (size_t round = 0; round < 4; ++round) {
    Matrix flips = Identity(dim);
    for (size_t i = 0; i < dim; ++i) {
      if ((signs[round * sign_bytes + i / 8] >> (i % 8) & 1) != 0) flips[i][i] = -1;
    }
    Matrix hadamard = Identity(dim);
    const size_t first = round % 2 == 0 ? 0 : dim - span;
    for (size_t i = 0; i < span; ++i) {
      for (size_t j = 0; j < span; ++j) {
        const double sign = std::popcount(i & j) % 2 == 0 ? 1 : -1;
        hadamard[first + i][first + j] = sign / std::sqrt(static_cast<double>(span));
      }
    }
    Matrix mixing = Identity(dim);
    for (size_t i = 0; span != dim && i < dim / 2; ++i) {
      mixing[i][i + dim / 2] = 1;
      mixing[i + dim / 2][i] = 1;
      mixing[i + dim / 2][i + dim / 2] = -1;
    }
    all = Multiply(mixing, Multiply(hadamard, Multiply(flips, all)));
  }
  for (auto& row : all) {
    for (double& value : row) value *= span == dim ? 1 : 0.25;
  }
  return all;
}

std::vector<double> Apply(const format::RqModel& model, const std::vector<double>& x) {
  const RqRotation rotation(model, static_cast<int64_t>(x.size()));
  EXPECT_TRUE(rotation.is_finite());
  std::vector<double> out(x.size());
  rotation.Apply(x.data(), out.data());
  return out;
}

std::vector<double> CountUp(size_t dim) {
  std::vector<double> x(dim);
  for (size_t i = 0; i < dim; ++i) x[i] = static_cast<double>(i + 1);
  return x;
}

void ExpectNear(const std::vector<double>& values, const std::vector<double>& expected,
                double tolerance) {
  for (size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(values[i], expected[i], tolerance) << i;
}

// Values that Lance's own rotation gives.
TEST(RqRotation, FastEqualsLance) {
  ExpectNear(Apply({.signs = {0x05, 0x02, 0x09, 0x00}}, CountUp(4)), {-4, -3, 2, 1}, 1e-14);
  ExpectNear(Apply({.signs = {0x05, 0x12, 0x81, 0x3C}}, CountUp(8)), {4, 1, 2, -3, 6, 7, -8, 5},
             1e-6);
  format::RqModel model;
  for (uint8_t sign = 1; sign <= 12; ++sign) model.signs.push_back(sign);
  ExpectNear(Apply(model, CountUp(24)),
             {-6.390625, 5.328125, -24.671875, -2.171875, 5.453125, -6.828125}, 1e-12);
}

TEST(RqRotation, FastIsTheOrthogonalMatrixOfItsRounds) {
  std::mt19937_64 random(3);
  std::normal_distribution<double> normal;
  for (const size_t dim : {8, 24, 32, 64, 72, 96, 200}) {
    format::RqModel model;
    for (size_t i = 0; i < 4 * dim / 8; ++i) model.signs.push_back(static_cast<uint8_t>(random()));
    const Matrix matrix = RoundsAsMatrix(model.signs, dim);
    std::vector<double> x(dim);
    for (double& value : x) value = normal(random);
    std::vector<double> expected(dim);
    double norm2 = 0, rotated2 = 0;
    for (size_t i = 0; i < dim; ++i) {
      for (size_t j = 0; j < dim; ++j) expected[i] += matrix[i][j] * x[j];
    }
    const std::vector<double> rotated = Apply(model, x);
    ExpectNear(rotated, expected, 1e-12);
    for (size_t i = 0; i < dim; ++i) {
      norm2 += x[i] * x[i];
      rotated2 += rotated[i] * rotated[i];
    }
    EXPECT_NEAR(rotated2, norm2, 1e-10 * norm2) << dim;
  }
}

template <typename T>
format::Tensor MakeMatrix(format::ElementType type, const std::vector<T>& values, uint64_t dim) {
  std::string bytes(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
  return {
      .type = type, .rows = dim, .cols = dim, .data = arrow::Buffer::FromString(std::move(bytes))};
}

TEST(RqRotation, AMatrixIsMultipliedRowByRow) {
  using format::ElementType;
  const std::vector<double> x = {1, 10};
  const std::vector<double> expected = {21, 43};  // of the rows (1, 2) and (3, 4)
  EXPECT_EQ(Apply({.matrix = MakeMatrix<double>(ElementType::kFloat64, {1, 2, 3, 4}, 2)}, x),
            expected);
  EXPECT_EQ(Apply({.matrix = MakeMatrix<float>(ElementType::kFloat32, {1, 2, 3, 4}, 2)}, x),
            expected);
  EXPECT_EQ(Apply({.matrix = MakeMatrix<uint16_t>(ElementType::kFloat16,
                                                  {0x3C00, 0x4000, 0x4200, 0x4400}, 2)},
                  x),
            expected);
  const format::RqModel odd{
      .matrix = MakeMatrix<float>(ElementType::kFloat32, {1, 2, std::nanf(""), 4}, 2)};
  EXPECT_FALSE(RqRotation(odd, 2).is_finite());
}

// Eight different vectors at once, each the same bits as alone.
void ExpectRowsAsAlone(const format::RqModel& model, int64_t dim) {
  constexpr int64_t kRows = kernels::kRotatedRows;
  const RqRotation rotation(model, dim);
  std::mt19937_64 random(9);
  std::normal_distribution<double> normal;
  std::vector<double> rows(static_cast<size_t>(dim * kRows));
  for (double& value : rows) value = normal(random);
  ASSERT_TRUE(kernels::AtEverySimdLevel([&](const std::string& level) {
    std::vector<double> turned = rows;
    rotation.ApplyToRows(turned.data());
    for (int64_t row = 0; row < kRows; ++row) {
      std::vector<double> in, out(static_cast<size_t>(dim)), found;
      for (int64_t j = 0; j < dim; ++j) {
        in.push_back(rows[j * kRows + row]);
        found.push_back(turned[j * kRows + row]);
      }
      rotation.Apply(in.data(), out.data());
      EXPECT_EQ(found, out) << level << " dim " << dim << " row " << row;
    }
  }));
}

TEST(RqRotation, RowsTogetherAreTurnedAsAlone) {
  for (const int64_t dim : {8, 24, 64, 96, 200}) {
    format::RqModel model;
    for (int64_t i = 0; i < 4 * dim / 8; ++i) model.signs.push_back(static_cast<uint8_t>(37 * i));
    ExpectRowsAsAlone(model, dim);
  }
  const std::vector<float> matrix = {1, 2, 3, 4, 5, 6, 7, 8, 9};
  ExpectRowsAsAlone({.matrix = MakeMatrix(format::ElementType::kFloat32, matrix, 3)}, 3);
}

}  // namespace
}  // namespace kinjo::index
