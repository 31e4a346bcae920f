// The joins that other faces are compared with, through the C++ header:
//   cpp_face DATASET WIDTH one N       a query of one row, N times: microseconds a join
//   cpp_face DATASET WIDTH drain N K   N left rows with K neighbours each, all read: seconds, rows
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "kinjo/kinjo.hpp"

namespace {

using Clock = std::chrono::steady_clock;

double SecondsSince(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

template <typename T>
T Require(kinjo::Result<T> result) {
  if (result.ok()) return std::move(result).value();
  std::fprintf(stderr, "cpp_face: %s\n", result.error().message.c_str());
  std::exit(1);
}

std::vector<float> Queries(int64_t rows, int64_t width) {
  std::vector<float> values(static_cast<size_t>(rows * width));
  for (size_t i = 0; i < values.size(); ++i) values[i] = std::sin(static_cast<float>(i));
  return values;
}

// Joins and reads to the end; gives the rows.
int64_t JoinOnce(const kinjo::Dataset& dataset, const std::vector<float>& queries, int64_t width,
                 int64_t k) {
  const kinjo::Table left = Require(kinjo::Table::FromVectors(queries, width));
  kinjo::JoinOptions options;
  options.k = k;
  options.index = "never";
  options.left_select = std::vector<std::string>{};
  options.with_query_index = true;
  options.threads = 1;
  kinjo::Join join = Require(kinjo::Join::Make(left, dataset, options));
  kinjo::Stream stream = Require(join.Run());
  int64_t rows = 0;
  while (true) {
    const kinjo::Batch batch = Require(stream.Next());
    if (batch.empty()) return rows;
    rows += batch->length;
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 5) return 2;
  const kinjo::Dataset dataset = Require(kinjo::Dataset::Open(argv[1]));
  const int64_t width = std::atoll(argv[2]);
  const int64_t count = std::atoll(argv[4]);
  if (std::string(argv[3]) == "one") {
    const std::vector<float> query = Queries(1, width);
    JoinOnce(dataset, query, width, 10);
    const auto begin = Clock::now();
    for (int64_t i = 0; i < count; ++i) JoinOnce(dataset, query, width, 10);
    std::printf("%.1f\n", SecondsSince(begin) * 1e6 / static_cast<double>(count));
    return 0;
  }
  if (argc < 6) return 2;
  const std::vector<float> queries = Queries(count, width);
  const auto begin = Clock::now();
  const int64_t rows = JoinOnce(dataset, queries, width, std::atoll(argv[5]));
  std::printf("%.3f %lld\n", SecondsSince(begin), static_cast<long long>(rows));
  return 0;
}
