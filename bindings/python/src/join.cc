// Joins and searches: made, explained, run.
#include <string>

#include "capsules.h"
#include "handles.h"

namespace nb = nanobind;

namespace kinjo::python {

template <typename Making>
Join Join::Make(const nb::dict& given, const Making& making) {
  const JoinOptions options(given);
  kinjo_join* raw = nullptr;
  Call([&](kinjo_error** error) { return making(options.get(), &raw, error); });
  return Join(raw);
}

Join Join::OnUri(const Table& left, const std::string& right, const Options& options) {
  kinjo_table* table = left.get();
  return Make(options, [&](const auto* raw, kinjo_join** join, kinjo_error** error) {
    return kinjo_join_make(table, right.c_str(), raw, join, error);
  });
}

Join Join::OnDataset(const Table& left, const Dataset& right, const Options& options) {
  kinjo_table* table = left.get();
  const kinjo_dataset* dataset = right.get();
  return Make(options, [&](const auto* raw, kinjo_join** join, kinjo_error** error) {
    return kinjo_join_make_on_dataset(table, dataset, raw, join, error);
  });
}

Join Join::OnTable(const Table& left, const Table& right, const Options& options) {
  kinjo_table* left_table = left.get();
  kinjo_table* right_table = right.get();
  return Make(options, [&](const auto* raw, kinjo_join** join, kinjo_error** error) {
    return kinjo_join_make_on_table(left_table, right_table, raw, join, error);
  });
}

Join Join::Search(const Dataset& dataset, const Table& queries, const Options& options) {
  const kinjo_dataset* searched = dataset.get();
  kinjo_table* table = queries.get();
  return Make(options, [&](const auto* raw, kinjo_join** join, kinjo_error** error) {
    return kinjo_search_make(searched, table, raw, join, error);
  });
}

nb::capsule Join::Schema() const {
  ArrowSchema schema{};
  Quick([&](kinjo_error** error) { return kinjo_join_get_schema(get(), &schema, error); });
  return SchemaCapsule(schema);
}

std::vector<std::string> Join::ColumnNames() const {
  ArrowSchema schema{};
  Quick([&](kinjo_error** error) { return kinjo_join_get_schema(get(), &schema, error); });
  std::vector<std::string> names;
  for (int64_t i = 0; i < schema.n_children; ++i) names.emplace_back(schema.children[i]->name);
  schema.release(&schema);
  return names;
}

std::string Join::Explain(bool verbose) const {
  return QuickText([&](char** text, kinjo_error** error) {
    return kinjo_join_explain(get(), verbose, text, error);
  });
}

std::string Join::Report() const {
  return QuickText([&](char** text, kinjo_error** error) {
    return kinjo_join_describe_report(get(), text, error);
  });
}

std::string Join::Analyze() const {
  return QuickText(
      [&](char** text, kinjo_error** error) { return kinjo_join_analyze(get(), text, error); });
}

Stream Join::Run(nb::object progress) const {
  auto watch = Watch::Make(std::move(progress));
  const kinjo_run_options options = watch->Options();
  kinjo_join* raw = get();
  kinjo_stream* stream = nullptr;
  Call([&](kinjo_error** error) { return kinjo_join_run(raw, &options, &stream, error); });
  return {stream, std::move(watch)};
}

int64_t Join::Write(const std::string& path, const std::string& format,
                    nb::handle compression_given, nb::handle row_group_rows, nb::handle overwrite,
                    nb::object progress) const {
  const std::optional<std::string> compression = TextOrNone("compression", compression_given);
  const auto watch = Watch::Make(std::move(progress));
  const kinjo_run_options run = watch->Options();
  kinjo_sink_options sink;
  kinjo_sink_options_init(&sink, sizeof(sink));
  sink.format = format.c_str();
  if (compression.has_value()) sink.compression = compression->c_str();
  sink.row_group_rows = NumberOrUnset("row_group_rows", row_group_rows);
  sink.overwrite = FlagOf("overwrite", overwrite);
  kinjo_join* raw = get();
  int64_t rows = 0;
  Long(watch.get(), [&](kinjo_error** error) {
    return kinjo_join_write(raw, path.c_str(), &sink, &run, &rows, error);
  });
  return rows;
}

std::string Join::Tune() const {
  const auto watch = Watch::Make(nb::none());
  const kinjo_run_options run = watch->Options();
  kinjo_join* raw = get();
  char* json = nullptr;
  Long(watch.get(), [&](kinjo_error** error) { return kinjo_join_tune(raw, &run, &json, error); });
  const std::unique_ptr<char, decltype(&kinjo_string_free)> owned(json, kinjo_string_free);
  return owned.get();
}

}  // namespace kinjo::python
