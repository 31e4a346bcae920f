#include "tabular/npy_file.h"

#include <cstring>
#include <string>
#include <vector>

#include "arrow/array.h"
#include "arrow/util/float16.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tabular/table_samples.h"

namespace kinjo::tabular {
namespace {

using base::CodeOf;
using base::ErrorCode;
using testing::HasSubstr;

// The bytes of a .npy file, padded as NumPy pads it.
std::string Npy(const std::string& dict, const std::string& numbers, int version = 1) {
  std::string header = dict;
  const size_t prefix = version == 1 ? 10 : 12;
  while ((prefix + header.size() + 1) % 64 != 0) header += ' ';
  header += '\n';
  std::string bytes = "\x93NUMPY";
  bytes += static_cast<char>(version);
  bytes += '\0';
  for (int i = 0; i < (version == 1 ? 2 : 4); ++i) {
    bytes += static_cast<char>(header.size() >> (8 * i) & 0xFF);
  }
  return bytes + header + numbers;
}

std::string Dict(const std::string& descr, const std::string& shape, bool fortran = false) {
  return "{'descr': '" + descr + "', 'fortran_order': " + (fortran ? "True" : "False") +
         ", 'shape': " + shape + ", }";
}

template <typename Number>
std::string Bytes(const std::vector<Number>& numbers) {
  std::string bytes(numbers.size() * sizeof(Number), '\0');
  if (!numbers.empty()) std::memcpy(bytes.data(), numbers.data(), bytes.size());
  return bytes;
}

std::shared_ptr<arrow::Table> Vectors(const std::shared_ptr<arrow::DataType>& element, int width,
                                      const std::string& json) {
  const auto type = arrow::fixed_size_list(arrow::field("item", element, false), width);
  const auto schema = arrow::schema({arrow::field("vector", type, false)});
  return ToTable(
      {arrow::RecordBatch::FromStructArray(
           arrow::json::ArrayFromJSONString(arrow::struct_(schema->fields()), json).ValueOrDie())
           .ValueOrDie()});
}

TEST(NpyFile, ReadsEveryElementType) {
  TemporaryFolder folder;
  const std::string rows = R"([{"vector":[1,2,3]},{"vector":[4,5,6]}])";
  const auto check = [&](const std::string& descr, const std::string& numbers,
                         const std::shared_ptr<arrow::DataType>& element, int version) {
    const std::string path = folder.Write("a.npy", Npy(Dict(descr, "(2, 3)"), numbers, version));
    EXPECT_EQ("", Difference(*ReadUri(path), *Vectors(element, 3, rows)));
  };
  check("<f4", Bytes<float>({1, 2, 3, 4, 5, 6}), arrow::float32(), 1);
  check("<f8", Bytes<double>({1, 2, 3, 4, 5, 6}), arrow::float64(), 2);
  check("|i1", Bytes<int8_t>({1, 2, 3, 4, 5, 6}), arrow::int8(), 3);
  check("|u1", Bytes<uint8_t>({1, 2, 3, 4, 5, 6}), arrow::uint8(), 1);
  std::vector<uint16_t> halves;
  for (float value : {1, 2, 3, 4, 5, 6}) halves.push_back(arrow::util::Float16(value).bits());
  check("<f2", Bytes(halves), arrow::float16(), 1);
}

TEST(NpyFile, FortranOrderIsTurned) {
  TemporaryFolder folder;
  const std::string path =
      folder.Write("a.npy", Npy(Dict("<f4", "(2, 3)", true), Bytes<float>({1, 4, 2, 5, 3, 6})));
  EXPECT_EQ(
      "", Difference(*ReadUri(path, {.batch_rows = 1}),
                     *Vectors(arrow::float32(), 3, R"([{"vector":[1,2,3]},{"vector":[4,5,6]}])")));
}

TEST(NpyFile, OneDimensionIsOneVector) {
  TemporaryFolder folder;
  const std::string path = folder.Write("a.npy", Npy(Dict("<f4", "(3,)"), Bytes<float>({1, 2, 3})));
  EXPECT_EQ("",
            Difference(*ReadUri(path), *Vectors(arrow::float32(), 3, R"([{"vector":[1,2,3]}])")));
}

TEST(NpyFile, BatchesAndTake) {
  TemporaryFolder folder;
  std::vector<float> numbers;
  for (int i = 0; i < 200; ++i) numbers.push_back(static_cast<float>(i) / 8);
  for (const bool fortran : {false, true}) {
    const std::string path =
        folder.Write("a.npy", Npy(Dict("<f4", "(100, 2)", fortran), Bytes(numbers)));
    auto source = OpenTable(path, {.batch_rows = 7}).ValueOrDie();
    EXPECT_EQ(source->num_rows(), 100);
    const auto all = ReadAll(source.get(), std::nullopt, 7).ValueOrDie();
    EXPECT_EQ(all->num_rows(), 100);
    const auto batch = all->CombineChunksToBatch().ValueOrDie();
    const std::vector<uint64_t> ordinals = {0, 5, 6, 7, 50, 99};
    const auto taken = source->Take({"vector"}, ordinals).ValueOrDie();
    ASSERT_EQ(taken->num_rows(), 6);
    for (size_t i = 0; i < ordinals.size(); ++i) {
      const auto at = static_cast<int64_t>(ordinals[i]);
      EXPECT_TRUE(taken->Slice(static_cast<int64_t>(i), 1)->Equals(*batch->Slice(at, 1)));
    }
    const std::vector<uint64_t> past = {100};
    EXPECT_EQ(CodeOf(source->Take({"vector"}, past).status()), ErrorCode::kInvalid);
  }
}

TEST(NpyFile, NoRowsIsFine) {
  TemporaryFolder folder;
  const auto table = ReadUri(folder.Write("a.npy", Npy(Dict("<f4", "(0, 3)"), "")));
  EXPECT_EQ(table->num_rows(), 0);
  EXPECT_EQ(table->num_columns(), 1);
}

TEST(NpyFile, WhatIsNotReadIsNamed) {
  const auto parse = [](const std::string& dict, size_t data_bytes = 24) {
    const std::string bytes = Npy(dict, std::string(data_bytes, 'x'));
    return ParseNpyHeader(bytes, static_cast<int64_t>(bytes.size()), "q.npy").status();
  };
  const auto expect = [](const arrow::Status& status, ErrorCode code, const std::string& word) {
    EXPECT_EQ(CodeOf(status), code) << status.ToString();
    EXPECT_THAT(status.message(), HasSubstr(word));
  };
  expect(parse(Dict(">f4", "(2, 3)")), ErrorCode::kNotSupported, "big-endian");
  expect(parse(Dict("<i8", "(2, 3)")), ErrorCode::kNotSupported, "<i8");
  expect(parse(Dict("|O", "(2, 3)")), ErrorCode::kNotSupported, "|O");
  expect(parse("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (3,), }"),
         ErrorCode::kNotSupported, "record");
  expect(parse(Dict("<f4", "(1, 2, 3)")), ErrorCode::kNotSupported, "3 dimensions");
  expect(parse(Dict("<f4", "()")), ErrorCode::kNotSupported, "0 dimensions");
  expect(parse(Dict("<f4", "(6, 0)")), ErrorCode::kInvalid, "0 wide");
  EXPECT_TRUE(parse(Dict("<f4", "(2, 3)")).ok());
}

TEST(NpyFile, SizesThatLieAreCorrupt) {
  const auto code = [](const std::string& bytes) {
    return CodeOf(ParseNpyHeader(bytes, static_cast<int64_t>(bytes.size()), "q.npy").status());
  };
  const std::string numbers(24, 'x');
  EXPECT_EQ(code(Npy(Dict("<f4", "(3, 3)"), numbers)), ErrorCode::kCorrupt);
  EXPECT_EQ(code(Npy(Dict("<f4", "(1, 3)"), numbers)), ErrorCode::kCorrupt);
  EXPECT_EQ(code(Npy(Dict("<f4", "(4611686018427387904, 4)"), numbers)), ErrorCode::kCorrupt);
  EXPECT_EQ(code(Npy(Dict("<f4", "(9223372036854775807, 3)"), numbers)), ErrorCode::kCorrupt);
  EXPECT_EQ(code(Npy(Dict("<f4", "(99999999999999999999, 3)"), numbers)), ErrorCode::kCorrupt);
  EXPECT_EQ(code(Npy(Dict("<f4", "(-2, 3)"), numbers)), ErrorCode::kCorrupt);
  EXPECT_EQ(code("no array at all, only text"), ErrorCode::kCorrupt);
  EXPECT_EQ(code(""), ErrorCode::kCorrupt);
}

// Every cut and many flips: an answer or an error, never a crash.
TEST(NpyFile, BrokenHeadersAreErrors) {
  const std::string good = Npy(Dict("<f4", "(2, 3)"), std::string(24, 'x'));
  for (size_t size = 0; size < good.size(); ++size) {
    const std::string cut = good.substr(0, size);
    EXPECT_EQ(CodeOf(ParseNpyHeader(cut, static_cast<int64_t>(size), "q.npy").status()),
              ErrorCode::kCorrupt)
        << size;
  }
  for (size_t at = 0; at < good.size(); ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string flipped = good;
      flipped[at] = static_cast<char>(flipped[at] ^ (1 << bit));
      const auto header = ParseNpyHeader(flipped, static_cast<int64_t>(flipped.size()), "q.npy");
      if (header.ok()) {
        EXPECT_LE(header->rows * header->width, 24);
      }
    }
  }
}

TEST(NpyFile, AFileThatShrinksIsCorrupt) {
  TemporaryFolder folder;
  const std::string path = folder.Write("a.npy", Npy(Dict("<f4", "(2, 3)"), std::string(24, 'x')));
  auto source = OpenTable(path).ValueOrDie();
  std::filesystem::resize_file(path, 130);
  EXPECT_EQ(CodeOf(ReadAll(source.get()).status()), ErrorCode::kCorrupt);
}

}  // namespace
}  // namespace kinjo::tabular
