#include "io/file_guard.h"

#include <filesystem>
#include <system_error>
#include <utility>

namespace kinjo::io {
namespace {

class GuardedReader final : public RandomReader {
 public:
  GuardedReader(std::shared_ptr<RandomReader> reader, std::shared_ptr<const FileGuard> guard)
      : reader_(std::move(reader)), guard_(std::move(guard)) {}

  const std::string& path() const override { return reader_->path(); }
  uint64_t size() const override { return reader_->size(); }
  uint64_t coalesce_gap_bytes() const override { return reader_->coalesce_gap_bytes(); }

  arrow::Result<std::vector<std::shared_ptr<arrow::Buffer>>> ReadRanges(
      std::span<const ByteRange> ranges) override {
    auto buffers = reader_->ReadRanges(ranges);
    if (buffers.ok() || base::CodeOf(buffers.status()) != base::ErrorCode::kNotFound) {
      return buffers;
    }
    return guard_->Explain(buffers.status());
  }

 private:
  const std::shared_ptr<RandomReader> reader_;
  const std::shared_ptr<const FileGuard> guard_;
};

}  // namespace

std::string RealPath(const std::string& path) {
  std::error_code error;
  const std::filesystem::path real = std::filesystem::canonical(path, error);
  return error ? std::string() : real.string();
}

arrow::Status AskGuard(const FileGuard& guard, const Location& location) {
  if (location.file_system->type_name() != "local") return arrow::Status::OK();
  const std::string real_path = RealPath(location.path);
  return real_path.empty() ? arrow::Status::OK() : guard.Admit(location.uri, real_path);
}

std::shared_ptr<RandomReader> Guarded(std::shared_ptr<RandomReader> reader,
                                      std::shared_ptr<const FileGuard> guard) {
  return std::make_shared<GuardedReader>(std::move(reader), std::move(guard));
}

}  // namespace kinjo::io
