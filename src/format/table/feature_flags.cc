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

std::string_view FlagName(int bit) {
  switch (bit) {
    case 6:
      return "data overlay files";
    case 9:
      return "fragment reuse with stable row ids";
    case 11:
      return "row lineage in hidden columns";
    case 12:
      return "fragment tree";
    case 13:
      return "independent covering fields";
    case 16:
      return "zone seeds";
    default:
      return "unknown";
  }
}

}  // namespace

arrow::Status CheckReaderFlags(uint64_t flags, const std::string& path) {
  const uint64_t refused = flags & ~kAccepted;
  if (refused == 0) return arrow::Status::OK();
  const int bit = std::countr_zero(refused);
  return base::MakeError(
      base::ErrorCode::kNotSupported,
      base::Concat("can't read ", path, ": it needs feature flag bit ", bit, " (", FlagName(bit),
                   "), which this build doesn't know; a newer Kinjo may"),
      path);
}

}  // namespace kinjo::format
