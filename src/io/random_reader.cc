// Readers over a local file (pread), over any of Arrow's file systems, and over memory.
#include "io/random_reader.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cctype>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "arrow/filesystem/localfs.h"
#include "arrow/io/interfaces.h"
#include "arrow/util/future.h"
#include "io/cloud_stores.h"
#include "io/coalescing_reader.h"
#include "io/descriptor_cache.h"
#include "io/file_guard.h"
#include "io/file_info.h"
#include "io/s3_file_system.h"

namespace kinjo::io {
namespace {

constexpr uint64_t kLocalGapBytes = 8 * 1024;
constexpr uint64_t kRemoteGapBytes = 1024 * 1024;

std::string ErrnoText(int error) { return std::generic_category().message(error); }

/// Opens a regular file for reading and tells its size.
arrow::Result<std::shared_ptr<Descriptor>> OpenDescriptor(const Location& location,
                                                          uint64_t* size) {
  const int number = ::open(location.path.c_str(), O_RDONLY | O_CLOEXEC);
  if (number < 0) {
    const int error = errno;
    const bool missing = error == ENOENT || error == ENOTDIR;
    return base::MakeError(missing ? base::ErrorCode::kNotFound : base::ErrorCode::kIo,
                           base::Concat("can't open ", location.uri, ": ", ErrnoText(error)),
                           location.uri);
  }
  auto descriptor = std::make_shared<Descriptor>(number);
  struct stat info = {};
  if (::fstat(number, &info) != 0) {
    return base::MakeError(base::ErrorCode::kIo,
                           base::Concat("can't look at ", location.uri, ": ", ErrnoText(errno)),
                           location.uri);
  }
  if (!S_ISREG(info.st_mode)) {
    return base::MakeError(base::ErrorCode::kIo,
                           base::Concat("can't open ", location.uri, ": not a regular file"),
                           location.uri);
  }
  *size = static_cast<uint64_t>(info.st_size);
  return descriptor;
}

/// pread on one descriptor, which any number of threads may share. While many files are open it may
/// be closed between reads.
class LocalReader final : public CoalescingReader {
 public:
  LocalReader(Location location, std::shared_ptr<Descriptor> descriptor, uint64_t size,
              std::shared_ptr<IoCounters> counters)
      : CoalescingReader(location.uri, size, kLocalGapBytes, std::move(counters)),
        location_(std::move(location)) {
    DescriptorCache::Process().Put(this, std::move(descriptor));
  }
  ~LocalReader() override { DescriptorCache::Process().Remove(this); }

 protected:
  arrow::Result<Buffers> Fetch(const std::vector<CoalescedRequest>& requests) override {
    ARROW_ASSIGN_OR_RAISE(const std::shared_ptr<Descriptor> descriptor, Open());
    Buffers buffers;
    buffers.reserve(requests.size());
    for (const CoalescedRequest& request : requests) {
      ARROW_ASSIGN_OR_RAISE(std::shared_ptr<arrow::Buffer> buffer, AllocateFor(request));
      ARROW_RETURN_NOT_OK(Fill(descriptor->number(), request.range, buffer->mutable_data()));
      buffers.push_back(std::move(buffer));
    }
    return buffers;
  }

 private:
  arrow::Result<std::shared_ptr<Descriptor>> Open() const {
    std::shared_ptr<Descriptor> descriptor = DescriptorCache::Process().Find(this);
    if (descriptor != nullptr) return descriptor;
    uint64_t now = 0;
    ARROW_ASSIGN_OR_RAISE(descriptor, OpenDescriptor(location_, &now));
    if (now != size()) {
      return base::Corrupt(path(), 0, "the file has ", now, " bytes; it had ", size(),
                           " bytes when it was first opened");
    }
    DescriptorCache::Process().Put(this, descriptor);
    return descriptor;
  }

  arrow::Status Fill(int descriptor, const ByteRange& range, uint8_t* out) const {
    uint64_t done = 0;
    while (done < range.length) {
      const ssize_t got = ::pread(descriptor, out + done, range.length - done,
                                  static_cast<off_t>(range.offset + done));
      if (got > 0) {
        done += static_cast<uint64_t>(got);
      } else if (got == 0) {
        return ShortRead(range);
      } else if (errno != EINTR) {
        return base::MakeError(
            base::ErrorCode::kIo,
            base::Concat("can't read ", range.length, " bytes of ", path(), ": ", ErrnoText(errno)),
            path(), range.offset);
      }
    }
    return arrow::Status::OK();
  }

  const Location location_;
};

/// Any of Arrow's file systems. The requests of one call are in flight together.
class ArrowReader final : public CoalescingReader {
 public:
  ArrowReader(std::shared_ptr<arrow::io::RandomAccessFile> file, std::string path, uint64_t size,
              std::shared_ptr<IoCounters> counters)
      : CoalescingReader(std::move(path), size, kRemoteGapBytes, std::move(counters)),
        file_(std::move(file)) {}

 protected:
  arrow::Result<Buffers> Fetch(const std::vector<CoalescedRequest>& requests) override {
    std::vector<arrow::Future<std::shared_ptr<arrow::Buffer>>> pending;
    pending.reserve(requests.size());
    for (const CoalescedRequest& request : requests) {
      pending.push_back(file_->ReadAsync(file_->io_context(),
                                         static_cast<int64_t>(request.range.offset),
                                         static_cast<int64_t>(request.range.length)));
    }
    Buffers buffers;
    buffers.reserve(requests.size());
    arrow::Status status;
    for (size_t i = 0; i < pending.size(); ++i) {
      // Every future is waited for, also after an error: the file must outlive its reads.
      arrow::Result<std::shared_ptr<arrow::Buffer>> buffer = pending[i].MoveResult();
      if (!status.ok()) continue;
      if (!buffer.ok()) {
        status =
            base::MakeError(base::ErrorCode::kIo,
                            base::Concat("can't read ", path(), ": ", buffer.status().message()),
                            path(), requests[i].range.offset);
      } else if (static_cast<uint64_t>((*buffer)->size()) != requests[i].range.length) {
        status = ShortRead(requests[i].range);
      } else {
        buffers.push_back(std::move(*buffer));
      }
    }
    ARROW_RETURN_NOT_OK(status);
    return buffers;
  }

 private:
  const std::shared_ptr<arrow::io::RandomAccessFile> file_;
};

class MemoryReader final : public CoalescingReader {
 public:
  MemoryReader(std::shared_ptr<arrow::Buffer> buffer, std::string path,
               std::shared_ptr<IoCounters> counters)
      : CoalescingReader(std::move(path), static_cast<uint64_t>(buffer->size()), kLocalGapBytes,
                         std::move(counters)),
        buffer_(std::move(buffer)) {}

 protected:
  arrow::Result<Buffers> Fetch(const std::vector<CoalescedRequest>& requests) override {
    Buffers buffers;
    buffers.reserve(requests.size());
    for (const CoalescedRequest& request : requests) {
      buffers.push_back(arrow::SliceBuffer(buffer_, static_cast<int64_t>(request.range.offset),
                                           static_cast<int64_t>(request.range.length)));
    }
    return buffers;
  }

 private:
  const std::shared_ptr<arrow::Buffer> buffer_;
};

arrow::Result<std::shared_ptr<RandomReader>> OpenLocal(const Location& location,
                                                       uint64_t known_size,
                                                       std::shared_ptr<IoCounters> counters) {
  uint64_t size = 0;
  ARROW_ASSIGN_OR_RAISE(std::shared_ptr<Descriptor> descriptor, OpenDescriptor(location, &size));
  auto reader =
      std::make_shared<LocalReader>(location, std::move(descriptor), size, std::move(counters));
  if (known_size != 0 && known_size != reader->size()) {
    return base::Corrupt(location.uri, 0, "the file has ", reader->size(), " bytes, expected ",
                         known_size);
  }
  return reader;
}

arrow::Result<std::shared_ptr<RandomReader>> OpenUnguarded(const Location& location,
                                                           uint64_t known_size,
                                                           std::shared_ptr<IoCounters> counters) {
  if (location.file_system->type_name() == "local") {
    return OpenLocal(location, known_size, std::move(counters));
  }
  if (auto* s3 = dynamic_cast<S3FileSystem*>(location.file_system.get())) {
    return s3->OpenReader(location.path, known_size, std::move(counters));
  }
  arrow::fs::FileInfo info(location.path, arrow::fs::FileType::File);
  if (known_size != 0) {
    info.set_size(static_cast<int64_t>(known_size));
  } else {
    ARROW_ASSIGN_OR_RAISE(info, LookAt(location));
    if (info.type() == arrow::fs::FileType::NotFound) {
      return base::MakeError(base::ErrorCode::kNotFound,
                             base::Concat("can't open ", location.uri, ": no such file"),
                             location.uri);
    }
    if (info.type() != arrow::fs::FileType::File || info.size() < 0) {
      return base::Io("can't open ", location.uri, ": not a file");
    }
  }
  arrow::Result<std::shared_ptr<arrow::io::RandomAccessFile>> file =
      location.file_system->OpenInputFile(info);
  if (!file.ok()) return base::Io("can't open ", location.uri, ": ", file.status().message());
  return std::make_shared<ArrowReader>(std::move(*file), location.uri,
                                       static_cast<uint64_t>(info.size()), std::move(counters));
}

bool HasScheme(const std::string& uri) {
  const size_t colon = uri.find(':');
  if (colon == std::string::npos || colon < 2) return false;
  for (size_t i = 0; i < colon; ++i) {
    const auto c = static_cast<unsigned char>(uri[i]);
    if (!std::isalnum(c) && c != '+' && c != '-' && c != '.') return false;
  }
  return uri.compare(colon, 3, "://") == 0 || uri.compare(0, 6, "file:/") == 0;
}

std::string WithoutTrailingSlash(std::string path) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  return path;
}

}  // namespace

arrow::Result<std::shared_ptr<arrow::Buffer>> RandomReader::Read(ByteRange range) {
  ARROW_ASSIGN_OR_RAISE(Buffers buffers, ReadRanges(std::span<const ByteRange>(&range, 1)));
  return std::move(buffers.front());
}

arrow::Result<Location> ResolveUri(const std::string& uri) {
  if (uri.empty()) return base::Invalid("the path is empty");
  if (uri.find('\0') != std::string::npos) return base::Invalid("the path holds a zero byte");
  Location location;
  location.uri = WithoutTrailingSlash(uri);
  if (!HasScheme(uri)) {
    std::error_code error;
    const std::filesystem::path absolute = std::filesystem::absolute(uri, error);
    if (error) return base::Io("can't resolve ", uri, ": ", error.message());
    location.path = WithoutTrailingSlash(absolute.lexically_normal().string());
    location.file_system = std::make_shared<arrow::fs::LocalFileSystem>();
    return location;
  }
  const std::string scheme = uri.substr(0, uri.find(':'));
  if (scheme == "s3") {
    ARROW_ASSIGN_OR_RAISE(location.file_system, S3FileSystem::ForUri(location.uri));
    location.path = location.uri.substr(scheme.size() + 3);
    return location;
  }
  if (IsCloudScheme(scheme)) return ResolveCloudUri(location.uri);
  if (scheme != "file") {
    return base::NotSupported("can't open ", uri, ": local paths, file://, s3://, gs:// and az:// ",
                              "addresses are read, ", scheme, ":// isn't; copy it to one of those");
  }
  arrow::Result<std::shared_ptr<arrow::fs::FileSystem>> file_system =
      arrow::fs::FileSystemFromUri(uri, &location.path);
  if (!file_system.ok()) {
    return base::Invalid("can't understand the address ", uri, ": ",
                         file_system.status().message());
  }
  location.file_system = std::move(*file_system);
  location.path = WithoutTrailingSlash(location.path);
  return location;
}

Location Child(const Location& base, const std::string& name) {
  const auto join = [&](const std::string& parent) {
    return parent.empty() || parent.back() == '/' ? parent + name : parent + "/" + name;
  };
  return {base.file_system, join(base.path), join(base.uri), base.guard};
}

arrow::Result<std::shared_ptr<RandomReader>> OpenFile(const Location& location, uint64_t known_size,
                                                      std::shared_ptr<IoCounters> counters) {
  if (location.guard == nullptr) return OpenUnguarded(location, known_size, std::move(counters));
  ARROW_RETURN_NOT_OK(AskGuard(*location.guard, location));
  auto reader = OpenUnguarded(location, known_size, std::move(counters));
  if (reader.ok()) return Guarded(*std::move(reader), location.guard);
  if (base::CodeOf(reader.status()) != base::ErrorCode::kNotFound) return reader;
  return location.guard->Explain(reader.status());
}

std::shared_ptr<RandomReader> OpenBuffer(std::shared_ptr<arrow::Buffer> buffer, std::string path,
                                         std::shared_ptr<IoCounters> counters) {
  return std::make_shared<MemoryReader>(std::move(buffer), std::move(path), std::move(counters));
}

}  // namespace kinjo::io
