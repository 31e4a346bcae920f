// What readers of local files, of object stores and of memory share: ranges are checked against the
// size, neighbours become one request, a request's bytes are cut back into the ranges asked for.
#pragma once

#include <chrono>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "io/coalesce.h"
#include "io/random_reader.h"

namespace kinjo::io {

using Buffers = std::vector<std::shared_ptr<arrow::Buffer>>;

/// A reader whose ReadRanges checks, coalesces and counts; a subclass only fetches requests.
class CoalescingReader : public RandomReader {
 public:
  CoalescingReader(std::string path, uint64_t size, uint64_t gap_bytes,
                   std::shared_ptr<IoCounters> counters)
      : path_(std::move(path)),
        size_(size),
        gap_bytes_(gap_bytes),
        counters_(std::move(counters)) {}

  const std::string& path() const override { return path_; }
  uint64_t size() const override { return size_; }
  uint64_t coalesce_gap_bytes() const override { return gap_bytes_; }

  arrow::Result<Buffers> ReadRanges(std::span<const ByteRange> ranges) override;

 protected:
  /// One buffer a request, of exactly its length.
  virtual arrow::Result<Buffers> Fetch(const std::vector<CoalescedRequest>& requests) = 0;

  arrow::Status ShortRead(const ByteRange& range) const;

  /// May be null.
  IoCounters* counters() const { return counters_.get(); }

 private:
  arrow::Status CheckRange(const ByteRange& range) const;
  void Count(uint64_t bytes);
  void CountTime(std::chrono::nanoseconds spent);

  const std::string path_;
  const uint64_t size_;
  const uint64_t gap_bytes_;
  const std::shared_ptr<IoCounters> counters_;
};

/// A request's buffer. When several ranges will be cut from it, bytes keep the alignment they have
/// in the file, so that a page that the writer aligned is aligned in memory.
arrow::Result<std::shared_ptr<arrow::Buffer>> AllocateFor(const CoalescedRequest& request);

}  // namespace kinjo::io
