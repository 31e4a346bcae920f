#include "format/proto/wire.h"

namespace kinjo::format::proto {

namespace {

// Reads one varint of at most 10 bytes; null when malformed.
const char* ParseVarint(const char* position, const char* end, uint64_t* value) {
  uint64_t result = 0;
  for (int shift = 0; shift < 70; shift += 7) {
    if (position == end) return nullptr;
    const auto byte = static_cast<uint8_t>(*position++);
    if (shift == 63 && byte > 1) return nullptr;
    result |= static_cast<uint64_t>(byte & 0x7F) << shift;
    if (byte < 0x80) {
      *value = result;
      return position;
    }
  }
  return nullptr;
}

}  // namespace

bool WireReader::ReadVarint(uint64_t* value) {
  const char* next = ParseVarint(position_, end_, value);
  if (next == nullptr) return Fail();
  position_ = next;
  return true;
}

bool WireReader::Next() {
  if (!ok_ || position_ == end_) return false;
  field_begin_ = position_;
  uint64_t tag = 0;
  if (!ReadVarint(&tag)) return false;
  if (tag >> 32 != 0 || tag >> 3 == 0) return Fail();
  field_ = WireField{.number = static_cast<uint32_t>(tag >> 3)};
  const auto remaining = static_cast<uint64_t>(end_ - position_);
  switch (tag & 7) {
    case 0:
      field_.type = WireType::kVarint;
      return ReadVarint(&field_.value);
    case 1:
      if (remaining < 8) return Fail();
      field_.type = WireType::kFixed64;
      std::memcpy(&field_.value, position_, 8);
      position_ += 8;
      return true;
    case 2: {
      uint64_t length = 0;
      if (!ReadVarint(&length)) return false;
      if (length > static_cast<uint64_t>(end_ - position_)) return Fail();
      field_.type = WireType::kBytes;
      field_.bytes = std::string_view(position_, length);
      position_ += length;
      return true;
    }
    case 5:
      if (remaining < 4) return Fail();
      field_.type = WireType::kFixed32;
      std::memcpy(&field_.value, position_, 4);
      position_ += 4;
      return true;
    default:
      return Fail();
  }
}

template <typename T>
bool AppendVarints(const WireField& field, std::vector<T>* values) {
  if (field.type == WireType::kVarint) {
    values->push_back(static_cast<T>(field.value));
    return true;
  }
  if (field.type != WireType::kBytes) return false;
  const char* position = field.bytes.data();
  const char* end = position + field.bytes.size();
  while (position != end) {
    uint64_t value = 0;
    position = ParseVarint(position, end, &value);
    if (position == nullptr) return false;
    values->push_back(static_cast<T>(value));
  }
  return true;
}

template bool AppendVarints(const WireField&, std::vector<int32_t>*);
template bool AppendVarints(const WireField&, std::vector<uint32_t>*);
template bool AppendVarints(const WireField&, std::vector<uint64_t>*);

bool AppendFloats(const WireField& field, std::vector<float>* values) {
  if (field.type == WireType::kFixed32) {
    values->push_back(field.as_float());
    return true;
  }
  if (field.type != WireType::kBytes || field.bytes.size() % 4 != 0) return false;
  const size_t first = values->size();
  values->resize(first + field.bytes.size() / 4);
  std::memcpy(values->data() + first, field.bytes.data(), field.bytes.size());
  return true;
}

}  // namespace kinjo::format::proto
