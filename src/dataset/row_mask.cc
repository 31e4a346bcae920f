#include "dataset/row_mask.h"

#include <roaring/roaring.h>

#include <algorithm>
#include <map>
#include <new>
#include <utility>

namespace kinjo::dataset {
namespace {

constexpr int kOffsetBits = 32;

uint32_t OffsetOf(RowAddress address) { return static_cast<uint32_t>(address); }

/// Owns one fragment's bitmap.
class Bitmap {
 public:
  Bitmap() : bitmap_(Checked(roaring_bitmap_create())) {}
  explicit Bitmap(const roaring_bitmap_t* copied) : bitmap_(Checked(roaring_bitmap_copy(copied))) {}
  Bitmap(Bitmap&& other) noexcept : bitmap_(std::exchange(other.bitmap_, nullptr)) {}
  Bitmap& operator=(Bitmap&& other) noexcept {
    std::swap(bitmap_, other.bitmap_);
    return *this;
  }
  ~Bitmap() {
    if (bitmap_ != nullptr) roaring_bitmap_free(bitmap_);
  }

  roaring_bitmap_t* get() const { return bitmap_; }

 private:
  /// The library gives null when memory is out.
  static roaring_bitmap_t* Checked(roaring_bitmap_t* made) {
    if (made == nullptr) throw std::bad_alloc();
    return made;
  }

  roaring_bitmap_t* bitmap_;
};

/// What a map entry and an empty bitmap take.
constexpr int64_t kEntryBytes = 128;

}  // namespace

struct RowMask::Fragments {
  std::map<uint64_t, Bitmap> by_id;

  const roaring_bitmap_t* Find(uint64_t id) const {
    const auto found = by_id.find(id);
    return found == by_id.end() ? nullptr : found->second.get();
  }
};

RowMask::RowMask() : fragments_(std::make_unique<Fragments>()) {}
RowMask::~RowMask() = default;
RowMask::RowMask(RowMask&&) noexcept = default;
RowMask& RowMask::operator=(RowMask&&) noexcept = default;

RowMask RowMask::Clone() const {
  RowMask copy;
  for (const auto& [id, bitmap] : fragments_->by_id) {
    copy.fragments_->by_id.emplace(id, Bitmap(bitmap.get()));
  }
  return copy;
}

void RowMask::Add(RowAddress address) { Add(std::span(&address, 1)); }

void RowMask::Add(std::span<const RowAddress> addresses) {
  constexpr size_t kBlock = 1024;
  uint32_t offsets[kBlock];
  for (size_t begin = 0; begin < addresses.size();) {
    const uint64_t id = addresses[begin] >> kOffsetBits;
    size_t rows = 0;
    for (; begin < addresses.size() && rows < kBlock && addresses[begin] >> kOffsetBits == id;
         ++begin) {
      offsets[rows++] = OffsetOf(addresses[begin]);
    }
    roaring_bitmap_add_many(fragments_->by_id[id].get(), rows, offsets);
  }
}

void RowMask::AddRange(RowAddress begin, RowAddress end) {
  if (begin >= end) return;
  const uint64_t first = begin & 0xffffffff;
  roaring_bitmap_add_range(fragments_->by_id[begin >> kOffsetBits].get(), first,
                           first + (end - begin));
}

void RowMask::IntersectWith(const RowMask& other) {
  auto& mine = fragments_->by_id;
  for (auto entry = mine.begin(); entry != mine.end();) {
    const roaring_bitmap_t* theirs = other.fragments_->Find(entry->first);
    if (theirs != nullptr) roaring_bitmap_and_inplace(entry->second.get(), theirs);
    const bool empty = theirs == nullptr || roaring_bitmap_is_empty(entry->second.get());
    entry = empty ? mine.erase(entry) : std::next(entry);
  }
}

void RowMask::UniteWith(const RowMask& other) {
  for (const auto& [id, theirs] : other.fragments_->by_id) {
    const auto [entry, is_new] = fragments_->by_id.try_emplace(id, theirs.get());
    if (!is_new) roaring_bitmap_or_inplace(entry->second.get(), theirs.get());
  }
}

void RowMask::Subtract(const RowMask& other) {
  auto& mine = fragments_->by_id;
  for (auto entry = mine.begin(); entry != mine.end();) {
    const roaring_bitmap_t* theirs = other.fragments_->Find(entry->first);
    if (theirs != nullptr) roaring_bitmap_andnot_inplace(entry->second.get(), theirs);
    entry = roaring_bitmap_is_empty(entry->second.get()) ? mine.erase(entry) : std::next(entry);
  }
}

bool RowMask::Contains(RowAddress address) const {
  const roaring_bitmap_t* bitmap = fragments_->Find(address >> kOffsetBits);
  return bitmap != nullptr && roaring_bitmap_contains(bitmap, OffsetOf(address));
}

uint64_t RowMask::count() const {
  uint64_t rows = 0;
  for (const auto& [id, bitmap] : fragments_->by_id) {
    rows += roaring_bitmap_get_cardinality(bitmap.get());
  }
  return rows;
}

uint64_t RowMask::count_in(uint64_t fragment_id) const {
  const roaring_bitmap_t* bitmap = fragments_->Find(fragment_id);
  return bitmap == nullptr ? 0 : roaring_bitmap_get_cardinality(bitmap);
}

int64_t RowMask::size_bytes() const {
  int64_t bytes = 0;
  for (const auto& [id, bitmap] : fragments_->by_id) {
    bytes += kEntryBytes + static_cast<int64_t>(roaring_bitmap_size_in_bytes(bitmap.get()));
  }
  return bytes;
}

RowMask RowMask::InFragments(std::span<const uint64_t> fragment_ids) const {
  RowMask part;
  for (const uint64_t id : fragment_ids) {
    const roaring_bitmap_t* bitmap = fragments_->Find(id);
    if (bitmap != nullptr) part.fragments_->by_id.emplace(id, Bitmap(bitmap));
  }
  return part;
}

void RowMask::ForEach(const std::function<bool(RowAddress)>& visit) const {
  for (const auto& [id, bitmap] : fragments_->by_id) {
    roaring_uint32_iterator_t rows;
    roaring_init_iterator(bitmap.get(), &rows);
    for (; rows.has_value; roaring_advance_uint32_iterator(&rows)) {
      if (!visit(id << kOffsetBits | rows.current_value)) return;
    }
  }
}

uint64_t RowMask::AppendRanges(uint64_t fragment_id, uint64_t begin, uint64_t rows_max,
                               std::vector<format::RowRange>* ranges) const {
  const roaring_bitmap_t* bitmap = fragments_->Find(fragment_id);
  if (bitmap == nullptr || begin > 0xffffffff) return kNoMoreRows;
  roaring_uint32_iterator_t rows;
  roaring_init_iterator(bitmap, &rows);
  roaring_move_uint32_iterator_equalorlarger(&rows, static_cast<uint32_t>(begin));
  constexpr uint32_t kBlock = 1024;
  uint32_t block[kBlock];
  for (uint64_t left = rows_max; left > 0;) {
    const auto wanted = static_cast<uint32_t>(std::min<uint64_t>(left, kBlock));
    const uint32_t got = roaring_read_uint32_iterator(&rows, block, wanted);
    for (uint32_t i = 0; i < got; ++i) {
      if (!ranges->empty() && ranges->back().end == block[i]) {
        ++ranges->back().end;
      } else {
        ranges->push_back({block[i], uint64_t{block[i]} + 1});
      }
    }
    left -= got;
    if (got < wanted) break;
  }
  return rows.has_value ? rows.current_value : kNoMoreRows;
}

void KeepMaskedRows(const RowMask& mask, std::span<RowAddress> addresses) {
  for (RowAddress& address : addresses) {
    if (address != kDeadRow && !mask.Contains(address)) address = kDeadRow;
  }
}

}  // namespace kinjo::dataset
