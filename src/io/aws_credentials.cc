#include "io/aws_credentials.h"

#include <chrono>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <utility>

#include "base/cancel_scope.h"
#include "io/http_client.h"
#include "io/storage_options.h"
#include "io/xml_text.h"

namespace kinjo::io {
namespace {

// Keys are fetched anew so long before they expire.
constexpr int64_t kRenewBeforeS = 300;

constexpr const char* kInstanceAddress = "http://169.254.169.254";
constexpr const char* kContainerAddress = "http://169.254.170.2";

int64_t NowSeconds() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::seconds>(now).count();
}

arrow::Result<std::string> ReadFile(const std::string& path) {
  const std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  if (!file) return base::Io("can't read ", path);
  return std::move(text).str();
}

std::string Trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos) return {};
  return std::string(text.substr(begin, text.find_last_not_of(" \t\r\n") - begin + 1));
}

/// One request to a service that gives keys out. Those on the machine itself answer at once or
/// aren't there.
arrow::Result<std::string> Ask(HttpRequest request, HttpLimits limits) {
  ARROW_ASSIGN_OR_RAISE(const auto client, HttpClient::Make(limits));
  ARROW_ASSIGN_OR_RAISE(auto answers, client->Send(std::span(&request, 1)));
  HttpAnswer& answer = answers.front();
  if (answer.is_good()) return std::move(answer.body);
  const std::string address = request.url.substr(0, request.url.find('?'));
  return base::Io("can't get AWS keys from ", address, ": ",
                  answer.is_whole() ? base::Concat("it answered ", answer.status) : answer.failure);
}

constexpr HttpLimits kNearby = {.connect_timeout_ms = 1000, .request_timeout_ms = 5000};

/// Keys as the services of containers and instances tell them.
arrow::Result<ExpiringKeys> KeysOfJson(const std::string& text, const std::string& from) {
  const auto json = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  const auto field = [&](const char* name) -> std::string {
    const auto value = json.is_object() ? json.find(name) : json.end();
    if (value == json.end() || !value->is_string()) return {};
    return *value->get_ptr<const std::string*>();
  };
  ExpiringKeys keys = {.keys = {field("AccessKeyId"), field("SecretAccessKey"), field("Token")},
                       .expires_s = SecondsOfIsoTime(field("Expiration")).value_or(0)};
  if (keys.keys.access_key_id.empty() || keys.keys.secret_access_key.empty()) {
    return base::Io("can't get AWS keys from ", from, ": its answer holds none");
  }
  return keys;
}

arrow::Result<ExpiringKeys> FromWebIdentity(const std::string& token_file,
                                            const std::string& region) {
  ARROW_ASSIGN_OR_RAISE(const std::string token, ReadFile(token_file));
  const std::string endpoint =
      FromEnvironment("AWS_ENDPOINT_URL_STS").value_or("https://sts." + region + ".amazonaws.com");
  const std::string body =
      QueryText({{"Action", "AssumeRoleWithWebIdentity"},
                 {"Version", "2011-06-15"},
                 {"RoleArn", FromEnvironment("AWS_ROLE_ARN").value_or("")},
                 {"RoleSessionName", FromEnvironment("AWS_ROLE_SESSION_NAME").value_or("kinjo")},
                 {"WebIdentityToken", Trimmed(token)}});
  HttpRequest request{.method = "POST",
                      .url = endpoint + "/",
                      .headers = {{"content-type", "application/x-www-form-urlencoded"}},
                      .body = body,
                      .into = {}};
  ARROW_ASSIGN_OR_RAISE(const std::string xml, Ask(std::move(request), HttpLimits{}));
  const auto text = [&](const char* name) { return XmlText(xml, name).value_or(""); };
  ExpiringKeys keys = {.keys = {text("AccessKeyId"), text("SecretAccessKey"), text("SessionToken")},
                       .expires_s = SecondsOfIsoTime(text("Expiration")).value_or(0)};
  if (keys.keys.secret_access_key.empty()) {
    return base::Io("can't get AWS keys from ", endpoint, ": its answer holds none");
  }
  return keys;
}

arrow::Result<ExpiringKeys> FromContainer(const std::string& url) {
  HttpRequest request{.method = "GET", .url = url, .headers = {}, .body = {}, .into = {}};
  std::string token = FromEnvironment("AWS_CONTAINER_AUTHORIZATION_TOKEN").value_or("");
  if (const auto file = FromEnvironment("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE")) {
    ARROW_ASSIGN_OR_RAISE(const std::string text, ReadFile(*file));
    token = Trimmed(text);
  }
  if (!token.empty()) request.headers.emplace_back("authorization", token);
  ARROW_ASSIGN_OR_RAISE(const std::string json, Ask(std::move(request), kNearby));
  return KeysOfJson(json, url);
}

arrow::Result<ExpiringKeys> FromInstance() {
  const std::string address =
      FromEnvironment("AWS_EC2_METADATA_SERVICE_ENDPOINT").value_or(kInstanceAddress);
  ARROW_ASSIGN_OR_RAISE(const std::string token,
                        Ask({.method = "PUT",
                             .url = address + "/latest/api/token",
                             .headers = {{"x-aws-ec2-metadata-token-ttl-seconds", "21600"}},
                             .body = {},
                             .into = {}},
                            kNearby));
  const auto get = [&](const std::string& path) {
    return Ask({.method = "GET",
                .url = address + path,
                .headers = {{"x-aws-ec2-metadata-token", token}},
                .body = {},
                .into = {}},
               kNearby);
  };
  const std::string folder = "/latest/meta-data/iam/security-credentials/";
  ARROW_ASSIGN_OR_RAISE(const std::string roles, get(folder));
  const std::string role = Trimmed(roles.substr(0, roles.find('\n')));
  ARROW_ASSIGN_OR_RAISE(const std::string json, get(folder + role));
  return KeysOfJson(json, address);
}

AwsKeys FromFiles(const std::string& profile) {
  const std::string home = FromEnvironment("HOME").value_or("");
  const std::string path =
      FromEnvironment("AWS_SHARED_CREDENTIALS_FILE").value_or(home + "/.aws/credentials");
  const arrow::Result<std::string> file = ReadFile(path);
  return file.ok() ? KeysOfProfile(*file, profile) : AwsKeys{};
}

}  // namespace

AwsKeys KeysOfProfile(std::string_view file, std::string_view profile) {
  AwsKeys keys;
  bool is_here = false;
  while (!file.empty()) {
    const size_t end = file.find('\n');
    const std::string line = Trimmed(file.substr(0, end));
    file.remove_prefix(end == std::string_view::npos ? file.size() : end + 1);
    if (line.starts_with('[')) {
      is_here = Trimmed(std::string_view(line).substr(1, line.find(']') - 1)) == profile;
      continue;
    }
    const size_t equals = line.find('=');
    if (!is_here || equals == std::string::npos || line.starts_with('#')) continue;
    const std::string name = Trimmed(std::string_view(line).substr(0, equals));
    const std::string value = Trimmed(std::string_view(line).substr(equals + 1));
    if (name == "aws_access_key_id") keys.access_key_id = value;
    if (name == "aws_secret_access_key") keys.secret_access_key = value;
    if (name == "aws_session_token") keys.session_token = value;
  }
  return keys;
}

AwsCredentials::AwsCredentials(std::string uri, std::string region)
    : uri_(std::move(uri)), region_(std::move(region)) {}

arrow::Result<AwsKeys> AwsCredentials::Get() {
  const std::lock_guard<std::mutex> lock(mutex_);
  const bool is_old = current_.expires_s != 0 && NowSeconds() >= current_.expires_s - kRenewBeforeS;
  if (is_loaded_ && !is_old) return current_.keys;
  arrow::Result<ExpiringKeys> loaded = Load();
  // Keys that hold for some minutes yet are better than none.
  if (!loaded.ok() && is_loaded_ && NowSeconds() < current_.expires_s) return current_.keys;
  ARROW_ASSIGN_OR_RAISE(current_, std::move(loaded));
  is_loaded_ = true;
  return current_.keys;
}

bool AwsCredentials::Renew(const AwsKeys& refused) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (is_loaded_ && current_.keys != refused) return true;  // another thread was here
  arrow::Result<ExpiringKeys> loaded = Load();
  if (!loaded.ok() || loaded->keys == refused) return false;
  current_ = *std::move(loaded);
  is_loaded_ = true;
  return true;
}

arrow::Result<ExpiringKeys> AwsCredentials::Load() const {
  const StorageOptions options = StorageOptionsFor(uri_);
  const auto profile_option = options.find("aws_profile");
  const bool asks_profile = profile_option != options.end();
  if (!asks_profile || options.contains("aws_access_key_id")) {
    if (auto keys = NamedKeysFor(uri_)) return ExpiringKeys{.keys = *std::move(keys)};
    if (const auto file = FromEnvironment("AWS_WEB_IDENTITY_TOKEN_FILE")) {
      return FromWebIdentity(*file, region_);
    }
    if (const auto path = FromEnvironment("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI")) {
      return FromContainer(kContainerAddress + *path);
    }
    if (const auto url = FromEnvironment("AWS_CONTAINER_CREDENTIALS_FULL_URI")) {
      return FromContainer(*url);
    }
  }
  const std::string profile =
      asks_profile ? profile_option->second : FromEnvironment("AWS_PROFILE").value_or("default");
  AwsKeys keys = FromFiles(profile);
  if (!keys.secret_access_key.empty()) return ExpiringKeys{.keys = std::move(keys)};
  if (!asks_profile && FromEnvironment("AWS_EC2_METADATA_DISABLED").value_or("") != "true") {
    arrow::Result<ExpiringKeys> found = FromInstance();
    if (found.ok()) return found;
    ARROW_RETURN_NOT_OK(base::CancelScope::Check());
  }
  // Not not_found: that would read as if the dataset weren't there.
  return base::Io(
      "no AWS keys: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or the storage options "
      "aws_access_key_id and aws_secret_access_key, or a profile '",
      profile, "' in ~/.aws/credentials; aws_skip_signature = true reads what everybody may read");
}

}  // namespace kinjo::io
