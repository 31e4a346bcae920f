#include "tabular/arrow_file.h"

#include <string>
#include <vector>

#include "arrow/array.h"
#include "arrow/array/util.h"
#include "arrow/io/file.h"
#include "arrow/io/memory.h"
#include "arrow/ipc/reader.h"
#include "arrow/ipc/writer.h"
#include "arrow/scalar.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tabular/format_writer.h"
#include "tabular/table_samples.h"

namespace kinjo::tabular {
namespace {

using base::CodeOf;
using base::ErrorCode;
using testing::HasSubstr;

void WriteStream(const std::string& path, const arrow::RecordBatchVector& batches) {
  auto out = arrow::io::FileOutputStream::Open(path).ValueOrDie();
  auto writer = arrow::ipc::MakeStreamWriter(out, batches.at(0)->schema()).ValueOrDie();
  for (const auto& batch : batches) ASSERT_TRUE(writer->WriteRecordBatch(*batch).ok());
  ASSERT_TRUE(writer->Close().ok());
  ASSERT_TRUE(out->Close().ok());
}

TEST(ArrowFile, RoundTripKeepsEveryValueAndType) {
  TemporaryFolder folder;
  const arrow::RecordBatchVector batches = {VectorRows(0, 100, true), VectorRows(100, 0),
                                            VectorRows(100, 57, true)};
  for (const std::string compression : {"", "none", "lz4", "zstd"}) {
    const std::string path = folder.Path("t.arrow");
    ASSERT_TRUE(WriteAll(path, batches, {.compression = compression}).ok()) << compression;
    auto source = OpenTable(path, {.batch_rows = 30}).ValueOrDie();
    EXPECT_EQ(source->num_rows(), 157);
    EXPECT_EQ("",
              Difference(*ReadAll(source.get(), std::nullopt, 30).ValueOrDie(), *ToTable(batches)));
    const auto some = ReadAll(source.get(), {{"d", "id"}}).ValueOrDie();
    EXPECT_EQ("", Difference(*some, *ToTable(batches)->SelectColumns({3, 0}).ValueOrDie()));
    EXPECT_EQ(ReadAll(source.get(), std::vector<std::string>{}).ValueOrDie()->num_rows(), 157);
  }
}

TEST(ArrowFile, TakesRowsAgainAndAgain) {
  TemporaryFolder folder;
  const arrow::RecordBatchVector batches = {VectorRows(0, 100), VectorRows(100, 57),
                                            VectorRows(157, 43)};
  const std::string path = folder.Path("t.feather");
  ASSERT_TRUE(WriteAll(path, batches).ok());
  auto source = OpenTable(path).ValueOrDie();
  const std::vector<std::vector<uint64_t>> cases = {
      {160, 199}, {0}, {99, 100, 101}, {}, {5, 120, 121, 190}};
  const auto all = ToTable(batches)->CombineChunksToBatch().ValueOrDie();
  for (const auto& ordinals : cases) {
    const auto taken = source->Take({"v"}, ordinals).ValueOrDie();
    ASSERT_EQ(taken->num_rows(), static_cast<int64_t>(ordinals.size()));
    for (size_t i = 0; i < ordinals.size(); ++i) {
      EXPECT_TRUE(taken->column(0)->RangeEquals(*all->column(2), static_cast<int64_t>(i),
                                                static_cast<int64_t>(i) + 1,
                                                static_cast<int64_t>(ordinals[i])));
    }
  }
}

// A file that is one large batch: its rows are looked at where they lie.
TEST(ArrowFile, PlainFilesAreReadWithoutACopy) {
  TemporaryFolder folder;
  const auto type = arrow::fixed_size_list(arrow::float32(), 64);
  const auto vectors = arrow::MakeArrayFromScalar(*arrow::MakeNullScalar(type), 20000).ValueOrDie();
  const auto ids = arrow::MakeArrayFromScalar(arrow::Int64Scalar(5), 20000).ValueOrDie();
  const auto batch = arrow::RecordBatch::Make(
      arrow::schema({arrow::field("id", arrow::int64()), arrow::field("v", type)}), 20000,
      {ids, vectors});
  ASSERT_TRUE(WriteAll(folder.Path("t.arrow"), {batch}).ok());
  auto source = OpenTable(folder.Path("t.arrow")).ValueOrDie();
  for (const std::vector<std::string>& columns :
       {std::vector<std::string>{"id", "v"}, std::vector<std::string>{"v"}}) {
    const int64_t before = arrow::default_memory_pool()->bytes_allocated();
    auto reader = source->Read(columns).ValueOrDie();
    const auto first = reader->Next().ValueOrDie();
    EXPECT_EQ(first->num_rows(), 8192);
    EXPECT_LT(arrow::default_memory_pool()->bytes_allocated() - before, 1 << 20);
  }
}

TEST(ArrowFile, StreamsAreReadToo) {
  TemporaryFolder folder;
  const arrow::RecordBatchVector batches = {VectorRows(0, 20, true), VectorRows(20, 30, true)};
  const std::string path = folder.Path("t.arrow");
  WriteStream(path, batches);
  auto source = OpenTable(path).ValueOrDie();
  EXPECT_EQ(source->num_rows(), std::nullopt);
  EXPECT_EQ("", Difference(*ReadAll(source.get()).ValueOrDie(), *ToTable(batches)));
  EXPECT_EQ("", Difference(*ReadAll(source.get(), {{"v"}}).ValueOrDie(),
                           *ToTable(batches)->SelectColumns({2}).ValueOrDie()));
  const std::vector<uint64_t> ordinals = {3, 25, 49};
  EXPECT_TRUE(
      source->Take({"id"}, ordinals)
          .ValueOrDie()
          ->column(0)
          ->Equals(*arrow::json::ArrayFromJSONString(arrow::int64(), "[3,25,49]").ValueOrDie()));
}

// Two batches with dictionaries of their own: plain, in lists and in structs.
arrow::RecordBatchVector BatchesWithDictionaries() {
  const auto type = arrow::dictionary(arrow::int8(), arrow::utf8());
  const auto item = arrow::field("item", type);
  const auto listed = arrow::list(item);
  const auto struct_type = arrow::struct_({arrow::field("l", listed)});
  const auto schema = arrow::schema({arrow::field("c", type), arrow::field("s", struct_type)});
  arrow::RecordBatchVector batches;
  for (const std::string words : {R"(["a","b"])", R"(["c","d"])"}) {
    const auto coded =
        arrow::DictionaryArray::FromArrays(
            type, arrow::json::ArrayFromJSONString(arrow::int8(), "[1,0,null]").ValueOrDie(),
            arrow::json::ArrayFromJSONString(arrow::utf8(), words).ValueOrDie())
            .ValueOrDie();
    const auto lists =
        arrow::ListArray::FromArrays(
            listed, *arrow::json::ArrayFromJSONString(arrow::int32(), "[0,2,2,3]").ValueOrDie(),
            *coded)
            .ValueOrDie();
    const auto structs =
        arrow::StructArray::Make({lists}, {arrow::field("l", listed)}).ValueOrDie();
    batches.push_back(arrow::RecordBatch::Make(schema, 3, {coded, structs}));
  }
  return batches;
}

TEST(ArrowFile, DictionariesAreWrittenAsTheirValues) {
  TemporaryFolder folder;
  ASSERT_TRUE(WriteAll(folder.Path("t.arrow"), BatchesWithDictionaries()).ok());
  const auto listed = arrow::list(arrow::utf8());
  const auto plain =
      arrow::schema({arrow::field("c", arrow::utf8()),
                     arrow::field("s", arrow::struct_({arrow::field("l", listed)}))});
  EXPECT_EQ("", Difference(*ReadUri(folder.Path("t.arrow")), *ToTable({BatchFromJson(plain, R"([
      {"c":"b","s":{"l":["b","a"]}},{"c":"a","s":{"l":[]}},{"c":null,"s":{"l":[null]}},
      {"c":"d","s":{"l":["d","c"]}},{"c":"c","s":{"l":[]}},{"c":null,"s":{"l":[null]}}])")})));
}

TEST(ArrowFile, AStreamKeepsDictionaries) {
  const arrow::RecordBatchVector batches = BatchesWithDictionaries();
  auto out = arrow::io::BufferOutputStream::Create().ValueOrDie();
  auto writer = MakeArrowStreamWriter(out.get(), batches[0]->schema(), {}).ValueOrDie();
  for (const auto& batch : batches) ASSERT_TRUE(writer->Write(*batch).ok());
  ASSERT_TRUE(writer->Finish().ok());
  const auto bytes = out->Finish().ValueOrDie();
  auto reader =
      arrow::ipc::RecordBatchStreamReader::Open(std::make_shared<arrow::io::BufferReader>(bytes))
          .ValueOrDie();
  for (const auto& batch : batches) {
    const auto read = reader->Next().ValueOrDie();
    EXPECT_TRUE(read->Equals(*batch)) << read->ToString();
  }
}

TEST(ArrowFile, BrokenFilesAreErrorsThatNameThem) {
  TemporaryFolder folder;
  const std::string path = folder.Path("t.arrow");
  ASSERT_TRUE(WriteAll(path, {VectorRows(0, 60)}).ok());
  const std::string bytes = Slurp(path);
  for (const size_t size : {size_t{0}, size_t{5}, size_t{6}, size_t{100}, bytes.size() - 1}) {
    const std::string cut = folder.Write("cut.arrow", bytes.substr(0, size));
    const auto status = OpenTable(cut).status();
    EXPECT_EQ(CodeOf(status), ErrorCode::kCorrupt) << size << " " << status.ToString();
    EXPECT_THAT(status.message(), HasSubstr("cut.arrow"));
  }
  for (size_t at = 0; at < bytes.size(); at += 5) {  // an error or other values, never a crash
    std::string flipped = bytes;
    flipped[at] = static_cast<char>(flipped[at] ^ 0xAA);
    auto source = OpenTable(folder.Write("flipped.arrow", flipped));
    if (!source.ok()) continue;
    auto reader = (*source)->Read(std::nullopt);
    if (reader.ok()) (void)(*reader)->ToTable();
  }
  const auto feather = OpenTable(folder.Write("old.feather", "FEA1....FEA1")).status();
  EXPECT_EQ(CodeOf(feather), ErrorCode::kNotSupported);
}

}  // namespace
}  // namespace kinjo::tabular
