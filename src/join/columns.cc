#include "join/columns.h"

#include <map>
#include <set>

#include "dataset/column_path.h"
#include "exec/multivector_array.h"

namespace kinjo::join {

namespace {

constexpr int64_t kWidthMax = 1 << 20;

std::string ListNames(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text.empty() ? "none" : text;
}

/// Types that are taken for vectors when no column is named: lists of integers may be anything.
bool LooksLikeVector(const arrow::DataType& type) {
  auto vector = exec::VectorTypeOf(type);
  if (!vector.has_value()) vector = exec::MultivectorTypeOf(type);
  if (!vector.has_value()) return false;
  return vector->width.has_value() || vector->element == arrow::Type::HALF_FLOAT ||
         vector->element == arrow::Type::FLOAT || vector->element == arrow::Type::DOUBLE;
}

arrow::Result<std::string> OnlyVectorColumn(const Side& side) {
  std::vector<std::string> found;
  for (const auto& field : side.schema->fields()) {
    if (LooksLikeVector(*field->type())) found.push_back(field->name());
  }
  if (found.size() == 1) return found[0];
  if (found.empty()) {
    return base::Invalid(
        "the ", side.name, " side (", side.uri,
        ") has no vector column; its columns: ", ListNames(side.schema->field_names()));
  }
  return base::Invalid("the ", side.name, " side (", side.uri, ") has ", found.size(),
                       " vector columns: ", ListNames(found), "; name one with ", side.option);
}

arrow::Result<std::vector<std::string>> SelectColumns(
    const Side& side, const std::optional<std::vector<std::string>>& selection,
    const std::string& left_out) {
  std::vector<std::string> names;
  if (!selection.has_value()) {
    for (const std::string& name : side.schema->field_names()) {
      if (name != left_out) names.push_back(name);
    }
  } else {
    names = *selection;
  }
  std::set<std::string> seen;
  for (const std::string& name : names) {
    const size_t count = side.schema->GetAllFieldIndices(name).size();
    if (count == 0) {
      return base::NotFound(side.name, "_select: the ", side.name, " side (", side.uri,
                            ") has no column \"", name,
                            "\"; its columns: ", ListNames(side.schema->field_names()));
    }
    if (count > 1 || !seen.insert(name).second) {
      return base::Invalid("the ", side.name, " column \"", name,
                           "\" would come out twice; choose with ", side.name, "_select");
    }
  }
  return names;
}

/// Who took an output name already, for messages.
using TakenNames = std::map<std::string, std::string>;

/// `reserved` are the names of the left and of the join, `taken` also those given to right columns.
/// Only a clash with the former is what the suffix is for: a right column never takes the name of
/// another one of the right.
arrow::Result<std::string> RightOutputName(const std::string& name, const std::string& suffix,
                                           const TakenNames& reserved, const TakenNames& taken) {
  const auto first = reserved.find(name);
  if (first == reserved.end()) {
    const auto other = taken.find(name);
    if (other == taken.end()) return name;
    return base::Invalid("right column \"", name, "\" has the name that suffix = \"", suffix,
                         "\" gives to ", other->second,
                         "; choose another suffix or leave one out with right_select");
  }
  std::string renamed = name + suffix;
  const auto second = taken.find(renamed);
  if (second == taken.end()) return renamed;
  return base::Invalid("right column \"", name, "\" has the name of ", first->second,
                       ", and with suffix = \"", suffix, "\" that of ", second->second,
                       "; choose another suffix or leave it out with right_select");
}

arrow::Result<TakenNames> ReservedNames(const OutputLayout& layout) {
  TakenNames taken;
  const auto reserve = [&](const std::string& name) {
    taken.emplace(name, "the join's column \"" + name + "\"");
  };
  if (layout.cluster) {
    reserve("_cluster");
  } else {
    reserve("_distance");
    reserve("_rank");
  }
  if (layout.row_id) reserve("_rowid");
  if (layout.query_index) reserve("_query_index");
  for (const std::string& name : layout.left_columns) {
    const auto [clash, fresh] = taken.emplace(name, "left column \"" + name + "\"");
    if (!fresh) {
      return base::Invalid("left column \"", name, "\" has the name of ", clash->second,
                           "; leave it out with left_select");
    }
  }
  return taken;
}

}  // namespace

arrow::Result<VectorColumn> ResolveVectorColumn(const Side& side, const std::string& name) {
  VectorColumn column;
  column.name = name;
  if (name.empty()) {
    ARROW_ASSIGN_OR_RAISE(column.name, OnlyVectorColumn(side));
  }
  column.what = side.name + " column \"" + column.name + "\"";
  const std::vector<int> found = side.schema->GetAllFieldIndices(column.name);
  const auto field =
      found.empty() ? dataset::FindNested(*side.schema, column.name) : side.schema->field(found[0]);
  if (field == nullptr) {
    return base::NotFound(side.option, ": the ", side.name, " side (", side.uri,
                          ") has no column \"", column.name,
                          "\"; its columns: ", ListNames(side.schema->field_names()));
  }
  if (found.size() > 1) {
    return base::Invalid(side.option, ": the ", side.name, " side (", side.uri, ") has ",
                         found.size(), " columns named \"", column.name, "\"");
  }
  column.root = dataset::RootOf(*side.schema, column.name);
  const arrow::DataType& type = *field->type();
  auto vector = exec::VectorTypeOf(type);
  if (!vector.has_value()) {
    vector = exec::MultivectorTypeOf(type);
    column.multivector = vector.has_value();
  }
  if (!vector.has_value()) {
    return base::Invalid(side.option, ": ", column.what, " of ", side.uri, " is not a vector but ",
                         type.ToString(),
                         "; a vector is a (fixed-size) list of floats or integers, a multivector "
                         "a list of those");
  }
  column.type = *vector;
  if (vector->width.has_value() && (*vector->width < 1 || *vector->width > kWidthMax)) {
    return base::Invalid(column.what, " of ", side.uri, " has ", *vector->width,
                         " elements; a vector has 1 to ", kWidthMax);
  }
  return column;
}

arrow::Status CheckKinds(const VectorColumn& left, const VectorColumn& right,
                         std::optional<kernels::Metric> metric) {
  if (!right.multivector) {
    if (!left.multivector) return arrow::Status::OK();
    return base::Invalid(left.what, " holds lists of vectors, but ", right.what,
                         " holds vectors; name a right column of lists of vectors, or make each "
                         "left vector a row of its own");
  }
  if (metric.value_or(kernels::Metric::kCosine) == kernels::Metric::kCosine) {
    return arrow::Status::OK();
  }
  return base::Invalid("metric = ", kernels::MetricName(*metric), " can't compare ", right.what,
                       ", which holds lists of vectors: those are compared by cosine only");
}

arrow::Status CheckComparable(const VectorColumn& left, const VectorColumn& right,
                              kernels::Metric metric) {
  if (left.type.width.has_value() && right.type.width.has_value() &&
      *left.type.width != *right.type.width) {
    return base::Invalid("vectors of different widths: ", left.what, " has ", *left.type.width,
                         " elements, ", right.what, " has ", *right.type.width);
  }
  if (metric != kernels::Metric::kHamming) return arrow::Status::OK();
  for (const VectorColumn* column : {&left, &right}) {
    if (column->type.element != arrow::Type::UINT8) {
      return base::Invalid("metric = hamming compares uint8 vectors, but ", column->what,
                           " has other elements; choose metric = l2, cosine or dot");
    }
  }
  return arrow::Status::OK();
}

arrow::Result<OutputLayout> MakeOutputLayout(const Side& left, const Side& right,
                                             const VectorColumn& right_vector,
                                             const JoinOptions& options) {
  OutputLayout layout;
  layout.row_id = options.with_row_id;
  layout.query_index = options.with_query_index;
  layout.cluster = options.clusters;
  ARROW_ASSIGN_OR_RAISE(layout.left_columns, SelectColumns(left, options.left_select, ""));
  if (!layout.cluster) {
    ARROW_ASSIGN_OR_RAISE(layout.right_columns,
                          SelectColumns(right, options.right_select, right_vector.name));
  }
  ARROW_ASSIGN_OR_RAISE(const TakenNames reserved, ReservedNames(layout));
  TakenNames taken = reserved;
  arrow::FieldVector fields;
  for (const std::string& name : layout.left_columns) {
    fields.push_back(left.schema->GetFieldByName(name));
  }
  const bool keeps_left = options.how == How::kLeft;
  for (const std::string& name : layout.right_columns) {
    ARROW_ASSIGN_OR_RAISE(const std::string output,
                          RightOutputName(name, options.suffix, reserved, taken));
    taken.emplace(output, "right column \"" + name + "\"");
    const auto field = right.schema->GetFieldByName(name);
    fields.push_back(field->WithName(output)->WithNullable(field->nullable() || keeps_left));
  }
  if (layout.cluster) {
    fields.push_back(arrow::field("_cluster", arrow::int64(), false));
  } else {
    fields.push_back(arrow::field("_distance", arrow::float32(), true));
    fields.push_back(arrow::field("_rank", arrow::int32(), keeps_left));
  }
  if (layout.row_id) fields.push_back(arrow::field("_rowid", arrow::uint64(), keeps_left));
  if (layout.query_index) fields.push_back(arrow::field("_query_index", arrow::int64(), false));
  layout.schema = arrow::schema(std::move(fields));
  return layout;
}

}  // namespace kinjo::join
