// Short texts of encodings, for listings and error messages; declared in file_messages.h.
#include <sstream>

#include "format/proto/file_messages.h"

namespace kinjo::format::proto {

namespace {

std::string LayersText(const std::vector<RepDefLayer>& layers) {
  std::ostringstream text;
  text << " layers=[";
  for (size_t i = 0; i < layers.size(); ++i) {
    text << (i == 0 ? "" : ",") << static_cast<int>(layers[i]);
  }
  text << "]";
  return std::move(text).str();
}

std::string ChildText(const CompressiveEncoding& encoding, size_t number) {
  return number < encoding.children.size() ? Describe(encoding.children[number]) : "?";
}

std::string ChildText(const ArrayEncoding& encoding, size_t number) {
  return number < encoding.children.size() ? Describe(encoding.children[number]) : "?";
}

std::string MiniBlockText(const MiniBlockLayout& layout) {
  std::ostringstream text;
  text << "MiniBlock[" << Describe(layout.value_compression) << "]";
  if (layout.dictionary) {
    text << " dictionary=" << Describe(*layout.dictionary) << "x" << layout.num_dictionary_items;
  }
  if (layout.rep_compression) text << " rep=" << Describe(*layout.rep_compression);
  if (layout.def_compression) text << " def=" << Describe(*layout.def_compression);
  text << LayersText(layout.layers) << " items=" << layout.num_items;
  return std::move(text).str();
}

std::string FullZipText(const FullZipLayout& layout) {
  std::ostringstream text;
  text << "FullZip[" << Describe(layout.value_compression) << "]";
  if (layout.bits_per_value != 0) text << " bits_per_value=" << layout.bits_per_value;
  if (layout.bits_per_offset != 0) text << " bits_per_offset=" << layout.bits_per_offset;
  if (layout.bits_rep != 0) text << " bits_rep=" << layout.bits_rep;
  if (layout.bits_def != 0) text << " bits_def=" << layout.bits_def;
  text << LayersText(layout.layers) << " items=" << layout.num_items;
  return std::move(text).str();
}

std::string ConstantText(const ConstantLayout& layout) {
  std::ostringstream text;
  text << "Constant[" << (layout.inline_value ? "inline" : "") << "]";
  if (layout.rep_compression) text << " rep=" << Describe(*layout.rep_compression);
  if (layout.def_compression) text << " def=" << Describe(*layout.def_compression);
  text << LayersText(layout.layers);
  return std::move(text).str();
}

}  // namespace

std::string Describe(const CompressiveEncoding& encoding) {
  using Kind = CompressiveEncoding::Kind;
  std::ostringstream text;
  switch (encoding.kind) {
    case Kind::kFlat:
      text << "Flat" << encoding.bits;
      break;
    case Kind::kVariable:
      text << "Variable"
           << (encoding.children.empty() ? std::string("?")
                                         : std::to_string(encoding.children[0].bits));
      break;
    case Kind::kConstant:
      text << "Constant";
      break;
    case Kind::kOutOfLineBitpacking:
      text << "OutOfLineBitpacking" << encoding.bits << "to"
           << (encoding.children.empty() ? 0 : encoding.children[0].bits);
      break;
    case Kind::kInlineBitpacking:
      text << "InlineBitpacking" << encoding.bits;
      break;
    case Kind::kFsst:
      text << "FSST(" << ChildText(encoding, 0) << ")";
      break;
    case Kind::kDictionary:
      text << "Dictionary";
      break;
    case Kind::kRle:
      text << "RLE(" << ChildText(encoding, 0) << "," << ChildText(encoding, 1) << ")";
      break;
    case Kind::kByteStreamSplit:
      text << "ByteStreamSplit(" << ChildText(encoding, 0) << ")";
      break;
    case Kind::kGeneral:
      text << (encoding.scheme == CompressionScheme::kLz4    ? "LZ4("
               : encoding.scheme == CompressionScheme::kZstd ? "ZSTD("
                                                             : "General(")
           << ChildText(encoding, 0) << ")";
      break;
    case Kind::kFixedSizeList:
      text << "FSL" << encoding.items_per_value << (encoding.has_validity ? "+validity(" : "(")
           << ChildText(encoding, 0) << ")";
      break;
    case Kind::kPackedStruct:
      text << "PackedStruct(" << ChildText(encoding, 0) << ")";
      break;
    case Kind::kVariablePackedStruct:
      text << "VariablePackedStruct";
      break;
    case Kind::kUnknown:
      text << "Unknown";
      break;
  }
  return std::move(text).str();
}

std::string Describe(const PageLayout& layout) {
  switch (layout.kind) {
    case PageLayout::Kind::kMiniBlock:
      return MiniBlockText(layout.mini_block);
    case PageLayout::Kind::kConstant:
      return ConstantText(layout.constant);
    case PageLayout::Kind::kFullZip:
      return FullZipText(layout.full_zip);
    case PageLayout::Kind::kBlob:
      return "Blob(" + (layout.places ? Describe(*layout.places) : "") + ")";
    case PageLayout::Kind::kUnknown:
      break;
  }
  return "Unknown";
}

std::string Describe(const ArrayEncoding& encoding) {
  using Kind = ArrayEncoding::Kind;
  std::ostringstream text;
  switch (encoding.kind) {
    case Kind::kFlat:
      text << "Flat" << encoding.bits_per_value;
      if (!encoding.compression.empty()) text << "/" << encoding.compression;
      break;
    case Kind::kNullable:
      if (encoding.nulls == ArrayEncoding::Nulls::kAll) return "AllNulls";
      text << (encoding.nulls == ArrayEncoding::Nulls::kSome ? "SomeNulls(" : "NoNulls(")
           << ChildText(encoding, encoding.children.size() - 1) << ")";
      break;
    case Kind::kFixedSizeList:
      text << "FSL" << encoding.dimension << "(" << ChildText(encoding, 0) << ")";
      break;
    case Kind::kList:
      text << "List(" << ChildText(encoding, 0) << ")";
      break;
    case Kind::kStruct:
      text << "Struct";
      break;
    case Kind::kBinary:
      text << "Binary(" << ChildText(encoding, 0) << "," << ChildText(encoding, 1) << ")";
      break;
    case Kind::kDictionary:
      text << "Dictionary(" << ChildText(encoding, 0) << "," << ChildText(encoding, 1) << ")x"
           << encoding.num_items;
      break;
    case Kind::kFsst:
      text << "FSST(" << ChildText(encoding, 0) << ")";
      break;
    case Kind::kPackedStruct:
      text << "PackedStruct";
      break;
    case Kind::kBitpacked:
    case Kind::kBitpackedForNonNeg:
      text << "Bitpacked";
      break;
    case Kind::kFixedSizeBinary:
      text << "FixedSizeBinary";
      break;
    case Kind::kConstant:
      text << "Constant";
      break;
    case Kind::kUnknown:
      text << "Unknown";
      break;
  }
  return std::move(text).str();
}

}  // namespace kinjo::format::proto
