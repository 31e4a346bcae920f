#include "io/storage_options.h"

#include <gtest/gtest.h>

#include "base/assert_result.h"
#include "io/aws_credentials.h"

namespace kinjo::io {
namespace {

// The registry is the process's: each test has a bucket of its own.

TEST(StorageOptions, LongestPrefixTells) {
  ASSERT_TRUE(
      SetStorageOptions("s3://longest", {{"region", "r1"}, {"connect_timeout", "250ms"}}).ok());
  ASSERT_TRUE(SetStorageOptions("s3://longest/inner", {{"AWS_REGION", "r2"}}).ok());
  KINJO_ASSERT_RESULT(outer, S3SettingsFor("s3://longest/a"));
  KINJO_ASSERT_RESULT(inner, S3SettingsFor("s3://longest/inner/a"));
  EXPECT_EQ(outer.region, "r1");
  EXPECT_EQ(inner.region, "r2");
  EXPECT_EQ(inner.limits.connect_timeout_ms, 250);
  // In place of what was set before.
  ASSERT_TRUE(SetStorageOptions("s3://longest/inner", {{"timeout", "2m"}}).ok());
  KINJO_ASSERT_RESULT(again, S3SettingsFor("s3://longest/inner/a"));
  EXPECT_EQ(again.region, "r1");
  EXPECT_EQ(again.limits.request_timeout_ms, 120'000);
}

TEST(StorageOptions, WrongOnesChangeNothing) {
  ASSERT_TRUE(SetStorageOptions("s3://wrong", {{"region", "r1"}}).ok());
  const StorageOptions bad[] = {{{"colour", "red"}},
                                {{"request_timeout", "0"}},
                                {{"request_timeout", "5 days"}},
                                {{"request_timeout", ""}},
                                {{"client_max_retries", "-1"}},
                                {{"client_max_retries", "3x"}},
                                {{"skip_signature", "maybe"}},
                                {{"endpoint", "example.org"}},
                                {{"endpoint", "http://example.org"}},
                                {{"connections", "0"}}};
  for (const StorageOptions& options : bad) {
    StorageOptions all = options;
    all["region"] = "r2";
    EXPECT_EQ(base::CodeOf(SetStorageOptions("s3://wrong", all)), base::ErrorCode::kInvalid)
        << options.begin()->first << " = " << options.begin()->second;
  }
  KINJO_ASSERT_RESULT(settings, S3SettingsFor("s3://wrong/a"));
  EXPECT_EQ(settings.region, "r1");
}

TEST(StorageOptions, KeysComeFromOnePlace) {
  ASSERT_TRUE(
      SetStorageOptions("s3://keys", {{"access_key_id", "a"}, {"secret_access_key", "b"}}).ok());
  ASSERT_EQ(setenv("AWS_SESSION_TOKEN", "of another key", 1), 0);
  const std::optional<AwsKeys> keys = NamedKeysFor("s3://keys/x");
  unsetenv("AWS_SESSION_TOKEN");
  ASSERT_TRUE(keys.has_value());
  EXPECT_EQ(*keys, (AwsKeys{"a", "b", ""}));
}

TEST(StorageOptions, KeysAreFoundAnew) {
  const auto set = [](const char* secret) {
    return SetStorageOptions(
        "s3://anew", {{"token", "t"}, {"access_key_id", "a"}, {"secret_access_key", secret}});
  };
  ASSERT_TRUE(set("old").ok());
  AwsCredentials credentials("s3://anew/x", "us-east-1");
  KINJO_ASSERT_RESULT(old_keys, credentials.Get());
  EXPECT_FALSE(credentials.Renew(old_keys));
  ASSERT_TRUE(set("new").ok());
  EXPECT_TRUE(credentials.Renew(old_keys));
  KINJO_ASSERT_RESULT(new_keys, credentials.Get());
  EXPECT_EQ(new_keys.secret_access_key, "new");
  // Who comes late with the old ones is told that there are others.
  EXPECT_TRUE(credentials.Renew(old_keys));
}

TEST(AwsCredentials, Profiles) {
  const std::string file =
      "[a]\naws_access_key_id = 1\naws_secret_access_key=2\r\n\n[ b ]\n# aws_access_key_id = 9\n"
      "aws_access_key_id=3\naws_secret_access_key = 4==\naws_session_token = 5";
  EXPECT_EQ(KeysOfProfile(file, "a"), (AwsKeys{"1", "2", ""}));
  EXPECT_EQ(KeysOfProfile(file, "b"), (AwsKeys{"3", "4==", "5"}));
  EXPECT_EQ(KeysOfProfile(file, "c"), AwsKeys{});
}

}  // namespace
}  // namespace kinjo::io
