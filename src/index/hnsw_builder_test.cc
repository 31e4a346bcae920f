#include "index/hnsw_builder.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "arrow/util/float16.h"
#include "base/assert_result.h"
#include "gtest/gtest.h"
#include "index/hnsw_search.h"

namespace kinjo::index {
namespace {

using kernels::Metric;
using kernels::NodeElement;

constexpr int64_t kDim = 12;

/// Rows around a few centres, as floats.
std::vector<float> ClusteredRows(uint32_t count, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<float> normal;
  std::vector<float> centres(20 * kDim);
  for (float& value : centres) value = 3 * normal(random);
  std::vector<float> rows(count * kDim);
  for (uint32_t i = 0; i < count; ++i) {
    const size_t centre = random() % 20;
    for (int64_t j = 0; j < kDim; ++j) {
      rows[i * kDim + j] = centres[centre * kDim + j] + normal(random);
    }
  }
  return rows;
}

std::unique_ptr<GraphRows> FloatRows(const std::vector<float>& rows, Metric metric) {
  return MakeDenseGraphRows(
      {.rows = rows.data(),
       .num_nodes = static_cast<uint32_t>(rows.size()) / static_cast<uint32_t>(kDim),
       .dim = kDim},
      metric);
}

BuiltGraph Build(const GraphRows& rows, const HnswParams& params = {}, int threads = 2) {
  base::ThreadPool pool(threads);
  auto built = BuildHnsw(rows, params, &pool, base::CancelToken());
  EXPECT_TRUE(built.ok()) << built.status();
  return std::move(built).ValueOrDie();
}

/// Distances of all rows to a stored one.
class RowScorer final : public NodeScorer {
 public:
  RowScorer(const GraphRows& rows, uint32_t query) : rows_(rows) { rows.Select(query, &query_); }
  void Score(std::span<const uint32_t> nodes, float* distances) const override {
    rows_.Measure(query_, nodes, distances);
  }

 private:
  const GraphRows& rows_;
  GraphQuery query_;
};

std::vector<uint32_t> Nearest(const GraphRows& rows, uint32_t query, size_t k) {
  std::vector<uint32_t> nodes(rows.num_nodes());
  for (uint32_t i = 0; i < nodes.size(); ++i) nodes[i] = i;
  std::vector<float> distances(nodes.size());
  RowScorer(rows, query).Score(nodes, distances.data());
  std::sort(nodes.begin(), nodes.end(), [&](uint32_t a, uint32_t b) {
    return std::tie(distances[a], a) < std::tie(distances[b], b);
  });
  nodes.resize(std::min(k, nodes.size()));
  return nodes;
}

double Recall(const GraphRows& rows, const format::PartitionGraph& graph, int64_t ef) {
  const std::vector<uint64_t> addresses(rows.num_nodes(), 1);
  HnswSearcher searcher;
  int hits = 0;
  int wanted = 0;
  for (uint32_t query = 0; query < rows.num_nodes(); query += rows.num_nodes() / 50) {
    const RowScorer scorer(rows, query);
    std::vector<uint32_t> found;
    searcher.Search({.graph = &graph,
                     .scorer = &scorer,
                     .addresses = addresses,
                     .dead = 0,
                     .live_nodes = rows.num_nodes(),
                     .ef = ef},
                    &found);
    found.resize(std::min<size_t>(found.size(), 10));
    const std::vector<uint32_t> truth = Nearest(rows, query, 10);
    for (const uint32_t node : truth) {
      hits += static_cast<int>(std::count(found.begin(), found.end(), node));
    }
    wanted += static_cast<int>(truth.size());
  }
  return static_cast<double>(hits) / wanted;
}

size_t Reachable(const format::PartitionGraph& graph) {
  std::set<uint32_t> seen = {graph.entry_point};
  std::vector<uint32_t> open = {graph.entry_point};
  while (!open.empty()) {
    const uint32_t node = open.back();
    open.pop_back();
    for (const uint32_t next : graph.neighbors(0, node)) {
      if (seen.insert(next).second) open.push_back(next);
    }
  }
  return seen.size();
}

/// What the file format and the search take for granted.
void ExpectWellFormed(const GraphRows& rows, const BuiltGraph& built, const HnswParams& params) {
  const format::PartitionGraph& graph = built.graph;
  ASSERT_EQ(graph.num_nodes, rows.num_nodes());
  ASSERT_LT(graph.entry_point, graph.num_nodes);
  ASSERT_GE(graph.levels.size(), 1u);
  ASSERT_LE(graph.levels.size(), params.max_level);
  ASSERT_EQ(built.distances.size(), graph.levels.size());
  for (size_t level = 0; level < graph.levels.size(); ++level) {
    const format::GraphLevel& at = graph.levels[level];
    const size_t count = level == 0 ? graph.num_nodes : at.nodes.size();
    ASSERT_EQ(at.offsets.size(), count + 1);
    ASSERT_EQ(built.distances[level].size(), at.neighbors.size());
    EXPECT_TRUE(std::is_sorted(at.nodes.begin(), at.nodes.end()));
    for (size_t i = 0; i < count; ++i) {
      const uint32_t node = level == 0 ? static_cast<uint32_t>(i) : at.nodes[i];
      const auto neighbors = at.neighbors_at(i);
      ASSERT_LE(neighbors.size(), level == 0 ? 2 * params.m : params.m);
      EXPECT_EQ(std::set<uint32_t>(neighbors.begin(), neighbors.end()).size(), neighbors.size());
      std::vector<float> distances(neighbors.size());
      RowScorer(rows, node).Score(neighbors, distances.data());
      for (size_t j = 0; j < neighbors.size(); ++j) {
        EXPECT_NE(neighbors[j], node);
        EXPECT_EQ(distances[j], built.distances[level][at.offsets[i] + j]);
        const bool on_level =
            level == 0 || std::binary_search(at.nodes.begin(), at.nodes.end(), neighbors[j]);
        EXPECT_TRUE(on_level) << "level " << level;
      }
    }
  }
  EXPECT_EQ(Reachable(graph), graph.num_nodes);
}

TEST(HnswBuilder, FindsWhatBruteForceFinds) {
  const std::vector<float> rows = ClusteredRows(3000, 1);
  for (const Metric metric : {Metric::kL2, Metric::kDot}) {
    const auto view = FloatRows(rows, metric);
    const BuiltGraph built = Build(*view);
    ExpectWellFormed(*view, built, {});
    EXPECT_GE(built.graph.levels.size(), 2u);
    EXPECT_GE(Recall(*view, built.graph, 60), metric == Metric::kL2 ? 0.99 : 0.95);
  }
}

TEST(HnswBuilder, ListsAreFilledSoThatANarrowBeamFinds) {
  const std::vector<float> rows = ClusteredRows(3000, 9);
  const auto view = FloatRows(rows, Metric::kL2);
  const HnswParams params;
  const BuiltGraph built = Build(*view, params);
  const format::GraphLevel& level = built.graph.levels[0];
  // A node begins with m neighbours, and its list is cut to 2 m. The first nodes found fewer.
  EXPECT_GE(level.neighbors.size(), size_t{3000} * params.m * 5 / 4);
  uint32_t short_lists = 0;
  for (size_t i = 0; i < 3000; ++i) short_lists += level.neighbors_at(i).size() < params.m;
  EXPECT_LE(short_lists, params.m);
  EXPECT_GE(Recall(*view, built.graph, 15), 0.985);
}

TEST(HnswBuilder, BytesAndHalvesAndBits) {
  const std::vector<float> rows = ClusteredRows(1500, 2);
  std::vector<uint8_t> bytes;
  std::vector<uint16_t> halves;
  for (const float value : rows) {
    bytes.push_back(static_cast<uint8_t>(std::clamp(value * 10 + 128, 0.0f, 255.0f)));
    halves.push_back(arrow::util::Float16::FromFloat(value).bits());
  }
  DenseGraphRows dense{.rows = bytes.data(),
                       .element = NodeElement::kByte,
                       .num_nodes = 1500,
                       .dim = kDim,
                       .start = -12.8,
                       .scale = 0.1};
  for (const Metric metric : {Metric::kL2, Metric::kDot}) {
    const auto view = MakeDenseGraphRows(dense, metric);
    const BuiltGraph built = Build(*view);
    ExpectWellFormed(*view, built, {});
    EXPECT_GE(Recall(*view, built.graph, 60), 0.9) << static_cast<int>(metric);
  }
  dense = {.rows = halves.data(), .element = NodeElement::kHalf, .num_nodes = 1500, .dim = kDim};
  const auto half_view = MakeDenseGraphRows(dense, Metric::kL2);
  EXPECT_GE(Recall(*half_view, Build(*half_view).graph, 60), 0.98);
  const auto bit_view = MakeBitGraphRows(bytes.data(), 1500, kDim);
  const BuiltGraph bits = Build(*bit_view);
  ExpectWellFormed(*bit_view, bits, {});
  EXPECT_GE(Recall(*bit_view, bits.graph, 200), 0.9);
}

TEST(HnswBuilder, MovedBytesAreMeasuredAsTheRowsTheyStandFor) {
  const std::vector<uint8_t> bytes = {0, 10, 200, 30, 7, 99};
  const auto moved = MakeDenseGraphRows({.rows = bytes.data(),
                                         .element = NodeElement::kByte,
                                         .num_nodes = 2,
                                         .dim = 3,
                                         .start = -1.5,
                                         .scale = 0.25},
                                        Metric::kDot);
  GraphQuery query;
  moved->Select(0, &query);
  double dot = 0;
  for (int j = 0; j < 3; ++j) dot += (-1.5 + 0.25 * bytes[j]) * (-1.5 + 0.25 * bytes[3 + j]);
  const uint32_t other = 1;
  float distance = 0;
  moved->Measure(query, {&other, 1}, &distance);
  EXPECT_NEAR(distance, -dot, 1e-4);
}

TEST(HnswBuilder, TheSameGraphOnAnyNumberOfThreads) {
  const std::vector<float> rows = ClusteredRows(2000, 3);
  const auto view = FloatRows(rows, Metric::kL2);
  const HnswParams params{.m = 8, .ef_construction = 40, .seed = 5};
  const BuiltGraph one = Build(*view, params, 1);
  for (const int threads : {2, 4}) {
    const BuiltGraph many = Build(*view, params, threads);
    EXPECT_EQ(many.graph.entry_point, one.graph.entry_point);
    EXPECT_EQ(many.distances, one.distances);
    ASSERT_EQ(many.graph.levels.size(), one.graph.levels.size());
    for (size_t level = 0; level < one.graph.levels.size(); ++level) {
      EXPECT_EQ(many.graph.levels[level].nodes, one.graph.levels[level].nodes);
      EXPECT_EQ(many.graph.levels[level].offsets, one.graph.levels[level].offsets);
      EXPECT_EQ(many.graph.levels[level].neighbors, one.graph.levels[level].neighbors);
    }
  }
  const BuiltGraph other = Build(*view, {.m = 8, .ef_construction = 40, .seed = 6}, 1);
  EXPECT_NE(other.graph.levels[0].neighbors, one.graph.levels[0].neighbors);
}

TEST(HnswBuilder, FewRowsAndEqualRows) {
  for (const uint32_t count : {1u, 2u, 3u, 50u, 300u}) {
    const std::vector<float> equal(count * kDim, 1.5f);
    const auto view = FloatRows(equal, Metric::kL2);
    ExpectWellFormed(*view, Build(*view), {});
    const std::vector<float> rows = ClusteredRows(count, count);
    const auto different = FloatRows(rows, Metric::kL2);
    ExpectWellFormed(*different, Build(*different), {});
  }
  const auto nothing = FloatRows({}, Metric::kL2);
  const BuiltGraph empty = Build(*nothing);
  EXPECT_EQ(empty.graph.num_nodes, 0u);
  EXPECT_TRUE(empty.graph.levels.empty());
}

TEST(HnswBuilder, FewDifferentRowsStayConnected) {
  // Three places, a hundred rows at each: the lists fill with rows of the own place.
  std::vector<float> rows(300 * kDim);
  for (size_t i = 0; i < 300; ++i) rows[i * kDim] = 100.0f * static_cast<float>(i % 3);
  const auto view = FloatRows(rows, Metric::kL2);
  const HnswParams params{.m = 4, .ef_construction = 20};
  ExpectWellFormed(*view, Build(*view, params), params);
}

TEST(HnswBuilder, NumbersThatOverflowAreFar) {
  std::vector<float> rows = ClusteredRows(200, 8);
  for (size_t i = 0; i < rows.size(); i += 7) rows[i] = 3e38f;
  const auto view = FloatRows(rows, Metric::kL2);
  const BuiltGraph built = Build(*view);
  EXPECT_EQ(built.graph.num_nodes, 200u);
}

TEST(HnswBuilder, OneLevelWhenAsked) {
  const std::vector<float> rows = ClusteredRows(500, 4);
  const auto view = FloatRows(rows, Metric::kL2);
  const HnswParams params{.m = 2, .ef_construction = 1, .max_level = 1};
  const BuiltGraph built = Build(*view, params);
  ExpectWellFormed(*view, built, params);
  EXPECT_EQ(built.graph.levels.size(), 1u);
}

TEST(HnswBuilder, StopsWhenCancelledAndTellsHowFarItIs) {
  const std::vector<float> rows = ClusteredRows(500, 4);
  const auto view = FloatRows(rows, Metric::kL2);
  base::ThreadPool pool(2);
  const base::CancelToken cancel;
  std::vector<uint32_t> told;
  auto built = BuildHnsw(*view, {}, &pool, cancel, [&](uint32_t done) {
    told.push_back(done);
    if (done > 100) cancel.Cancel();
  });
  EXPECT_EQ(base::CodeOf(built.status()), base::ErrorCode::kCancelled);
  EXPECT_TRUE(std::is_sorted(told.begin(), told.end()));
  EXPECT_LT(told.back(), 200u);
}

}  // namespace
}  // namespace kinjo::index
