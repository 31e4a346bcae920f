#include "dataset/change_columns.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "arrow/array/concatenate.h"
#include "arrow/builder.h"
#include "arrow/compute/api_vector.h"
#include "arrow/table.h"
#include "base/cancel_scope.h"
#include "dataset/commit.h"
#include "dataset/fragment_deletions.h"
#include "dataset/fragment_writer.h"
#include "dataset/row_progress.h"
#include "format/arrow_schema.h"
#include "format/table/feature_flags.h"
#include "io/file_changes.h"

namespace kinjo::dataset {
namespace {

namespace proto = format::proto;

constexpr uint64_t kWindowRows = 65536;

/// Hands out a stream's rows in pieces of any size.
class RowFeed {
 public:
  explicit RowFeed(arrow::RecordBatchReader* rows) : rows_(rows) {}

  /// The next `count` rows as one batch; fewer at the end of the stream.
  arrow::Result<std::shared_ptr<arrow::RecordBatch>> Take(int64_t count) {
    std::vector<std::shared_ptr<arrow::RecordBatch>> parts;
    int64_t missing = count;
    while (missing > 0 || parts.empty()) {
      if (rest_ == nullptr || rest_->num_rows() == 0) {
        ARROW_ASSIGN_OR_RAISE(rest_, rows_->Next());
        if (rest_ == nullptr) break;
      }
      const int64_t rows = std::min(missing, rest_->num_rows());
      parts.push_back(rest_->Slice(0, rows));
      rest_ = rest_->Slice(rows);
      missing -= rows;
    }
    if (parts.size() == 1) return parts.front();
    ARROW_ASSIGN_OR_RAISE(auto table, arrow::Table::FromRecordBatches(rows_->schema(), parts));
    return table->CombineChunksToBatch();
  }

 private:
  arrow::RecordBatchReader* const rows_;
  std::shared_ptr<arrow::RecordBatch> rest_;
};

/// The rows of a batch at the live places of [begin, begin + rows), nulls at the others.
arrow::Result<std::shared_ptr<arrow::RecordBatch>> Spread(
    const std::shared_ptr<arrow::RecordBatch>& batch, const std::vector<format::RowRange>& live,
    uint64_t begin, uint64_t rows) {
  if (batch->num_rows() == static_cast<int64_t>(rows)) return batch;
  arrow::Int64Builder places;
  ARROW_RETURN_NOT_OK(places.Reserve(static_cast<int64_t>(rows)));
  int64_t next = 0;
  uint64_t row = begin;
  for (const format::RowRange& range : live) {
    ARROW_RETURN_NOT_OK(places.AppendNulls(static_cast<int64_t>(range.begin - row)));
    for (row = range.begin; row < range.end; ++row) places.UnsafeAppend(next++);
  }
  ARROW_RETURN_NOT_OK(places.AppendNulls(static_cast<int64_t>(begin + rows - row)));
  ARROW_ASSIGN_OR_RAISE(const auto indices, places.Finish());
  arrow::ArrayVector columns;
  for (const std::shared_ptr<arrow::Array>& column : batch->columns()) {
    ARROW_ASSIGN_OR_RAISE(auto spread, arrow::compute::Take(*column, *indices));
    columns.push_back(std::move(spread));
  }
  return arrow::RecordBatch::Make(batch->schema(), static_cast<int64_t>(rows), std::move(columns));
}

/// Ids are never given twice, also not those of columns that were dropped.
int32_t NextFieldId(const TableVersion& version) {
  int32_t highest = format::HighestId(version.schema().fields);
  for (const proto::DataFragmentMessage& fragment : version.messages.manifest.fragments) {
    for (const proto::DataFileMessage& file : fragment.files) {
      for (const int32_t id : file.fields) highest = std::max(highest, id);
    }
  }
  return highest + 1;
}

/// New columns on their way into a file beside those of each fragment.
class ColumnAddition {
 public:
  ColumnAddition(const io::Location& root, const TableVersion& latest,
                 const AddColumnsOptions& options)
      : root_(root), latest_(latest), options_(options) {}

  arrow::Status Prepare(const arrow::Schema& source) {
    int32_t next_id = NextFieldId(latest_);
    std::set<std::string> names;
    for (const format::Field& field : latest_.schema().fields) names.insert(field.name);
    for (const std::shared_ptr<arrow::Field>& field : source.fields()) {
      if (!names.insert(field->name()).second) {
        return base::Invalid("can't add the column '", field->name(), "' to ", root_.uri,
                             ": there is one of that name");
      }
      ARROW_ASSIGN_OR_RAISE(format::Field made,
                            format::MakeField(*field->WithNullable(true), -1, &next_id));
      added_.fields.push_back(std::move(made));
    }
    if (added_.fields.empty()) return base::Invalid("there is no column to add to ", root_.uri);
    ARROW_ASSIGN_OR_RAISE(deletions_, FragmentDeletions::Make(root_, latest_));
    FragmentLimits limits;
    limits.max_rows = std::numeric_limits<uint64_t>::max();
    limits.max_bytes = std::numeric_limits<uint64_t>::max();
    ARROW_ASSIGN_OR_RAISE(writer_,
                          FragmentWriter::Make(root_, added_, latest_.data_format(), limits));
    return arrow::Status::OK();
  }

  arrow::Result<AddColumnsReport> Run(arrow::RecordBatchReader* columns) {
    const base::CancelScope scope(options_.cancel);
    RowFeed feed(columns);
    RowProgress progress(options_.progress, -1);
    for (const proto::DataFragmentMessage& fragment : latest_.messages.manifest.fragments) {
      ARROW_RETURN_NOT_OK(WriteFragment(fragment, &feed, &progress));
      ARROW_RETURN_NOT_OK(writer_->EndFile());
    }
    ARROW_ASSIGN_OR_RAISE(const auto more, feed.Take(1));
    if (more->num_rows() != 0) {
      return base::Invalid("the new columns have more rows than ", root_.uri, ", which has ",
                           live_rows_);
    }
    const uint64_t bytes = writer_->bytes();
    ARROW_ASSIGN_OR_RAISE(const auto files, writer_->Finish());
    ARROW_ASSIGN_OR_RAISE(const uint64_t version, CommitFiles(files));
    progress.Finish();
    return AddColumnsReport{.version = version, .rows = live_rows_, .bytes = bytes};
  }

 private:
  arrow::Status WriteFragment(const proto::DataFragmentMessage& fragment, RowFeed* feed,
                              RowProgress* progress) {
    ARROW_ASSIGN_OR_RAISE(const format::DeadRows dead, deletions_.Read(fragment.id));
    for (uint64_t begin = 0; begin < fragment.physical_rows; begin += kWindowRows) {
      ARROW_RETURN_NOT_OK(options_.cancel.Check());
      const uint64_t rows = std::min(kWindowRows, fragment.physical_rows - begin);
      std::vector<format::RowRange> live;
      const auto wanted = static_cast<int64_t>(dead.AppendLiveRanges(begin, begin + rows, &live));
      ARROW_ASSIGN_OR_RAISE(const auto batch, feed->Take(wanted));
      if (batch->num_rows() != wanted) {
        return base::Invalid("the new columns have ", live_rows_ + batch->num_rows(),
                             " rows, fewer than ", root_.uri);
      }
      live_rows_ += static_cast<uint64_t>(wanted);
      ARROW_ASSIGN_OR_RAISE(const auto spread, Spread(batch, live, begin, rows));
      ARROW_RETURN_NOT_OK(writer_->Write(*spread));
      progress->Add(wanted);
    }
    return arrow::Status::OK();
  }

  arrow::Result<uint64_t> CommitFiles(const std::vector<proto::DataFragmentMessage>& files) {
    UncommittedFiles uncommitted(root_);
    uncommitted.AddDataFiles(files);
    const proto::ManifestMessage& manifest = latest_.messages.manifest;
    proto::MergeOperation operation{.fragments = manifest.fragments,
                                    .fields = manifest.fields,
                                    .schema_metadata = manifest.schema_metadata};
    for (size_t i = 0; i < files.size(); ++i) {
      operation.fragments[i].files.push_back(files[i].files.front());
    }
    std::vector<format::Field> added = format::Flatten(added_.fields);
    std::move(added.begin(), added.end(), std::back_inserter(operation.fields));
    Transaction transaction;
    transaction.read_version = latest_.version();
    transaction.operation = std::move(operation);
    CommitOptions commit;
    commit.cancel = options_.cancel;
    return Commit(root_, transaction, commit, &uncommitted);
  }

  const io::Location& root_;
  const TableVersion& latest_;
  const AddColumnsOptions& options_;
  format::Schema added_;
  FragmentDeletions deletions_;
  std::unique_ptr<FragmentWriter> writer_;
  uint64_t live_rows_ = 0;
};

arrow::Result<uint64_t> CommitFields(const io::Location& root, const TransactionMaker& make,
                                     const base::CancelToken& cancel) {
  CommitOptions options;
  options.cancel = cancel;
  return CommitAgain(root, make, options);
}

std::optional<Transaction> ProjectTo(const std::vector<format::Field>& fields) {
  Transaction transaction;
  transaction.operation = proto::ProjectOperation{format::Flatten(fields)};
  return transaction;
}

/// The field with a dotted path, to be changed, and those beside it.
std::pair<format::Field*, std::vector<format::Field>*> FindField(std::vector<format::Field>* fields,
                                                                 std::string_view path) {
  const size_t dot = path.find('.');
  for (format::Field& field : *fields) {
    if (field.name != path.substr(0, dot)) continue;
    if (dot == std::string_view::npos) return {&field, fields};
    return FindField(&field.children, path.substr(dot + 1));
  }
  return {nullptr, fields};
}

}  // namespace

arrow::Result<AddColumnsReport> AddColumns(const std::string& uri,
                                           arrow::RecordBatchReader* columns,
                                           const AddColumnsOptions& options) {
  ARROW_ASSIGN_OR_RAISE(const io::Location root, io::ResolveUri(uri));
  ARROW_ASSIGN_OR_RAISE(const TableVersion latest, ReadTableVersion(root));
  ARROW_RETURN_NOT_OK(
      format::CheckWriterFlags(latest.messages.manifest.writer_feature_flags, latest.uri));
  ColumnAddition addition(root, latest, options);
  ARROW_RETURN_NOT_OK(addition.Prepare(*columns->schema()));
  return addition.Run(columns);
}

arrow::Result<uint64_t> DropColumns(const std::string& uri, const std::vector<std::string>& names,
                                    const base::CancelToken& cancel) {
  ARROW_ASSIGN_OR_RAISE(const io::Location root, io::ResolveUri(uri));
  const auto make = [&](const TableVersion& latest) -> arrow::Result<std::optional<Transaction>> {
    std::vector<format::Field> fields = latest.schema().fields;
    for (const std::string& name : names) {
      const size_t dropped =
          std::erase_if(fields, [&](const format::Field& field) { return field.name == name; });
      if (dropped == 0) return base::NotFound(root.uri, " has no column '", name, "' to drop");
    }
    if (fields.empty()) {
      return base::Invalid("can't drop every column of ", root.uri, "; keep one");
    }
    return ProjectTo(fields);
  };
  return CommitFields(root, make, cancel);
}

arrow::Result<uint64_t> RenameColumn(const std::string& uri, const std::string& path,
                                     const std::string& name, const base::CancelToken& cancel) {
  ARROW_ASSIGN_OR_RAISE(const io::Location root, io::ResolveUri(uri));
  if (name.empty() || name.find('.') != std::string::npos) {
    return base::Invalid("name is '", name, "'; a column's name isn't empty and holds no dot");
  }
  const auto make = [&](const TableVersion& latest) -> arrow::Result<std::optional<Transaction>> {
    std::vector<format::Field> fields = latest.schema().fields;
    const auto [field, siblings] = FindField(&fields, path);
    if (field == nullptr) return base::NotFound(root.uri, " has no column '", path, "'");
    const bool taken = std::any_of(siblings->begin(), siblings->end(),
                                   [&](const format::Field& each) { return each.name == name; });
    if (taken) return base::Invalid(root.uri, " has a column '", name, "' already");
    field->name = name;
    return ProjectTo(fields);
  };
  return CommitFields(root, make, cancel);
}

}  // namespace kinjo::dataset
