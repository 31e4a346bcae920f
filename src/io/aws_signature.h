// Signing of requests as Amazon's services want it (Signature Version 4), apart from sending them:
// a pure function of request, key and time.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kinjo::io {

/// A key pair, and the token that comes with a passing one.
struct AwsKeys {
  std::string access_key_id;
  std::string secret_access_key;
  std::string session_token;  ///< empty with a lasting key

  bool operator==(const AwsKeys&) const = default;
};

using NamedTexts = std::vector<std::pair<std::string, std::string>>;

/// What is signed of a request. Names of headers are in lower case.
struct RequestToSign {
  std::string method;
  std::string host;            ///< with its port, as it is sent
  std::string path;            ///< encoded, begins with a slash
  NamedTexts query;            ///< not encoded yet
  NamedTexts headers;          ///< those to sign beside the signature's own
  std::string payload_sha256;  ///< hexadecimal
};

/// Everything but unreserved characters as %XX; slashes too unless they are kept.
std::string UriEncode(std::string_view text, bool keep_slashes);

/// The query as it stands in an address and is signed: encoded, sorted by name.
std::string QueryText(const NamedTexts& query);

/// The headers to send: those of the request, and x-amz-content-sha256, x-amz-date,
/// x-amz-security-token (with a token) and authorization.
NamedTexts SignRequest(const RequestToSign& request, const AwsKeys& keys, std::string_view region,
                       std::string_view service, int64_t seconds_since_epoch);

}  // namespace kinjo::io
