#include "tabular/lance_sink.h"

#include <algorithm>
#include <utility>

#include "dataset/write_dataset.h"

namespace kinjo::tabular {

namespace {

constexpr int64_t kLeastPageBytes = int64_t{64} << 10;
constexpr int64_t kMostPageBytes = int64_t{8} << 20;
// Lance makes up columns of these names when a dataset is read.
constexpr const char* kReserved[] = {"_rowid", "_rowaddr"};

dataset::WriteMode ModeOf(const SinkOptions& options) {
  return options.overwrite ? dataset::WriteMode::kOverwrite : dataset::WriteMode::kCreate;
}

class LanceSink final : public TableSink {
 public:
  LanceSink(std::string path, std::unique_ptr<dataset::DatasetWriting> writing)
      : path_(std::move(path)), writing_(std::move(writing)) {}

  arrow::Status Write(const arrow::RecordBatch& batch) override {
    if (writing_ == nullptr) return Over();
    const arrow::Status status = writing_->Write(batch);
    if (status.ok()) {
      rows_ += batch.num_rows();
    } else {
      Abort();
    }
    return status;
  }

  arrow::Status Finish() override {
    if (writing_ == nullptr) return Over();
    const auto writing = std::move(writing_);
    return writing->Finish().status();
  }

  void Abort() override { writing_ = nullptr; }

  int64_t rows_written() const override { return rows_; }

 private:
  arrow::Status Over() const {
    return base::MakeError(
        base::ErrorCode::kState,
        base::Concat("writing ", path_, " was finished, aborted or failed before"));
  }

  const std::string path_;
  std::unique_ptr<dataset::DatasetWriting> writing_;  // null once over
  int64_t rows_ = 0;
};

}  // namespace

arrow::Status CheckLanceOptions(const SinkOptions& options) {
  if (options.compression.empty()) return arrow::Status::OK();
  return base::Invalid("compression is \"", options.compression,
                       "\"; a Lance dataset takes none: each page is encoded by what it holds");
}

arrow::Status CheckLancePlace(const std::string& path, const SinkOptions& options) {
  return dataset::CheckWritePlace(path, ModeOf(options));
}

arrow::Result<std::unique_ptr<TableSink>> OpenLanceSink(const std::string& path,
                                                        const arrow::Schema& schema,
                                                        const SinkOptions& options) {
  for (const char* name : kReserved) {
    if (schema.GetFieldIndex(name) < 0) continue;
    return base::Invalid("a Lance dataset can't have a column ", name,
                         ": Lance gives that name to the ids of its rows; leave it out");
  }
  dataset::WriteOptions write;
  write.mode = ModeOf(options);
  // A page of each column waits, and one is encoded.
  const int64_t share = options.held_bytes / 2 / (schema.num_fields() + 1);
  write.limits.page_bytes =
      static_cast<uint64_t>(std::clamp(share, kLeastPageBytes, kMostPageBytes));
  ARROW_ASSIGN_OR_RAISE(auto writing, dataset::DatasetWriting::Begin(path, schema, write));
  return std::make_unique<LanceSink>(path, std::move(writing));
}

}  // namespace kinjo::tabular
