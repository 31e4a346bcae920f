// The conventions of kinjo.h, seen from outside: errors, structs that know less or more than the
// library, NULL arguments, texts.
#include <cstring>
#include <string>

#include "gtest/gtest.h"
#include "kinjo/kinjo.h"
#include "kinjo/kinjo.hpp"

namespace {

TEST(Errors, SayWhatIsMissingAndStoreNothingElse) {
  kinjo_error* error = nullptr;
  auto* untouched = reinterpret_cast<kinjo_dataset*>(&error);
  kinjo_dataset* dataset = untouched;
  ASSERT_FALSE(kinjo_dataset_open("no/such/place.lance", nullptr, &dataset, &error));
  EXPECT_EQ(dataset, untouched);
  ASSERT_NE(error, nullptr);
  EXPECT_EQ(kinjo_error_get_code(error), KINJO_ERROR_NOT_FOUND);
  const std::string message = kinjo_error_get_message(error);
  EXPECT_NE(message.find("no/such/place.lance"), std::string::npos) << message;
  EXPECT_EQ(message.find('\n'), std::string::npos) << message;
  kinjo_error_free(error);
}

TEST(Errors, MayBeIgnored) {
  kinjo_dataset* dataset = nullptr;
  EXPECT_FALSE(kinjo_dataset_open("no/such/place.lance", nullptr, &dataset, nullptr));
  EXPECT_EQ(dataset, nullptr);
}

TEST(Errors, HaveNames) {
  EXPECT_STREQ(kinjo_error_code_name(KINJO_ERROR_INVALID), "invalid");
  EXPECT_STREQ(kinjo_error_code_name(KINJO_ERROR_NOT_SUPPORTED), "not_supported");
  EXPECT_STREQ(kinjo_error_code_name(KINJO_ERROR_INTERNAL), "internal");
}

TEST(Arguments, NullIsNamed) {
  kinjo_error* error = nullptr;
  ASSERT_FALSE(kinjo_dataset_open(nullptr, nullptr, nullptr, &error));
  EXPECT_EQ(kinjo_error_get_code(error), KINJO_ERROR_INVALID);
  EXPECT_STREQ(kinjo_error_get_message(error), "the argument uri is NULL");
  kinjo_error_free(error);
}

TEST(Arguments, FreeTakesNull) {
  kinjo_error_free(nullptr);
  kinjo_string_free(nullptr);
  kinjo_cancel_free(nullptr);
  kinjo_dataset_free(nullptr);
  kinjo_table_free(nullptr);
  kinjo_join_free(nullptr);
  kinjo_stream_free(nullptr);
}

TEST(Structs, InitWritesOnlyWhatTheCallerKnows) {
  struct {
    kinjo_join_options options;
    char guard[8];
  } memory;
  std::memset(&memory, 0x5a, sizeof(memory));
  const size_t known = offsetof(kinjo_join_options, on);
  kinjo_join_options_init(&memory.options, known);
  EXPECT_EQ(memory.options.struct_size, known);
  EXPECT_EQ(memory.options.k, 10);
  char expected[sizeof(const char*)];
  std::memset(expected, 0x5a, sizeof(expected));
  EXPECT_EQ(std::memcmp(&memory.options.on, expected, sizeof(expected)), 0);
}

TEST(Structs, AnOlderCallerGetsDefaultsForTheRest) {
  kinjo_join_options options;
  std::memset(&options, 0x5a, sizeof(options));  // what lies behind an old struct is not ours
  kinjo_join_options_init(&options, offsetof(kinjo_join_options, on));
  options.k = 3;
  kinjo_error* error = nullptr;
  EXPECT_TRUE(kinjo_join_options_check(&options, &error)) << kinjo_error_get_message(error);
}

TEST(Structs, WithoutInitIsRefused) {
  kinjo_join_options options{};
  kinjo_error* error = nullptr;
  ASSERT_FALSE(kinjo_join_options_check(&options, &error));
  EXPECT_EQ(kinjo_error_get_code(error), KINJO_ERROR_INVALID);
  kinjo_error_free(error);
}

TEST(Structs, OfANewerLibraryAreRefused) {
  struct Newer {
    kinjo_join_options options;
    int64_t added;
  } newer;
  kinjo_join_options_init(&newer.options, sizeof(newer));
  EXPECT_EQ(newer.added, 0);
  kinjo_error* error = nullptr;
  ASSERT_FALSE(kinjo_join_options_check(&newer.options, &error));
  EXPECT_EQ(kinjo_error_get_code(error), KINJO_ERROR_NOT_SUPPORTED);
  kinjo_error_free(error);
}

TEST(Options, AreJudgedAlone) {
  kinjo::JoinOptions options;
  EXPECT_TRUE(kinjo::Join::Check(options).ok());
  options.k = 0;
  const kinjo::Result<void> zero = kinjo::Join::Check(options);
  ASSERT_FALSE(zero.ok());
  EXPECT_EQ(zero.error().code, KINJO_ERROR_INVALID);
  EXPECT_NE(zero.error().message.find("k"), std::string::npos) << zero.error().message;
}

TEST(Options, WordsAreChecked) {
  for (const char* word : {"outer", "Inner"}) {
    kinjo::JoinOptions options;
    options.how = word;
    const kinjo::Result<void> checked = kinjo::Join::Check(options);
    ASSERT_FALSE(checked.ok()) << word;
    EXPECT_NE(checked.error().message.find(word), std::string::npos);
  }
  kinjo::JoinOptions options;
  options.metric = "manhattan";
  ASSERT_FALSE(kinjo::Join::Check(options).ok());
  options.metric = "cosine";
  EXPECT_TRUE(kinjo::Join::Check(options).ok());
}

TEST(Options, ThatExcludeEachOtherAreBothNamed) {
  kinjo::JoinOptions options;
  options.nprobes = 4;
  options.maximum_nprobes = 8;
  const kinjo::Result<void> both = kinjo::Join::Check(options);
  ASSERT_FALSE(both.ok());
  EXPECT_NE(both.error().message.find("maximum_nprobes"), std::string::npos);
}

TEST(Runtime, TellsItself) {
  EXPECT_EQ(kinjo::Version(), kinjo_version());
  const kinjo::Result<std::string> json = kinjo::DescribeRuntime();
  ASSERT_TRUE(json.ok()) << json.error().message;
  char* level = nullptr;
  char* levels = nullptr;
  ASSERT_TRUE(kinjo_simd_level(&level, nullptr));
  ASSERT_TRUE(kinjo_simd_levels(&levels, nullptr));
  EXPECT_NE(std::string(levels).find(level), std::string::npos);
  EXPECT_NE(json.value().find("\"simd_level\":\"" + std::string(level) + "\""), std::string::npos);
  kinjo_string_free(level);
  kinjo_string_free(levels);
}

TEST(CancelFlag, IsRaisedForGood) {
  const kinjo::Result<kinjo::Cancel> cancel = kinjo::Cancel::Make();
  ASSERT_TRUE(cancel.ok());
  EXPECT_FALSE(cancel.value().raised());
  cancel.value().Raise();
  EXPECT_TRUE(cancel.value().raised());
}

}  // namespace
