#include "io/aws_signature.h"

#include <algorithm>
#include <array>
#include <ctime>

#include "base/error.h"
#include "io/sha256.h"

namespace kinjo::io {
namespace {

constexpr std::string_view kAlgorithm = "AWS4-HMAC-SHA256";

/// The time as signatures have it: 20130524T000000Z.
std::string TimeText(int64_t seconds) {
  const std::time_t time = seconds;
  std::tm parts{};
  gmtime_r(&time, &parts);
  std::array<char, 32> text{};
  (void)std::strftime(text.data(), text.size(), "%Y%m%dT%H%M%SZ", &parts);
  return text.data();
}

}  // namespace

std::string UriEncode(std::string_view text, bool keep_slashes) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  constexpr std::string_view kUnreserved =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.~";
  std::string encoded;
  for (const char c : text) {
    if (kUnreserved.find(c) != std::string_view::npos || (keep_slashes && c == '/')) {
      encoded += c;
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    encoded += '%';
    encoded += kDigits[byte >> 4];
    encoded += kDigits[byte & 15];
  }
  return encoded;
}

std::string QueryText(const NamedTexts& query) {
  NamedTexts encoded;
  for (const auto& [name, value] : query) {
    encoded.emplace_back(UriEncode(name, false), UriEncode(value, false));
  }
  std::sort(encoded.begin(), encoded.end());
  std::string text;
  for (const auto& [name, value] : encoded) {
    if (!text.empty()) text += '&';
    text.append(name).append("=").append(value);
  }
  return text;
}

NamedTexts SignRequest(const RequestToSign& request, const AwsKeys& keys, std::string_view region,
                       std::string_view service, int64_t seconds_since_epoch) {
  const std::string time = TimeText(seconds_since_epoch);
  const std::string day = time.substr(0, 8);
  NamedTexts headers = request.headers;
  headers.emplace_back("x-amz-content-sha256", request.payload_sha256);
  headers.emplace_back("x-amz-date", time);
  if (!keys.session_token.empty()) {
    headers.emplace_back("x-amz-security-token", keys.session_token);
  }
  NamedTexts signed_headers = headers;
  signed_headers.emplace_back("host", request.host);
  std::sort(signed_headers.begin(), signed_headers.end());
  std::string lines;
  std::string names;
  for (const auto& [name, value] : signed_headers) {
    lines += base::Concat(name, ":", value, "\n");
    names += (names.empty() ? "" : ";") + name;
  }
  const std::string canonical =
      base::Concat(request.method, "\n", request.path, "\n", QueryText(request.query), "\n", lines,
                   "\n", names, "\n", request.payload_sha256);
  const std::string scope = base::Concat(day, "/", region, "/", service, "/aws4_request");
  const std::string to_sign =
      base::Concat(kAlgorithm, "\n", time, "\n", scope, "\n", HexOf(Sha256(canonical)));
  Sha256Digest key = HmacSha256("AWS4" + keys.secret_access_key, day);
  key = HmacSha256(BytesOf(key), region);
  key = HmacSha256(BytesOf(key), service);
  key = HmacSha256(BytesOf(key), "aws4_request");
  headers.emplace_back("authorization",
                       base::Concat(kAlgorithm, " Credential=", keys.access_key_id, "/", scope,
                                    ",SignedHeaders=", names,
                                    ",Signature=", HexOf(HmacSha256(BytesOf(key), to_sign))));
  return headers;
}

}  // namespace kinjo::io
