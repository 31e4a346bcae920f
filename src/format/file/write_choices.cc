#include "format/file/write_choices.h"

#include <charconv>

#include "arrow/type.h"

namespace kinjo::format::file {

namespace {

constexpr const char* kStructure = "lance-encoding:structural-encoding";
constexpr const char* kCompression = "lance-encoding:compression";
constexpr const char* kLevel = "lance-encoding:compression-level";

arrow::Status Unknown(const Field& field, const std::string& key, const std::string& value,
                      const char* known) {
  return base::NotSupported("field '", field.name, "': its metadata says ", key, " = '", value,
                            "', where ", known, " are known");
}

arrow::Status ReadMetadata(const Field& field, WriteChoices* choices) {
  for (const auto& [key, value] : field.metadata) {
    if (key == kStructure) {
      if (value != "miniblock" && value != "fullzip") {
        return Unknown(field, key, value, "miniblock and fullzip");
      }
      choices->structure = value == "fullzip" ? WriteChoices::Structure::kFullZip
                                              : WriteChoices::Structure::kMiniBlock;
    } else if (key == kCompression) {
      if (value == "none") {
        choices->compression = WriteChoices::Compression::kNone;
      } else if (value == "fsst") {
        choices->compression = WriteChoices::Compression::kFsst;
      } else if (value == "lz4" || value == "zstd") {
        choices->compression = WriteChoices::Compression::kGeneral;
        choices->scheme =
            value == "lz4" ? proto::CompressionScheme::kLz4 : proto::CompressionScheme::kZstd;
      } else {
        return Unknown(field, key, value, "none, fsst, lz4 and zstd");
      }
    } else if (key == kLevel) {
      int level = 0;
      const auto end = value.data() + value.size();
      const auto parsed = std::from_chars(value.data(), end, level);
      if (parsed.ec != std::errc() || parsed.ptr != end) {
        return Unknown(field, key, value, "whole numbers");
      }
      choices->level = level;
    }
  }
  return arrow::Status::OK();
}

}  // namespace

arrow::Result<WriteChoices> MakeWriteChoices(const Field& root, const Field& field,
                                             FileVersion version) {
  WriteChoices choices;
  choices.version = version;
  ARROW_RETURN_NOT_OK(ReadMetadata(root, &choices));
  if (&field != &root) ARROW_RETURN_NOT_OK(ReadMetadata(field, &choices));
  ARROW_ASSIGN_OR_RAISE(const auto type, ToArrowType(field));
  if (type->id() == arrow::Type::DICTIONARY) {
    const auto& dictionary = static_cast<const arrow::DictionaryType&>(*type);
    choices.dictionary_index_bits = static_cast<uint32_t>(dictionary.index_type()->bit_width());
  }
  return choices;
}

}  // namespace kinjo::format::file
