#include "stream/produced_batches.h"

#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "arrow/type.h"
#include "stream/batch_spool.h"

namespace kinjo::stream {

namespace {

using base::ErrorCode;
using base::MakeError;

// How long the thread that reads the file waits for another fetch. Long enough to serve a drain,
// short enough that handles which lie about cost no threads.
constexpr std::chrono::milliseconds kLinger{50};

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

}  // namespace

class ProducedBatches::Work : public std::enable_shared_from_this<Work> {
 public:
  Work(std::shared_ptr<arrow::Schema> schema, base::CancelToken cancel, bool whole)
      : schema_(std::move(schema)), cancel_(std::move(cancel)), holds_one_(whole), whole_(whole) {}

  void Start(ResultStream::Producer producer);
  void Fetch(OnBatch done);
  void Finish(OnDone done);
  void Stop();
  void Join();
  bool OnOwnThread() const;
  arrow::Status Check() const { return cancel_.Check(); }

 private:
  using Lock = std::unique_lock<std::mutex>;

  arrow::Status HandOver(Batch batch);
  arrow::Status CheckBatch(const Batch& batch) const;
  arrow::Status Keep(Batch batch);
  void End(arrow::Status outcome);
  bool Wanted() const { return stopped_ || whole_ || demand_ != nullptr; }  // the lock is held
  arrow::Status StartServing();                                             // the lock is held
  void Serve();
  static void JoinOne(std::thread thread);

  const std::shared_ptr<arrow::Schema> schema_;
  const base::CancelToken cancel_;
  const bool holds_one_;  // of the batches that wait, the first may lie in memory

  mutable std::mutex mutex_;  // guards the fields below
  std::condition_variable changed_;
  std::thread producer_, server_;
  std::thread::id producer_id_, server_id_;
  OnBatch demand_;  // the fetch that waits
  bool whole_;      // work on without fetches
  bool serving_ = false;
  bool stopped_ = false;
  bool cut_short_ = false;  // the producer was told that the token was raised
  bool finished_ = false;
  arrow::Status outcome_;
  std::vector<OnDone> finishers_;
  Batch held_;           // before those in the file
  int64_t in_file_ = 0;  // batches
  std::shared_ptr<BatchSpool> spool_;
};

void ProducedBatches::Work::Start(ResultStream::Producer producer) {
  try {
    const Lock lock(mutex_);
    producer_ = std::thread([self = shared_from_this(), producer = std::move(producer)]() mutable {
      const ResultStream::Emit emit = [&self](Batch batch) {
        return self->HandOver(std::move(batch));
      };
      arrow::Status outcome = RunGuarded(producer, self->cancel_, emit);
      producer = nullptr;  // what it captured goes before the reader is told of the end
      self->End(std::move(outcome));
    });
    producer_id_ = producer_.get_id();
  } catch (const std::system_error& error) {
    End(base::Io("can't start a thread for the result stream: ", error.what()));
  }
}

arrow::Status ProducedBatches::Work::CheckBatch(const Batch& batch) const {
  if (batch == nullptr) return base::Internal("a null batch was given to the result stream");
  if (batch->schema() != schema_ && !batch->schema()->Equals(*schema_, /*check_metadata=*/false)) {
    return base::Internal("a result batch has the schema ", batch->schema()->ToString(),
                          " instead of ", schema_->ToString());
  }
  return arrow::Status::OK();
}

arrow::Status ProducedBatches::Work::HandOver(Batch batch) {
  ARROW_RETURN_NOT_OK(CheckBatch(batch));
  Lock lock(mutex_);
  changed_.wait(lock, [&] { return Wanted(); });
  if (!stopped_ && demand_ != nullptr && held_ == nullptr && in_file_ == 0) {
    const OnBatch done = std::exchange(demand_, nullptr);
    lock.unlock();
    done(std::move(batch));
    lock.lock();
    // The next batch isn't made before it is wanted.
    changed_.wait(lock, [&] { return Wanted(); });
  } else if (!stopped_) {
    lock.unlock();
    ARROW_RETURN_NOT_OK(Keep(std::move(batch)));
    lock.lock();
  }
  if (stopped_) return MakeError(ErrorCode::kCancelled, "the result stream was stopped");
  cut_short_ = cut_short_ || cancel_.cancelled();
  return cut_short_ ? cancel_.Check() : arrow::Status::OK();
}

arrow::Status ProducedBatches::Work::Keep(Batch batch) {
  std::shared_ptr<BatchSpool> spool;
  {
    const Lock lock(mutex_);
    if (holds_one_ && held_ == nullptr && in_file_ == 0 && demand_ == nullptr) {
      held_ = std::move(batch);
      return arrow::Status::OK();
    }
    spool = spool_;
  }
  if (spool == nullptr) {
    ARROW_ASSIGN_OR_RAISE(spool, BatchSpool::Make(schema_));
  }
  ARROW_RETURN_NOT_OK(spool->Put(*batch));
  const Lock lock(mutex_);
  if (stopped_) return arrow::Status::OK();
  spool_ = std::move(spool);
  ++in_file_;
  return demand_ == nullptr ? arrow::Status::OK() : StartServing();
}

void ProducedBatches::Work::End(arrow::Status outcome) {
  Lock lock(mutex_);
  if (outcome.ok() && cut_short_) outcome = cancel_.Check();
  finished_ = true;
  outcome_ = outcome;
  OnBatch done;
  if (held_ == nullptr && in_file_ == 0) done = std::exchange(demand_, nullptr);
  const std::vector<OnDone> finishers = std::exchange(finishers_, {});
  changed_.notify_all();
  lock.unlock();
  if (done != nullptr) outcome.ok() ? done(Batch()) : done(outcome);
  for (const OnDone& finisher : finishers) finisher(outcome);
}

void ProducedBatches::Work::Fetch(OnBatch done) {
  Lock lock(mutex_);
  arrow::Result<Batch> answer = Batch();
  if (stopped_) {
    answer = MakeError(ErrorCode::kCancelled, "the result stream was stopped");
  } else if (held_ != nullptr) {
    answer = std::exchange(held_, nullptr);
  } else if (in_file_ > 0) {
    demand_ = done;
    const arrow::Status started = StartServing();
    if (started.ok()) return;
    demand_ = nullptr;
    answer = started;
  } else if (finished_) {
    if (!outcome_.ok()) answer = outcome_;
  } else {
    demand_ = std::move(done);
    changed_.notify_all();
    return;
  }
  lock.unlock();
  done(std::move(answer));
}

void ProducedBatches::Work::Finish(OnDone done) {
  Lock lock(mutex_);
  if (!finished_) {
    whole_ = true;
    finishers_.push_back(std::move(done));
    changed_.notify_all();
    return;
  }
  const arrow::Status outcome = outcome_;
  lock.unlock();
  done(outcome);
}

arrow::Status ProducedBatches::Work::StartServing() {
  changed_.notify_all();
  if (serving_ || stopped_) return arrow::Status::OK();
  try {
    // One that stopped serving is past its last look at anything here.
    if (server_.joinable()) server_.join();
    server_ = std::thread([self = shared_from_this()] { self->Serve(); });
    server_id_ = server_.get_id();
  } catch (const std::system_error& error) {
    return base::Io("can't start a thread for the result stream: ", error.what());
  }
  serving_ = true;
  return arrow::Status::OK();
}

void ProducedBatches::Work::Serve() {
  Lock lock(mutex_);
  const auto asked = [&] { return stopped_ || (demand_ != nullptr && in_file_ > 0); };
  while (changed_.wait_for(lock, kLinger, asked) && !stopped_) {
    const OnBatch done = std::exchange(demand_, nullptr);
    const std::shared_ptr<BatchSpool> spool = spool_;
    lock.unlock();
    arrow::Result<Batch> taken = spool->Take();
    lock.lock();
    --in_file_;
    lock.unlock();
    done(std::move(taken));
    lock.lock();
  }
  serving_ = false;
}

// What waits is answered, what runs is asked to end. The batches go.
void ProducedBatches::Work::Stop() {
  Lock lock(mutex_);
  stopped_ = true;
  if (!finished_) cancel_.Cancel();
  const OnBatch done = std::exchange(demand_, nullptr);
  const Batch held = std::exchange(held_, nullptr);
  const std::shared_ptr<BatchSpool> spool = std::exchange(spool_, nullptr);
  changed_.notify_all();
  lock.unlock();
  if (done != nullptr) done(MakeError(ErrorCode::kCancelled, "the result stream was stopped"));
}

void ProducedBatches::Work::JoinOne(std::thread thread) {
  if (!thread.joinable()) return;
  if (thread.get_id() == std::this_thread::get_id()) {
    thread.detach();  // it has what it needs
  } else {
    thread.join();
  }
}

void ProducedBatches::Work::Join() {
  Lock lock(mutex_);
  std::thread producer = std::exchange(producer_, std::thread());
  std::thread server = std::exchange(server_, std::thread());
  lock.unlock();
  JoinOne(std::move(producer));
  JoinOne(std::move(server));
}

bool ProducedBatches::Work::OnOwnThread() const {
  const Lock lock(mutex_);
  const auto self = std::this_thread::get_id();
  return self == producer_id_ || (serving_ && self == server_id_);
}

ProducedBatches::ProducedBatches(std::shared_ptr<arrow::Schema> schema,
                                 ResultStream::Producer producer, base::CancelToken cancel,
                                 bool whole)
    : work_(std::make_shared<Work>(std::move(schema), std::move(cancel), whole)) {
  work_->Start(std::move(producer));
}

ProducedBatches::~ProducedBatches() {
  work_->Stop();
  work_->Join();
}

void ProducedBatches::Fetch(OnBatch done) { work_->Fetch(std::move(done)); }
void ProducedBatches::Finish(OnDone done) { work_->Finish(std::move(done)); }

void ProducedBatches::Cancel(OnDone done) {
  work_->Stop();
  done(arrow::Status::OK());
}

void ProducedBatches::Close(OnDone done) {
  work_->Stop();
  done(arrow::Status::OK());
}

arrow::Status ProducedBatches::Check() const { return work_->Check(); }
void ProducedBatches::Join() { work_->Join(); }
bool ProducedBatches::OnOwnThread() const { return work_->OnOwnThread(); }

}  // namespace kinjo::stream
