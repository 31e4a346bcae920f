#include "dataset/write_dataset.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/cancel_scope.h"
#include "dataset/commit.h"
#include "dataset/row_alignment.h"
#include "dataset/row_pipe.h"
#include "dataset/row_progress.h"
#include "dataset/table_version.h"
#include "format/arrow_schema.h"
#include "format/table/feature_flags.h"
#include "io/file_info.h"

namespace kinjo::dataset {
namespace {

namespace proto = format::proto;

constexpr const char* kDefaultDataVersion = "2.2";
constexpr uint64_t kSmallestPageBytes = uint64_t{64} << 10;
constexpr int64_t kMostAheadBytes = int64_t{32} << 20;

/// Refuses a folder that holds something else: a dataset's own folders, left by a write that didn't
/// get to its end, are fine.
arrow::Status CheckPlace(const io::Location& root) {
  constexpr std::array<std::string_view, 6> kOwn = {"_versions",  "_transactions", "data",
                                                    "_deletions", "_indices",      "_refs"};
  ARROW_ASSIGN_OR_RAISE(const arrow::fs::FileInfo info, io::LookAt(root));
  if (info.type() == arrow::fs::FileType::NotFound) return arrow::Status::OK();
  if (info.type() == arrow::fs::FileType::File) {
    return base::Invalid("can't write a dataset at ", root.uri, ": it is a file; name a folder");
  }
  ARROW_ASSIGN_OR_RAISE(const arrow::fs::FileInfoVector listed, io::ListFolder(root));
  for (const arrow::fs::FileInfo& each : listed) {
    if (std::find(kOwn.begin(), kOwn.end(), each.base_name()) != kOwn.end()) continue;
    return base::Invalid("can't write a dataset at ", root.uri, ": the folder holds '",
                         each.base_name(), "' and no dataset; name a folder that isn't there yet");
  }
  return arrow::Status::OK();
}

/// The newest version, or nothing where a dataset may be made.
arrow::Result<std::optional<TableVersion>> FindLatest(const io::Location& root) {
  arrow::Result<TableVersion> latest = ReadTableVersion(root);
  if (latest.ok()) {
    ARROW_RETURN_NOT_OK(
        format::CheckWriterFlags(latest->messages.manifest.writer_feature_flags, latest->uri));
    return std::optional(*std::move(latest));
  }
  if (!IsNoDataset(latest.status())) return latest.status();
  ARROW_RETURN_NOT_OK(CheckPlace(root));
  return std::optional<TableVersion>();
}

/// The version that a write begins with, or nothing.
arrow::Result<std::optional<TableVersion>> FindBeginning(const io::Location& root, WriteMode mode) {
  ARROW_ASSIGN_OR_RAISE(std::optional<TableVersion> latest, FindLatest(root));
  if (!latest.has_value() || mode != WriteMode::kCreate) return latest;
  return base::MakeError(
      base::ErrorCode::kConflict,
      base::Concat("there is a dataset at ", root.uri, " already, at version ", latest->version(),
                   "; append to it, overwrite it, or name another place"),
      root.uri);
}

/// One write on its way: what the rows become, and of which version.
class DatasetWrite final : public DatasetWriting {
 public:
  DatasetWrite(io::Location root, const WriteOptions& options)
      : root_(std::move(root)),
        options_(options),
        progress_(options.progress, options.total_rows) {}

  arrow::Status Prepare(const arrow::Schema& source) {
    ARROW_ASSIGN_OR_RAISE(latest_, FindBeginning(root_, options_.mode));
    appends_ = latest_.has_value() && options_.mode == WriteMode::kAppend;
    ARROW_RETURN_NOT_OK(ChooseVersion());
    if (appends_) {
      schema_ = latest_->schema();
    } else {
      ARROW_ASSIGN_OR_RAISE(schema_, format::MakeSchema(source));
    }
    ARROW_ASSIGN_OR_RAISE(alignment_, RowAlignment::Make(source, schema_, root_.uri));
    FragmentLimits limits = options_.limits;
    ARROW_ASSIGN_OR_RAISE(limits.page_bytes, ChoosePageBytes());
    ARROW_ASSIGN_OR_RAISE(writer_,
                          FragmentWriter::Make(root_, alignment_.schema(), data_version_, limits));
    return arrow::Status::OK();
  }

  arrow::Status Write(const arrow::RecordBatch& batch) override {
    ARROW_ASSIGN_OR_RAISE(const auto aligned, alignment_.Apply(batch));
    return WriteAligned(*aligned);
  }

  arrow::Result<WriteReport> Run(arrow::RecordBatchReader* rows) {
    const auto read = [&]() -> arrow::Result<std::shared_ptr<arrow::RecordBatch>> {
      ARROW_ASSIGN_OR_RAISE(auto batch, rows->Next());
      if (batch == nullptr) return batch;
      return alignment_.Apply(*batch);
    };
    const auto write = [&](const arrow::RecordBatch& batch) { return WriteAligned(batch); };
    ARROW_RETURN_NOT_OK(PipeRows(read, write, AheadBytes(), options_.pool, options_.cancel));
    return Finish();
  }

  arrow::Result<WriteReport> Finish() override {
    const base::CancelScope scope(options_.cancel);
    ARROW_ASSIGN_OR_RAISE(std::vector<proto::DataFragmentMessage> fragments, writer_->Finish());
    WriteReport report{
        .rows = writer_->rows(), .fragments = fragments.size(), .bytes = writer_->bytes()};
    ARROW_ASSIGN_OR_RAISE(report.version, CommitFragments(std::move(fragments)));
    progress_.Finish();
    return report;
  }

 private:
  arrow::Status WriteAligned(const arrow::RecordBatch& batch) {
    ARROW_RETURN_NOT_OK(writer_->Write(batch));
    progress_.Add(batch.num_rows());
    return arrow::Status::OK();
  }

  arrow::Status ChooseVersion() {
    const std::string own = latest_.has_value() ? latest_->data_format() : "";
    data_version_ = options_.data_version;
    if (data_version_.empty()) data_version_ = own.empty() ? kDefaultDataVersion : own;
    if (!appends_ || data_version_ == own) return arrow::Status::OK();
    return base::Invalid("data_version is '", data_version_, "', but ", root_.uri, " has files of ",
                         own, ": an append writes the dataset's own version");
  }

  /// What may wait between reading and writing.
  int64_t AheadBytes() const {
    const int64_t limit = options_.memory_limit_bytes;
    return limit == 0 ? kMostAheadBytes : std::min(kMostAheadBytes, limit / 16);
  }

  /// Pages of all columns wait in memory: a quarter of the limit is for them. One is encoded in the
  /// rest, where also what reading the source takes and what allocators keep must fit.
  arrow::Result<uint64_t> ChoosePageBytes() {
    const uint64_t wanted = options_.limits.page_bytes;
    if (options_.memory_limit_bytes == 0) return wanted;
    const uint64_t columns = format::Flatten(alignment_.schema().fields).size() + 1;
    const uint64_t fits = static_cast<uint64_t>(options_.memory_limit_bytes) / 4 / columns;
    if (fits >= kSmallestPageBytes) return std::min(wanted, fits);
    return base::MakeError(
        base::ErrorCode::kCapacity,
        base::Concat("memory_limit_bytes = ", options_.memory_limit_bytes, " is too small for the ",
                     columns - 1, " columns of these rows: the least is ",
                     4 * columns * kSmallestPageBytes));
  }

  arrow::Result<uint64_t> CommitFragments(std::vector<proto::DataFragmentMessage> fragments) {
    UncommittedFiles files(root_);
    files.AddDataFiles(fragments);
    Transaction transaction;
    transaction.read_version = latest_.has_value() ? latest_->version() : 0;
    CommitOptions commit;
    commit.cancel = options_.cancel;
    if (appends_) {
      transaction.operation = proto::AppendOperation{std::move(fragments)};
    } else {
      commit.table = {.data_format = data_version_, .stable_row_ids = options_.stable_row_ids};
      commit.must_not_exist = !latest_.has_value();
      commit.retry_overwrites = options_.mode == WriteMode::kOverwrite;
      transaction.operation = proto::OverwriteOperation{.fragments = std::move(fragments),
                                                        .fields = format::Flatten(schema_.fields)};
    }
    return Commit(root_, transaction, commit, &files);
  }

  const io::Location root_;
  const WriteOptions options_;
  RowProgress progress_;
  std::optional<TableVersion> latest_;
  bool appends_ = false;
  std::string data_version_;
  format::Schema schema_;
  RowAlignment alignment_;
  std::unique_ptr<FragmentWriter> writer_;
};

arrow::Result<std::unique_ptr<DatasetWrite>> BeginWrite(const std::string& uri,
                                                        const arrow::Schema& rows,
                                                        const WriteOptions& options) {
  ARROW_RETURN_NOT_OK(CheckWriteOptions(options));
  ARROW_ASSIGN_OR_RAISE(io::Location root, io::ResolveUri(uri));
  auto write = std::make_unique<DatasetWrite>(std::move(root), options);
  ARROW_RETURN_NOT_OK(write->Prepare(rows));
  return write;
}

}  // namespace

arrow::Result<WriteMode> ParseWriteMode(const std::string& word) {
  if (word == "create") return WriteMode::kCreate;
  if (word == "append") return WriteMode::kAppend;
  if (word == "overwrite") return WriteMode::kOverwrite;
  return base::Invalid("mode is '", word, "'; it must be create, append or overwrite");
}

arrow::Status CheckWriteOptions(const WriteOptions& options) {
  if (options.limits.max_rows == 0) {
    return base::Invalid("max_rows_per_file is 0; it must be at least 1");
  }
  const std::string& version = options.data_version;
  if (version.empty() || version == "2.2" || version == "2.1" || version == "2.0") {
    return arrow::Status::OK();
  }
  return base::Invalid("data_version is '", version, "'; it must be 2.2, 2.1 or 2.0");
}

arrow::Result<WriteReport> WriteDataset(const std::string& uri, arrow::RecordBatchReader* rows,
                                        const WriteOptions& options) {
  ARROW_ASSIGN_OR_RAISE(const auto write, BeginWrite(uri, *rows->schema(), options));
  return write->Run(rows);
}

arrow::Result<std::unique_ptr<DatasetWriting>> DatasetWriting::Begin(const std::string& uri,
                                                                     const arrow::Schema& rows,
                                                                     const WriteOptions& options) {
  return BeginWrite(uri, rows, options);
}

arrow::Status CheckWritePlace(const std::string& uri, WriteMode mode) {
  ARROW_ASSIGN_OR_RAISE(const io::Location root, io::ResolveUri(uri));
  return FindBeginning(root, mode).status();
}

}  // namespace kinjo::dataset
