// One account of memory for everything big: blocks, heaps, index pages, read buffers, output.
// Who needs a big piece asks here first and holds a Reservation for as long as the piece lives.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string_view>

#include "base/error.h"

namespace kinjo::base {

class MemoryBudget;

/// Bytes taken from a budget; given back by the destructor. Movable, not copyable, one owner.
class Reservation {
 public:
  Reservation() = default;
  Reservation(Reservation&& other) noexcept;
  Reservation& operator=(Reservation&& other) noexcept;
  Reservation(const Reservation&) = delete;
  Reservation& operator=(const Reservation&) = delete;
  ~Reservation();

  int64_t bytes() const { return bytes_; }
  /// Gives everything back now.
  void Release();

 private:
  friend class MemoryBudget;
  Reservation(MemoryBudget* budget, int64_t bytes) : budget_(budget), bytes_(bytes) {}

  MemoryBudget* budget_ = nullptr;
  int64_t bytes_ = 0;
};

/// A limit and what is taken of it. Thread-safe. Must outlive its reservations.
class MemoryBudget {
 public:
  explicit MemoryBudget(int64_t limit_bytes) : limit_bytes_(limit_bytes) {}

  /// Takes `bytes`, or fails with `capacity`, naming `what` needed them and the limit.
  arrow::Result<Reservation> Reserve(int64_t bytes, std::string_view what);

  int64_t limit_bytes() const { return limit_bytes_; }
  int64_t used_bytes() const;
  int64_t peak_bytes() const;

 private:
  friend class Reservation;
  void Return(int64_t bytes);

  const int64_t limit_bytes_;
  mutable std::mutex mutex_;
  int64_t used_bytes_ = 0;
  int64_t peak_bytes_ = 0;
};

/// Half of what this process may use: of the cgroup's memory limit, or of the machine's memory.
int64_t DefaultMemoryLimitBytes();

}  // namespace kinjo::base
