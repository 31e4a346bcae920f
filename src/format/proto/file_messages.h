// The messages of a Lance data file: descriptor, column metadata, page layouts and the trees of
// encodings, as plain structs. Parsing only gives bytes a shape; whether the numbers make sense for
// the file is checked by who uses them. docs/format/data-file.md lists the field numbers.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "format/schema.h"

namespace kinjo::format::proto {

class WireWriter;

// Parsers return false when the bytes are malformed or nested deeper than kMaxEncodingDepth.
inline constexpr int kMaxEncodingDepth = 16;

/// One lance.file.Field; `children` stays empty (MakeSchema builds the tree).
bool ParseField(std::string_view bytes, Field* field);
/// Appends the fields of a lance.file.Field without its children.
void WriteField(const Field& field, WireWriter* message);

/// One entry of a map<string, bytes or string>.
bool ParseMapEntry(std::string_view bytes, std::map<std::string, std::string>* map);

/// lance.file.FileDescriptor with its Schema.
struct FileDescriptor {
  std::vector<Field> fields;  ///< depth first, flat
  std::map<std::string, std::string> metadata;
  uint64_t num_rows = 0;
};
bool ParseFileDescriptor(std::string_view bytes, FileDescriptor* descriptor);

/// lance.file.v2.Encoding with the Any inside it taken apart.
struct Encoding {
  enum class Kind : uint8_t { kNone, kDirect, kIndirect };
  Kind kind = Kind::kNone;
  std::string type_url;
  std::string value;
};

struct Page {
  std::vector<uint64_t> buffer_offsets;
  std::vector<uint64_t> buffer_sizes;
  uint64_t length = 0;  ///< top-level rows
  uint64_t priority = 0;
  Encoding encoding;
};

/// lance.file.v2.ColumnMetadata.
struct ColumnMetadata {
  Encoding encoding;
  std::vector<Page> pages;
};
bool ParseColumnMetadata(std::string_view bytes, ColumnMetadata* metadata);

enum class CompressionScheme : uint8_t { kUnspecified = 0, kLz4 = 1, kZstd = 2 };

/// A node of the tree of encodings of versions 2.1 and 2.2 (CompressiveEncoding).
struct CompressiveEncoding {
  // The values are the numbers of the message's oneof.
  enum class Kind : uint8_t {
    kUnknown = 0,
    kFlat = 1,
    kVariable = 2,
    kConstant = 3,
    kOutOfLineBitpacking = 4,
    kInlineBitpacking = 5,
    kFsst = 6,
    kDictionary = 7,
    kRle = 8,
    kByteStreamSplit = 9,
    kGeneral = 10,
    kFixedSizeList = 11,
    kPackedStruct = 12,
    kVariablePackedStruct = 13,
  };
  Kind kind = Kind::kUnknown;
  uint64_t bits = 0;        ///< flat: bits of a value; bitpacking: bits before packing
  bool compressed = false;  ///< flat, variable, inline bitpacking: carries a buffer compression
  uint64_t items_per_value = 0;                                ///< fixed-size list
  bool has_validity = false;                                   ///< fixed-size list
  CompressionScheme scheme = CompressionScheme::kUnspecified;  ///< general
  std::optional<std::string> value;                            ///< constant
  std::string symbol_table;                                    ///< fsst
  /// variable packed struct: of each child, the bits of a value, or of its length.
  struct PackedWidth {
    uint64_t value_bits = 0;   ///< 0: of variable width
    uint64_t length_bits = 0;  ///< 0: of fixed width
  };
  std::vector<PackedWidth> packed_widths;
  /// variable: offsets; out-of-line bitpacking, fsst, byte-stream split, general, fixed-size list,
  /// packed struct (one value a row): values; rle: values, run lengths; variable packed struct: its
  /// children.
  std::vector<CompressiveEncoding> children;
};
bool ParseCompressiveEncoding(std::string_view bytes, CompressiveEncoding* encoding);

/// What one layer of levels means (RepDefLayer); layers are listed from the inside out.
enum class RepDefLayer : uint8_t {
  kUnspecified = 0,
  kAllValidItem = 1,
  kAllValidList = 2,
  kNullableItem = 3,
  kNullableList = 4,
  kEmptyableList = 5,
  kNullAndEmptyList = 6,
};

struct MiniBlockLayout {
  std::optional<CompressiveEncoding> rep_compression;
  std::optional<CompressiveEncoding> def_compression;
  CompressiveEncoding value_compression;
  std::optional<CompressiveEncoding> dictionary;
  uint64_t num_dictionary_items = 0;
  std::vector<RepDefLayer> layers;
  uint64_t num_buffers = 0;
  uint32_t repetition_index_depth = 0;
  uint64_t num_items = 0;
  bool has_large_chunk = false;
};

struct FullZipLayout {
  uint32_t bits_rep = 0;
  uint32_t bits_def = 0;
  uint32_t bits_per_value = 0;   ///< fixed width, else 0
  uint32_t bits_per_offset = 0;  ///< variable width, else 0
  uint32_t num_items = 0;
  uint32_t num_visible_items = 0;
  CompressiveEncoding value_compression;
  std::vector<RepDefLayer> layers;
};

struct ConstantLayout {
  std::vector<RepDefLayer> layers;
  std::optional<std::string> inline_value;
  std::optional<CompressiveEncoding> rep_compression;
  std::optional<CompressiveEncoding> def_compression;
  uint64_t num_rep_values = 0;
  uint64_t num_def_values = 0;
};

/// lance.encodings21.PageLayout: exactly the member that `kind` names is meant.
struct PageLayout {
  // The values are the numbers of the message's oneof.
  enum class Kind : uint8_t {
    kUnknown = 0,
    kMiniBlock = 1,
    kConstant = 2,
    kFullZip = 3,
    kBlob = 4,
  };
  Kind kind = Kind::kUnknown;
  MiniBlockLayout mini_block;
  FullZipLayout full_zip;
  ConstantLayout constant;
  /// blob: of the places where the values lie; null when the message has none.
  std::shared_ptr<const PageLayout> places;
};
/// A blob layout within a blob layout isn't parsed.
bool ParsePageLayout(std::string_view bytes, PageLayout* layout);

/// A node of the tree of encodings of version 2.0 (ArrayEncoding).
struct ArrayEncoding {
  // The values are the numbers of the message's oneof; nullable is told apart by its own oneof.
  enum class Kind : uint8_t {
    kUnknown = 0,
    kFlat = 1,
    kNullable = 2,
    kFixedSizeList = 3,
    kList = 4,
    kStruct = 5,
    kBinary = 6,
    kDictionary = 7,
    kFsst = 8,
    kPackedStruct = 9,
    kBitpacked = 10,
    kFixedSizeBinary = 11,
    kBitpackedForNonNeg = 12,
    kConstant = 13,
  };
  enum class Nulls : uint8_t { kNone = 0, kSome = 1, kAll = 2 };
  enum class BufferType : uint8_t { kPage = 0, kColumn = 1, kFile = 2 };
  Kind kind = Kind::kUnknown;
  uint64_t bits_per_value = 0;  ///< flat
  uint32_t buffer_index = 0;    ///< flat
  BufferType buffer_type = BufferType::kPage;
  std::string compression;  ///< flat: "", "none", "zstd", "lz4"
  Nulls nulls = Nulls::kNone;
  uint64_t dimension = 0;        ///< fixed-size list
  bool has_validity = false;     ///< fixed-size list
  uint64_t null_adjustment = 0;  ///< list, binary
  uint64_t num_items = 0;        ///< list, dictionary
  std::string symbol_table;      ///< fsst
  /// nullable: values, or validity and values; fixed-size list: items; list: offsets; binary:
  /// indices, bytes; dictionary: indices, items; fsst: binary; packed struct: its children, whose
  /// bytes lie in one buffer (buffer_index), row after row.
  std::vector<ArrayEncoding> children;
};
bool ParseArrayEncoding(std::string_view bytes, ArrayEncoding* encoding);

// Short texts of encodings, for listings and messages: "FSL16(Flat32)", "FSST(Variable32)".
std::string Describe(const CompressiveEncoding& encoding);
std::string Describe(const PageLayout& layout);
std::string Describe(const ArrayEncoding& encoding);

}  // namespace kinjo::format::proto
