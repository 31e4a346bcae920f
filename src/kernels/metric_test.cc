#include "kernels/metric.h"

#include "gtest/gtest.h"

namespace kinjo::kernels {
namespace {

TEST(Metric, NamesAreReadBack) {
  for (const Metric metric : {Metric::kL2, Metric::kCosine, Metric::kDot, Metric::kHamming}) {
    EXPECT_EQ(ParseMetric(MetricName(metric)), metric);
  }
}

TEST(Metric, CaseIsIgnoredAndOtherTextRefused) {
  EXPECT_EQ(ParseMetric("Cosine"), Metric::kCosine);
  EXPECT_EQ(ParseMetric("EUCLIDEAN"), Metric::kL2);
  EXPECT_EQ(ParseMetric(""), std::nullopt);
  EXPECT_EQ(ParseMetric("l2 "), std::nullopt);
  EXPECT_EQ(ParseMetric("l"), std::nullopt);
}

}  // namespace
}  // namespace kinjo::kernels
