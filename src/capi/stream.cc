// A join's rows at the wall: pulled batch by batch, or handed over as an ArrowArrayStream. The
// latter's callbacks are ours and not Arrow's bridge, so that they stand behind the catch-all too.
#include "stream/result_stream.h"

#include "arrow/c/bridge.h"
#include "capi/wall.h"

using namespace kinjo::capi;  // NOLINT: the functions below are C's

namespace {

using kinjo::stream::ResultStream;

arrow::Status NextBatch(ResultStream* stream, std::optional<int64_t> max_rows, ArrowArray* batch) {
  ARROW_ASSIGN_OR_RAISE(const auto next, stream->Next(max_rows));
  if (next != nullptr) return arrow::ExportRecordBatch(*next, batch);
  *batch = ArrowArray{};
  return arrow::Status::OK();
}

// Behind an exported stream's private_data. It keeps the join for as long as its producer may run.
struct Exported {
  std::shared_ptr<kinjo::join::KnnJoin> join;
  std::shared_ptr<ResultStream> stream;
  kinjo_error* last_error = nullptr;

  ~Exported() { kinjo_error_free(last_error); }
};

Exported* Behind(ArrowArrayStream* stream) { return static_cast<Exported*>(stream->private_data); }

template <typename Body>
int Call(ArrowArrayStream* stream, const Body& body) {
  Exported* exported = Behind(stream);
  kinjo_error_free(std::exchange(exported->last_error, nullptr));
  if (Wall(&exported->last_error, [&] { return body(exported->stream.get()); })) return 0;
  return kinjo_error_code_errno(kinjo_error_get_code(exported->last_error));
}

int GetSchema(ArrowArrayStream* self, ArrowSchema* out) {
  return Call(self,
              [&](ResultStream* stream) { return arrow::ExportSchema(*stream->schema(), out); });
}

int GetNext(ArrowArrayStream* self, ArrowArray* out) {
  return Call(self, [&](ResultStream* stream) { return NextBatch(stream, std::nullopt, out); });
}

const char* GetLastError(ArrowArrayStream* self) {
  const kinjo_error* error = Behind(self)->last_error;
  return error == nullptr ? nullptr : kinjo_error_get_message(error);
}

void Release(ArrowArrayStream* self) {
  const std::unique_ptr<Exported> exported(Behind(self));
  Wall(nullptr, [&] { return exported->stream->Close(); });
  *self = ArrowArrayStream{};
}

}  // namespace

arrow::Status kinjo::capi::RequireReadable(const kinjo_stream* stream) {
  ARROW_RETURN_NOT_OK(RequireArgument(stream, "stream"));
  if (!stream->exported) return arrow::Status::OK();
  return base::MakeError(base::ErrorCode::kState,
                         "the stream was exported; read it through its ArrowArrayStream");
}

bool kinjo_stream_get_schema(const kinjo_stream* stream, ArrowSchema* schema, kinjo_error** error) {
  return Wall(error, [&]() -> arrow::Status {
    ARROW_RETURN_NOT_OK(RequireArgument(stream, "stream"));
    ARROW_RETURN_NOT_OK(RequireArgument(schema, "schema"));
    return arrow::ExportSchema(*stream->stream->schema(), schema);
  });
}

bool kinjo_stream_next(kinjo_stream* stream, ArrowArray* batch, kinjo_error** error) {
  return Wall(error, [&]() -> arrow::Status {
    ARROW_RETURN_NOT_OK(RequireReadable(stream));
    ARROW_RETURN_NOT_OK(RequireArgument(batch, "batch"));
    return NextBatch(stream->stream.get(), std::nullopt, batch);
  });
}

bool kinjo_stream_next_rows(kinjo_stream* stream, int64_t max_rows, ArrowArray* batch,
                            kinjo_error** error) {
  return Wall(error, [&]() -> arrow::Status {
    ARROW_RETURN_NOT_OK(RequireReadable(stream));
    ARROW_RETURN_NOT_OK(RequireArgument(batch, "batch"));
    return NextBatch(stream->stream.get(), max_rows, batch);
  });
}

bool kinjo_stream_has_more(kinjo_stream* stream, bool* more, kinjo_error** error) {
  return Wall(error, [&]() -> arrow::Status {
    ARROW_RETURN_NOT_OK(RequireReadable(stream));
    ARROW_RETURN_NOT_OK(RequireArgument(more, "more"));
    return stream->stream->HasMore().Value(more);
  });
}

bool kinjo_stream_finish(kinjo_stream* stream, kinjo_error** error) {
  return Wall(error, [&]() -> arrow::Status {
    ARROW_RETURN_NOT_OK(RequireReadable(stream));
    return stream->stream->Finish();
  });
}

bool kinjo_stream_is_complete(const kinjo_stream* stream) {
  return stream != nullptr && stream->stream->kind() == ResultStream::Kind::kComplete;
}

void kinjo_stream_cancel(kinjo_stream* stream) {
  if (stream == nullptr) return;
  Wall(nullptr, [&] {
    stream->stream->Cancel();
    return arrow::Status::OK();
  });
}

bool kinjo_stream_close(kinjo_stream* stream, kinjo_error** error) {
  return Wall(error, [&]() -> arrow::Status {
    ARROW_RETURN_NOT_OK(RequireReadable(stream));
    return stream->stream->Close();
  });
}

bool kinjo_stream_export(kinjo_stream* stream, ArrowArrayStream* out, kinjo_error** error) {
  return Wall(error, [&]() -> arrow::Status {
    ARROW_RETURN_NOT_OK(RequireReadable(stream));
    ARROW_RETURN_NOT_OK(RequireArgument(out, "out"));
    auto exported = std::make_unique<Exported>();
    exported->join = stream->join;
    exported->stream = stream->stream;
    *out = {GetSchema, GetNext, GetLastError, Release, exported.release()};
    stream->exported = true;
    return arrow::Status::OK();
  });
}

// The last owner's end closes, and waits for what runs but not for a source that never answers.
void kinjo_stream_free(kinjo_stream* stream) {
  Wall(nullptr, [&] {
    delete stream;
    return arrow::Status::OK();
  });
}
