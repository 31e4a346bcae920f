// The stable row ids of one fragment: which id each physical row has, in the compressed segments
// that the manifest stores.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "format/proto/table_messages.h"

namespace kinjo::format {

/// Row `position` of the fragment has the id Get(position); deleted rows keep theirs. Immutable.
class RowIdSequence {
 public:
  /// Parses a RowIdSequence message that must list exactly `physical_rows` ids. `path` is the
  /// manifest, for errors.
  static arrow::Result<RowIdSequence> Parse(std::string_view bytes, uint64_t physical_rows,
                                            const std::string& path);

  uint64_t size() const { return starts_.empty() ? 0 : starts_.back(); }
  /// REQUIRES: position < size().
  uint64_t Get(uint64_t position) const;

  /// Ids first_id, first_id + 1, ... at positions first_position, first_position + 1, ...
  struct Run {
    uint64_t first_id = 0;
    uint64_t first_position = 0;
    uint64_t length = 0;
  };
  /// Calls visit for runs that cover the sequence in order. Neighbouring runs may be mergeable.
  void ForEachRun(const std::function<void(const Run&)>& visit) const;

 private:
  /// A range of ids with the sorted ids that it leaves out, or listed ids.
  struct Segment {
    bool is_range = true;
    uint64_t start = 0;
    uint64_t end = 0;
    std::vector<uint64_t> values;  ///< holes of a range, or the ids
    uint64_t size() const { return is_range ? end - start - values.size() : values.size(); }
    uint64_t Get(uint64_t position) const;
  };
  static arrow::Result<Segment> MakeSegment(const proto::U64SegmentMessage& message,
                                            const std::string& path);

  std::vector<Segment> segments_;
  std::vector<uint64_t> starts_;  ///< position after each segment
};

}  // namespace kinjo::format
