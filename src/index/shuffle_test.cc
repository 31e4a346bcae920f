// Records come back by partition, each once and by row id, whether they stayed in memory or went to
// files; and files don't outlive the shuffle, whatever fails.
#include "index/shuffle.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <random>

#include "base/assert_result.h"

namespace kinjo::index {
namespace {

constexpr int64_t kRecordBytes = 13;
constexpr int64_t kNoLimit = int64_t{1} << 40;

// Files in memory that count how many of them there are, and fail when they are told to.
struct Disk {
  int64_t files = 0;
  int64_t made = 0;
  int64_t writes_left = kNoLimit;
  int64_t reads_left = kNoLimit;
};
class MemorySpill final : public SpillFile {
 public:
  explicit MemorySpill(Disk* disk) : disk_(disk) {
    ++disk_->files;
    ++disk_->made;
  }
  ~MemorySpill() override { --disk_->files; }
  arrow::Status Append(const uint8_t* data, int64_t bytes) override {
    if (disk_->writes_left-- <= 0) return base::Io("the disk is full");
    bytes_.insert(bytes_.end(), data, data + bytes);
    return arrow::Status::OK();
  }
  arrow::Status Read(int64_t offset, int64_t bytes, uint8_t* out) override {
    if (disk_->reads_left-- <= 0) return base::Io("the disk is gone");
    if (offset + bytes > static_cast<int64_t>(bytes_.size())) return base::Io("past the end");
    std::copy_n(bytes_.begin() + offset, bytes, out);
    return arrow::Status::OK();
  }

 private:
  Disk* const disk_;
  std::vector<uint8_t> bytes_;
};
SpillMaker On(Disk* disk) {
  return [disk]() -> arrow::Result<std::unique_ptr<SpillFile>> {
    return std::make_unique<MemorySpill>(disk);
  };
}

// Rows of several calls; the bytes after the id depend on id and call.
std::vector<EncodedRows> MakeRows(int64_t partitions, int64_t calls, int64_t rows_each) {
  std::mt19937_64 random(3);
  std::vector<EncodedRows> all;
  for (int64_t call = 0; call < calls; ++call) {
    EncodedRows rows;
    for (int64_t i = 0; i < rows_each; ++i) {
      const uint64_t row_id = random() % 5000;  // some several times
      uint8_t record[kRecordBytes] = {};
      std::memcpy(record, &row_id, sizeof(row_id));
      for (size_t b = 8; b < kRecordBytes; ++b) record[b] = static_cast<uint8_t>(row_id + b * call);
      rows.records.insert(rows.records.end(), record, record + kRecordBytes);
      // The last partition gets nothing.
      rows.partitions.push_back(static_cast<uint32_t>(random() % (partitions - 1)));
    }
    all.push_back(std::move(rows));
  }
  return all;
}

using Partitions = std::vector<std::vector<uint8_t>>;

// By brute force: each partition's records by row id, equal ones in the order they came.
Partitions Expected(const std::vector<EncodedRows>& all, int64_t partitions) {
  std::vector<std::map<uint64_t, std::vector<uint8_t>>> sorted(static_cast<size_t>(partitions));
  for (const EncodedRows& rows : all) {
    for (int64_t i = 0; i < rows.num_rows(); ++i) {
      const uint8_t* record = rows.records.data() + i * kRecordBytes;
      uint64_t row_id;
      std::memcpy(&row_id, record, sizeof(row_id));
      std::vector<uint8_t>& same = sorted[rows.partitions[i]][row_id];
      same.insert(same.end(), record, record + kRecordBytes);
    }
  }
  Partitions expected(static_cast<size_t>(partitions));
  for (int64_t p = 0; p < partitions; ++p) {
    for (const auto& [row_id, records] : sorted[p]) {
      expected[p].insert(expected[p].end(), records.begin(), records.end());
    }
  }
  return expected;
}

arrow::Result<Partitions> Collect(PartitionShuffle* shuffle, const BuildContext& context = {}) {
  Partitions found;
  ARROW_RETURN_NOT_OK(shuffle->ForEachPartition(
      context, [&](int64_t partition, const uint8_t* records, int64_t num_rows) {
        EXPECT_EQ(partition, static_cast<int64_t>(found.size()));
        found.emplace_back(records, records + num_rows * kRecordBytes);
        return arrow::Status::OK();
      }));
  return found;
}

TEST(PartitionShuffle, MemoryChangesNothingButFiles) {
  const auto all = MakeRows(23, 40, 300);
  const Partitions expected = Expected(all, 23);
  const int64_t bytes = 40 * 300 * kRecordBytes;
  for (const int64_t limit : {kNoLimit, bytes, bytes / 2, bytes / 5, bytes / 9}) {
    Disk disk;
    {
      PartitionShuffle shuffle(23, kRecordBytes, limit, On(&disk));
      for (const EncodedRows& rows : all) ASSERT_TRUE(shuffle.Add(rows).ok());
      KINJO_ASSERT_RESULT(found, Collect(&shuffle));
      EXPECT_EQ(found, expected) << limit;
      KINJO_ASSERT_RESULT(again, Collect(&shuffle));
      EXPECT_EQ(again, expected) << limit;
      EXPECT_EQ(disk.made > 0, limit <= bytes);
      EXPECT_EQ(shuffle.spilled_bytes(), limit <= bytes ? bytes : 0);
      for (int64_t p = 0; p < 23; ++p) {
        EXPECT_EQ(shuffle.sizes()[p] * kRecordBytes, static_cast<int64_t>(expected[p].size()));
      }
    }
    EXPECT_EQ(disk.files, 0);
  }
}

TEST(PartitionShuffle, NothingAddedIsNothing) {
  PartitionShuffle shuffle(3, kRecordBytes, 1000, {});
  ASSERT_TRUE(shuffle.Add({}).ok());
  KINJO_ASSERT_RESULT(found, Collect(&shuffle));
  EXPECT_EQ(found, Partitions(3));
}

TEST(PartitionShuffle, WithoutFilesTheLimitIsAnError) {
  const auto all = MakeRows(5, 10, 300);
  PartitionShuffle shuffle(5, kRecordBytes, 20000, {});
  arrow::Status status;
  for (const EncodedRows& rows : all) {
    if (status.ok()) status = shuffle.Add(rows);
  }
  EXPECT_EQ(base::CodeOf(status), base::ErrorCode::kCapacity);
}

TEST(PartitionShuffle, APartitionThatFitsNowhereIsAnError) {
  const auto all = MakeRows(2, 10, 300);  // all in one
  Disk disk;
  PartitionShuffle shuffle(2, kRecordBytes, 20000, On(&disk));
  for (const EncodedRows& rows : all) ASSERT_TRUE(shuffle.Add(rows).ok());
  const auto found = Collect(&shuffle);
  ASSERT_FALSE(found.ok());
  EXPECT_EQ(base::CodeOf(found.status()), base::ErrorCode::kCapacity);
}

// The n-th write or read fails, for every n: an error, and no file is left.
TEST(PartitionShuffle, FailingFilesAreErrors) {
  const auto all = MakeRows(7, 12, 100);
  for (const bool reads : {false, true}) {
    int64_t failures = 0;
    for (int64_t n = 0;; ++n) {
      Disk disk;
      (reads ? disk.reads_left : disk.writes_left) = n;
      arrow::Status status;
      {
        PartitionShuffle shuffle(7, kRecordBytes, 8000, On(&disk));
        for (const EncodedRows& rows : all) {
          if (status.ok()) status = shuffle.Add(rows);
        }
        if (status.ok()) status = Collect(&shuffle).status();
      }
      EXPECT_EQ(disk.files, 0);
      if (status.ok()) break;
      EXPECT_EQ(base::CodeOf(status), base::ErrorCode::kIo);
      ++failures;
    }
    EXPECT_GT(failures, 2);
  }
}

TEST(PartitionShuffle, StopsWhenCancelledOrTold) {
  const auto all = MakeRows(7, 3, 100);
  PartitionShuffle shuffle(7, kRecordBytes, kNoLimit, {});
  for (const EncodedRows& rows : all) ASSERT_TRUE(shuffle.Add(rows).ok());
  const arrow::Status told = shuffle.ForEachPartition(
      {}, [](int64_t, const uint8_t*, int64_t) { return base::Io("enough"); });
  EXPECT_EQ(base::CodeOf(told), base::ErrorCode::kIo);
  BuildContext context;
  context.cancel.Cancel();
  EXPECT_EQ(base::CodeOf(Collect(&shuffle, context).status()), base::ErrorCode::kCancelled);
}

}  // namespace
}  // namespace kinjo::index
