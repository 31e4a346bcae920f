// Lance datasets: described, counted, scanned.
#include "capsules.h"
#include "handles.h"

namespace nb = nanobind;

namespace kinjo::python {

namespace {

const char* OrNull(const std::optional<std::string>& text) {
  return text.has_value() ? text->c_str() : nullptr;
}

}  // namespace

Dataset Dataset::Open(const std::string& uri, nb::handle version, nb::handle tag_given) {
  RequireSafeProcess();
  const std::optional<std::string> tag = TextOrNone("version", tag_given);
  kinjo_dataset_options options;
  kinjo_dataset_options_init(&options, sizeof(options));
  options.version = NumberOrUnset("version", version);
  options.tag = OrNull(tag);
  kinjo_dataset* raw = nullptr;
  Call([&](kinjo_error** error) { return kinjo_dataset_open(uri.c_str(), &options, &raw, error); });
  return Dataset(raw);
}

nb::capsule Dataset::Schema() const {
  ArrowSchema schema{};
  Quick([&](kinjo_error** error) { return kinjo_dataset_get_schema(get(), &schema, error); });
  return SchemaCapsule(schema);
}

std::string Dataset::Describe() const {
  char* json = nullptr;
  const kinjo_dataset* raw = get();
  Call([&](kinjo_error** error) { return kinjo_dataset_describe(raw, &json, error); });
  const std::unique_ptr<char, decltype(&kinjo_string_free)> owned(json, kinjo_string_free);
  return owned.get();
}

std::string Dataset::DescribeIndex(const std::string& name) const {
  char* json = nullptr;
  const kinjo_dataset* raw = get();
  Call([&](kinjo_error** error) {
    return kinjo_dataset_describe_index(raw, name.c_str(), &json, error);
  });
  const std::unique_ptr<char, decltype(&kinjo_string_free)> owned(json, kinjo_string_free);
  return owned.get();
}

int64_t Dataset::Version() const {
  kinjo_dataset_info info{};
  info.struct_size = sizeof(info);
  Quick([&](kinjo_error** error) { return kinjo_dataset_get_info(get(), &info, error); });
  return static_cast<int64_t>(info.version);
}

int64_t Dataset::CountRows(nb::handle where_given) const {
  const std::optional<std::string> where = TextOrNone("where", where_given);
  const auto watch = Watch::Make(nb::none());
  const kinjo_run_options run = watch->Options();
  const kinjo_dataset* raw = get();
  int64_t rows = 0;
  Long(watch.get(), [&](kinjo_error** error) {
    return kinjo_dataset_count_rows(raw, OrNull(where), &run, &rows, error);
  });
  return rows;
}

Stream Dataset::Scan(nb::handle columns, nb::handle where_given, nb::handle limit,
                     nb::handle offset, nb::handle with_row_id, nb::handle batch_rows) const {
  const std::optional<std::string> where = TextOrNone("where", where_given);
  kinjo_scan_options options;
  kinjo_scan_options_init(&options, sizeof(options));
  std::vector<std::string> names;
  std::vector<const char*> pointers;
  if (!columns.is_none()) {
    names = TextsOf("columns", columns);
    for (const std::string& name : names) pointers.push_back(name.c_str());
    pointers.push_back(nullptr);  // so that data() of no columns isn't NULL
    options.columns = pointers.data();
    options.num_columns = names.size();
  }
  options.where = OrNull(where);
  options.limit = NumberOrUnset("limit", limit);
  options.offset = NumberOrUnset("offset", offset);
  options.with_row_id = FlagOf("with_row_id", with_row_id);
  options.batch_rows = NumberOrUnset("batch_rows", batch_rows);
  auto watch = Watch::Make(nb::none());
  const kinjo_run_options run = watch->Options();
  const kinjo_dataset* raw = get();
  kinjo_stream* stream = nullptr;
  Call(
      [&](kinjo_error** error) { return kinjo_dataset_scan(raw, &options, &run, &stream, error); });
  return {stream, std::move(watch)};
}

}  // namespace kinjo::python
