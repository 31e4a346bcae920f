#include "packed_batch.h"

#include <cstring>
#include <limits>
#include <string_view>
#include <vector>

namespace kinjo_node {

namespace {

enum class Kind : uint8_t { kNull, kBits, kFixed, kOffsets, kWideOffsets, kViews, kNested, kNone };

struct Layout {
  Kind kind = Kind::kNone;
  int64_t width = 0;     // bytes of a value; of a fixed-size list, items
  bool has_data = true;  // behind the offsets: bytes rather than a child
};

constexpr int64_t kViewBytes = 16;

int64_t DecimalBytes(std::string_view format) {
  const size_t comma = format.rfind(',');
  const bool sized = comma != format.find(',');
  return sized ? std::atoi(std::string(format.substr(comma + 1)).c_str()) / 8 : 16;
}

Layout FixedLayout(std::string_view format) {
  switch (format[0]) {
    case 'c':
    case 'C':
      return {Kind::kFixed, 1};
    case 's':
    case 'S':
    case 'e':
      return {Kind::kFixed, 2};
    case 'i':
    case 'I':
    case 'f':
      return {Kind::kFixed, 4};
    case 'l':
    case 'L':
    case 'g':
      return {Kind::kFixed, 8};
    case 'd':
      return {Kind::kFixed, DecimalBytes(format)};
    case 'w':
      return {Kind::kFixed, std::atoll(format.data() + 2)};
    default:
      return {};
  }
}

Layout TimeLayout(std::string_view format) {
  const std::string_view kind = format.substr(0, 3);
  const bool narrow = kind == "tdD" || kind == "tts" || kind == "ttm";
  if (format.substr(0, 2) == "ti") return {};  // intervals
  return {Kind::kFixed, narrow ? 4 : 8};
}

Layout NestedLayout(std::string_view format) {
  if (format == "+l" || format == "+m") return {Kind::kOffsets, 0, false};
  if (format == "+L") return {Kind::kWideOffsets, 0, false};
  if (format == "+s") return {Kind::kNested, 1};
  if (format.substr(0, 3) == "+w:") return {Kind::kNested, std::atoll(format.data() + 3)};
  return {};
}

Layout LayoutOf(const ArrowSchema& schema) {
  const std::string_view format = schema.format;
  if (format == "n") return {Kind::kNull};
  if (format == "b") return {Kind::kBits};
  if (format == "u" || format == "z") return {Kind::kOffsets};
  if (format == "U" || format == "Z") return {Kind::kWideOffsets};
  if (format == "vu" || format == "vz") return {Kind::kViews};
  if (format[0] == 't') return TimeLayout(format);
  if (format[0] == '+') return NestedLayout(format);
  return FixedLayout(format);
}

size_t Padded(size_t bytes) { return (bytes + 7) & ~size_t{7}; }
size_t BitBytes(int64_t bits) { return static_cast<size_t>((bits + 7) / 8); }

// Walks the columns twice: once to count bytes (no block yet), once to copy them.
class Packer {
 public:
  explicit Packer(uint8_t* block) : block_(block) {}

  // The rows [begin, begin + length) of an array, counted from its own offset.
  void Column(const ArrowSchema& schema, const ArrowArray& array, int64_t begin, int64_t length);

  size_t used() const { return used_; }
  bool too_long() const { return too_long_; }
  const std::vector<double>& directory() const { return directory_; }

 private:
  double Place(size_t bytes) {
    const size_t place = used_;
    used_ += Padded(bytes);
    return static_cast<double>(place);
  }
  uint8_t* At(double place) { return block_ + static_cast<size_t>(place); }

  double Bits(const void* bits, int64_t begin, int64_t length);
  double Bytes(const void* bytes, size_t count);
  template <typename Offset>
  void Offsets(const ArrowSchema& schema, const ArrowArray& array, int64_t first, int64_t length,
               bool has_data, size_t record);
  void Views(const ArrowArray& array, int64_t first, int64_t length, size_t record);
  void Set(size_t record, size_t field, double value) { directory_[record + field] = value; }

  uint8_t* block_;
  size_t used_ = 0;
  bool too_long_ = false;
  std::vector<double> directory_;
};

double Packer::Bits(const void* bits, int64_t begin, int64_t length) {
  const double place = Place(BitBytes(length));
  if (block_ == nullptr) return place;
  const auto* from = static_cast<const uint8_t*>(bits) + begin / 8;
  uint8_t* to = At(place);
  const int shift = static_cast<int>(begin % 8);
  if (shift == 0) {
    std::memcpy(to, from, BitBytes(length));
    return place;
  }
  const size_t there = BitBytes(length + shift);
  for (size_t i = 0; i < BitBytes(length); ++i) {
    const int high = i + 1 < there ? from[i + 1] << (8 - shift) : 0;
    to[i] = static_cast<uint8_t>((from[i] >> shift) | high);
  }
  return place;
}

double Packer::Bytes(const void* bytes, size_t count) {
  const double place = Place(count);
  if (block_ != nullptr && count > 0) std::memcpy(At(place), bytes, count);
  return place;
}

template <typename Offset>
void Packer::Offsets(const ArrowSchema& schema, const ArrowArray& array, int64_t first,
                     int64_t length, bool has_data, size_t record) {
  const auto* offsets = static_cast<const Offset*>(array.buffers[1]);
  const Offset begin = length == 0 || offsets == nullptr ? 0 : offsets[first];
  const Offset end = length == 0 || offsets == nullptr ? 0 : offsets[first + length];
  if (static_cast<int64_t>(end - begin) > std::numeric_limits<int32_t>::max()) {
    too_long_ = true;
    return;
  }
  const size_t bytes = static_cast<size_t>(length + 1) * sizeof(int32_t);
  const double place = Place(bytes);
  if (block_ != nullptr) {
    auto* to = reinterpret_cast<int32_t*>(At(place));
    to[0] = 0;
    for (int64_t i = 1; i <= length; ++i) {
      to[i] = static_cast<int32_t>(offsets[first + i] - begin);
    }
  }
  Set(record, 3, place);
  Set(record, 4, static_cast<double>(bytes));
  if (!has_data) {
    Column(*schema.children[0], *array.children[0], begin, end - begin);
    return;
  }
  const auto* data = static_cast<const uint8_t*>(array.buffers[2]);
  const auto count = static_cast<size_t>(end - begin);
  Set(record, 5, Bytes(data + begin, count));
  Set(record, 6, static_cast<double>(count));
}

void Packer::Views(const ArrowArray& array, int64_t first, int64_t length, size_t record) {
  struct View {
    int32_t size;
    uint8_t inlined[4];
    int32_t buffer, offset;
  };
  static_assert(sizeof(View) == kViewBytes);
  const auto* views = static_cast<const View*>(array.buffers[1]);
  int64_t count = 0;
  for (int64_t i = first; i < first + length; ++i) count += views[i].size;
  if (count > std::numeric_limits<int32_t>::max()) {
    too_long_ = true;
    return;
  }
  const size_t bytes = static_cast<size_t>(length + 1) * sizeof(int32_t);
  const double offsets_place = Place(bytes);
  const double data_place = Place(static_cast<size_t>(count));
  Set(record, 3, offsets_place);
  Set(record, 4, static_cast<double>(bytes));
  Set(record, 5, data_place);
  Set(record, 6, static_cast<double>(count));
  if (block_ == nullptr) return;
  auto* offsets = reinterpret_cast<int32_t*>(At(offsets_place));
  uint8_t* data = At(data_place);
  int32_t at = 0;
  for (int64_t i = 0; i < length; ++i) {
    const View& view = views[first + i];
    offsets[i] = at;
    const bool inlined = view.size <= 12;
    const auto* from =
        inlined ? view.inlined
                : static_cast<const uint8_t*>(array.buffers[2 + view.buffer]) + view.offset;
    std::memcpy(data + at, from, static_cast<size_t>(view.size));
    at += view.size;
  }
  offsets[length] = at;
}

void Packer::Column(const ArrowSchema& schema, const ArrowArray& array, int64_t begin,
                    int64_t length) {
  const Layout layout = LayoutOf(schema);
  const int64_t first = array.offset + begin;
  const size_t record = directory_.size();
  directory_.insert(directory_.end(), {static_cast<double>(length), 0, -1, -1, 0, -1, 0});
  const bool has_nulls =
      layout.kind != Kind::kNull && array.null_count != 0 && array.buffers[0] != nullptr;
  if (has_nulls) {
    Set(record, 1, -1);  // not counted
    Set(record, 2, Bits(array.buffers[0], first, length));
  }
  switch (layout.kind) {
    case Kind::kNull:
      Set(record, 1, static_cast<double>(length));
      break;
    case Kind::kBits:
      Set(record, 5, Bits(array.buffers[1], first, length));
      Set(record, 6, static_cast<double>(BitBytes(length)));
      break;
    case Kind::kFixed: {
      const auto* values = static_cast<const uint8_t*>(array.buffers[1]);
      const auto count = static_cast<size_t>(length * layout.width);
      Set(record, 5, Bytes(values + first * layout.width, count));
      Set(record, 6, static_cast<double>(count));
      break;
    }
    case Kind::kOffsets:
      Offsets<int32_t>(schema, array, first, length, layout.has_data, record);
      break;
    case Kind::kWideOffsets:
      Offsets<int64_t>(schema, array, first, length, layout.has_data, record);
      break;
    case Kind::kViews:
      Views(array, first, length, record);
      break;
    case Kind::kNested:
      for (int64_t i = 0; i < schema.n_children; ++i) {
        Column(*schema.children[i], *array.children[i], first * layout.width,
               length * layout.width);
      }
      break;
    case Kind::kNone:
      break;
  }
  if (schema.dictionary != nullptr) {
    Column(*schema.dictionary, *array.dictionary, 0, array.dictionary->length);
  }
}

}  // namespace

bool CanPack(const ArrowSchema& schema, std::string* type) {
  if (LayoutOf(schema).kind == Kind::kNone) {
    *type = schema.format;
    return false;
  }
  for (int64_t i = 0; i < schema.n_children; ++i) {
    if (!CanPack(*schema.children[i], type)) return false;
  }
  return schema.dictionary == nullptr || CanPack(*schema.dictionary, type);
}

size_t BytesOf(const ArrowSchema& schema, const ArrowArray& batch) {
  Packer counting(nullptr);
  counting.Column(schema, batch, 0, batch.length);
  return counting.used() + counting.directory().size() * sizeof(double);
}

PackedBatch Pack(const ArrowSchema& schema, const ArrowArray& batch) {
  Packer counting(nullptr);
  counting.Column(schema, batch, 0, batch.length);
  PackedBatch packed;
  if (counting.too_long()) return packed;
  packed.rows = batch.length;
  packed.directory = counting.used();
  packed.size = packed.directory + counting.directory().size() * sizeof(double);
  packed.block.reset(static_cast<uint8_t*>(std::malloc(packed.size)));
  if (packed.block == nullptr) return packed;
  Packer copying(packed.block.get());
  copying.Column(schema, batch, 0, batch.length);
  std::memcpy(packed.block.get() + packed.directory, copying.directory().data(),
              copying.directory().size() * sizeof(double));
  return packed;
}

}  // namespace kinjo_node
