// A dataset made, added to, or written over from a stream of rows.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "arrow/record_batch.h"
#include "base/cancel_token.h"
#include "base/error.h"
#include "base/progress.h"
#include "base/thread_pool.h"
#include "dataset/fragment_writer.h"

namespace kinjo::dataset {

enum class WriteMode : uint8_t {
  kCreate,     ///< `conflict` where there is a dataset
  kAppend,     ///< new rows of the dataset that is there, or the first ones
  kOverwrite,  ///< other rows, perhaps of another schema; older versions stay readable
};

/// "create", "append" or "overwrite"; `invalid` for another word.
arrow::Result<WriteMode> ParseWriteMode(const std::string& word);

struct WriteOptions {
  WriteMode mode = WriteMode::kCreate;
  /// File version of the data files: "2.2", "2.1" or "2.0"; "" = the dataset's own, else 2.2. An
  /// append takes no other than the dataset's own.
  std::string data_version;
  FragmentLimits limits;
  bool stable_row_ids = false;  ///< of a dataset that is made now
  /// Pages are made small enough that those of all columns fit; 0 = no limit.
  int64_t memory_limit_bytes = 0;
  int64_t total_rows = -1;  ///< for the progress; -1 = not known
  /// Reading and writing go on side by side on two of its threads; null: in turns.
  base::ThreadPool* pool = nullptr;
  base::CancelToken cancel;
  base::ProgressCallback progress;  ///< may be empty
};

/// Judges what can be judged without a dataset. WriteDataset does this too.
arrow::Status CheckWriteOptions(const WriteOptions& options);

/// What was written.
struct WriteReport {
  uint64_t version = 0;
  uint64_t rows = 0;
  uint64_t fragments = 0;
  uint64_t bytes = 0;
};

/// A write whose rows come batch by batch. One thread. What is dropped before Finish() leaves the
/// dataset as it was, and no files.
class DatasetWriting {
 public:
  /// Looks at the place and fits rows of the schema `rows` to the dataset, as WriteDataset does;
  /// makes nothing yet.
  static arrow::Result<std::unique_ptr<DatasetWriting>> Begin(const std::string& uri,
                                                              const arrow::Schema& rows,
                                                              const WriteOptions& options);
  virtual ~DatasetWriting() = default;
  virtual arrow::Status Write(const arrow::RecordBatch& batch) = 0;
  /// Commits what was written. Call it once.
  virtual arrow::Result<WriteReport> Finish() = 0;
};

/// What Begin would refuse of the place; makes nothing.
arrow::Status CheckWritePlace(const std::string& uri, WriteMode mode);

/// Writes all rows of `rows` and commits them as one new version of the dataset at `uri`; nobody
/// sees any of them before. After an error the dataset is as it was (without one, there is none),
/// and the files that were written are gone. Memory: a page of each column, and a batch; where the
/// smallest pages don't fit into the limit, `capacity`.
///
/// An appended column may have another type where every value fits; a nullable column may be
/// missing. A folder that holds other things than a dataset is `invalid`.
arrow::Result<WriteReport> WriteDataset(const std::string& uri, arrow::RecordBatchReader* rows,
                                        const WriteOptions& options);

}  // namespace kinjo::dataset
