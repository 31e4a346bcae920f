// How a change becomes a version: the transaction is judged against everything that was committed
// since it was made, applied to the newest version, and put in place if nobody else put that
// version first. docs/format/table.md has the protocol and the table of conflicts.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "base/cancel_token.h"
#include "base/error.h"
#include "dataset/next_version.h"
#include "dataset/table_version.h"
#include "dataset/uncommitted_files.h"
#include "format/proto/transaction_messages.h"
#include "io/random_reader.h"

namespace kinjo::dataset {

using Transaction = format::proto::TransactionMessage;

struct CommitOptions {
  int retries_max = 20;  ///< commits of others that may come first, before `conflict`
  base::CancelToken cancel;
  NewTableOptions table;          ///< for an Overwrite
  bool must_not_exist = false;    ///< an Overwrite that must be the first version
  bool retry_overwrites = false;  ///< an Overwrite after another one replaces that too
};

/// Commits `transaction` (made from its read_version; 0 with an Overwrite = no dataset yet) and
/// gives the number of the new version. `root` is the dataset's; its folders are made. The files
/// that the transaction names must be there, synced.
///
/// `conflict` when another writer's commit doesn't go with it: nothing was changed then, and the
/// message says what the other did. After any error, too, the dataset is at a whole version; only
/// where the error came after the new version stood is it that one.
///
/// `files` (null: none) are those that the transaction names: the dataset's once a version names
/// them or may, else still the caller's to drop.
///
/// Of the transaction, a missing uuid is filled in. New fragments have the id 0 in it, but
/// for those of a Rewrite whose ids a ReserveFragments set aside. A CreateIndex lists a replaced
/// segment under removed_indices, with at least its uuid and name.
arrow::Result<uint64_t> Commit(const io::Location& root, const Transaction& transaction,
                               const CommitOptions& options = {},
                               UncommittedFiles* files = nullptr);

/// Makes a transaction from the newest version, or nothing where there is nothing to do.
using TransactionMaker =
    std::function<arrow::Result<std::optional<Transaction>>(const TableVersion& latest)>;

/// Commits what `make` makes, and has it made again from the newest version when another writer's
/// commit doesn't go with it and making it again helps. Gives the new version, or the newest one
/// when there was nothing to do. `make` sets everything but read_version and uuid, overwrites no
/// file that it made before, and lists those of the last try in `files`.
arrow::Result<uint64_t> CommitAgain(const io::Location& root, const TransactionMaker& make,
                                    const CommitOptions& options = {},
                                    UncommittedFiles* files = nullptr);

}  // namespace kinjo::dataset
