#include "index/quantizer.h"

namespace kinjo::index {

void KeepLiveRows(std::span<const uint64_t> addresses, uint64_t dead, DecodedPartition* out) {
  out->addresses.resize(addresses.size());
  out->storage_position.resize(addresses.size());
  size_t kept = 0;
  for (size_t i = 0; i < addresses.size(); ++i) {
    out->addresses[kept] = addresses[i];
    out->storage_position[kept] = static_cast<uint32_t>(out->first_stored + i);
    kept += addresses[i] != dead;
  }
  out->addresses.resize(kept);
  out->storage_position.resize(kept);
}

}  // namespace kinjo::index
