// What is refused before training, what is given instead of trained, and models of samples that
// have little or nothing to say.
#include "index/model_trainer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "base/assert_result.h"
#include "index/elements.h"

namespace kinjo::index {
namespace {

using format::ElementType;
using kernels::Metric;
using testing::HasSubstr;

constexpr int64_t kDim = 8;

std::vector<float> Rows(int64_t count, uint32_t seed = 1) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  std::vector<float> rows;
  for (int64_t i = 0; i < count * kDim; ++i) rows.push_back(normal(random));
  return rows;
}

ColumnVectors Column(const std::vector<float>& rows) {
  return {.data = reinterpret_cast<const uint8_t*>(rows.data()),
          .num_rows = static_cast<int64_t>(rows.size()) / kDim,
          .dim = kDim};
}

arrow::Result<TrainedModel> Train(const std::vector<float>& rows, const TrainingOptions& options) {
  base::ThreadPool pool(2);
  return TrainModel(Column(rows), options, {.pool = &pool, .cancel = {}, .progress = {}});
}

TEST(ModelTrainer, RefusesByNameValueAndBound) {
  struct Case {
    TrainingOptions options;
    ElementType type;
    const char* message;
  };
  const auto pq = [](int64_t sub_vectors, int bits) {
    return TrainingOptions{
        .index_type = "IVF_PQ", .num_sub_vectors = sub_vectors, .num_bits = bits};
  };
  TrainingOptions given = pq(2, 8);
  given.centroids =
      format::Tensor{.type = ElementType::kFloat32, .rows = 2, .cols = kDim, .data = {}};
  TrainingOptions stray{.index_type = "IVF_SQ"};
  stray.codebook = given.centroids;
  for (const Case& tested : {
           Case{{.index_type = "IVF_NONE"}, ElementType::kFloat32, "type is 'IVF_NONE'"},
           Case{{.num_partitions = 0}, ElementType::kFloat32, "num_partitions must be 1 to"},
           Case{{.sample_rate = 0}, ElementType::kFloat32, "sample_rate = 0"},
           Case{pq(3, 8), ElementType::kFloat32, "num_sub_vectors must divide the 8 elements"},
           Case{pq(0, 8), ElementType::kFloat32, "not be 0"},
           Case{pq(2, 5), ElementType::kFloat32, "num_bits must be 8 or 4 for PQ, not 5"},
           Case{pq(1, 4), ElementType::kFloat32, "num_sub_vectors must be even"},
           Case{{.index_type = "IVF_SQ", .num_bits = 4}, ElementType::kFloat32, "8 for SQ, not 4"},
           Case{{.index_type = "IVF_RQ", .num_bits = 10}, ElementType::kFloat32, "1 to 9 for RQ"},
           Case{given, ElementType::kFloat32, "centroids has 2 rows of 8 float32; 1 of 8"},
           Case{stray, ElementType::kFloat32, "codebook is for PQ"},
           Case{{.metric = Metric::kHamming}, ElementType::kFloat32, "uint8 vectors are indexed"},
           Case{{.metric = Metric::kL2}, ElementType::kUint8, "isn't built"},
       }) {
    const arrow::Status status = CheckTrainingOptions(tested.options, tested.type, kDim);
    EXPECT_THAT(base::MessageOf(status), HasSubstr(tested.message));
  }
  EXPECT_FALSE(CheckTrainingOptions({.index_type = "IVF_RQ"}, ElementType::kFloat32, 12).ok());
  EXPECT_TRUE(CheckTrainingOptions(pq(4, 4), ElementType::kFloat16, kDim).ok());
  EXPECT_TRUE(CheckTrainingOptions({.metric = Metric::kHamming}, ElementType::kUint8, 5).ok());
}

TEST(ModelTrainer, AsksForRowsThatAreNeeded) {
  TrainingOptions options{.num_partitions = 1000};
  EXPECT_EQ(TrainingRows(options, 1000000), 256000);
  EXPECT_EQ(TrainingRows(options, 100), 100);
  options.num_partitions = 10;
  EXPECT_EQ(TrainingRows(options, 1000000), 65536);
  options.index_type = "IVF_PQ";
  options.centroids = format::Tensor{};
  EXPECT_EQ(TrainingRows(options, 1000000), 65536);
  options.num_bits = 4;
  EXPECT_EQ(TrainingRows(options, 1000000), 4096);
  options.codebook = format::Tensor{};
  EXPECT_EQ(TrainingRows(options, 1000000), 0);
}

TEST(ModelTrainer, WhatIsGivenIsTaken) {
  const std::vector<float> rows = Rows(500);
  TrainingOptions options{
      .index_type = "IVF_PQ", .num_partitions = 3, .num_sub_vectors = 2, .num_bits = 4};
  const std::vector<float> centroids = Rows(3, 7);
  const std::vector<float> codebook = Rows(16, 8);  // 2 * 16 entries of 4 elements
  options.centroids = MakeTensor(ElementType::kFloat32, std::span(centroids), kDim);
  options.codebook = MakeTensor(ElementType::kFloat32, std::span(codebook), 4);
  ASSERT_TRUE(CheckTrainingOptions(options, ElementType::kFloat32, kDim).ok());
  KINJO_ASSERT_RESULT(model, Train(rows, options));
  EXPECT_EQ(WidenTensor<float>(model.ivf.centroids), centroids);
  EXPECT_EQ(WidenTensor<float>(std::get<format::PqCodebook>(model.quantizer).codebook), codebook);
  EXPECT_EQ(model.ivf.index_type, "IVF_PQ");
  EXPECT_EQ(model.ivf.distance_type, "l2");
  EXPECT_EQ(model.ivf.num_partitions(), 3u);
  const_cast<uint8_t*>(options.centroids->data->data())[3] = 0xFF;  // NaN
  const_cast<uint8_t*>(options.centroids->data->data())[2] = 0xFF;
  EXPECT_THAT(base::MessageOf(CheckTrainingOptions(options, ElementType::kFloat32, kDim)),
              HasSubstr("centroids has an element that is NaN"));
}

TEST(ModelTrainer, BoundsAreThoseOfTheSample) {
  std::vector<float> rows = Rows(300);
  rows[77] = 12.5f;
  rows[2000] = -9.25f;
  KINJO_ASSERT_RESULT(model, Train(rows, {.index_type = "IVF_SQ"}));
  EXPECT_EQ(std::get<format::SqModel>(model.quantizer).start, -9.25);
  EXPECT_EQ(std::get<format::SqModel>(model.quantizer).end, 12.5);
  KINJO_ASSERT_RESULT(unit, Train(rows, {.index_type = "IVF_SQ", .metric = Metric::kCosine}));
  EXPECT_GE(std::get<format::SqModel>(unit.quantizer).start, -1);
  EXPECT_LE(std::get<format::SqModel>(unit.quantizer).end, 1);
}

TEST(ModelTrainer, NothingToLearnFromGivesZeros) {
  std::vector<float> rows = Rows(20);
  for (int64_t i = 0; i < 20; ++i) rows[i * kDim] = std::numeric_limits<float>::quiet_NaN();
  for (const char* type : {"IVF_FLAT", "IVF_PQ", "IVF_SQ", "IVF_RQ"}) {
    const TrainingOptions options{.index_type = type, .num_partitions = 4, .num_sub_vectors = 2};
    for (const std::vector<float>& sample : {rows, std::vector<float>{}}) {
      KINJO_ASSERT_RESULT(model, Train(sample, options));
      EXPECT_EQ(WidenTensor<float>(model.ivf.centroids), std::vector<float>(4 * kDim, 0.0f));
      EXPECT_EQ(model.trained_rows, 0);
      EXPECT_EQ(model.left_out.odd_rows, sample.empty() ? 0 : 20);
    }
  }
}

TEST(ModelTrainer, CentroidsAreOfTheColumnsType) {
  const std::vector<float> rows = Rows(400);
  std::vector<uint8_t> half(rows.size() * 2);
  StoreElements(ElementType::kFloat16, rows.data(), static_cast<int64_t>(rows.size()), half.data());
  base::ThreadPool pool(1);
  const ColumnVectors column{
      .type = ElementType::kFloat16, .data = half.data(), .num_rows = 400, .dim = kDim};
  KINJO_ASSERT_RESULT(
      model, TrainModel(column, {.index_type = "IVF_PQ", .num_partitions = 5, .num_sub_vectors = 4},
                        {.pool = &pool, .cancel = {}, .progress = {}}));
  EXPECT_EQ(model.ivf.centroids.type, ElementType::kFloat16);
  EXPECT_EQ(model.ivf.centroids.data->size(), 5 * kDim * 2);
  EXPECT_EQ(std::get<format::PqCodebook>(model.quantizer).codebook.data->size(), 256 * kDim * 2);
}

TEST(ModelTrainer, FarFromTheOriginCentroidsAreRight) {
  std::vector<double> rows;
  for (const float value : Rows(600)) rows.push_back(1e9 + value);
  base::ThreadPool pool(1);
  const ColumnVectors column{.type = ElementType::kFloat64,
                             .data = reinterpret_cast<const uint8_t*>(rows.data()),
                             .num_rows = 600,
                             .dim = kDim};
  KINJO_ASSERT_RESULT(model, TrainModel(column, {.num_partitions = 600},
                                        {.pool = &pool, .cancel = {}, .progress = {}}));
  // As many partitions as rows: each centroid is a row.
  EXPECT_LT(model.cost, 1e-9);
  for (const double element : WidenTensor<double>(model.ivf.centroids)) {
    EXPECT_NEAR(element, 1e9, 6);
  }
}

TEST(ModelTrainer, ReportsProgressAndStops) {
  base::ThreadPool pool(2);
  const std::vector<float> rows = Rows(3000);
  BuildContext context{.pool = &pool, .cancel = {}, .progress = {}};
  double last = 0;
  context.progress = [&](double part) {
    EXPECT_GE(part, last - 1e-12);
    last = part;
  };
  const TrainingOptions options{.index_type = "IVF_PQ", .num_partitions = 8, .num_sub_vectors = 4};
  ASSERT_TRUE(TrainModel(Column(rows), options, context).ok());
  EXPECT_EQ(last, 1);
  context.progress = {};
  context.cancel.Cancel();
  EXPECT_EQ(base::CodeOf(TrainModel(Column(rows), options, context).status()),
            base::ErrorCode::kCancelled);
}

}  // namespace
}  // namespace kinjo::index
