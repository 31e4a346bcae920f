#include "tabular/table_files.h"

#include <algorithm>
#include <utility>

#include "arrow/array/util.h"
#include "tabular/file_identity.h"
#include "tabular/hive_partition.h"

namespace kinjo::tabular {

namespace {

// What a table of files is made of; shared by the source and the readers that it gave out.
struct Parts {
  std::string uri;
  FileList list;
  FileFormat format;
  int64_t batch_rows = 0;
  std::vector<std::shared_ptr<TableFile>> files;
  std::shared_ptr<arrow::Schema> schema;  // columns of the files, then the partition columns
  int num_file_fields = 0;
  HivePartitions partitions;

  // The columns of `fields` that come out of the files, each once.
  arrow::FieldVector FileFields(const arrow::FieldVector& fields) const {
    arrow::FieldVector in_files;
    for (const auto& field : fields) {
      if (schema->GetFieldIndex(field->name()) >= num_file_fields) continue;
      if (std::find(in_files.begin(), in_files.end(), field) == in_files.end()) {
        in_files.push_back(field);
      }
    }
    return in_files;
  }

  // Adds the partition columns to rows of one file, and puts the columns in the order of `fields`.
  arrow::Result<std::shared_ptr<arrow::RecordBatch>> Complete(const arrow::RecordBatch& rows,
                                                              const arrow::FieldVector& fields,
                                                              size_t file) const {
    std::vector<std::shared_ptr<arrow::Array>> columns;
    for (const auto& field : fields) {
      const int partition = schema->GetFieldIndex(field->name()) - num_file_fields;
      if (partition >= 0) {
        const auto& value = partitions.values[file][static_cast<size_t>(partition)];
        ARROW_ASSIGN_OR_RAISE(std::shared_ptr<arrow::Array> column,
                              arrow::MakeArrayFromScalar(*value, rows.num_rows()));
        columns.push_back(std::move(column));
        continue;
      }
      ARROW_ASSIGN_OR_RAISE(auto one, SelectFields(rows, {field}));
      columns.push_back(one->column(0));
    }
    return arrow::RecordBatch::Make(arrow::schema(fields), rows.num_rows(), std::move(columns));
  }
};

// Reads file after file and cuts what they give into batches of at most batch_rows.
class FilesReader final : public arrow::RecordBatchReader {
 public:
  FilesReader(std::shared_ptr<const Parts> parts, arrow::FieldVector fields)
      : parts_(std::move(parts)),
        schema_(arrow::schema(fields)),
        fields_(std::move(fields)),
        file_fields_(parts_->FileFields(fields_)) {}

  std::shared_ptr<arrow::Schema> schema() const override { return schema_; }

  arrow::Status ReadNext(std::shared_ptr<arrow::RecordBatch>* batch) override {
    while (rest_ == nullptr || rest_->num_rows() == 0) {
      rest_ = nullptr;
      if (reader_ == nullptr) {
        if (next_file_ == parts_->files.size()) {
          *batch = nullptr;
          return arrow::Status::OK();
        }
        TableFile* file = parts_->files[next_file_++].get();
        if (file->schema()->num_fields() == 0 && file->num_rows() == 0) continue;
        ARROW_ASSIGN_OR_RAISE(reader_, file->Read(file_fields_, parts_->batch_rows));
      }
      ARROW_RETURN_NOT_OK(reader_->ReadNext(&rest_));
      if (rest_ == nullptr) reader_ = nullptr;
    }
    const int64_t rows = std::min(rest_->num_rows(), parts_->batch_rows);
    ARROW_ASSIGN_OR_RAISE(*batch,
                          parts_->Complete(*rest_->Slice(0, rows), fields_, next_file_ - 1));
    rest_ = rest_->Slice(rows);
    return arrow::Status::OK();
  }

 private:
  std::shared_ptr<const Parts> parts_;
  std::shared_ptr<arrow::Schema> schema_;
  arrow::FieldVector fields_;
  arrow::FieldVector file_fields_;
  size_t next_file_ = 0;
  std::shared_ptr<arrow::RecordBatchReader> reader_;
  std::shared_ptr<arrow::RecordBatch> rest_;  // of the batch that the file gave
};

class TableFiles final : public TableSource {
 public:
  explicit TableFiles(std::shared_ptr<const Parts> parts) : parts_(std::move(parts)) {}

  const std::string& uri() const override { return parts_->uri; }
  const std::string& format() const override { return parts_->format.name; }
  std::shared_ptr<arrow::Schema> schema() const override { return parts_->schema; }

  std::optional<int64_t> num_rows() const override {
    int64_t rows = 0;
    for (const auto& file : parts_->files) {
      if (!file->num_rows().has_value()) return std::nullopt;
      rows += *file->num_rows();
    }
    return rows;
  }

  arrow::Result<std::shared_ptr<arrow::RecordBatchReader>> Read(
      const std::optional<std::vector<std::string>>& columns) override {
    ARROW_ASSIGN_OR_RAISE(arrow::FieldVector fields,
                          FindFields(*parts_->schema, columns, parts_->uri));
    return std::make_shared<FilesReader>(parts_, std::move(fields));
  }

  arrow::Result<std::shared_ptr<arrow::RecordBatch>> Take(
      const std::vector<std::string>& columns, std::span<const uint64_t> ordinals) override {
    ARROW_ASSIGN_OR_RAISE(const arrow::FieldVector fields,
                          FindFields(*parts_->schema, columns, parts_->uri));
    if (!num_rows().has_value()) {  // where a file ends is only known by reading it
      FilesReader reader(parts_, fields);
      return TakeFromStream(&reader, fields, ordinals, 0);
    }
    const arrow::FieldVector file_fields = parts_->FileFields(fields);
    arrow::RecordBatchVector pieces;
    uint64_t first_row = 0;
    size_t next = 0;
    std::vector<uint64_t> in_file;
    for (size_t i = 0; i < parts_->files.size() && next < ordinals.size(); ++i) {
      const uint64_t end = first_row + static_cast<uint64_t>(*parts_->files[i]->num_rows());
      in_file.clear();
      for (; next < ordinals.size() && ordinals[next] < end; ++next) {
        in_file.push_back(ordinals[next] - first_row);
      }
      first_row = end;
      if (in_file.empty()) continue;
      ARROW_ASSIGN_OR_RAISE(auto rows, parts_->files[i]->Take(file_fields, in_file));
      ARROW_ASSIGN_OR_RAISE(auto piece, parts_->Complete(*rows, fields, i));
      pieces.push_back(std::move(piece));
    }
    if (next < ordinals.size()) {
      return base::Invalid("row ", ordinals[next], " of ", parts_->uri,
                           " was asked for, but it has ", first_row, " rows");
    }
    return Concatenate(arrow::schema(fields), pieces);
  }

  arrow::Result<std::vector<Trait>> Identity() const override {
    return IdentifyFiles(parts_->uri, parts_->list);
  }

 private:
  std::shared_ptr<const Parts> parts_;
};

arrow::Status CheckNamesDiffer(const arrow::Schema& schema, const std::string& uri) {
  for (int i = 0; i < schema.num_fields(); ++i) {
    if (schema.GetAllFieldIndices(schema.field(i)->name()).size() > 1) {
      return base::Invalid("two columns of ", uri, " are named ", schema.field(i)->name());
    }
  }
  return arrow::Status::OK();
}

arrow::Result<std::shared_ptr<arrow::Field>> MergeFields(const arrow::Field& known,
                                                         const arrow::Field& other,
                                                         bool guesses_types, const std::string& uri,
                                                         const std::string& first_uri) {
  if (known.type()->Equals(*other.type())) {
    return known.WithNullable(known.nullable() || other.nullable());
  }
  if (guesses_types) {
    arrow::Field::MergeOptions options;
    options.promote_integer_to_float = true;
    options.promote_list = true;
    auto merged = known.MergeWith(other, options);
    if (merged.ok()) return merged;
  }
  return base::Invalid("column ", known.name(), " of ", uri, " is ", other.type()->ToString(),
                       ", but in ", first_uri, " it is ", known.type()->ToString());
}

// Makes the schemas of all files one. The first file with columns says their order.
arrow::Status UnifySchemas(const Parts& parts, arrow::FieldVector* fields) {
  const TableFile* first = nullptr;
  for (const auto& file : parts.files) {
    const arrow::Schema& schema = *file->schema();
    ARROW_RETURN_NOT_OK(CheckNamesDiffer(schema, file->uri()));
    if (schema.num_fields() == 0 && parts.format.guesses_types) continue;
    if (first == nullptr) {
      first = file.get();
      *fields = schema.fields();
      continue;
    }
    for (std::shared_ptr<arrow::Field>& field : *fields) {
      const auto other = schema.GetFieldByName(field->name());
      if (other == nullptr) {
        return base::Invalid("column ", field->name(), " of ", first->uri(), " is missing in ",
                             file->uri());
      }
      ARROW_ASSIGN_OR_RAISE(field, MergeFields(*field, *other, parts.format.guesses_types,
                                               file->uri(), first->uri()));
    }
    for (const auto& field : schema.fields()) {
      if (first->schema()->GetFieldIndex(field->name()) < 0) {
        return base::Invalid("column ", field->name(), " of ", file->uri(), " is not in ",
                             first->uri());
      }
    }
  }
  // A column where no value was seen to guess from: text takes whatever comes later.
  for (std::shared_ptr<arrow::Field>& field : *fields) {
    const bool unknown = parts.format.guesses_types && field->type()->id() == arrow::Type::NA;
    if (unknown) field = field->WithType(arrow::utf8());
  }
  return arrow::Status::OK();
}

}  // namespace

arrow::Result<arrow::FieldVector> FindFields(const arrow::Schema& schema,
                                             const std::optional<std::vector<std::string>>& columns,
                                             const std::string& uri) {
  if (!columns.has_value()) return schema.fields();
  arrow::FieldVector fields;
  for (const std::string& name : *columns) {
    std::shared_ptr<arrow::Field> field = schema.GetFieldByName(name);
    if (field == nullptr) {
      std::string names;
      for (const std::string& known : schema.field_names()) {
        names += (names.empty() ? "" : ", ") + known;
      }
      return base::NotFound("no column ", name, " in ", uri, "; its columns are: ", names);
    }
    fields.push_back(std::move(field));
  }
  return fields;
}

arrow::Result<std::shared_ptr<TableSource>> OpenTableFiles(const std::string& uri,
                                                           const FileList& list, FileFormat format,
                                                           int64_t batch_rows) {
  auto parts = std::make_shared<Parts>();
  parts->uri = uri;
  parts->list = list;
  parts->format = std::move(format);
  parts->batch_rows = batch_rows;
  for (const ListedFile& listed : list.files) {
    ARROW_ASSIGN_OR_RAISE(std::shared_ptr<TableFile> file, parts->format.open(listed.location));
    parts->files.push_back(std::move(file));
  }
  arrow::FieldVector fields;
  ARROW_RETURN_NOT_OK(UnifySchemas(*parts, &fields));
  parts->num_file_fields = static_cast<int>(fields.size());
  if (!list.is_single_file) {
    std::vector<std::string> paths;
    paths.reserve(list.files.size());
    for (const ListedFile& listed : list.files) paths.push_back(listed.relative_path);
    ARROW_ASSIGN_OR_RAISE(parts->partitions, ReadHivePartitions(paths));
    // A column that the files hold as well is theirs.
    const auto file_schema = arrow::schema(fields);
    for (size_t i = parts->partitions.fields.size(); i-- > 0;) {
      if (file_schema->GetFieldIndex(parts->partitions.fields[i]->name()) < 0) continue;
      const auto at = static_cast<int64_t>(i);
      parts->partitions.fields.erase(parts->partitions.fields.begin() + at);
      for (auto& values : parts->partitions.values) values.erase(values.begin() + at);
    }
    fields.insert(fields.end(), parts->partitions.fields.begin(), parts->partitions.fields.end());
  }
  parts->schema = arrow::schema(std::move(fields));
  return std::make_shared<TableFiles>(std::move(parts));
}

}  // namespace kinjo::tabular
