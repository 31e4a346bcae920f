// A join's rows at the wall for who must not wait: each call answers by a C callback.
#include <optional>
#include <utility>

#include "arrow/c/bridge.h"
#include "capi/optional_number.h"
#include "capi/wall.h"
#include "stream/result_stream.h"

using namespace kinjo::capi;  // NOLINT: the functions below are C's

namespace {

using kinjo::stream::Batch;

kinjo_error* ErrorOf(const arrow::Status& status) {
  kinjo_error* error = nullptr;
  if (!status.ok()) StoreError(status, &error);
  return error;
}

void Tell(kinjo_done_callback done, void* context, const arrow::Status& status) {
  if (done == nullptr) return;
  done(context, ErrorOf(status));
}

void TellBatch(kinjo_batch_callback done, void* context, const arrow::Result<Batch>& result) {
  ArrowArray batch{};
  arrow::Status status = result.status();
  if (status.ok() && *result != nullptr) status = arrow::ExportRecordBatch(**result, &batch);
  if (done != nullptr) done(context, &batch, ErrorOf(status));
  if (batch.release != nullptr) batch.release(&batch);
}

void TellAnswer(kinjo_answer_callback done, void* context, const arrow::Result<bool>& result) {
  if (done == nullptr) return;
  done(context, result.ok() && *result, ErrorOf(result.status()));
}

// Runs `start` on the stream. What stands in its way goes to the callback like any other error.
template <typename Start, typename Refuse>
void Begin(kinjo_stream* stream, const Start& start, const Refuse& refuse) {
  kinjo_error* error = nullptr;
  const bool begun = Wall(&error, [&]() -> arrow::Status {
    ARROW_RETURN_NOT_OK(RequireReadable(stream));
    start(stream->stream.get());
    return arrow::Status::OK();
  });
  if (!begun) refuse(error);
}

using Stream = kinjo::stream::ResultStream;

void BeginDone(kinjo_stream* stream, void (Stream::*call)(Stream::OnDone), kinjo_done_callback done,
               void* context) {
  Begin(
      stream,
      [&](Stream* rows) {
        (rows->*call)([=](const arrow::Status& status) { Tell(done, context, status); });
      },
      [&](kinjo_error* error) {
        done == nullptr ? kinjo_error_free(error) : done(context, error);
      });
}

}  // namespace

void kinjo_stream_fetch_async(kinjo_stream* stream, int64_t max_rows, kinjo_batch_callback done,
                              void* context) {
  Begin(
      stream,
      [&](Stream* rows) {
        rows->Fetch(OptionalNumber(max_rows),
                    [=](const arrow::Result<Batch>& result) { TellBatch(done, context, result); });
      },
      [&](kinjo_error* error) {
        ArrowArray none{};
        done == nullptr ? kinjo_error_free(error) : done(context, &none, error);
      });
}

void kinjo_stream_has_more_async(kinjo_stream* stream, kinjo_answer_callback done, void* context) {
  Begin(
      stream,
      [&](Stream* rows) {
        rows->HasMore(
            [=](const arrow::Result<bool>& result) { TellAnswer(done, context, result); });
      },
      [&](kinjo_error* error) {
        done == nullptr ? kinjo_error_free(error) : done(context, false, error);
      });
}

void kinjo_stream_finish_async(kinjo_stream* stream, kinjo_done_callback done, void* context) {
  BeginDone(stream, &Stream::Finish, done, context);
}

void kinjo_stream_cancel_async(kinjo_stream* stream, kinjo_done_callback done, void* context) {
  BeginDone(stream, &Stream::Cancel, done, context);
}

void kinjo_stream_close_async(kinjo_stream* stream, kinjo_done_callback done, void* context) {
  BeginDone(stream, &Stream::Close, done, context);
}
