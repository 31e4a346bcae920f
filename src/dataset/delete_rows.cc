#include "dataset/delete_rows.h"

#include <map>
#include <memory>
#include <optional>
#include <random>
#include <utility>
#include <vector>

#include "dataset/commit.h"
#include "dataset/dataset.h"
#include "dataset/filter.h"
#include "dataset/fragment_deletions.h"
#include "dataset/row_mask.h"
#include "format/table/deletion_writer.h"
#include "io/file_changes.h"
#include "predicate/predicate.h"

namespace kinjo::dataset {
namespace {

namespace proto = format::proto;

/// One delete, made from one version after another until it is committed.
class RowDelete {
 public:
  RowDelete(const io::Location& root, const std::string& where, base::ThreadPool* pool,
            const base::CancelToken& cancel)
      : root_(root), where_(where), pool_(pool), cancel_(cancel), files_(root) {}

  arrow::Result<std::optional<Transaction>> Make(const TableVersion& latest) {
    files_.Remove();
    rows_ = 0;
    ARROW_ASSIGN_OR_RAISE(const std::shared_ptr<const RowMask> mask, FindRows(latest.version()));
    rows_ = mask->count();
    if (rows_ == 0) return std::optional<Transaction>();
    ARROW_ASSIGN_OR_RAISE(const FragmentDeletions deletions,
                          FragmentDeletions::Make(root_, latest));
    std::map<uint64_t, std::vector<uint64_t>> dead;
    mask->ForEach([&](RowAddress address) {
      dead[address >> 32].push_back(address & 0xffffffff);
      return true;
    });
    proto::DeleteOperation operation;
    operation.predicate = where_;
    for (const proto::DataFragmentMessage& fragment : latest.messages.manifest.fragments) {
      const auto found = dead.find(fragment.id);
      if (found == dead.end()) continue;
      ARROW_RETURN_NOT_OK(cancel_.Check());
      ARROW_ASSIGN_OR_RAISE(format::DeadRows all, deletions.Read(fragment.id));
      for (const uint64_t row : found->second) all.Add(row);
      ARROW_RETURN_NOT_OK(AddFragment(fragment, all, latest.version(), &operation));
    }
    Transaction transaction;
    transaction.operation = std::move(operation);
    return std::optional(std::move(transaction));
  }

  UncommittedFiles* files() { return &files_; }
  uint64_t rows() const { return rows_; }

 private:
  arrow::Result<std::shared_ptr<const RowMask>> FindRows(uint64_t version) {
    ARROW_ASSIGN_OR_RAISE(const auto dataset, Dataset::Open(root_.uri, {.version = version}));
    ARROW_ASSIGN_OR_RAISE(const auto predicate,
                          predicate::Predicate::Parse(where_, dataset->arrow_schema()));
    ARROW_ASSIGN_OR_RAISE(const FilterAnswer answer,
                          EvaluateFilter(dataset.get(), *predicate, pool_, cancel_));
    return answer.rows;
  }

  arrow::Status AddFragment(const proto::DataFragmentMessage& fragment,
                            const format::DeadRows& dead, uint64_t version,
                            proto::DeleteOperation* operation) {
    if (dead.count() == fragment.physical_rows) {
      operation->deleted_fragment_ids.push_back(fragment.id);
      return arrow::Status::OK();
    }
    std::random_device random;
    ARROW_ASSIGN_OR_RAISE(const format::EncodedDeletions encoded,
                          format::EncodeDeletions(dead, fragment.physical_rows));
    proto::DataFragmentMessage updated = fragment;
    updated.deletion_file =
        proto::DeletionFileMessage{.file_type = static_cast<uint64_t>(encoded.type),
                                   .read_version = version,
                                   .id = uint64_t{random()} << 32 | random(),
                                   .num_deleted_rows = dead.count()};
    const std::string folder = "_deletions";
    ARROW_RETURN_NOT_OK(io::MakeFolder(io::Child(root_, folder)));
    const std::string name =
        folder + "/" + format::DeletionFileName(fragment.id, *updated.deletion_file);
    const io::Location place = io::Child(root_, name);
    ARROW_ASSIGN_OR_RAISE(const bool put,
                          io::PutIfAbsent(place, static_cast<std::string_view>(*encoded.bytes)));
    if (!put) return base::Io("can't write ", place.uri, ": the name is taken");
    files_.Add(name);
    operation->updated_fragments.push_back(std::move(updated));
    return arrow::Status::OK();
  }

  const io::Location& root_;
  const std::string& where_;
  base::ThreadPool* const pool_;
  const base::CancelToken& cancel_;
  UncommittedFiles files_;
  uint64_t rows_ = 0;
};

}  // namespace

arrow::Result<DeleteReport> DeleteRows(const std::string& uri, const std::string& where,
                                       base::ThreadPool* pool, const base::CancelToken& cancel) {
  ARROW_ASSIGN_OR_RAISE(const io::Location root, io::ResolveUri(uri));
  RowDelete rows(root, where, pool, cancel);
  CommitOptions options;
  options.cancel = cancel;
  const auto make = [&](const TableVersion& latest) { return rows.Make(latest); };
  ARROW_ASSIGN_OR_RAISE(const uint64_t version, CommitAgain(root, make, options, rows.files()));
  return DeleteReport{version, rows.rows()};
}

}  // namespace kinjo::dataset
