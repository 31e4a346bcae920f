// Room for one vector that lives as long as a call: on the stack for usual widths.
#pragma once

#include <cstdint>
#include <memory>

namespace kinjo::index {

/// `size` unset elements.
template <typename T>
class VectorScratch {
 public:
  explicit VectorScratch(int64_t size) {
    if (size > kInline) heap_ = std::make_unique_for_overwrite<T[]>(static_cast<size_t>(size));
  }
  T* data() { return heap_ == nullptr ? inline_ : heap_.get(); }
  T& operator[](int64_t i) { return data()[i]; }

 private:
  static constexpr int64_t kInline = 1024;
  T inline_[kInline];
  std::unique_ptr<T[]> heap_;
};

}  // namespace kinjo::index
