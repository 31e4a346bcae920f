// Keeps one version of a Lance dataset open and answers a line of standard input after another, so
// that a test can change the dataset in between:
//
//   open_reader URI VERSION|latest
//
// `scan COLUMN` and `take COLUMN ADDRESS...` print the column's int64 values in one line,
// `partitions` the rows of the first vector index's partitions. An error is `error: CODE: MESSAGE`.
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include "arrow/array.h"
#include "arrow/record_batch.h"
#include "base/error.h"
#include "dataset/dataset.h"
#include "index/ivf_segment.h"

namespace {

using kinjo::dataset::Dataset;
using kinjo::dataset::RowAddress;

void Append(const arrow::Array& column, std::ostringstream* out) {
  const auto& values = static_cast<const arrow::Int64Array&>(column);
  for (int64_t i = 0; i < values.length(); ++i) *out << values.Value(i) << ' ';
}

arrow::Status Scan(Dataset* dataset, const std::string& column, std::ostringstream* out) {
  ARROW_ASSIGN_OR_RAISE(const auto scan, dataset->MakeScan({.columns = {column}}));
  while (true) {
    ARROW_ASSIGN_OR_RAISE(const auto next, scan->Next());
    if (next.batch == nullptr) return arrow::Status::OK();
    Append(*next.batch->column(0), out);
  }
}

arrow::Status Partitions(Dataset* dataset, std::ostringstream* out) {
  const auto& indexes = dataset->vector_indexes();
  if (indexes.empty()) return kinjo::base::NotFound("there is no vector index");
  ARROW_ASSIGN_OR_RAISE(const auto segment, dataset->OpenSegment(indexes.front(), 0));
  for (int64_t i = 0; i < segment->num_partitions(); ++i) *out << segment->partition_rows(i) << ' ';
  return arrow::Status::OK();
}

arrow::Status Answer(Dataset* dataset, const std::string& line, std::ostringstream* out) {
  std::istringstream words(line);
  std::string command;
  std::string column;
  words >> command >> column;
  if (command == "scan") return Scan(dataset, column, out);
  if (command == "partitions") return Partitions(dataset, out);
  std::vector<RowAddress> addresses;
  for (RowAddress address = 0; words >> address;) addresses.push_back(address);
  ARROW_ASSIGN_OR_RAISE(const auto batch, dataset->Take({column}, addresses));
  Append(*batch->column(0), out);
  return arrow::Status::OK();
}

void Tell(const arrow::Status& status, const std::string& text) {
  if (status.ok()) {
    std::cout << text << std::endl;
  } else {
    std::cout << "error: " << kinjo::base::ErrorCodeName(kinjo::base::CodeOf(status)) << ": "
              << kinjo::base::MessageOf(status) << std::endl;
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  kinjo::dataset::OpenOptions options;
  const std::string version = argv[2];
  if (version != "latest") options.version = std::stoull(version);
  const auto dataset = Dataset::Open(argv[1], options);
  Tell(dataset.status(), "open");
  if (!dataset.ok()) return 1;
  for (std::string line; std::getline(std::cin, line);) {
    std::ostringstream out;
    const arrow::Status status = Answer(dataset->get(), line, &out);
    Tell(status, out.str());
  }
  return 0;
}
