#include "tabular/output_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <random>
#include <utility>

#include "arrow/io/buffered.h"
#include "arrow/io/file.h"
#include "arrow/util/io_util.h"
#include "io/file_changes.h"
#include "io/file_info.h"

namespace kinjo::tabular {

namespace {

namespace fs = std::filesystem;

constexpr int64_t kBufferBytes = 1 << 18;

constexpr std::string_view kTemporaryBegin = ".kinjo-";
constexpr std::string_view kTemporaryEnd = ".part";

arrow::Status CantWrite(const std::string& path, int error) {
  return base::Io("can't write ", path, ": ", std::strerror(error));
}

arrow::Result<std::shared_ptr<arrow::io::OutputStream>> Buffered(int fd) {
  ARROW_ASSIGN_OR_RAISE(std::shared_ptr<arrow::io::OutputStream> raw,
                        arrow::io::FileOutputStream::Open(fd));
  return arrow::io::BufferedOutputStream::Create(kBufferBytes, arrow::default_memory_pool(),
                                                 std::move(raw));
}

// Standard output, a pipe, a device: bytes go out as they come and can't be taken back.
class DirectFile final : public OutputFile {
 public:
  static arrow::Result<std::unique_ptr<OutputFile>> Open(std::string name, int fd) {
    if (fd < 0) return CantWrite(name, errno);
    std::unique_ptr<DirectFile> file(new DirectFile(std::move(name)));
    ARROW_ASSIGN_OR_RAISE(file->stream_, Buffered(fd));
    return file;
  }

  ~DirectFile() override { Discard(); }

  arrow::io::OutputStream* stream() override { return stream_.get(); }
  arrow::Status Commit() override { return Explain(stream_->Close()); }
  void Discard() override {
    if (!stream_->closed()) (void)stream_->Abort();
  }

 private:
  using OutputFile::OutputFile;
  std::shared_ptr<arrow::io::OutputStream> stream_;
};

// A file of the local file system.
class RenamedFile final : public OutputFile {
 public:
  static arrow::Result<std::unique_ptr<OutputFile>> Open(std::string name, const fs::path& target,
                                                         mode_t mode, bool overwrite) {
    std::unique_ptr<RenamedFile> file(new RenamedFile(std::move(name)));
    file->target_ = target;
    file->overwrite_ = overwrite;
    std::random_device random;
    constexpr int kTries = 16;
    for (int i = 0; i < kTries && file->fd_ < 0; ++i) {
      file->temporary_ = target.parent_path() /
                         base::Concat(kTemporaryBegin, getpid(), "-", random(), kTemporaryEnd);
      file->fd_ = open(file->temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
      if (file->fd_ < 0 && errno != EEXIST) break;
    }
    if (file->fd_ < 0) return CantWrite(file->path(), errno);
    // The buffer's stream owns and closes its descriptor; this one stays for the sync.
    const int copy = fcntl(file->fd_, F_DUPFD_CLOEXEC, 0);
    if (copy < 0) return CantWrite(file->path(), errno);
    ARROW_ASSIGN_OR_RAISE(file->stream_, Buffered(copy));
    return file;
  }

  ~RenamedFile() override { Discard(); }

  arrow::io::OutputStream* stream() override { return stream_.get(); }

  arrow::Status Commit() override {
    arrow::Status status = Explain(stream_->Close());
    if (status.ok() && fsync(fd_) != 0) status = CantWrite(path(), errno);
    if (status.ok() && !PutInPlace()) status = CantWrite(path(), errno);
    if (status.ok()) {
      temporary_.clear();
      SyncFolder();
    }
    Discard();
    return status;
  }

  void Discard() override {
    if (stream_ != nullptr && !stream_->closed()) (void)stream_->Abort();
    if (fd_ >= 0) close(fd_);
    fd_ = -1;
    if (!temporary_.empty()) unlink(temporary_.c_str());
    temporary_.clear();
  }

 private:
  using OutputFile::OutputFile;

  // link() refuses to replace a file that appeared since Open; rename() replaces it.
  bool PutInPlace() {
    if (overwrite_) return rename(temporary_.c_str(), target_.c_str()) == 0;
    if (link(temporary_.c_str(), target_.c_str()) != 0) return false;
    unlink(temporary_.c_str());
    return true;
  }

  // So that the new name survives a power cut. Best effort: not all file systems can.
  void SyncFolder() {
    const int folder = open(target_.parent_path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0) return;
    (void)fsync(folder);
    close(folder);
  }

  fs::path target_;
  fs::path temporary_;  // empty once it is gone
  bool overwrite_ = true;
  int fd_ = -1;
  std::shared_ptr<arrow::io::OutputStream> stream_;
};

// An object: nobody sees it before its upload is completed.
class ObjectFile final : public OutputFile {
 public:
  static arrow::Result<std::unique_ptr<OutputFile>> Open(const io::Location& location,
                                                         bool overwrite) {
    ARROW_ASSIGN_OR_RAISE(const arrow::fs::FileInfo info, io::LookAt(location));
    if (info.type() == arrow::fs::FileType::Directory) {
      return base::Invalid("can't write ", location.uri, ": it is a folder; name a file");
    }
    if (!overwrite && info.type() != arrow::fs::FileType::NotFound) {
      return base::Invalid("can't write ", location.uri, ": it exists and overwrite is off");
    }
    std::unique_ptr<ObjectFile> file(new ObjectFile(location.uri));
    auto stream = location.file_system->OpenOutputStream(location.path);
    if (!stream.ok()) return file->Explain(stream.status());
    file->stream_ = std::move(*stream);
    return file;
  }

  ~ObjectFile() override { Discard(); }

  arrow::io::OutputStream* stream() override { return stream_.get(); }
  arrow::Status Commit() override { return Explain(stream_->Close()); }
  void Discard() override {
    if (stream_ != nullptr && !stream_->closed()) (void)stream_->Abort();
  }

 private:
  using OutputFile::OutputFile;
  std::shared_ptr<arrow::io::OutputStream> stream_;
};

// The mode that a file at `target` shall have: that of the one it replaces, else what the umask
// leaves of 0666 (open() applies it).
constexpr mode_t kDefaultMode = 0666;

// A place of the local file system that may be written, as far as looking tells.
struct LocalPlace {
  fs::path target;  ///< where a symbolic link points
  mode_t mode = kDefaultMode;
  bool is_direct = false;  ///< a pipe or a device
};

arrow::Result<LocalPlace> LookAtLocal(const std::string& name, fs::path target, bool overwrite) {
  std::error_code error;
  if (fs::is_symlink(target, error)) {
    const fs::path resolved = fs::weakly_canonical(target, error);
    if (!error) target = resolved;
  }
  LocalPlace place;
  struct stat info{};
  if (stat(target.c_str(), &info) == 0) {
    if (S_ISDIR(info.st_mode)) {
      return base::Invalid("can't write ", name, ": it is a folder; name a file in it, such as ",
                           (fs::path(name) / "rows.parquet").string());
    }
    place.is_direct = !S_ISREG(info.st_mode);
    if (!place.is_direct && !overwrite) {
      return base::Invalid("can't write ", name, ": it exists and overwrite is off");
    }
    place.mode = info.st_mode & kDefaultMode;
  }
  place.target = std::move(target);
  if (place.is_direct) return place;
  const fs::path folder = place.target.parent_path();
  if (stat(folder.c_str(), &info) != 0) {
    if (errno != ENOENT) return CantWrite(name, errno);
    return base::Io("can't write ", name, ": there is no folder ", folder.string(),
                    "; make it first");
  }
  if (!S_ISDIR(info.st_mode)) {
    return base::Io("can't write ", name, ": ", folder.string(), " is not a folder");
  }
  if (access(folder.c_str(), W_OK | X_OK) != 0) {
    const std::string reason = std::strerror(errno);
    return base::Io("can't write ", name, ": no file may be made in ", folder.string(), ": ",
                    reason);
  }
  return place;
}

arrow::Result<io::Location> ResolveFile(const std::string& path) {
  if (path.ends_with('/')) {
    return base::Invalid("can't write ", path, ": it names a folder; name a file in it, such as ",
                         path, "rows.parquet");
  }
  return io::ResolveUri(path);
}

}  // namespace

arrow::Status OutputFile::CheckPlace(const std::string& path, bool overwrite) {
  if (path == "-") return arrow::Status::OK();
  ARROW_ASSIGN_OR_RAISE(const io::Location location, ResolveFile(path));
  if (location.file_system->type_name() != "local") return io::CheckWritable(location);
  return LookAtLocal(path, location.path, overwrite).status();
}

arrow::Result<std::unique_ptr<OutputFile>> OutputFile::Open(const std::string& path,
                                                            bool overwrite) {
  if (path == "-") {
    return DirectFile::Open("standard output", fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0));
  }
  ARROW_ASSIGN_OR_RAISE(const io::Location location, ResolveFile(path));
  if (location.file_system->type_name() != "local") {
    ARROW_RETURN_NOT_OK(io::CheckWritable(location));
    return ObjectFile::Open(location, overwrite);
  }
  ARROW_ASSIGN_OR_RAISE(const LocalPlace place, LookAtLocal(path, location.path, overwrite));
  if (place.is_direct) {
    return DirectFile::Open(path, open(place.target.c_str(), O_WRONLY | O_CLOEXEC));
  }
  return RenamedFile::Open(path, place.target, place.mode, overwrite);
}

bool IsTemporaryName(std::string_view name) {
  return name.starts_with(kTemporaryBegin) && name.ends_with(kTemporaryEnd);
}

arrow::Status OutputFile::Explain(const arrow::Status& status) const {
  if (status.ok()) return status;
  const int error = arrow::internal::ErrnoFromStatus(status);
  if (error != 0) return CantWrite(path_, error);
  if (dynamic_cast<const base::ErrorDetail*>(status.detail().get()) != nullptr) return status;
  const base::ErrorCode code = base::CodeOf(status);
  return base::MakeError(code, base::Concat("can't write ", path_, ": ", base::MessageOf(status)));
}

}  // namespace kinjo::tabular
