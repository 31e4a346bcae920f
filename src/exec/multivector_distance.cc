#include "exec/multivector_distance.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "exec/block_filter.h"
#include "kernels/block_scan.h"

namespace kinjo::exec {

namespace {

constexpr int64_t kListsPerMove = 64;

// A moved unit vector: the centre is a mean of unit vectors, so it is no longer than 2.
constexpr double kRowNorm2Max = 4.001;

// What unit vectors and their products in double lack of 1 - cos, far above any rounding.
constexpr double kUnitError = 1e-8;

/// The least of n >= 1 scores. Lanes, so that it can be done several at a time.
float LeastOf(const float* scores, int64_t n) {
  constexpr int64_t kLanes = 8;
  float least[kLanes];
  std::fill(least, least + kLanes, std::numeric_limits<float>::infinity());
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    for (int64_t j = 0; j < kLanes; ++j) {
      least[j] = scores[i + j] < least[j] ? scores[i + j] : least[j];
    }
  }
  for (; i < n; ++i) least[0] = std::min(least[0], scores[i]);
  return *std::min_element(least, least + kLanes);
}

/// Groups that hold the rows [first, last) of a block.
int64_t GroupsOf(const ListBlock& block, int64_t first, int64_t last) {
  return (block.begin(last) + kernels::kGroupRows - 1) / kernels::kGroupRows -
         block.begin(first) / kernels::kGroupRows;
}

/// Scores of `num_queries` with the rows [first, last).
int64_t ScoresOf(const ListBlock& block, int64_t num_queries, int64_t first, int64_t last) {
  return GroupsOf(block, first, last) * kernels::kGroupRows * num_queries;
}

template <typename T>
void WriteUnit(const T* vector, double norm, std::vector<double>* unit) {
  for (size_t j = 0; j < unit->size(); ++j) (*unit)[j] = static_cast<double>(vector[j]) / norm;
}

}  // namespace

void ListBlock::Fill(const FilterSpace& space, ListRows rows,
                     const std::vector<uint64_t>& addresses) {
  exact_ = std::move(rows);
  addresses_.clear();
  vector_of_slot_.clear();
  begins_.assign(1, 0);
  for (int64_t i = 0; i < exact_.num_rows(); ++i) {
    if (!exact_.can_match(i)) continue;
    const std::span<const uint32_t> own = exact_.vectors_of(i);
    vector_of_slot_.insert(vector_of_slot_.end(), own.begin(), own.end());
    begins_.push_back(static_cast<int64_t>(vector_of_slot_.size()));
    addresses_.push_back(addresses[i]);
  }
  const ExactRows& vectors = exact_.vectors();
  unit_.resize(static_cast<size_t>(space.dim));
  grouped_.Reset(begins_.back(), space.dim);
  for (int64_t slot = 0; slot < begins_.back(); ++slot) {
    const uint32_t vector = vector_of_slot_[slot];
    if (vectors.is_float()) {
      WriteUnit(vectors.float_row(vector), vectors.norm(vector), &unit_);
    } else {
      WriteUnit(vectors.double_row(vector), vectors.norm(vector), &unit_);
    }
    grouped_.SetRow(slot, unit_.data(), space.centre_wide.data(), /*dot=*/false);
  }
}

arrow::Status MultivectorDistance::SetQueries(const FilterSpace* space, const QueryLists* queries) {
  space_ = space;
  queries_ = queries;
  moved_.Reset(queries->vectors.num_queries, space->dim);
  offsets_.assign(static_cast<size_t>(queries->num_lists()), 0.0);
  tiles_of_lists_.clear();
  for (int64_t list = 0; list < queries->num_lists(); ++list) {
    const int64_t end = queries->begins[list + 1];
    if (tiles_of_lists_.empty() ||
        end - queries->begins[tiles_of_lists_.back().first_list] > kTileQueries) {
      tiles_of_lists_.push_back({list, list});
    }
    tiles_of_lists_.back().last_list = list + 1;
  }
  const double error = kernels::ErrorFactor(space->dim);
  const int64_t items = (queries->num_lists() + kListsPerMove - 1) / kListsPerMove;
  return pool_->ParallelFor(items, cancel_, [&](int64_t item, int) {
    const int64_t last = std::min(queries->num_lists(), (item + 1) * kListsPerMove);
    for (int64_t list = item * kListsPerMove; list < last; ++list) {
      for (int64_t i = queries->begins[list]; i < queries->begins[list + 1]; ++i) {
        moved_.Move(*space, queries->vectors, i);
        // 1 - cos is the score + |q'|^2 / 2, and the score is at most E |q'|^2 too large.
        offsets_[list] += moved_.norms2[i] * (0.5 - error) - kUnitError;
      }
    }
    return arrow::Status::OK();
  });
}

std::vector<MultivectorDistance::Item> MultivectorDistance::Cut(const ListBlock& block) const {
  const auto tiles = static_cast<int64_t>(tiles_of_lists_.size());
  // Enough items for every thread, also when there are few lists.
  const int64_t wanted = 4 * static_cast<int64_t>(pool_->size());
  const int64_t ranges = std::clamp<int64_t>((wanted + tiles - 1) / std::max<int64_t>(tiles, 1), 1,
                                             std::max<int64_t>(block.num_rows() / 8, 1));
  const int64_t rows = (block.num_rows() + ranges - 1) / ranges;
  std::vector<Item> items;
  for (const Tile& tile : tiles_of_lists_) {
    for (int64_t row = 0; row < block.num_rows(); row += rows) {
      items.push_back({tile, row, std::min(block.num_rows(), row + rows)});
    }
  }
  return items;
}

MultivectorDistance::Chunk MultivectorDistance::ScoreChunk(const ListBlock& block,
                                                           QueryRange queries, int64_t first_row,
                                                           int64_t last_row,
                                                           Scratch* scratch) const {
  const int64_t first_group = block.begin(first_row) / kernels::kGroupRows;
  const int64_t groups = GroupsOf(block, first_row, last_row);
  const int64_t stride = groups * kernels::kGroupRows;
  const auto num_scores = static_cast<size_t>(queries.size() * stride);
  // Growing by itself, it would take up to twice the memory.
  scratch->scores.reserve(std::max(static_cast<size_t>(kScoresMax), num_scores));
  scratch->scores.resize(num_scores);
  const kernels::BlockScan scan{.rows = block.grouped().rows(),
                                .init = block.grouped().init(),
                                .dim = space_->dim,
                                .first_group = first_group,
                                .num_groups = groups,
                                .queries = moved_.values.data() + queries.first * space_->dim,
                                .bounds = nullptr,
                                .num_queries = queries.size()};
  kernels::ScoreBlock(scan, scratch->scores.data(), stride);
  return {.first_row = first_row,
          .last_row = last_row,
          .first_slot = first_group * kernels::kGroupRows,
          .stride = stride,
          .first_query = queries.first,
          .scores = scratch->scores.data()};
}

double MultivectorDistance::NearestOf(const ListBlock& block, const Chunk& chunk, int64_t query,
                                      int64_t row, Scratch* scratch) const {
  const int64_t begin = block.begin(row);
  const int64_t end = block.begin(row + 1);
  const float* scores = chunk.of(query, begin);
  // A vector is the nearest only if its score, less its error, is within the error of the least.
  double bound = LeastOf(scores, end - begin) +
                 2 * kernels::ErrorFactor(space_->dim) * (moved_.norms2[query] + kRowNorm2Max);
  // -inf says nothing but that a vector lies at the centre.
  if (std::isinf(bound)) bound = -bound;
  scratch->near.clear();
  for (int64_t slot = begin; slot < end; ++slot) {
    if (!(scores[slot - begin] > bound)) scratch->near.push_back(block.vector_of(slot));
  }
  return block.exact().Nearest(queries_->vectors, query, scratch->near);
}

bool MultivectorDistance::MayEnter(double sum, const NeighborHeaps& heaps, int64_t list) {
  const double threshold = heaps.threshold(list);
  // The canonical distance is rounded to float before it is compared.
  return !(sum > threshold + 1e-6 * std::abs(threshold));
}

void MultivectorDistance::ScoreList(const ListBlock& block, const Chunk& chunk, int64_t list,
                                    Scratch* scratch, NeighborHeaps* heaps) {
  scratch->sums.assign(static_cast<size_t>(chunk.last_row - chunk.first_row), offsets_[list]);
  for (int64_t query = queries_->begins[list]; query < queries_->begins[list + 1]; ++query) {
    for (int64_t row = chunk.first_row; row < chunk.last_row; ++row) {
      const int64_t begin = block.begin(row);
      scratch->sums[row - chunk.first_row] +=
          LeastOf(chunk.of(query, begin), block.begin(row + 1) - begin);
    }
  }
  int64_t survivors = 0;
  for (int64_t row = chunk.first_row; row < chunk.last_row; ++row) {
    if (!MayEnter(scratch->sums[row - chunk.first_row], *heaps, list)) continue;
    ++survivors;
    double distance = 0;
    for (int64_t query = queries_->begins[list]; query < queries_->begins[list + 1]; ++query) {
      distance += NearestOf(block, chunk, query, row, scratch);
    }
    heaps->Push(list, {static_cast<float>(distance), block.address(row)});
  }
  comparisons_.fetch_add(survivors, std::memory_order_relaxed);
}

void MultivectorDistance::CountMet(const Item& item, NeighborHeaps* heaps) const {
  for (int64_t list = item.tile.first_list; list < item.tile.last_list; ++list) {
    int64_t met = item.last_row - item.first_row;
    if (!excluded_.empty()) {
      for (const ExcludedRow& row : heaps->eligibility()->ExcludedFor(list, excluded_)) {
        met -= item.first_row <= row.position && row.position < item.last_row;
      }
    }
    heaps->CountMet(list, met);
  }
}

arrow::Status MultivectorDistance::ScoreListByParts(const ListBlock& block, int64_t list,
                                                    int64_t row, Scratch* scratch,
                                                    NeighborHeaps* heaps) {
  const int64_t part = std::max<int64_t>(1, kScoresMax / ScoresOf(block, 1, row, row + 1));
  const auto for_each_part = [&](const auto& visit) -> arrow::Status {
    const int64_t end = queries_->begins[list + 1];
    for (int64_t first = queries_->begins[list]; first < end; first += part) {
      ARROW_RETURN_NOT_OK(cancel_.Check());
      const QueryRange queries{first, std::min(end, first + part)};
      const Chunk chunk = ScoreChunk(block, queries, row, row + 1, scratch);
      for (int64_t query = queries.first; query < queries.last; ++query) visit(chunk, query);
    }
    return arrow::Status::OK();
  };
  const int64_t begin = block.begin(row);
  double sum = offsets_[list];
  ARROW_RETURN_NOT_OK(for_each_part([&](const Chunk& chunk, int64_t query) {
    sum += LeastOf(chunk.of(query, begin), block.begin(row + 1) - begin);
  }));
  if (!MayEnter(sum, *heaps, list)) return arrow::Status::OK();
  comparisons_.fetch_add(1, std::memory_order_relaxed);
  double distance = 0;
  ARROW_RETURN_NOT_OK(for_each_part([&](const Chunk& chunk, int64_t query) {
    distance += NearestOf(block, chunk, query, row, scratch);
  }));
  heaps->Push(list, {static_cast<float>(distance), block.address(row)});
  return arrow::Status::OK();
}

arrow::Status MultivectorDistance::ScoreItem(const ListBlock& block, const Item& item, int worker,
                                             NeighborHeaps* heaps) {
  tiles_.fetch_add(1, std::memory_order_relaxed);
  CountMet(item, heaps);
  Scratch* scratch = &scratch_[worker];
  const QueryRange queries{queries_->begins[item.tile.first_list],
                           queries_->begins[item.tile.last_list]};
  for (int64_t row = item.first_row; row < item.last_row;) {
    ARROW_RETURN_NOT_OK(cancel_.Check());
    if (ScoresOf(block, queries.size(), row, row + 1) > kScoresMax) {
      for (int64_t list = item.tile.first_list; list < item.tile.last_list; ++list) {
        ARROW_RETURN_NOT_OK(ScoreListByParts(block, list, row, scratch, heaps));
      }
      ++row;
      continue;
    }
    int64_t last = row + 1;
    while (last < item.last_row && ScoresOf(block, queries.size(), row, last + 1) <= kScoresMax) {
      ++last;
    }
    const Chunk chunk = ScoreChunk(block, queries, row, last, scratch);
    for (int64_t list = item.tile.first_list; list < item.tile.last_list; ++list) {
      ScoreList(block, chunk, list, scratch, heaps);
    }
    row = last;
  }
  return arrow::Status::OK();
}

int64_t MultivectorDistance::scores_bytes() const {
  int64_t floats = 0;
  for (const Scratch& scratch : scratch_) floats += static_cast<int64_t>(scratch.scores.capacity());
  return floats * static_cast<int64_t>(sizeof(float));
}

arrow::Status MultivectorDistance::Score(const ListBlock& block, NeighborHeaps* heaps,
                                         const std::function<arrow::Status()>& beside) {
  const std::vector<Item> items = Cut(block);
  excluded_.clear();
  if (heaps->eligibility() != nullptr) {
    excluded_ = heaps->eligibility()->FindExcluded(block.addresses());
  }
  const int64_t extra = beside ? 1 : 0;
  return pool_->ParallelFor(static_cast<int64_t>(items.size()) + extra, cancel_,
                            [&](int64_t i, int worker) {
                              if (i < extra) return beside();
                              return ScoreItem(block, items[i - extra], worker, heaps);
                            });
}

}  // namespace kinjo::exec
