#include "dataset/commit.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include "dataset/conflict_rules.h"
#include "format/table/feature_flags.h"
#include "format/table/manifest_names.h"
#include "format/table/manifest_writer.h"
#include "format/table/uuid.h"
#include "format/table/version_hint.h"
#include "io/file_changes.h"

namespace kinjo::dataset {
namespace {

// A longer transaction is left to its own file, as Lance does it.
constexpr size_t kMostInlineBytes = size_t{20} << 20;

constexpr int64_t kFirstPauseUs = 2000;
constexpr int64_t kLongestPauseUs = 500'000;

/// What came of one commit: the new version, or why there is none.
struct Outcome {
  uint64_t version = 0;
  Judgement judgement;
  uint64_t other_version = 0;  ///< the one that the judgement is about
};

/// Waits before the next try: twice as long each time, a random part of it, so that writers that
/// met once don't meet again.
arrow::Status Pause(int tries, const base::CancelToken& cancel) {
  const int64_t longest = std::min(kFirstPauseUs << std::min(tries, 20), kLongestPauseUs);
  std::random_device random;
  std::this_thread::sleep_for(std::chrono::microseconds(random() % (longest + 1)));
  return cancel.Check();
}

arrow::Status ConflictError(const io::Location& root, const Transaction& transaction,
                            const Outcome& outcome) {
  return base::MakeError(
      base::ErrorCode::kConflict,
      base::Concat("can't commit to ", root.uri, ": since version ", transaction.read_version,
                   ", which this ", format::proto::OperationName(transaction.operation),
                   " was made from, version ", outcome.other_version, " ", outcome.judgement.why,
                   "; nothing was changed, start again from the newest version"),
      root.uri);
}

arrow::Status LostTooOften(const io::Location& root, int tries) {
  return base::MakeError(
      base::ErrorCode::kConflict,
      base::Concat("can't commit to ", root.uri, ": other writers were first ", tries,
                   " times in a row; nothing was changed, try again when there is less going on"),
      root.uri);
}

/// One transaction on its way to a version.
class Committer {
 public:
  Committer(const io::Location& root, Transaction transaction, const CommitOptions& options,
            UncommittedFiles* files)
      : root_(root), transaction_(std::move(transaction)), options_(options), files_(files) {
    if (transaction_.uuid.empty()) transaction_.uuid = *format::UuidText(format::NewUuid());
    bytes_ = format::proto::EncodeTransaction(transaction_).text();
  }

  arrow::Result<Outcome> Run() {
    ARROW_RETURN_NOT_OK(io::MakeFolder(io::Child(root_, "_versions")));
    const arrow::Result<Outcome> outcome = Try();
    const bool committed =
        outcome.ok() ? outcome->judgement.verdict == Verdict::kOk : io::IsInDoubt(outcome.status());
    // Best effort: nobody reads the file of a transaction that no version names.
    if (has_file_ && !committed) (void)io::RemoveFile(File());
    if (files_ != nullptr && committed) files_->Keep();
    return outcome;
  }

 private:
  io::Location File() const {
    return io::Child(io::Child(root_, "_transactions"),
                     base::Concat(transaction_.read_version, "-", transaction_.uuid, ".txn"));
  }

  arrow::Result<Outcome> Try() {
    for (int tries = 0; tries <= options_.retries_max; ++tries) {
      if (tries > 0) ARROW_RETURN_NOT_OK(Pause(tries, options_.cancel));
      ARROW_ASSIGN_OR_RAISE(const std::optional<TableVersion> latest, Latest());
      ARROW_ASSIGN_OR_RAISE(Outcome outcome, Judge(latest));
      if (outcome.judgement.verdict != Verdict::kOk) return outcome;
      ARROW_ASSIGN_OR_RAISE(const bool won, Put(latest, &outcome));
      if (won) return outcome;
    }
    return LostTooOften(root_, options_.retries_max + 1);
  }

  arrow::Result<std::optional<TableVersion>> Latest() {
    const bool creates =
        std::holds_alternative<format::proto::OverwriteOperation>(transaction_.operation);
    arrow::Result<std::vector<format::ManifestName>> names = format::ListManifests(root_);
    if (!names.ok() && creates && transaction_.read_version == 0 && IsNoDataset(names.status())) {
      return std::optional<TableVersion>();
    }
    ARROW_ASSIGN_OR_RAISE(names_, std::move(names));
    ARROW_ASSIGN_OR_RAISE(TableVersion latest, ReadTableVersion(root_, names_.back()));
    ARROW_RETURN_NOT_OK(
        format::CheckWriterFlags(latest.messages.manifest.writer_feature_flags, latest.uri));
    return std::optional(std::move(latest));
  }

  arrow::Result<Outcome> Judge(const std::optional<TableVersion>& latest) {
    Outcome outcome;
    if (!latest.has_value()) return outcome;
    if (options_.must_not_exist) {
      outcome.other_version = latest->version();
      outcome.judgement = {Verdict::kFail, "made the dataset"};
      return outcome;
    }
    for (uint64_t version = transaction_.read_version + 1; version <= latest->version();
         ++version) {
      ARROW_ASSIGN_OR_RAISE(const Judgement& judgement, JudgeVersion(version, *latest));
      if (judgement.verdict == Verdict::kOk) continue;
      if (options_.retry_overwrites && judgement.verdict == Verdict::kRetry) continue;
      outcome.judgement = judgement;
      outcome.other_version = version;
      return outcome;
    }
    outcome.judgement = JudgeAgainst(transaction_, *latest);
    outcome.other_version = latest->version();
    return outcome;
  }

  /// What the transaction of one version means for ours. Each is read once.
  arrow::Result<Judgement> JudgeVersion(uint64_t version, const TableVersion& latest) {
    const auto known = judged_.find(version);
    if (known != judged_.end()) return known->second;
    const auto name = std::find_if(names_.begin(), names_.end(),
                                   [&](const auto& each) { return each.version == version; });
    Judgement judgement{Verdict::kRetry, "was cleaned up, so what it changed isn't known"};
    if (name != names_.end()) {
      std::optional<Transaction> theirs;
      if (version == latest.version()) {
        ARROW_ASSIGN_OR_RAISE(theirs, ReadTransaction(root_, latest));
      } else {
        ARROW_ASSIGN_OR_RAISE(const TableVersion table, ReadTableVersion(root_, *name));
        ARROW_ASSIGN_OR_RAISE(theirs, ReadTransaction(root_, table));
      }
      judgement = theirs.has_value() ? JudgePair(transaction_, *theirs)
                                     : Judgement{Verdict::kRetry, "doesn't tell what it changed"};
    }
    return judged_.emplace(version, judgement).first->second;
  }

  /// Puts the next version in place; false when another writer was first.
  arrow::Result<bool> Put(const std::optional<TableVersion>& latest, Outcome* outcome) {
    ARROW_ASSIGN_OR_RAISE(format::ManifestMessages next,
                          MakeNextVersion(root_, transaction_,
                                          latest.has_value() ? &*latest : nullptr, options_.table));
    format::ManifestName name{.version = next.manifest.version};
    if (latest.has_value()) name.naming = latest->name.naming;
    const bool no_files =
        (next.manifest.writer_feature_flags & format::kNoTransactionFilesFlag) != 0;
    if (no_files) {
      next.manifest.transaction_file.clear();
    } else if (!has_file_) {
      ARROW_RETURN_NOT_OK(io::MakeFolder(io::Child(root_, "_transactions")));
      ARROW_RETURN_NOT_OK(io::PutIfAbsent(File(), bytes_).status());
      has_file_ = true;
    }
    const bool is_inline = no_files || bytes_.size() <= kMostInlineBytes;
    const std::string file = format::EncodeManifestFile(&next, is_inline ? bytes_ : "");
    const io::Location place = io::Child(io::Child(root_, "_versions"), name.FileName());
    ARROW_RETURN_NOT_OK(options_.cancel.Check());
    ARROW_ASSIGN_OR_RAISE(const bool won, io::PutIfAbsent(place, file));
    if (!won) return false;
    outcome->version = name.version;
    // Only a hint: who reads it looks further.
    (void)format::WriteVersionHint(root_, name.version);
    return true;
  }

  const io::Location& root_;
  Transaction transaction_;
  const CommitOptions& options_;
  UncommittedFiles* const files_;
  std::string bytes_;  ///< of the transaction
  bool has_file_ = false;
  std::vector<format::ManifestName> names_;
  std::map<uint64_t, Judgement> judged_;  ///< by version
};

}  // namespace

arrow::Result<uint64_t> Commit(const io::Location& root, const Transaction& transaction,
                               const CommitOptions& options, UncommittedFiles* files) {
  Committer committer(root, transaction, options, files);
  ARROW_ASSIGN_OR_RAISE(const Outcome outcome, committer.Run());
  if (outcome.judgement.verdict == Verdict::kOk) return outcome.version;
  return ConflictError(root, transaction, outcome);
}

arrow::Result<uint64_t> CommitAgain(const io::Location& root, const TransactionMaker& make,
                                    const CommitOptions& options, UncommittedFiles* files) {
  for (int tries = 0; tries <= options.retries_max; ++tries) {
    if (tries > 0) ARROW_RETURN_NOT_OK(Pause(tries, options.cancel));
    ARROW_ASSIGN_OR_RAISE(const TableVersion latest, ReadTableVersion(root));
    ARROW_RETURN_NOT_OK(
        format::CheckWriterFlags(latest.messages.manifest.writer_feature_flags, latest.uri));
    ARROW_ASSIGN_OR_RAISE(std::optional<Transaction> made, make(latest));
    if (!made.has_value()) return latest.version();
    made->read_version = latest.version();
    made->uuid.clear();
    Committer committer(root, *made, options, files);
    ARROW_ASSIGN_OR_RAISE(const Outcome outcome, committer.Run());
    if (outcome.judgement.verdict == Verdict::kOk) return outcome.version;
    if (outcome.judgement.verdict == Verdict::kFail) return ConflictError(root, *made, outcome);
  }
  return LostTooOften(root, options.retries_max + 1);
}

}  // namespace kinjo::dataset
