#include "index/rq_codes.h"

#include <algorithm>
#include <cstring>

#include "kernels/code_rows.h"

namespace kinjo::index {

namespace {

constexpr int64_t kBlock = 64;       // elements of a block of ex codes
constexpr int64_t kPackedRows = 32;  // rows of a block of sign bits

// The bits below the top one of an odd number of them, by pairs, nibbles or six together.
void ReadPairs(const uint8_t* bytes, uint8_t* values) {
  for (int b = 0; b < 16; ++b) {
    for (int part = 0; part < 4; ++part) values[16 * part + b] = bytes[b] >> (2 * part) & 3;
  }
}

void ReadNibbles4(const uint8_t* bytes, uint8_t* values) {
  for (int j = 0; j < 4; ++j) {
    for (int b = 0; b < 8; ++b) {
      values[16 * j + b] = bytes[8 * j + b] & 15;
      values[16 * j + 8 + b] = bytes[8 * j + b] >> 4;
    }
  }
}

void ReadNibbles5(const uint8_t* bytes, uint8_t* values) {
  for (int half = 0; half < 2; ++half) {
    for (int b = 0; b < 16; ++b) {
      values[32 * half + b] = bytes[16 * half + b] & 15;
      values[32 * half + 16 + b] = bytes[16 * half + b] >> 4;
    }
  }
}

void ReadSixes(const uint8_t* bytes, uint8_t* values) {
  for (int b = 0; b < 16; ++b) {
    uint8_t last = 0;
    for (int part = 0; part < 3; ++part) {
      values[16 * part + b] = bytes[16 * part + b] & 63;
      last = static_cast<uint8_t>(last | bytes[16 * part + b] >> 6 << (2 * part));
    }
    values[48 + b] = last;
  }
}

// Element 16 part + b has its top bit in byte b mod 8, at 2 part + b / 8.
void AddTopPlane(const uint8_t* plane, int bit, uint8_t* values) {
  for (int part = 0; part < 4; ++part) {
    for (int b = 0; b < 16; ++b) {
      const int top = plane[b % 8] >> (2 * part + b / 8) & 1;
      values[16 * part + b] = static_cast<uint8_t>(values[16 * part + b] | top << bit);
    }
  }
}

void ReadBlock(const uint8_t* bytes, int ex_bits, uint8_t* values) {
  switch (ex_bits) {
    case 1:
      for (int i = 0; i < kBlock; ++i) values[i] = bytes[i / 8] >> (i % 8) & 1;
      return;
    case 2:
    case 3:
      ReadPairs(bytes, values);
      if (ex_bits == 3) AddTopPlane(bytes + 16, 2, values);
      return;
    case 4:
      return ReadNibbles4(bytes, values);
    case 5:
      ReadNibbles5(bytes, values);
      return AddTopPlane(bytes + 32, 4, values);
    case 6:
    case 7:
      ReadSixes(bytes, values);
      if (ex_bits == 7) AddTopPlane(bytes + 48, 6, values);
      return;
    default:
      std::memcpy(values, bytes, kBlock);
  }
}

// Where the sign bits of a row lie: byte i, made of two halves.
struct SignBytes {
  const uint8_t* low;
  const uint8_t* high;
  int64_t stride;
  int shift;
  bool halves;

  uint8_t Byte(int64_t i) const {
    const auto first = static_cast<uint8_t>(low[i * stride] >> shift);
    if (!halves) return first;
    return static_cast<uint8_t>((first & 15) | high[i * stride] >> shift << 4);
  }
};

SignBytes FindSigns(const RqCodes& codes, int64_t position) {
  const int64_t row_bytes = codes.dim / 8;
  const int64_t block = position / kPackedRows * kPackedRows;
  if (!codes.packed) return {codes.signs + position * row_bytes, nullptr, 1, 0, false};
  const uint8_t* start = codes.signs + block * row_bytes;
  const int64_t row = position - block;
  // The rows after the last whole block lie byte after byte.
  if (codes.num_rows - block < kPackedRows) {
    return {start + row, nullptr, codes.num_rows - block, 0, false};
  }
  // 16 bytes hold the low halves of 32 bytes, 16 the high ones; rows 0, 8, 1, 9, ... in the low
  // half of each, rows 16, 24, 17, 25, ... in the high half.
  const int64_t lane = row % 16;
  const int64_t at = lane < 8 ? 2 * lane : 2 * lane - 15;
  return {start + at, start + at + 16, kPackedRows, row < 16 ? 0 : 4, true};
}

}  // namespace

void ReadRqRow(const RqCodes& codes, int64_t position, float* doubled) {
  const int ex_bits = codes.ex_bits;
  const SignBytes signs = FindSigns(codes, position);
  const int64_t blocks = (codes.dim + kBlock - 1) / kBlock;
  const uint8_t* ex = codes.ex_codes;
  if (ex_bits > 0) ex += position * blocks * 8 * ex_bits;
  for (int64_t first = 0; first < codes.dim; first += kBlock) {
    uint8_t values[kBlock] = {};
    if (ex_bits > 0) {
      ReadBlock(ex, ex_bits, values);
      ex += 8 * ex_bits;
    }
    const int64_t bytes = std::min(kBlock, codes.dim - first) / 8;
    uint8_t bits[kBlock / 8];
    for (int64_t i = 0; i < bytes; ++i) bits[i] = signs.Byte(first / 8 + i);
    kernels::DoubleSignedCodes(bits, values, ex_bits, 8 * bytes, doubled + first);
  }
}

}  // namespace kinjo::index
