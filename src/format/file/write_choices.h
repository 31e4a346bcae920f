// What the schema's metadata and the file's version say about how a column is encoded.
#pragma once

#include <cstdint>
#include <optional>

#include "format/file/lance_file.h"
#include "format/proto/file_messages.h"
#include "format/schema.h"

namespace kinjo::format::file {

/// The choices for one leaf column: its field's `lance-encoding:` metadata, as Lance reads it.
struct WriteChoices {
  enum class Structure : uint8_t { kAny, kMiniBlock, kFullZip };
  enum class Compression : uint8_t { kAny, kNone, kFsst, kGeneral };

  FileVersion version = {2, 2};
  Structure structure = Structure::kAny;        ///< `structural-encoding`
  Compression compression = Compression::kAny;  ///< `compression`
  proto::CompressionScheme scheme = proto::CompressionScheme::kUnspecified;  ///< for kGeneral
  std::optional<int> level;            ///< `compression-level`
  uint32_t dictionary_index_bits = 0;  ///< of an Arrow dictionary column, else 0

  bool is_v22() const { return version.minor >= 2; }
};

/// The choices for the leaf `field` below the top-level field `root`, whose metadata counts where
/// the leaf's own says nothing; `not_supported` names a value that isn't known.
arrow::Result<WriteChoices> MakeWriteChoices(const Field& root, const Field& field,
                                             FileVersion version);

}  // namespace kinjo::format::file
