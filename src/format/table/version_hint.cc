#include "format/table/version_hint.h"

#include "io/file_changes.h"

namespace kinjo::format {

arrow::Status WriteVersionHint(const io::Location& root, uint64_t version) {
  const io::Location place = io::Child(io::Child(root, "_versions"), "latest_version_hint.json");
  return io::ReplaceFile(place, base::Concat("{\"version\":", version, "}"));
}

}  // namespace kinjo::format
