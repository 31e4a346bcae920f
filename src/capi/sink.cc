// Rows of a join or of any stream written to a file or to standard output.
#include "base/cancel_scope.h"
#include "capi/join_options.h"
#include "capi/optional_number.h"
#include "capi/wall.h"
#include "join/knn_join.h"
#include "tabular/table_sink.h"

using namespace kinjo::capi;  // NOLINT: the functions below are C's

namespace {

kinjo_sink_options Defaults() {
  return {sizeof(kinjo_sink_options), nullptr, nullptr, KINJO_UNSET, true};
}

arrow::Result<kinjo::tabular::SinkOptions> ToSinkOptions(const kinjo_sink_options* options) {
  kinjo_sink_options given = Defaults();
  ARROW_RETURN_NOT_OK(ReadStruct(options, "kinjo_sink_options", &given));
  kinjo::tabular::SinkOptions sink;
  sink.format = TextOf(given.format);
  sink.compression = TextOf(given.compression);
  ARROW_ASSIGN_OR_RAISE(const auto rows, OptionalCount("row_group_rows", given.row_group_rows));
  sink.row_group_rows = rows.value_or(sink.row_group_rows);
  sink.overwrite = given.overwrite;
  return sink;
}

arrow::Status WriteAll(kinjo::stream::ResultStream* stream, kinjo::tabular::TableSink* sink) {
  while (true) {
    ARROW_ASSIGN_OR_RAISE(const auto batch, stream->Next());
    if (batch == nullptr) return arrow::Status::OK();
    ARROW_RETURN_NOT_OK(sink->Write(*batch));
  }
}

// The stream is closed before the sink is finished: its last error must keep the file away.
arrow::Status WriteJoin(kinjo::join::KnnJoin* join, kinjo::tabular::TableSink* sink,
                        RunControl control) {
  const kinjo::base::CancelScope scope(control.cancel);
  ARROW_ASSIGN_OR_RAISE(const auto stream, join->Run(control.cancel, std::move(control.progress)));
  ARROW_RETURN_NOT_OK(WriteAll(stream.get(), sink));
  ARROW_RETURN_NOT_OK(control.cancel.Check());
  ARROW_RETURN_NOT_OK(stream->Close());
  return sink->Finish();
}

arrow::Status WriteStream(kinjo::stream::ResultStream* stream, kinjo::tabular::TableSink* sink) {
  ARROW_RETURN_NOT_OK(WriteAll(stream, sink));
  ARROW_RETURN_NOT_OK(stream->Close());
  return sink->Finish();
}

// Leaves nothing behind where the rows didn't all arrive.
arrow::Status Settle(const arrow::Status& written, kinjo::tabular::TableSink* sink,
                     int64_t* rows_written) {
  if (!written.ok()) {
    sink->Abort();
  } else if (rows_written != nullptr) {
    *rows_written = sink->rows_written();
  }
  return written;
}

}  // namespace

void kinjo_sink_options_init(kinjo_sink_options* options, size_t struct_size) {
  InitStruct(options, struct_size, Defaults());
}

bool kinjo_sink_options_check(const char* path, const kinjo_sink_options* options,
                              kinjo_error** error) {
  return Wall(error, [&]() -> arrow::Status {
    ARROW_RETURN_NOT_OK(RequireArgument(path, "path"));
    ARROW_ASSIGN_OR_RAISE(const auto sink_options, ToSinkOptions(options));
    return kinjo::tabular::CheckSink(path, sink_options);
  });
}

bool kinjo_sink_place_check(const char* path, const kinjo_sink_options* options,
                            kinjo_error** error) {
  return Wall(error, [&]() -> arrow::Status {
    ARROW_RETURN_NOT_OK(RequireArgument(path, "path"));
    ARROW_ASSIGN_OR_RAISE(const auto sink_options, ToSinkOptions(options));
    return kinjo::tabular::CheckSinkPlace(path, sink_options);
  });
}

bool kinjo_join_write(kinjo_join* join, const char* path, const kinjo_sink_options* sink_options,
                      const kinjo_run_options* run_options, int64_t* rows_written,
                      kinjo_error** error) {
  return Wall(error, [&]() -> arrow::Status {
    ARROW_RETURN_NOT_OK(RequireArgument(join, "join"));
    ARROW_RETURN_NOT_OK(RequireArgument(path, "path"));
    ARROW_ASSIGN_OR_RAISE(auto options, ToSinkOptions(sink_options));
    options.held_bytes = join->join->output_bytes();
    ARROW_ASSIGN_OR_RAISE(RunControl control, ToRunControl(run_options));
    ARROW_ASSIGN_OR_RAISE(const auto sink,
                          kinjo::tabular::OpenSink(path, join->join->output_schema(), options));
    return Settle(WriteJoin(join->join.get(), sink.get(), std::move(control)), sink.get(),
                  rows_written);
  });
}

bool kinjo_stream_write(kinjo_stream* stream, const char* path,
                        const kinjo_sink_options* sink_options, int64_t* rows_written,
                        kinjo_error** error) {
  return Wall(error, [&]() -> arrow::Status {
    ARROW_RETURN_NOT_OK(RequireReadable(stream));
    ARROW_RETURN_NOT_OK(RequireArgument(path, "path"));
    ARROW_ASSIGN_OR_RAISE(const auto options, ToSinkOptions(sink_options));
    ARROW_ASSIGN_OR_RAISE(const auto sink,
                          kinjo::tabular::OpenSink(path, stream->stream->schema(), options));
    return Settle(WriteStream(stream->stream.get(), sink.get()), sink.get(), rows_written);
  });
}
