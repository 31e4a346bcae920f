#include "format/table/roaring_bitmap.h"

#include <roaring/roaring.h>

#include <utility>

namespace kinjo::format {

struct RoaringBitmap::Holder {
  explicit Holder(roaring_bitmap_t* owned) : bitmap(owned) {}
  Holder(const Holder&) = delete;
  Holder& operator=(const Holder&) = delete;
  ~Holder() { roaring_bitmap_free(bitmap); }

  roaring_bitmap_t* bitmap;
};

std::optional<RoaringBitmap> RoaringBitmap::Parse(std::string_view bytes) {
  // The size is asked first: the deserializer itself doesn't tell how much it took.
  const size_t size = roaring_bitmap_portable_deserialize_size(bytes.data(), bytes.size());
  if (size == 0 || size != bytes.size()) return std::nullopt;
  roaring_bitmap_t* bitmap = roaring_bitmap_portable_deserialize_safe(bytes.data(), bytes.size());
  if (bitmap == nullptr) return std::nullopt;
  return RoaringBitmap(std::make_shared<const Holder>(bitmap));
}

bool RoaringBitmap::Contains(uint32_t value) const {
  return roaring_bitmap_contains(holder_->bitmap, value);
}

bool RoaringBitmap::ForEach(const std::function<bool(uint32_t)>& visit) const {
  const auto call = [](uint32_t value, void* context) {
    return (*static_cast<const std::function<bool(uint32_t)>*>(context))(value);
  };
  return roaring_iterate(holder_->bitmap, call,
                         const_cast<void*>(static_cast<const void*>(&visit)));
}

bool RoaringBitmap::ForEachBlock(
    const std::function<bool(std::span<const uint32_t>)>& visit) const {
  constexpr uint32_t kBlock = 4096;
  uint32_t block[kBlock];
  roaring_uint32_iterator_t values;
  roaring_init_iterator(holder_->bitmap, &values);
  while (values.has_value) {
    const uint32_t count = roaring_read_uint32_iterator(&values, block, kBlock);
    if (!visit({block, count})) return false;
  }
  return true;
}

std::string EncodeRoaring(std::span<const uint32_t> values) {
  roaring_bitmap_t* bitmap = roaring_bitmap_create();
  roaring_bitmap_add_many(bitmap, values.size(), values.data());
  std::string bytes(roaring_bitmap_portable_size_in_bytes(bitmap), '\0');
  roaring_bitmap_portable_serialize(bitmap, bytes.data());
  roaring_bitmap_free(bitmap);
  return bytes;
}

}  // namespace kinjo::format
