#include "index/hnsw_builder.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <span>
#include <utility>

#include "index/distance_key.h"

namespace kinjo::index {

namespace {

/// Rows that are inserted side by side don't see one another: few beside those that are there.
constexpr uint32_t kBatchShare = 24;
constexpr uint32_t kBatchMax = 2048;

/// A well-mixed number of (seed, node); splitmix64.
uint64_t Mix(uint64_t seed, uint64_t node) {
  uint64_t x = seed + (node + 1) * 0x9E3779B97F4A7C15ull;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
  return x ^ (x >> 31);
}

/// Neighbour lists of the nodes of one level, each with room for more than it keeps in the end: a
/// full list is cut back to `keep`, so that cutting, which costs most, is rare.
class LinkLists {
 public:
  LinkLists(size_t lists, uint32_t keep)
      : keep_(keep), room_(keep + keep / 2 + 1), links_(lists * room_), counts_(lists) {}

  std::span<const uint32_t> at(size_t list) const {
    return {links_.data() + list * room_, counts_[list]};
  }
  void Set(size_t list, std::span<const uint64_t> keys) {
    counts_[list] = static_cast<uint32_t>(keys.size());
    for (size_t i = 0; i < keys.size(); ++i) links_[list * room_ + i] = IdOf(keys[i]);
  }
  void Append(size_t list, uint32_t node) { links_[list * room_ + counts_[list]++] = node; }
  uint32_t keep() const { return keep_; }
  uint32_t room() const { return room_; }

 private:
  uint32_t keep_;
  uint32_t room_;
  std::vector<uint32_t> links_;
  std::vector<uint32_t> counts_;
};

/// An edge that a batch adds: `to` should know `from`.
struct BackEdge {
  uint32_t level;
  uint32_t to;
  uint64_t from;  ///< DistanceKey
  friend bool operator<(const BackEdge& a, const BackEdge& b) {
    if (a.level != b.level) return a.level < b.level;
    return a.to != b.to ? a.to < b.to : a.from < b.from;
  }
};

/// What one thread works with.
struct Worker {
  GraphQuery query;
  GraphQuery other;
  std::vector<uint32_t> visited;  // of each node, the number of the search that saw it last
  uint32_t search = 0;
  std::vector<uint64_t> candidates;  // min-heap of keys
  std::vector<uint64_t> found;       // max-heap of keys, then rising
  std::vector<uint64_t> chosen;
  std::vector<uint64_t> passed_over;  // not chosen for their direction, rising
  std::vector<uint32_t> fresh;
  std::vector<uint32_t> near_ids;
  std::vector<float> distances;
};

class Builder {
 public:
  Builder(const GraphRows& rows, const HnswParams& params, base::ThreadPool* pool,
          const base::CancelToken& cancel)
      : rows_(rows),
        params_(params),
        pool_(pool),
        cancel_(cancel),
        num_nodes_(rows.num_nodes()),
        workers_(static_cast<size_t>(pool->size())) {}

  arrow::Result<BuiltGraph> Run(const GraphProgress& progress);

 private:
  void DrawLevels();
  void MakeOrder();
  arrow::Status InsertBatch(uint32_t begin, uint32_t end);
  void FindNeighbors(uint32_t node, std::vector<BackEdge>* edges, Worker* worker);
  uint64_t Descend(uint32_t level, uint64_t nearest, Worker* worker) const;
  void SearchLevel(uint32_t level, uint64_t start, Worker* worker) const;
  void Choose(uint32_t limit, Worker* worker) const;
  bool IsDiverse(uint64_t candidate, Worker* worker) const;
  arrow::Status LinkBack(std::vector<BackEdge> edges);
  void LinkTarget(std::span<const BackEdge> edges, Worker* worker);
  void Shrink(uint32_t level, uint32_t node, std::span<const BackEdge> edges, Worker* worker);
  void SortLinks(uint32_t level, uint32_t node, Worker* worker) const;
  uint32_t FindHost(uint32_t node, const std::vector<bool>& reached, Worker* worker) const;
  arrow::Status ConnectUnreached();
  void MarkReached(uint32_t from, std::vector<bool>* reached) const;
  arrow::Status Store(BuiltGraph* out);
  arrow::Status StoreLevel(uint32_t level, BuiltGraph* out);

  size_t ListOf(uint32_t level, uint32_t node) const {
    if (level == 0) return node;
    const std::vector<uint32_t>& nodes = level_nodes_[level];
    return static_cast<size_t>(std::lower_bound(nodes.begin(), nodes.end(), node) - nodes.begin());
  }
  std::span<const uint32_t> Links(uint32_t level, uint32_t node) const {
    return links_[level].at(ListOf(level, node));
  }
  void Measure(std::span<const uint32_t> nodes, const GraphQuery& query, Worker* worker) const {
    worker->distances.resize(nodes.size());
    rows_.Measure(query, nodes, worker->distances.data());
  }

  const GraphRows& rows_;
  const HnswParams params_;
  base::ThreadPool* const pool_;
  const base::CancelToken& cancel_;
  const uint32_t num_nodes_;
  uint32_t entry_ = 0;
  std::vector<uint8_t> levels_;                     // highest of each node
  std::vector<std::vector<uint32_t>> level_nodes_;  // rising; empty for level 0
  std::vector<LinkLists> links_;                    // by level
  std::vector<uint32_t> order_;                     // nodes in the order of insertion
  std::vector<Worker> workers_;
};

void Builder::DrawLevels() {
  levels_.resize(num_nodes_);
  const double scale = 1 / std::log(static_cast<double>(params_.m));
  const uint32_t top = std::min<uint32_t>(params_.max_level, 32) - 1;
  for (uint32_t node = 0; node < num_nodes_; ++node) {
    const uint64_t bits = Mix(params_.seed, node) >> 11;
    const double uniform = (static_cast<double>(bits) + 0.5) / 9007199254740992.0;
    const double level = std::floor(-std::log(uniform) * scale);
    levels_[node] = static_cast<uint8_t>(std::min<double>(level, top));
    if (levels_[node] > levels_[entry_]) entry_ = node;
  }
  level_nodes_.resize(levels_[entry_] + size_t{1});
  for (uint32_t node = 0; node < num_nodes_; ++node) {
    for (uint32_t level = 1; level <= levels_[node]; ++level) level_nodes_[level].push_back(node);
  }
  links_.emplace_back(num_nodes_, 2 * params_.m);
  for (size_t level = 1; level < level_nodes_.size(); ++level) {
    links_.emplace_back(level_nodes_[level].size(), params_.m);
  }
}

// The entry point comes first, the others as if shuffled: rows may lie in an order that would make
// a batch of neighbours.
void Builder::MakeOrder() {
  std::vector<std::pair<uint64_t, uint32_t>> keys;
  keys.reserve(num_nodes_);
  for (uint32_t node = 0; node < num_nodes_; ++node) {
    keys.emplace_back(node == entry_ ? 0 : Mix(~params_.seed, node) | 1, node);
  }
  std::sort(keys.begin(), keys.end());
  order_.reserve(num_nodes_);
  for (const auto& [key, node] : keys) order_.push_back(node);
}

uint64_t Builder::Descend(uint32_t level, uint64_t nearest, Worker* worker) const {
  for (bool moved = true; moved;) {  // each step is strictly nearer, so this ends
    moved = false;
    const std::span<const uint32_t> neighbors = Links(level, IdOf(nearest));
    Measure(neighbors, worker->query, worker);
    for (size_t i = 0; i < neighbors.size(); ++i) {
      if (worker->distances[i] >= DistanceOf(nearest)) continue;
      nearest = DistanceKey(worker->distances[i], neighbors[i]);
      moved = true;
    }
  }
  return nearest;
}

// Leaves the nearest nodes in worker->found, rising.
void Builder::SearchLevel(uint32_t level, uint64_t start, Worker* worker) const {
  worker->visited.resize(num_nodes_);
  std::vector<uint64_t>& candidates = worker->candidates;
  std::vector<uint64_t>& found = worker->found;
  if (++worker->search == 0) {
    std::fill(worker->visited.begin(), worker->visited.end(), 0u);
    worker->search = 1;
  }
  worker->visited[IdOf(start)] = worker->search;
  candidates.assign(1, start);
  found.assign(1, start);
  while (!candidates.empty()) {
    std::pop_heap(candidates.begin(), candidates.end(), std::greater<>());
    const uint64_t nearest = candidates.back();
    candidates.pop_back();
    if (nearest > found.front() && found.size() >= params_.ef_construction) break;
    worker->fresh.clear();
    for (const uint32_t node : Links(level, IdOf(nearest))) {
      if (worker->visited[node] == worker->search) continue;
      worker->visited[node] = worker->search;
      worker->fresh.push_back(node);
    }
    Measure(worker->fresh, worker->query, worker);
    for (size_t i = 0; i < worker->fresh.size(); ++i) {
      const uint64_t key = DistanceKey(worker->distances[i], worker->fresh[i]);
      if (found.size() >= params_.ef_construction) {
        if (key >= found.front()) continue;
        std::pop_heap(found.begin(), found.end());
        found.back() = key;
      } else {
        found.push_back(key);
      }
      std::push_heap(found.begin(), found.end());
      candidates.push_back(key);
      std::push_heap(candidates.begin(), candidates.end(), std::greater<>());
    }
  }
  std::sort_heap(found.begin(), found.end());
}

// Whether no chosen node is nearer to the candidate than the node that chooses.
bool Builder::IsDiverse(uint64_t candidate, Worker* worker) const {
  constexpr size_t kTogether = 4;
  rows_.Select(IdOf(candidate), &worker->other);
  std::span<const uint32_t> rest = worker->near_ids;
  float distances[kTogether];
  while (!rest.empty()) {
    const auto some = rest.first(std::min(kTogether, rest.size()));
    rest = rest.subspan(some.size());
    rows_.Measure(worker->other, some, distances);
    for (size_t i = 0; i < some.size(); ++i) {
      if (distances[i] < DistanceOf(candidate)) return false;
    }
  }
  return true;
}

// Chooses from worker->found (rising): the nearest that lie in different directions, and where
// these are fewer than the limit the nearest others. Without the others lists are a third as long,
// and a narrow beam misses twice as many neighbours.
void Builder::Choose(uint32_t limit, Worker* worker) const {
  worker->chosen.clear();
  worker->near_ids.clear();
  worker->passed_over.clear();
  for (const uint64_t candidate : worker->found) {
    if (worker->chosen.size() >= limit) return;
    if (!IsDiverse(candidate, worker)) {
      if (worker->passed_over.size() < limit) worker->passed_over.push_back(candidate);
      continue;
    }
    worker->chosen.push_back(candidate);
    worker->near_ids.push_back(IdOf(candidate));
  }
  const size_t rest = std::min(limit - worker->chosen.size(), worker->passed_over.size());
  worker->chosen.insert(worker->chosen.end(), worker->passed_over.begin(),
                        worker->passed_over.begin() + static_cast<ptrdiff_t>(rest));
}

void Builder::FindNeighbors(uint32_t node, std::vector<BackEdge>* edges, Worker* worker) {
  rows_.Select(node, &worker->query);
  Measure({&entry_, 1}, worker->query, worker);
  uint64_t nearest = DistanceKey(worker->distances[0], entry_);
  uint32_t level = levels_[entry_];
  for (; level > levels_[node]; --level) nearest = Descend(level, nearest, worker);
  for (;; --level) {
    SearchLevel(level, nearest, worker);
    nearest = worker->found.front();
    Choose(params_.m, worker);
    links_[level].Set(ListOf(level, node), worker->chosen);
    for (const uint64_t neighbor : worker->chosen) {
      edges->push_back({level, IdOf(neighbor), DistanceKey(DistanceOf(neighbor), node)});
    }
    if (level == 0) return;
  }
}

// Cuts the list of `node` with the new edges back to what it keeps.
void Builder::Shrink(uint32_t level, uint32_t node, std::span<const BackEdge> edges,
                     Worker* worker) {
  const std::span<const uint32_t> old = Links(level, node);
  rows_.Select(node, &worker->query);
  Measure(old, worker->query, worker);
  worker->found.clear();
  for (size_t i = 0; i < old.size(); ++i) {
    worker->found.push_back(DistanceKey(worker->distances[i], old[i]));
  }
  for (const BackEdge& edge : edges) worker->found.push_back(edge.from);
  std::sort(worker->found.begin(), worker->found.end());
  Choose(links_[level].keep(), worker);
  links_[level].Set(ListOf(level, node), worker->chosen);
}

void Builder::LinkTarget(std::span<const BackEdge> edges, Worker* worker) {
  const uint32_t level = edges[0].level;
  const uint32_t node = edges[0].to;
  LinkLists& links = links_[level];
  const size_t list = ListOf(level, node);
  if (links.at(list).size() + edges.size() > links.room()) {
    return Shrink(level, node, edges, worker);
  }
  for (const BackEdge& edge : edges) links.Append(list, IdOf(edge.from));
}

arrow::Status Builder::LinkBack(std::vector<BackEdge> edges) {
  std::sort(edges.begin(), edges.end());
  std::vector<size_t> starts;
  for (size_t i = 0; i < edges.size(); ++i) {
    if (i == 0 || edges[i].level != edges[i - 1].level || edges[i].to != edges[i - 1].to) {
      starts.push_back(i);
    }
  }
  const auto groups = static_cast<int64_t>(starts.size());
  starts.push_back(edges.size());
  return pool_->ParallelFor(groups, cancel_, [&](int64_t group, int worker) {
    const size_t begin = starts[static_cast<size_t>(group)];
    LinkTarget(std::span(edges).subspan(begin, starts[static_cast<size_t>(group) + 1] - begin),
               &workers_[static_cast<size_t>(worker)]);
    return arrow::Status::OK();
  });
}

arrow::Status Builder::InsertBatch(uint32_t begin, uint32_t end) {
  std::vector<std::vector<BackEdge>> edges(end - begin);
  ARROW_RETURN_NOT_OK(pool_->ParallelFor(end - begin, cancel_, [&](int64_t item, int worker) {
    FindNeighbors(order_[begin + static_cast<uint32_t>(item)], &edges[static_cast<size_t>(item)],
                  &workers_[static_cast<size_t>(worker)]);
    return arrow::Status::OK();
  }));
  std::vector<BackEdge> all;
  for (const auto& some : edges) all.insert(all.end(), some.begin(), some.end());
  return LinkBack(std::move(all));
}

void Builder::MarkReached(uint32_t from, std::vector<bool>* reached) const {
  std::vector<uint32_t> open = {from};
  (*reached)[from] = true;
  while (!open.empty()) {
    const uint32_t node = open.back();
    open.pop_back();
    for (const uint32_t next : Links(0, node)) {
      if ((*reached)[next]) continue;
      (*reached)[next] = true;
      open.push_back(next);
    }
  }
}

// The nearest reached node that has room in its list, else any.
uint32_t Builder::FindHost(uint32_t node, const std::vector<bool>& reached, Worker* worker) const {
  const auto has_room = [&](uint32_t host) {
    return reached[host] && Links(0, host).size() < links_[0].keep();
  };
  rows_.Select(node, &worker->query);
  Measure({&entry_, 1}, worker->query, worker);
  SearchLevel(0, DistanceKey(worker->distances[0], entry_), worker);
  for (const uint64_t near : worker->found) {
    if (has_room(IdOf(near))) return IdOf(near);
  }
  uint32_t host = 0;
  while (host < num_nodes_ && !has_room(host)) ++host;
  return host;
}

// Cutting lists may leave a node that nobody knows any more: one that can be reached learns of it.
arrow::Status Builder::ConnectUnreached() {
  std::vector<bool> reached(num_nodes_);
  MarkReached(entry_, &reached);
  for (uint32_t node = 0; node < num_nodes_; ++node) {
    if (reached[node]) continue;
    ARROW_RETURN_NOT_OK(cancel_.Check());
    const uint32_t host = FindHost(node, reached, &workers_[0]);
    if (host == num_nodes_) return arrow::Status::OK();  // a search appends what no edge leads to
    links_[0].Append(host, node);
    MarkReached(node, &reached);
  }
  return arrow::Status::OK();
}

// Cuts a list to what is stored.
void Builder::SortLinks(uint32_t level, uint32_t node, Worker* worker) const {
  const std::span<const uint32_t> list = Links(level, node);
  rows_.Select(node, &worker->query);
  Measure(list, worker->query, worker);
  worker->found.clear();
  for (size_t i = 0; i < list.size(); ++i) {
    worker->found.push_back(DistanceKey(worker->distances[i], list[i]));
  }
  std::sort(worker->found.begin(), worker->found.end());
}

arrow::Status Builder::StoreLevel(uint32_t level, BuiltGraph* out) {
  format::GraphLevel stored;
  stored.nodes = level_nodes_[level];
  const size_t count = level == 0 ? num_nodes_ : stored.nodes.size();
  const auto node_at = [&](size_t i) {
    return level == 0 ? static_cast<uint32_t>(i) : level_nodes_[level][i];
  };
  stored.offsets.push_back(0);
  for (size_t i = 0; i < count; ++i) {
    stored.offsets.push_back(stored.offsets.back() +
                             static_cast<uint32_t>(links_[level].at(i).size()));
  }
  stored.neighbors.resize(stored.offsets.back());
  std::vector<float> distances(stored.offsets.back());
  ARROW_RETURN_NOT_OK(
      pool_->ParallelFor(static_cast<int64_t>(count), cancel_, [&](int64_t item, int number) {
        Worker* worker = &workers_[static_cast<size_t>(number)];
        const auto i = static_cast<size_t>(item);
        SortLinks(level, node_at(i), worker);
        for (size_t j = 0; j < worker->found.size(); ++j) {
          stored.neighbors[stored.offsets[i] + j] = IdOf(worker->found[j]);
          distances[stored.offsets[i] + j] = DistanceOf(worker->found[j]);
        }
        return arrow::Status::OK();
      }));
  out->graph.levels.push_back(std::move(stored));
  out->distances.push_back(std::move(distances));
  return arrow::Status::OK();
}

arrow::Status Builder::Store(BuiltGraph* out) {
  for (uint32_t level = 0; level < links_.size(); ++level) {
    const auto lists = static_cast<int64_t>(level == 0 ? num_nodes_ : level_nodes_[level].size());
    ARROW_RETURN_NOT_OK(pool_->ParallelFor(lists, cancel_, [&](int64_t list, int worker) {
      const auto i = static_cast<size_t>(list);
      const uint32_t node = level == 0 ? static_cast<uint32_t>(i) : level_nodes_[level][i];
      if (links_[level].at(i).size() > links_[level].keep()) {
        Shrink(level, node, {}, &workers_[static_cast<size_t>(worker)]);
      }
      return arrow::Status::OK();
    }));
  }
  ARROW_RETURN_NOT_OK(ConnectUnreached());
  for (uint32_t level = 0; level < links_.size(); ++level) {
    ARROW_RETURN_NOT_OK(StoreLevel(level, out));
  }
  out->graph.num_nodes = num_nodes_;
  out->graph.entry_point = entry_;
  return arrow::Status::OK();
}

arrow::Result<BuiltGraph> Builder::Run(const GraphProgress& progress) {
  BuiltGraph out;
  if (num_nodes_ == 0) return out;
  DrawLevels();
  MakeOrder();
  for (uint32_t begin = 1; begin < num_nodes_;) {
    const uint32_t batch = std::clamp(begin / kBatchShare, 1u, kBatchMax);
    const uint32_t end = std::min(num_nodes_, begin + batch);
    ARROW_RETURN_NOT_OK(InsertBatch(begin, end));
    if (progress) progress(end);
    begin = end;
  }
  ARROW_RETURN_NOT_OK(Store(&out));
  return out;
}

}  // namespace

arrow::Result<BuiltGraph> BuildHnsw(const GraphRows& rows, const HnswParams& params,
                                    base::ThreadPool* pool, const base::CancelToken& cancel,
                                    const GraphProgress& progress) {
  return Builder(rows, params, pool, cancel).Run(progress);
}

int64_t HnswBuildBytes(int64_t nodes, const HnswParams& params, int threads) {
  // Lists with room for half as many more, and again as they are stored, with distances. Upper
  // levels have a 1 / (m - 1) share of the nodes.
  const int64_t keep = 2 * int64_t{params.m};
  const int64_t lists = (keep + keep / 2 + 2) * 4 + keep * 8;
  const int64_t per_node = lists + lists / std::max<int64_t>(params.m, 2) + 64;
  return nodes * (per_node + 4 * int64_t{threads}) + 16 * 1024 * 1024;
}

}  // namespace kinjo::index
