// Writes the rows of an Arrow IPC file as one Lance data file, so that a test in another language
// can read it with Lance; prints each column's page encodings and the file's size.
//
//   file_write IN.arrow LIKE.lance OUT.lance VERSION [PAGE_BYTES]
//
// The schema with its ids and metadata is that of the data file LIKE.
#include <cstdint>
#include <iostream>
#include <string>
#include <vector>

#include "arrow/io/file.h"
#include "arrow/ipc/reader.h"
#include "base/error.h"
#include "format/file/file_writer.h"
#include "format/file/lance_file.h"
#include "io/random_reader.h"

namespace {

using kinjo::format::FileWriter;
using kinjo::format::LanceFile;

arrow::Result<std::shared_ptr<LanceFile>> OpenLance(const std::string& uri) {
  ARROW_ASSIGN_OR_RAISE(const auto location, kinjo::io::ResolveUri(uri));
  ARROW_ASSIGN_OR_RAISE(auto reader, kinjo::io::OpenFile(location));
  return LanceFile::Open(std::move(reader));
}

arrow::Status WriteFile(int argc, char** argv) {
  ARROW_ASSIGN_OR_RAISE(auto in, arrow::io::ReadableFile::Open(argv[1]));
  ARROW_ASSIGN_OR_RAISE(auto batches, arrow::ipc::RecordBatchFileReader::Open(in));
  ARROW_ASSIGN_OR_RAISE(auto like, OpenLance(argv[2]));
  ARROW_ASSIGN_OR_RAISE(auto out, arrow::io::FileOutputStream::Open(argv[3]));
  const std::string version = argv[4];
  kinjo::format::FileWriteOptions options;
  options.path = argv[3];
  options.version = {2, static_cast<uint16_t>(std::stoi(version.substr(2)))};
  if (argc > 5) options.page_bytes = std::stoull(argv[5]);
  ARROW_ASSIGN_OR_RAISE(auto writer, FileWriter::Make(out, like->schema(), options));
  for (int i = 0; i < batches->num_record_batches(); ++i) {
    ARROW_ASSIGN_OR_RAISE(const auto batch, batches->ReadRecordBatch(i));
    ARROW_RETURN_NOT_OK(writer->Write(*batch));
  }
  ARROW_ASSIGN_OR_RAISE(const auto written, writer->Finish());
  ARROW_RETURN_NOT_OK(out->Close());
  std::cout << "bytes\t" << written.size_bytes << '\n';
  ARROW_ASSIGN_OR_RAISE(auto file, OpenLance(argv[3]));
  for (uint32_t column = 0; column < file->num_columns(); ++column) {
    ARROW_ASSIGN_OR_RAISE(const auto pages, file->DescribePages(column));
    for (const std::string& page : pages) std::cout << column << '\t' << page << '\n';
  }
  return arrow::Status::OK();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 5) {
    std::cerr << "usage: file_write IN.arrow LIKE.lance OUT.lance VERSION [PAGE_BYTES]\n";
    return 2;
  }
  const arrow::Status status = WriteFile(argc, argv);
  if (status.ok()) return 0;
  std::cerr << kinjo::base::ErrorCodeName(kinjo::base::CodeOf(status)) << ": "
            << kinjo::base::MessageOf(status) << '\n';
  return 1;
}
