#include "io/cloud_stores.h"

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <tuple>
#include <utility>

#include "arrow/util/config.h"
#ifdef ARROW_AZURE
#include "arrow/filesystem/azurefs.h"
#endif
#ifdef ARROW_GCS
#include "arrow/filesystem/gcsfs.h"
#endif
#include "io/storage_options.h"

namespace kinjo::io {
namespace {

using FileSystem = std::shared_ptr<arrow::fs::FileSystem>;

arrow::Status CantOpen(const std::string& uri, const arrow::Status& status) {
  return base::Io("can't open ", uri, ": ", base::MessageOf(status));
}

/// One file system for all addresses of equal settings: each has connections and tokens of its own.
class KnownStores {
 public:
  arrow::Result<FileSystem> Find(const std::string& settings,
                                 const std::function<arrow::Result<FileSystem>()>& make) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = by_settings_.find(settings);
    if (found != by_settings_.end()) return found->second;
    ARROW_ASSIGN_OR_RAISE(FileSystem made, make());
    by_settings_.emplace(settings, made);
    return made;
  }

  /// Never destroyed: at the exit of a process nothing below may be there any more.
  static KnownStores& Process() {
    static auto* known = new KnownStores();
    return *known;
  }

 private:
  std::mutex mutex_;
  std::map<std::string, FileSystem> by_settings_;
};

/// "https://host:port" as its two parts.
std::pair<std::string, std::string> SplitEndpoint(const std::string& endpoint) {
  const size_t end = endpoint.find("://");
  return {endpoint.substr(0, end), endpoint.substr(end + 3)};
}

[[maybe_unused]] arrow::Status NotBuilt(const std::string& uri, const char* store) {
  return base::NotSupported("can't open ", uri, ": this build's Arrow doesn't read ", store,
                            "; copy it to a local disk or to s3://");
}

arrow::Result<FileSystem> OpenGoogle(const std::string& uri) {
#ifdef ARROW_GCS
  ARROW_ASSIGN_OR_RAISE(const GoogleSettings settings, GoogleSettingsFor(uri));
  arrow::fs::GcsOptions options = arrow::fs::GcsOptions::Anonymous();
  if (!settings.skip_signature) {
    options = settings.key_json.empty()
                  ? arrow::fs::GcsOptions::Defaults()
                  : arrow::fs::GcsOptions::FromServiceAccountCredentials(settings.key_json);
  }
  options.retry_limit_seconds = static_cast<double>(settings.retry_timeout_ms) / 1000;
  if (!settings.endpoint.empty()) {
    std::tie(options.scheme, options.endpoint_override) = SplitEndpoint(settings.endpoint);
  }
  const std::string key =
      base::Concat("gs ", settings.endpoint, " ", settings.skip_signature, " ",
                   settings.retry_timeout_ms, " ", std::hash<std::string>()(settings.key_json));
  return KnownStores::Process().Find(
      key, [&]() -> arrow::Result<FileSystem> { return arrow::fs::GcsFileSystem::Make(options); });
#else
  return NotBuilt(uri, "Google's storage");
#endif
}

#ifdef ARROW_AZURE
arrow::Result<FileSystem> MakeAzure(const AzureSettings& settings) {
  arrow::fs::AzureOptions options;
  options.account_name = settings.account;
  if (!settings.endpoint.empty()) {
    const auto [scheme, authority] = SplitEndpoint(settings.endpoint);
    options.blob_storage_scheme = options.dfs_storage_scheme = scheme;
    options.blob_storage_authority = options.dfs_storage_authority = authority;
  }
  if (settings.skip_signature) {
    ARROW_RETURN_NOT_OK(options.ConfigureAnonymousCredential());
  } else if (!settings.account_key.empty()) {
    ARROW_RETURN_NOT_OK(options.ConfigureAccountKeyCredential(settings.account_key));
  } else if (!settings.sas_token.empty()) {
    ARROW_RETURN_NOT_OK(options.ConfigureSASCredential(settings.sas_token));
  } else {
    ARROW_RETURN_NOT_OK(options.ConfigureDefaultCredential());
  }
  return arrow::fs::AzureFileSystem::Make(options);
}
#endif

/// `account` is that of the address; "" = the options' own.
arrow::Result<FileSystem> OpenAzure(const std::string& uri, const std::string& account) {
#ifdef ARROW_AZURE
  ARROW_ASSIGN_OR_RAISE(AzureSettings settings, AzureSettingsFor(uri));
  if (!account.empty()) settings.account = account;
  if (settings.account.empty()) {
    return base::Invalid("can't open ", uri,
                         ": no storage account is named; set AZURE_STORAGE_ACCOUNT_NAME or the "
                         "storage option azure_storage_account_name");
  }
  const std::string secret = settings.account_key + "\n" + settings.sas_token;
  const std::string key =
      base::Concat("az ", settings.endpoint, " ", settings.account, " ", settings.skip_signature,
                   " ", std::hash<std::string>()(secret));
  return KnownStores::Process().Find(key, [&] { return MakeAzure(settings); });
#else
  return NotBuilt(uri, "Azure's storage");
#endif
}

}  // namespace

bool IsCloudScheme(std::string_view scheme) {
  return scheme == "gs" || scheme == "az" || scheme == "abfs" || scheme == "abfss";
}

arrow::Result<Location> ResolveCloudUri(const std::string& uri) {
  const size_t colon = uri.find("://");
  const std::string rest = uri.substr(colon + 3);
  const size_t slash = std::min(rest.find('/'), rest.size());
  std::string bucket = rest.substr(0, slash);
  std::string account;
  if (const size_t at = bucket.find('@'); at != std::string::npos) {
    account = bucket.substr(at + 1, bucket.find('.', at) - at - 1);
    bucket.resize(at);
  }
  if (bucket.empty()) return base::Invalid("can't understand the address ", uri, ": no bucket");
  auto file_system = uri.compare(0, colon, "gs") == 0 ? OpenGoogle(uri) : OpenAzure(uri, account);
  if (!file_system.ok()) {
    const bool ours =
        dynamic_cast<const base::ErrorDetail*>(file_system.status().detail().get()) != nullptr;
    return ours ? file_system.status() : CantOpen(uri, file_system.status());
  }
  return Location{*std::move(file_system), bucket + rest.substr(slash), uri};
}

}  // namespace kinjo::io
