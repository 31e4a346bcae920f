// The rows that a filter lets through, as a set of addresses. One mask serves a whole run: every
// path that ranks rows asks it, so that no index, a full one and half of one give the same answer.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "dataset/dataset.h"

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

  void Add(RowAddress address);
  /// Adds [begin, end) of one fragment's rows.
  void AddRange(RowAddress begin, RowAddress end);
  void IntersectWith(const RowMask& other);
  void UniteWith(const RowMask& other);

  bool Contains(RowAddress address) const;
  /// Rows in the set.
  uint64_t count() const;
  /// Rows of one fragment in the set.
  uint64_t count_in(uint64_t fragment_id) const;
  int64_t size_bytes() const;

  /// Calls visit(address) for each row, rising, until it gives false.
  void ForEach(const std::function<bool(RowAddress)>& visit) const;

 private:
  struct Fragments;
  std::unique_ptr<Fragments> fragments_;
};

/// Replaces each address that `mask` doesn't hold by kDeadRow.
void KeepMaskedRows(const RowMask& mask, std::span<RowAddress> addresses);

}  // namespace kinjo::dataset
