// May a transaction that was made from an older version still be committed? Lance's rules, a pair
// of operations at a time (docs/format/table.md has the table).
#pragma once

#include <cstdint>
#include <string>

#include "dataset/table_version.h"
#include "format/proto/transaction_messages.h"

namespace kinjo::dataset {

enum class Verdict : uint8_t {
  kOk,     ///< both changes hold: build on the newest version
  kRetry,  ///< make the transaction again from the newest version
  kFail,   ///< the other change took away what this one was made for
};

struct Judgement {
  Verdict verdict = Verdict::kOk;
  std::string why;  ///< what the other one did; "" when the verdict is kOk
};

/// Judges `ours` beside `theirs`, which was committed after the version that ours was made from.
Judgement JudgePair(const format::proto::TransactionMessage& ours,
                    const format::proto::TransactionMessage& theirs);

/// Whether what `ours` changes is still in `latest`: fragments, index segments, indexed columns.
Judgement JudgeAgainst(const format::proto::TransactionMessage& ours, const TableVersion& latest);

}  // namespace kinjo::dataset
