// Codes against the definition of each quantizer in double, element by element, and the layout of
// columns. (built_files_test.cc searches what is coded; tests/interop compares with pylance.)
#include "index/row_encoder.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <numeric>
#include <random>

#include "base/assert_result.h"
#include "index/elements.h"
#include "index/model_trainer.h"
#include "index/rq_rotation.h"

namespace kinjo::index {
namespace {

using format::ElementType;
using kernels::Metric;

constexpr int64_t kDim = 16;
constexpr int64_t kRows = 700;

struct Coded {
  std::vector<float> rows;  // prepared: of unit length for cosine
  TrainedModel model;
  std::unique_ptr<RowEncoder> encoder;
  EncodedRows encoded;

  const float* row(int64_t i) const { return rows.data() + i * kDim; }
  const float* centroid(int64_t i) const {
    return reinterpret_cast<const float*>(model.ivf.centroids.data->data()) +
           encoded.partitions[i] * kDim;
  }
  const uint8_t* record(int64_t i) const {
    return encoded.records.data() + i * encoder->record_bytes();
  }
  float factor(int64_t i, int64_t offset) const {
    float value;
    std::memcpy(&value, record(i) + offset, sizeof(value));
    return value;
  }
};

ColumnVectors Column(const std::vector<float>& rows) {
  return {.data = reinterpret_cast<const uint8_t*>(rows.data()),
          .num_rows = static_cast<int64_t>(rows.size()) / kDim,
          .dim = kDim};
}

void Code(const TrainingOptions& options, Coded* coded) {
  std::mt19937 random(2);
  std::normal_distribution<float> normal(0.2f);
  std::vector<float> rows;
  for (int64_t i = 0; i < kRows * kDim; ++i) rows.push_back(normal(random));
  base::ThreadPool pool(2);
  const BuildContext context{.pool = &pool, .cancel = {}, .progress = {}};
  KINJO_ASSERT_RESULT(model, TrainModel(Column(rows), options, context));
  KINJO_ASSERT_RESULT(encoder, RowEncoder::Make(model.ivf, model.quantizer));
  std::vector<uint64_t> row_ids(kRows);
  std::iota(row_ids.begin(), row_ids.end(), 1000u);
  ASSERT_TRUE(encoder->Encode(Column(rows), row_ids, context, &coded->encoded).ok());
  std::vector<uint32_t> all(kRows);
  std::iota(all.begin(), all.end(), 0u);
  coded->rows.resize(rows.size());
  PrepareVectors(Column(rows), options.metric, all, coded->rows.data());
  coded->model = std::move(model);
  coded->encoder = std::move(encoder);
  ASSERT_EQ(coded->encoded.num_rows(), kRows);
}

TEST(RowEncoder, PqNamesTheNearestEntryOfEachSubVector) {
  for (const Metric metric : {Metric::kL2, Metric::kCosine, Metric::kDot}) {
    for (const int bits : {8, 4}) {
      Coded coded;
      Code({.index_type = "IVF_PQ",
            .metric = metric,
            .num_partitions = 5,
            .num_sub_vectors = 4,
            .num_bits = bits},
           &coded);
      const auto& pq = std::get<format::PqCodebook>(coded.model.quantizer);
      const std::vector<float> codebook = WidenTensor<float>(pq.codebook);
      ASSERT_EQ(coded.encoder->columns()[0].name, "__pq_code");
      for (int64_t i = 0; i < kRows; ++i) {
        for (int64_t m = 0; m < 4; ++m) {
          int64_t best = 0;
          double least = 1e300;
          for (int64_t entry = 0; entry < 1 << bits; ++entry) {
            double distance = 0;
            for (int64_t j = 0; j < 4; ++j) {
              const int64_t at = m * 4 + j;
              const float centre = metric == Metric::kDot ? 0 : coded.centroid(i)[at];
              const double gap = static_cast<double>(coded.row(i)[at] - centre) -
                                 codebook[((m << bits) + entry) * 4 + j];
              distance += gap * gap;
            }
            if (distance < least) {
              least = distance;
              best = entry;
            }
          }
          const uint8_t* code = coded.record(i) + kRowIdBytes;
          const int64_t found = bits == 8 ? code[m] : code[m / 2] >> m % 2 * 4 & 15;
          ASSERT_EQ(found, best) << "row " << i << " sub-vector " << m;
        }
      }
    }
  }
}

TEST(RowEncoder, SqRoundsDownBetweenBoundsAndCountsWhatIsOutside) {
  for (const Metric metric : {Metric::kL2, Metric::kCosine, Metric::kDot}) {
    Coded coded;
    Code({.index_type = "IVF_SQ", .metric = metric}, &coded);
    EXPECT_EQ(coded.encoded.outside_rows, 0);
    const auto& sq = std::get<format::SqModel>(coded.model.quantizer);
    for (int64_t i = 0; i < kRows; ++i) {
      for (int64_t j = 0; j < kDim; ++j) {
        const double steps = (coded.row(i)[j] - sq.start) * 255 / (sq.end - sq.start);
        ASSERT_EQ(coded.record(i)[kRowIdBytes + j], static_cast<int>(steps));
      }
    }
    // The same rows with narrower bounds.
    const format::SqModel narrow{.start = sq.start / 2, .end = sq.end / 2};
    KINJO_ASSERT_RESULT(encoder, RowEncoder::Make(coded.model.ivf, narrow));
    base::ThreadPool pool(2);
    EncodedRows encoded;
    const std::vector<uint64_t> ids(kRows, 0);
    ASSERT_TRUE(encoder
                    ->Encode(Column(coded.rows), ids, {.pool = &pool, .cancel = {}, .progress = {}},
                             &encoded)
                    .ok());
    int64_t outside = 0;
    for (int64_t i = 0; i < kRows; ++i) {
      outside += std::any_of(coded.row(i), coded.row(i) + kDim, [&](float value) {
        return value < narrow.start || value > narrow.end;
      });
    }
    EXPECT_GT(outside, 0);
    if (metric != Metric::kCosine) {
      EXPECT_EQ(encoded.outside_rows, outside);
    }
  }
}

// Every factor by its formula, from the bits of the code.
TEST(RowEncoder, RqFactorsFollowTheirFormulas) {
  for (const Metric metric : {Metric::kL2, Metric::kDot}) {
    for (const int bits : {1, 9}) {
      Coded coded;
      Code({.index_type = "IVF_RQ", .metric = metric, .num_partitions = 3, .num_bits = bits},
           &coded);
      const auto& rq = std::get<format::RqModel>(coded.model.quantizer);
      const RqRotation rotation(rq, kDim);
      ASSERT_EQ(coded.encoder->columns().size(), bits == 1 ? 4u : 7u);
      const bool dot = metric == Metric::kDot;
      for (int64_t i = 0; i < kRows; i += 7) {
        double residual[kDim], centre[kDim], turned[kDim], turned_centre[kDim];
        double norm2 = 0;
        for (int64_t j = 0; j < kDim; ++j) {
          centre[j] = coded.centroid(i)[j];
          residual[j] = coded.row(i)[j] - centre[j];
          norm2 += residual[j] * residual[j];
        }
        rotation.Apply(residual, turned);
        rotation.Apply(centre, turned_centre);
        const uint8_t* signs = coded.record(i) + kRowIdBytes;
        const uint8_t* ex = signs + 2 + 12;  // 8 bits an element, one byte each
        for (const bool full : {false, true}) {
          if (full && bits == 1) continue;
          double own = 0, with_centre = 0, residual_centre = 0;
          for (int64_t j = 0; j < kDim; ++j) {
            const bool above = (signs[j / 8] >> j % 8 & 1) != 0;
            ASSERT_EQ(above, !std::signbit(turned[j]));
            double code = above ? 0.5 : -0.5;
            if (full) code = (above ? 256 : 0) + ex[j] - 255.5;
            own += turned[j] * code;
            with_centre += turned_centre[j] * code;
            residual_centre += turned[j] * turned_centre[j];
          }
          const double add = dot ? 1 - residual_centre + norm2 * with_centre / own
                                 : norm2 + 2 * norm2 * with_centre / own;
          const double scale = (dot ? -1 : -2) * norm2 / own;
          const int64_t at = full ? kRowIdBytes + 2 + 12 + 64 : kRowIdBytes + 2;
          EXPECT_NEAR(coded.factor(i, at), add, 1e-5 * (1 + std::abs(add)));
          EXPECT_NEAR(coded.factor(i, at + 4), scale, 1e-5 * (1 + std::abs(scale)));
          if (full) continue;
          const double error =
              std::sqrt(norm2) * 1.9 * std::sqrt((norm2 * kDim / 4 / (own * own) - 1) / (kDim - 1));
          EXPECT_NEAR(coded.factor(i, at + 8), dot ? error : 2 * error, 1e-5 * (1 + error));
        }
      }
    }
  }
}

TEST(RowEncoder, ColumnsAreLaidOutAsTheFileHasThem) {
  Coded coded;
  Code({.index_type = "IVF_PQ", .num_sub_vectors = 4}, &coded);
  const StoredPartition stored = coded.encoder->Store(coded.encoded.records.data(), kRows);
  EXPECT_EQ(stored.num_rows, static_cast<uint64_t>(kRows));
  const auto* ids = reinterpret_cast<const uint64_t*>(stored.row_ids->data());
  for (int64_t i = 0; i < kRows; ++i) {
    EXPECT_EQ(ids[i], 1000u + static_cast<uint64_t>(i));
    for (int64_t b = 0; b < 4; ++b) {
      EXPECT_EQ(stored.columns[0]->data()[b * kRows + i], coded.record(i)[kRowIdBytes + b]);
    }
  }
  auto pq = std::get<format::PqCodebook>(coded.model.quantizer);
  pq.transposed = false;
  KINJO_ASSERT_RESULT(plain, RowEncoder::Make(coded.model.ivf, pq));
  const StoredPartition rows = plain->Store(coded.encoded.records.data(), kRows);
  for (int64_t i = 0; i < kRows; ++i) {
    EXPECT_EQ(std::memcmp(rows.columns[0]->data() + i * 4, coded.record(i) + kRowIdBytes, 4), 0);
  }
}

TEST(RowEncoder, RefusesModelsThatDoNotFit) {
  Coded coded;
  Code({.index_type = "IVF_PQ", .num_sub_vectors = 4}, &coded);
  auto pq = std::get<format::PqCodebook>(coded.model.quantizer);
  pq.num_sub_vectors = 8;
  EXPECT_FALSE(RowEncoder::Make(coded.model.ivf, pq).ok());
  EXPECT_FALSE(RowEncoder::Make(coded.model.ivf, format::RqModel{.num_bits = 2}).ok());
  format::IvfModel ivf = coded.model.ivf;
  ivf.distance_type = "manhattan";
  EXPECT_FALSE(RowEncoder::Make(ivf, format::FlatModel{}).ok());
  ivf.distance_type = "hamming";
  EXPECT_FALSE(RowEncoder::Make(ivf, format::FlatModel{}).ok());
  const std::vector<float> odd(kDim, NAN);
  ivf = coded.model.ivf;
  ivf.centroids = MakeTensor(ElementType::kFloat32, std::span(odd), kDim);
  EXPECT_FALSE(RowEncoder::Make(ivf, format::FlatModel{}).ok());
}

}  // namespace
}  // namespace kinjo::index
