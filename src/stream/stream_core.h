// What happens inside a result stream: one mutex, a queue of reads, one place for what was fetched
// and not read yet. Apart from the stream's face so that the face may go while a source that hangs
// still owes an answer.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "stream/result_stream.h"

namespace kinjo::stream {

/// The callbacks run with no lock held. docs/streams.md says what the fields are for.
class ResultStream::Core : public std::enable_shared_from_this<Core> {
 public:
  Core(std::unique_ptr<BatchSource> source, Kind kind) : source_(std::move(source)), kind_(kind) {}

  /// Fetches ahead, if the kind does. Once, before anything else.
  void Begin() { Pump(); }
  void Fetch(std::optional<int64_t> max_rows, OnBatch done);
  void HasMore(OnAnswer done);
  void Finish(OnDone done);
  void Cancel(OnDone done);
  void Close(OnDone done);
  /// Blocks reads for good, closes the source unless it was, and waits for its threads.
  void End();

  BatchSource* source() const { return source_.get(); }

 private:
  using Lock = std::unique_lock<std::mutex>;

  // A read that waits: for rows (OnBatch), with the rows that it has already, or for a yes or no.
  struct Read {
    std::optional<int64_t> max_rows;
    OnBatch give;
    OnAnswer answer;
    arrow::RecordBatchVector parts;
    int64_t rows = 0;

    void Fail(const arrow::Status& error) { give ? give(error) : answer(error); }
  };
  using Settling = std::vector<std::function<void()>>;

  void Enqueue(Read read);
  arrow::Status WhyBlocked() const;  // the lock is held
  // Does what can be done until nothing can. One thread at a time; another one's Pump returns at
  // once, for the first looks at everything again before it stops.
  void Pump();
  // Each of these gives the lock back while it calls out. True if it did something.
  bool Step(Lock* lock);
  bool ServeAnswer(Lock* lock);
  bool ServeRows(Lock* lock);
  void StartFetch(Lock* lock);
  void Give(Lock* lock, arrow::Result<Batch> result);
  void GiveParts(Lock* lock);
  void FailFirst(Lock* lock, arrow::Status error);
  void TakeRest(Read* read);

  void Fetched(uint64_t fetch, arrow::Result<Batch> result);
  void Finished(uint64_t waiter, const arrow::Status& outcome);
  void CloseSource(Lock* lock, OnDone done);
  void SourceClosed(const arrow::Status& status);
  // Drops the rows and hands back what tells everybody that waits. The lock is held.
  Settling Block(const char* reason);

  const std::unique_ptr<BatchSource> source_;
  const Kind kind_;

  std::mutex mutex_;  // guards the fields below
  std::deque<Read> reads_;
  bool pumping_ = false;
  uint64_t last_fetch_ = 0;
  uint64_t under_way_ = 0;                     // the fetch whose answer counts; 0: none
  std::optional<arrow::Result<Batch>> ready_;  // fetched and unread: a batch, the end or an error
  Batch rest_;                                 // of a batch that was read in part
  std::optional<std::string> failure_;         // the error that a read returned
  uint64_t last_waiter_ = 0;
  std::map<uint64_t, OnDone> finishers_;
  const char* blocked_ = nullptr;  // why reads fail: cancelled or closed
  bool closing_ = false;           // the source hasn't answered its Close
  bool close_asked_ = false;       // by the caller, and not only to clean up after an error
  bool source_closed_ = false;
  std::vector<OnDone> closers_;
};

}  // namespace kinjo::stream
