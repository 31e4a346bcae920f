#include "stream/batch_spool.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "arrow/io/file.h"
#include "arrow/ipc/options.h"
#include "arrow/ipc/reader.h"
#include "arrow/ipc/writer.h"

namespace kinjo::stream {

namespace {

arrow::Status Failed(const std::string& folder, const std::string& why) {
  return base::Io("can't keep result rows in a temporary file in '", folder, "': ", why,
                  "; TMPDIR names another folder");
}

}  // namespace

arrow::Result<std::unique_ptr<BatchSpool>> BatchSpool::Make(
    const std::shared_ptr<arrow::Schema>& schema) {
  auto spool = std::unique_ptr<BatchSpool>(new BatchSpool());
  const char* wanted = std::getenv("TMPDIR");
  spool->folder_ = wanted != nullptr && *wanted != '\0' ? wanted : "/tmp";
  std::string path = spool->folder_ + "/kinjo-rows-XXXXXX";
  const int write_end = ::mkostemp(path.data(), O_CLOEXEC);
  if (write_end < 0) return Failed(spool->folder_, std::strerror(errno));
  // Opened twice, so that writing and reading each have their place in the file.
  const int read_end = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  const int open_error = errno;
  ::unlink(path.c_str());
  if (read_end < 0) {
    ::close(write_end);
    return Failed(spool->folder_, std::strerror(open_error));
  }
  ARROW_ASSIGN_OR_RAISE(spool->in_, arrow::io::ReadableFile::Open(read_end));
  ARROW_ASSIGN_OR_RAISE(spool->out_, arrow::io::FileOutputStream::Open(write_end));
  auto options = arrow::ipc::IpcWriteOptions::Defaults();
  options.use_threads = false;
  ARROW_ASSIGN_OR_RAISE(spool->writer_, arrow::ipc::MakeStreamWriter(spool->out_, schema, options));
  return spool;
}

BatchSpool::~BatchSpool() = default;

arrow::Status BatchSpool::Put(const arrow::RecordBatch& batch) {
  const arrow::Status written = writer_->WriteRecordBatch(batch);
  return written.IsIOError() ? Failed(folder_, written.message()) : written;
}

arrow::Result<Batch> BatchSpool::Take() {
  if (reader_ == nullptr) {
    auto options = arrow::ipc::IpcReadOptions::Defaults();
    options.use_threads = false;
    ARROW_ASSIGN_OR_RAISE(reader_, arrow::ipc::RecordBatchStreamReader::Open(in_, options));
  }
  Batch batch;
  ARROW_RETURN_NOT_OK(reader_->ReadNext(&batch));
  if (batch == nullptr) return base::Internal("a batch is missing in the file of result rows");
  return batch;
}

}  // namespace kinjo::stream
