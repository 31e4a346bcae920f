// Where the keys to an S3 bucket come from, and when they are fetched anew: a job may take longer
// than a key lives.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>

#include "base/error.h"
#include "io/aws_signature.h"

namespace kinjo::io {

/// Keys, and until when they hold.
struct ExpiringKeys {
  AwsKeys keys;
  int64_t expires_s = 0;  ///< since the epoch; 0: not told
};

/// The keys of one bucket. They come from the first of: options and variables of the environment
/// that name them; a web identity token (AWS_WEB_IDENTITY_TOKEN_FILE, AWS_ROLE_ARN); the address of
/// a container's keys (AWS_CONTAINER_CREDENTIALS_*); the files of the AWS tools (AWS_PROFILE,
/// ~/.aws/credentials); the instance's role. Thread-safe.
class AwsCredentials {
 public:
  /// `uri` is what storage options are looked up by; `region` that of the token service.
  AwsCredentials(std::string uri, std::string region);

  /// Keys to sign with: kept until shortly before they expire. `io` when there are none.
  arrow::Result<AwsKeys> Get();

  /// The store said that `refused` expired: looks for others. False when there are none.
  bool Renew(const AwsKeys& refused);

 private:
  arrow::Result<ExpiringKeys> Load() const;

  const std::string uri_;
  const std::string region_;
  std::mutex mutex_;  // held while keys are fetched: one thread does it, all wait
  bool is_loaded_ = false;
  ExpiringKeys current_;
};

/// The keys of a profile in the text of ~/.aws/credentials; nothing in them when it has none.
AwsKeys KeysOfProfile(std::string_view file, std::string_view profile);

}  // namespace kinjo::io
