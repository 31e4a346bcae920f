// A caller's own source of rows behind a result stream: C functions as a BatchSource.
#include <utility>
#include <variant>

#include "arrow/c/bridge.h"
#include "capi/wall.h"
#include "stream/result_stream.h"

using namespace kinjo::capi;  // NOLINT: the functions below are C's
using kinjo::stream::Batch;
using kinjo::stream::BatchSource;

struct kinjo_request {
  std::shared_ptr<arrow::Schema> schema;
  std::variant<BatchSource::OnBatch, BatchSource::OnDone> done;
};

namespace {

class ForeignSource final : public BatchSource {
 public:
  explicit ForeignSource(const kinjo_source& source) : source_(source) {}
  ~ForeignSource() override {
    if (source_.release != nullptr) source_.release(source_.context);
  }

  void Fetch(OnBatch done) override {
    source_.fetch(source_.context, new kinjo_request{schema_, std::move(done)});
  }
  void Cancel(OnDone done) override {
    source_.cancel(source_.context, new kinjo_request{schema_, std::move(done)});
  }
  void Close(OnDone done) override {
    source_.close(source_.context, new kinjo_request{schema_, std::move(done)});
  }

  /// Of the batches; before the first fetch.
  void SetSchema(std::shared_ptr<arrow::Schema> schema) { schema_ = std::move(schema); }

 private:
  const kinjo_source source_;
  std::shared_ptr<arrow::Schema> schema_;
};

arrow::Result<Batch> Import(ArrowArray* batch, const std::shared_ptr<arrow::Schema>& schema) {
  if (batch == nullptr || batch->release == nullptr) return Batch();
  return arrow::ImportRecordBatch(batch, schema);
}

}  // namespace

bool kinjo_stream_make(const kinjo_source* source, ArrowSchema* schema, bool complete,
                       kinjo_stream** stream, kinjo_error** error) {
  return Wall(error, [&]() -> arrow::Status {
    kinjo_source given{};
    ARROW_RETURN_NOT_OK(RequireArgument(source, "source"));
    ARROW_RETURN_NOT_OK(ReadStruct(source, "kinjo_source", &given));
    auto foreign = std::make_unique<ForeignSource>(given);  // released whatever follows
    ARROW_RETURN_NOT_OK(RequireArgument(schema, "schema"));
    ARROW_ASSIGN_OR_RAISE(const auto fields, arrow::ImportSchema(schema));
    ARROW_RETURN_NOT_OK(RequireArgument(stream, "stream"));
    if (given.fetch == nullptr || given.cancel == nullptr || given.close == nullptr) {
      return kinjo::base::Invalid("kinjo_source needs fetch, cancel and close");
    }
    foreign->SetSchema(fields);
    auto handle = std::make_unique<kinjo_stream>();
    const auto kind = complete ? kinjo::stream::ResultStream::Kind::kComplete
                               : kinjo::stream::ResultStream::Kind::kPending;
    handle->stream = kinjo::stream::ResultStream::Over(fields, std::move(foreign), kind);
    *stream = handle.release();
    return arrow::Status::OK();
  });
}

void kinjo_request_answer(kinjo_request* request, ArrowArray* batch) {
  const std::unique_ptr<kinjo_request> owned(request);
  if (owned == nullptr) return;
  Wall(nullptr, [&] {
    if (const auto* fetch = std::get_if<BatchSource::OnBatch>(&owned->done)) {
      (*fetch)(Import(batch, owned->schema));
    } else {
      std::get<BatchSource::OnDone>(owned->done)(arrow::Status::OK());
    }
    return arrow::Status::OK();
  });
}

void kinjo_request_fail(kinjo_request* request, kinjo_error_code code, const char* message) {
  const std::unique_ptr<kinjo_request> owned(request);
  if (owned == nullptr) return;
  Wall(nullptr, [&] {
    const auto inner = static_cast<kinjo::base::ErrorCode>(static_cast<int>(code) - 1);
    const arrow::Status error = kinjo::base::MakeError(inner, TextOf(message));
    if (const auto* fetch = std::get_if<BatchSource::OnBatch>(&owned->done)) {
      (*fetch)(error);
    } else {
      std::get<BatchSource::OnDone>(owned->done)(error);
    }
    return arrow::Status::OK();
  });
}
