// The stream over a thread of its own: a hand-over of one batch at a time, guarded by one mutex.
// The producer waits in Emit until its batch was taken, so that the batch the reader holds and the
// one that is made meanwhile are all there is.
#include "stream/result_stream.h"

#include <condition_variable>
#include <exception>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>
#include <utility>

#include "arrow/type.h"

namespace kinjo::stream {

namespace {

using base::ErrorCode;
using base::MakeError;

constexpr const char* kCancelled = "cancelled";
constexpr const char* kClosed = "closed";

// Runs the producer and turns whatever it throws into a status: nothing may leave a thread.
arrow::Status RunGuarded(const ResultStream::Producer& producer, const base::CancelToken& cancel,
                         const ResultStream::Emit& emit) {
  try {
    return producer(cancel, emit);
  } catch (const std::bad_alloc&) {
    return MakeError(ErrorCode::kCapacity, "the system is out of memory");
  } catch (const std::exception& error) {
    return base::Internal("unexpected exception while making result rows: ", error.what());
  } catch (...) {
    return base::Internal("unexpected exception while making result rows");
  }
}

class ThreadedStream final : public ResultStream {
 public:
  ThreadedStream(std::shared_ptr<arrow::Schema> schema, base::CancelToken cancel)
      : schema_(std::move(schema)), cancel_(std::move(cancel)) {}

  ~ThreadedStream() override { Shut(); }

  void Run(Producer producer) {
    try {
      thread_ = std::thread([this, producer = std::move(producer)]() mutable {
        Finish(Produce(std::move(producer)));
      });
      producer_id_ = thread_.get_id();
    } catch (const std::system_error& error) {
      Finish(base::Io("can't start a thread for the result stream: ", error.what()));
    }
  }

  const std::shared_ptr<arrow::Schema>& schema() const override { return schema_; }

  arrow::Result<std::shared_ptr<arrow::RecordBatch>> Next() override {
    std::shared_ptr<arrow::RecordBatch> batch;
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [&] { return blocked_ != nullptr || waiting_ != nullptr || finished_; });
    if (blocked_ != nullptr) {
      return MakeError(ErrorCode::kState, base::Concat("the result stream was ", blocked_));
    }
    if (waiting_ == nullptr) {
      ARROW_RETURN_NOT_OK(outcome_);
      if (cut_short_) return cancel_.Check();
      return nullptr;
    }
    batch = std::move(waiting_);
    waiting_ = nullptr;
    // The token may be raised from outside, by a signal handler say. Its rows are dropped then, and
    // every later read says `cancelled` again, whatever the producer makes of its failed Emit.
    cut_short_ = cancel_.cancelled();
    changed_.notify_all();
    if (cut_short_) return cancel_.Check();
    return batch;
  }

  void Cancel() override { Block(kCancelled); }

  arrow::Status Close() override {
    if (std::this_thread::get_id() == producer_id_) {
      return MakeError(ErrorCode::kState, "a result stream can't be closed by its own producer");
    }
    Shut();
    return arrow::Status::OK();
  }

 private:
  arrow::Status Produce(Producer producer) {
    const Emit emit = [this](std::shared_ptr<arrow::RecordBatch> batch) {
      return HandOver(std::move(batch));
    };
    arrow::Status status = RunGuarded(producer, cancel_, emit);
    producer = nullptr;  // what it captured goes before the reader is told of the end
    return status;
  }

  arrow::Status HandOver(std::shared_ptr<arrow::RecordBatch> batch) {
    if (batch == nullptr) return base::Internal("a null batch was given to the result stream");
    if (batch->schema() != schema_ &&
        !batch->schema()->Equals(*schema_, /*check_metadata=*/false)) {
      return base::Internal("a result batch has the schema ", batch->schema()->ToString(),
                            " instead of ", schema_->ToString());
    }
    std::unique_lock<std::mutex> lock(mutex_);
    if (blocked_ == nullptr) {
      waiting_ = std::move(batch);
      changed_.notify_all();
      changed_.wait(lock, [&] { return blocked_ != nullptr || waiting_ == nullptr; });
    }
    if (blocked_ != nullptr) {
      return MakeError(ErrorCode::kCancelled, base::Concat("the result stream was ", blocked_));
    }
    return cut_short_ ? cancel_.Check() : arrow::Status::OK();
  }

  void Finish(arrow::Status outcome) {
    std::lock_guard<std::mutex> lock(mutex_);
    finished_ = true;
    outcome_ = std::move(outcome);
    changed_.notify_all();
  }

  // From here on every read fails, and for good: "closed" is never taken back to "cancelled".
  void Block(const char* reason) {
    std::shared_ptr<arrow::RecordBatch> dropped;  // freed after the lock was given back
    std::lock_guard<std::mutex> lock(mutex_);
    if (blocked_ != kClosed) blocked_ = reason;
    dropped = std::move(waiting_);
    waiting_ = nullptr;
    if (!finished_) cancel_.Cancel();
    changed_.notify_all();
  }

  void Shut() {
    Block(kClosed);
    std::lock_guard<std::mutex> lock(join_mutex_);
    if (thread_.joinable()) thread_.join();
  }

  const std::shared_ptr<arrow::Schema> schema_;
  const base::CancelToken cancel_;
  std::mutex join_mutex_;  // held by the one that waits for the thread
  std::thread thread_;
  std::thread::id producer_id_;  // set before anybody else has the stream

  std::mutex mutex_;  // guards the fields below
  std::condition_variable changed_;
  std::shared_ptr<arrow::RecordBatch> waiting_;
  const char* blocked_ = nullptr;  // why reads fail: kCancelled or kClosed
  bool cut_short_ = false;         // a batch was dropped because the token was raised
  bool finished_ = false;
  arrow::Status outcome_;
};

}  // namespace

std::unique_ptr<ResultStream> ResultStream::Start(std::shared_ptr<arrow::Schema> schema,
                                                  Producer producer, base::CancelToken cancel) {
  auto stream = std::make_unique<ThreadedStream>(std::move(schema), std::move(cancel));
  stream->Run(std::move(producer));
  return stream;
}

}  // namespace kinjo::stream
