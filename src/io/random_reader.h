// Ranged reads of one file or object: the one door through which bytes of a dataset come in.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "arrow/buffer.h"
#include "arrow/filesystem/filesystem.h"
#include "base/error.h"

namespace kinjo::io {

class FileGuard;

/// Bytes [offset, offset + length) of a file.
struct ByteRange {
  uint64_t offset = 0;
  uint64_t length = 0;
};

/// What reading cost so far. Shared by all readers of one dataset; any thread may add or read.
struct IoCounters {
  std::atomic<uint64_t> requests{0};    ///< reads sent to the store, after coalescing
  std::atomic<uint64_t> bytes_read{0};  ///< bytes those reads asked for, gaps included
  std::atomic<uint64_t> read_ns{0};     ///< what those reads took, each in its thread
};

/// One open file. Thread-safe: reads may run at the same time from any thread.
class RandomReader {
 public:
  virtual ~RandomReader() = default;

  /// Where the file is, for messages.
  virtual const std::string& path() const = 0;
  virtual uint64_t size() const = 0;
  /// Ranges of one call that lie at most this far apart are read as one, the gap included.
  virtual uint64_t coalesce_gap_bytes() const = 0;

  /// Reads one range whole; a range past the end is a `corrupt` error that names it.
  arrow::Result<std::shared_ptr<arrow::Buffer>> Read(ByteRange range);

  /// Reads many ranges (any order, may overlap); buffers come back in the order asked. Ranges that
  /// lie at most `coalesce_gap_bytes()` apart become one request, and their buffers parts of one:
  /// it is freed with the last of them.
  virtual arrow::Result<std::vector<std::shared_ptr<arrow::Buffer>>> ReadRanges(
      std::span<const ByteRange> ranges) = 0;
};

/// A file system and a path in it.
struct Location {
  std::shared_ptr<arrow::fs::FileSystem> file_system;
  std::string path;  ///< as the file system wants it, without a trailing slash
  std::string uri;   ///< as the user gave it, for messages
  std::shared_ptr<const FileGuard> guard = nullptr;  ///< asked when a file is opened; may be null
};

/// Understands a plain path (relative or absolute), `file://`, and what Arrow's file systems know
/// (`s3://`, ...).
arrow::Result<Location> ResolveUri(const std::string& uri);

/// The location of `name` (may hold slashes) below `base`, with the same guard.
Location Child(const Location& base, const std::string& name);

/// Opens a file for reading. `known_size` saves asking for it; 0 means unknown.
/// A missing file is `not_found`. `counters` may be null. The location's guard is heard first, and
/// explains what is missing, then and in later reads.
arrow::Result<std::shared_ptr<RandomReader>> OpenFile(
    const Location& location, uint64_t known_size = 0,
    std::shared_ptr<IoCounters> counters = nullptr);

/// A reader over bytes in memory (tests, fuzzing).
std::shared_ptr<RandomReader> OpenBuffer(std::shared_ptr<arrow::Buffer> buffer, std::string path,
                                         std::shared_ptr<IoCounters> counters = nullptr);

}  // namespace kinjo::io
