// What a user says of an object store beside its address: keys, region, endpoint, patience. Given
// once for all addresses that begin alike, in words that Lance and the AWS tools know too; what
// isn't given comes from the environment.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "io/aws_signature.h"
#include "io/http_client.h"
#include "io/retry.h"

namespace kinjo::io {

/// Names in lower case to values.
using StorageOptions = std::map<std::string, std::string>;

/// From now on `options` hold for the addresses that begin with `prefix` ("" for all), in place of
/// those set for it before. Where several prefixes fit an address, the longest that names an option
/// tells it. An unknown name or a value that can't be read is `invalid`, and then nothing changes.
/// Thread-safe. Files that are open keep what they were opened with, but for keys that expired.
arrow::Status SetStorageOptions(const std::string& prefix, const StorageOptions& options);

/// The options that hold for an address, under the names of StorageOptions in Lance's long form
/// ("aws_region"); the environment isn't looked at.
StorageOptions StorageOptionsFor(std::string_view uri);

/// Where an S3 bucket is and how it is asked.
struct S3Settings {
  std::string region = "us-east-1";
  std::string endpoint;  ///< with scheme, without a slash at its end; empty: Amazon's own
  bool virtual_hosted_style = false;  ///< the bucket's name stands in the host's
  bool skip_signature = false;        ///< for what everybody may read
  bool request_payer = false;
  std::string server_side_encryption;
  std::string kms_key_id;
  HttpLimits limits;
  RetryLimits retries;

  bool operator==(const S3Settings&) const = default;
};

/// What options and environment say for an address.
arrow::Result<S3Settings> S3SettingsFor(std::string_view uri);

/// How Google's storage is asked.
struct GoogleSettings {
  std::string endpoint;  ///< with scheme, without a slash at its end; empty: Google's own
  std::string key_json;  ///< of a service account; empty: what Google's tools have on this machine
  bool skip_signature = false;
  int64_t retry_timeout_ms = 0;
};
arrow::Result<GoogleSettings> GoogleSettingsFor(std::string_view uri);

/// How Azure's storage is asked: by the key, else the token, else what Azure's tools have here.
struct AzureSettings {
  std::string endpoint;  ///< with scheme, without a slash at its end; empty: Azure's own
  std::string account;
  std::string account_key;
  std::string sas_token;
  bool skip_signature = false;
};
arrow::Result<AzureSettings> AzureSettingsFor(std::string_view uri);

/// The keys that options, or else the environment, name for an address outright.
std::optional<AwsKeys> NamedKeysFor(std::string_view uri);

/// A variable of the environment; nothing when it is empty.
std::optional<std::string> FromEnvironment(const char* name);

}  // namespace kinjo::io
