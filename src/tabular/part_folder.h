// A folder that one long run fills part by part: the parts, each whole or not there, and beside
// them one journal file that grows by whole lines. What the lines say is the business of whoever
// writes them; this file knows how they, and the parts, survive a crash, and that only one process
// at a time may write here.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "tabular/table_sink.h"

namespace kinjo::tabular {

/// Its name begins with an underscore, so that readers of the folder pass it over.
inline constexpr std::string_view kJournalName = "_kinjo.journal";

/// A file of the folder.
struct PartFile {
  std::string name;
  int64_t bytes = 0;
};

/// One thread. Holds the folder's lock as long as it lives; the system takes it back when the
/// process dies.
class PartFolder {
 public:
  /// Makes the folder (in one that is there) or opens one that was made here. A folder with other
  /// files and no journal is `invalid`; one that another process is writing is `conflict`; an
  /// object store is `not_supported`, since it has no locks.
  static arrow::Result<std::unique_ptr<PartFolder>> Open(const std::string& path);
  ~PartFolder();
  PartFolder(const PartFolder&) = delete;
  PartFolder& operator=(const PartFolder&) = delete;

  const std::string& path() const { return path_; }
  std::string journal_path() const;
  /// The journal's bytes as Open found them.
  const std::string& journal() const { return journal_; }
  /// Cuts the journal off behind its first `bytes` bytes.
  arrow::Status CutJournal(int64_t bytes);
  /// Adds a line, which ends in a newline, and returns when it is on the disk. After an error the
  /// journal is as it was, as far as the system lets it.
  arrow::Status AddLine(const std::string& line);

  /// The files that readers of the folder would see, by name.
  arrow::Result<std::vector<PartFile>> List() const;
  /// Removes what a killed run had half-written.
  arrow::Status RemoveLeftovers();
  /// A sink for a file of the folder; when it is finished, the file is on the disk.
  arrow::Result<std::unique_ptr<TableSink>> OpenPart(const std::string& name,
                                                     std::shared_ptr<arrow::Schema> schema,
                                                     const SinkOptions& options) const;
  arrow::Result<int64_t> BytesOf(const std::string& name) const;

 private:
  explicit PartFolder(std::string path) : path_(std::move(path)) {}

  arrow::Status OpenJournal();
  arrow::Status ReadJournal();

  std::string path_;
  int fd_ = -1;  // of the journal, which carries the lock
  std::string journal_;
  int64_t journal_bytes_ = 0;
};

}  // namespace kinjo::tabular
