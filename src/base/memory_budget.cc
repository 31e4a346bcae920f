#include "base/memory_budget.h"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "base/cgroup.h"

namespace kinjo::base {

Reservation::Reservation(Reservation&& other) noexcept
    : budget_(std::exchange(other.budget_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}

Reservation& Reservation::operator=(Reservation&& other) noexcept {
  if (this != &other) {
    Release();
    budget_ = std::exchange(other.budget_, nullptr);
    bytes_ = std::exchange(other.bytes_, 0);
  }
  return *this;
}

Reservation::~Reservation() { Release(); }

void Reservation::Release() {
  if (budget_ != nullptr) budget_->Return(bytes_);
  budget_ = nullptr;
  bytes_ = 0;
}

arrow::Result<Reservation> MemoryBudget::Reserve(int64_t bytes, std::string_view what) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (bytes > limit_bytes_ - used_bytes_) {
    return MakeError(ErrorCode::kCapacity,
                     Concat("memory limit of ", limit_bytes_, " bytes: ", what, " needs ", bytes,
                            " bytes and ", used_bytes_, " are in use; raise the memory limit"));
  }
  used_bytes_ += bytes;
  peak_bytes_ = std::max(peak_bytes_, used_bytes_);
  return Reservation(this, bytes);
}

int64_t MemoryBudget::used_bytes() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return used_bytes_;
}

int64_t MemoryBudget::peak_bytes() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return peak_bytes_;
}

void MemoryBudget::Return(int64_t bytes) {
  std::lock_guard<std::mutex> lock(mutex_);
  used_bytes_ -= bytes;
}

int64_t DefaultMemoryLimitBytes() {
  const int64_t machine = static_cast<int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGE_SIZE);
  return HalfOfMemory(ReadCgroupLimits(), machine);
}

}  // namespace kinjo::base
