// For the conformance test: the tables of bindings/conformance (its README tells what a recipe
// makes), built as Arrow files that the library opens.
#pragma once

#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "arrow/api.h"
#include "arrow/io/file.h"
#include "arrow/ipc/writer.h"
#include "arrow/json/from_string.h"

namespace kinjo_conformance {

using Json = nlohmann::json;

inline Json ReadJson(const std::filesystem::path& path) { return Json::parse(std::ifstream(path)); }

/// A number as Arrow's JSON reader takes it; NaN and the infinities are texts in the corpus.
inline std::string NumberText(const Json& value) {
  if (!value.is_string()) return value.dump();
  const std::string text = value.get<std::string>();
  if (text == "NaN" || text == "nan") return "NaN";
  return text[0] == '-' ? "-Infinity" : "Infinity";
}

inline std::string FormulaText(const Json& rule, int64_t row, int64_t element, int64_t part) {
  int64_t value = rule.value("row", int64_t{0}) * row + rule.value("add", int64_t{0});
  value += rule.value("element", int64_t{0}) * element + rule.value("part", int64_t{0}) * part;
  if (rule.contains("modulo")) value %= rule["modulo"].get<int64_t>();
  value -= rule.value("subtract", int64_t{0});
  if (!rule.contains("divide")) return std::to_string(value);
  return Json(static_cast<double>(value) / rule["divide"].get<double>()).dump();
}

inline bool IsVector(const std::string& type) {
  return type == "vector" || type == "list" || type == "multivector";
}

inline std::shared_ptr<arrow::DataType> ElementType(const std::string& name) {
  static const std::map<std::string, std::shared_ptr<arrow::DataType>> kTypes = {
      {"float16", arrow::float16()}, {"float32", arrow::float32()}, {"float64", arrow::float64()},
      {"uint8", arrow::uint8()},     {"int8", arrow::int8()},       {"int16", arrow::int16()},
      {"int32", arrow::int32()},     {"int64", arrow::int64()},     {"string", arrow::utf8()},
      {"bool", arrow::boolean()},    {"date", arrow::date32()}};
  return kTypes.at(name);
}

inline std::shared_ptr<arrow::DataType> ColumnType(const Json& column) {
  const std::string type = column["type"];
  if (!IsVector(type)) return ElementType(type);
  const auto element = ElementType(column["element"]);
  if (type == "list") return arrow::list(element);
  const auto vector = arrow::fixed_size_list(element, column["width"].get<int32_t>());
  return type == "vector" ? vector : arrow::list(vector);
}

inline std::string VectorText(const Json& column, int64_t row, int64_t part) {
  std::string text;
  for (int64_t element = 0; element < column["width"].get<int64_t>(); ++element) {
    text += (element > 0 ? "," : "") + FormulaText(column["formula"], row, element, part);
  }
  return "[" + text + "]";
}

inline std::string MadeText(const Json& column, int64_t row) {
  const std::string type = column["type"];
  if (type == "multivector") {
    std::string text;
    for (int64_t part = 0; part < 1 + row % column["parts"].get<int64_t>(); ++part) {
      text += (part > 0 ? "," : "") + VectorText(column, row, part);
    }
    return "[" + text + "]";
  }
  if (IsVector(type)) return VectorText(column, row, 0);
  const std::string number = FormulaText(column["formula"], row, 0, 0);
  if (type == "bool") return number == "0" ? "false" : "true";
  return type == "string" ? Json(column.value("prefix", "") + number).dump() : number;
}

/// A value that stands in the corpus.
inline std::string StoredText(const Json& value, const std::string& type) {
  if (value.is_null() || type == "string" || type == "bool") return value.dump();
  if (!value.is_array()) return NumberText(value);
  std::string text;
  for (const Json& one : value) text += (text.empty() ? "" : ",") + StoredText(one, type);
  return "[" + text + "]";
}

inline arrow::Result<std::shared_ptr<arrow::Array>> MakeColumn(const Json& column, int64_t rows) {
  const Json changes = column.value("changes", Json::object());
  const Json values = column.value("values", Json::array());
  std::string text;
  for (int64_t row = 0; row < rows; ++row) {
    const std::string key = std::to_string(row);
    if (row > 0) text += ",";
    if (changes.contains(key)) {
      text += StoredText(changes[key], column["type"]);
    } else {
      text += values.empty() ? MadeText(column, row)
                             : StoredText(values[static_cast<size_t>(row)], column["type"]);
    }
  }
  return arrow::json::ArrayFromJSONString(ColumnType(column), "[" + text + "]");
}

inline arrow::Result<std::shared_ptr<arrow::RecordBatch>> MakeBatch(const Json& spec) {
  const auto rows = spec["rows"].get<int64_t>();
  arrow::FieldVector fields;
  arrow::ArrayVector arrays;
  for (const Json& column : spec["columns"]) {
    ARROW_ASSIGN_OR_RAISE(auto array, MakeColumn(column, rows));
    fields.push_back(arrow::field(column["name"].get<std::string>(), array->type()));
    arrays.push_back(std::move(array));
  }
  return arrow::RecordBatch::Make(arrow::schema(std::move(fields)), rows, std::move(arrays));
}

inline arrow::Status WriteArrowFile(const arrow::RecordBatch& batch, const std::string& path) {
  ARROW_ASSIGN_OR_RAISE(auto file, arrow::io::FileOutputStream::Open(path));
  ARROW_ASSIGN_OR_RAISE(auto writer, arrow::ipc::MakeFileWriter(file, batch.schema()));
  ARROW_RETURN_NOT_OK(writer->WriteRecordBatch(batch));
  ARROW_RETURN_NOT_OK(writer->Close());
  return file->Close();
}

/// Where tables are found and made.
struct Places {
  std::filesystem::path corpus;
  std::filesystem::path golden;
  std::filesystem::path folder;  ///< for tables that are made
};

/// Puts a table where the library can open it, and gives its path.
inline arrow::Result<std::string> PlaceTable(const Json& spec, const Places& places,
                                             const std::string& name) {
  if (spec.contains("golden")) {
    return (places.golden / (spec["golden"].get<std::string>() + ".lance")).string();
  }
  if (spec.contains("path")) return (places.folder / spec["path"].get<std::string>()).string();
  if (spec.contains("file")) {
    const auto path = places.folder / spec["file"]["name"].get<std::string>();
    std::ofstream(path) << spec["file"]["text"].get<std::string>();
    return path.string();
  }
  Json table = spec;
  if (spec.contains("recipe")) {
    table = ReadJson(places.corpus / "recipes.json")[spec["recipe"].get<std::string>()];
  }
  std::string path = (places.folder / (name + ".arrow")).string();
  ARROW_ASSIGN_OR_RAISE(const auto batch, MakeBatch(table));
  ARROW_RETURN_NOT_OK(WriteArrowFile(*batch, path));
  return path;
}

}  // namespace kinjo_conformance
