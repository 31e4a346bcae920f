// The manifest that a transaction makes of the newest version: fragments with their ids, schema,
// index entries, flags.
#pragma once

#include <string>

#include "base/error.h"
#include "dataset/table_version.h"
#include "format/proto/transaction_messages.h"

namespace kinjo::dataset {

/// What only an Overwrite decides.
struct NewTableOptions {
  std::string data_format;      ///< file version of the data files; "" = as it was, else "2.2"
  bool stable_row_ids = false;  ///< of a dataset that isn't there yet
};

/// Applies `transaction` to `latest` (null: there is no dataset yet). Its fragments get their ids,
/// and row ids where they are stable. REQUIRES: the judgements of conflict_rules.h were kOk.
arrow::Result<format::ManifestMessages> MakeNextVersion(
    const io::Location& root, const format::proto::TransactionMessage& transaction,
    const TableVersion* latest, const NewTableOptions& options);

}  // namespace kinjo::dataset
