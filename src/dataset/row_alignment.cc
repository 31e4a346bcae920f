#include "dataset/row_alignment.h"

#include <utility>

#include "arrow/array.h"
#include "arrow/array/builder_base.h"
#include "arrow/array/util.h"
#include "arrow/builder.h"
#include "arrow/compute/cast.h"
#include "dataset/snapshot.h"

namespace kinjo::dataset {
namespace {

/// Offsets and values of a list of either width.
struct Lists {
  std::shared_ptr<arrow::Array> values;
  std::vector<int64_t> begins;
  std::vector<int64_t> lengths;
};

template <typename ListArray>
Lists Unpack(const arrow::Array& array) {
  const auto& list = static_cast<const ListArray&>(array);
  Lists lists{.values = list.values()};
  for (int64_t i = 0; i < list.length(); ++i) {
    lists.begins.push_back(list.value_offset(i));
    lists.lengths.push_back(list.value_length(i));
  }
  return lists;
}

bool IsList(const arrow::DataType& type) {
  return type.id() == arrow::Type::LIST || type.id() == arrow::Type::LARGE_LIST;
}

Lists UnpackLists(const arrow::Array& array) {
  return array.type_id() == arrow::Type::LIST ? Unpack<arrow::ListArray>(array)
                                              : Unpack<arrow::LargeListArray>(array);
}

/// The length of the first list that isn't null, or nothing.
std::optional<int64_t> FirstLength(const arrow::Array& array) {
  const Lists lists = UnpackLists(array);
  for (int64_t i = 0; i < array.length(); ++i) {
    if (!array.IsNull(i)) return lists.lengths[static_cast<size_t>(i)];
  }
  return std::nullopt;
}

arrow::Result<std::shared_ptr<arrow::Array>> Cast(const std::shared_ptr<arrow::Array>& values,
                                                  const std::shared_ptr<arrow::DataType>& type,
                                                  const std::string& what) {
  if (values->type()->Equals(*type)) return values;
  auto cast = arrow::compute::Cast(*values, type);
  if (cast.ok()) return cast;
  return base::Invalid(what, " is ", values->type()->ToString(), ", which doesn't fit into ",
                       type->ToString(), ": ", cast.status().message());
}

/// Values under null lists don't matter: those that lie at hand are taken.
arrow::Result<std::shared_ptr<arrow::Array>> ListsToVectors(
    const std::shared_ptr<arrow::Array>& array, const std::shared_ptr<arrow::DataType>& type,
    const std::string& what) {
  const auto& vector = static_cast<const arrow::FixedSizeListType&>(*type);
  const int64_t width = vector.list_size();
  const Lists lists = UnpackLists(*array);
  bool is_dense = true;
  for (int64_t i = 0; i < array->length(); ++i) {
    const auto at = static_cast<size_t>(i);
    if (!array->IsNull(i) && lists.lengths[at] != width) {
      return base::Invalid(what, " has a list of ", lists.lengths[at], " values in row ", i,
                           " of a batch, others have ", width,
                           ": the vectors of a column have one length");
    }
    is_dense = is_dense && lists.begins[at] == lists.begins[0] + i * width;
  }
  std::shared_ptr<arrow::Array> values;
  if (is_dense && array->length() > 0 && array->null_count() == 0) {
    values = lists.values->Slice(lists.begins[0], array->length() * width);
  } else {
    std::unique_ptr<arrow::ArrayBuilder> builder;
    ARROW_RETURN_NOT_OK(
        arrow::MakeBuilder(arrow::default_memory_pool(), lists.values->type(), &builder));
    for (int64_t i = 0; i < array->length(); ++i) {
      if (array->IsNull(i)) {
        ARROW_RETURN_NOT_OK(builder->AppendEmptyValues(width));
      } else {
        const arrow::ArraySpan span(*lists.values->data());
        ARROW_RETURN_NOT_OK(
            builder->AppendArraySlice(span, lists.begins[static_cast<size_t>(i)], width));
      }
    }
    ARROW_ASSIGN_OR_RAISE(values, builder->Finish());
  }
  ARROW_ASSIGN_OR_RAISE(values, Cast(values, vector.value_type(), what));
  std::shared_ptr<arrow::Buffer> validity;
  if (array->null_count() > 0) {
    ARROW_ASSIGN_OR_RAISE(auto bits, arrow::AllocateEmptyBitmap(array->length()));
    for (int64_t i = 0; i < array->length(); ++i) {
      arrow::bit_util::SetBitTo(bits->mutable_data(), i, !array->IsNull(i));
    }
    validity = std::move(bits);
  }
  return std::make_shared<arrow::FixedSizeListArray>(type, array->length(), values, validity);
}

std::string NamesOf(const format::Schema& schema) {
  std::string names;
  for (const format::Field& field : schema.fields) {
    names += (names.empty() ? "" : ", ") + field.name;
  }
  return names;
}

/// A stream whose first batch was looked at.
class VectorStream final : public arrow::RecordBatchReader {
 public:
  VectorStream(std::shared_ptr<arrow::RecordBatchReader> rows,
               std::vector<std::shared_ptr<arrow::RecordBatch>> read,
               std::shared_ptr<arrow::Schema> schema, int column)
      : rows_(std::move(rows)),
        read_(std::move(read)),
        schema_(std::move(schema)),
        column_(column) {}

  std::shared_ptr<arrow::Schema> schema() const override { return schema_; }

  arrow::Status ReadNext(std::shared_ptr<arrow::RecordBatch>* batch) override {
    std::shared_ptr<arrow::RecordBatch> next;
    if (position_ < read_.size()) {
      next = std::move(read_[position_++]);
    } else {
      ARROW_RETURN_NOT_OK(rows_->ReadNext(&next));
    }
    batch->reset();
    if (next == nullptr) return arrow::Status::OK();
    const std::string what = "column '" + schema_->field(column_)->name() + "'";
    ARROW_ASSIGN_OR_RAISE(auto vectors,
                          CastColumn(next->column(column_), schema_->field(column_)->type(), what));
    arrow::ArrayVector columns = next->columns();
    columns[static_cast<size_t>(column_)] = std::move(vectors);
    *batch = arrow::RecordBatch::Make(schema_, next->num_rows(), std::move(columns));
    return arrow::Status::OK();
  }

 private:
  const std::shared_ptr<arrow::RecordBatchReader> rows_;
  std::vector<std::shared_ptr<arrow::RecordBatch>> read_;
  size_t position_ = 0;
  const std::shared_ptr<arrow::Schema> schema_;
  const int column_;
};

}  // namespace

arrow::Result<std::shared_ptr<arrow::Array>> CastColumn(
    const std::shared_ptr<arrow::Array>& values, const std::shared_ptr<arrow::DataType>& type,
    const std::string& what) {
  if (values->type()->Equals(*type)) return values;
  if (IsList(*values->type()) && type->id() == arrow::Type::FIXED_SIZE_LIST) {
    return ListsToVectors(values, type, what);
  }
  return Cast(values, type, what);
}

arrow::Result<RowAlignment> RowAlignment::Make(const arrow::Schema& source,
                                               const format::Schema& table,
                                               const std::string& uri) {
  RowAlignment alignment;
  alignment.uri_ = uri;
  alignment.schema_.metadata = table.metadata;
  arrow::FieldVector fields;
  for (const format::Field& field : table.fields) {
    const std::vector<int> found = source.GetAllFieldIndices(field.name);
    if (found.size() > 1) return base::Invalid("the rows have two columns '", field.name, "'");
    if (found.empty()) {
      if (field.nullable) continue;
      return base::Invalid("the rows have no column '", field.name, "', which ", uri,
                           " needs: it can't be null there");
    }
    ARROW_ASSIGN_OR_RAISE(std::shared_ptr<arrow::Field> made, format::ToArrowField(field));
    alignment.columns_.push_back({found.front(), made->type()});
    alignment.schema_.fields.push_back(field);
    fields.push_back(std::move(made));
  }
  for (const std::shared_ptr<arrow::Field>& field : source.fields()) {
    if (table.FindPath(field->name()) != nullptr) continue;
    return base::Invalid("the rows have a column '", field->name(), "', which ", uri,
                         " hasn't; it has: ", NamesOf(table));
  }
  if (fields.empty()) return base::Invalid("the rows have no column of ", uri);
  alignment.arrow_schema_ = arrow::schema(std::move(fields));
  return alignment;
}

arrow::Result<std::shared_ptr<arrow::RecordBatch>> RowAlignment::Apply(
    const arrow::RecordBatch& batch) const {
  arrow::ArrayVector columns;
  for (size_t i = 0; i < columns_.size(); ++i) {
    const std::string what = "column '" + arrow_schema_->field(static_cast<int>(i))->name() +
                             "' of the rows for " + uri_;
    ARROW_ASSIGN_OR_RAISE(auto column,
                          CastColumn(batch.column(columns_[i].source), columns_[i].type, what));
    columns.push_back(std::move(column));
  }
  return arrow::RecordBatch::Make(arrow_schema_, batch.num_rows(), std::move(columns));
}

arrow::Result<std::shared_ptr<arrow::RecordBatchReader>> WithVectorColumn(
    std::shared_ptr<arrow::RecordBatchReader> rows, const std::string& name) {
  const std::shared_ptr<arrow::Schema> schema = rows->schema();
  const int column = schema->GetFieldIndex(name);
  if (column < 0) return base::NotFound("the rows have no column '", name, "' for vectors");
  const std::shared_ptr<arrow::Field>& field = schema->field(column);
  if (field->type()->id() == arrow::Type::FIXED_SIZE_LIST) return rows;
  if (!IsList(*field->type())) {
    return base::Invalid("column '", name, "' is ", field->type()->ToString(),
                         "; vectors are lists of numbers");
  }
  std::vector<std::shared_ptr<arrow::RecordBatch>> read;
  std::optional<int64_t> width;
  while (!width.has_value()) {
    ARROW_ASSIGN_OR_RAISE(std::shared_ptr<arrow::RecordBatch> batch, rows->Next());
    if (batch == nullptr) break;
    width = FirstLength(*batch->column(column));
    read.push_back(std::move(batch));
  }
  if (!width.has_value() || *width < 1) {
    return base::Invalid("column '", name, "' has no vector: the length of its lists isn't known");
  }
  const auto& list = static_cast<const arrow::BaseListType&>(*field->type());
  const auto type =
      arrow::fixed_size_list(arrow::field("item", list.value_type()), static_cast<int32_t>(*width));
  ARROW_ASSIGN_OR_RAISE(auto made, schema->SetField(column, field->WithType(type)));
  return std::make_shared<VectorStream>(std::move(rows), std::move(read), std::move(made), column);
}

}  // namespace kinjo::dataset
