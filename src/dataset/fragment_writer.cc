#include "dataset/fragment_writer.h"

#include <algorithm>
#include <map>
#include <utility>

#include "dataset/uncommitted_files.h"
#include "format/table/uuid.h"
#include "io/file_changes.h"

namespace kinjo::dataset {
namespace {

namespace proto = format::proto;

arrow::Result<format::FileVersion> ParseVersion(const std::string& text) {
  if (text == "2.2") return format::FileVersion{2, 2};
  if (text == "2.1") return format::FileVersion{2, 1};
  if (text == "2.0") return format::FileVersion{2, 0};
  return base::Invalid("data_version is '", text, "'; it must be 2.2, 2.1 or 2.0");
}

proto::DataFileMessage MakeMessage(std::string name, const format::WrittenFile& written) {
  proto::DataFileMessage file;
  file.path = std::move(name);
  // By column, so that two runs list them alike.
  std::vector<std::pair<uint32_t, int32_t>> columns;
  for (const auto& [field, column] : written.columns) columns.emplace_back(column, field);
  std::sort(columns.begin(), columns.end());
  for (const auto& [column, field] : columns) {
    file.fields.push_back(field);
    file.column_indices.push_back(static_cast<int32_t>(column));
  }
  file.major_version = written.version.major;
  file.minor_version = written.version.minor;
  file.size_bytes = written.size_bytes;
  return file;
}

}  // namespace

arrow::Result<std::unique_ptr<FragmentWriter>> FragmentWriter::Make(io::Location root,
                                                                    format::Schema schema,
                                                                    const std::string& data_format,
                                                                    const FragmentLimits& limits) {
  ARROW_ASSIGN_OR_RAISE(const format::FileVersion version, ParseVersion(data_format));
  return std::unique_ptr<FragmentWriter>(
      new FragmentWriter(std::move(root), std::move(schema), version, limits));
}

FragmentWriter::~FragmentWriter() {
  file_.reset();
  if (stream_ != nullptr) (void)stream_->Abort();
  UncommittedFiles files(root_);
  files.AddDataFiles(fragments_);
}

arrow::Status FragmentWriter::BeginFile() {
  const io::Location folder = io::Child(root_, "data");
  ARROW_RETURN_NOT_OK(io::MakeFolder(folder));
  name_ = format::NewDataFileName();
  const io::Location place = io::Child(folder, name_);
  ARROW_ASSIGN_OR_RAISE(stream_, io::CreateFile(place));
  format::FileWriteOptions options;
  options.version = version_;
  options.page_bytes = limits_.page_bytes;
  options.path = place.uri;
  ARROW_ASSIGN_OR_RAISE(file_, format::FileWriter::Make(stream_, schema_, options));
  file_rows_ = 0;
  return arrow::Status::OK();
}

arrow::Status FragmentWriter::EndFile() {
  if (file_ == nullptr) return arrow::Status::OK();
  ARROW_ASSIGN_OR_RAISE(const format::WrittenFile written, file_->Finish());
  file_.reset();
  ARROW_RETURN_NOT_OK(stream_->Close());
  stream_.reset();
  proto::DataFragmentMessage fragment;
  fragment.physical_rows = written.num_rows;
  fragment.files.push_back(MakeMessage(name_, written));
  fragments_.push_back(std::move(fragment));
  bytes_ += written.size_bytes;
  return arrow::Status::OK();
}

arrow::Status FragmentWriter::Write(const arrow::RecordBatch& batch) {
  int64_t begin = 0;
  while (begin < batch.num_rows()) {
    if (file_ == nullptr) ARROW_RETURN_NOT_OK(BeginFile());
    const auto room =
        static_cast<int64_t>(std::min<uint64_t>(limits_.max_rows - file_rows_, uint64_t{1} << 40));
    const int64_t rows = std::min(batch.num_rows() - begin, room);
    const bool whole = rows == batch.num_rows();
    ARROW_RETURN_NOT_OK(file_->Write(whole ? batch : *batch.Slice(begin, rows)));
    begin += rows;
    file_rows_ += static_cast<uint64_t>(rows);
    rows_ += static_cast<uint64_t>(rows);
    ARROW_ASSIGN_OR_RAISE(const int64_t written, stream_->Tell());
    const uint64_t bytes = static_cast<uint64_t>(written) + file_->pending_bytes();
    if (file_rows_ >= limits_.max_rows || bytes >= limits_.max_bytes) {
      ARROW_RETURN_NOT_OK(EndFile());
    }
  }
  return arrow::Status::OK();
}

arrow::Result<std::vector<proto::DataFragmentMessage>> FragmentWriter::Finish() {
  ARROW_RETURN_NOT_OK(EndFile());
  return std::exchange(fragments_, {});
}

}  // namespace kinjo::dataset
