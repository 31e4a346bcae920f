// Reads every field of one Lance data file and writes the rows as an Arrow IPC file, so that a test
// in another language can compare them; prints each column's page encodings.
//
//   file_dump FILE OUT [begin:end ...]
#include <cstdint>
#include <iostream>
#include <string>
#include <vector>

#include "arrow/io/file.h"
#include "arrow/ipc/writer.h"
#include "arrow/table.h"
#include "base/error.h"
#include "format/file/lance_file.h"
#include "io/random_reader.h"

namespace {

using kinjo::format::LanceFile;
using kinjo::format::RowRange;

arrow::Result<std::vector<RowRange>> ParseRanges(int argc, char** argv, uint64_t num_rows) {
  std::vector<RowRange> ranges;
  for (int i = 3; i < argc; ++i) {
    const std::string text = argv[i];
    const size_t colon = text.find(':');
    if (colon == std::string::npos) return kinjo::base::Invalid("not begin:end: ", text);
    ranges.push_back({std::stoull(text.substr(0, colon)), std::stoull(text.substr(colon + 1))});
  }
  if (ranges.empty() && num_rows > 0) ranges.push_back({0, num_rows});
  return ranges;
}

arrow::Status Dump(int argc, char** argv) {
  ARROW_ASSIGN_OR_RAISE(const auto location, kinjo::io::ResolveUri(argv[1]));
  ARROW_ASSIGN_OR_RAISE(auto reader, kinjo::io::OpenFile(location));
  ARROW_ASSIGN_OR_RAISE(auto file, LanceFile::Open(std::move(reader)));
  for (uint32_t column = 0; column < file->num_columns(); ++column) {
    ARROW_ASSIGN_OR_RAISE(const auto pages, file->DescribePages(column));
    for (const std::string& page : pages) std::cout << column << '\t' << page << '\n';
  }
  ARROW_ASSIGN_OR_RAISE(const auto ranges, ParseRanges(argc, argv, file->num_rows()));
  int64_t rows = 0;
  for (const RowRange& range : ranges) rows += static_cast<int64_t>(range.end - range.begin);
  arrow::FieldVector fields;
  arrow::ArrayVector arrays;
  for (const auto& field : file->schema().fields) {
    ARROW_ASSIGN_OR_RAISE(auto arrow_field, kinjo::format::ToArrowField(field));
    ARROW_ASSIGN_OR_RAISE(auto array, file->ReadRows(field, file->own_columns(), ranges));
    ARROW_RETURN_NOT_OK(array->ValidateFull());
    fields.push_back(std::move(arrow_field));
    arrays.push_back(std::move(array));
  }
  const auto schema = arrow::schema(fields);
  const auto batch = arrow::RecordBatch::Make(schema, rows, arrays);
  ARROW_ASSIGN_OR_RAISE(auto out, arrow::io::FileOutputStream::Open(argv[2]));
  ARROW_ASSIGN_OR_RAISE(auto writer, arrow::ipc::MakeFileWriter(out, schema));
  ARROW_RETURN_NOT_OK(writer->WriteRecordBatch(*batch));
  ARROW_RETURN_NOT_OK(writer->Close());
  return out->Close();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::cerr << "usage: file_dump FILE OUT [begin:end ...]\n";
    return 2;
  }
  const arrow::Status status = Dump(argc, argv);
  if (status.ok()) return 0;
  std::cerr << kinjo::base::ErrorCodeName(kinjo::base::CodeOf(status)) << ": "
            << kinjo::base::MessageOf(status) << '\n';
  return 1;
}
