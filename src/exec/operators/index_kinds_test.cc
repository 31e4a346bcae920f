// The plan of a search over every kind of index that the golden datasets hold: SQ, RQ, a graph over
// SQ, and hamming beside FLAT and PQ. A refine over all rows is brute force; without one the answer
// is what the segment's own distances say of every row.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <string>
#include <vector>

#include "exec/operators/nearest_plan.h"
#include "exec/operators/operator_fixture.h"

namespace kinjo::exec {
namespace {

constexpr int64_t kNeighbors = 12;

struct Opened {
  std::shared_ptr<dataset::Dataset> dataset;
  std::vector<std::vector<double>> vectors;  // of every live row
  std::vector<uint64_t> addresses;           // the same rows, rising
  const dataset::IndexInfo& index() const { return dataset->vector_indexes()[0]; }
  kernels::Metric metric() const { return *kernels::ParseMetric(index().metric); }
};

double ElementAt(const arrow::Array& values, int64_t i) {
  if (values.type_id() == arrow::Type::UINT8) {
    return static_cast<const arrow::UInt8Array&>(values).Value(i);
  }
  return static_cast<const arrow::FloatArray&>(values).Value(i);
}

Opened Open(const std::string& name) {
  Opened opened;
  opened.dataset = dataset::Dataset::Open(std::string(KINJO_GOLDEN_DIR) + "/" + name).ValueOrDie();
  const auto scan = opened.dataset->MakeScan({.columns = {"vec"}}).ValueOrDie();
  while (true) {
    const dataset::ScanBatch next = scan->Next().ValueOrDie();
    if (next.batch == nullptr) return opened;
    const auto& lists = ColumnOf<arrow::FixedSizeListArray>(*next.batch, "vec");
    for (int64_t row = 0; row < lists.length(); ++row) {
      opened.addresses.push_back(next.addresses[static_cast<size_t>(row)]);
      opened.vectors.emplace_back();
      for (int64_t j = 0; j < lists.list_type()->list_size(); ++j) {
        opened.vectors.back().push_back(ElementAt(*lists.values(), lists.value_offset(row) + j));
      }
    }
  }
}

/// A query between two rows, of bytes for hamming.
std::vector<double> QueryBetween(const Opened& opened, size_t one, size_t other) {
  std::vector<double> query;
  for (size_t j = 0; j < opened.vectors[one].size(); ++j) {
    const double mean = (3 * opened.vectors[one][j] + opened.vectors[other][j]) / 4;
    query.push_back(opened.metric() == kernels::Metric::kHamming
                        ? std::floor(mean)
                        : static_cast<double>(static_cast<float>(mean)));
  }
  return query;
}

double PlainDistance(kernels::Metric metric, const std::vector<double>& a,
                     const std::vector<double>& b) {
  double l2 = 0, dot = 0, a2 = 0, b2 = 0, bits = 0;
  for (size_t j = 0; j < a.size(); ++j) {
    l2 += (a[j] - b[j]) * (a[j] - b[j]);
    dot += a[j] * b[j];
    a2 += a[j] * a[j];
    b2 += b[j] * b[j];
    if (metric == kernels::Metric::kHamming) {
      bits += std::popcount(static_cast<uint8_t>(static_cast<int>(a[j]) ^ static_cast<int>(b[j])));
    }
  }
  switch (metric) {
    case kernels::Metric::kCosine:
      return 1 - dot / std::sqrt(a2 * b2);
    case kernels::Metric::kDot:
      return 1 - dot;
    case kernels::Metric::kHamming:
      return bits;
    default:
      return l2;
  }
}

NearestRequest RequestOf(const Opened& opened, std::vector<double> query) {
  NearestRequest request;
  request.query.column = "vec";
  request.query.vector = std::move(query);
  request.query.metric = opened.metric();
  request.query.k = kNeighbors;
  request.query.minimum_nprobes = 1000;  // all
  request.query.ef = 1000;
  request.index = &opened.index();
  request.with_row_id = true;
  return request;
}

std::vector<kernels::Neighbor> Search(const Opened& opened, const NearestRequest& request,
                                      TestRun* test) {
  std::vector<kernels::Neighbor> rows;
  const auto plan = MakeNearestPlan(opened.dataset, request);
  EXPECT_TRUE(plan.ok()) << plan.status();
  if (!plan.ok()) return rows;
  const auto batch = RunPlan(**plan, &test->run);
  EXPECT_TRUE(batch.ok()) << batch.status();
  if (!batch.ok()) return rows;
  const auto& ids = ColumnOf<arrow::UInt64Array>(**batch, kRowIdColumn);
  const auto& distances = ColumnOf<arrow::FloatArray>(**batch, kDistanceColumn);
  for (int64_t i = 0; i < ids.length(); ++i) rows.push_back({distances.Value(i), ids.Value(i)});
  return rows;
}

std::vector<kernels::Neighbor> Best(std::vector<kernels::Neighbor> rows) {
  std::sort(rows.begin(), rows.end());
  rows.resize(std::min<size_t>(rows.size(), kNeighbors));
  return rows;
}

/// What the codes of every row in `mask` (null: every row) say.
std::vector<kernels::Neighbor> BestByCodes(const Opened& opened, const std::vector<double>& query,
                                           const dataset::RowMask* mask) {
  std::vector<kernels::Neighbor> rows;
  for (size_t ordinal = 0; ordinal < opened.index().segments.size(); ++ordinal) {
    const auto segment = opened.dataset->OpenSegment(opened.index(), ordinal).ValueOrDie();
    const index::QueryBlock queries = segment->PrepareQueries(query);
    for (int64_t p = 0; p < segment->num_partitions(); ++p) {
      const format::PartitionRows stored = segment->Load(p).ValueOrDie();
      std::vector<uint64_t> addresses(stored.num_rows);
      const auto* ids = reinterpret_cast<const uint64_t*>(stored.row_ids->data());
      EXPECT_TRUE(
          opened.dataset
              ->ResolveRowIds(opened.index().segments[ordinal], {ids, stored.num_rows}, addresses)
              .ok());
      if (mask != nullptr) dataset::KeepMaskedRows(*mask, addresses);
      index::DecodedPartition decoded;
      segment->Decode(p, stored, addresses, dataset::kDeadRow, &decoded);
      for (size_t slot = 0; slot < decoded.addresses.size(); ++slot) {
        rows.push_back({segment->Distance(p, queries.query(0), decoded, static_cast<int64_t>(slot)),
                        decoded.addresses[slot]});
      }
    }
  }
  return Best(std::move(rows));
}

void ExpectSame(const std::vector<kernels::Neighbor>& got,
                const std::vector<kernels::Neighbor>& want) {
  ASSERT_EQ(got.size(), want.size());
  for (size_t i = 0; i < got.size(); ++i) {
    EXPECT_EQ(got[i].address, want[i].address) << "rank " << i;
    EXPECT_EQ(got[i].distance, want[i].distance) << "rank " << i;
  }
}

const char* const kDatasets[] = {"flat_l2.lance", "flat_cosine.lance", "flat_hamming.lance",
                                 "pq4_l2.lance",  "pq8_cosine.lance",  "pq8_dot.lance",
                                 "sq_l2.lance",   "rq_l2.lance",       "hnsw_sq.lance"};

TEST(IndexKinds, AllPartitionsAndARefineOverAllRowsAreBruteForce) {
  for (const char* name : kDatasets) {
    SCOPED_TRACE(name);
    const Opened opened = Open(name);
    for (const size_t row : {3, 150}) {
      NearestRequest request = RequestOf(opened, QueryBetween(opened, row, row + 40));
      request.query.refine_factor = 60;
      std::vector<kernels::Neighbor> want;
      for (size_t i = 0; i < opened.vectors.size(); ++i) {
        const double distance =
            PlainDistance(opened.metric(), request.query.vector, opened.vectors[i]);
        want.push_back({static_cast<float>(distance), opened.addresses[i]});
      }
      want = Best(std::move(want));
      for (const int threads : {1, 3}) {
        TestRun test(threads);
        const auto got = Search(opened, request, &test);
        ASSERT_EQ(got.size(), want.size());
        for (size_t i = 0; i < got.size(); ++i) {
          EXPECT_EQ(got[i].address, want[i].address) << "rank " << i;
          EXPECT_NEAR(got[i].distance, want[i].distance, 1e-6 + 1e-5 * std::abs(want[i].distance));
        }
      }
    }
  }
}

TEST(IndexKinds, WithoutARefineTheSegmentsDistancesDecide) {
  for (const char* name : kDatasets) {
    SCOPED_TRACE(name);
    const Opened opened = Open(name);
    for (const size_t row : {0, 77}) {
      const NearestRequest request = RequestOf(opened, QueryBetween(opened, row, row + 100));
      const auto want = BestByCodes(opened, request.query.vector, nullptr);
      for (const int threads : {1, 3}) {
        TestRun test(threads);
        ExpectSame(Search(opened, request, &test), want);
        const auto segment = opened.dataset->OpenSegment(opened.index(), 0).ValueOrDie();
        EXPECT_EQ(test.run.Total(kPartitionsSearched), segment->num_partitions());
        EXPECT_EQ(test.run.Total(kPartsLoaded), segment->num_partitions());
      }
    }
  }
}

TEST(IndexKinds, AFilterDecidesBeforeTheSearchOfEveryKind) {
  for (const char* name : kDatasets) {
    SCOPED_TRACE(name);
    const Opened opened = Open(name);
    // One row in two (which a graph searches), and one in fifteen (too few for a graph).
    for (const size_t step : {2, 15}) {
      auto mask = std::make_shared<dataset::RowMask>();
      for (size_t i = 0; i < opened.addresses.size(); i += step) mask->Add(opened.addresses[i]);
      NearestRequest request = RequestOf(opened, QueryBetween(opened, 11, 90));
      request.mask = mask;
      TestRun test;
      const auto got = Search(opened, request, &test);
      const auto want = BestByCodes(opened, request.query.vector, mask.get());
      ASSERT_GT(mask->count(), static_cast<uint64_t>(kNeighbors));
      ExpectSame(got, want);
      for (const kernels::Neighbor& row : got) EXPECT_TRUE(mask->Contains(row.address));
    }
  }
}

TEST(IndexKinds, APartitionWithoutAPassingRowIsNotReadWhole) {
  for (const char* name : kDatasets) {
    SCOPED_TRACE(name);
    const Opened opened = Open(name);
    const auto segment = opened.dataset->OpenSegment(opened.index(), 0).ValueOrDie();
    const std::vector<double> query = QueryBetween(opened, 11, 90);
    // The rows of one partition pass; the query's k are found there or nowhere.
    const format::PartitionRows stored = segment->LoadRowIds(1).ValueOrDie();
    EXPECT_EQ(stored.codes, nullptr);
    ASSERT_GT(stored.num_rows, static_cast<uint64_t>(kNeighbors));
    std::vector<uint64_t> addresses(stored.num_rows);
    const auto* ids = reinterpret_cast<const uint64_t*>(stored.row_ids->data());
    ASSERT_TRUE(
        opened.dataset->ResolveRowIds(opened.index().segments[0], {ids, stored.num_rows}, addresses)
            .ok());
    auto mask = std::make_shared<dataset::RowMask>();
    mask->Add(addresses);
    NearestRequest request = RequestOf(opened, query);
    request.mask = mask;
    TestRun test;
    const uint64_t before = opened.dataset->io_counters().bytes_read.load();
    const auto got = Search(opened, request, &test);
    const uint64_t bytes = opened.dataset->io_counters().bytes_read.load() - before;
    ExpectSame(got, BestByCodes(opened, query, mask.get()));
    int64_t empty = 0;
    for (int64_t p = 0; p < segment->num_partitions(); ++p)
      empty += segment->partition_rows(p) == 0;
    EXPECT_EQ(test.run.Total(kPartitionsSearched), segment->num_partitions());
    EXPECT_EQ(test.run.Total(kPartsLoaded), 1 + empty);
    EXPECT_EQ(test.run.Total(kPartsSkipped), segment->num_partitions() - 1 - empty);
    // The same without a filter reads more.
    request.mask = nullptr;
    TestRun whole;
    const uint64_t start = opened.dataset->io_counters().bytes_read.load();
    Search(opened, request, &whole);
    EXPECT_EQ(whole.run.Total(kPartsSkipped), 0);
    EXPECT_LT(bytes, opened.dataset->io_counters().bytes_read.load() - start);
  }
}

}  // namespace
}  // namespace kinjo::exec
