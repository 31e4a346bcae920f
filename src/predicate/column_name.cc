#include "predicate/column_name.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "arrow/extension_type.h"
#include "arrow/util/checked_cast.h"
#include "predicate/position_error.h"

namespace kinjo::predicate {

namespace {

constexpr size_t kMaximumListed = 40;

bool EqualsInAnyCase(const std::string& left, const std::string& right) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
  return std::equal(left.begin(), left.end(), right.begin(), right.end(),
                    [&](char a, char b) { return lower(a) == lower(b); });
}

std::string ListNames(const arrow::FieldVector& fields) {
  std::string text;
  for (size_t i = 0; i < fields.size() && i < kMaximumListed; ++i)
    text += (i == 0 ? "" : ", ") + fields[i]->name();
  if (fields.size() > kMaximumListed)
    text += base::Concat(" and ", fields.size() - kMaximumListed, " more");
  return fields.empty() ? "none" : text;
}

/// The one field of this name.
arrow::Result<std::shared_ptr<arrow::Field>> FindField(const SyntaxName& name,
                                                       const arrow::FieldVector& fields,
                                                       const std::string& parent,
                                                       int64_t position) {
  arrow::FieldVector exact;
  arrow::FieldVector similar;
  for (const auto& field : fields) {
    if (field->name() == name.text) exact.push_back(field);
    if (EqualsInAnyCase(field->name(), name.text)) similar.push_back(field);
  }
  const arrow::FieldVector& found = exact.empty() && !name.quoted ? similar : exact;
  if (found.size() == 1) return found.front();
  if (found.size() > 1) {
    return InvalidAt(position, "more than one column fits the name ", name.text, ": ",
                     ListNames(found));
  }
  const std::string what = parent.empty() ? "no column " : "no field ";
  const std::string where = parent.empty() ? "" : " in " + parent;
  const char* hint = name.quoted && parent.empty() ? "; text is put in single quotes" : "";
  return base::NotFound("predicate, character ", position, ": ", what, name.text, where,
                        "; there are ", ListNames(fields), hint);
}

TypePtr StorageOf(TypePtr type) {
  using arrow::internal::checked_cast;
  while (type->id() == arrow::Type::EXTENSION)
    type = checked_cast<const arrow::ExtensionType&>(*type).storage_type();
  if (type->id() == arrow::Type::DICTIONARY)
    return StorageOf(checked_cast<const arrow::DictionaryType&>(*type).value_type());
  if (type->id() == arrow::Type::RUN_END_ENCODED)
    return StorageOf(checked_cast<const arrow::RunEndEncodedType&>(*type).value_type());
  return type;
}

}  // namespace

arrow::Result<Operand> BindColumn(const std::vector<SyntaxName>& names, const arrow::Schema& schema,
                                  int64_t position) {
  Expression column;
  column.kind = ExpressionKind::kColumn;
  column.position = position;
  arrow::FieldVector fields = schema.fields();
  TypePtr stored;
  std::string parent;
  for (const SyntaxName& name : names) {
    if (stored != nullptr) {
      if (stored->id() != arrow::Type::STRUCT) {
        return InvalidAt(position, parent, " has type ", stored->ToString(), ", it has no field ",
                         name.text);
      }
      fields = stored->fields();
    }
    ARROW_ASSIGN_OR_RAISE(const auto field, FindField(name, fields, parent, position));
    column.path.push_back(field->name());
    stored = StorageOf(field->type());
    parent += (parent.empty() ? "" : ".") + field->name();
  }
  column.type = ValueType(stored);
  const bool is_half = stored->id() == arrow::Type::HALF_FLOAT;
  return Operand{std::make_shared<const Expression>(std::move(column)), std::nullopt, is_half};
}

}  // namespace kinjo::predicate
