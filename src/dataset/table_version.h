// One version of a table as a writer edits it: the messages of its manifest, with everything that
// this build doesn't know kept.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/error.h"
#include "format/schema.h"
#include "format/table/manifest.h"
#include "format/table/manifest_names.h"
#include "io/random_reader.h"

namespace kinjo::dataset {

/// Checked as a reader checks it. Not yet judged writable.
struct TableVersion {
  format::ManifestName name;
  std::string uri;  ///< of the manifest
  uint64_t manifest_bytes = 0;
  format::ManifestMessages messages;
  format::Manifest checked;                                      ///< the same as a reader has it
  std::optional<format::proto::TransactionMessage> transaction;  ///< of the manifest file itself

  uint64_t version() const { return name.version; }
  const format::Schema& schema() const { return checked.schema; }
  const std::string& data_format() const { return checked.data_format; }
};

/// Reads a version; nothing = the latest. Errors are those of Dataset::Open.
arrow::Result<TableVersion> ReadTableVersion(const io::Location& root,
                                             std::optional<uint64_t> version = std::nullopt);
/// The same when the manifest's name is known.
arrow::Result<TableVersion> ReadTableVersion(const io::Location& root,
                                             const format::ManifestName& name);

/// What the writer of `version` changed: from its manifest, else from the transaction file that it
/// names. Nothing when neither can be read.
arrow::Result<std::optional<format::proto::TransactionMessage>> ReadTransaction(
    const io::Location& root, const TableVersion& version);

/// True of the error that listing the versions of a place without a dataset gives.
bool IsNoDataset(const arrow::Status& status);

}  // namespace kinjo::dataset
