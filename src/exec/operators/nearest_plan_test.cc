// Whole plans: their texts, what they merge, and reported faults of other engines, each named by
// its symptom.
#include "exec/operators/nearest_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "exec/operators/operator_fixture.h"

namespace kinjo::exec {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// A dataset of `vectors` with an int64 column `group`.
std::shared_ptr<MemoryDataset> MakeDataset(const Vectors& vectors, std::vector<int64_t> groups,
                                           int64_t fragment_rows) {
  const auto width = static_cast<int32_t>(vectors[0].size());
  groups.resize(vectors.size());
  return std::make_shared<MemoryDataset>(
      MakeBatch({{"group", MakeArray<arrow::Int64Builder>(groups)},
                 {"vector", MakeVectors(vectors, width)}}),
      fragment_rows);
}

NearestRequest RequestOf(const MemoryDataset& dataset, std::vector<double> vector, int64_t k) {
  NearestRequest request;
  request.query.column = "vector";
  request.query.vector = std::move(vector);
  request.query.k = k;
  request.index = dataset.vector_indexes().empty() ? nullptr : dataset.vector_indexes().data();
  request.with_row_id = true;
  return request;
}

struct Answer {
  std::vector<int64_t> rows;
  std::vector<float> distances;
};

Answer Search(const std::shared_ptr<MemoryDataset>& dataset, const NearestRequest& request,
              TestRun* test) {
  Answer answer;
  const auto plan = MakeNearestPlan(dataset, request);
  EXPECT_TRUE(plan.ok()) << plan.status();
  if (!plan.ok()) return answer;
  const auto batch = RunPlan(**plan, &test->run);
  EXPECT_TRUE(batch.ok()) << batch.status();
  if (!batch.ok()) return answer;
  const auto& ids = ColumnOf<arrow::UInt64Array>(**batch, kRowIdColumn);
  const auto& distances = ColumnOf<arrow::FloatArray>(**batch, kDistanceColumn);
  for (int64_t i = 0; i < ids.length(); ++i) {
    answer.rows.push_back(dataset->RowOf(ids.Value(i)));
    answer.distances.push_back(distances.Value(i));
  }
  return answer;
}

Answer Search(const std::shared_ptr<MemoryDataset>& dataset, const NearestRequest& request) {
  TestRun test;
  return Search(dataset, request, &test);
}

std::shared_ptr<const predicate::Predicate> Where(const MemoryDataset& dataset,
                                                  const std::string& text) {
  return predicate::Predicate::Parse(text, dataset.arrow_schema()).ValueOrDie();
}

/// Row i is (i); fragments of 10.
std::shared_ptr<MemoryDataset> Line(int64_t rows) {
  Vectors vectors;
  std::vector<int64_t> groups;
  for (int64_t i = 0; i < rows; ++i) {
    vectors.push_back({static_cast<float>(i)});
    groups.push_back(i % 3);
  }
  return MakeDataset(vectors, groups, 10);
}

TEST(NearestPlan, TheExactPlan) {
  const auto dataset = Line(40);
  NearestRequest request = RequestOf(*dataset, {7.2}, 3);
  request.columns = {"group"};
  KINJO_ASSERT_RESULT(plan, MakeNearestPlan(dataset, request));
  EXPECT_EQ(RenderPlan(DescribePlan(*plan), {}),
            "Project: columns=[group, _distance, _rowid]\n"
            "  Take: columns=[group]\n"
            "    Sort: fetch=3, order=[_distance, row address]\n"
            "      Project: columns=[_distance, _rowid]\n"
            "        KNNVectorDistance: metric=l2\n"
            "          DatasetScan: uri=memory.lance, columns=[vector], row_id=true\n");
  EXPECT_THAT(Search(dataset, request).rows, ElementsAre(7, 8, 6));
}

TEST(NearestPlan, TheIndexPlan) {
  const auto dataset = Line(40);
  dataset->AddIndex("line", "vector", "l2", {{0, 1, 2, 3}}, {{10}, {30}});
  NearestRequest request = RequestOf(*dataset, {7.2}, 3);
  request.query.maximum_nprobes = 2;
  request.query.refine_factor = 4;
  request.predicate = Where(*dataset, "group = 1");
  KINJO_ASSERT_RESULT(plan, MakeNearestPlan(dataset, request));
  EXPECT_EQ(RenderPlan(DescribePlan(*plan), {}),
            "Project: columns=[_distance, _rowid]\n"
            "  Refine: metric=l2, k=3\n"
            "    Sort: fetch=12, order=[_distance, row address]\n"
            "      ANNSubIndex: name=line, k=12, deltas=1\n"
            "        ANNIvfPartition: uuid=line-0, minimum_nprobes=1, maximum_nprobes=Some(2), "
            "deltas=1\n"
            "        Project: columns=[_rowid]\n"
            "          Filter: predicate=group = 1\n"
            "            DatasetScan: uri=memory.lance, columns=[group], fragments=4, "
            "row_id=true\n");
  EXPECT_THAT(Search(dataset, request).rows, ElementsAre(7, 10, 4));
}

TEST(NearestPlan, UnindexedFragmentsAreScannedAndMergedOnExactDistances) {
  const auto dataset = Line(40);
  dataset->AddIndex("line", "vector", "l2", {{0}, {1}}, {{5}, {15}},
                    std::vector<float>(256, 0.5f));  // a codebook that knows no distance
  NearestRequest request = RequestOf(*dataset, {19.4}, 4);
  request.query.minimum_nprobes = 2;
  request.query.refine_factor = 5;
  KINJO_ASSERT_RESULT(plan, MakeNearestPlan(dataset, request));
  EXPECT_EQ(RenderPlan(DescribePlan(*plan), {}),
            "Project: columns=[_distance, _rowid]\n"
            "  Sort: fetch=4, order=[_distance, row address]\n"
            "    Union\n"
            "      Refine: metric=l2, k=4\n"
            "        Sort: fetch=20, order=[_distance, row address]\n"
            "          ANNSubIndex: name=line, k=20, deltas=2\n"
            "            ANNIvfPartition: uuid=line-0, minimum_nprobes=2, maximum_nprobes=None, "
            "deltas=2\n"
            "      Sort: fetch=4, order=[_distance, row address]\n"
            "        Project: columns=[_distance, _rowid]\n"
            "          KNNVectorDistance: metric=l2\n"
            "            DatasetScan: uri=memory.lance, columns=[vector], fragments=2, "
            "row_id=true\n");
  EXPECT_THAT(Search(dataset, request).rows, ElementsAre(19, 20, 18, 21));
}

TEST(NearestPlan, FilteredHalfIndexedSearchEqualsTheExactOne) {
  const auto dataset = Line(40);
  NearestRequest request = RequestOf(*dataset, {19.4}, 6);
  request.predicate = Where(*dataset, "group = 2");
  const Answer exact = Search(dataset, request);
  EXPECT_THAT(exact.rows, ElementsAre(20, 17, 23, 14, 26, 11));
  dataset->AddIndex("line", "vector", "l2", {{0}, {2}}, {{5}, {25}});
  request.index = dataset->vector_indexes().data();
  EXPECT_EQ(Search(dataset, request).rows, exact.rows);
  auto mask = std::make_shared<dataset::RowMask>();
  for (int64_t row = 2; row < 40; row += 3) mask->Add(dataset->AddressOf(row));
  request.predicate = nullptr;
  request.mask = mask;
  EXPECT_EQ(Search(dataset, request).rows, exact.rows);
}

TEST(NearestPlan, ErrorsAreNamed) {
  const auto dataset = Line(40);
  const auto message = [&](const auto& change) {
    NearestRequest request = RequestOf(*dataset, {1}, 3);
    change(&request);
    const auto plan = MakeNearestPlan(dataset, request);
    return plan.ok() ? "" : base::MessageOf(plan.status());
  };
  EXPECT_EQ(message([](auto* r) { r->query.k = 0; }), "k is 0, below 1");
  EXPECT_EQ(message([](auto* r) { r->query.refine_factor = 0; }), "refine_factor is 0, below 1");
  EXPECT_EQ(message([](auto* r) {
              r->query.refine_factor = 2;
              r->query.ef = 5;
            }),
            "ef is 5, below k * refine_factor, which is 6");
  EXPECT_EQ(message([](auto* r) { r->query.minimum_nprobes = 0; }),
            "minimum_nprobes is 0, below 1");
  EXPECT_EQ(message([](auto* r) {
              r->query.minimum_nprobes = 5;
              r->query.maximum_nprobes = 4;
            }),
            "minimum_nprobes is 5, above maximum_nprobes, which is 4");
  EXPECT_THAT(message([](auto* r) {
                r->query.k = int64_t{1} << 40;
                r->query.refine_factor = int64_t{1} << 40;
              }),
              HasSubstr("more than can be counted"));
  EXPECT_EQ(message([](auto* r) { r->query.column = "x"; }),
            "column \"x\" is not in memory.lance; its columns are group, vector");
  EXPECT_EQ(message([](auto* r) {
              r->query.vector = {1, 2};
              r->query.num_vectors = 2;
            }),
            "the query for column \"vector\" has 2 vectors; a row of "
            "fixed_size_list<item: float>[1] is compared with one");
  EXPECT_THAT(message([](auto* r) { r->columns = {"x"}; }), HasSubstr("has no column \"x\""));
}

// What others reported.

/// 10 clusters of 20 rows; a row's group is its cluster.
std::shared_ptr<MemoryDataset> Clusters(Vectors* centroids) {
  std::mt19937_64 random(7);
  std::normal_distribution<float> normal;
  Vectors vectors;
  std::vector<int64_t> groups;
  for (int64_t cluster = 0; cluster < 10; ++cluster) {
    centroids->push_back({static_cast<float>(20 * cluster), 0});
    for (int i = 0; i < 20; ++i) {
      vectors.push_back({centroids->back()[0] + normal(random), normal(random)});
      groups.push_back(cluster);
    }
  }
  return MakeDataset(vectors, groups, 100);
}

TEST(ReportedFaults, ASelectiveFilterFindsTooFewRows) {
  Vectors centroids;
  const auto dataset = Clusters(&centroids);
  dataset->AddIndex("clusters", "vector", "l2", {{0}, {1}}, centroids);
  NearestRequest request = RequestOf(*dataset, {0, 0}, 5);
  request.predicate = Where(*dataset, "group = 9");
  EXPECT_EQ(Search(dataset, request).rows.size(), 5);
  request.query.maximum_nprobes = 1;  // a hard cap, as nprobes = 1 is
  EXPECT_EQ(Search(dataset, request).rows.size(), 0);
}

TEST(ReportedFaults, ANearlyEmptyPartitionIsTheNearest) {
  Vectors vectors = {{0}, {0.1f}, {0.2f}};
  for (int i = 0; i < 30; ++i) vectors.push_back({10 + 0.1f * static_cast<float>(i)});
  const auto dataset = MakeDataset(vectors, {}, 100);
  dataset->AddIndex("two", "vector", "l2", {{0}}, {{0}, {11}});
  NearestRequest request = RequestOf(*dataset, {0}, 10);
  EXPECT_EQ(Search(dataset, request).rows.size(), 10);
  request.query.maximum_nprobes = 1;
  EXPECT_EQ(Search(dataset, request).rows.size(), 3);
}

TEST(ReportedFaults, AFilterOverTwoSegmentsRunsTwice) {
  Vectors centroids;
  const auto dataset = Clusters(&centroids);
  dataset->AddIndex("clusters", "vector", "l2", {{0}, {1}}, centroids);
  NearestRequest request = RequestOf(*dataset, {0, 0}, 5);
  request.predicate = Where(*dataset, "group > 3");
  TestRun test;
  EXPECT_EQ(Search(dataset, request, &test).rows.size(), 5);
  EXPECT_EQ(dataset->num_scans(), 1);
  EXPECT_EQ(test.run.Total(kRowsScanned), 200);
}

TEST(ReportedFaults, TiesComeInAnotherOrderEachTime) {
  const Vectors vectors(40, std::vector<float>{1, 2});
  const auto dataset = MakeDataset(vectors, {}, 8);
  dataset->AddIndex("ties", "vector", "l2", {{3, 1}, {4}, {0, 2}}, {{0, 0}, {1, 2}});
  for (const bool use_index : {false, true}) {
    NearestRequest request = RequestOf(*dataset, {0, 0}, 6);
    if (!use_index) request.index = nullptr;
    for (int i = 0; i < 30; ++i) {
      TestRun test(1 + i % 3);
      EXPECT_THAT(Search(dataset, request, &test).rows, ElementsAre(0, 1, 2, 3, 4, 5));
    }
  }
}

TEST(ReportedFaults, EachSegmentGivesItsOwnK) {
  Vectors centroids;
  const auto dataset = Clusters(&centroids);
  dataset->AddIndex("clusters", "vector", "l2", {{0}, {1}}, centroids);
  EXPECT_EQ(Search(dataset, RequestOf(*dataset, {90, 0}, 3)).rows.size(), 3);
}

TEST(ReportedFaults, FastSearchStillScansUnindexedRows) {
  const auto dataset = Line(40);
  dataset->AddIndex("line", "vector", "l2", {{0, 1}}, {{5}, {15}});
  NearestRequest request = RequestOf(*dataset, {39}, 2);
  EXPECT_THAT(Search(dataset, request).rows, ElementsAre(39, 38));
  request.fast_search = true;
  EXPECT_THAT(Search(dataset, request).rows, ElementsAre(19, 18));
}

TEST(ReportedFaults, OnlyTheFirstOfSeveralSegmentsIsSearched) {
  const auto dataset = Line(40);
  dataset->AddIndex("line", "vector", "l2", {{0}, {1}, {2}}, {{5}, {15}, {25}});
  for (const double at : {4.0, 14.0, 24.0, 34.0}) {
    EXPECT_THAT(Search(dataset, RequestOf(*dataset, {at}, 1)).rows,
                ElementsAre(static_cast<int64_t>(at)));
  }
}

TEST(ReportedFaults, ALowerBoundIsAppliedAfterTheCut) {
  const auto dataset = Line(40);
  dataset->AddIndex("line", "vector", "l2", {{0, 1, 2, 3}}, {{5}, {15}, {25}, {35}});
  for (const bool use_index : {false, true}) {
    NearestRequest request = RequestOf(*dataset, {0}, 5);
    if (!use_index) request.index = nullptr;
    request.query.distance_range = DistanceRange::HalfOpen(400, 10000);
    EXPECT_THAT(Search(dataset, request).rows, ElementsAre(20, 21, 22, 23, 24));
    request.query.distance_range = DistanceRange::HalfOpen(4, 16);
    EXPECT_THAT(Search(dataset, request).rows, ElementsAre(2, 3));
  }
}

TEST(ReportedFaults, RowAddressZeroIsTakenForNone) {
  const auto dataset = Line(40);
  dataset->AddIndex("line", "vector", "l2", {{0, 1, 2, 3}}, {{5}, {25}});
  for (int64_t row = 1; row < 30; ++row) dataset->Delete(row);
  NearestRequest request = RequestOf(*dataset, {0.4}, 1);
  EXPECT_THAT(Search(dataset, request).rows, ElementsAre(0));
  auto mask = std::make_shared<dataset::RowMask>();
  mask->Add(0);
  request.mask = mask;
  EXPECT_THAT(Search(dataset, request).rows, ElementsAre(0));
}

TEST(ReportedFaults, AFilteredRowComesTwice) {
  const auto dataset = MakeDataset({{0}, {1}, {2}}, {}, 100);
  dataset->AddIndex("three", "vector", "l2", {{0}}, {{0}, {2}});
  NearestRequest request = RequestOf(*dataset, {0}, 2);
  auto mask = std::make_shared<dataset::RowMask>();
  mask->Add(0);
  mask->Add(2);
  request.mask = mask;
  EXPECT_THAT(Search(dataset, request).rows, ElementsAre(0, 2));
  request.index = nullptr;
  EXPECT_THAT(Search(dataset, request).rows, ElementsAre(0, 2));
}

TEST(ReportedFaults, FewerRowsThanKArePadded) {
  const auto dataset = Line(7);
  dataset->AddIndex("line", "vector", "l2", {{0}}, {{1}, {5}});
  EXPECT_EQ(Search(dataset, RequestOf(*dataset, {3}, 20)).rows.size(), 7);
}

TEST(ReportedFaults, ZeroVectorsMatchSomethingUnderCosine) {
  const auto dataset = MakeDataset({{0, 0}, {1, 0}, {0, 1}, {-1, 0}}, {}, 100);
  dataset->AddIndex("unit", "vector", "cosine", {{0}}, {{1, 0}});
  for (const bool use_index : {false, true}) {
    NearestRequest request = RequestOf(*dataset, {1, 0}, 10);
    request.query.metric = kernels::Metric::kCosine;
    if (!use_index) request.index = nullptr;
    const Answer answer = Search(dataset, request);
    EXPECT_THAT(answer.rows, ElementsAre(1, 2, 3));
    EXPECT_THAT(answer.distances, ElementsAre(0, 1, 2));
    request.query.vector = {0, 0};
    EXPECT_TRUE(Search(dataset, request).rows.empty());
  }
}

/// A multivector column `vector` of rows of vectors of two elements, with one segment over
/// `centroids`.
std::shared_ptr<MemoryDataset> MakeMultivectors(const std::vector<Vectors>& rows,
                                                const Vectors& centroids) {
  auto values = std::make_shared<arrow::FloatBuilder>();
  auto vectors =
      std::make_shared<arrow::FixedSizeListBuilder>(arrow::default_memory_pool(), values, 2);
  arrow::ListBuilder lists(arrow::default_memory_pool(), vectors);
  for (const Vectors& row : rows) {
    if (!lists.Append().ok()) std::abort();
    for (const auto& vector : row) {
      if (!vectors->Append().ok() || !values->AppendValues(vector).ok()) std::abort();
    }
  }
  auto dataset =
      std::make_shared<MemoryDataset>(MakeBatch({{"vector", lists.Finish().ValueOrDie()}}), 100);
  dataset->AddIndex("late", "vector", "cosine", {{0}}, centroids);
  return dataset;
}

TEST(ReportedFaults, MultivectorHitsAllTie) {
  const auto dataset =
      MakeMultivectors({{{1, 0}, {0, 1}}, {{1, 0}, {1, 0}}, {{0.7f, 0.7f}}, {}}, {{1, 0}, {0, 1}});
  NearestRequest request = RequestOf(*dataset, {1, 0, 0, 1}, 4);
  request.query.num_vectors = 2;
  request.query.metric = kernels::Metric::kCosine;
  for (const bool use_index : {false, true}) {
    if (use_index) request.query.refine_factor = 2;
    request.index = use_index ? dataset->vector_indexes().data() : nullptr;
    const Answer answer = Search(dataset, request);
    EXPECT_THAT(answer.rows, ElementsAre(0, 2, 1));
    EXPECT_THAT(answer.distances,
                ElementsAre(::testing::FloatEq(0), ::testing::FloatNear(0.5857864f, 1e-6f),
                            ::testing::FloatEq(1)));
  }
}

TEST(NearestPlan, TheMultivectorPlan) {
  const auto dataset =
      MakeMultivectors({{{1, 0}, {0, 1}}, {{1, 0}, {0.9f, 0.1f}}}, {{1, 0}, {0, 1}});
  NearestRequest request = RequestOf(*dataset, {1, 0, NAN, 0, 0, 1}, 2);
  request.query.num_vectors = 3;  // one of which can't match
  request.query.metric = kernels::Metric::kCosine;
  KINJO_ASSERT_RESULT(plan, MakeNearestPlan(dataset, request));
  const std::string search =
      "      Sort: fetch=20, order=[_distance, row address]\n"
      "        ANNSubIndex: name=late, k=20, deltas=1\n"
      "          ANNIvfPartition: uuid=late-0, minimum_nprobes=1, maximum_nprobes=None, deltas=1\n";
  EXPECT_EQ(RenderPlan(DescribePlan(*plan), {}),
            "Project: columns=[_distance, _rowid]\n"
            "  Sort: fetch=2, order=[_distance, row address]\n"
            "    MultivectorScoring: k=2\n" +
                search + search);
  const Answer answer = Search(dataset, request);
  EXPECT_THAT(answer.rows, ElementsAre(0, 1));
  EXPECT_FLOAT_EQ(answer.distances[0], 0);
  request.query.vector = {NAN, 0, 0, 0, INFINITY, 1};
  EXPECT_TRUE(Search(dataset, request).rows.empty());
  request.query.metric = kernels::Metric::kL2;
  EXPECT_EQ(base::MessageOf(MakeNearestPlan(dataset, request).status()),
            "column \"vector\" holds lists of vectors, which are compared by cosine, not by l2");
}

TEST(ReportedFaults, TheHeadOfALargerKIsAnotherAnswer) {
  Vectors vectors;
  std::mt19937_64 random(9);
  for (int i = 0; i < 500; ++i) {
    vectors.push_back({static_cast<float>(random() % 3), static_cast<float>(random() % 3)});
  }
  const auto dataset = MakeDataset(vectors, {}, 100);
  dataset->AddIndex("grid", "vector", "l2", {{0, 4}, {1, 2, 3}}, {{0, 0}, {2, 2}});
  NearestRequest request = RequestOf(*dataset, {1, 1}, 200);
  request.query.minimum_nprobes = 2;
  const Answer large = Search(dataset, request);
  request.query.k = 20;
  const Answer small = Search(dataset, request);
  EXPECT_EQ(small.rows, std::vector<int64_t>(large.rows.begin(), large.rows.begin() + 20));
}

}  // namespace
}  // namespace kinjo::exec
