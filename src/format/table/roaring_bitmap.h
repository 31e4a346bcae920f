// 32-bit Roaring bitmaps in the portable form, as deletion files and index entries hold them.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace kinjo::format {

/// A parsed bitmap. Immutable.
class RoaringBitmap {
 public:
  /// Nothing when the bytes aren't one whole bitmap.
  static std::optional<RoaringBitmap> Parse(std::string_view bytes);

  bool Contains(uint32_t value) const;
  /// Calls visit(value) for every value until it gives false; false when it did.
  bool ForEach(const std::function<bool(uint32_t)>& visit) const;
  /// Calls visit with the values in blocks, rising, until it gives false; false when it did.
  bool ForEachBlock(const std::function<bool(std::span<const uint32_t>)>& visit) const;

 private:
  struct Holder;
  explicit RoaringBitmap(std::shared_ptr<const Holder> holder) : holder_(std::move(holder)) {}

  std::shared_ptr<const Holder> holder_;
};

/// The portable form of a bitmap of these values, in any order.
std::string EncodeRoaring(std::span<const uint32_t> values);

}  // namespace kinjo::format
