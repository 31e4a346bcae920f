#include "format/table/feature_flags.h"

#include <bit>
#include <string_view>

namespace kinjo::format {
namespace {

constexpr uint64_t Bit(int number) { return uint64_t{1} << number; }

// Read, or of no concern to a reader: deletion files 0, stable row ids 1, version 2 files 2, table
// config 3, base paths 4, no transaction files 5, covering index columns 7 (such indexes aren't
// used), mixed file versions 8, tagged fragment reuse 10 (indexes aren't used), managed blobs 14
// (such columns are refused), field ids 15, object metadata 17 (a writer's concern).
constexpr uint64_t kAccepted = Bit(0) | Bit(1) | Bit(2) | Bit(3) | Bit(4) | Bit(5) | Bit(7) |
                               Bit(8) | Bit(10) | Bit(14) | Bit(15) | Bit(17);

// Kept up by this writer: deletion files, stable row ids, version 2 files (taken away), table
// config, base paths, no transaction files, mixed file versions.
constexpr uint64_t kWritten = Bit(0) | Bit(1) | Bit(2) | Bit(3) | Bit(4) | Bit(5) | Bit(8);

std::string_view FlagName(int bit) {
  switch (bit) {
    case 6:
      return "data overlay files";
    case 7:
      return "covering index columns";
    case 9:
      return "fragment reuse with stable row ids";
    case 10:
      return "tagged fragment reuse";
    case 11:
      return "row lineage in hidden columns";
    case 12:
      return "fragment tree";
    case 13:
      return "independent covering fields";
    case 14:
      return "managed blobs";
    case 15:
      return "field ids that are used once";
    case 16:
      return "zone seeds";
    case 17:
      return "object metadata";
    default:
      return "unknown";
  }
}

arrow::Status Refuse(uint64_t flags, const char* what, const std::string& path) {
  if (flags == 0) return arrow::Status::OK();
  const int bit = std::countr_zero(flags);
  return base::MakeError(
      base::ErrorCode::kNotSupported,
      base::Concat("can't ", what, " ", path, ": it needs feature flag bit ", bit, " (",
                   FlagName(bit), "), which this build doesn't know; a newer Kinjo may"),
      path);
}

}  // namespace

arrow::Status CheckReaderFlags(uint64_t flags, const std::string& path) {
  return Refuse(flags & ~kAccepted, "read", path);
}

arrow::Status CheckWriterFlags(uint64_t flags, const std::string& path) {
  return Refuse(flags & ~kWritten, "write on top of", path);
}

}  // namespace kinjo::format
