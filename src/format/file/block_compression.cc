#include "format/file/block_compression.h"

#include <memory>

#include "arrow/util/compression.h"

namespace kinjo::format::file {

namespace {

using proto::CompressionScheme;

// LZ4 spends a byte for each 255 of a match. A ZSTD block of 128 KiB takes 4 bytes at the least.
constexpr uint64_t kLz4MaxExpansion = 255;
constexpr uint64_t kZstdMaxExpansion = 128 * 1024 / 4;

arrow::Result<arrow::util::Codec*> CodecFor(CompressionScheme scheme) {
  const auto make = [](arrow::Compression::type type) {
    auto made = arrow::util::Codec::Create(type);
    return made.ok() ? std::move(*made) : nullptr;
  };
  // One-shot decompression keeps no state in these codecs, so all threads share them.
  static const auto* lz4 = new std::unique_ptr<arrow::util::Codec>(make(arrow::Compression::LZ4));
  static const auto* zstd = new std::unique_ptr<arrow::util::Codec>(make(arrow::Compression::ZSTD));
  arrow::util::Codec* codec = (scheme == CompressionScheme::kLz4 ? *lz4 : *zstd).get();
  if (codec == nullptr) {
    return base::NotSupported("this Arrow library was built without ",
                              scheme == CompressionScheme::kLz4 ? "LZ4" : "ZSTD");
  }
  return codec;
}

// A bare frame starts with the magic number and has the reserved bit of its descriptor clear.
bool IsBareZstdFrame(Bytes bytes) {
  return bytes.size() >= 5 && Load<uint32_t>(bytes.data()) == 0xFD2FB528 && (bytes[4] & 0x08) == 0;
}

// The content size that a ZSTD frame declares; 0 when it declares none.
uint64_t ZstdContentSize(Bytes frame) {
  constexpr size_t kFixed = 5;
  const uint8_t descriptor = frame[4];
  const uint32_t size_code = descriptor >> 6;
  const bool single_segment = (descriptor & 0x20) != 0;
  constexpr size_t kDictionaryBytes[4] = {0, 1, 2, 4};
  const size_t position = kFixed + (single_segment ? 0 : 1) + kDictionaryBytes[descriptor & 3];
  const size_t width = size_code == 0 ? (single_segment ? 1 : 0) : size_t{1} << size_code;
  if (width == 0 || position + width > frame.size()) return 0;
  const uint64_t value = LoadUnsigned(frame.data() + position, static_cast<uint32_t>(width));
  return width == 2 ? value + 256 : value;
}

}  // namespace

arrow::Result<std::vector<uint8_t>> Compress(CompressionScheme scheme, std::optional<int> level,
                                             Bytes bytes) {
  constexpr int kZstdLevel = 3;
  const bool lz4 = scheme == CompressionScheme::kLz4;
  ARROW_ASSIGN_OR_RAISE(
      const auto codec,
      lz4 ? arrow::util::Codec::Create(arrow::Compression::LZ4)
          : arrow::util::Codec::Create(arrow::Compression::ZSTD, level.value_or(kZstdLevel)));
  const size_t prefix = lz4 ? 4 : 8;
  const auto size = static_cast<int64_t>(bytes.size());
  if (lz4 && bytes.size() > UINT32_MAX) {
    return base::MakeError(base::ErrorCode::kCapacity, "LZ4 over a buffer of more than 4 GiB");
  }
  std::vector<uint8_t> out(prefix +
                           static_cast<size_t>(codec->MaxCompressedLen(size, bytes.data())));
  std::memcpy(out.data(), &size, prefix);
  ARROW_ASSIGN_OR_RAISE(
      const int64_t written,
      codec->Compress(size, bytes.data(), static_cast<int64_t>(out.size() - prefix),
                      out.data() + prefix));
  out.resize(prefix + static_cast<size_t>(written));
  return out;
}

arrow::Result<Bytes> Decompress(CompressionScheme scheme, Bytes compressed, const Where& where,
                                Scratch* scratch) {
  if (scheme != CompressionScheme::kLz4 && scheme != CompressionScheme::kZstd) {
    return where.NotSupported("compression scheme ", static_cast<int>(scheme));
  }
  const bool lz4 = scheme == CompressionScheme::kLz4;
  uint64_t size = 0;
  if (!lz4 && IsBareZstdFrame(compressed)) {
    size = ZstdContentSize(compressed);
  } else {
    const size_t prefix = lz4 ? 4 : 8;
    if (compressed.size() < prefix) {
      return where.Corrupt("a compressed buffer of ", compressed.size(), " bytes has no size");
    }
    size = LoadUnsigned(compressed.data(), static_cast<uint32_t>(prefix));
    compressed = compressed.subspan(prefix);
  }
  const uint64_t expansion = lz4 ? kLz4MaxExpansion : kZstdMaxExpansion;
  if (size / expansion > compressed.size()) {
    return where.Corrupt("a compressed buffer of ", compressed.size(), " bytes claims to hold ",
                         size);
  }
  ARROW_ASSIGN_OR_RAISE(arrow::util::Codec * codec, CodecFor(scheme));
  ARROW_ASSIGN_OR_RAISE(uint8_t* out, scratch->Take(size, where));
  if (size == 0) return Bytes(out, 0);
  const auto written = codec->Decompress(static_cast<int64_t>(compressed.size()), compressed.data(),
                                         static_cast<int64_t>(size), out);
  if (!written.ok() || static_cast<uint64_t>(*written) != size) {
    return where.Corrupt("a ", lz4 ? "LZ4" : "ZSTD", " buffer of ", compressed.size(),
                         " bytes doesn't decompress to ", size, " bytes");
  }
  return Bytes(out, size);
}

}  // namespace kinjo::format::file
