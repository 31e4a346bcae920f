#include "io/s3_files.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "arrow/buffer.h"
#include "arrow/util/future.h"
#include "io/coalescing_reader.h"

namespace kinjo::io {
namespace {

constexpr uint64_t kGapBytes = uint64_t{1} << 20;
// One connection gives some tens of MB a second: a longer request is several at a time.
constexpr uint64_t kMostRequestBytes = uint64_t{8} << 20;

constexpr size_t kPartBytes = size_t{8} << 20;
constexpr size_t kWaveBytes = size_t{32} << 20;
// A store takes 10,000 parts of an upload: parts double so often that 2 TiB fit.
constexpr size_t kPartsOfASize = 1250;

class S3Reader final : public CoalescingReader {
 public:
  S3Reader(std::shared_ptr<S3Client> client, S3Object object, std::string uri,
           std::shared_ptr<IoCounters> counters)
      : CoalescingReader(std::move(uri), object.size_bytes, kGapBytes, std::move(counters)),
        client_(std::move(client)),
        object_(std::move(object)) {}

 protected:
  arrow::Result<Buffers> Fetch(const std::vector<CoalescedRequest>& requests) override {
    Buffers buffers;
    std::vector<S3Read> reads;
    for (const CoalescedRequest& request : requests) {
      ARROW_ASSIGN_OR_RAISE(std::shared_ptr<arrow::Buffer> buffer, AllocateFor(request));
      const ByteRange& range = request.range;
      for (uint64_t at = 0; at < range.length; at += kMostRequestBytes) {
        reads.push_back({{range.offset + at, std::min(kMostRequestBytes, range.length - at)},
                         buffer->mutable_data() + at});
      }
      buffers.push_back(std::move(buffer));
    }
    std::atomic<uint64_t> sent{0};
    const arrow::Status status = client_->Read(object_, reads, &sent);
    // Each request is counted once by who called; what was sent beyond is counted here.
    const uint64_t counted = requests.size();
    if (counters() != nullptr && sent > counted) {
      counters()->requests.fetch_add(sent - counted, std::memory_order_relaxed);
    }
    ARROW_RETURN_NOT_OK(status);
    return buffers;
  }

 private:
  const std::shared_ptr<S3Client> client_;
  const S3Object object_;
};

class S3Input final : public arrow::io::RandomAccessFile {
 public:
  explicit S3Input(std::shared_ptr<RandomReader> reader) : reader_(std::move(reader)) {}

  arrow::Result<int64_t> GetSize() override { return static_cast<int64_t>(reader_->size()); }

  arrow::Result<int64_t> ReadAt(int64_t position, int64_t bytes, void* out) override {
    ARROW_ASSIGN_OR_RAISE(const std::shared_ptr<arrow::Buffer> buffer, ReadAt(position, bytes));
    if (buffer->size() > 0) {
      std::memcpy(out, buffer->data(), static_cast<size_t>(buffer->size()));
    }
    return buffer->size();
  }

  arrow::Result<std::shared_ptr<arrow::Buffer>> ReadAt(int64_t position, int64_t bytes) override {
    if (is_closed_) return base::Io("can't read ", reader_->path(), ": it is closed");
    const auto size = static_cast<int64_t>(reader_->size());
    if (position < 0 || position > size || bytes < 0) {
      return base::Io("can't read ", bytes, " bytes at offset ", position, " of ", reader_->path());
    }
    return reader_->Read(
        {static_cast<uint64_t>(position), static_cast<uint64_t>(std::min(bytes, size - position))});
  }

  arrow::Result<int64_t> Read(int64_t bytes, void* out) override {
    ARROW_ASSIGN_OR_RAISE(const int64_t got, ReadAt(position_, bytes, out));
    position_ += got;
    return got;
  }

  arrow::Result<std::shared_ptr<arrow::Buffer>> Read(int64_t bytes) override {
    ARROW_ASSIGN_OR_RAISE(std::shared_ptr<arrow::Buffer> buffer, ReadAt(position_, bytes));
    position_ += buffer->size();
    return buffer;
  }

  arrow::Status Seek(int64_t position) override {
    if (position < 0) return base::Io("can't seek to ", position, " in ", reader_->path());
    position_ = position;
    return arrow::Status::OK();
  }

  arrow::Result<int64_t> Tell() const override { return position_; }
  arrow::Status Close() override {
    is_closed_ = true;
    return arrow::Status::OK();
  }
  bool closed() const override { return is_closed_; }

 private:
  const std::shared_ptr<RandomReader> reader_;
  int64_t position_ = 0;
  bool is_closed_ = false;
};

class S3Output final : public arrow::io::OutputStream {
 public:
  S3Output(std::shared_ptr<S3Client> client, std::string key)
      : client_(std::move(client)), key_(std::move(key)) {}
  ~S3Output() override { (void)S3Output::Abort(); }

  arrow::Status Write(const void* data, int64_t size) override {
    if (is_closed_) return base::Io("can't write ", key_, ": it is closed");
    auto left = static_cast<size_t>(size);
    const char* bytes = static_cast<const char*>(data);
    position_ += size;
    while (left > 0) {
      const size_t wave = std::max(kWaveBytes, PartBytes(etags_.size()));
      const size_t taken = std::min(left, wave - buffer_.size());
      buffer_.append(bytes, taken);
      bytes += taken;
      left -= taken;
      if (buffer_.size() == wave) ARROW_RETURN_NOT_OK(SendParts());
    }
    return arrow::Status::OK();
  }
  using OutputStream::Write;

  arrow::Status Close() override {
    if (is_closed_) return arrow::Status::OK();
    const arrow::Status status = Finish();
    if (!status.ok()) (void)Abort();
    is_closed_ = true;
    return status;
  }

  arrow::Status Abort() override {
    if (is_closed_) return arrow::Status::OK();
    is_closed_ = true;
    if (!upload_.empty()) client_->AbortUpload(key_, upload_);
    return arrow::Status::OK();
  }

  arrow::Result<int64_t> Tell() const override { return position_; }
  bool closed() const override { return is_closed_; }

 private:
  static size_t PartBytes(size_t parts_before) {
    return kPartBytes << (parts_before / kPartsOfASize);
  }

  arrow::Status Finish() {
    if (upload_.empty() && buffer_.size() <= kPartBytes) return client_->Put(key_, buffer_);
    ARROW_RETURN_NOT_OK(SendParts());
    return client_->CompleteUpload(key_, upload_, etags_, static_cast<uint64_t>(position_));
  }

  /// Sends what is kept, several parts at a time.
  arrow::Status SendParts() {
    if (buffer_.empty()) return arrow::Status::OK();
    if (upload_.empty()) {
      ARROW_ASSIGN_OR_RAISE(upload_, client_->BeginUpload(key_));
    }
    const size_t part = PartBytes(etags_.size());
    std::vector<std::string_view> parts;
    for (size_t at = 0; at < buffer_.size(); at += part) {
      parts.push_back(std::string_view(buffer_).substr(at, part));
    }
    const int first = static_cast<int>(etags_.size()) + 1;
    ARROW_ASSIGN_OR_RAISE(const std::vector<std::string> etags,
                          client_->PutParts(key_, upload_, first, parts));
    etags_.insert(etags_.end(), etags.begin(), etags.end());
    buffer_.clear();
    return arrow::Status::OK();
  }

  const std::shared_ptr<S3Client> client_;
  const std::string key_;
  std::string buffer_;
  std::string upload_;  ///< empty until parts are sent
  std::vector<std::string> etags_;
  int64_t position_ = 0;
  bool is_closed_ = false;
};

}  // namespace

std::shared_ptr<RandomReader> MakeS3Reader(std::shared_ptr<S3Client> client, S3Object object,
                                           std::shared_ptr<IoCounters> counters) {
  std::string uri = base::Concat("s3://", client->bucket(), "/", object.key);
  return std::make_shared<S3Reader>(std::move(client), std::move(object), std::move(uri),
                                    std::move(counters));
}

std::shared_ptr<arrow::io::RandomAccessFile> MakeS3Input(std::shared_ptr<RandomReader> reader) {
  return std::make_shared<S3Input>(std::move(reader));
}

std::shared_ptr<arrow::io::OutputStream> MakeS3Output(std::shared_ptr<S3Client> client,
                                                      std::string key) {
  return std::make_shared<S3Output>(std::move(client), std::move(key));
}

}  // namespace kinjo::io
