#include "join/self_rows.h"

#include <gtest/gtest.h>

#include "join/memory_sides.h"

namespace kinjo::join {
namespace {

TEST(SelfRows, NumberTheLiveRowsOfADataset) {
  MemoryDataset dataset(Vectors(1000, {1.0, 2.0}), 300, 2);
  for (int64_t row = 300; row < 600; ++row) dataset.Delete(row);  // a whole fragment
  for (const int64_t row : {0, 1, 299, 999}) dataset.Delete(row);
  KINJO_ASSERT_RESULT(rows, SelfRows::Make(&dataset, 0, base::CancelToken()));
  ASSERT_EQ(rows.num_rows(), 696);
  int64_t next = 0;
  for (int64_t row = 0; row < 1000; ++row) {
    if (!dataset.live(row)) continue;
    EXPECT_EQ(rows.AddressOf(next), dataset.AddressOf(row));
    EXPECT_EQ(rows.RowOf(dataset.AddressOf(row)), next);
    ++next;
  }
  // Two fragments with deletions and live rows.
  EXPECT_GE(SelfRows::SizeBytes(&dataset), (297 + 99) * 4);
  EXPECT_LE(SelfRows::SizeBytes(&dataset), (297 + 99) * 4 + 1024);
}

TEST(SelfRows, OfFilesAreTheNumbersOfTheirRows) {
  KINJO_ASSERT_RESULT(rows, SelfRows::Make(nullptr, 5, base::CancelToken()));
  EXPECT_EQ(rows.num_rows(), 5);
  EXPECT_EQ(rows.AddressOf(3), 3u);
  EXPECT_EQ(rows.RowOf(4), 4);
  EXPECT_EQ(SelfRows::SizeBytes(nullptr), 0);
}

TEST(SelfRows, ReadingThemCanBeCancelled) {
  MemoryDataset dataset(Vectors(10, {1.0}), 10, 1);
  dataset.Delete(3);
  const base::CancelToken cancel;
  cancel.Cancel();
  const auto rows = SelfRows::Make(&dataset, 0, cancel);
  EXPECT_EQ(base::CodeOf(rows.status()), base::ErrorCode::kCancelled);
}

}  // namespace
}  // namespace kinjo::join
