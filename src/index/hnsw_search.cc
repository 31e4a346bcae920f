#include "index/hnsw_search.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "index/distance_key.h"

namespace kinjo::index {

void HnswSearcher::ScoreNodes(const HnswQuery& query, std::span<const uint32_t> nodes) {
  distances_.resize(nodes.size());
  query.scorer->Score(nodes, distances_.data());
  comparisons_ += static_cast<int64_t>(nodes.size());
  for (float& distance : distances_) {
    if (std::isnan(distance)) distance = std::numeric_limits<float>::infinity();
  }
}

uint64_t HnswSearcher::Descend(const HnswQuery& query) {
  const format::PartitionGraph& graph = *query.graph;
  uint32_t nearest = graph.entry_point;
  ScoreNodes(query, {&nearest, 1});
  float distance = distances_[0];
  for (size_t level = graph.levels.size() - 1; level > 0; --level) {
    // Each step is strictly nearer, so this ends.
    for (bool moved = true; moved;) {
      moved = false;
      const std::span<const uint32_t> neighbors = graph.neighbors(level, nearest);
      ScoreNodes(query, neighbors);
      for (size_t i = 0; i < neighbors.size(); ++i) {
        if (distances_[i] >= distance) continue;
        distance = distances_[i];
        nearest = neighbors[i];
        moved = true;
      }
    }
  }
  return DistanceKey(distance, nearest);
}

float HnswSearcher::Furthest() const {
  return results_.empty() ? std::numeric_limits<float>::infinity() : DistanceOf(results_.front());
}

void HnswSearcher::Visit(const HnswQuery& query, uint32_t node, float distance) {
  const auto ef = static_cast<size_t>(query.ef);
  if (distance > Furthest() && results_.size() >= ef) return;
  const uint64_t key = DistanceKey(distance, node);
  const bool live = query.addresses[node] != query.dead;
  nearer_ += live && distance < query.lower;
  if (live && distance >= query.lower && distance <= query.maximum) {
    if (results_.size() < ef) {
      results_.push_back(key);
      std::push_heap(results_.begin(), results_.end());
    } else if (distance < Furthest()) {
      std::pop_heap(results_.begin(), results_.end());
      results_.back() = key;
      std::push_heap(results_.begin(), results_.end());
    }
  }
  candidates_.push_back(key);
  std::push_heap(candidates_.begin(), candidates_.end(), std::greater<>());
}

void HnswSearcher::Beam(const HnswQuery& query, uint64_t start) {
  const auto ef = static_cast<size_t>(query.ef);
  visited_[IdOf(start)] = search_;
  live_visited_ += query.addresses[IdOf(start)] != query.dead;
  Visit(query, IdOf(start), DistanceOf(start));
  while (!candidates_.empty()) {
    std::pop_heap(candidates_.begin(), candidates_.end(), std::greater<>());
    const uint64_t nearest = candidates_.back();
    candidates_.pop_back();
    if (DistanceOf(nearest) > Furthest() && results_.size() >= ef) return;
    fresh_.clear();
    for (const uint32_t node : query.graph->neighbors(0, IdOf(nearest))) {
      if (visited_[node] == search_) continue;
      visited_[node] = search_;
      live_visited_ += query.addresses[node] != query.dead;
      fresh_.push_back(node);
    }
    ScoreNodes(query, fresh_);
    for (size_t i = 0; i < fresh_.size(); ++i) Visit(query, fresh_[i], distances_[i]);
  }
}

void HnswSearcher::AppendUnreached(const HnswQuery& query, std::vector<uint32_t>* found) const {
  for (uint32_t node = 0; node < query.graph->num_nodes; ++node) {
    if (visited_[node] != search_ && query.addresses[node] != query.dead) found->push_back(node);
  }
}

void HnswSearcher::Search(const HnswQuery& query, std::vector<uint32_t>* found) {
  found->clear();
  const uint32_t num_nodes = query.graph->num_nodes;
  if (num_nodes == 0) return;
  if (visited_.size() < num_nodes) visited_.resize(num_nodes, search_);
  if (++search_ == 0) {
    std::fill(visited_.begin(), visited_.end(), 0u);
    search_ = 1;
  }
  live_visited_ = 0;
  nearer_ = 0;
  candidates_.clear();
  results_.clear();
  Beam(query, Descend(query));
  std::sort_heap(results_.begin(), results_.end());
  found->reserve(results_.size());
  for (const uint64_t key : results_) found->push_back(IdOf(key));
  const bool full = results_.size() >= static_cast<size_t>(query.ef);
  if (!full && live_visited_ < query.live_nodes) AppendUnreached(query, found);
}

int64_t HnswSearcher::SizeBytes(int64_t nodes) {
  // Every node is visited, a candidate and a result at most; heaps may have room for twice as many.
  return nodes * static_cast<int64_t>(sizeof(uint32_t) + 2 * 2 * sizeof(uint64_t));
}

}  // namespace kinjo::index
