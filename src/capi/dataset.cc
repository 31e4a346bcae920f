// Lance datasets at the wall.
#include "dataset/dataset.h"

#include <vector>

#include "arrow/c/bridge.h"
#include "capi/describe.h"
#include "capi/optional_number.h"
#include "capi/wall.h"
#include "dataset/open_fragments.h"

using namespace kinjo::capi;  // NOLINT: the functions below are C's

namespace {

kinjo_dataset_options Defaults() {
  return {sizeof(kinjo_dataset_options), KINJO_UNSET, nullptr, nullptr, 0};
}

kinjo_dataset_info InfoOf(const kinjo::dataset::Dataset& dataset) {
  kinjo_dataset_info info{};
  info.version = dataset.version();
  info.num_rows = dataset.num_rows();
  for (const kinjo::dataset::FragmentInfo& fragment : dataset.fragments()) {
    info.num_deleted_rows += fragment.deleted_rows;
  }
  info.num_fragments = dataset.fragments().size();
  info.num_vector_indexes = dataset.vector_indexes().size();
  return info;
}

}  // namespace

void kinjo_dataset_options_init(kinjo_dataset_options* options, size_t struct_size) {
  InitStruct(options, struct_size, Defaults());
}

bool kinjo_dataset_open(const char* uri, const kinjo_dataset_options* options,
                        kinjo_dataset** dataset, kinjo_error** error) {
  return Wall(error, [&]() -> arrow::Status {
    ARROW_RETURN_NOT_OK(RequireArgument(uri, "uri"));
    ARROW_RETURN_NOT_OK(RequireArgument(dataset, "dataset"));
    ARROW_RETURN_NOT_OK(StartEngine());
    kinjo_dataset_options given = Defaults();
    ARROW_RETURN_NOT_OK(ReadStruct(options, "kinjo_dataset_options", &given));
    kinjo::dataset::OpenOptions open;
    ARROW_ASSIGN_OR_RAISE(open.version, OptionalVersion("version", given.version));
    open.tag = TextOf(given.tag);
    std::shared_ptr<kinjo::dataset::Dataset> opened;
    if (given.fragment_ids == nullptr) {
      ARROW_ASSIGN_OR_RAISE(opened, kinjo::dataset::Dataset::Open(uri, open));
    } else {
      const std::vector<uint64_t> ids(given.fragment_ids,
                                      given.fragment_ids + given.num_fragment_ids);
      ARROW_ASSIGN_OR_RAISE(opened, kinjo::dataset::OpenFragments(uri, open, ids));
    }
    *dataset = new kinjo_dataset{std::move(opened)};
    return arrow::Status::OK();
  });
}

bool kinjo_dataset_get_info(const kinjo_dataset* dataset, kinjo_dataset_info* info,
                            kinjo_error** error) {
  return Wall(error, [&]() -> arrow::Status {
    ARROW_RETURN_NOT_OK(RequireArgument(dataset, "dataset"));
    return FillStruct(InfoOf(*dataset->dataset), "kinjo_dataset_info", info);
  });
}

bool kinjo_dataset_get_schema(const kinjo_dataset* dataset, ArrowSchema* schema,
                              kinjo_error** error) {
  return Wall(error, [&]() -> arrow::Status {
    ARROW_RETURN_NOT_OK(RequireArgument(dataset, "dataset"));
    ARROW_RETURN_NOT_OK(RequireArgument(schema, "schema"));
    return arrow::ExportSchema(*dataset->dataset->arrow_schema(), schema);
  });
}

bool kinjo_dataset_describe(const kinjo_dataset* dataset, char** json, kinjo_error** error) {
  return Wall(error, [&]() -> arrow::Status {
    ARROW_RETURN_NOT_OK(RequireArgument(dataset, "dataset"));
    ARROW_ASSIGN_OR_RAISE(const std::string text, DescribeDataset(*dataset->dataset));
    return GiveText(text, json);
  });
}

bool kinjo_dataset_describe_index(const kinjo_dataset* dataset, const char* name, char** json,
                                  kinjo_error** error) {
  return Wall(error, [&]() -> arrow::Status {
    ARROW_RETURN_NOT_OK(RequireArgument(dataset, "dataset"));
    ARROW_RETURN_NOT_OK(RequireArgument(name, "name"));
    ARROW_ASSIGN_OR_RAISE(const std::string text, DescribeIndex(dataset->dataset.get(), name));
    return GiveText(text, json);
  });
}

bool kinjo_dataset_describe_versions(const kinjo_dataset* dataset, char** json,
                                     kinjo_error** error) {
  return Wall(error, [&]() -> arrow::Status {
    ARROW_RETURN_NOT_OK(RequireArgument(dataset, "dataset"));
    ARROW_ASSIGN_OR_RAISE(const std::string text, DescribeVersions(*dataset->dataset));
    return GiveText(text, json);
  });
}

bool kinjo_dataset_describe_files(const kinjo_dataset* dataset, char** json, kinjo_error** error) {
  return Wall(error, [&]() -> arrow::Status {
    ARROW_RETURN_NOT_OK(RequireArgument(dataset, "dataset"));
    ARROW_ASSIGN_OR_RAISE(const std::string text, DescribeFiles(dataset->dataset.get()));
    return GiveText(text, json);
  });
}

void kinjo_dataset_free(kinjo_dataset* dataset) { delete dataset; }
