#include "dataset/history.h"

#include <algorithm>
#include <utility>

#include "dataset/table_version.h"

namespace kinjo::dataset {
namespace {

namespace proto = format::proto;

PastVersion Told(const proto::ManifestMessage& manifest) {
  PastVersion told;
  told.version = manifest.version;
  told.seconds = manifest.timestamp_seconds;
  told.nanos = manifest.timestamp_nanos;
  told.num_fragments = manifest.fragments.size();
  for (const proto::DataFragmentMessage& fragment : manifest.fragments) {
    const uint64_t dead =
        fragment.deletion_file.has_value() ? fragment.deletion_file->num_deleted_rows : 0;
    told.num_rows += fragment.physical_rows - std::min(dead, fragment.physical_rows);
  }
  told.writer = manifest.writer_library;
  if (!told.writer.empty()) told.writer += " " + manifest.writer_version;
  return told;
}

}  // namespace

arrow::Result<std::vector<PastVersion>> ListHistory(const std::string& uri) {
  ARROW_ASSIGN_OR_RAISE(const io::Location root, io::ResolveUri(uri));
  ARROW_ASSIGN_OR_RAISE(const auto names, format::ListManifests(root));
  std::vector<PastVersion> history;
  for (const format::ManifestName& name : names) {
    const io::Location place = io::Child(io::Child(root, "_versions"), name.FileName());
    const auto reader = io::OpenFile(place);
    // Cleaned up since it was listed.
    if (!reader.ok() && base::CodeOf(reader.status()) == base::ErrorCode::kNotFound) continue;
    ARROW_RETURN_NOT_OK(reader.status());
    TableVersion version{.name = name, .uri = place.uri, .manifest_bytes = (*reader)->size()};
    ARROW_ASSIGN_OR_RAISE(version.messages, format::ReadManifestMessages(reader->get()));
    version.transaction = format::ReadInlineTransaction(reader->get(), version.messages);
    PastVersion told = Told(version.messages.manifest);
    ARROW_ASSIGN_OR_RAISE(const auto transaction, ReadTransaction(root, version));
    if (transaction.has_value()) told.operation = proto::OperationName(transaction->operation);
    history.push_back(std::move(told));
  }
  return history;
}

}  // namespace kinjo::dataset
