#include "format/index_file/row_id_map.h"

#include <cstring>
#include <unordered_set>
#include <utility>

namespace kinjo::format {
namespace {

/// Takes a little-endian u32 off the front; false when there is none.
bool TakeU32(std::string_view* bytes, uint32_t* value) {
  if (bytes->size() < sizeof(*value)) return false;
  std::memcpy(value, bytes->data(), sizeof(*value));
  bytes->remove_prefix(sizeof(*value));
  return true;
}

arrow::Status Malformed(const std::string& path, const std::string& why) {
  return base::Corrupt(path, 0, "malformed set of row ids: ", why);
}

}  // namespace

arrow::Result<std::vector<RowIdGroup>> ParseRowIdMap(std::string_view bytes,
                                                     const std::string& path) {
  uint32_t count = 0;
  if (!TakeU32(&bytes, &count)) return Malformed(path, "it has no count");
  std::vector<RowIdGroup> groups;
  std::unordered_set<uint32_t> seen;
  // Each group takes bytes, so a count that is too high ends the loop and not the memory.
  for (uint32_t i = 0; i < count; ++i) {
    uint32_t upper = 0;
    uint32_t size = 0;
    if (!TakeU32(&bytes, &upper) || !TakeU32(&bytes, &size) || size > bytes.size()) {
      return Malformed(path, base::Concat("it ends in group ", i, " of ", count));
    }
    if (size == 0) {
      return base::NotSupported("A set of row ids in ", path, " holds all of group ", upper,
                                " without a bitmap, which this build doesn't read");
    }
    if (!seen.insert(upper).second) {
      return Malformed(path, base::Concat("group ", upper, " comes twice"));
    }
    auto lower = RoaringBitmap::Parse(bytes.substr(0, size));
    if (!lower.has_value()) {
      return Malformed(path, base::Concat("group ", upper, " is no Roaring bitmap"));
    }
    bytes.remove_prefix(size);
    groups.push_back({upper, *std::move(lower)});
  }
  if (!bytes.empty()) return Malformed(path, base::Concat(bytes.size(), " bytes follow it"));
  return groups;
}

}  // namespace kinjo::format
