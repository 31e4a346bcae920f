#include "io/file_changes.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <random>
#include <system_error>
#include <utility>

#include "arrow/buffer.h"
#include "io/file_info.h"
#include "io/s3_file_system.h"
#include "io/s3_files.h"

namespace kinjo::io {
namespace {

namespace fs = std::filesystem;

// Small appends are gathered; larger ones go out as they come.
constexpr int64_t kBufferBytes = 1 << 20;
constexpr size_t kMostBytesAWrite = 1 << 30;
constexpr int64_t kWriteBackBytes = 16 << 20;

std::string ReasonOf(int error) { return std::generic_category().message(error); }

arrow::Status CantWrite(const std::string& uri, int error) {
  return base::Io("can't write ", uri, ": ", ReasonOf(error));
}

/// The bucket that a location lies in; null elsewhere.
S3FileSystem* BucketOf(const Location& location) {
  return dynamic_cast<S3FileSystem*>(location.file_system.get());
}

class InDoubtDetail final : public arrow::StatusDetail {
 public:
  static constexpr const char* kTypeId = "kinjo::InDoubtDetail";
  const char* type_id() const override { return kTypeId; }
  std::string ToString() const override { return "the outcome isn't known"; }
};

arrow::Result<bool> PutObjectIfAbsent(S3FileSystem* bucket, const Location& location,
                                      std::string_view bytes) {
  ARROW_ASSIGN_OR_RAISE(const PutResult result,
                        bucket->client()->PutIfAbsent(bucket->KeyOf(location.path), bytes));
  if (result != PutResult::kInDoubt) return result == PutResult::kPut;
  return arrow::Status(
      arrow::StatusCode::IOError,
      base::Concat("can't tell whether ", location.uri,
                   " was written: the store didn't answer; look whether it is there before "
                   "writing again"),
      std::make_shared<InDoubtDetail>());
}

/// Writes everything; false leaves the reason in errno.
bool WriteAll(int fd, const char* bytes, size_t size) {
  while (size > 0) {
    const ssize_t written = write(fd, bytes, std::min(size, kMostBytesAWrite));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    bytes += written;
    size -= static_cast<size_t>(written);
  }
  return true;
}

/// So that a new name survives a power cut. Best effort: not all file systems can, and what the
/// name stands for is there either way.
void SyncFolderOf(const std::string& path) {
  const std::string folder = fs::path(path).parent_path();
  const int fd = open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return;
  (void)fsync(fd);
  close(fd);
}

class LocalFile final : public arrow::io::OutputStream {
 public:
  LocalFile(Location location, int fd) : location_(std::move(location)), fd_(fd) {}
  ~LocalFile() override { (void)LocalFile::Abort(); }

  arrow::Status Write(const void* data, int64_t size) override {
    if (fd_ < 0) return base::Io("can't write ", location_.uri, ": it is closed");
    const char* bytes = static_cast<const char*>(data);
    position_ += size;
    if (static_cast<int64_t>(buffer_.size()) + size <= kBufferBytes) {
      buffer_.append(bytes, static_cast<size_t>(size));
      return arrow::Status::OK();
    }
    ARROW_RETURN_NOT_OK(Flush());
    if (size < kBufferBytes) {
      buffer_.assign(bytes, static_cast<size_t>(size));
      return arrow::Status::OK();
    }
    return WriteOut(bytes, static_cast<size_t>(size)) ? arrow::Status::OK() : Failed();
  }
  using OutputStream::Write;

  arrow::Status Flush() override {
    const bool good = WriteOut(buffer_.data(), buffer_.size());
    buffer_.clear();
    return good ? arrow::Status::OK() : Failed();
  }

  arrow::Status Close() override {
    if (fd_ < 0) return arrow::Status::OK();
    arrow::Status status = Flush();
    if (status.ok() && fsync(fd_) != 0) status = Failed();
    if (!status.ok()) {
      (void)Abort();
      return status;
    }
    const int fd = std::exchange(fd_, -1);
    if (close(fd) != 0) {
      status = Failed();
      unlink(location_.path.c_str());
      return status;
    }
    SyncFolderOf(location_.path);
    return arrow::Status::OK();
  }

  arrow::Status Abort() override {
    if (fd_ < 0) return arrow::Status::OK();
    close(std::exchange(fd_, -1));
    unlink(location_.path.c_str());
    return arrow::Status::OK();
  }

  arrow::Result<int64_t> Tell() const override { return position_; }
  bool closed() const override { return fd_ < 0; }

 private:
  arrow::Status Failed() const { return CantWrite(location_.uri, errno); }

  /// The disk begins with what is there while more is made: the sync at the end waits for less.
  bool WriteOut(const char* bytes, size_t size) {
    if (!WriteAll(fd_, bytes, size)) return false;
    written_ += static_cast<int64_t>(size);
    if (written_ - begun_ < kWriteBackBytes) return true;
    (void)sync_file_range(fd_, begun_, written_ - begun_, SYNC_FILE_RANGE_WRITE);
    begun_ = written_;
    return true;
  }

  const Location location_;
  int fd_;
  int64_t written_ = 0;  ///< to the system
  int64_t begun_ = 0;    ///< of those, on their way to the disk
  int64_t position_ = 0;
  std::string buffer_;
};

/// Bytes under a hidden name beside their place, synced. Removed unless moved away.
class HiddenFile {
 public:
  HiddenFile() = default;
  HiddenFile(const HiddenFile&) = delete;
  HiddenFile& operator=(const HiddenFile&) = delete;
  ~HiddenFile() {
    if (fd_ >= 0) close(fd_);
    if (!path_.empty()) unlink(path_.c_str());
  }

  arrow::Status Make(const Location& location, std::string_view bytes) {
    const fs::path place(location.path);
    std::random_device random;
    constexpr int kTries = 16;
    for (int i = 0; i < kTries && fd_ < 0; ++i) {
      path_ = place.parent_path() /
              base::Concat(".tmp_", place.filename().string(), "_", getpid(), "-", random());
      fd_ = open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
      if (fd_ < 0 && errno != EEXIST) break;
    }
    if (fd_ < 0) {
      path_.clear();
      return CantWrite(location.uri, errno);
    }
    if (!WriteAll(fd_, bytes.data(), bytes.size()) || fsync(fd_) != 0) {
      return CantWrite(location.uri, errno);
    }
    return arrow::Status::OK();
  }

  /// Gives the file its name unless the name is taken; false leaves the reason in errno.
  bool LinkTo(const std::string& path) {
    if (link(path_.c_str(), path.c_str()) == 0) return true;
    const int error = errno;
    if (error == EPERM || error == EOPNOTSUPP || error == ENOSYS || error == EMLINK) {
      // A file system without hard links.
      if (renameat2(AT_FDCWD, path_.c_str(), AT_FDCWD, path.c_str(), RENAME_NOREPLACE) != 0) {
        return false;
      }
      path_.clear();
      return true;
    }
    // A network file system may have done it and lost the answer.
    struct stat info{};
    const bool linked = fstat(fd_, &info) == 0 && info.st_nlink > 1;
    errno = error;
    return linked;
  }

  bool RenameTo(const std::string& path) {
    if (rename(path_.c_str(), path.c_str()) != 0) return false;
    path_.clear();
    return true;
  }

 private:
  std::string path_;  ///< empty once there is nothing to remove
  int fd_ = -1;
};

int64_t SecondsOf(arrow::fs::TimePoint time) {
  return std::chrono::duration_cast<std::chrono::seconds>(time.time_since_epoch()).count();
}

}  // namespace

arrow::Status CheckWritable(const Location& location) {
  if (location.file_system->type_name() == "local" || BucketOf(location) != nullptr) {
    return arrow::Status::OK();
  }
  return base::NotSupported("can't write ", location.uri,
                            ": local files and s3:// are written, this one is only read");
}

bool IsInDoubt(const arrow::Status& status) {
  const auto* detail = status.detail().get();
  return dynamic_cast<const InDoubtDetail*>(detail) != nullptr;
}

arrow::Status MakeFolder(const Location& folder) {
  if (BucketOf(folder) != nullptr) return arrow::Status::OK();
  ARROW_RETURN_NOT_OK(CheckWritable(folder));
  std::vector<std::string> missing;
  for (fs::path path = folder.path; !path.empty() && access(path.c_str(), F_OK) != 0;
       path = path.parent_path()) {
    missing.push_back(path);
  }
  for (auto path = missing.rbegin(); path != missing.rend(); ++path) {
    if (mkdir(path->c_str(), 0777) != 0 && errno != EEXIST) {
      return base::Io("can't make the folder ", folder.uri, ": ", ReasonOf(errno));
    }
    SyncFolderOf(*path);
  }
  return arrow::Status::OK();
}

arrow::Result<std::shared_ptr<arrow::io::OutputStream>> CreateFile(const Location& location) {
  if (auto* bucket = BucketOf(location)) return bucket->OpenOutputStream(location.path);
  ARROW_RETURN_NOT_OK(CheckWritable(location));
  const int fd = open(location.path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (fd < 0) return CantWrite(location.uri, errno);
  return std::make_shared<LocalFile>(location, fd);
}

arrow::Result<bool> PutIfAbsent(const Location& location, std::string_view bytes) {
  if (auto* bucket = BucketOf(location)) return PutObjectIfAbsent(bucket, location, bytes);
  ARROW_RETURN_NOT_OK(CheckWritable(location));
  HiddenFile file;
  ARROW_RETURN_NOT_OK(file.Make(location, bytes));
  if (!file.LinkTo(location.path)) {
    if (errno == EEXIST) return false;
    return CantWrite(location.uri, errno);
  }
  SyncFolderOf(location.path);
  return true;
}

arrow::Status ReplaceFile(const Location& location, std::string_view bytes) {
  if (auto* bucket = BucketOf(location)) {
    return bucket->client()->Put(bucket->KeyOf(location.path), bytes);
  }
  ARROW_RETURN_NOT_OK(CheckWritable(location));
  HiddenFile file;
  ARROW_RETURN_NOT_OK(file.Make(location, bytes));
  if (!file.RenameTo(location.path)) return CantWrite(location.uri, errno);
  SyncFolderOf(location.path);
  return arrow::Status::OK();
}

arrow::Status RemoveFile(const Location& location) {
  if (auto* bucket = BucketOf(location)) return bucket->DeleteFile(location.path);
  ARROW_RETURN_NOT_OK(CheckWritable(location));
  if (unlink(location.path.c_str()) == 0 || errno == ENOENT) return arrow::Status::OK();
  return base::Io("can't remove ", location.uri, ": ", ReasonOf(errno));
}

arrow::Status RemoveEmptyFolder(const Location& folder) {
  if (BucketOf(folder) != nullptr) return arrow::Status::OK();
  ARROW_RETURN_NOT_OK(CheckWritable(folder));
  if (rmdir(folder.path.c_str()) == 0 || errno == ENOENT || errno == ENOTEMPTY || errno == EEXIST) {
    return arrow::Status::OK();
  }
  return base::Io("can't remove the folder ", folder.uri, ": ", ReasonOf(errno));
}

arrow::Result<std::vector<FoundFile>> ListFiles(const Location& folder) {
  ARROW_ASSIGN_OR_RAISE(const arrow::fs::FileInfoVector listed, ListFolder(folder, /*depth=*/-1));
  std::vector<FoundFile> files;
  for (const arrow::fs::FileInfo& info : listed) {
    if (info.type() != arrow::fs::FileType::File) continue;
    files.push_back({.name = info.path().substr(folder.path.size() + 1),
                     .size_bytes = static_cast<uint64_t>(std::max<int64_t>(info.size(), 0)),
                     .modified_s = SecondsOf(info.mtime())});
  }
  std::sort(files.begin(), files.end(),
            [](const FoundFile& a, const FoundFile& b) { return a.name < b.name; });
  return files;
}

}  // namespace kinjo::io
