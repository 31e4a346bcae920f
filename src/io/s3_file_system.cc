#include "io/s3_file_system.h"

#include <algorithm>
#include <mutex>
#include <set>
#include <utility>
#include <vector>

#include "io/s3_files.h"

namespace kinjo::io {
namespace {

using arrow::fs::FileInfo;
using arrow::fs::FileType;

constexpr std::string_view kScheme = "s3://";

FileInfo InfoOf(const std::string& bucket, const S3Object& object) {
  FileInfo info(bucket + "/" + object.key, FileType::File);
  info.set_size(static_cast<int64_t>(object.size_bytes));
  info.set_mtime(arrow::fs::TimePoint(std::chrono::seconds(object.modified_s)));
  return info;
}

arrow::Status NoSuchFile(const std::string& path) {
  const std::string uri = std::string(kScheme) + path;
  return base::MakeError(base::ErrorCode::kNotFound,
                         base::Concat("can't open ", uri, ": no such object"), uri);
}

arrow::Status NotHere(const char* what) {
  return base::NotSupported("an object store can't ", what);
}

/// The folders above the objects, each once, as far as they lie below `prefix`.
std::set<std::string> FoldersAbove(const std::vector<S3Object>& objects, size_t prefix_bytes) {
  std::set<std::string> folders;
  for (const S3Object& object : objects) {
    size_t slash = object.key.find('/', prefix_bytes);
    for (; slash != std::string::npos; slash = object.key.find('/', slash + 1)) {
      folders.insert(object.key.substr(0, slash));
    }
  }
  return folders;
}

int DepthOf(const std::string& key, size_t prefix_bytes) {
  int depth = 0;
  for (size_t i = prefix_bytes; i < key.size(); ++i) depth += key[i] == '/' ? 1 : 0;
  return depth;
}

/// The file systems of this process.
class Known {
 public:
  arrow::Result<std::shared_ptr<S3FileSystem>> Find(const std::string& bucket,
                                                    const std::string& uri) {
    ARROW_ASSIGN_OR_RAISE(S3Settings settings, S3SettingsFor(uri));
    StorageOptions options = StorageOptionsFor(uri);
    const std::lock_guard<std::mutex> lock(mutex_);
    for (const Entry& entry : entries_) {
      if (entry.bucket == bucket && entry.settings == settings && entry.options == options) {
        return entry.file_system;
      }
    }
    ARROW_ASSIGN_OR_RAISE(auto client, S3Client::Make(bucket, uri, settings));
    auto made = std::make_shared<S3FileSystem>(std::move(client));
    entries_.push_back({bucket, std::move(settings), std::move(options), made});
    return made;
  }

 private:
  struct Entry {
    std::string bucket;
    S3Settings settings;
    StorageOptions options;
    std::shared_ptr<S3FileSystem> file_system;
  };

  std::mutex mutex_;
  std::vector<Entry> entries_;
};

}  // namespace

arrow::Result<std::shared_ptr<S3FileSystem>> S3FileSystem::ForUri(const std::string& uri) {
  // Never destroyed: at the exit of a process nothing below may be there any more.
  static auto* known = new Known();
  const std::string rest = uri.substr(std::min(uri.size(), kScheme.size()));
  const std::string bucket = rest.substr(0, rest.find('/'));
  if (bucket.empty()) return base::Invalid("can't understand the address ", uri, ": no bucket");
  return known->Find(bucket, uri);
}

std::string S3FileSystem::KeyOf(const std::string& path) const {
  const size_t begin = client_->bucket().size() + 1;
  return begin < path.size() ? path.substr(begin) : "";
}

arrow::Result<std::shared_ptr<RandomReader>> S3FileSystem::OpenReader(
    const std::string& path, uint64_t known_size, std::shared_ptr<IoCounters> counters) {
  S3Object object{.key = KeyOf(path), .size_bytes = known_size};
  if (known_size == 0) {
    ARROW_ASSIGN_OR_RAISE(std::optional<S3Object> found, client_->Head(object.key));
    if (counters != nullptr) counters->requests.fetch_add(1, std::memory_order_relaxed);
    if (!found.has_value()) return NoSuchFile(path);
    object = *std::move(found);
  }
  return MakeS3Reader(client_, std::move(object), std::move(counters));
}

arrow::Result<FileInfo> S3FileSystem::GetFileInfo(const std::string& path) {
  const std::string key = KeyOf(path);
  if (!key.empty()) {
    ARROW_ASSIGN_OR_RAISE(const std::optional<S3Object> object, client_->Head(key));
    if (object.has_value()) return InfoOf(client_->bucket(), *object);
  }
  ARROW_ASSIGN_OR_RAISE(const S3Listing below,
                        client_->List(key.empty() ? "" : key + "/", /*by_folder=*/false, 1));
  const bool is_folder = key.empty() || !below.objects.empty();
  return FileInfo(path, is_folder ? FileType::Directory : FileType::NotFound);
}

arrow::Result<arrow::fs::FileInfoVector> S3FileSystem::GetFileInfo(
    const arrow::fs::FileSelector& selector) {
  const std::string& bucket = client_->bucket();
  std::string prefix = KeyOf(selector.base_dir);
  if (!prefix.empty()) prefix += '/';
  ARROW_ASSIGN_OR_RAISE(const S3Listing listing,
                        client_->List(prefix, /*by_folder=*/!selector.recursive));
  arrow::fs::FileInfoVector infos;
  for (const S3Object& object : listing.objects) {
    // Some tools mark a folder by an empty object of its name.
    if (object.key.ends_with('/')) continue;
    if (selector.recursive && DepthOf(object.key, prefix.size()) > selector.max_recursion) continue;
    infos.push_back(InfoOf(bucket, object));
  }
  std::set<std::string> folders = FoldersAbove(listing.objects, prefix.size());
  for (std::string folder : listing.folders) {
    if (folder.ends_with('/')) folder.pop_back();
    folders.insert(std::move(folder));
  }
  std::string path;
  for (const std::string& folder : folders) {
    if (selector.recursive && DepthOf(folder, prefix.size()) > selector.max_recursion) continue;
    path.assign(bucket).append("/").append(folder);
    infos.emplace_back(path, FileType::Directory);
  }
  const bool is_missing = listing.objects.empty() && folders.empty() && !prefix.empty();
  if (is_missing && !selector.allow_not_found) {
    return base::NotFound("can't list ", kScheme, selector.base_dir, ": nothing is there");
  }
  return infos;
}

arrow::Result<std::shared_ptr<arrow::io::InputStream>> S3FileSystem::OpenInputStream(
    const std::string& path) {
  return OpenInputFile(path);
}

arrow::Result<std::shared_ptr<arrow::io::RandomAccessFile>> S3FileSystem::OpenInputFile(
    const std::string& path) {
  ARROW_ASSIGN_OR_RAISE(auto reader, OpenReader(path, 0, nullptr));
  return MakeS3Input(std::move(reader));
}

arrow::Result<std::shared_ptr<arrow::io::OutputStream>> S3FileSystem::OpenOutputStream(
    const std::string& path, const std::shared_ptr<const arrow::KeyValueMetadata>& /*metadata*/) {
  return MakeS3Output(client_, KeyOf(path));
}

arrow::Status S3FileSystem::CreateDir(const std::string& /*path*/, bool /*recursive*/) {
  return arrow::Status::OK();
}

arrow::Status S3FileSystem::DeleteFile(const std::string& path) {
  return client_->Delete(KeyOf(path));
}

arrow::Status S3FileSystem::DeleteDir(const std::string& /*path*/) {
  return NotHere("remove folders");
}
arrow::Status S3FileSystem::DeleteDirContents(const std::string& /*path*/,
                                              bool /*missing_dir_ok*/) {
  return NotHere("remove folders");
}
arrow::Status S3FileSystem::DeleteRootDirContents() { return NotHere("remove folders"); }
arrow::Status S3FileSystem::Move(const std::string& /*from*/, const std::string& /*to*/) {
  return NotHere("move objects");
}
arrow::Status S3FileSystem::CopyFile(const std::string& /*from*/, const std::string& /*to*/) {
  return NotHere("copy objects");
}
arrow::Result<std::shared_ptr<arrow::io::OutputStream>> S3FileSystem::OpenAppendStream(
    const std::string& /*path*/,
    const std::shared_ptr<const arrow::KeyValueMetadata>& /*metadata*/) {
  return NotHere("append to objects");
}

}  // namespace kinjo::io
