#include "format/file/file_writer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "arrow/array/concatenate.h"
#include "arrow/array/util.h"
#include "arrow/compute/cast.h"
#include "arrow/io/memory.h"
#include "arrow/table.h"
#include "arrow/type_traits.h"
#include "arrow/util/bit_util.h"
#include "arrow/util/key_value_metadata.h"
#include "format/arrow_schema.h"
#include "format/file/lance_file.h"

namespace kinjo::format {
namespace {

using ArrayPointer = std::shared_ptr<arrow::Array>;
using TypePointer = std::shared_ptr<arrow::DataType>;
using Random = std::mt19937_64;

// How the values of one array are spread, so that each encoding has its turn.
enum class Spread : uint8_t { kAny, kSmall, kFew, kRuns, kEqual };

class ArrayMaking {
 public:
  ArrayMaking(Random* random, bool nulls) : random_(*random), nulls_(nulls) {}

  ArrayPointer Make(const TypePointer& type, int64_t length) {
    return arrow::MakeArray(Data(type, length, nulls_));
  }

 private:
  using DataPointer = std::shared_ptr<arrow::ArrayData>;

  uint64_t Below(uint64_t bound) { return bound == 0 ? 0 : random_() % bound; }

  std::shared_ptr<arrow::Buffer> Validity(int64_t length, bool nulls) {
    if (!nulls || length == 0) return nullptr;
    std::shared_ptr<arrow::Buffer> bits = arrow::AllocateEmptyBitmap(length).ValueOrDie();
    const uint64_t share = Below(10);  // of 10: how many are null; 0 means none
    for (int64_t i = 0; i < length; ++i) {
      arrow::bit_util::SetBitTo(bits->mutable_data(), i, Below(10) >= share);
    }
    return bits;
  }

  // Words of `width` bytes; those of floating point stay finite.
  std::shared_ptr<arrow::Buffer> Words(const arrow::DataType& type, int64_t length,
                                       uint64_t width) {
    std::shared_ptr<arrow::Buffer> buffer =
        arrow::AllocateBuffer(length * static_cast<int64_t>(width)).ValueOrDie();
    const auto spread = static_cast<Spread>(Below(5));
    uint64_t run = random_();
    const uint64_t few = random_();
    for (int64_t i = 0; i < length; ++i) {
      if (Below(100) == 0) run = random_();
      uint64_t word = random_();
      if (spread == Spread::kSmall) word %= 900;
      if (spread == Spread::kFew) word = few + word % 5;
      if (spread == Spread::kRuns) word = run;
      if (spread == Spread::kEqual) word = few;
      if (type.id() == arrow::Type::DATE64) word = word % 20000 * 86400000;
      if (arrow::is_time(type.id())) word %= 80000;
      uint8_t bytes[32] = {};
      std::memcpy(bytes, &word, 8);
      if (arrow::is_floating(type.id())) bytes[width - 1] &= 0x3B;
      std::memcpy(buffer->mutable_data() + i * static_cast<int64_t>(width), bytes,
                  std::min<uint64_t>(width, 32));
      for (uint64_t k = 32; k < width; ++k) {
        buffer->mutable_data()[static_cast<uint64_t>(i) * width + k] = static_cast<uint8_t>(word);
      }
    }
    return buffer;
  }

  template <typename Offset>
  std::shared_ptr<arrow::Buffer> Offsets(int64_t length, uint64_t longest, int64_t* total) {
    std::shared_ptr<arrow::Buffer> buffer =
        arrow::AllocateBuffer((length + 1) * static_cast<int64_t>(sizeof(Offset))).ValueOrDie();
    auto* offsets = reinterpret_cast<Offset*>(buffer->mutable_data());
    offsets[0] = 0;
    for (int64_t i = 0; i < length; ++i) {
      offsets[i + 1] = static_cast<Offset>(offsets[i] + static_cast<Offset>(Below(longest + 1)));
    }
    *total = offsets[length];
    return buffer;
  }

  DataPointer Text(const TypePointer& type, int64_t length, bool nulls) {
    constexpr const char* kWords[] = {"near", "est ", "neigh", "bour", "x", "\xC3\xA9", ""};
    const auto spread = static_cast<Spread>(Below(5));
    const uint64_t longest = Below(8) == 0 ? 90 : 6;
    std::string bytes;
    std::vector<uint64_t> ends{0};
    std::vector<std::string> few;
    for (int64_t i = 0; i < length; ++i) {
      std::string value;
      for (uint64_t k = Below(longest); k > 0; --k) value += kWords[Below(7)];
      if (few.size() < 3) few.push_back(value);
      if (spread == Spread::kFew || spread == Spread::kRuns) value = few[Below(few.size())];
      if (spread == Spread::kEqual) value = few[0];
      bytes += value;
      ends.push_back(bytes.size());
    }
    std::shared_ptr<arrow::Buffer> offsets;
    if (arrow::is_large_binary_like(type->id())) {
      offsets = arrow::Buffer::FromVector(std::vector<int64_t>(ends.begin(), ends.end()));
    } else {
      offsets = arrow::Buffer::FromVector(std::vector<int32_t>(ends.begin(), ends.end()));
    }
    return arrow::ArrayData::Make(
        type, length, {Validity(length, nulls), offsets, arrow::Buffer::FromString(bytes)});
  }

  DataPointer Data(const TypePointer& type, int64_t length, bool nulls);

  Random& random_;
  const bool nulls_;
};

ArrayMaking::DataPointer ArrayMaking::Data(const TypePointer& type, int64_t length, bool nulls) {
  int64_t total = 0;
  switch (type->id()) {
    case arrow::Type::NA:
      return arrow::ArrayData::Make(type, length, {nullptr}, length);
    case arrow::Type::BOOL:
      return arrow::ArrayData::Make(type, length,
                                    {Validity(length, nulls), Words(*type, (length + 7) / 8, 1)});
    case arrow::Type::STRING:
    case arrow::Type::BINARY:
    case arrow::Type::LARGE_STRING:
    case arrow::Type::LARGE_BINARY:
      return Text(type, length, nulls);
    case arrow::Type::FIXED_SIZE_LIST: {
      const auto& list = static_cast<const arrow::FixedSizeListType&>(*type);
      auto data = arrow::ArrayData::Make(type, length, {Validity(length, nulls)});
      data->child_data = {Data(list.value_type(), length * list.list_size(), nulls)};
      return data;
    }
    case arrow::Type::LIST:
    case arrow::Type::LARGE_LIST:
    case arrow::Type::MAP: {
      auto validity = Validity(length, nulls);
      auto offsets = type->id() == arrow::Type::LARGE_LIST ? Offsets<int64_t>(length, 5, &total)
                                                           : Offsets<int32_t>(length, 5, &total);
      auto data = arrow::ArrayData::Make(type, length, {validity, offsets});
      const bool map = type->id() == arrow::Type::MAP;
      data->child_data = {Data(type->field(0)->type(), total, nulls && !map)};
      if (map)
        data->child_data[0]->child_data[1] =
            Data(static_cast<const arrow::MapType&>(*type).item_type(), total, nulls);
      return data;
    }
    case arrow::Type::STRUCT: {
      auto data = arrow::ArrayData::Make(type, length, {Validity(length, nulls)});
      for (const auto& field : type->fields()) {
        data->child_data.push_back(Data(field->type(), length, nulls && field->nullable()));
      }
      return data;
    }
    case arrow::Type::DICTIONARY: {
      const auto& dictionary = static_cast<const arrow::DictionaryType&>(*type);
      const uint64_t width = static_cast<uint64_t>(dictionary.index_type()->bit_width()) / 8;
      std::vector<uint8_t> indices(static_cast<uint64_t>(length) * width);
      for (uint64_t i = 0; i < static_cast<uint64_t>(length); ++i) indices[i * width] = Below(60);
      auto data = arrow::ArrayData::Make(
          type, length, {Validity(length, nulls), arrow::Buffer::FromVector(std::move(indices))});
      data->dictionary = Data(dictionary.value_type(), 60, nulls);
      return data;
    }
    default:
      return arrow::ArrayData::Make(
          type, length,
          {Validity(length, nulls),
           Words(*type, length, static_cast<uint64_t>(type->bit_width()) / 8)});
  }
}

std::vector<TypePointer> LeafTypes() {
  return {arrow::null(),
          arrow::boolean(),
          arrow::int8(),
          arrow::uint8(),
          arrow::int16(),
          arrow::uint16(),
          arrow::int32(),
          arrow::uint32(),
          arrow::int64(),
          arrow::uint64(),
          arrow::float16(),
          arrow::float32(),
          arrow::float64(),
          arrow::decimal128(20, 2),
          arrow::decimal256(50, 0),
          arrow::date32(),
          arrow::date64(),
          arrow::time32(arrow::TimeUnit::SECOND),
          arrow::time64(arrow::TimeUnit::NANO),
          arrow::timestamp(arrow::TimeUnit::MICRO),
          arrow::timestamp(arrow::TimeUnit::MILLI, "+05:30"),
          arrow::duration(arrow::TimeUnit::SECOND),
          arrow::fixed_size_binary(3),
          arrow::fixed_size_binary(16),
          arrow::fixed_size_binary(40),
          arrow::fixed_size_binary(300),
          arrow::utf8(),
          arrow::large_utf8(),
          arrow::binary(),
          arrow::large_binary(),
          arrow::fixed_size_list(arrow::float32(), 4),
          arrow::fixed_size_list(arrow::float32(), 80),
          arrow::fixed_size_list(arrow::float16(), 24),
          arrow::fixed_size_list(arrow::uint8(), 16),
          arrow::fixed_size_list(arrow::boolean(), 5),
          arrow::fixed_size_list(arrow::fixed_size_list(arrow::int16(), 3), 2)};
}

bool HasDictionary(const arrow::DataType& type) {
  return std::any_of(type.fields().begin(), type.fields().end(),
                     [](const auto& field) { return HasDictionary(*field->type()); }) ||
         type.id() == arrow::Type::DICTIONARY;
}

std::vector<TypePointer> NestedTypes(FileVersion version) {
  std::vector<TypePointer> types{
      arrow::list(arrow::int32()),
      arrow::large_list(arrow::utf8()),
      arrow::list(arrow::boolean()),
      arrow::list(arrow::fixed_size_list(arrow::float32(), 2)),
      arrow::list(arrow::fixed_size_list(arrow::float32(), 70)),
      arrow::list(arrow::list(arrow::float64())),
      arrow::list(arrow::list(arrow::list(arrow::utf8()))),
      arrow::dictionary(arrow::int32(), arrow::utf8()),
      arrow::dictionary(arrow::int8(), arrow::large_utf8()),
  };
  if (version.minor == 0) return types;
  const auto pair = arrow::struct_(
      {arrow::field("a", arrow::int32()), arrow::field("b", arrow::list(arrow::utf8()))});
  types.push_back(pair);
  types.push_back(arrow::list(pair));
  types.push_back(arrow::struct_({arrow::field("s", pair), arrow::field("n", arrow::float32())}));
  types.push_back(arrow::dictionary(arrow::int16(), arrow::int64()));
  types.push_back(arrow::list(arrow::dictionary(arrow::int32(), arrow::utf8())));
  if (version.minor < 2) return types;
  types.push_back(arrow::map(arrow::utf8(), arrow::int32()));
  const auto flat = arrow::struct_({arrow::field("a", arrow::int32()),
                                    arrow::field("v", arrow::fixed_size_list(arrow::float32(), 2)),
                                    arrow::field("t", arrow::utf8()),
                                    arrow::field("w", arrow::fixed_size_binary(300))});
  const auto triple = arrow::fixed_size_list(flat, 3);
  types.push_back(triple);
  types.push_back(arrow::fixed_size_list(
      arrow::struct_({arrow::field("f", triple), arrow::field("n", arrow::int8())}), 2));
  return types;
}

struct Written {
  std::shared_ptr<arrow::Buffer> bytes;
  WrittenFile file;
};

arrow::Result<Written> WriteAll(const arrow::Schema& schema, const arrow::RecordBatch& batch,
                                FileWriteOptions options, int64_t batch_rows) {
  ARROW_ASSIGN_OR_RAISE(auto out, arrow::io::BufferOutputStream::Create());
  ARROW_ASSIGN_OR_RAISE(const Schema lance, MakeSchema(schema));
  ARROW_ASSIGN_OR_RAISE(auto writer, FileWriter::Make(out, lance, options));
  for (int64_t row = 0; row < batch.num_rows(); row += batch_rows) {
    ARROW_RETURN_NOT_OK(writer->Write(*batch.Slice(row, batch_rows)));
  }
  Written written;
  ARROW_ASSIGN_OR_RAISE(written.file, writer->Finish());
  ARROW_ASSIGN_OR_RAISE(written.bytes, out->Finish());
  return written;
}

std::shared_ptr<LanceFile> OpenWritten(const Written& written) {
  return LanceFile::Open(io::OpenBuffer(written.bytes, "made.lance")).ValueOrDie();
}

// Dictionaries as their values, also those in lists: how they were cut is free.
ArrayPointer Decoded(const ArrayPointer& array) {
  if (array->type_id() == arrow::Type::DICTIONARY) {
    const auto& type = static_cast<const arrow::DictionaryType&>(*array->type());
    return arrow::compute::Cast(*array, type.value_type()).ValueOrDie();
  }
  if (array->type_id() != arrow::Type::LIST || !HasDictionary(*array->type())) return array;
  auto data = std::make_shared<arrow::ArrayData>(*array->data());
  data->child_data[0] = Decoded(arrow::MakeArray(data->child_data[0]))->data();
  data->type = arrow::list(data->child_data[0]->type);
  return arrow::MakeArray(data);
}

void ExpectSame(const ArrayPointer& got, const ArrayPointer& wanted, const std::string& what) {
  ASSERT_EQ(got->length(), wanted->length()) << what;
  ASSERT_TRUE(got->type()->Equals(*wanted->type())) << what;
  EXPECT_TRUE(Decoded(got)->Equals(*Decoded(wanted))) << what;
}

void ExpectRoundTrip(const std::vector<TypePointer>& types, int64_t rows, bool nulls,
                     FileWriteOptions options, Random* random, int64_t batch_rows) {
  arrow::FieldVector fields;
  arrow::ArrayVector arrays;
  for (size_t i = 0; i < types.size(); ++i) {
    // A slice: offsets and bitmaps don't begin where their buffers do.
    const bool slice = rows > 0 && types[i]->id() != arrow::Type::NA;
    const auto made = ArrayMaking(random, nulls).Make(types[i], rows + (slice ? 3 : 0));
    arrays.push_back(slice ? made->Slice(3) : made);
    fields.push_back(arrow::field(base::Concat("c", i), types[i]));
  }
  const auto schema = arrow::schema(fields);
  const auto batch = arrow::RecordBatch::Make(schema, rows, arrays);
  const auto written = WriteAll(*schema, *batch, options, batch_rows);
  ASSERT_TRUE(written.ok()) << written.status().ToString();
  EXPECT_EQ(written->file.num_rows, static_cast<uint64_t>(rows));
  EXPECT_EQ(written->file.size_bytes, static_cast<uint64_t>(written->bytes->size()));
  const auto file = OpenWritten(*written);
  EXPECT_EQ(file->version().minor, options.version.minor);
  std::vector<RowRange> ranges;
  for (uint64_t row = 0; row < static_cast<uint64_t>(rows);) {
    const uint64_t begin = row + (*random)() % 50;
    const uint64_t end = std::min<uint64_t>(begin + 1 + (*random)() % 90, rows);
    if (begin < end) ranges.push_back({begin, end});
    row = end + 1;
  }
  for (size_t i = 0; i < types.size(); ++i) {
    const std::string what = base::Concat("version 2.", options.version.minor, ", ", rows,
                                          " rows, nulls ", nulls, ", ", types[i]->ToString());
    const Field& field = file->schema().fields[i];
    const std::vector<RowRange> all{{0, static_cast<uint64_t>(rows)}};
    const auto got = file->ReadRows(field, written->file.columns, all);
    ASSERT_TRUE(got.ok()) << what << ": " << got.status().ToString();
    ASSERT_TRUE((*got)->ValidateFull().ok()) << what;
    ExpectSame(*got, arrays[i], what);
    if (ranges.empty()) continue;
    const auto part = file->ReadRows(field, written->file.columns, ranges);
    ASSERT_TRUE(part.ok()) << what << ": " << part.status().ToString();
    arrow::ArrayVector wanted;
    for (const RowRange& range : ranges) {
      wanted.push_back(Decoded(arrays[i]->Slice(static_cast<int64_t>(range.begin),
                                                static_cast<int64_t>(range.end - range.begin))));
    }
    EXPECT_TRUE(Decoded(*part)->Equals(*arrow::Concatenate(wanted).ValueOrDie()))
        << what << ", ranges";
  }
}

class FileWriterTest : public testing::TestWithParam<int> {
 protected:
  FileWriteOptions Options(uint64_t page_bytes = uint64_t{8} << 20) const {
    FileWriteOptions options;
    options.version = {2, static_cast<uint16_t>(GetParam())};
    options.page_bytes = page_bytes;
    options.path = "made.lance";
    return options;
  }
};
INSTANTIATE_TEST_SUITE_P(Versions, FileWriterTest, testing::Values(0, 1, 2));

TEST_P(FileWriterTest, RoundTripsEveryType) {
  Random random(11);
  std::vector<TypePointer> types = LeafTypes();
  for (const auto& type : NestedTypes(Options().version)) types.push_back(type);
  for (const bool nulls : {false, true}) {
    for (const int64_t rows : {0, 1, 10, 1025, 5003}) {
      ExpectRoundTrip(types, rows, nulls, Options(), &random, rows + 1);
    }
  }
}

TEST_P(FileWriterTest, RoundTripsManySmallPages) {
  Random random(12);
  std::vector<TypePointer> types = LeafTypes();
  for (const auto& type : NestedTypes(Options().version)) types.push_back(type);
  for (const bool nulls : {false, true}) {
    ExpectRoundTrip(types, 4000, nulls, Options(2000), &random, 333);
  }
}

TypePointer RandomType(Random* random, FileVersion version, int depth) {
  const std::vector<TypePointer> leaves = LeafTypes();
  const uint64_t pick = depth == 0 ? 0 : (*random)() % 5;
  const auto inner = [&] { return RandomType(random, version, depth - 1); };
  if (pick == 1) return arrow::list(inner());
  if (pick == 2) return arrow::large_list(inner());
  if (pick == 3 && version.minor > 0) {
    return arrow::struct_({arrow::field("a", inner()), arrow::field("b", inner())});
  }
  return leaves[1 + (*random)() % (leaves.size() - 1)];
}

TEST_P(FileWriterTest, RoundTripsRandomTypes) {
  for (uint64_t seed = 100; seed < 140; ++seed) {
    SCOPED_TRACE(base::Concat("seed ", seed));
    Random random(seed);
    std::vector<TypePointer> types;
    for (int i = 0; i < 4; ++i) types.push_back(RandomType(&random, Options().version, 3));
    const auto rows = static_cast<int64_t>(random() % 3000);
    const uint64_t page_bytes = uint64_t{1} << (8 + random() % 14);
    ExpectRoundTrip(types, rows, random() % 2 == 0, Options(page_bytes), &random,
                    1 + static_cast<int64_t>(random() % 2000));
  }
}

TEST_P(FileWriterTest, HoldsAboutAPageOfEachColumn) {
  const auto schema =
      arrow::schema({arrow::field("id", arrow::int64()),
                     arrow::field("v", arrow::fixed_size_list(arrow::float32(), 32))});
  Random random(5);
  auto out = arrow::io::BufferOutputStream::Create().ValueOrDie();
  constexpr uint64_t kPageBytes = 1 << 16;
  auto writer =
      FileWriter::Make(out, MakeSchema(*schema).ValueOrDie(), Options(kPageBytes)).ValueOrDie();
  uint64_t most = 0;
  for (int i = 0; i < 40; ++i) {
    arrow::ArrayVector arrays;
    for (const auto& field : schema->fields()) {
      arrays.push_back(ArrayMaking(&random, false).Make(field->type(), 5000));
    }
    ASSERT_TRUE(writer->Write(*arrow::RecordBatch::Make(schema, 5000, arrays)).ok());
    most = std::max(most, writer->pending_bytes());
  }
  EXPECT_LE(most, 2 * (kPageBytes + kPageBytes / 4));
  ASSERT_TRUE(writer->Finish().ok());
  EXPECT_EQ(writer->pending_bytes(), 0u);
}

TEST_P(FileWriterTest, KeepsGlobalBuffersAndMetadata) {
  const auto schema = arrow::schema({arrow::field("id", arrow::int64())});
  auto out = arrow::io::BufferOutputStream::Create().ValueOrDie();
  auto writer = FileWriter::Make(out, MakeSchema(*schema).ValueOrDie(), Options()).ValueOrDie();
  EXPECT_EQ(writer->AddGlobalBuffer(*arrow::Buffer::FromString("first")).ValueOrDie(), 1u);
  Random random(1);
  const auto ids = ArrayMaking(&random, false).Make(arrow::int64(), 10);
  ASSERT_TRUE(writer->Write(*arrow::RecordBatch::Make(schema, 10, {ids})).ok());
  EXPECT_EQ(writer->AddGlobalBuffer(*arrow::Buffer::FromString("")).ValueOrDie(), 2u);
  ASSERT_TRUE(writer->SetMetadata("kind", "test").ok());
  Written written;
  written.file = writer->Finish().ValueOrDie();
  written.bytes = out->Finish().ValueOrDie();
  EXPECT_EQ(base::CodeOf(writer->SetMetadata("too", "late")), base::ErrorCode::kState);
  const auto file = OpenWritten(written);
  EXPECT_EQ(file->num_global_buffers(), 3);
  EXPECT_EQ(file->ReadGlobalBuffer(1).ValueOrDie()->ToString(), "first");
  EXPECT_EQ(file->ReadGlobalBuffer(2).ValueOrDie()->size(), 0);
  EXPECT_EQ(file->schema().metadata.at("kind"), "test");
}

// Takes so many bytes and then fails, like a full disk.
class FullStream final : public arrow::io::OutputStream {
 public:
  explicit FullStream(int64_t room) : room_(room) {}
  arrow::Status Close() override { return arrow::Status::OK(); }
  bool closed() const override { return false; }
  arrow::Result<int64_t> Tell() const override { return position_; }
  arrow::Status Write(const void* /*data*/, int64_t size) override {
    position_ += size;
    return position_ > room_ ? arrow::Status::IOError("no space left") : arrow::Status::OK();
  }

 private:
  const int64_t room_;
  int64_t position_ = 0;
};

TEST_P(FileWriterTest, AFullDiskIsAnErrorAtEveryByte) {
  const auto schema = arrow::schema({arrow::field("id", arrow::int64())});
  Random random(3);
  const auto ids = ArrayMaking(&random, true).Make(arrow::int64(), 100);
  const auto batch = arrow::RecordBatch::Make(schema, 100, {ids});
  const auto whole = WriteAll(*schema, *batch, Options(), 100).ValueOrDie();
  for (int64_t room = 0; room < whole.bytes->size(); room += 7) {
    auto writer = FileWriter::Make(std::make_shared<FullStream>(room),
                                   MakeSchema(*schema).ValueOrDie(), Options())
                      .ValueOrDie();
    ASSERT_TRUE(writer->Write(*batch).ok());
    const auto finished = writer->Finish();
    ASSERT_FALSE(finished.ok()) << room;
    EXPECT_EQ(base::CodeOf(finished.status()), base::ErrorCode::kIo);
    EXPECT_NE(base::MessageOf(finished.status()).find("made.lance"), std::string::npos);
    EXPECT_EQ(base::CodeOf(writer->Write(*batch)), base::ErrorCode::kState);
  }
}

arrow::Status MakeStatus(const Schema& schema, const FileWriteOptions& options) {
  auto out = arrow::io::BufferOutputStream::Create().ValueOrDie();
  return FileWriter::Make(out, schema, options).status();
}

TEST_P(FileWriterTest, RefusesWhatLanceDoesNotWrite) {
  const auto refused = [&](const std::shared_ptr<arrow::Field>& field) {
    const auto status = MakeStatus(MakeSchema(*arrow::schema({field})).ValueOrDie(), Options());
    EXPECT_EQ(base::CodeOf(status), base::ErrorCode::kNotSupported) << field->ToString();
    EXPECT_NE(base::MessageOf(status).find("field '"), std::string::npos) << status.ToString();
  };
  Schema hollow;
  hollow.fields.push_back({.id = 0, .name = "s", .logical_type = "struct"});
  EXPECT_FALSE(MakeStatus(hollow, Options()).ok());
  refused(arrow::field("a.b", arrow::int32()));
  if (GetParam() < 2) refused(arrow::field("m", arrow::map(arrow::utf8(), arrow::int32())));
  const auto asks_for = [](const char* key) { return arrow::key_value_metadata({key}, {"true"}); };
  refused(arrow::field("b", arrow::large_binary(), true, asks_for("lance-encoding:blob")));
  const auto pair = arrow::struct_({arrow::field("x", arrow::int32())});
  refused(arrow::field("p", pair, true, asks_for("lance-encoding:packed")));
  refused(arrow::field("p", pair, true, asks_for("packed")));
  const auto triple = arrow::fixed_size_list(pair, 3);
  if (GetParam() < 2) refused(arrow::field("f", triple));
  refused(arrow::field("l", arrow::list(triple)));
  refused(arrow::field("s", arrow::struct_({arrow::field("f", triple)})));
  for (const auto& inner : {arrow::list(arrow::int8()), arrow::map(arrow::utf8(), arrow::int8())}) {
    refused(
        arrow::field("f", arrow::fixed_size_list(arrow::struct_({arrow::field("l", inner)}), 2)));
  }
  const auto twice =
      arrow::schema({arrow::field("x", arrow::int8()), arrow::field("x", arrow::int8())});
  EXPECT_EQ(base::CodeOf(MakeStatus(MakeSchema(*twice).ValueOrDie(), Options())),
            base::ErrorCode::kInvalid);
  auto unknown = Options();
  unknown.version = {2, 3};
  EXPECT_EQ(
      base::CodeOf(MakeStatus(
          MakeSchema(*arrow::schema({arrow::field("x", arrow::int8())})).ValueOrDie(), unknown)),
      base::ErrorCode::kNotSupported);
}

TEST_P(FileWriterTest, RefusesRowsThatDoNotFitTheSchema) {
  const auto schema = arrow::schema({arrow::field("id", arrow::int64(), false)});
  Random random(3);
  const auto write = [&](const ArrayPointer& array) {
    auto out = arrow::io::BufferOutputStream::Create().ValueOrDie();
    auto writer = FileWriter::Make(out, MakeSchema(*schema).ValueOrDie(), Options()).ValueOrDie();
    const auto field = arrow::field("id", array->type());
    const auto status =
        writer->Write(*arrow::RecordBatch::Make(arrow::schema({field}), array->length(), {array}));
    EXPECT_EQ(base::CodeOf(status), base::ErrorCode::kInvalid);
    return base::MessageOf(status);
  };
  EXPECT_NE(write(ArrayMaking(&random, false).Make(arrow::int32(), 5)).find("int32"),
            std::string::npos);
  EXPECT_NE(write(arrow::MakeArrayOfNull(arrow::int64(), 5).ValueOrDie()).find("null"),
            std::string::npos);
}

TEST_P(FileWriterTest, TwoRunsGiveTheSameBytes) {
  Random random(8);
  const auto schema =
      arrow::schema({arrow::field("t", arrow::utf8()), arrow::field("n", arrow::int64())});
  arrow::ArrayVector arrays;
  for (const auto& field : schema->fields()) {
    arrays.push_back(ArrayMaking(&random, true).Make(field->type(), 20000));
  }
  const auto batch = arrow::RecordBatch::Make(schema, 20000, arrays);
  const auto first = WriteAll(*schema, *batch, Options(), 20000).ValueOrDie();
  const auto second = WriteAll(*schema, *batch, Options(), 20000).ValueOrDie();
  EXPECT_TRUE(first.bytes->Equals(*second.bytes));
}

}  // namespace
}  // namespace kinjo::format
