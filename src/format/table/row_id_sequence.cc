#include "format/table/row_id_sequence.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace kinjo::format {
namespace {

using Kind = proto::U64SegmentMessage::Kind;

arrow::Status Malformed(const std::string& path, const char* why) {
  return base::Corrupt(path, 0, "malformed row ids: ", why);
}

template <typename Offset>
void Append(const proto::EncodedU64ArrayMessage& array, std::vector<uint64_t>* values) {
  for (size_t i = 0; i + sizeof(Offset) <= array.values.size(); i += sizeof(Offset)) {
    Offset offset;
    std::memcpy(&offset, array.values.data() + i, sizeof(Offset));
    values->push_back(array.base + offset);
  }
}

arrow::Result<std::vector<uint64_t>> Decode(const proto::EncodedU64ArrayMessage& array,
                                            const std::string& path) {
  if (array.values.size() % array.offset_bytes != 0) {
    return Malformed(path, "an array of ids is cut off");
  }
  std::vector<uint64_t> values;
  values.reserve(array.values.size() / array.offset_bytes);
  if (array.offset_bytes == 2) Append<uint16_t>(array, &values);
  if (array.offset_bytes == 4) Append<uint32_t>(array, &values);
  if (array.offset_bytes == 8) Append<uint64_t>(array, &values);
  return values;
}

/// Ids of the set bits, least significant bit first.
std::vector<uint64_t> DecodeBitmap(const std::string& bitmap, uint64_t start, uint64_t length) {
  std::vector<uint64_t> values;
  for (uint64_t i = 0; i < length; ++i) {
    const auto byte = static_cast<unsigned char>(bitmap[i / 8]);
    if (((byte >> (i % 8)) & 1) != 0) values.push_back(start + i);
  }
  return values;
}

}  // namespace

arrow::Result<RowIdSequence::Segment> RowIdSequence::MakeSegment(
    const proto::U64SegmentMessage& message, const std::string& path) {
  Segment segment;
  segment.is_range = message.kind == Kind::kRange || message.kind == Kind::kRangeWithHoles;
  if (message.kind == Kind::kUnknown) return Malformed(path, "a segment of unknown kind");
  if (message.start > message.end) return Malformed(path, "a range ends before it starts");
  segment.start = message.start;
  segment.end = message.end;
  if (message.kind == Kind::kRangeWithBitmap) {
    const uint64_t length = message.end - message.start;
    if (length > message.bitmap.size() * uint64_t{8}) {
      return Malformed(path, "a bitmap is shorter than its range");
    }
    segment.values = DecodeBitmap(message.bitmap, message.start, length);
    return segment;
  }
  ARROW_ASSIGN_OR_RAISE(segment.values, Decode(message.array, path));
  if (message.kind != Kind::kRangeWithHoles) return segment;
  uint64_t lowest = segment.start;
  for (const uint64_t hole : segment.values) {
    if (hole < lowest || hole >= segment.end) {
      return Malformed(path, "the holes of a range aren't rising or lie outside of it");
    }
    lowest = hole + 1;
  }
  return segment;
}

uint64_t RowIdSequence::Segment::Get(uint64_t position) const {
  if (!is_range) return values[position];
  // values[i] - start - i ids lie before hole i: the holes with at most `position` of them come
  // first.
  uint64_t low = 0;
  uint64_t high = values.size();
  while (low < high) {
    const uint64_t middle = low + (high - low) / 2;
    if (values[middle] - start - middle <= position) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return start + position + low;
}

arrow::Result<RowIdSequence> RowIdSequence::Parse(std::string_view bytes, uint64_t physical_rows,
                                                  const std::string& path) {
  std::vector<proto::U64SegmentMessage> messages;
  if (!proto::ParseRowIdSequence(bytes, &messages)) {
    return Malformed(path, "not a RowIdSequence message");
  }
  RowIdSequence sequence;
  uint64_t total = 0;
  for (const proto::U64SegmentMessage& message : messages) {
    ARROW_ASSIGN_OR_RAISE(Segment segment, MakeSegment(message, path));
    if (segment.size() > physical_rows - total) {
      return Malformed(path, "they list more ids than the fragment has rows");
    }
    total += segment.size();
    sequence.segments_.push_back(std::move(segment));
    sequence.starts_.push_back(total);
  }
  if (total != physical_rows) {
    return Malformed(path, "they list fewer ids than the fragment has rows");
  }
  return sequence;
}

uint64_t RowIdSequence::Get(uint64_t position) const {
  const auto after = std::upper_bound(starts_.begin(), starts_.end(), position);
  const auto number = static_cast<size_t>(after - starts_.begin());
  const uint64_t before = number == 0 ? 0 : starts_[number - 1];
  return segments_[number].Get(position - before);
}

void RowIdSequence::ForEachRun(const std::function<void(const Run&)>& visit) const {
  uint64_t position = 0;
  const auto emit = [&](uint64_t first_id, uint64_t length) {
    if (length > 0) visit({first_id, position, length});
    position += length;
  };
  for (const Segment& segment : segments_) {
    if (segment.is_range) {
      uint64_t id = segment.start;
      for (const uint64_t hole : segment.values) {
        emit(id, hole - id);
        id = hole + 1;
      }
      emit(id, segment.end - id);
      continue;
    }
    for (size_t i = 0; i < segment.values.size();) {
      size_t next = i + 1;
      while (next < segment.values.size() && segment.values[next] == segment.values[next - 1] + 1) {
        ++next;
      }
      emit(segment.values[i], next - i);
      i = next;
    }
  }
}

}  // namespace kinjo::format
