#include "join/neighbor_lists.h"

#include <algorithm>

namespace kinjo::join {

void NeighborLists::Append(std::span<const kernels::Neighbor> neighbours) {
  if (num_rows_ % kChunkRows == 0) {
    chunks_.emplace_back();
    chunks_.back().ends.reserve(kChunkRows);
  }
  Chunk& chunk = chunks_.back();
  const size_t first = chunk.entries.size();
  for (const kernels::Neighbor& neighbour : neighbours) {
    const auto rank = static_cast<uint32_t>(chunk.entries.size() - first);
    chunk.entries.push_back(
        {.address = neighbour.address, .distance = neighbour.distance, .rank = rank, .marked = 0});
  }
  std::sort(chunk.entries.begin() + static_cast<int64_t>(first), chunk.entries.end(),
            [](const Entry& a, const Entry& b) { return a.address < b.address; });
  chunk.ends.push_back(chunk.entries.size());
  if (++num_rows_ % kChunkRows == 0) chunk.entries.shrink_to_fit();
}

std::span<const NeighborLists::Entry> NeighborLists::Entries(int64_t row) const {
  const Chunk& chunk = chunks_[static_cast<size_t>(row / kChunkRows)];
  const auto at = static_cast<size_t>(row % kChunkRows);
  const uint64_t begin = at == 0 ? 0 : chunk.ends[at - 1];
  return std::span(chunk.entries).subspan(begin, chunk.ends[at] - begin);
}

std::span<NeighborLists::Entry> NeighborLists::Entries(int64_t row) {
  Chunk& chunk = chunks_[static_cast<size_t>(row / kChunkRows)];
  const auto at = static_cast<size_t>(row % kChunkRows);
  const uint64_t begin = at == 0 ? 0 : chunk.ends[at - 1];
  return std::span(chunk.entries).subspan(begin, chunk.ends[at] - begin);
}

bool NeighborLists::Contains(int64_t row, uint64_t address) const {
  const auto entries = Entries(row);
  const auto found = std::ranges::lower_bound(entries, address, {}, &Entry::address);
  return found != entries.end() && found->address == address;
}

bool NeighborLists::Mark(int64_t row, uint64_t address) {
  const auto entries = Entries(row);
  const auto found = std::ranges::lower_bound(entries, address, {}, &Entry::address);
  if (found == entries.end() || found->address != address) return false;
  found->marked = 1;
  return true;
}

void NeighborLists::Get(int64_t row, std::vector<kernels::Neighbor>* neighbours,
                        std::vector<bool>* marked) const {
  const auto entries = Entries(row);
  neighbours->assign(entries.size(), {});
  marked->assign(entries.size(), false);
  for (const Entry& entry : entries) {
    (*neighbours)[entry.rank] = {entry.distance, entry.address};
    (*marked)[entry.rank] = entry.marked != 0;
  }
}

int64_t NeighborLists::SizeBytes(int64_t rows, int64_t k) {
  // The chunk at hand may have room for twice its neighbours.
  const int64_t spare = std::min(rows, kChunkRows);
  return (rows + spare) * k * static_cast<int64_t>(sizeof(Entry)) +
         (rows + kChunkRows) * static_cast<int64_t>(sizeof(uint64_t));
}

}  // namespace kinjo::join
