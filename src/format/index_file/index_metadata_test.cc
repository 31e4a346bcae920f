#include "format/index_file/index_metadata.h"

#include <gtest/gtest.h>

namespace kinjo::format {
namespace {

constexpr const char* kPq =
    R"(["{\"codebook_position\":2,\"nbits\":8,\"num_sub_vectors\":16,\"dimension\":64,)"
    R"(\"codebook_tensor\":[],\"transposed\":true}"])";

TEST(IndexMetadata, ReadsWhatLanceWrites) {
  const IndexTypeMetadata type =
      ParseIndexType(R"({"type":"IVF_PQ","distance_type":"l2"})", "file").ValueOrDie();
  EXPECT_EQ(type.type, "IVF_PQ");
  EXPECT_EQ(type.distance_type, "l2");
  EXPECT_EQ(ParseFlatStorage(R"(["{\"dim\":64}"])", "file").ValueOrDie().dim, 64u);
  const PqStorageMetadata pq = ParsePqStorage(kPq, "file").ValueOrDie();
  EXPECT_EQ(pq.codebook_position, 2u);
  EXPECT_EQ(pq.num_bits, 8u);
  EXPECT_EQ(pq.num_sub_vectors, 16u);
  EXPECT_EQ(pq.dim, 64u);
  EXPECT_TRUE(pq.transposed);
}

TEST(IndexMetadata, CodesAreRowMajorUnlessSaidOtherwise) {
  std::string text = kPq;
  text.replace(text.find("true"), 4, "false");
  EXPECT_FALSE(ParsePqStorage(text, "file").ValueOrDie().transposed);
  text.replace(text.find(R"(,\"transposed\":false)"), 21, "");
  EXPECT_FALSE(ParsePqStorage(text, "file").ValueOrDie().transposed);
}

TEST(IndexMetadata, AnythingElseIsCorrupt) {
  for (const char* text : {"",
                           "[",
                           "{}",
                           "[]",
                           "3",
                           "\"x\"",
                           "null",
                           R"({"type":"IVF_PQ"})",
                           R"({"type":3})",
                           R"({"type":"IVF_PQ","distance_type":null})",
                           R"(["{\"dim\":-4}"])",
                           R"(["{\"dim\":4.5}"])",
                           R"(["{\"dim\":4294967296}"])",
                           R"(["{\"dim\":\"4\"}"])",
                           R"(["{\"dim\":4}","x"])",
                           R"([{"dim":4}])",
                           R"(["not json"])",
                           R"(["[4]"])",
                           "[[[[[[[[",
                           "\xff\xfe"}) {
    EXPECT_EQ(base::CodeOf(ParseIndexType(text, "file").status()), base::ErrorCode::kCorrupt);
    EXPECT_EQ(base::CodeOf(ParseFlatStorage(text, "file").status()), base::ErrorCode::kCorrupt);
    EXPECT_EQ(base::CodeOf(ParsePqStorage(text, "file").status()), base::ErrorCode::kCorrupt);
  }
}

// Deeply nested text must not exhaust the stack.
TEST(IndexMetadata, DeepNestingIsSurvived) {
  const std::string deep(1 << 16, '[');
  EXPECT_FALSE(ParseFlatStorage(deep, "file").ok());
  EXPECT_FALSE(ParseFlatStorage(deep + std::string(1 << 16, ']'), "file").ok());
}

TEST(IndexMetadata, EachKeyIsNeeded) {
  for (const char* key : {"codebook_position", "nbits", "num_sub_vectors", "dimension"}) {
    std::string text = kPq;
    text.replace(text.find(key), 2, "xx");
    const arrow::Status status = ParsePqStorage(text, "file").status();
    EXPECT_EQ(base::CodeOf(status), base::ErrorCode::kCorrupt);
    EXPECT_NE(base::MessageOf(status).find(key), std::string::npos);
  }
}

}  // namespace
}  // namespace kinjo::format
