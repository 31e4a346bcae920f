#include "dataset/write_dataset.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "dataset/commit.h"
#include "dataset/row_alignment.h"
#include "dataset/row_progress.h"
#include "dataset/table_version.h"
#include "format/arrow_schema.h"
#include "format/table/feature_flags.h"
#include "io/file_changes.h"
#include "io/file_info.h"

namespace kinjo::dataset {
namespace {

namespace proto = format::proto;

constexpr const char* kDefaultDataVersion = "2.2";
constexpr uint64_t kSmallestPageBytes = uint64_t{64} << 10;

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

/// One write on its way: what the rows become, and of which version.
class DatasetWrite {
 public:
  DatasetWrite(io::Location root, const WriteOptions& options)
      : root_(std::move(root)), options_(options) {}

  arrow::Status Prepare(const arrow::Schema& source) {
    ARROW_ASSIGN_OR_RAISE(latest_, FindLatest(root_));
    if (latest_.has_value() && options_.mode == WriteMode::kCreate) {
      return base::MakeError(
          base::ErrorCode::kConflict,
          base::Concat("there is a dataset at ", root_.uri, " already, at version ",
                       latest_->version(), "; append to it, overwrite it, or name another place"),
          root_.uri);
    }
    appends_ = latest_.has_value() && options_.mode == WriteMode::kAppend;
    ARROW_RETURN_NOT_OK(ChooseVersion());
    if (appends_) {
      schema_ = latest_->schema();
    } else {
      ARROW_ASSIGN_OR_RAISE(schema_, format::MakeSchema(source));
    }
    ARROW_ASSIGN_OR_RAISE(alignment_, RowAlignment::Make(source, schema_, root_.uri));
    return arrow::Status::OK();
  }

  arrow::Result<WriteReport> Run(arrow::RecordBatchReader* rows) {
    FragmentLimits limits = options_.limits;
    ARROW_ASSIGN_OR_RAISE(limits.page_bytes, ChoosePageBytes());
    ARROW_ASSIGN_OR_RAISE(const auto writer,
                          FragmentWriter::Make(root_, alignment_.schema(), data_version_, limits));
    RowProgress progress(options_.progress, options_.total_rows);
    while (true) {
      ARROW_RETURN_NOT_OK(options_.cancel.Check());
      ARROW_ASSIGN_OR_RAISE(const auto batch, rows->Next());
      if (batch == nullptr) break;
      ARROW_ASSIGN_OR_RAISE(const auto aligned, alignment_.Apply(*batch));
      ARROW_RETURN_NOT_OK(writer->Write(*aligned));
      progress.Add(batch->num_rows());
    }
    ARROW_ASSIGN_OR_RAISE(std::vector<proto::DataFragmentMessage> fragments, writer->Finish());
    WriteReport report{
        .rows = writer->rows(), .fragments = fragments.size(), .bytes = writer->bytes()};
    const arrow::Result<uint64_t> version = CommitFragments(fragments);
    if (!version.ok()) {
      if (!io::IsInDoubt(version.status())) RemoveDataFiles(root_, fragments);
      return version.status();
    }
    report.version = *version;
    progress.Finish();
    return report;
  }

 private:
  arrow::Status ChooseVersion() {
    const std::string own = latest_.has_value() ? latest_->data_format() : "";
    data_version_ = options_.data_version;
    if (data_version_.empty()) data_version_ = own.empty() ? kDefaultDataVersion : own;
    if (!appends_ || data_version_ == own) return arrow::Status::OK();
    return base::Invalid("data_version is '", data_version_, "', but ", root_.uri, " has files of ",
                         own, ": an append writes the dataset's own version");
  }

  /// Pages of all columns wait in memory, and one is encoded: half of the limit is for them, the
  /// rest for what reading the source takes.
  arrow::Result<uint64_t> ChoosePageBytes() {
    const uint64_t wanted = options_.limits.page_bytes;
    if (options_.memory_limit_bytes == 0) return wanted;
    const uint64_t columns = format::Flatten(alignment_.schema().fields).size() + 1;
    const uint64_t fits = static_cast<uint64_t>(options_.memory_limit_bytes) / 2 / columns;
    if (fits >= kSmallestPageBytes) return std::min(wanted, fits);
    return base::MakeError(
        base::ErrorCode::kCapacity,
        base::Concat("memory_limit_bytes = ", options_.memory_limit_bytes, " is too small for the ",
                     columns - 1, " columns of these rows: the least is ",
                     2 * columns * kSmallestPageBytes));
  }

  arrow::Result<uint64_t> CommitFragments(std::vector<proto::DataFragmentMessage> fragments) {
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
    return Commit(root_, transaction, commit);
  }

  const io::Location root_;
  const WriteOptions& options_;
  std::optional<TableVersion> latest_;
  bool appends_ = false;
  std::string data_version_;
  format::Schema schema_;
  RowAlignment alignment_;
};

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
  ARROW_RETURN_NOT_OK(CheckWriteOptions(options));
  ARROW_ASSIGN_OR_RAISE(io::Location root, io::ResolveUri(uri));
  DatasetWrite write(std::move(root), options);
  ARROW_RETURN_NOT_OK(write.Prepare(*rows->schema()));
  return write.Run(rows);
}

}  // namespace kinjo::dataset
