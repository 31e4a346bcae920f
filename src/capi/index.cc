// Vector indexes at the wall: built, committed, kept.
#include <cstring>
#include <utility>
#include <vector>

#include "capi/index_text.h"
#include "capi/join_options.h"
#include "capi/optional_number.h"
#include "capi/wall.h"
#include "dataset/index_build.h"
#include "dataset/index_commit.h"
#include "dataset/index_optimize.h"
#include "dataset/vector_source.h"

using namespace kinjo::capi;  // NOLINT: the functions below are C's

namespace {

namespace dataset = kinjo::dataset;

kinjo_index_options Defaults() {
  kinjo_index_options options{};
  options.struct_size = sizeof(options);
  for (int64_t* number :
       {&options.num_partitions, &options.target_partition_size, &options.num_sub_vectors,
        &options.num_bits, &options.m, &options.ef_construction, &options.max_level,
        &options.sample_rate, &options.max_iterations, &options.seed, &options.threads,
        &options.memory_limit_bytes}) {
    *number = KINJO_UNSET;
  }
  return options;
}

kinjo_index_optimize_options OptimizeDefaults() {
  return {sizeof(kinjo_index_optimize_options), KINJO_UNSET, false, KINJO_UNSET, KINJO_UNSET};
}

/// Sets a count that was given.
arrow::Status SetCount(const char* name, int64_t given, int64_t* out) {
  ARROW_ASSIGN_OR_RAISE(const auto count, OptionalCount(name, given));
  if (count.has_value()) *out = *count;
  return arrow::Status::OK();
}

arrow::Result<kinjo::format::Tensor> CopyMatrix(const void* values, kinjo::format::ElementType type,
                                                int64_t rows, int64_t cols) {
  const int64_t bytes = rows * cols * kinjo::format::ElementBytes(type);
  ARROW_ASSIGN_OR_RAISE(std::shared_ptr<arrow::Buffer> data, arrow::AllocateBuffer(bytes));
  std::memcpy(data->mutable_data(), values, static_cast<size_t>(bytes));
  return kinjo::format::Tensor{.type = type,
                               .rows = static_cast<uint64_t>(rows),
                               .cols = static_cast<uint64_t>(cols),
                               .data = std::move(data)};
}

/// A model that kinjo_index_train gave.
arrow::Status ReadTrainedModel(const kinjo_index_options& given,
                               const dataset::IndexedVectors& column,
                               dataset::IndexParams* params) {
  if (given.centroids != nullptr || given.codebook != nullptr) {
    return kinjo::base::Invalid("model can't be given together with centroids or a codebook");
  }
  ARROW_ASSIGN_OR_RAISE(dataset::IndexModel model, ReadModelText(given.model));
  if (model.centroids.type != column.element ||
      model.centroids.cols != static_cast<uint64_t>(column.dim)) {
    return kinjo::base::Invalid("model: it was trained on ", model.centroids.cols, " elements of ",
                                kinjo::format::ElementTypeName(model.centroids.type), ", but ",
                                column.column, " has ", column.dim, " of ",
                                kinjo::format::ElementTypeName(column.element));
  }
  params->centroids = std::move(model.centroids);
  params->codebook = std::move(model.codebook);
  return arrow::Status::OK();
}

/// The given model has the column's element type and width.
arrow::Status ReadModel(const kinjo_index_options& given, const dataset::IndexedVectors& column,
                        dataset::IndexParams* params) {
  if (given.model != nullptr) return ReadTrainedModel(given, column, params);
  if (given.centroids != nullptr) {
    ARROW_ASSIGN_OR_RAISE(const auto count, OptionalCount("num_centroids", given.num_centroids));
    if (!count.has_value()) return kinjo::base::Invalid("num_centroids isn't given");
    ARROW_ASSIGN_OR_RAISE(params->centroids,
                          CopyMatrix(given.centroids, column.element, *count, column.dim));
  }
  if (given.codebook == nullptr) return arrow::Status::OK();
  ARROW_ASSIGN_OR_RAISE(const auto resolved, dataset::ResolveIndexParams(*params, column));
  const auto& training = resolved.training;
  if (training.num_sub_vectors == 0) {
    return kinjo::base::Invalid("a codebook is given, but only types with PQ have one");
  }
  ARROW_ASSIGN_OR_RAISE(params->codebook, CopyMatrix(given.codebook, column.element,
                                                     training.num_sub_vectors << training.num_bits,
                                                     column.dim / training.num_sub_vectors));
  return arrow::Status::OK();
}

arrow::Result<dataset::IndexBuildOptions> ToBuildOptions(int64_t threads, int64_t memory_limit,
                                                         const kinjo_run_options* run_options) {
  dataset::IndexBuildOptions options;
  ARROW_ASSIGN_OR_RAISE(options.threads, OptionalCount("threads", threads));
  ARROW_ASSIGN_OR_RAISE(options.memory_limit_bytes,
                        OptionalCount("memory_limit_bytes", memory_limit));
  ARROW_ASSIGN_OR_RAISE(RunControl control, ToRunControl(run_options));
  options.cancel = control.cancel;
  options.progress = std::move(control.progress);
  return options;
}

/// What an index is asked to be.
struct Request {
  kinjo_index_options given = Defaults();  // borrows the caller's texts
  std::shared_ptr<dataset::Dataset> opened;
  std::string column;
  dataset::IndexParams params;
  dataset::IndexBuildOptions build;
};

arrow::Result<Request> ReadRequest(const char* uri, const kinjo_index_options* options,
                                   const kinjo_run_options* run_options) {
  ARROW_RETURN_NOT_OK(StartComputing());
  Request request;
  kinjo_index_options& given = request.given;
  ARROW_RETURN_NOT_OK(ReadStruct(options, "kinjo_index_options", &given));
  dataset::IndexParams& params = request.params;
  if (given.type != nullptr) params.type = given.type;
  params.metric = TextOf(given.metric);
  ARROW_RETURN_NOT_OK(SetCount("num_partitions", given.num_partitions, &params.num_partitions));
  ARROW_RETURN_NOT_OK(SetCount("target_partition_size", given.target_partition_size,
                               &params.target_partition_size));
  ARROW_RETURN_NOT_OK(SetCount("num_sub_vectors", given.num_sub_vectors, &params.num_sub_vectors));
  ARROW_RETURN_NOT_OK(SetCount("num_bits", given.num_bits, &params.num_bits));
  ARROW_RETURN_NOT_OK(SetCount("m", given.m, &params.m));
  ARROW_RETURN_NOT_OK(SetCount("ef_construction", given.ef_construction, &params.ef_construction));
  ARROW_RETURN_NOT_OK(SetCount("max_level", given.max_level, &params.max_level));
  ARROW_RETURN_NOT_OK(SetCount("sample_rate", given.sample_rate, &params.sample_rate));
  ARROW_RETURN_NOT_OK(SetCount("max_iterations", given.max_iterations, &params.max_iterations));
  if (given.seed != KINJO_UNSET) params.seed = static_cast<uint64_t>(given.seed);
  ARROW_ASSIGN_OR_RAISE(request.build,
                        ToBuildOptions(given.threads, given.memory_limit_bytes, run_options));
  ARROW_ASSIGN_OR_RAISE(request.opened, dataset::Dataset::Open(uri));
  request.column = TextOf(given.column);
  if (request.column.empty()) {
    ARROW_ASSIGN_OR_RAISE(request.column, dataset::OnlyVectorColumn(*request.opened));
  }
  if (given.centroids != nullptr || given.codebook != nullptr || given.model != nullptr) {
    ARROW_ASSIGN_OR_RAISE(const auto source, dataset::VectorSource::Make(
                                                 request.opened, request.column, std::nullopt));
    ARROW_RETURN_NOT_OK(ReadModel(given, source.column(), &params));
  }
  return request;
}

void GiveVersion(uint64_t made, uint64_t* version) {
  if (version != nullptr) *version = made;
}

}  // namespace

void kinjo_index_options_init(kinjo_index_options* options, size_t struct_size) {
  InitStruct(options, struct_size, Defaults());
}

void kinjo_index_optimize_options_init(kinjo_index_optimize_options* options, size_t struct_size) {
  InitStruct(options, struct_size, OptimizeDefaults());
}

bool kinjo_index_create(const char* dataset_uri, const kinjo_index_options* options,
                        const kinjo_run_options* run_options, char** json, kinjo_error** error) {
  return Wall(error, [&]() -> arrow::Status {
    ARROW_RETURN_NOT_OK(RequireArgument(dataset_uri, "dataset_uri"));
    ARROW_ASSIGN_OR_RAISE(const Request request, ReadRequest(dataset_uri, options, run_options));
    ARROW_ASSIGN_OR_RAISE(
        const dataset::CreatedIndex created,
        dataset::CreateIndex(request.opened, request.column, TextOf(request.given.name),
                             request.given.replace, request.params, request.build));
    return json == nullptr ? arrow::Status::OK() : GiveText(DescribeCreated(created), json);
  });
}

bool kinjo_index_train(const char* dataset_uri, const kinjo_index_options* options,
                       const kinjo_run_options* run_options, char** model, kinjo_error** error) {
  return Wall(error, [&]() -> arrow::Status {
    ARROW_RETURN_NOT_OK(RequireArgument(dataset_uri, "dataset_uri"));
    ARROW_RETURN_NOT_OK(RequireArgument(model, "model"));
    ARROW_ASSIGN_OR_RAISE(const Request request, ReadRequest(dataset_uri, options, run_options));
    ARROW_ASSIGN_OR_RAISE(
        const dataset::IndexModel learnt,
        dataset::TrainIndexModel(request.opened, request.column, request.params, request.build));
    return GiveText(ModelText(learnt), model);
  });
}

bool kinjo_index_build_segment(const char* dataset_uri, const kinjo_index_options* options,
                               const uint64_t* fragment_ids, size_t num_fragments,
                               const kinjo_run_options* run_options, char** segment,
                               kinjo_error** error) {
  return Wall(error, [&]() -> arrow::Status {
    ARROW_RETURN_NOT_OK(RequireArgument(dataset_uri, "dataset_uri"));
    ARROW_RETURN_NOT_OK(RequireArgument(fragment_ids, "fragment_ids"));
    ARROW_RETURN_NOT_OK(RequireArgument(segment, "segment"));
    ARROW_ASSIGN_OR_RAISE(const Request request, ReadRequest(dataset_uri, options, run_options));
    ARROW_ASSIGN_OR_RAISE(
        const dataset::BuiltSegment built,
        dataset::BuildSegment(request.opened, request.column,
                              std::vector<uint64_t>(fragment_ids, fragment_ids + num_fragments),
                              request.params, request.build));
    return GiveText(SegmentText(built.segment), segment);
  });
}

bool kinjo_index_commit_segments(const char* dataset_uri, const char* const* segments,
                                 size_t num_segments, const char* name, bool replace,
                                 uint64_t* version, kinjo_error** error) {
  return Wall(error, [&]() -> arrow::Status {
    ARROW_RETURN_NOT_OK(RequireArgument(dataset_uri, "dataset_uri"));
    ARROW_RETURN_NOT_OK(RequireArgument(segments, "segments"));
    ARROW_RETURN_NOT_OK(StartEngine());
    dataset::SegmentCommit commit;
    for (size_t i = 0; i < num_segments; ++i) {
      ARROW_RETURN_NOT_OK(RequireArgument(segments[i], "segments[]"));
      ARROW_ASSIGN_OR_RAISE(dataset::IndexSegment segment, ReadSegmentText(segments[i]));
      commit.segments.push_back(std::move(segment));
    }
    commit.name = TextOf(name);
    if (commit.name.empty() && !commit.segments.empty()) {
      commit.name = dataset::DefaultIndexName(commit.segments.front().column);
    }
    commit.existing = replace ? dataset::Existing::kReplace : dataset::Existing::kRefuse;
    ARROW_ASSIGN_OR_RAISE(const uint64_t made,
                          dataset::CommitSegments(dataset_uri, commit, kinjo::base::CancelToken()));
    GiveVersion(made, version);
    return arrow::Status::OK();
  });
}

bool kinjo_index_optimize(const char* dataset_uri, const char* name,
                          const kinjo_index_optimize_options* options,
                          const kinjo_run_options* run_options, char** json, kinjo_error** error) {
  return Wall(error, [&]() -> arrow::Status {
    ARROW_RETURN_NOT_OK(RequireArgument(dataset_uri, "dataset_uri"));
    ARROW_RETURN_NOT_OK(RequireArgument(name, "name"));
    ARROW_RETURN_NOT_OK(StartComputing());
    kinjo_index_optimize_options given = OptimizeDefaults();
    ARROW_RETURN_NOT_OK(ReadStruct(options, "kinjo_index_optimize_options", &given));
    dataset::IndexOptimizeOptions wanted;
    wanted.num_indices_to_merge = OptionalNumber(given.num_indices_to_merge);
    wanted.retrain = given.retrain;
    ARROW_ASSIGN_OR_RAISE(wanted.build,
                          ToBuildOptions(given.threads, given.memory_limit_bytes, run_options));
    ARROW_ASSIGN_OR_RAISE(const dataset::OptimizedIndex optimized,
                          dataset::OptimizeIndex(dataset_uri, name, wanted));
    return json == nullptr ? arrow::Status::OK() : GiveText(DescribeOptimized(optimized), json);
  });
}

bool kinjo_index_drop(const char* dataset_uri, const char* name, uint64_t* version,
                      kinjo_error** error) {
  return Wall(error, [&]() -> arrow::Status {
    ARROW_RETURN_NOT_OK(RequireArgument(dataset_uri, "dataset_uri"));
    ARROW_RETURN_NOT_OK(RequireArgument(name, "name"));
    ARROW_RETURN_NOT_OK(StartEngine());
    ARROW_ASSIGN_OR_RAISE(const uint64_t made,
                          dataset::DropIndex(dataset_uri, name, kinjo::base::CancelToken()));
    GiveVersion(made, version);
    return arrow::Status::OK();
  });
}

bool kinjo_index_rename(const char* dataset_uri, const char* name, const char* new_name,
                        uint64_t* version, kinjo_error** error) {
  return Wall(error, [&]() -> arrow::Status {
    ARROW_RETURN_NOT_OK(RequireArgument(dataset_uri, "dataset_uri"));
    ARROW_RETURN_NOT_OK(RequireArgument(name, "name"));
    ARROW_RETURN_NOT_OK(RequireArgument(new_name, "new_name"));
    ARROW_RETURN_NOT_OK(StartEngine());
    ARROW_ASSIGN_OR_RAISE(const uint64_t made, dataset::RenameIndex(dataset_uri, name, new_name,
                                                                    kinjo::base::CancelToken()));
    GiveVersion(made, version);
    return arrow::Status::OK();
  });
}
