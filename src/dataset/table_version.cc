#include "dataset/table_version.h"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

namespace kinjo::dataset {

arrow::Result<TableVersion> ReadTableVersion(const io::Location& root,
                                             const format::ManifestName& name) {
  const io::Location location = io::Child(io::Child(root, "_versions"), name.FileName());
  ARROW_ASSIGN_OR_RAISE(const std::shared_ptr<io::RandomReader> reader, io::OpenFile(location));
  TableVersion table{.name = name, .uri = location.uri, .manifest_bytes = reader->size()};
  ARROW_ASSIGN_OR_RAISE(table.messages, format::ReadManifestMessages(reader.get()));
  ARROW_ASSIGN_OR_RAISE(table.checked, format::MakeManifest(table.messages, location.uri));
  if (table.checked.version != name.version) {
    return base::Corrupt(location.uri, 0, "the manifest of version ", name.version,
                         " says it is version ", table.checked.version);
  }
  table.transaction = format::ReadInlineTransaction(reader.get(), table.messages);
  return table;
}

arrow::Result<TableVersion> ReadTableVersion(const io::Location& root,
                                             std::optional<uint64_t> version) {
  ARROW_ASSIGN_OR_RAISE(const std::vector<format::ManifestName> names, format::ListManifests(root));
  if (!version.has_value()) return ReadTableVersion(root, names.back());
  const auto found =
      std::find_if(names.begin(), names.end(),
                   [&](const format::ManifestName& name) { return name.version == *version; });
  if (found != names.end()) return ReadTableVersion(root, *found);
  return base::NotFound(root.uri, " has no version ", *version, "; it has ", names.size(),
                        " versions from ", names.front().version, " to ", names.back().version);
}

arrow::Result<std::optional<format::proto::TransactionMessage>> ReadTransaction(
    const io::Location& root, const TableVersion& version) {
  if (version.transaction.has_value()) return version.transaction;
  const std::string& name = version.messages.manifest.transaction_file;
  if (name.empty() || name.find('/') != std::string::npos) return std::nullopt;
  const auto reader = io::OpenFile(io::Child(io::Child(root, "_transactions"), name));
  if (!reader.ok()) {
    if (base::CodeOf(reader.status()) == base::ErrorCode::kNotFound) return std::nullopt;
    return reader.status();
  }
  ARROW_ASSIGN_OR_RAISE(const std::shared_ptr<arrow::Buffer> bytes,
                        (*reader)->Read({0, (*reader)->size()}));
  format::proto::TransactionMessage transaction;
  if (!format::proto::ParseTransaction(static_cast<std::string_view>(*bytes), &transaction)) {
    return std::nullopt;
  }
  return std::optional(std::move(transaction));
}

bool IsNoDataset(const arrow::Status& status) {
  const base::ErrorCode code = base::CodeOf(status);
  return code == base::ErrorCode::kNotFound || code == base::ErrorCode::kInvalid;
}

}  // namespace kinjo::dataset
