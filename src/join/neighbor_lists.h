// The neighbours of every left row, kept until the last row was searched: which matches of a
// mutual join come out is known only then. Neighbours are marked, and come out by their marks.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/top_k.h"

namespace kinjo::join {

/// Filled row after row by one thread, then read and marked. Rows are numbered from 0 as they were
/// appended.
class NeighborLists {
 public:
  /// Appends the next row's neighbours, best first. Requires: no address twice.
  void Append(std::span<const kernels::Neighbor> neighbours);

  int64_t num_rows() const { return num_rows_; }

  /// Whether `address` is among the neighbours of `row`. Any thread, also while others mark.
  bool Contains(int64_t row, uint64_t address) const;
  /// Marks the neighbour `address` of `row`; false if it isn't one. Different rows may be marked at
  /// the same time.
  bool Mark(int64_t row, uint64_t address);
  /// Marks the neighbours of `row` for which decide(address) is true; gives how many. As Mark.
  template <typename Decide>
  int64_t MarkWhere(int64_t row, Decide decide) {
    int64_t marked = 0;
    for (Entry& entry : Entries(row)) {
      if (decide(entry.address)) {
        entry.marked = 1;
        ++marked;
      }
    }
    return marked;
  }
  /// Calls visit(address) for each neighbour of `row`, in the order of addresses.
  template <typename Function>
  void Visit(int64_t row, Function visit) const {
    for (const Entry& entry : Entries(row)) visit(entry.address);
  }
  /// Calls visit(address) for each marked neighbour of `row`, in the order of addresses.
  template <typename Function>
  void VisitMarked(int64_t row, Function visit) const {
    for (const Entry& entry : Entries(row)) {
      if (entry.marked != 0) visit(entry.address);
    }
  }

  /// A row's neighbours as they were appended, and whether each is marked; what the outputs held is
  /// replaced.
  void Get(int64_t row, std::vector<kernels::Neighbor>* neighbours,
           std::vector<bool>* marked) const;

  /// What so many rows with at most `k` neighbours each take at most.
  static int64_t SizeBytes(int64_t rows, int64_t k);

 private:
  struct Entry {
    uint64_t address;
    float distance;
    uint32_t rank : 31;  // from 0
    uint32_t marked : 1;
  };
  static_assert(sizeof(Entry) == 16);
  /// Rows lie in chunks, so that adding one copies no other.
  struct Chunk {
    std::vector<uint64_t> ends;  // of each row in `entries`
    std::vector<Entry> entries;  // of each row by address
  };
  static constexpr int64_t kChunkRows = 4096;

  std::span<const Entry> Entries(int64_t row) const;
  std::span<Entry> Entries(int64_t row);

  int64_t num_rows_ = 0;
  std::vector<Chunk> chunks_;
};

}  // namespace kinjo::join
