#include "index/shuffle.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>

namespace kinjo::index {

namespace {

constexpr int64_t kWriteBytes = int64_t{4} << 20;

uint64_t RowIdOf(const uint8_t* record) {
  uint64_t row_id;
  std::memcpy(&row_id, record, sizeof(row_id));
  return row_id;
}

}  // namespace

PartitionShuffle::PartitionShuffle(int64_t num_partitions, int64_t record_bytes,
                                   int64_t memory_limit_bytes, SpillMaker spill)
    : num_partitions_(num_partitions),
      record_bytes_(record_bytes),
      memory_limit_bytes_(memory_limit_bytes),
      spill_(std::move(spill)),
      sizes_(static_cast<size_t>(num_partitions), 0) {}

arrow::Status PartitionShuffle::Add(const EncodedRows& rows) {
  if (rows.num_rows() == 0) return arrow::Status::OK();
  Block block;
  block.starts.assign(static_cast<size_t>(num_partitions_) + 1, 0);
  for (const uint32_t partition : rows.partitions) {
    ++block.starts[partition + 1];
    ++sizes_[partition];
  }
  std::partial_sum(block.starts.begin(), block.starts.end(), block.starts.begin());
  block.records.resize(rows.records.size());
  std::vector<uint32_t> next(block.starts.begin(), block.starts.end() - 1);
  const uint8_t* from = rows.records.data();
  for (const uint32_t partition : rows.partitions) {
    std::memcpy(block.records.data() + int64_t{next[partition]++} * record_bytes_, from,
                static_cast<size_t>(record_bytes_));
    from += record_bytes_;
  }
  block_bytes_ += static_cast<int64_t>(block.records.size() + block.starts.size() * 4);
  blocks_.push_back(std::move(block));
  // The other half is for handing partitions out.
  if (block_bytes_ > memory_limit_bytes_ / 2) return Spill();
  return arrow::Status::OK();
}

// Writes all blocks as one run.
arrow::Status PartitionShuffle::Spill() {
  if (!spill_) {
    return base::MakeError(
        base::ErrorCode::kCapacity,
        base::Concat("The codes of ", std::accumulate(sizes_.begin(), sizes_.end(), int64_t{0}),
                     " rows don't fit into ", memory_limit_bytes_ / 2,
                     " bytes: raise memory_limit"));
  }
  Run run;
  ARROW_ASSIGN_OR_RAISE(run.file, spill_());
  run.starts.push_back(0);
  std::vector<uint8_t> pending;
  pending.reserve(static_cast<size_t>(kWriteBytes));
  int64_t written_rows = 0;
  const auto flush = [&]() -> arrow::Status {
    const auto bytes = static_cast<int64_t>(pending.size());
    ARROW_RETURN_NOT_OK(run.file->Append(pending.data(), bytes));
    spilled_bytes_ += bytes;
    pending.clear();
    return arrow::Status::OK();
  };
  for (int64_t p = 0; p < num_partitions_; ++p) {
    for (const Block& block : blocks_) {
      const int64_t count = block.starts[p + 1] - block.starts[p];
      const uint8_t* from = block.records.data() + int64_t{block.starts[p]} * record_bytes_;
      pending.insert(pending.end(), from, from + count * record_bytes_);
      written_rows += count;
      if (static_cast<int64_t>(pending.size()) >= kWriteBytes) ARROW_RETURN_NOT_OK(flush());
    }
    run.starts.push_back(written_rows);
  }
  ARROW_RETURN_NOT_OK(flush());
  runs_.push_back(std::move(run));
  blocks_.clear();
  block_bytes_ = 0;
  return arrow::Status::OK();
}

// The end of the partitions from `first` on that are read together.
int64_t PartitionShuffle::WindowEnd(int64_t first) const {
  int64_t end = first + 1;
  if (runs_.empty()) return end;  // a request for each costs nothing in memory
  // A run's part of the window is read beside the window itself.
  int64_t bytes = sizes_[first] * record_bytes_;
  while (end < num_partitions_ && bytes + sizes_[end] * record_bytes_ <= memory_limit_bytes_ / 4) {
    bytes += sizes_[end++] * record_bytes_;
  }
  return end;
}

// The records of partitions [first, end), partition after partition, in the order they came.
arrow::Status PartitionShuffle::GatherWindow(int64_t first, int64_t end,
                                             std::vector<uint8_t>* records) {
  std::vector<uint8_t*> to;
  int64_t rows = 0;
  for (int64_t p = first; p < end; ++p) rows += sizes_[p];
  records->resize(static_cast<size_t>(rows * record_bytes_));
  uint8_t* start = records->data();
  for (int64_t p = first; p < end; ++p) {
    to.push_back(start);
    start += sizes_[p] * record_bytes_;
  }
  const auto copy = [&](int64_t p, const uint8_t* from, int64_t count) {
    const int64_t bytes = count * record_bytes_;
    if (bytes > 0) std::memcpy(to[p - first], from, static_cast<size_t>(bytes));
    to[p - first] += bytes;
  };
  std::vector<uint8_t> part;
  for (Run& run : runs_) {
    const int64_t base = run.starts[first];
    const int64_t count = run.starts[end] - base;
    if (count == 0) continue;
    part.resize(static_cast<size_t>(count * record_bytes_));
    ARROW_RETURN_NOT_OK(run.file->Read(base * record_bytes_, count * record_bytes_, part.data()));
    for (int64_t p = first; p < end; ++p) {
      copy(p, part.data() + (run.starts[p] - base) * record_bytes_,
           run.starts[p + 1] - run.starts[p]);
    }
  }
  for (const Block& block : blocks_) {
    for (int64_t p = first; p < end; ++p) {
      copy(p, block.records.data() + int64_t{block.starts[p]} * record_bytes_,
           int64_t{block.starts[p + 1]} - block.starts[p]);
    }
  }
  return arrow::Status::OK();
}

void PartitionShuffle::SortByRowId(uint8_t* records, int64_t num_rows) {
  std::vector<std::pair<uint64_t, uint32_t>> order;
  order.reserve(static_cast<size_t>(num_rows));
  for (int64_t i = 0; i < num_rows; ++i) {
    order.emplace_back(RowIdOf(records + i * record_bytes_), static_cast<uint32_t>(i));
  }
  if (std::is_sorted(order.begin(), order.end())) return;
  std::sort(order.begin(), order.end());
  std::vector<uint8_t> sorted(static_cast<size_t>(num_rows * record_bytes_));
  for (int64_t i = 0; i < num_rows; ++i) {
    std::memcpy(sorted.data() + i * record_bytes_, records + order[i].second * record_bytes_,
                static_cast<size_t>(record_bytes_));
  }
  std::copy(sorted.begin(), sorted.end(), records);
}

arrow::Status PartitionShuffle::ForEachPartition(const BuildContext& context, const Visit& visit) {
  if (!runs_.empty() && !blocks_.empty()) ARROW_RETURN_NOT_OK(Spill());
  const auto largest = std::max_element(sizes_.begin(), sizes_.end());
  if (!runs_.empty() && *largest * record_bytes_ > memory_limit_bytes_ / 2) {
    return base::MakeError(
        base::ErrorCode::kCapacity,
        base::Concat("Partition ", largest - sizes_.begin(), " holds ", *largest, " rows, ",
                     *largest * record_bytes_, " bytes of codes, more than half of memory_limit = ",
                     memory_limit_bytes_, ": raise it, or num_partitions"));
  }
  std::vector<uint8_t> records;
  for (int64_t first = 0; first < num_partitions_;) {
    ARROW_RETURN_NOT_OK(context.cancel.Check());
    const int64_t end = WindowEnd(first);
    ARROW_RETURN_NOT_OK(GatherWindow(first, end, &records));
    uint8_t* rows = records.data();
    for (int64_t p = first; p < end; ++p) {
      SortByRowId(rows, sizes_[p]);
      ARROW_RETURN_NOT_OK(visit(p, rows, sizes_[p]));
      rows += sizes_[p] * record_bytes_;
    }
    first = end;
    context.Report(static_cast<double>(end) / static_cast<double>(num_partitions_));
  }
  return arrow::Status::OK();
}

}  // namespace kinjo::index
