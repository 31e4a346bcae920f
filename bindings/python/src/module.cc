// kinjo._native: what Python's side of the package is made of. Its classes are not for users, who
// see those of the modules beside it.
#include <nanobind/nanobind.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "handles.h"
#include "indexing.h"
#include "writing.h"

namespace nb = nanobind;
using namespace nanobind::literals;  // NOLINT: argument names

namespace kinjo::python {

namespace {

void BindTables(nb::module_& module) {
  nb::class_<Table>(module, "Table", "A side of a join.")
      .def_static("open", &Table::Open, "uri"_a, "version"_a.none())
      .def_static("from_stream", &Table::FromStream, "capsule"_a, "name"_a, "keep"_a)
      .def_static("from_array", &Table::FromArray, "schema"_a, "array"_a, "name"_a)
      .def_static("from_vectors", &Table::FromVectors, "buffer"_a, "element_type"_a,
                  "num_vectors"_a, "width"_a)
      .def_static("from_vector_lists", &Table::FromVectorLists, "buffer"_a, "element_type"_a,
                  "list_lengths"_a, "width"_a)
      .def_prop_ro("num_rows", &Table::NumRows, "None when only reading would tell.")
      .def("__arrow_c_schema__", &Table::Schema);
}

void BindDatasets(nb::module_& module) {
  nb::class_<Dataset>(module, "Dataset", "One version of a Lance dataset.")
      .def_static("open", &Dataset::Open, "uri"_a, "version"_a.none(), "tag"_a.none())
      .def("__arrow_c_schema__", &Dataset::Schema)
      .def("describe", &Dataset::Describe, "JSON.")
      .def("describe_index", &Dataset::DescribeIndex, "name"_a, "JSON.")
      .def_prop_ro("version", &Dataset::Version)
      .def("count_rows", &Dataset::CountRows, "where"_a.none())
      .def("scan", &Dataset::Scan, "columns"_a.none(), "where"_a.none(), "limit"_a.none(),
           "offset"_a.none(), "with_row_id"_a, "batch_rows"_a.none());
}

void BindJoins(nb::module_& module) {
  nb::class_<Stream>(module, "Stream", "The rows of a run, for one reader.")
      .def("export", &Stream::Export, "The arrow_array_stream capsule, once.")
      .def("take_error", &Stream::TakeError, "The exception that a read ended with, or None; once.")
      .def("cancel", &Stream::Cancel)
      .def("close", &Stream::Close)
      .def_prop_ro("ended", &Stream::ended);
  nb::class_<Join>(module, "Join", "A join or a search.")
      .def_static("on_uri", &Join::OnUri, "left"_a, "right"_a, "options"_a)
      .def_static("on_dataset", &Join::OnDataset, "left"_a, "right"_a, "options"_a)
      .def_static("on_table", &Join::OnTable, "left"_a, "right"_a, "options"_a)
      .def_static("search", &Join::Search, "dataset"_a, "queries"_a, "options"_a)
      .def("__arrow_c_schema__", &Join::Schema)
      .def_prop_ro("column_names", &Join::ColumnNames)
      .def("explain", &Join::Explain, "verbose"_a)
      .def("report", &Join::Report, "JSON.")
      .def("analyze", &Join::Analyze)
      .def("run", &Join::Run, "progress"_a.none())
      .def("write", &Join::Write, "path"_a, "format"_a, "compression"_a.none(),
           "row_group_rows"_a.none(), "overwrite"_a, "progress"_a.none())
      .def("tune", &Join::Tune, "JSON.");
}

void BindWriting(nb::module_& module) {
  module.def("write_dataset", WriteDataset, "uri"_a, "rows"_a, "options"_a, "progress"_a.none());
  module.def("delete_rows", DeleteRows, "uri"_a, "where"_a.none());
  module.def("create_index", CreateIndex, "uri"_a, "options"_a, "progress"_a.none(), "JSON.");
  module.def("optimize_index", OptimizeIndex, "uri"_a, "name"_a.none(), "options"_a,
             "progress"_a.none(), "JSON.");
  module.def("drop_index", DropIndex, "uri"_a, "name"_a.none(), "The version that came of it.");
  module.def("rename_index", RenameIndex, "uri"_a, "name"_a.none(), "new_name"_a.none(),
             "The version that came of it.");
  module.def("compact_dataset", CompactDataset, "uri"_a, "target_rows"_a.none(),
             "deleted_share_max"_a.none(), "progress"_a.none());
}

std::string DescribeRuntime() {
  return QuickText(
      [](char** text, kinjo_error** error) { return kinjo_runtime_describe(text, error); });
}

void SetArrowThreads(int64_t threads) {
  Quick([&](kinjo_error** error) { return kinjo_runtime_set_arrow_threads(threads, error); });
}

void SetStorageOptions(const std::string& prefix,
                       const std::map<std::string, std::string>& options) {
  std::vector<const char*> names;
  std::vector<const char*> values;
  for (const auto& [name, value] : options) {
    names.push_back(name.c_str());
    values.push_back(value.c_str());
  }
  Quick([&](kinjo_error** error) {
    return kinjo_storage_set_options(prefix.c_str(), names.data(), values.data(), names.size(),
                                     error);
  });
}

}  // namespace

}  // namespace kinjo::python

NB_MODULE(_native, module) {
  // What is still held when Python ends goes with the process; users needn't hear of it.
  nanobind::set_leak_warnings(false);
  kinjo::python::WatchForks();
  kinjo::python::SetMainThread();
  module.def("version", [] { return std::string(kinjo_version()); });
  module.def("describe_runtime", kinjo::python::DescribeRuntime, "JSON.");
  module.def("set_arrow_threads", kinjo::python::SetArrowThreads, "threads"_a);
  module.def("set_storage_options", kinjo::python::SetStorageOptions, "prefix"_a, "options"_a);
  kinjo::python::BindTables(module);
  kinjo::python::BindDatasets(module);
  kinjo::python::BindJoins(module);
  kinjo::python::BindWriting(module);
}
