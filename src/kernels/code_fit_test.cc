// The fit of whole steps against plain double, and the same bits at every level.
#include "kernels/code_fit.h"

#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "kernels/every_simd_level.h"

namespace kinjo::kernels {
namespace {

TEST(CodeFit, IsTheCosineAtEveryLevel) {
  std::mt19937 random(3);
  for (const int64_t dim : {8, 16, 40, 128}) {
    std::vector<float> elements;
    for (int64_t j = 0; j < dim; ++j) {
      elements.push_back(static_cast<float>(random() % 1000) / 1000.0f);
    }
    while (elements.size() % kFitLanes != 0) elements.push_back(-1.0f);
    const CodeFit fit{elements.data(), static_cast<int64_t>(elements.size()), 1e-5f, 7.0f};
    for (const float scale : {0.1f, 3.3f, 7.5f, 20.0f}) {
      double product = 0;
      double square = 0;
      for (int64_t j = 0; j < dim; ++j) {
        const float reach = elements[j] * scale + 1e-5f;
        const double code = std::min(std::floor(reach), 7.0f) + 0.5;
        product += elements[j] * code;
        square += code * code;
      }
      const double expected = product / std::sqrt(square);
      const double found = CodeCosine(fit, scale);
      EXPECT_NEAR(found, expected, 1e-5 * expected);
      ASSERT_TRUE(AtEverySimdLevel([&](const std::string& level) {
        EXPECT_EQ(CodeCosine(fit, scale), found) << level << " dim " << dim;
      }));
    }
  }
}

}  // namespace
}  // namespace kinjo::kernels
