#include "io/storage_options.h"

#include <array>
#include <cctype>
#include <charconv>
#include <cstdlib>
#include <fstream>
#include <mutex>
#include <sstream>
#include <utility>

namespace kinjo::io {
namespace {

/// An option, its other spellings, and the variables of the environment that tell it, the first
/// that is set.
struct Known {
  std::string_view name;
  std::array<std::string_view, 4> also;
  std::array<const char*, 3> variables;
};

constexpr std::array<Known, 26> kKnown = {{
    {"aws_access_key_id", {"access_key_id"}, {"AWS_ACCESS_KEY_ID"}},
    {"aws_secret_access_key", {"secret_access_key"}, {"AWS_SECRET_ACCESS_KEY"}},
    {"aws_session_token", {"aws_token", "session_token", "token"}, {"AWS_SESSION_TOKEN"}},
    {"aws_region",
     {"region", "aws_default_region", "default_region"},
     {"AWS_REGION", "AWS_DEFAULT_REGION"}},
    {"aws_endpoint",
     {"endpoint", "endpoint_url", "aws_endpoint_url"},
     {"AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "AWS_ENDPOINT"}},
    {"aws_profile", {"profile"}, {"AWS_PROFILE"}},
    {"aws_virtual_hosted_style_request",
     {"virtual_hosted_style_request"},
     {"AWS_VIRTUAL_HOSTED_STYLE_REQUEST"}},
    {"aws_skip_signature", {"skip_signature"}, {"AWS_SKIP_SIGNATURE"}},
    {"aws_request_payer", {"request_payer"}, {"AWS_REQUEST_PAYER"}},
    {"aws_server_side_encryption", {}, {"AWS_SERVER_SIDE_ENCRYPTION"}},
    {"aws_sse_kms_key_id", {}, {"AWS_SSE_KMS_KEY_ID"}},
    {"allow_http", {"aws_allow_http"}, {"AWS_ALLOW_HTTP", "ALLOW_HTTP"}},
    {"connect_timeout", {}, {}},
    {"request_timeout", {"timeout"}, {}},
    {"client_max_retries", {}, {}},
    {"client_retry_timeout", {}, {}},
    {"connections", {}, {}},
    {"google_service_account",
     {"service_account", "google_service_account_path", "google_application_credentials"},
     {"GOOGLE_SERVICE_ACCOUNT", "GOOGLE_SERVICE_ACCOUNT_PATH"}},
    {"google_service_account_key", {"service_account_key"}, {"GOOGLE_SERVICE_ACCOUNT_KEY"}},
    {"google_endpoint", {}, {"GOOGLE_ENDPOINT"}},
    {"google_skip_signature", {}, {"GOOGLE_SKIP_SIGNATURE"}},
    {"azure_skip_signature", {}, {"AZURE_SKIP_SIGNATURE"}},
    {"azure_storage_account_name",
     {"account_name"},
     {"AZURE_STORAGE_ACCOUNT_NAME", "AZURE_STORAGE_ACCOUNT"}},
    {"azure_storage_account_key",
     {"account_key", "azure_storage_access_key", "access_key"},
     {"AZURE_STORAGE_ACCOUNT_KEY", "AZURE_STORAGE_ACCESS_KEY", "AZURE_STORAGE_KEY"}},
    {"azure_storage_sas_token",
     {"azure_storage_sas_key", "sas_token", "sas_key"},
     {"AZURE_STORAGE_SAS_TOKEN", "AZURE_STORAGE_SAS_KEY"}},
    {"azure_storage_endpoint", {"azure_endpoint"}, {"AZURE_STORAGE_ENDPOINT", "AZURE_ENDPOINT"}},
}};

const Known* FindKnown(std::string_view name) {
  for (const Known& known : kKnown) {
    if (known.name == name) return &known;
    for (const std::string_view also : known.also) {
      if (!also.empty() && also == name) return &known;
    }
  }
  return nullptr;
}

std::string Lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return lower;
}

arrow::Status UnknownOption(const std::string& name) {
  std::string names;
  for (const Known& known : kKnown) names += base::Concat(names.empty() ? "" : ", ", known.name);
  return base::Invalid("storage option '", name, "' is not known; known are ", names);
}

struct Registry {
  std::mutex mutex;
  std::map<std::string, StorageOptions> by_prefix;
};

Registry& TheRegistry() {
  static auto* registry = new Registry();
  return *registry;
}

/// Reads the values of one address; the first that can't be read is told by `status`.
class Reader {
 public:
  explicit Reader(StorageOptions options) : options_(std::move(options)) {}

  const arrow::Status& status() const { return status_; }

  std::optional<std::string> Find(std::string_view name) const {
    const auto given = options_.find(std::string(name));
    if (given != options_.end()) return given->second;
    for (const char* variable : FindKnown(name)->variables) {
      if (variable == nullptr) break;
      if (auto value = FromEnvironment(variable)) return value;
    }
    return std::nullopt;
  }

  void Text(std::string_view name, std::string* value) const {
    if (auto found = Find(name)) *value = *std::move(found);
  }

  void Flag(std::string_view name, bool* value) {
    const std::optional<std::string> found = Find(name);
    if (!found.has_value()) return;
    const std::string word = Lower(*found);
    *value = word == "true" || word == "1" || word == "yes" || word == "on" || word == "requester";
    if (*value || word == "false" || word == "0" || word == "no" || word == "off") return;
    Bad(name, *found, "true or false");
  }

  /// "30", "30s", "500ms", "2m": a number without a unit is of seconds.
  void Time(std::string_view name, int64_t* ms) {
    const std::optional<std::string> found = Find(name);
    if (!found.has_value()) return;
    constexpr int64_t kMost = int64_t{24} * 3600 * 1000;
    double number = 0;
    const auto [end, error] = std::from_chars(found->data(), found->data() + found->size(), number);
    const std::string unit = Lower({end, found->data() + found->size()});
    double scale = 0;
    if (unit == "ms") scale = 1;
    if (unit.empty() || unit == "s") scale = 1000;
    if (unit == "m") scale = 60'000;
    const double value = number * scale;
    if (error != std::errc() || !(value >= 1 && value <= kMost)) {
      return Bad(name, *found, "a time such as 30s or 500ms, at most 24 hours");
    }
    *ms = static_cast<int64_t>(value);
  }

  void Count(std::string_view name, int least, int most, int* count) {
    const std::optional<std::string> found = Find(name);
    if (!found.has_value()) return;
    int value = 0;
    const char* last = found->data() + found->size();
    const auto [end, error] = std::from_chars(found->data(), last, value);
    if (error == std::errc() && end == last && value >= least && value <= most) {
      *count = value;
      return;
    }
    Bad(name, *found, base::Concat("a number from ", least, " to ", most));
  }

  void Bad(std::string_view name, const std::string& value, const std::string& wanted) {
    if (!status_.ok()) return;
    status_ = base::Invalid("storage option ", name, " is '", value, "'; it must be ", wanted);
  }

 private:
  const StorageOptions options_;
  arrow::Status status_;
};

/// An address without a slash at its end; "" where none is told.
std::string ReadEndpoint(Reader* reader, std::string_view name) {
  std::string endpoint;
  reader->Text(name, &endpoint);
  while (endpoint.ends_with('/')) endpoint.pop_back();
  if (endpoint.empty() || endpoint.starts_with("https://")) return endpoint;
  if (!endpoint.starts_with("http://")) {
    reader->Bad(name, endpoint, "an address that begins with https:// or http://");
    return endpoint;
  }
  bool allow_http = false;
  reader->Flag("allow_http", &allow_http);
  if (!allow_http) {
    reader->Bad(
        name, endpoint,
        "https://, unless allow_http = true says that keys and rows may be read on the way");
  }
  return endpoint;
}

arrow::Result<S3Settings> ReadSettings(StorageOptions options) {
  constexpr int kMostRetries = 100;
  constexpr int kMostConnections = 256;
  Reader reader(std::move(options));
  S3Settings settings;
  reader.Text("aws_region", &settings.region);
  settings.endpoint = ReadEndpoint(&reader, "aws_endpoint");
  reader.Flag("aws_virtual_hosted_style_request", &settings.virtual_hosted_style);
  reader.Flag("aws_skip_signature", &settings.skip_signature);
  reader.Flag("aws_request_payer", &settings.request_payer);
  reader.Text("aws_server_side_encryption", &settings.server_side_encryption);
  reader.Text("aws_sse_kms_key_id", &settings.kms_key_id);
  reader.Time("connect_timeout", &settings.limits.connect_timeout_ms);
  reader.Time("request_timeout", &settings.limits.request_timeout_ms);
  reader.Count("connections", 1, kMostConnections, &settings.limits.connections);
  reader.Count("client_max_retries", 0, kMostRetries, &settings.retries.retries_max);
  reader.Time("client_retry_timeout", &settings.retries.timeout_ms);
  ARROW_RETURN_NOT_OK(reader.status());
  return settings;
}

}  // namespace

std::optional<std::string> FromEnvironment(const char* name) {
  const char* value = std::getenv(name);
  if (value == nullptr || *value == '\0') return std::nullopt;
  return value;
}

arrow::Status SetStorageOptions(const std::string& prefix, const StorageOptions& options) {
  StorageOptions named;
  for (const auto& [name, value] : options) {
    const Known* known = FindKnown(Lower(name));
    if (known == nullptr) return UnknownOption(name);
    named[std::string(known->name)] = value;
  }
  Registry& registry = TheRegistry();
  // Judged as an address would see them that is the prefix itself.
  StorageOptions seen = StorageOptionsFor(prefix);
  for (const auto& [name, value] : named) seen[name] = value;
  ARROW_RETURN_NOT_OK(ReadSettings(std::move(seen)).status());
  const std::lock_guard<std::mutex> lock(registry.mutex);
  registry.by_prefix[prefix] = std::move(named);
  return arrow::Status::OK();
}

StorageOptions StorageOptionsFor(std::string_view uri) {
  Registry& registry = TheRegistry();
  const std::lock_guard<std::mutex> lock(registry.mutex);
  StorageOptions options;
  // In rising order a longer prefix of one address comes after a shorter one.
  for (const auto& [prefix, values] : registry.by_prefix) {
    if (!uri.starts_with(prefix)) continue;
    for (const auto& [name, value] : values) options[name] = value;
  }
  return options;
}

arrow::Result<S3Settings> S3SettingsFor(std::string_view uri) {
  return ReadSettings(StorageOptionsFor(uri));
}

arrow::Result<GoogleSettings> GoogleSettingsFor(std::string_view uri) {
  Reader reader(StorageOptionsFor(uri));
  GoogleSettings settings{.retry_timeout_ms = RetryLimits().timeout_ms};
  settings.endpoint = ReadEndpoint(&reader, "google_endpoint");
  reader.Flag("google_skip_signature", &settings.skip_signature);
  reader.Time("client_retry_timeout", &settings.retry_timeout_ms);
  reader.Text("google_service_account_key", &settings.key_json);
  std::string path;
  reader.Text("google_service_account", &path);
  ARROW_RETURN_NOT_OK(reader.status());
  if (settings.key_json.empty() && !path.empty()) {
    std::ifstream file(path);
    std::ostringstream text;
    text << file.rdbuf();
    if (!file) return base::Io("can't read the service account's key ", path);
    settings.key_json = std::move(text).str();
  }
  return settings;
}

arrow::Result<AzureSettings> AzureSettingsFor(std::string_view uri) {
  Reader reader(StorageOptionsFor(uri));
  AzureSettings settings;
  settings.endpoint = ReadEndpoint(&reader, "azure_storage_endpoint");
  reader.Text("azure_storage_account_name", &settings.account);
  reader.Text("azure_storage_account_key", &settings.account_key);
  reader.Text("azure_storage_sas_token", &settings.sas_token);
  reader.Flag("azure_skip_signature", &settings.skip_signature);
  ARROW_RETURN_NOT_OK(reader.status());
  return settings;
}

std::optional<AwsKeys> NamedKeysFor(std::string_view uri) {
  const StorageOptions options = StorageOptionsFor(uri);
  // A pair comes from one place: a given key and an inherited token don't belong together.
  const bool given = options.contains("aws_access_key_id");
  const auto value = [&](const char* option, const char* variable) -> std::string {
    if (!given) return FromEnvironment(variable).value_or("");
    const auto found = options.find(option);
    return found == options.end() ? "" : found->second;
  };
  AwsKeys keys = {.access_key_id = value("aws_access_key_id", "AWS_ACCESS_KEY_ID"),
                  .secret_access_key = value("aws_secret_access_key", "AWS_SECRET_ACCESS_KEY"),
                  .session_token = value("aws_session_token", "AWS_SESSION_TOKEN")};
  if (keys.access_key_id.empty() || keys.secret_access_key.empty()) return std::nullopt;
  return keys;
}

}  // namespace kinjo::io
