#include "stream/stream_core.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <new>
#include <utility>

#include "base/error_cause.h"

namespace kinjo::stream {

namespace {

using base::ErrorCode;
using base::MakeError;

constexpr const char* kCancelled = "cancelled";
constexpr const char* kClosed = "closed";

// Calls the source; what it throws is its answer.
template <typename Call, typename Done>
void Guarded(const Call& call, const Done& answer) {
  try {
    call();
  } catch (const std::bad_alloc&) {
    answer(MakeError(ErrorCode::kCapacity, "the system is out of memory"));
  } catch (const std::exception& error) {
    answer(base::Internal("unexpected exception in the source of result rows: ", error.what()));
  } catch (...) {
    answer(base::Internal("unexpected exception in the source of result rows"));
  }
}

arrow::Result<Batch> Joined(const arrow::RecordBatchVector& parts) {
  if (parts.empty()) return Batch();
  if (parts.size() == 1) return parts.front();
  return arrow::ConcatenateRecordBatches(parts);
}

}  // namespace

void ResultStream::Core::Fetch(std::optional<int64_t> max_rows, OnBatch done) {
  if (max_rows.has_value() && *max_rows < 1) {
    done(base::Invalid("max_rows is ", *max_rows, "; it must be at least 1"));
    return;
  }
  Enqueue({max_rows, std::move(done), nullptr, {}, 0});
}

void ResultStream::Core::HasMore(OnAnswer done) {
  Enqueue({std::nullopt, nullptr, std::move(done), {}, 0});
}

void ResultStream::Core::Enqueue(Read read) {
  Lock lock(mutex_);
  arrow::Status why = WhyBlocked();
  if (!why.ok()) {
    lock.unlock();
    read.Fail(why);
    return;
  }
  reads_.push_back(std::move(read));
  lock.unlock();
  Pump();
}

arrow::Status ResultStream::Core::WhyBlocked() const {
  if (blocked_ != nullptr) {
    return MakeError(ErrorCode::kState, base::Concat("the result stream was ", blocked_));
  }
  if (closing_ && close_asked_) {
    return MakeError(ErrorCode::kState, "the result stream is being closed");
  }
  if (failure_.has_value() && !closing_) {
    return MakeError(ErrorCode::kState, base::Concat("the result stream has failed: ", *failure_));
  }
  return arrow::Status::OK();
}

void ResultStream::Core::Pump() {
  Lock lock(mutex_);
  if (pumping_) return;
  pumping_ = true;
  while (Step(&lock)) {
  }
  pumping_ = false;
}

bool ResultStream::Core::Step(Lock* lock) {
  // Who blocks the stream also tells those that wait; while it is closed they wait for how that
  // ends.
  if (blocked_ != nullptr || closing_) return false;
  if (!reads_.empty()) {
    if (failure_.has_value()) {
      Read read = std::move(reads_.front());
      reads_.pop_front();
      const arrow::Status why = WhyBlocked();
      lock->unlock();
      read.Fail(why);
      lock->lock();
      return true;
    }
    if (reads_.front().answer ? ServeAnswer(lock) : ServeRows(lock)) return true;
  }
  const bool wanted = !reads_.empty() || kind_ == Kind::kPending;
  if (!wanted || ready_.has_value() || under_way_ != 0 || failure_.has_value()) return false;
  StartFetch(lock);
  return true;
}

bool ResultStream::Core::ServeAnswer(Lock* lock) {
  if (rest_ == nullptr) {
    if (!ready_.has_value()) return false;
    if (ready_->ok() && **ready_ != nullptr && (**ready_)->num_rows() == 0) {
      ready_.reset();  // no rows: the next batch tells
      return true;
    }
  }
  const bool more = rest_ != nullptr || !ready_->ok() || **ready_ != nullptr;
  Read read = std::move(reads_.front());
  reads_.pop_front();
  lock->unlock();
  read.answer(more);
  lock->lock();
  return true;
}

bool ResultStream::Core::ServeRows(Lock* lock) {
  Read* read = &reads_.front();
  if (rest_ == nullptr && !ready_.has_value()) return false;
  const bool has_rows = rest_ != nullptr || (ready_->ok() && **ready_ != nullptr);
  if (has_rows) {
    const arrow::Status stopped = source_->Check();
    if (!stopped.ok()) {
      FailFirst(lock, stopped);
      return true;
    }
    if (rest_ == nullptr) {
      rest_ = *std::move(*ready_);
      ready_.reset();
    }
    TakeRest(read);
    if (!read->max_rows.has_value() || read->rows == *read->max_rows) GiveParts(lock);
    return true;
  }
  if (ready_->ok() || !read->parts.empty()) {
    GiveParts(lock);  // the end (which stays), or what there is before an error
    return true;
  }
  arrow::Status error = ready_->status();
  ready_.reset();
  FailFirst(lock, std::move(error));
  return true;
}

void ResultStream::Core::TakeRest(Read* read) {
  const int64_t there = rest_->num_rows();
  const int64_t taken =
      read->max_rows.has_value() ? std::min(there, *read->max_rows - read->rows) : there;
  if (taken > 0 || !read->max_rows.has_value()) {
    read->parts.push_back(taken == there ? rest_ : rest_->Slice(0, taken));
  }
  read->rows += taken;
  rest_ = taken == there ? nullptr : rest_->Slice(taken);
}

void ResultStream::Core::GiveParts(Lock* lock) {
  Read read = std::move(reads_.front());
  reads_.pop_front();
  lock->unlock();
  arrow::Result<Batch> joined = Joined(read.parts);
  read.parts.clear();
  read.give(std::move(joined));
  lock->lock();
}

// The source is closed before the read hears of its error, so that it hears of both.
void ResultStream::Core::FailFirst(Lock* lock, arrow::Status error) {
  Read read = std::move(reads_.front());
  reads_.pop_front();
  failure_ = base::MessageOf(error);
  ready_.reset();
  rest_ = nullptr;
  auto tell = [give = std::move(read.give),
               error = std::move(error)](const arrow::Status& cleaned) {
    give(cleaned.ok() ? error : base::WithCause(error, cleaned));
  };
  if (source_closed_) {
    lock->unlock();
    tell(arrow::Status::OK());
  } else {
    CloseSource(lock, std::move(tell));
  }
  lock->lock();
}

void ResultStream::Core::StartFetch(Lock* lock) {
  const uint64_t fetch = under_way_ = ++last_fetch_;
  lock->unlock();
  // Weak: a fetch that never answers must not keep the stream alive.
  auto done = [weak = weak_from_this(), fetch](arrow::Result<Batch> result) {
    if (const auto core = weak.lock()) core->Fetched(fetch, std::move(result));
  };
  Guarded([&] { source_->Fetch(done); }, done);
  lock->lock();
}

void ResultStream::Core::Fetched(uint64_t fetch, arrow::Result<Batch> result) {
  {
    Lock lock(mutex_);
    // Another fetch's place, or nobody's: blocked meanwhile, or a second answer.
    if (under_way_ != fetch) return;
    under_way_ = 0;
    ready_ = std::move(result);
  }
  Pump();
}

void ResultStream::Core::Finish(OnDone done) {
  Lock lock(mutex_);
  if (blocked_ != nullptr || (closing_ && close_asked_)) {
    const arrow::Status why = WhyBlocked();
    lock.unlock();
    done(why);
    return;
  }
  const uint64_t waiter = ++last_waiter_;
  finishers_[waiter] = std::move(done);
  lock.unlock();
  auto answer = [weak = weak_from_this(), waiter](const arrow::Status& outcome) {
    if (const auto core = weak.lock()) core->Finished(waiter, outcome);
  };
  Guarded([&] { source_->Finish(answer); }, answer);
}

void ResultStream::Core::Finished(uint64_t waiter, const arrow::Status& outcome) {
  Lock lock(mutex_);
  auto found = finishers_.extract(waiter);
  lock.unlock();
  if (!found.empty()) found.mapped()(outcome);
}

ResultStream::Core::Settling ResultStream::Core::Block(const char* reason) {
  blocked_ = reason;
  under_way_ = 0;
  Settling settling;
  const arrow::Status why = WhyBlocked();
  for (Read& read : reads_) {
    settling.push_back([read = std::move(read), why]() mutable { read.Fail(why); });
  }
  reads_.clear();
  for (auto& [waiter, done] : finishers_) {
    settling.push_back([tell = std::move(done), why] { tell(why); });
  }
  finishers_.clear();
  // The rows go with the list, once the lock was given back.
  settling.push_back([ready = std::move(ready_), rest = std::move(rest_)] {});
  ready_.reset();
  rest_ = nullptr;
  return settling;
}

void ResultStream::Core::Cancel(OnDone done) {
  Lock lock(mutex_);
  Settling settling;
  if (blocked_ == nullptr) settling = Block(kCancelled);
  const bool ask = !source_closed_;
  lock.unlock();
  for (const auto& settle : settling) settle();
  if (!ask) {
    done(arrow::Status::OK());
    return;
  }
  auto once = [self = shared_from_this(), done = std::move(done),
               told = std::make_shared<std::atomic<bool>>(false)](const arrow::Status& status) {
    if (!told->exchange(true)) done(status);
  };
  Guarded([&] { source_->Cancel(once); }, once);
}

void ResultStream::Core::Close(OnDone done) {
  Lock lock(mutex_);
  if (source_closed_) {
    Settling settling;
    if (blocked_ != kClosed) settling = Block(kClosed);
    lock.unlock();
    for (const auto& settle : settling) settle();
    done(arrow::Status::OK());
    return;
  }
  close_asked_ = true;
  CloseSource(&lock, std::move(done));
}

// Gives the lock back.
void ResultStream::Core::CloseSource(Lock* lock, OnDone done) {
  closers_.push_back(std::move(done));
  const bool first = !std::exchange(closing_, true);
  lock->unlock();
  if (!first) return;
  auto once = [self = shared_from_this(),
               told = std::make_shared<std::atomic<bool>>(false)](const arrow::Status& status) {
    if (!told->exchange(true)) self->SourceClosed(status);
  };
  Guarded([&] { source_->Close(once); }, once);
}

void ResultStream::Core::SourceClosed(const arrow::Status& status) {
  Lock lock(mutex_);
  closing_ = false;
  source_closed_ = status.ok();
  Settling settling;
  if (status.ok() && close_asked_) settling = Block(kClosed);
  close_asked_ = false;
  const std::vector<OnDone> closers = std::exchange(closers_, {});
  lock.unlock();
  for (const auto& settle : settling) settle();
  for (const OnDone& done : closers) done(status);
  Pump();
}

void ResultStream::Core::End() {
  Lock lock(mutex_);
  const Settling settling = Block(kClosed);
  const bool close = !source_closed_ && !closing_;
  lock.unlock();
  for (const auto& settle : settling) settle();
  if (close) Close([](const arrow::Status&) {});
  source_->Join();
}

}  // namespace kinjo::stream
