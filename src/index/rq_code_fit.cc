#include "index/rq_code_fit.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace kinjo::index {

namespace {

constexpr int kLanes = 16;  // sums in as many lanes, so that the loops run in vectors
constexpr int kCoarseSteps = 24;
constexpr int kFineSteps = 6;  // to either side of the best coarse one
// What is added before rounding down, so that an element on an edge reaches it.
constexpr float kEdge = 1e-5f;
// Where the best size of a step is sought: from this part of the largest on, by ex_bits - 1.
constexpr double kSearchFrom[8] = {0.15, 0.20, 0.52, 0.59, 0.71, 0.75, 0.77, 0.81};
constexpr double kSearchBeyond = 10;

// The cosine of the angle between the magnitudes and their code at `scale` steps a unit.
double CosineAt(const float* magnitudes, int64_t dim, float scale, float most) {
  float products[kLanes] = {};
  float squares[kLanes] = {};
  for (int64_t first = 0; first < dim; first += kLanes) {
    float some[kLanes] = {};
    float weights[kLanes] = {};
    const int64_t count = std::min<int64_t>(kLanes, dim - first);
    if (count == kLanes) {
      for (int lane = 0; lane < kLanes; ++lane) some[lane] = magnitudes[first + lane];
      for (int lane = 0; lane < kLanes; ++lane) weights[lane] = 1;
    } else {
      for (int64_t lane = 0; lane < count; ++lane) some[lane] = magnitudes[first + lane];
      for (int64_t lane = 0; lane < count; ++lane) weights[lane] = 1;
    }
    for (int lane = 0; lane < kLanes; ++lane) {
      const float reach = some[lane] * scale + kEdge;
      const float capped = reach < most ? reach : most;
      const float value = (static_cast<float>(static_cast<int32_t>(capped)) + 0.5f) * weights[lane];
      products[lane] += some[lane] * value;
      squares[lane] += value * value;
    }
  }
  double product = 0;
  double square = 0;
  for (int lane = 0; lane < kLanes; ++lane) {
    product += products[lane];
    square += squares[lane];
  }
  return product / std::sqrt(square);
}

}  // namespace

void FitRqCode(const float* magnitudes, int64_t dim, int ex_bits, uint8_t* codes) {
  const float largest = *std::max_element(magnitudes, magnitudes + dim);
  if (!(largest > 0)) {
    std::fill(codes, codes + dim, uint8_t{0});
    return;
  }
  const double most = (1 << ex_bits) - 1;
  const double to = (most + kSearchBeyond) / largest;
  const double from = to * kSearchFrom[ex_bits - 1];
  const double step = (to - from) / kCoarseSteps;
  double best = from;
  double best_cosine = -1;
  const auto consider = [&](double scale) {
    const double cosine =
        CosineAt(magnitudes, dim, static_cast<float>(scale), static_cast<float>(most));
    if (cosine <= best_cosine) return;
    best_cosine = cosine;
    best = scale;
  };
  for (int i = 0; i <= kCoarseSteps; ++i) consider(from + i * step);
  const double middle = best;
  for (int i = 1; i <= kFineSteps; ++i) {
    const double offset = i * step / (kFineSteps + 1);
    consider(middle - offset);
    consider(middle + offset);
  }
  for (int64_t j = 0; j < dim; ++j) {
    const float reach = magnitudes[j] * static_cast<float>(best) + kEdge;
    codes[j] = static_cast<uint8_t>(std::min(reach, static_cast<float>(most)));
  }
}

namespace {

constexpr int64_t kBlock = 64;

// The bits of a block below the top plane, or all of them where there is none.
void PackLowBits(const uint8_t* v, int bits, uint8_t* out) {
  switch (bits) {
    case 1:
      std::fill(out, out + 8, uint8_t{0});
      for (int i = 0; i < kBlock; ++i)
        out[i / 8] = static_cast<uint8_t>(out[i / 8] | v[i] << i % 8);
      return;
    case 2:
      for (int b = 0; b < 16; ++b) {
        out[b] = static_cast<uint8_t>(v[b] | v[b + 16] << 2 | v[b + 32] << 4 | v[b + 48] << 6);
      }
      return;
    case 6:
      for (int k = 0; k < 3; ++k) {
        for (int b = 0; b < 16; ++b) {
          out[16 * k + b] = static_cast<uint8_t>(v[16 * k + b] | (v[48 + b] >> 2 * k & 3) << 6);
        }
      }
      return;
    default:  // 8
      std::memcpy(out, v, kBlock);
  }
}

// 4 bits alone pair elements 8 apart; below a top plane, 16 apart.
void PackHalves(const uint8_t* v, int apart, uint8_t* out) {
  for (int first = 0; first < kBlock; first += 2 * apart) {
    for (int b = 0; b < apart; ++b) {
      *out++ = static_cast<uint8_t>(v[first + b] | v[first + apart + b] << 4);
    }
  }
}

void PackBlock(const uint8_t* codes, int ex_bits, uint8_t* out) {
  const bool has_top = ex_bits == 3 || ex_bits == 5 || ex_bits == 7;
  const int low_bits = has_top ? ex_bits - 1 : ex_bits;
  uint8_t low[kBlock];
  for (int i = 0; i < kBlock; ++i) low[i] = static_cast<uint8_t>(codes[i] & ((1 << low_bits) - 1));
  if (low_bits == 4) {
    PackHalves(low, has_top ? 16 : 8, out);
  } else {
    PackLowBits(low, low_bits, out);
  }
  if (!has_top) return;
  uint8_t* top = out + 8 * low_bits;
  std::fill(top, top + 8, uint8_t{0});
  for (int i = 0; i < kBlock; ++i) {
    const int b = i % 16;
    const int bit = 2 * (i / 16) + b / 8;
    top[b % 8] = static_cast<uint8_t>(top[b % 8] | (codes[i] >> low_bits & 1) << bit);
  }
}

}  // namespace

void PackRqExCodes(const uint8_t* codes, int64_t dim, int ex_bits, uint8_t* out) {
  for (int64_t first = 0; first < dim; first += kBlock, out += 8 * ex_bits) {
    if (first + kBlock <= dim) {
      PackBlock(codes + first, ex_bits, out);
      continue;
    }
    uint8_t block[kBlock] = {};
    std::copy(codes + first, codes + dim, block);
    PackBlock(block, ex_bits, out);
  }
}

void PackRqSigns(const uint8_t* signs, int64_t stride, int64_t num_rows, int64_t row_bytes,
                 uint8_t* out) {
  constexpr int64_t kRows = 32;
  constexpr int64_t kOrder[16] = {0, 8, 1, 9, 2, 10, 3, 11, 4, 12, 5, 13, 6, 14, 7, 15};
  const int64_t whole = num_rows / kRows * kRows;
  for (int64_t block = 0; block < whole; block += kRows) {
    const uint8_t* rows = signs + block * stride;
    for (int64_t i = 0; i < row_bytes; ++i) {
      for (const int64_t row : kOrder) {
        const uint8_t a = rows[row * stride + i];
        const uint8_t b = rows[(row + 16) * stride + i];
        out[0] = static_cast<uint8_t>((a & 15) | (b & 15) << 4);
        out[16] = static_cast<uint8_t>(a >> 4 | (b & 0xF0));
        ++out;
      }
      out += 16;
    }
  }
  for (int64_t i = 0; i < row_bytes; ++i) {
    for (int64_t row = whole; row < num_rows; ++row) *out++ = signs[row * stride + i];
  }
}

}  // namespace kinjo::index
