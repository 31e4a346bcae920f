#include "dataset/restore.h"

#include <utility>

#include "dataset/commit.h"
#include "format/table/tags.h"

namespace kinjo::dataset {
namespace {

/// The tag as it is written for a version, which must exist.
arrow::Result<format::Tag> MakeTag(const io::Location& root, const std::string& name,
                                   std::optional<uint64_t> version) {
  ARROW_ASSIGN_OR_RAISE(const TableVersion named, ReadTableVersion(root, version));
  return format::Tag{.name = name,
                     .version = named.version(),
                     .branch = {},
                     .manifest_bytes = named.manifest_bytes};
}

}  // namespace

arrow::Result<uint64_t> RestoreVersion(const std::string& uri, const OpenOptions& which,
                                       const base::CancelToken& cancel) {
  ARROW_ASSIGN_OR_RAISE(const io::Location root, io::ResolveUri(uri));
  ARROW_ASSIGN_OR_RAISE(const auto dataset, Dataset::Open(uri, which));
  if (dataset->uri() != root.uri) {
    return base::NotSupported("tag '", which.tag, "' of ", root.uri,
                              " names a version of a branch, ", dataset->uri(),
                              "; only a version of its own can be restored");
  }
  const uint64_t version = dataset->version();
  const auto make = [&](const TableVersion&) -> arrow::Result<std::optional<Transaction>> {
    Transaction transaction;
    transaction.operation = format::proto::RestoreOperation{version};
    return std::optional(std::move(transaction));
  };
  CommitOptions options;
  options.cancel = cancel;
  return CommitAgain(root, make, options);
}

arrow::Status CreateTag(const std::string& uri, const std::string& name,
                        std::optional<uint64_t> version) {
  ARROW_ASSIGN_OR_RAISE(const io::Location root, io::ResolveUri(uri));
  ARROW_ASSIGN_OR_RAISE(const format::Tag tag, MakeTag(root, name, version));
  return format::CreateTag(root, tag);
}

arrow::Status UpdateTag(const std::string& uri, const std::string& name,
                        std::optional<uint64_t> version) {
  ARROW_ASSIGN_OR_RAISE(const io::Location root, io::ResolveUri(uri));
  ARROW_ASSIGN_OR_RAISE(const format::Tag tag, MakeTag(root, name, version));
  return format::UpdateTag(root, tag);
}

arrow::Status DeleteTag(const std::string& uri, const std::string& name) {
  ARROW_ASSIGN_OR_RAISE(const io::Location root, io::ResolveUri(uri));
  ARROW_RETURN_NOT_OK(ReadTableVersion(root).status());
  return format::DeleteTag(root, name);
}

}  // namespace kinjo::dataset
