// Scans one version of a Lance dataset, or takes some of its rows, and writes them as an Arrow IPC
// file with `_rowid` and `_rowaddr`, so that a test in another language can compare them. Prints
// what the snapshot tells of itself, one fact a line.
//
//   dataset_dump URI OUT VERSION|latest BATCH_ROWS scan COLUMN...
//   dataset_dump URI OUT VERSION|latest ADDRESSES  take COLUMN...     (a file of uint64 values)
#include <cstdint>
#include <cstring>
#include <iostream>
#include <string>
#include <vector>

#include "arrow/array.h"
#include "arrow/buffer.h"
#include "arrow/io/file.h"
#include "arrow/ipc/writer.h"
#include "arrow/record_batch.h"
#include "arrow/table.h"
#include "base/error.h"
#include "dataset/dataset.h"

namespace {

using kinjo::dataset::Dataset;
using kinjo::dataset::RowAddress;

std::shared_ptr<arrow::Array> UInt64s(const std::vector<uint64_t>& values) {
  const auto bytes = static_cast<int64_t>(values.size() * sizeof(uint64_t));
  auto copy = arrow::AllocateBuffer(bytes).ValueOrDie();
  if (bytes > 0) std::memcpy(copy->mutable_data(), values.data(), static_cast<size_t>(bytes));
  return std::make_shared<arrow::UInt64Array>(static_cast<int64_t>(values.size()), std::move(copy));
}

/// The batch with the two columns that tell which rows they are.
arrow::Result<std::shared_ptr<arrow::RecordBatch>> WithRows(
    const Dataset& dataset, const arrow::RecordBatch& batch,
    const std::vector<RowAddress>& addresses) {
  ARROW_RETURN_NOT_OK(batch.ValidateFull());
  std::vector<uint64_t> row_ids(addresses.size());
  ARROW_RETURN_NOT_OK(dataset.RowIds(addresses, row_ids));
  arrow::FieldVector fields = batch.schema()->fields();
  arrow::ArrayVector columns = batch.columns();
  fields.push_back(arrow::field("_rowid", arrow::uint64()));
  fields.push_back(arrow::field("_rowaddr", arrow::uint64()));
  columns.push_back(UInt64s(row_ids));
  columns.push_back(UInt64s(addresses));
  return arrow::RecordBatch::Make(arrow::schema(fields), batch.num_rows(), columns);
}

arrow::Result<std::vector<std::shared_ptr<arrow::RecordBatch>>> ScanRows(
    Dataset* dataset, const std::vector<std::string>& columns, int64_t batch_rows) {
  kinjo::dataset::ScanOptions options;
  options.columns = columns;
  options.batch_rows = batch_rows;
  ARROW_ASSIGN_OR_RAISE(const auto scan, dataset->MakeScan(options));
  std::vector<std::shared_ptr<arrow::RecordBatch>> batches;
  while (true) {
    ARROW_ASSIGN_OR_RAISE(const auto next, scan->Next());
    if (next.batch == nullptr) return batches;
    ARROW_ASSIGN_OR_RAISE(auto batch, WithRows(*dataset, *next.batch, next.addresses));
    batches.push_back(std::move(batch));
  }
}

arrow::Result<std::vector<RowAddress>> ReadAddresses(const std::string& path) {
  ARROW_ASSIGN_OR_RAISE(const auto file, arrow::io::ReadableFile::Open(path));
  ARROW_ASSIGN_OR_RAISE(const int64_t size, file->GetSize());
  ARROW_ASSIGN_OR_RAISE(const auto bytes, file->Read(size));
  std::vector<RowAddress> addresses(static_cast<size_t>(size) / sizeof(RowAddress));
  if (size > 0) std::memcpy(addresses.data(), bytes->data(), static_cast<size_t>(size));
  return addresses;
}

arrow::Result<std::vector<std::shared_ptr<arrow::RecordBatch>>> TakeRows(
    Dataset* dataset, const std::vector<std::string>& columns, const std::string& path) {
  ARROW_ASSIGN_OR_RAISE(const std::vector<RowAddress> addresses, ReadAddresses(path));
  ARROW_ASSIGN_OR_RAISE(const auto taken, dataset->Take(columns, addresses));
  ARROW_ASSIGN_OR_RAISE(auto batch, WithRows(*dataset, *taken, addresses));
  return std::vector<std::shared_ptr<arrow::RecordBatch>>{std::move(batch)};
}

void Describe(const Dataset& dataset) {
  std::cout << "version\t" << dataset.version() << '\n';
  std::cout << "data_format\t" << dataset.data_format_version() << '\n';
  std::cout << "num_rows\t" << dataset.num_rows() << '\n';
  for (const uint64_t version : dataset.versions()) std::cout << "exists\t" << version << '\n';
  for (const auto& fragment : dataset.fragments()) {
    std::cout << "fragment\t" << fragment.id << '\t' << fragment.physical_rows << '\t'
              << fragment.deleted_rows << '\t' << fragment.files.size() << '\n';
  }
  for (const auto& index : dataset.vector_indexes()) {
    std::cout << "index\t" << index.name << '\t' << index.column << '\t' << index.type << '\t'
              << index.metric << '\t' << index.segments.size() << '\t' << index.unusable_reason
              << '\n';
  }
}

arrow::Status Dump(const std::vector<std::string>& arguments) {
  kinjo::dataset::OpenOptions options;
  if (arguments[2] != "latest") options.version = std::stoull(arguments[2]);
  ARROW_ASSIGN_OR_RAISE(const auto dataset, Dataset::Open(arguments[0], options));
  Describe(*dataset);
  const std::vector<std::string> columns(arguments.begin() + 5, arguments.end());
  ARROW_ASSIGN_OR_RAISE(const auto batches,
                        arguments[4] == "take"
                            ? TakeRows(dataset.get(), columns, arguments[3])
                            : ScanRows(dataset.get(), columns, std::stoll(arguments[3])));
  ARROW_ASSIGN_OR_RAISE(const auto out, arrow::io::FileOutputStream::Open(arguments[1]));
  if (!batches.empty()) {
    ARROW_ASSIGN_OR_RAISE(const auto writer,
                          arrow::ipc::MakeFileWriter(out, batches.front()->schema()));
    for (const auto& batch : batches) ARROW_RETURN_NOT_OK(writer->WriteRecordBatch(*batch));
    ARROW_RETURN_NOT_OK(writer->Close());
  }
  return out->Close();
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  if (arguments.size() < 5) {
    std::cerr << "dataset_dump URI OUT VERSION|latest BATCH_ROWS|ADDRESSES scan|take COLUMN...\n";
    return 2;
  }
  const arrow::Status status = Dump(arguments);
  if (status.ok()) return 0;
  std::cerr << kinjo::base::ErrorCodeName(kinjo::base::CodeOf(status)) << ": "
            << kinjo::base::MessageOf(status) << '\n';
  return 1;
}
