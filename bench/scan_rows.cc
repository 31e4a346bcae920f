// Reads a column of a dataset twice, and tells how long the second time took: the whole column
// batch by batch, or the rows whose numbers a file lists.
//
//     scan_rows DATASET COLUMN                 all rows, by the public stream
//     scan_rows DATASET COLUMN FIRST SECOND    rows of fragment 0: uint64 numbers, rising
//
// Prints one JSON object: seconds, and rows read.
#include <chrono>
#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

#include "base/cancel_token.h"
#include "dataset/dataset.h"
#include "dataset/scan_stream.h"
#include "stream/result_stream.h"

namespace {

using kinjo::dataset::Dataset;

std::vector<uint64_t> ReadNumbers(const char* path) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  std::vector<uint64_t> numbers(static_cast<size_t>(file.tellg()) / sizeof(uint64_t));
  file.seekg(0);
  file.read(reinterpret_cast<char*>(numbers.data()),
            static_cast<std::streamsize>(numbers.size() * sizeof(uint64_t)));
  return numbers;
}

arrow::Result<int64_t> ScanAll(const std::shared_ptr<Dataset>& dataset, const std::string& column) {
  ARROW_ASSIGN_OR_RAISE(
      const auto rows,
      kinjo::dataset::StreamRows(dataset, {.columns = std::vector{column}},
                                 kinjo::base::CancelToken(), kinjo::base::ProgressCallback()));
  int64_t count = 0;
  while (true) {
    ARROW_ASSIGN_OR_RAISE(const auto batch, rows->Next());
    if (batch == nullptr) return count;
    count += batch->num_rows();
  }
}

arrow::Result<int64_t> Read(const std::shared_ptr<Dataset>& dataset, const std::string& column,
                            const char* numbers) {
  if (numbers == nullptr) return ScanAll(dataset, column);
  const std::vector<uint64_t> addresses = ReadNumbers(numbers);
  ARROW_ASSIGN_OR_RAISE(const auto batch, dataset->Take({column}, addresses));
  return batch->num_rows();
}

arrow::Status Run(int argc, char** argv) {
  const bool takes = argc == 5;
  ARROW_ASSIGN_OR_RAISE(const auto dataset, Dataset::Open(argv[1]));
  ARROW_RETURN_NOT_OK(Read(dataset, argv[2], takes ? argv[3] : nullptr).status());
  const auto begin = std::chrono::steady_clock::now();
  ARROW_ASSIGN_OR_RAISE(const int64_t rows, Read(dataset, argv[2], takes ? argv[4] : nullptr));
  const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - begin;
  std::printf("{\"seconds\": %.6f, \"rows\": %lld}\n", spent.count(), static_cast<long long>(rows));
  return arrow::Status::OK();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3 && argc != 5) return 2;
  const arrow::Status status = Run(argc, argv);
  if (!status.ok()) std::fprintf(stderr, "%s\n", status.ToString().c_str());
  return status.ok() ? 0 : 1;
}
