#include <gtest/gtest.h>

#include "arrow/util/bit_util.h"
#include "join/brute_force.h"
#include "join/memory_sides.h"
#include "kernels/simd_level.h"

namespace kinjo::join {
namespace {

using kernels::Metric;
using kernels::Neighbor;

struct ExactCase {
  Metric metric = Metric::kL2;
  std::shared_ptr<arrow::DataType> left_type = arrow::float32();
  std::shared_ptr<arrow::DataType> right_type = arrow::float32();
  bool lists = false;
};

JoinOptions Options(Metric metric, int64_t k) {
  JoinOptions options;
  options.k = k;
  options.metric = metric;
  options.on = "v";
  options.with_query_index = true;
  options.left_select = std::vector<std::string>{};
  options.threads = 1;
  options.memory_limit_bytes = int64_t{1} << 30;
  return options;
}

arrow::Result<JoinOutcome> Join(const Vectors& left, const Vectors& right, const ExactCase& c,
                                const JoinOptions& options, int64_t slice_rows = 100) {
  const auto dim = c.lists ? -1 : static_cast<int32_t>(std::max(left, right).at(0).size());
  return RunJoin(std::make_shared<MemoryTable>(MakeVectorBatch("q", "v", left, c.left_type, dim),
                                               "left", slice_rows),
                 MakeTableSide(std::make_shared<MemoryTable>(
                     MakeVectorBatch("id", "v", right, c.right_type, dim), "right", slice_rows)),
                 options);
}

void ExpectSame(const std::vector<std::vector<Neighbor>>& got,
                const std::vector<std::vector<Neighbor>>& want) {
  ASSERT_EQ(got.size(), want.size());
  for (size_t q = 0; q < want.size(); ++q) {
    ASSERT_EQ(got[q].size(), want[q].size()) << "left row " << q;
    for (size_t i = 0; i < want[q].size(); ++i) {
      EXPECT_EQ(got[q][i].address, want[q][i].address) << "left row " << q << " rank " << i + 1;
      EXPECT_EQ(got[q][i].distance, want[q][i].distance) << "left row " << q << " rank " << i + 1;
    }
  }
}

/// The same distances within `tolerance`, and each row's own distance true.
void ExpectNear(const std::vector<std::vector<Neighbor>>& got,
                const std::vector<std::vector<Neighbor>>& want, Metric metric, const Vectors& left,
                const Vectors& right, double relative, double absolute) {
  ASSERT_EQ(got.size(), want.size());
  for (size_t q = 0; q < want.size(); ++q) {
    ASSERT_EQ(got[q].size(), want[q].size()) << "left row " << q;
    for (size_t i = 0; i < want[q].size(); ++i) {
      const double allowed = absolute + relative * std::abs(want[q][i].distance);
      EXPECT_NEAR(got[q][i].distance, want[q][i].distance, allowed) << q << " " << i;
      const double truth = PlainDistance(metric, left[q], right[got[q][i].address]);
      EXPECT_NEAR(got[q][i].distance, truth, absolute + relative * std::abs(truth));
      if (i > 0) {
        EXPECT_TRUE(got[q][i - 1] < got[q][i]);
      }
    }
  }
}

TEST(ExactJoin, IntegerVectorsGiveTheOraclesRowsAndTies) {
  const Vectors left = IntegerVectors(130, 7, 1);
  const Vectors right = IntegerVectors(901, 7, 2);
  for (const Metric metric : {Metric::kL2, Metric::kDot}) {
    const auto want = BruteForce(metric, left, right, 9, {});
    for (const bool lists : {false, true}) {
      for (const auto& type : {arrow::float16(), arrow::float32(), arrow::float64(), arrow::int8(),
                               arrow::int32(), arrow::int64()}) {
        const ExactCase c{.metric = metric, .left_type = type, .right_type = type, .lists = lists};
        KINJO_ASSERT_RESULT(got, Join(left, right, c, Options(metric, 9)));
        ExpectSame(NeighboursOf(*got.table, 130, "id"), want);
      }
    }
  }
}

TEST(ExactJoin, UnsignedBytesUnderHammingAndL2) {
  const Vectors left = IntegerVectors(40, 16, 3, 0, 255);
  const Vectors right = IntegerVectors(300, 16, 4, 0, 255);
  const ExactCase c{.left_type = arrow::uint8(), .right_type = arrow::uint8()};
  for (const Metric metric : {Metric::kHamming, Metric::kL2}) {
    KINJO_ASSERT_RESULT(got, Join(left, right, c, Options(metric, 12)));
    ExpectSame(NeighboursOf(*got.table, 40, "id"), BruteForce(metric, left, right, 12, {}));
  }
  JoinOptions unset = Options(Metric::kL2, 12);
  unset.metric.reset();
  KINJO_ASSERT_RESULT(by_default, Join(left, right, c, unset));
  ExpectSame(NeighboursOf(*by_default.table, 40, "id"),
             BruteForce(Metric::kHamming, left, right, 12, {}));
}

TEST(ExactJoin, FloatsAreRightToTheContractsDigits) {
  for (const double offset : {0.0, 1e6}) {
    const Vectors left = FloatVectors(60, 24, 5, offset);
    const Vectors right = FloatVectors(700, 24, 6, offset);
    for (const Metric metric : {Metric::kL2, Metric::kCosine, Metric::kDot}) {
      KINJO_ASSERT_RESULT(got, Join(left, right, {}, Options(metric, 10)));
      const double scale = metric == Metric::kDot ? 24 * (1 + offset) * (1 + offset) : 1;
      ExpectNear(NeighboursOf(*got.table, 60, "id"), BruteForce(metric, left, right, 10, {}),
                 metric, left, right, metric == Metric::kL2 ? 1e-5 : 0,
                 metric == Metric::kL2 ? 0 : 1e-6 * scale);
    }
  }
}

TEST(ExactJoin, DoublesKeepTheirDigits) {
  // Neighbours that float32 can't tell apart.
  Vectors left(20, std::vector<double>(4)), right(200, std::vector<double>(4));
  std::mt19937 random(8);
  std::normal_distribution<double> value(0, 1e-9);
  for (auto* side : {&left, &right}) {
    for (auto& vector : *side) {
      for (double& element : vector) element = 1.0 + value(random);
    }
  }
  const ExactCase c{.left_type = arrow::float64(), .right_type = arrow::float64()};
  KINJO_ASSERT_RESULT(got, Join(left, right, c, Options(Metric::kL2, 5)));
  ExpectNear(NeighboursOf(*got.table, 20, "id"), BruteForce(Metric::kL2, left, right, 5, {}),
             Metric::kL2, left, right, 1e-5, 0);
}

TEST(ExactJoin, CosineOfTinyAndHugeDoublesIsRight) {
  // Scaling by a power of two changes no direction, so the answer is that of the plain vectors.
  const Vectors left = FloatVectors(30, 6, 31), right = FloatVectors(150, 6, 32);
  const auto scaled = [](Vectors vectors, std::initializer_list<int> exponents) {
    for (size_t i = 0; i < vectors.size(); ++i) {
      const int exponent = exponents.begin()[i % exponents.size()];
      for (double& element : vectors[i]) element = std::ldexp(element, exponent);
    }
    return vectors;
  };
  for (const auto& right_type : {arrow::float64(), arrow::float32()}) {
    const ExactCase c{.left_type = arrow::float64(), .right_type = right_type};
    const bool wide = right_type->id() == arrow::Type::DOUBLE;
    const Vectors rights =
        wide ? scaled(right, {-1000, -540, 0, 510, 1000}) : scaled(right, {-120, 0, 100});
    KINJO_ASSERT_RESULT(got, Join(scaled(left, {-990, -520, 0, 505, 1010}), rights, c,
                                  Options(Metric::kCosine, 8)));
    EXPECT_EQ(got.report.skipped_non_finite_rows, 0);
    ExpectNear(NeighboursOf(*got.table, 30, "id"), BruteForce(Metric::kCosine, left, right, 8, {}),
               Metric::kCosine, left, right, 0, 1e-6);
  }
  // What double can hardly hold at all, and zeros, which still match nothing.
  const Vectors few = {{5e-324, 0, 0, 0, 0, 0}, {0, 0, 0, 0, 0, 0}, {0, -1.7e308, 0, 0, 0, 0}};
  const ExactCase c{.left_type = arrow::float64(), .right_type = arrow::float64()};
  KINJO_ASSERT_RESULT(got, Join(few, few, c, Options(Metric::kCosine, 3)));
  EXPECT_EQ(got.report.skipped_non_finite_rows, 1);
  const auto lists = NeighboursOf(*got.table, 3, "id");
  ASSERT_EQ(lists[0].size(), 2u);
  EXPECT_EQ(lists[0][0].address, 0u);
  EXPECT_EQ(lists[0][0].distance, 0);
  EXPECT_EQ(lists[0][1].distance, 1);
  EXPECT_TRUE(lists[1].empty());
  EXPECT_EQ(lists[2][0].address, 2u);
}

TEST(ExactJoin, OddVectorsMatchNothing) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double inf = std::numeric_limits<double>::infinity();
  Vectors left = IntegerVectors(30, 5, 9);
  Vectors right = IntegerVectors(90, 5, 10);
  for (Vectors* side : {&left, &right}) {
    (*side)[2] = {};
    (*side)[5][1] = nan;
    (*side)[8][4] = inf;
    (*side)[11][0] = -inf;
    (*side)[14].assign(5, 0.0);
  }
  for (const Metric metric : {Metric::kL2, Metric::kCosine, Metric::kDot}) {
    for (const bool lists : {false, true}) {
      KINJO_ASSERT_RESULT(got, Join(left, right, {.lists = lists}, Options(metric, 200), 7));
      const auto want = BruteForce(metric, left, right, 200, {});
      ExpectNear(NeighboursOf(*got.table, 30, "id"), want, metric, left, right, 1e-6, 1e-6);
      EXPECT_EQ(got.report.skipped_null_rows, 1);
      EXPECT_EQ(got.report.skipped_non_finite_rows, metric == Metric::kCosine ? 4 : 3);
    }
  }
}

TEST(ExactJoin, VectorsTooLongForFloatSumsAreStillFound) {
  Vectors left = IntegerVectors(6, 3, 11);
  Vectors right = IntegerVectors(50, 3, 12);
  left[1] = {1e30, -1e30, 2e30};
  right[7] = {1e30, -1e30, 1e30};
  right[9] = {3e38, 3e38, -3e38};
  const ExactCase c{.left_type = arrow::float64(), .right_type = arrow::float64()};
  for (const Metric metric : {Metric::kL2, Metric::kDot, Metric::kCosine}) {
    KINJO_ASSERT_RESULT(got, Join(left, right, c, Options(metric, 50)));
    const auto neighbours = NeighboursOf(*got.table, 6, "id");
    const auto want = BruteForce(metric, left, right, 50, {});
    for (size_t q = 0; q < 6; ++q) EXPECT_EQ(neighbours[q].size(), want[q].size()) << q;
    KINJO_ASSERT_RESULT(head, Join(left, right, c, Options(metric, 1)));
    EXPECT_EQ(NeighboursOf(*head.table, 6, "id")[1][0].address, want[1][0].address);
  }
}

TEST(ExactJoin, SameBytesForAnyThreadsBlocksAndLevel) {
  const Vectors left = FloatVectors(83, 10, 13);
  const Vectors right = FloatVectors(1000, 10, 14);
  for (const Metric metric : {Metric::kL2, Metric::kCosine, Metric::kDot}) {
    KINJO_ASSERT_RESULT(first, Join(left, right, {}, Options(metric, 10)));
    for (const std::string& level : kernels::AvailableSimdLevels()) {
      ASSERT_TRUE(kernels::ForceSimdLevel(level).ok());
      for (const int64_t threads : {1, 2, 5}) {
        for (const int64_t block_rows : {1, 7, 4096}) {
          JoinOptions options = Options(metric, 10);
          options.threads = threads;
          options.block_rows = block_rows;
          KINJO_ASSERT_RESULT(other, Join(left, right, {}, options, block_rows + 60));
          EXPECT_TRUE(first.table->Equals(*other.table))
              << level << " threads " << threads << " block_rows " << block_rows;
        }
      }
    }
    ASSERT_TRUE(kernels::ForceSimdLevel("").ok());
  }
}

TEST(ExactJoin, SmallerKIsAPrefix) {
  const Vectors left = IntegerVectors(25, 4, 15);
  const Vectors right = IntegerVectors(400, 4, 16);
  KINJO_ASSERT_RESULT(large, Join(left, right, {}, Options(Metric::kL2, 40)));
  const auto all = NeighboursOf(*large.table, 25, "id");
  for (const int64_t k : {1, 3, 17}) {
    KINJO_ASSERT_RESULT(small, Join(left, right, {}, Options(Metric::kL2, k)));
    auto head = all;
    for (auto& list : head) list.resize(static_cast<size_t>(k));
    ExpectSame(NeighboursOf(*small.table, 25, "id"), head);
  }
}

TEST(ExactJoin, DistanceRangeIsHalfOpen) {
  const Vectors left = IntegerVectors(20, 3, 17);
  const Vectors right = IntegerVectors(300, 3, 18);
  JoinOptions options = Options(Metric::kL2, 8);
  options.distance_range = {3.0f, 9.0f};
  KINJO_ASSERT_RESULT(got, Join(left, right, {}, options));
  auto want = BruteForce(Metric::kL2, left, right, 300, {});
  for (auto& list : want) {
    std::erase_if(list, [](const Neighbor& n) { return n.distance < 3 || n.distance >= 9; });
    if (list.size() > 8) list.resize(8);
  }
  ExpectSame(NeighboursOf(*got.table, 20, "id"), want);
}

TEST(ExactJoin, RaggedListsNameTheRow) {
  Vectors left = IntegerVectors(30, 4, 19);
  const Vectors right = IntegerVectors(30, 4, 20);
  left[17].push_back(1);
  const auto bad_left = Join(left, right, {.lists = true}, Options(Metric::kL2, 3), 10);
  ASSERT_FALSE(bad_left.ok());
  EXPECT_EQ(base::CodeOf(bad_left.status()), base::ErrorCode::kInvalid);
  EXPECT_EQ(base::MessageOf(bad_left.status()),
            "left column \"v\": row 17 has 5 elements, but an earlier row has 4");
  const auto bad_right = Join(right, left, {.lists = true}, Options(Metric::kL2, 3), 10);
  ASSERT_FALSE(bad_right.ok());
  EXPECT_EQ(base::MessageOf(bad_right.status()),
            "right column \"v\": row 17 has 5 elements, but left column \"v\" has 4");
}

// Lists don't tell their width in the schema; the plan must bound them like vectors that do.
TEST(ExactJoin, ListsAreBoundedLikeFixedSizeLists) {
  Vectors vectors = IntegerVectors(40, 700, 51);
  vectors[0] = {};
  JoinOptions options = Options(Metric::kL2, 3);
  options.memory_limit_bytes = int64_t{2} << 30;
  const auto plan = [&](int32_t dim) {
    return MakePlan(std::make_shared<MemoryTable>(
                        MakeVectorBatch("q", "v", vectors, arrow::float32(), dim), "left"),
                    MakeTableSide(std::make_shared<MemoryTable>(
                        MakeVectorBatch("id", "v", vectors, arrow::float32(), dim), "right")),
                    options)
        .ValueOrDie();
  };
  const MemoryPlan fixed = plan(700)->memory;
  const MemoryPlan lists = plan(-1)->memory;
  EXPECT_EQ(lists.fixed_bytes, fixed.fixed_bytes);
  EXPECT_EQ(lists.query_bytes, fixed.query_bytes);
  // Nothing but nulls at first: more is reserved, not less.
  vectors.assign(40, {});
  EXPECT_GT(plan(-1)->memory.fixed_bytes, fixed.fixed_bytes);
}

TEST(ExactJoin, VectorsInsideStructsAreNamedByPaths) {
  const Vectors left = IntegerVectors(30, 4, 61), right = IntegerVectors(200, 4, 62);
  // Columns `id` and `s` = {t: {v}, other}; every fifth row of the right is a null struct.
  const auto nested = [](const std::string& id, const Vectors& vectors, bool with_nulls) {
    const auto flat = MakeVectorBatch(id, "v", vectors, arrow::float32(), 4);
    const auto inner = arrow::StructArray::Make({flat->column(1)}, {"v"}).ValueOrDie();
    std::shared_ptr<arrow::Buffer> validity = arrow::AllocateBitmap(flat->num_rows()).ValueOrDie();
    for (int64_t i = 0; i < flat->num_rows(); ++i) {
      arrow::bit_util::SetBitTo(validity->mutable_data(), i, !with_nulls || i % 5 != 0);
    }
    const auto outer = arrow::StructArray::Make({inner, flat->column(0)},
                                                std::vector<std::string>{"t", "other"}, validity)
                           .ValueOrDie();
    return arrow::RecordBatch::Make(
        arrow::schema({arrow::field(id, arrow::int64()), arrow::field("s", outer->type())}),
        flat->num_rows(), {flat->column(0), outer});
  };
  JoinOptions options = Options(Metric::kL2, 6);
  options.on = "s.t.v";
  const auto join = [&](const JoinOptions& chosen) {
    return RunJoin(std::make_shared<MemoryTable>(nested("q", left, false), "left"),
                   MakeTableSide(std::make_shared<MemoryTable>(nested("id", right, true), "right")),
                   chosen);
  };
  std::vector<bool> eligible;
  for (size_t i = 0; i < right.size(); ++i) eligible.push_back(i % 5 != 0);
  const auto want = BruteForce(Metric::kL2, left, right, 6, eligible);
  KINJO_ASSERT_RESULT(got, join(options));
  ExpectSame(NeighboursOf(*got.table, 30, "id"), want);
  // The struct may come out, or not.
  EXPECT_NE(got.table->GetColumnByName("s"), nullptr);
  options.left_select = std::vector<std::string>{"q", "s"};
  options.right_select = std::vector<std::string>{"id"};
  KINJO_ASSERT_RESULT(selected, join(options));
  ExpectSame(NeighboursOf(*selected.table, 30, "id"), want);
  options.on = "s.t.w";
  EXPECT_EQ(base::CodeOf(join(options).status()), base::ErrorCode::kNotFound);
  options.on = "s.other";
  EXPECT_EQ(base::CodeOf(join(options).status()), base::ErrorCode::kInvalid);
}

TEST(ExactJoin, CancelStopsWithinABlockAThread) {
  const Vectors left = FloatVectors(2000, 8, 21);
  const Vectors right = FloatVectors(3000, 8, 22);
  JoinOptions options = Options(Metric::kL2, 3);
  options.threads = 2;
  options.block_rows = 500;
  auto plan = MakePlan(
      std::make_shared<MemoryTable>(MakeVectorBatch("q", "v", left, arrow::float32(), 8), "left"),
      MakeTableSide(std::make_shared<MemoryTable>(
          MakeVectorBatch("id", "v", right, arrow::float32(), 8), "right")),
      options);
  ASSERT_TRUE(plan.ok()) << plan.status();
  Executor executor(*plan, {});
  const base::CancelToken cancel;
  int64_t emitted = 0;
  const arrow::Status status =
      executor.Run(cancel, [&](const std::shared_ptr<arrow::RecordBatch>&) {
        ++emitted;
        cancel.Cancel();
        return arrow::Status::OK();
      });
  EXPECT_EQ(base::CodeOf(status), base::ErrorCode::kCancelled);
  EXPECT_EQ(emitted, 1);
  EXPECT_LE(executor.report().left_rows, 500);
  EXPECT_LE(executor.report().rows_scanned, 3000);
}

}  // namespace
}  // namespace kinjo::join
