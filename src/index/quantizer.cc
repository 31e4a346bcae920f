#include "index/quantizer.h"

namespace kinjo::index {

void KeepLiveRows(std::span<const uint64_t> addresses, uint64_t dead, DecodedPartition* out) {
  out->addresses.resize(addresses.size());
  out->storage_position.resize(addresses.size());
  size_t kept = 0;
  for (size_t i = 0; i < addresses.size(); ++i) {
    out->addresses[kept] = addresses[i];
    out->storage_position[kept] = static_cast<uint32_t>(i);
    kept += addresses[i] != dead;
  }
  out->addresses.resize(kept);
  out->storage_position.resize(kept);
}

template <typename T>
double MoveByCentre(const double* query, const T* centre, int64_t dim, float* moved) {
  if (centre == nullptr) {
    for (int64_t j = 0; j < dim; ++j) moved[j] = static_cast<float>(query[j]);
  } else {
    for (int64_t j = 0; j < dim; ++j) moved[j] = static_cast<float>(query[j] - centre[j]);
  }
  double sums[4] = {};
  int64_t j = 0;
  for (; j + 4 <= dim; j += 4) {
    for (int lane = 0; lane < 4; ++lane) {
      sums[lane] += static_cast<double>(moved[j + lane]) * moved[j + lane];
    }
  }
  for (; j < dim; ++j) sums[0] += static_cast<double>(moved[j]) * moved[j];
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

template double MoveByCentre(const double*, const float*, int64_t, float*);
template double MoveByCentre(const double*, const double*, int64_t, float*);

}  // namespace kinjo::index
