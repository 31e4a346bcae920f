#include "index/hnsw_search.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numeric>
#include <random>
#include <set>
#include <vector>

#include "gtest/gtest.h"

namespace kinjo::index {
namespace {

constexpr uint64_t kDead = ~uint64_t{0};

/// Points on a line: simple enough to tell by hand what is near.
class LineScorer final : public NodeScorer {
 public:
  LineScorer(std::vector<float> points, float query) : points_(std::move(points)), query_(query) {}
  void Score(std::span<const uint32_t> nodes, float* distances) const override {
    for (const uint32_t node : nodes) *distances++ = std::abs(points_[node] - query_);
  }

 private:
  const std::vector<float> points_;
  const float query_;
};

std::vector<float> RandomPoints(int count, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<float> values(0, 1000);
  std::vector<float> points(static_cast<size_t>(count));
  for (float& point : points) point = values(random);
  return points;
}

void AddLevel(const std::vector<std::vector<uint32_t>>& neighbors, std::vector<uint32_t> nodes,
              format::PartitionGraph* graph) {
  format::GraphLevel level;
  level.nodes = std::move(nodes);
  level.offsets.push_back(0);
  for (const auto& list : neighbors) {
    level.neighbors.insert(level.neighbors.end(), list.begin(), list.end());
    level.offsets.push_back(static_cast<uint32_t>(level.neighbors.size()));
  }
  graph->levels.push_back(std::move(level));
}

// A ring: node i knows i - 1 and i + 1, and `far` more at random.
format::PartitionGraph Ring(uint32_t nodes, int far, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<std::vector<uint32_t>> neighbors(nodes);
  for (uint32_t i = 0; i < nodes; ++i) {
    neighbors[i] = {(i + 1) % nodes, (i + nodes - 1) % nodes};
    for (int j = 0; j < far; ++j) neighbors[i].push_back(random() % nodes);
  }
  format::PartitionGraph graph{.num_nodes = nodes};
  AddLevel(neighbors, {}, &graph);
  return graph;
}

// Node i knows the nearest points on both sides of its own, and two at random.
format::PartitionGraph NearestPoints(const std::vector<float>& points, int side, uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto nodes = static_cast<int>(points.size());
  std::vector<uint32_t> order(points.size());
  std::iota(order.begin(), order.end(), 0u);
  std::sort(order.begin(), order.end(),
            [&](uint32_t a, uint32_t b) { return points[a] < points[b]; });
  std::vector<std::vector<uint32_t>> neighbors(points.size());
  for (int i = 0; i < nodes; ++i) {
    for (int j = std::max(0, i - side); j <= std::min(nodes - 1, i + side); ++j) {
      if (j != i) neighbors[order[i]].push_back(order[j]);
    }
    for (int j = 0; j < 2; ++j) neighbors[order[i]].push_back(random() % points.size());
  }
  format::PartitionGraph graph{.num_nodes = static_cast<uint32_t>(nodes)};
  AddLevel(neighbors, {}, &graph);
  return graph;
}

/// One search and what it needs.
struct SearchCase {
  format::PartitionGraph graph;
  std::vector<uint64_t> addresses;
  LineScorer scorer;
  HnswSearcher searcher;

  SearchCase(format::PartitionGraph a_graph, const std::vector<float>& points, float query)
      : graph(std::move(a_graph)), scorer(points, query) {
    for (size_t i = 0; i < points.size(); ++i) addresses.push_back(1000 + i);
  }
  void Kill(uint32_t node) { addresses[node] = kDead; }
  HnswQuery Query(int64_t ef) {
    return {.graph = &graph,
            .scorer = &scorer,
            .addresses = addresses,
            .dead = kDead,
            .live_nodes = static_cast<int64_t>(addresses.size()) -
                          std::count(addresses.begin(), addresses.end(), kDead),
            .ef = ef};
  }
  std::vector<uint32_t> Search(const HnswQuery& query) {
    std::vector<uint32_t> found = {77};  // must not stay
    searcher.Search(query, &found);
    return found;
  }
  std::vector<uint32_t> Search(int64_t ef) { return Search(Query(ef)); }
};

// By brute force: the live nodes in order of (distance, id).
std::vector<uint32_t> Sorted(const std::vector<float>& points, float query,
                             const std::vector<uint64_t>& addresses) {
  std::vector<uint32_t> nodes;
  for (uint32_t i = 0; i < points.size(); ++i) {
    if (addresses[i] != kDead) nodes.push_back(i);
  }
  std::sort(nodes.begin(), nodes.end(), [&](uint32_t a, uint32_t b) {
    const float da = std::abs(points[a] - query);
    const float db = std::abs(points[b] - query);
    return da != db ? da < db : a < b;
  });
  return nodes;
}

TEST(HnswSearch, ABeamAsWideAsTheGraphIsBruteForce) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    const std::vector<float> points = RandomPoints(60, seed);
    SearchCase setup(Ring(60, 2, seed), points, 500);
    for (uint32_t node = 0; node < 60; node += 3) setup.Kill(node);
    EXPECT_EQ(setup.Search(60), Sorted(points, 500, setup.addresses)) << seed;
    EXPECT_EQ(setup.Search(40), Sorted(points, 500, setup.addresses)) << seed;
  }
}

TEST(HnswSearch, ANarrowBeamFindsMostOfTheNearest) {
  int hits = 0;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    const std::vector<float> points = RandomPoints(400, seed);
    SearchCase setup(NearestPoints(points, 4, seed), points, 300);
    const std::vector<uint32_t> found = setup.Search(40);
    ASSERT_EQ(found.size(), 40u);
    EXPECT_TRUE(std::is_sorted(found.begin(), found.end(), [&](uint32_t a, uint32_t b) {
      return std::abs(points[a] - 300) < std::abs(points[b] - 300);
    }));
    const std::vector<uint32_t> nearest = Sorted(points, 300, setup.addresses);
    const std::set<uint32_t> ten(nearest.begin(), nearest.begin() + 10);
    for (const uint32_t node : found) hits += static_cast<int>(ten.count(node));
  }
  EXPECT_GE(hits, 180);
  EXPECT_LE(hits, 200);
}

TEST(HnswSearch, DeadNodesAreWalkedOverAndNotFound) {
  // 0 - 1 - 2 - 3 in a row, from the far end; the two in the middle are dead.
  format::PartitionGraph graph{.num_nodes = 4};
  AddLevel({{1}, {0, 2}, {1, 3}, {2}}, {}, &graph);
  SearchCase setup(std::move(graph), {40, 30, 20, 10}, 0);
  setup.Kill(1);
  setup.Kill(2);
  EXPECT_EQ(setup.Search(4), (std::vector<uint32_t>{3, 0}));
  EXPECT_EQ(setup.Search(1), (std::vector<uint32_t>{3}));
}

TEST(HnswSearch, NodesThatNoEdgeLeadsToFollowWhenTheBeamRanDry) {
  // Two islands: 0 - 1 and 2 - 3; the nearest node is on the one that isn't reached.
  format::PartitionGraph graph{.num_nodes = 4};
  AddLevel({{1}, {0}, {3}, {2}}, {}, &graph);
  SearchCase setup(std::move(graph), {40, 30, 20, 10}, 0);
  EXPECT_EQ(setup.Search(2), (std::vector<uint32_t>{1, 0}));  // full: nothing is missing
  EXPECT_EQ(setup.Search(3), (std::vector<uint32_t>{1, 0, 2, 3}));
  setup.Kill(3);
  EXPECT_EQ(setup.Search(3), (std::vector<uint32_t>{1, 0, 2}));
  setup.Kill(2);
  EXPECT_EQ(setup.Search(3), (std::vector<uint32_t>{1, 0}));
}

TEST(HnswSearch, TheRangeBoundsTheBeam) {
  const std::vector<float> points = RandomPoints(200, 3);
  SearchCase setup(Ring(200, 4, 3), points, 500);
  HnswQuery query = setup.Query(200);
  query.lower = 50;
  query.maximum = 120;
  const std::vector<uint32_t> found = setup.Search(query);
  std::vector<uint32_t> expected = Sorted(points, 500, setup.addresses);
  int64_t nearer = 0;
  std::erase_if(expected, [&](uint32_t node) {
    const float distance = std::abs(points[node] - 500);
    nearer += distance < 50;
    return distance < 50 || distance > 120;
  });
  ASSERT_GE(expected.size(), 10u);
  EXPECT_EQ(found, expected);
  EXPECT_EQ(setup.searcher.nearer(), nearer);
}

TEST(HnswSearch, UpperLevelsLeadToTheStart) {
  // On level 0 only a chain: a beam of one can't cross it, but level 1 jumps.
  std::vector<std::vector<uint32_t>> chain(50);
  std::vector<float> points(50);
  for (uint32_t i = 0; i < 50; ++i) {
    // The distance to 0 rises on the way from node 0 to node 25 before it falls.
    points[i] = static_cast<float>(i <= 25 ? 100 + i : 150 - 6 * (i - 25));
    if (i > 0) chain[i].push_back(i - 1);
    if (i < 49) chain[i].push_back(i + 1);
  }
  format::PartitionGraph graph{.num_nodes = 50};
  AddLevel(chain, {}, &graph);
  AddLevel({{40}, {0}}, {0, 40}, &graph);
  SearchCase up(graph, points, 0);
  EXPECT_EQ(up.Search(1), (std::vector<uint32_t>{49}));
  graph.levels.pop_back();
  SearchCase flat(std::move(graph), points, 0);
  EXPECT_EQ(flat.Search(1), (std::vector<uint32_t>{0}));
}

TEST(HnswSearch, TiesAreOrderedById) {
  SearchCase setup(Ring(9, 0, 1), std::vector<float>(9, 5.0f), 1);
  EXPECT_EQ(setup.Search(9), (std::vector<uint32_t>{0, 1, 2, 3, 4, 5, 6, 7, 8}));
}

TEST(HnswSearch, DistancesThatAreNoNumbersComeLast) {
  const float nan = std::nanf("");
  SearchCase setup(Ring(4, 0, 1), {nan, 7, nan, 3}, 0);
  EXPECT_EQ(setup.Search(4), (std::vector<uint32_t>{3, 1, 0, 2}));
}

TEST(HnswSearch, OneSearchAfterAnotherAndEmptyGraphs) {
  const std::vector<float> points = RandomPoints(100, 9);
  SearchCase large(Ring(100, 3, 9), points, 10);
  const std::vector<uint32_t> first = large.Search(20);
  format::PartitionGraph nothing;
  const HnswQuery empty{.graph = &nothing, .scorer = &large.scorer, .ef = 5};
  EXPECT_TRUE(large.Search(empty).empty());
  EXPECT_EQ(large.Search(20), first);
  EXPECT_GT(large.searcher.comparisons(), 40);
}

}  // namespace
}  // namespace kinjo::index
