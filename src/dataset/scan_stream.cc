#include "dataset/scan_stream.h"

#include <algorithm>
#include <utility>

#include "arrow/array.h"
#include "arrow/buffer.h"
#include "base/cancel_scope.h"
#include "base/thread_pool.h"
#include "dataset/filter.h"
#include "dataset/row_progress.h"
#include "predicate/predicate.h"

namespace kinjo::dataset {

namespace {

constexpr const char* kRowIdName = "_rowid";

using Filter = std::shared_ptr<const predicate::Predicate>;

arrow::Result<Filter> ParseWhere(const Dataset& dataset, const std::string& where) {
  if (where.empty()) return nullptr;
  auto parsed = predicate::Predicate::Parse(where, dataset.arrow_schema());
  if (parsed.ok()) return parsed;
  return parsed.status().WithMessage("where: ", base::MessageOf(parsed.status()));
}

arrow::Result<std::shared_ptr<const RowMask>> PassingRows(Dataset* dataset, const Filter& filter,
                                                          const base::CancelToken& cancel) {
  if (filter == nullptr) return nullptr;
  base::ThreadPool pool(base::DefaultThreadCount());
  ARROW_ASSIGN_OR_RAISE(const FilterAnswer answer, EvaluateFilter(dataset, *filter, &pool, cancel));
  return answer.rows;
}

std::string NamesOf(const arrow::Schema& schema) {
  std::string names;
  for (const auto& field : schema.fields()) names += (names.empty() ? "" : ", ") + field->name();
  return names;
}

// The output's fields in order, and the names that a scan is asked for.
arrow::Result<arrow::FieldVector> FieldsOf(const Dataset& dataset, const RowsRequest& request) {
  const auto schema = dataset.arrow_schema();
  if (!request.columns.has_value()) return schema->fields();
  arrow::FieldVector fields;
  for (const std::string& name : *request.columns) {
    auto field = schema->GetFieldByName(name);
    if (field == nullptr) {
      return base::NotFound(dataset.uri(), " has no column ", name, "; it has ", NamesOf(*schema));
    }
    if (std::find(fields.begin(), fields.end(), field) != fields.end()) {
      return base::Invalid("column ", name, " is asked for twice");
    }
    fields.push_back(std::move(field));
  }
  return fields;
}

arrow::Status CheckFragments(const Dataset& dataset, const RowsRequest& request) {
  for (const uint64_t id : request.fragment_ids.value_or(std::vector<uint64_t>())) {
    const auto& fragments = dataset.fragments();
    if (std::none_of(fragments.begin(), fragments.end(),
                     [&](const FragmentInfo& fragment) { return fragment.id == id; })) {
      return base::NotFound(dataset.uri(), " has no fragment ", id, " in version ",
                            dataset.version());
    }
  }
  return arrow::Status::OK();
}

// Fragments to read, rising, and of the first of them the rows to pass over: those before it are
// passed over whole, without a read.
struct Begin {
  std::vector<uint64_t> fragment_ids;
  int64_t skipped_rows = 0;
  int64_t rows = 0;  // of these fragments
};

// What the producer of a stream works with.
struct RowsScan {
  std::shared_ptr<Dataset> dataset;
  Filter filter;
  std::shared_ptr<arrow::Schema> schema;  // of the output
  RowsRequest request;
  base::ProgressCallback progress;

  // `rows` is null without a filter.
  Begin FindBegin(const RowMask* rows) const {
    Begin begin{.skipped_rows = request.offset};
    for (const FragmentInfo& fragment : dataset->fragments()) {
      const auto& asked = request.fragment_ids;
      if (asked.has_value() && std::find(asked->begin(), asked->end(), fragment.id) == asked->end())
        continue;
      const auto passing =
          static_cast<int64_t>(rows != nullptr ? rows->count_in(fragment.id)
                                               : fragment.physical_rows - fragment.deleted_rows);
      if (begin.fragment_ids.empty() && passing <= begin.skipped_rows) {
        begin.skipped_rows -= passing;
      } else {
        begin.fragment_ids.push_back(fragment.id);
        begin.rows += passing;
      }
    }
    return begin;
  }

  // The read rows [begin, begin + rows).
  arrow::Result<std::shared_ptr<arrow::RecordBatch>> OutputOf(const ScanBatch& read, int64_t begin,
                                                              int64_t rows) const {
    arrow::ArrayVector columns;
    for (const auto& column : read.batch->columns()) columns.push_back(column->Slice(begin, rows));
    if (request.with_row_id) {
      const auto bytes = rows * static_cast<int64_t>(sizeof(uint64_t));
      ARROW_ASSIGN_OR_RAISE(std::shared_ptr<arrow::Buffer> ids, arrow::AllocateBuffer(bytes));
      const auto count = static_cast<size_t>(rows);
      ARROW_RETURN_NOT_OK(
          dataset->RowIds(std::span(read.addresses).subspan(static_cast<size_t>(begin), count),
                          {reinterpret_cast<uint64_t*>(ids->mutable_data()), count}));
      columns.push_back(std::make_shared<arrow::UInt64Array>(rows, std::move(ids)));
    }
    return arrow::RecordBatch::Make(schema, rows, std::move(columns));
  }

  arrow::Status Run(const base::CancelToken& cancel, const stream::ResultStream::Emit& emit) const {
    const base::CancelScope scope(cancel);
    ScanOptions options{.batch_rows = request.batch_rows};
    ARROW_ASSIGN_OR_RAISE(options.rows, PassingRows(dataset.get(), filter, cancel));
    Begin begin = FindBegin(options.rows.get());
    options.fragment_ids = std::move(begin.fragment_ids);
    const int columns = schema->num_fields() - (request.with_row_id ? 1 : 0);
    for (int i = 0; i < columns; ++i) options.columns.push_back(schema->field(i)->name());
    ARROW_ASSIGN_OR_RAISE(const auto scan, dataset->MakeScan(options));
    int64_t skipped = begin.skipped_rows;
    int64_t left = std::min(request.limit.value_or(INT64_MAX), begin.rows - skipped);
    RowProgress told(progress, std::max<int64_t>(left, 0));
    while (left > 0) {
      ARROW_RETURN_NOT_OK(cancel.Check());
      ARROW_ASSIGN_OR_RAISE(const ScanBatch read, scan->Next());
      if (read.batch == nullptr) break;
      const auto there = static_cast<int64_t>(read.addresses.size());
      const int64_t first = std::min(skipped, there);
      const int64_t rows = std::min(left, there - first);
      skipped -= first;
      if (rows == 0) continue;
      ARROW_ASSIGN_OR_RAISE(auto batch, OutputOf(read, first, rows));
      ARROW_RETURN_NOT_OK(emit(std::move(batch)));
      left -= rows;
      told.Add(rows);
    }
    told.Finish();
    return arrow::Status::OK();
  }
};

}  // namespace

arrow::Result<std::unique_ptr<stream::ResultStream>> StreamRows(std::shared_ptr<Dataset> dataset,
                                                                const RowsRequest& request,
                                                                base::CancelToken cancel,
                                                                base::ProgressCallback progress) {
  if (request.limit.value_or(0) < 0) {
    return base::Invalid("limit must not be negative, but is ", *request.limit);
  }
  if (request.offset < 0) {
    return base::Invalid("offset must not be negative, but is ", request.offset);
  }
  if (request.batch_rows < 1) {
    return base::Invalid("batch_rows is ", request.batch_rows, "; it must be at least 1");
  }
  ARROW_RETURN_NOT_OK(CheckFragments(*dataset, request));
  ARROW_ASSIGN_OR_RAISE(auto filter, ParseWhere(*dataset, request.where));
  ARROW_ASSIGN_OR_RAISE(auto fields, FieldsOf(*dataset, request));
  if (request.with_row_id) {
    fields.push_back(arrow::field(kRowIdName, arrow::uint64(), /*nullable=*/false));
  }
  auto schema = arrow::schema(std::move(fields));
  auto scan = std::make_shared<const RowsScan>(
      RowsScan{std::move(dataset), std::move(filter), schema, request, std::move(progress)});
  return stream::ResultStream::Start(
      std::move(schema),
      [scan = std::move(scan)](const base::CancelToken& token,
                               const stream::ResultStream::Emit& emit) {
        return scan->Run(token, emit);
      },
      std::move(cancel));
}

arrow::Result<int64_t> CountRows(Dataset* dataset, const std::string& where,
                                 const base::CancelToken& cancel) {
  if (where.empty()) return static_cast<int64_t>(dataset->num_rows());
  ARROW_ASSIGN_OR_RAISE(const Filter filter, ParseWhere(*dataset, where));
  ARROW_ASSIGN_OR_RAISE(const auto rows, PassingRows(dataset, filter, cancel));
  return static_cast<int64_t>(rows->count());
}

}  // namespace kinjo::dataset
