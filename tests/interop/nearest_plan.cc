// Runs the plan of a nearest search (src/exec/operators/nearest_plan.h) on a Lance dataset: what
// tests/interop/test_operators.py compares with pylance.
//
//   nearest_plan DATASET QUERY [NAME=VALUE ...]
//
// QUERY is a file of float64 elements. Names: column, k, metric, minimum_nprobes, maximum_nprobes,
// refine_factor, ef, where, index (0: none), fast_search, scores_unreached, adaptive, vectors,
// threads, lower, upper. Prints `# counter value` lines, then `row id, distance` lines.
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <map>
#include <string>

#include "arrow/array.h"
#include "arrow/compute/initialize.h"
#include "exec/operators/nearest_plan.h"
#include "io/random_reader.h"

namespace kinjo {
namespace {

using Options = std::map<std::string, std::string>;

int64_t Number(const Options& options, const std::string& name, int64_t otherwise) {
  const auto found = options.find(name);
  return found == options.end() ? otherwise : std::atoll(found->second.c_str());
}

std::string Text(const Options& options, const std::string& name, const std::string& otherwise) {
  const auto found = options.find(name);
  return found == options.end() ? otherwise : found->second;
}

arrow::Result<std::vector<double>> ReadQuery(const std::string& path) {
  ARROW_ASSIGN_OR_RAISE(const io::Location location, io::ResolveUri(path));
  ARROW_ASSIGN_OR_RAISE(const auto reader, io::OpenFile(location));
  ARROW_ASSIGN_OR_RAISE(const auto bytes, reader->Read({0, reader->size()}));
  const auto* values = reinterpret_cast<const double*>(bytes->data());
  return std::vector<double>(values, values + bytes->size() / 8);
}

arrow::Result<exec::NearestRequest> MakeRequest(const dataset::Dataset& dataset,
                                                const Options& options) {
  exec::NearestRequest request;
  exec::VectorQuery& query = request.query;
  query.column = Text(options, "column", "vector");
  query.k = Number(options, "k", 10);
  query.num_vectors = Number(options, "vectors", 1);
  query.minimum_nprobes = Number(options, "minimum_nprobes", 1);
  if (options.contains("maximum_nprobes")) {
    query.maximum_nprobes = Number(options, "maximum_nprobes", 1);
  }
  if (options.contains("refine_factor")) query.refine_factor = Number(options, "refine_factor", 1);
  if (options.contains("ef")) query.ef = Number(options, "ef", 0);
  query.adaptive_nprobes = Number(options, "adaptive", 0) != 0;
  if (options.contains("upper")) {
    query.distance_range =
        exec::DistanceRange::HalfOpen(std::strtof(Text(options, "lower", "0").c_str(), nullptr),
                                      std::strtof(Text(options, "upper", "0").c_str(), nullptr));
  }
  if (Number(options, "index", 1) != 0) {
    for (const dataset::IndexInfo& index : dataset.vector_indexes()) {
      if (index.column == query.column && index.unusable_reason.empty()) request.index = &index;
    }
    if (request.index == nullptr) return base::NotFound("no index of ", query.column);
  }
  const std::string metric =
      Text(options, "metric", request.index == nullptr ? "l2" : request.index->metric);
  query.metric = *kernels::ParseMetric(metric);
  const std::string where = Text(options, "where", "");
  if (!where.empty()) {
    ARROW_ASSIGN_OR_RAISE(request.predicate,
                          predicate::Predicate::Parse(where, dataset.arrow_schema()));
  }
  request.fast_search = Number(options, "fast_search", 0) != 0;
  request.scores_unreached = Number(options, "scores_unreached", 1) != 0;
  request.with_row_id = true;
  return request;
}

arrow::Status Run(const std::string& uri, const std::string& query_path, const Options& options) {
  ARROW_ASSIGN_OR_RAISE(const auto dataset, dataset::Dataset::Open(uri));
  ARROW_ASSIGN_OR_RAISE(exec::NearestRequest request, MakeRequest(*dataset, options));
  ARROW_ASSIGN_OR_RAISE(request.query.vector, ReadQuery(query_path));
  ARROW_ASSIGN_OR_RAISE(const auto plan, exec::MakeNearestPlan(dataset, request));
  base::ThreadPool pool(static_cast<int>(Number(options, "threads", 2)));
  exec::PlanRun run(&pool, base::CancelToken());
  ARROW_ASSIGN_OR_RAISE(const auto batches, exec::CollectBatches(*plan, &run));
  for (const std::string_view name :
       {exec::kPartitionsRanked, exec::kDeltasSearched, exec::kPartitionsSearched,
        exec::kIndexComparisons, exec::kRowsRefined, exec::kRowsScanned}) {
    std::printf("# %s %lld\n", std::string(name).c_str(), static_cast<long long>(run.Total(name)));
  }
  for (const auto& batch : batches) {
    const auto& distances =
        static_cast<const arrow::FloatArray&>(*batch->GetColumnByName(exec::kDistanceColumn));
    const auto& row_ids =
        static_cast<const arrow::UInt64Array&>(*batch->GetColumnByName(exec::kRowIdColumn));
    for (int64_t row = 0; row < batch->num_rows(); ++row) {
      std::printf("%llu, %.9g\n", static_cast<unsigned long long>(row_ids.Value(row)),
                  static_cast<double>(distances.Value(row)));
    }
  }
  return arrow::Status::OK();
}

}  // namespace
}  // namespace kinjo

int main(int argc, char** argv) {
  if (argc < 3) {
    std::cerr << "usage: nearest_plan DATASET QUERY [NAME=VALUE ...]\n";
    return 2;
  }
  kinjo::Options options;
  for (int i = 3; i < argc; ++i) {
    const std::string option = argv[i];
    const size_t equals = option.find('=');
    if (equals == std::string::npos) {
      std::cerr << "not NAME=VALUE: " << option << "\n";
      return 2;
    }
    options[option.substr(0, equals)] = option.substr(equals + 1);
  }
  arrow::Status status = arrow::compute::Initialize();
  if (status.ok()) status = kinjo::Run(argv[1], argv[2], options);
  if (!status.ok()) {
    std::cerr << kinjo::base::MessageOf(status) << "\n";
    return 1;
  }
  return 0;
}
