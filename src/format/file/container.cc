#include "format/file/container.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "format/file/bytes.h"

namespace kinjo::format::file {

namespace {

constexpr uint64_t kFooterBytes = 40;
constexpr char kMagic[] = "LANC";
// What the footer of a file of version 2.0 says.
constexpr uint16_t kMajorOfV20 = 0;
constexpr uint16_t kMinorOfV20 = 3;
constexpr uint64_t kTableEntryBytes = 16;
// One read of this much usually brings the footer, the tables, the descriptor and the metadata.
constexpr uint64_t kTailBytes = 64 << 10;

arrow::Result<Footer> ParseFooter(const arrow::Buffer& tail, const Where& where) {
  const uint8_t* bytes = tail.data() + tail.size() - kFooterBytes;
  if (std::memcmp(bytes + 36, kMagic, 4) != 0) {
    return where.Corrupt("the file doesn't end in LANC: it isn't a Lance data file, or it was cut");
  }
  Footer footer{.first_column = Load<uint64_t>(bytes),
                .column_table = Load<uint64_t>(bytes + 8),
                .global_table = Load<uint64_t>(bytes + 16),
                .num_global_buffers = Load<uint32_t>(bytes + 24),
                .num_columns = Load<uint32_t>(bytes + 28),
                .version = {Load<uint16_t>(bytes + 32), Load<uint16_t>(bytes + 34)}};
  if (footer.version.major == kMajorOfV20 && footer.version.minor == kMinorOfV20) {
    footer.version = {2, 0};
  } else if (footer.version.major != 2 || footer.version.minor < 1 || footer.version.minor > 2) {
    return where.NotSupported("file version ", footer.version.major, ".", footer.version.minor,
                              "; versions 2.0, 2.1 and 2.2 are read: rewrite the dataset with one "
                              "of them");
  }
  return footer;
}

arrow::Result<std::vector<io::ByteRange>> ReadTable(const Container& container,
                                                    io::RandomReader* reader, uint64_t offset,
                                                    uint32_t entries, std::string_view what) {
  const Where where{.path = &reader->path(), .offset = offset};
  const io::ByteRange range{offset, entries * kTableEntryBytes};
  if (offset > reader->size() || range.length > reader->size() - offset) {
    return where.Corrupt("the ", what, " table of ", entries, " entries lies outside the file");
  }
  ARROW_ASSIGN_OR_RAISE(auto buffer, container.Read(reader, range));
  std::vector<io::ByteRange> table;
  table.reserve(entries);
  for (uint32_t i = 0; i < entries; ++i) {
    const uint8_t* entry = buffer->data() + i * kTableEntryBytes;
    const io::ByteRange item{Load<uint64_t>(entry), Load<uint64_t>(entry + 8)};
    if (item.offset > reader->size() || item.length > reader->size() - item.offset) {
      return where.Corrupt(what, " ", i, " of ", item.length, " bytes at ", item.offset,
                           " lies outside the file");
    }
    table.push_back(item);
  }
  return table;
}

void NumberField(const Field& field, bool parents_own_columns, uint32_t* next, ColumnMap* columns) {
  const bool is_one_column = field.children.empty() || IsPackedStruct(field) ||
                             BlobFormOf(field) == BlobForm::kDescriptors;
  if (is_one_column || parents_own_columns) columns->emplace(field.id, (*next)++);
  if (is_one_column) return;
  for (const Field& child : field.children) {
    NumberField(child, parents_own_columns, next, columns);
  }
}

}  // namespace

ColumnMap NumberColumns(const Schema& schema, FileVersion version) {
  ColumnMap columns;
  uint32_t next = 0;
  const bool parents_own_columns = version.major == 2 && version.minor == 0;
  for (const Field& field : schema.fields) {
    NumberField(field, parents_own_columns, &next, &columns);
  }
  return columns;
}

std::vector<uint8_t> WriteFooter(const Footer& footer) {
  const bool v20 = footer.version.minor == 0;
  const uint16_t major = v20 ? kMajorOfV20 : footer.version.major;
  const uint16_t minor = v20 ? kMinorOfV20 : footer.version.minor;
  std::vector<uint8_t> bytes(kFooterBytes);
  std::memcpy(bytes.data(), &footer.first_column, 8);
  std::memcpy(bytes.data() + 8, &footer.column_table, 8);
  std::memcpy(bytes.data() + 16, &footer.global_table, 8);
  std::memcpy(bytes.data() + 24, &footer.num_global_buffers, 4);
  std::memcpy(bytes.data() + 28, &footer.num_columns, 4);
  std::memcpy(bytes.data() + 32, &major, 2);
  std::memcpy(bytes.data() + 34, &minor, 2);
  std::memcpy(bytes.data() + 36, kMagic, 4);
  return bytes;
}

arrow::Result<std::shared_ptr<arrow::Buffer>> Container::Read(io::RandomReader* reader,
                                                              io::ByteRange range) const {
  const uint64_t end = kept_range.offset + kept_range.length;
  if (range.offset >= kept_range.offset && range.offset <= end &&
      range.length <= end - range.offset) {
    return arrow::SliceBuffer(kept, static_cast<int64_t>(range.offset - kept_range.offset),
                              static_cast<int64_t>(range.length));
  }
  return reader->Read(range);
}

arrow::Status Container::KeepWhatIsRead() {
  uint64_t begin = kept_range.offset + kept_range.length;
  uint64_t end = kept_range.offset;
  const auto add = [&](const io::ByteRange& range) {
    if (range.offset < kept_range.offset || range.length == 0) return;
    begin = std::min(begin, range.offset);
    end = std::max(end, range.offset + range.length);
  };
  for (const io::ByteRange& column : columns) add(column);
  for (size_t i = 1; i < global_buffers.size(); ++i) add(global_buffers[i]);
  const uint64_t length = end > begin ? end - begin : 0;
  if (length == 0) begin = kept_range.offset;
  // A copy: a slice would keep the whole tail.
  ARROW_ASSIGN_OR_RAISE(kept, kept->CopySlice(static_cast<int64_t>(begin - kept_range.offset),
                                              static_cast<int64_t>(length)));
  kept_range = {begin, length};
  return arrow::Status::OK();
}

arrow::Result<Container> Container::Open(io::RandomReader* reader) {
  const uint64_t size = reader->size();
  Where where{.path = &reader->path()};
  if (size < kFooterBytes) {
    return where.Corrupt("a file of ", size, " bytes is too short to be a Lance data file");
  }
  Container container;
  const uint64_t tail_bytes = std::min(size, kTailBytes);
  container.kept_range = {size - tail_bytes, tail_bytes};
  ARROW_ASSIGN_OR_RAISE(container.kept, reader->Read(container.kept_range));
  where.offset = size - kFooterBytes;
  ARROW_ASSIGN_OR_RAISE(const Footer footer, ParseFooter(*container.kept, where));
  container.version = footer.version;
  ARROW_ASSIGN_OR_RAISE(container.columns, ReadTable(container, reader, footer.column_table,
                                                     footer.num_columns, "column"));
  ARROW_ASSIGN_OR_RAISE(container.global_buffers,
                        ReadTable(container, reader, footer.global_table, footer.num_global_buffers,
                                  "global buffer"));
  if (container.global_buffers.empty()) {
    return where.Corrupt("the file has no global buffer for its descriptor");
  }
  where.offset = container.global_buffers[0].offset;
  ARROW_ASSIGN_OR_RAISE(auto bytes, container.Read(reader, container.global_buffers[0]));
  proto::FileDescriptor descriptor;
  if (!proto::ParseFileDescriptor(std::string_view(*bytes), &descriptor)) {
    return where.Corrupt("malformed file descriptor");
  }
  container.num_rows = descriptor.num_rows;
  auto schema = MakeSchema(std::move(descriptor.fields), std::move(descriptor.metadata));
  if (!schema.ok()) return where.Corrupt(base::MessageOf(schema.status()));
  container.schema = std::move(*schema);
  ARROW_RETURN_NOT_OK(container.KeepWhatIsRead());
  return container;
}

}  // namespace kinjo::format::file
