// Any text as a predicate over columns of every type: an error with its position, or an answer that
// is the same for the whole batch and row by row, and the opposite of its NOT.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "arrow/array.h"
#include "arrow/compute/initialize.h"
#include "arrow/json/from_string.h"
#include "arrow/record_batch.h"
#include "arrow/type.h"
#include "predicate/predicate.h"

namespace {

using kinjo::predicate::Predicate;
using BatchPtr = std::shared_ptr<arrow::RecordBatch>;

struct Columns {
  arrow::FieldVector fields;
  arrow::ArrayVector arrays;

  void Add(const char* name, const std::shared_ptr<arrow::DataType>& type, const char* json) {
    Add(name, arrow::json::ArrayFromJSONString(type, json).ValueOrDie());
  }
  void Add(const char* name, std::shared_ptr<arrow::Array> array) {
    fields.push_back(arrow::field(name, array->type()));
    arrays.push_back(std::move(array));
  }
};

BatchPtr MakeBatch() {
  Columns columns;
  columns.Add("b", arrow::boolean(), "[true, false, null, true]");
  columns.Add("i", arrow::int32(), "[0, -7, null, 2147483647]");
  columns.Add("u8", arrow::uint8(), "[0, 255, null, 3]");
  columns.Add("i64", arrow::int64(), "[0, -9223372036854775808, null, 9223372036854775807]");
  columns.Add("u64", arrow::uint64(), "[0, 18446744073709551615, null, 5]");
  columns.Add("h", arrow::float16(), "[0.5, -1, null, 65504]");
  columns.Add("f", arrow::float32(), "[NaN, -0.0, null, Inf]");
  columns.Add("d", arrow::float64(), "[1.5, NaN, null, -Inf]");
  columns.Add("dec", arrow::decimal128(10, 2), R"(["1.50", "-2.25", null, "0.00"])");
  columns.Add("big", arrow::decimal256(60, 20), R"(["1.00000000000000000000", null, null, null])");
  columns.Add("s", arrow::utf8(), R"(["a", "", null, "Äb%_\\"])");
  columns.Add("ls", arrow::large_utf8(), R"(["a", "2024-01-01", null, "7"])");
  columns.Add("bin", arrow::binary(), R"(["a", "", null, "xyz"])");
  columns.Add("fsb", arrow::fixed_size_binary(2), R"(["ab", "zz", null, "  "])");
  columns.Add("day", arrow::date32(), "[0, -1, null, 19000]");
  columns.Add("ms", arrow::timestamp(arrow::TimeUnit::MILLI), "[0, -1, null, 1700000000000]");
  columns.Add("utc", arrow::timestamp(arrow::TimeUnit::NANO, "UTC"), "[0, -1, null, 1700000000]");
  columns.Add("clock", arrow::time64(arrow::TimeUnit::MICRO), "[0, 1, null, 86399999999]");
  columns.Add("dur", arrow::duration(arrow::TimeUnit::SECOND), "[0, -1, null, 5]");
  columns.Add("none", arrow::null(), "[null, null, null, null]");
  columns.Add("l", arrow::list(arrow::int32()), "[[1, null], [], null, [2, 3]]");
  columns.Add("lf", arrow::fixed_size_list(arrow::float32(), 2),
              "[[0.0, NaN], [1, 2], null, [-0.0, 3]]");
  columns.Add("st",
              arrow::struct_({arrow::field("x", arrow::int64()), arrow::field("y", arrow::utf8())}),
              R"([{"x": 1, "y": "a"}, {"x": null, "y": "b"}, null, {"x": 4, "y": null}])");
  columns.Add("dict",
              arrow::json::DictArrayFromJSONString(arrow::dictionary(arrow::int8(), arrow::utf8()),
                                                   "[0, 1, null, 1]", R"(["a", "b"])")
                  .ValueOrDie());
  return arrow::RecordBatch::Make(arrow::schema(columns.fields), 4, columns.arrays);
}

void Require(bool condition) {
  if (!condition) __builtin_trap();
}

void CheckRows(const Predicate& predicate, const arrow::RecordBatch& batch,
               const arrow::BooleanArray& values) {
  for (int64_t row = 0; row < batch.num_rows(); ++row) {
    const auto alone = predicate.Evaluate(*batch.Slice(row, 1));
    Require(alone.ok() && (*alone)->Equals(*values.Slice(row, 1)));
  }
  const auto none = predicate.Evaluate(*batch.Slice(0, 0));
  Require(none.ok() && (*none)->length() == 0);
}

void CheckNot(const std::string& text, const arrow::RecordBatch& batch,
              const arrow::BooleanArray& values) {
  const auto opposite = Predicate::Parse("NOT (" + text + ")", batch.schema());
  if (!opposite.ok()) return;  // one level too deep, or too long
  const auto inverted = (*opposite)->Evaluate(batch);
  Require(inverted.ok());
  for (int64_t row = 0; row < batch.num_rows(); ++row) {
    Require((*inverted)->IsNull(row) == values.IsNull(row));
    Require(values.IsNull(row) || (*inverted)->Value(row) != values.Value(row));
  }
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int* /*argc*/, char*** /*argv*/) {
  Require(arrow::compute::Initialize().ok());
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const BatchPtr batch = MakeBatch();
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto predicate = Predicate::Parse(text, batch->schema());
  if (!predicate.ok()) return 0;
  const auto values = (*predicate)->Evaluate(*batch);
  if (!values.ok()) return 0;
  Require((*values)->ValidateFull().ok() && (*values)->length() == batch->num_rows());
  CheckRows(**predicate, *batch, **values);
  CheckNot(text, *batch, **values);
  return 0;
}
