#include "io/coalescing_reader.h"

#include <limits>

#include "arrow/memory_pool.h"

namespace kinjo::io {
namespace {

constexpr uint64_t kAlignment = 64;

}  // namespace

arrow::Result<Buffers> CoalescingReader::ReadRanges(std::span<const ByteRange> ranges) {
  for (const ByteRange& range : ranges) ARROW_RETURN_NOT_OK(CheckRange(range));
  const std::vector<CoalescedRequest> requests = Coalesce(ranges, gap_bytes_);
  const auto begin = std::chrono::steady_clock::now();
  ARROW_ASSIGN_OR_RAISE(Buffers fetched, Fetch(requests));
  CountTime(std::chrono::steady_clock::now() - begin);
  Buffers result(ranges.size());
  for (size_t i = 0; i < requests.size(); ++i) {
    Count(requests[i].range.length);
    for (const size_t member : requests[i].members) {
      const ByteRange& range = ranges[member];
      const bool whole = range.length == requests[i].range.length;
      result[member] =
          whole ? fetched[i]
                : arrow::SliceBuffer(fetched[i],
                                     static_cast<int64_t>(range.offset - requests[i].range.offset),
                                     static_cast<int64_t>(range.length));
    }
  }
  for (std::shared_ptr<arrow::Buffer>& buffer : result) {
    if (buffer == nullptr) buffer = std::make_shared<arrow::Buffer>(nullptr, 0);
  }
  return result;
}

arrow::Status CoalescingReader::ShortRead(const ByteRange& range) const {
  return base::Corrupt(path_, range.offset, "the file ended while reading ", range.length,
                       " bytes; it had ", size_, " bytes when it was opened");
}

arrow::Status CoalescingReader::CheckRange(const ByteRange& range) const {
  if (range.offset <= size_ && range.length <= size_ - range.offset) return arrow::Status::OK();
  return base::Corrupt(path_, range.offset, "reading ", range.length, " bytes at offset ",
                       range.offset, " goes past the end of the file, which has ", size_, " bytes");
}

void CoalescingReader::Count(uint64_t bytes) {
  if (counters_ == nullptr) return;
  counters_->requests.fetch_add(1, std::memory_order_relaxed);
  counters_->bytes_read.fetch_add(bytes, std::memory_order_relaxed);
}

void CoalescingReader::CountTime(std::chrono::nanoseconds spent) {
  if (counters_ == nullptr) return;
  counters_->read_ns.fetch_add(static_cast<uint64_t>(spent.count()), std::memory_order_relaxed);
}

arrow::Result<std::shared_ptr<arrow::Buffer>> AllocateFor(const CoalescedRequest& request) {
  const uint64_t shift = request.members.size() > 1 ? request.range.offset % kAlignment : 0;
  const uint64_t total = request.range.length + shift;
  if (total > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) {
    return base::MakeError(base::ErrorCode::kCapacity,
                           base::Concat("can't allocate ", total, " bytes"));
  }
  ARROW_ASSIGN_OR_RAISE(std::shared_ptr<arrow::Buffer> whole,
                        arrow::AllocateBuffer(static_cast<int64_t>(total)));
  if (shift == 0) return whole;
  return arrow::SliceMutableBuffer(whole, static_cast<int64_t>(shift),
                                   static_cast<int64_t>(request.range.length));
}

}  // namespace kinjo::io
