// The batches that a producer makes on a thread of its own: handed over one at a time to who asked,
// or, when the work is to be finished without reads, kept in a temporary file until asked for.
#pragma once

#include <memory>

#include "base/cancel_token.h"
#include "stream/result_stream.h"

namespace kinjo::stream {

/// The producer starts at once. `whole`: it doesn't wait for fetches from the start, and one batch
/// may wait in memory, so that a small result needs no file; else none does once Finish was called,
/// for there is one fetched ahead already.
class ProducedBatches final : public BatchSource {
 public:
  ProducedBatches(std::shared_ptr<arrow::Schema> schema, ResultStream::Producer producer,
                  base::CancelToken cancel, bool whole);
  /// Stops and joins.
  ~ProducedBatches() override;

  void Fetch(OnBatch done) override;
  void Finish(OnDone done) override;
  /// Never fails.
  void Cancel(OnDone done) override;
  /// Never fails. The file goes when the threads that use it do.
  void Close(OnDone done) override;
  /// `cancelled` when the token was raised, by whomever.
  arrow::Status Check() const override;
  void Join() override;
  bool OnOwnThread() const override;

 private:
  class Work;
  const std::shared_ptr<Work> work_;  // the threads share it
};

}  // namespace kinjo::stream
