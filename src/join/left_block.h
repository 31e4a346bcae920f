// The left side in query blocks: as many rows as the memory plan allows, in order, with the vectors
// that can match compacted.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "arrow/record_batch.h"
#include "base/cancel_token.h"
#include "base/error.h"
#include "exec/query_lists.h"
#include "exec/query_rows.h"
#include "join/arrange_queries.h"
#include "join/eligible_rows.h"
#include "join/left_identity.h"
#include "join/plan.h"

namespace kinjo::join {

/// Consecutive left rows.
struct LeftBlock {
  int64_t first_row = 0;  ///< ordinal of the first row in the left side
  int64_t num_rows = 0;
  std::shared_ptr<arrow::RecordBatch> columns;  ///< the left columns that come out, in order
  exec::QueryRows queries;
  exec::QueryLists lists;              ///< instead of `queries` where the right has lists
  exec::QueryEligibility eligibility;  ///< what each of `queries` or `lists` may find
  QuerySet few;             ///< queries whose groups are scored whole, numbered after `queries`
  int64_t num_queries = 0;  ///< or lists, in all (ArrangedQueries)
  std::vector<int32_t> query_of_row;  ///< or list; -1 for rows that can't match
  int64_t duplicate_rows = 0;         ///< rows that share their query with an earlier one
  int64_t null_rows = 0;
  int64_t non_finite_rows = 0;  ///< for cosine also the zero vectors
};

/// What is read of the left side.
enum class LeftParts : uint8_t { kAll, kVectors, kColumns };

/// Reads the left side once. One thread.
class LeftReader {
 public:
  /// `eligible` is null when every right row may come out for every left row. With `part_rows` > 0
  /// no block crosses a multiple of that.
  static arrow::Result<std::unique_ptr<LeftReader>> Open(const JoinPlan& plan,
                                                         const EligibleRows* eligible = nullptr,
                                                         LeftParts parts = LeftParts::kAll,
                                                         int64_t part_rows = 0);
  /// The columns that it reads.
  static std::vector<std::string> Columns(const JoinPlan& plan, LeftParts parts = LeftParts::kAll);

  /// Says which right row each of the rows is, where the left isn't read from its start.
  void SetPlaces(std::vector<uint64_t> addresses) { given_places_ = std::move(addresses); }

  /// Passes over rows, as many as there are; gives how many that was.
  arrow::Result<int64_t> Skip(int64_t rows, const base::CancelToken& cancel);
  /// Fills the next block; num_rows = 0 at the end. Where no vectors are read there are no queries,
  /// where only vectors are read no columns.
  arrow::Status Next(LeftBlock* block);
  /// Rows read so far.
  int64_t next_row() const { return next_row_; }

 private:
  LeftReader(const JoinPlan& plan, LeftParts parts, int64_t part_rows)
      : plan_(plan), part_rows_(part_rows), parts_(parts) {}
  /// Reads on until the batch at hand has rows left; it is null at the end.
  arrow::Status FillPending();
  /// Cuts at most `rows` rows off the batch at hand; null at the end.
  arrow::Result<std::shared_ptr<arrow::RecordBatch>> NextSlice(int64_t rows,
                                                               const LeftBlock& block);
  /// Rows of the batch at hand, of the next `rows`, whose lists of vectors the block still takes;
  /// at least one if it is empty.
  arrow::Result<int64_t> CountFitting(int64_t rows, const LeftBlock& block) const;
  arrow::Status AddLists(const std::shared_ptr<arrow::Array>& vectors, int64_t first_row,
                         LeftBlock* block);
  arrow::Status AddQueries(const std::shared_ptr<arrow::Array>& vectors, int64_t first_row,
                           LeftBlock* block);
  template <typename T>
  arrow::Status AddRows(const std::shared_ptr<arrow::Array>& vectors, int64_t first_row,
                        std::vector<T>* values, LeftBlock* block);

  /// Appends the identities of rows to `identities_`.
  arrow::Status AddIdentities(const arrow::RecordBatch& rows, int64_t first_row);
  /// Turns the queries of a whole block into those that are searched.
  void Arrange(LeftBlock* block);

  const JoinPlan& plan_;
  const int64_t part_rows_;
  const EligibleRows* eligible_ = nullptr;
  std::unique_ptr<LeftIdentity> places_;  // where rows are told apart by their places
  std::vector<uint64_t> given_places_;    // of the rows to be read; empty = where they lie
  std::vector<RowIdentity> identities_;   // of the block's rows; empty without `eligible_`
  const LeftParts parts_;
  std::vector<std::string> columns_;  // that come out
  std::shared_ptr<arrow::RecordBatchReader> reader_;
  std::shared_ptr<arrow::RecordBatch> pending_;
  int64_t pending_offset_ = 0;
  int64_t next_row_ = 0;
  int64_t width_ = -1;
  std::string expected_;  // whose width that is
};

}  // namespace kinjo::join
