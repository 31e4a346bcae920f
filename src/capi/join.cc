// Joins at the wall: made, explained, run, reported.
#include <algorithm>
#include <limits>
#include <optional>

#include "arrow/c/bridge.h"
#include "capi/describe.h"
#include "capi/join_options.h"
#include "capi/wall.h"
#include "join/knn_join.h"
#include "join/search.h"
#include "join/validate.h"
#include "tabular/table_source.h"

using namespace kinjo::capi;  // NOLINT: the functions below are C's

namespace {

void FillRecall(const std::optional<kinjo::join::RecallReport>& recall, kinjo_join_report* filled) {
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  filled->recall = filled->recall_low = filled->recall_high = kNone;
  if (!recall.has_value()) return;
  if (recall->exact || recall->measured) {
    filled->recall = recall->estimate.recall;
    filled->recall_low = recall->estimate.low;
    filled->recall_high = recall->estimate.high;
  }
  filled->recall_measured_rows = recall->estimate.rows;
  filled->recall_choosing_rows = recall->choosing_rows;
  filled->recall_choosing_s = recall->choose_s;
  if (recall->exact) return;
  filled->chosen_nprobes = recall->chosen.nprobes;
  filled->chosen_refine_factor = recall->chosen.refine_factor;
  filled->chosen_ef = recall->chosen.ef;
}

// Stores the join that `make` makes of the options.
template <typename Make>
arrow::Status MakeJoin(const kinjo_join_options* options, kinjo_join** join, const Make& make) {
  ARROW_RETURN_NOT_OK(StartComputing());
  ARROW_ASSIGN_OR_RAISE(const auto join_options, ToJoinOptions(options));
  ARROW_ASSIGN_OR_RAISE(std::shared_ptr<kinjo::join::KnnJoin> made, make(join_options));
  *join = new kinjo_join{std::move(made)};
  return arrow::Status::OK();
}

}  // namespace

bool kinjo_join_options_check(const kinjo_join_options* options, kinjo_error** error) {
  return Wall(error, [&]() -> arrow::Status {
    ARROW_ASSIGN_OR_RAISE(const auto join_options, ToJoinOptions(options));
    return kinjo::join::ValidateOptions(join_options);
  });
}

bool kinjo_join_make(kinjo_table* left, const char* right_uri, const kinjo_join_options* options,
                     kinjo_join** join, kinjo_error** error) {
  return Wall(error, [&]() -> arrow::Status {
    ARROW_RETURN_NOT_OK(RequireArgument(left, "left"));
    ARROW_RETURN_NOT_OK(RequireArgument(right_uri, "right_uri"));
    ARROW_RETURN_NOT_OK(RequireArgument(join, "join"));
    return MakeJoin(options, join, [&](const kinjo::join::JoinOptions& join_options) {
      return kinjo::join::KnnJoin::Make(left->source, right_uri, join_options);
    });
  });
}

bool kinjo_join_make_on_dataset(kinjo_table* left, const kinjo_dataset* right,
                                const kinjo_join_options* options, kinjo_join** join,
                                kinjo_error** error) {
  return Wall(error, [&]() -> arrow::Status {
    ARROW_RETURN_NOT_OK(RequireArgument(left, "left"));
    ARROW_RETURN_NOT_OK(RequireArgument(right, "right"));
    ARROW_RETURN_NOT_OK(RequireArgument(join, "join"));
    return MakeJoin(options, join, [&](const kinjo::join::JoinOptions& join_options) {
      return kinjo::join::KnnJoin::Make(left->source, right->dataset, join_options);
    });
  });
}

bool kinjo_join_make_on_table(kinjo_table* left, kinjo_table* right,
                              const kinjo_join_options* options, kinjo_join** join,
                              kinjo_error** error) {
  return Wall(error, [&]() -> arrow::Status {
    ARROW_RETURN_NOT_OK(RequireArgument(left, "left"));
    ARROW_RETURN_NOT_OK(RequireArgument(right, "right"));
    ARROW_RETURN_NOT_OK(RequireArgument(join, "join"));
    return MakeJoin(options, join, [&](const kinjo::join::JoinOptions& join_options) {
      return kinjo::join::KnnJoin::Make(left->source, right->source, join_options);
    });
  });
}

bool kinjo_search_make(const kinjo_dataset* dataset, kinjo_table* queries,
                       const kinjo_join_options* options, kinjo_join** search,
                       kinjo_error** error) {
  return Wall(error, [&]() -> arrow::Status {
    ARROW_RETURN_NOT_OK(RequireArgument(dataset, "dataset"));
    ARROW_RETURN_NOT_OK(RequireArgument(queries, "queries"));
    ARROW_RETURN_NOT_OK(RequireArgument(search, "search"));
    return MakeJoin(options, search, [&](const kinjo::join::JoinOptions& join_options) {
      return kinjo::join::MakeSearch(dataset->dataset, queries->source, join_options);
    });
  });
}

bool kinjo_join_get_schema(const kinjo_join* join, ArrowSchema* schema, kinjo_error** error) {
  return Wall(error, [&]() -> arrow::Status {
    ARROW_RETURN_NOT_OK(RequireArgument(join, "join"));
    ARROW_RETURN_NOT_OK(RequireArgument(schema, "schema"));
    return arrow::ExportSchema(*join->join->output_schema(), schema);
  });
}

bool kinjo_join_explain(const kinjo_join* join, bool verbose, char** text, kinjo_error** error) {
  return Wall(error, [&]() -> arrow::Status {
    ARROW_RETURN_NOT_OK(RequireArgument(join, "join"));
    return GiveText(join->join->Explain(verbose), text);
  });
}

bool kinjo_join_run(kinjo_join* join, const kinjo_run_options* options, kinjo_stream** stream,
                    kinjo_error** error) {
  return Wall(error, [&]() -> arrow::Status {
    ARROW_RETURN_NOT_OK(RequireArgument(join, "join"));
    ARROW_RETURN_NOT_OK(RequireArgument(stream, "stream"));
    ARROW_ASSIGN_OR_RAISE(RunControl control, ToRunControl(options));
    auto handle = std::make_unique<kinjo_stream>();
    handle->join = join->join;
    const auto kind = control.complete ? kinjo::stream::ResultStream::Kind::kComplete
                                       : kinjo::stream::ResultStream::Kind::kPending;
    ARROW_ASSIGN_OR_RAISE(handle->stream,
                          join->join->Run(control.cancel, std::move(control.progress), kind));
    *stream = handle.release();
    return arrow::Status::OK();
  });
}

bool kinjo_join_get_report(const kinjo_join* join, kinjo_join_report* report, kinjo_error** error) {
  return Wall(error, [&]() -> arrow::Status {
    ARROW_RETURN_NOT_OK(RequireArgument(join, "join"));
    const kinjo::join::JoinReport counts = join->join->report();
    kinjo_join_report filled{};
    filled.index_used = counts.path == "index";
    filled.exact_distances = counts.exact_distances;
    filled.left_rows = counts.left_rows;
    filled.result_rows = counts.result_rows;
    filled.skipped_null_rows = counts.skipped_null_rows;
    filled.skipped_non_finite_rows = counts.skipped_non_finite_rows;
    filled.short_rows = counts.short_rows;
    filled.total_s = counts.total_s;
    filled.capped_rows = counts.capped_rows;
    filled.resumed_rows = counts.resumed_rows;
    filled.duplicate_rows = counts.duplicate_rows;
    filled.peak_memory_bytes = counts.peak_memory_bytes;
    filled.measured_memory_bytes = counts.measured_memory_bytes.value_or(-1);
    FillRecall(counts.recall, &filled);
    return FillStruct(filled, "kinjo_join_report", report);
  });
}

bool kinjo_join_describe_report(const kinjo_join* join, char** json, kinjo_error** error) {
  return Wall(error, [&]() -> arrow::Status {
    ARROW_RETURN_NOT_OK(RequireArgument(join, "join"));
    return GiveText(DescribeReport(join->join->report()), json);
  });
}

bool kinjo_join_tune(kinjo_join* join, const kinjo_run_options* options, char** json,
                     kinjo_error** error) {
  return Wall(error, [&]() -> arrow::Status {
    ARROW_RETURN_NOT_OK(RequireArgument(join, "join"));
    ARROW_ASSIGN_OR_RAISE(const RunControl control, ToRunControl(options));
    ARROW_ASSIGN_OR_RAISE(const auto curve, join->join->Tune(control.cancel));
    return GiveText(DescribeCurve(curve), json);
  });
}

bool kinjo_join_nearest_partitions(kinjo_join* join, const kinjo_run_options* options,
                                   int32_t* partitions, int64_t count, kinjo_error** error) {
  return Wall(error, [&]() -> arrow::Status {
    ARROW_RETURN_NOT_OK(RequireArgument(join, "join"));
    if (count != 0) ARROW_RETURN_NOT_OK(RequireArgument(partitions, "partitions"));
    ARROW_ASSIGN_OR_RAISE(const RunControl control, ToRunControl(options));
    ARROW_ASSIGN_OR_RAISE(const auto nearest, join->join->NearestPartitions(control.cancel));
    if (static_cast<int64_t>(nearest.size()) != count) {
      return kinjo::base::Invalid("count = ", count, ", but the left side has ", nearest.size(),
                                  " rows");
    }
    std::copy(nearest.begin(), nearest.end(), partitions);
    return arrow::Status::OK();
  });
}

bool kinjo_join_analyze(const kinjo_join* join, char** text, kinjo_error** error) {
  return Wall(error, [&]() -> arrow::Status {
    ARROW_RETURN_NOT_OK(RequireArgument(join, "join"));
    return GiveText(join->join->Analyze(), text);
  });
}

void kinjo_join_free(kinjo_join* join) { delete join; }
