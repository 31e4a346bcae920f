#include "stream/result_stream.h"

#include <condition_variable>
#include <mutex>
#include <utility>

#include "stream/produced_batches.h"
#include "stream/stream_core.h"

namespace kinjo::stream {

namespace {

// Runs a call that answers by a callback, and waits for the answer.
template <typename Answer, typename Call>
Answer Awaited(const Call& call) {
  std::mutex mutex;
  std::condition_variable given;
  std::optional<Answer> answer;
  call([&](Answer got) {
    // Told under the lock: whoever waits destroys all three at once.
    const std::lock_guard<std::mutex> lock(mutex);
    answer = std::move(got);
    given.notify_one();
  });
  std::unique_lock<std::mutex> lock(mutex);
  given.wait(lock, [&] { return answer.has_value(); });
  return *std::move(answer);
}

}  // namespace

std::unique_ptr<ResultStream> ResultStream::Start(std::shared_ptr<arrow::Schema> schema,
                                                  Producer producer, base::CancelToken cancel,
                                                  Kind kind) {
  auto source = std::make_unique<ProducedBatches>(schema, std::move(producer), std::move(cancel),
                                                  /*whole=*/kind == Kind::kComplete);
  return Over(std::move(schema), std::move(source), kind);
}

std::unique_ptr<ResultStream> ResultStream::Over(std::shared_ptr<arrow::Schema> schema,
                                                 std::unique_ptr<BatchSource> source, Kind kind) {
  auto stream =
      std::unique_ptr<ResultStream>(new ResultStream(std::move(schema), std::move(source), kind));
  stream->core_->Begin();
  return stream;
}

ResultStream::ResultStream(std::shared_ptr<arrow::Schema> schema,
                           std::unique_ptr<BatchSource> source, Kind kind)
    : schema_(std::move(schema)),
      kind_(kind),
      core_(std::make_shared<Core>(std::move(source), kind)) {}

ResultStream::~ResultStream() { core_->End(); }

void ResultStream::Fetch(std::optional<int64_t> max_rows, OnBatch done) {
  core_->Fetch(max_rows, std::move(done));
}
void ResultStream::HasMore(OnAnswer done) { core_->HasMore(std::move(done)); }
void ResultStream::Finish(OnDone done) { core_->Finish(std::move(done)); }
void ResultStream::Cancel(OnDone done) { core_->Cancel(std::move(done)); }
void ResultStream::Close(OnDone done) { core_->Close(std::move(done)); }

arrow::Result<Batch> ResultStream::Next(std::optional<int64_t> max_rows) {
  return Awaited<arrow::Result<Batch>>([&](OnBatch done) { Fetch(max_rows, std::move(done)); });
}

arrow::Result<bool> ResultStream::HasMore() {
  return Awaited<arrow::Result<bool>>([&](OnAnswer done) { HasMore(std::move(done)); });
}

arrow::Status ResultStream::Finish() {
  return Awaited<arrow::Status>([&](OnDone done) { Finish(std::move(done)); });
}

void ResultStream::Cancel() {
  core_->Cancel([](const arrow::Status&) {});
}

arrow::Status ResultStream::Close() {
  if (core_->source()->OnOwnThread()) {
    return base::MakeError(base::ErrorCode::kState,
                           "a result stream can't be closed by its own producer");
  }
  arrow::Status closed = Awaited<arrow::Status>([&](OnDone done) { Close(std::move(done)); });
  if (closed.ok()) core_->source()->Join();
  return closed;
}

}  // namespace kinjo::stream
