// The rows that a filter lets through, as a set of addresses. One mask serves a whole run: every
// path that ranks rows asks it, so that no index, a full one and half of one give the same answer.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "dataset/dataset.h"
#include "format/file/lance_file.h"

namespace kinjo::dataset {

/// A set of live rows. Filled by one thread, then shared as `std::shared_ptr<const RowMask>`:
/// immutable and thread-safe. A null pointer means that there is no filter; an empty mask means
/// that no row passes it.
///
/// Tables without fragments use their row ordinals as addresses.
class RowMask {
 public:
  RowMask();
  ~RowMask();
  RowMask(RowMask&&) noexcept;
  RowMask& operator=(RowMask&&) noexcept;

  RowMask Clone() const;

  void Add(RowAddress address);
  /// Adds rows in any order; runs of one fragment are fastest.
  void Add(std::span<const RowAddress> addresses);
  /// Adds [begin, end) of one fragment's rows.
  void AddRange(RowAddress begin, RowAddress end);
  void IntersectWith(const RowMask& other);
  void UniteWith(const RowMask& other);
  void Subtract(const RowMask& other);

  bool Contains(RowAddress address) const;
  /// Rows in the set.
  uint64_t count() const;
  /// Rows of one fragment in the set.
  uint64_t count_in(uint64_t fragment_id) const;
  int64_t size_bytes() const;
  /// The rows of some fragments alone.
  RowMask InFragments(std::span<const uint64_t> fragment_ids) const;

  /// Calls visit(address) for each row, rising, until it gives false.
  void ForEach(const std::function<bool(RowAddress)>& visit) const;

  /// Appends the runs of the first `rows_max` rows of one fragment from row `begin` on; gives the
  /// row after them that is in the set too, or kNoMoreRows.
  uint64_t AppendRanges(uint64_t fragment_id, uint64_t begin, uint64_t rows_max,
                        std::vector<format::RowRange>* ranges) const;
  static constexpr uint64_t kNoMoreRows = ~uint64_t{0};

 private:
  struct Fragments;
  std::unique_ptr<Fragments> fragments_;
};

/// Replaces each address that `mask` doesn't hold by kDeadRow.
void KeepMaskedRows(const RowMask& mask, std::span<RowAddress> addresses);

}  // namespace kinjo::dataset
