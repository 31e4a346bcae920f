// Asks one query after another of a dataset that is opened once, as a service does:
//
//     one_query DATASET VECTORS DIM METRIC NPROBES REFINE_FACTOR THREADS
//
// VECTORS is a file of float32. Prints the seconds of all queries after the first, and their
// number.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <vector>

#include "kinjo/kinjo.hpp"

namespace {

int Fail(const kinjo::Error& error) {
  std::fprintf(stderr, "%s: %s\n", kinjo_error_code_name(error.code), error.message.c_str());
  return 1;
}

std::vector<float> ReadFloats(const char* path) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  std::vector<float> values(static_cast<size_t>(file.tellg()) / sizeof(float));
  file.seekg(0);
  file.read(reinterpret_cast<char*>(values.data()),
            static_cast<std::streamsize>(values.size() * sizeof(float)));
  return values;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 8) return 2;
  const std::vector<float> vectors = ReadFloats(argv[2]);
  const int64_t dim = std::atoll(argv[3]);
  kinjo::JoinOptions options;
  options.metric = argv[4];
  options.nprobes = std::atoll(argv[5]);
  options.refine_factor = std::atoll(argv[6]);
  options.threads = std::atoll(argv[7]);
  options.index = "require";
  options.with_row_id = true;
  options.right_select = std::vector<std::string>{};
  const auto dataset = kinjo::Dataset::Open(argv[1]);
  if (!dataset.ok()) return Fail(dataset.error());
  const int64_t queries = static_cast<int64_t>(vectors.size()) / dim;
  auto begin = std::chrono::steady_clock::now();
  for (int64_t query = 0; query < queries; ++query) {
    if (query == 1) begin = std::chrono::steady_clock::now();
    const auto first = vectors.begin() + query * dim;
    const auto table = kinjo::Table::FromVectors(std::vector<float>(first, first + dim), dim);
    if (!table.ok()) return Fail(table.error());
    auto search = kinjo::Join::Search(dataset.value(), table.value(), options);
    if (!search.ok()) return Fail(search.error());
    auto rows = search->Run();
    if (!rows.ok()) return Fail(rows.error());
    while (true) {
      auto batch = rows->Next();
      if (!batch.ok()) return Fail(batch.error());
      if (batch->empty()) break;
    }
  }
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
  std::printf("%.6f %lld\n", taken.count(), static_cast<long long>(queries - 1));
  return 0;
}
