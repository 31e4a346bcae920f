#include "dataset/row_lookup.h"

#include <memory>
#include <string>
#include <vector>

#include "base/thread_pool.h"
#include "format/table/synthetic_manifest.h"
#include "gtest/gtest.h"

namespace kinjo::dataset {
namespace {

using format::synthetic::Message;

std::unique_ptr<Fragment> MakeFragment(uint64_t id, uint64_t first_row_id, uint64_t rows) {
  format::Fragment info;
  info.id = id;
  info.physical_rows = rows;
  const Message range = Message().Number(1, first_row_id).Number(2, first_row_id + rows);
  const Message sequence = Message().Sub(1, Message().Sub(1, range));
  info.row_ids = format::RowIdSequence::Parse(sequence.text(), rows, "manifest").ValueOrDie();
  static const BaseLocations locations =
      BaseLocations::Make(io::ResolveUri("/nowhere").ValueOrDie(), {}, {}).ValueOrDie();
  return Fragment::Make(std::move(info), locations, nullptr, nullptr).ValueOrDie();
}

TEST(FragmentTableTest, FindsDenseAndSparseIds) {
  for (const uint64_t step : {1, 3, 1'000'000}) {
    std::vector<std::unique_ptr<Fragment>> owned;
    std::vector<const Fragment*> fragments;
    for (uint64_t i = 0; i < 20; ++i) {
      owned.push_back(MakeFragment((37 * i % 20) * step + 5, 0, 1));
      fragments.push_back(owned.back().get());
    }
    const FragmentTable table(fragments);
    for (uint64_t id = 0; id < 21 * step + 10; id += step == 1'000'000 ? 5 : 1) {
      const bool exists = id >= 5 && (id - 5) % step == 0 && (id - 5) / step < 20;
      ASSERT_EQ(table.Find(id) != nullptr, exists) << id;
      if (exists) {
        ASSERT_EQ(table.Find(id)->id(), id);
      }
    }
    EXPECT_EQ(table.Find(0xffffffff), nullptr);
  }
  EXPECT_EQ(FragmentTable().Find(0), nullptr);
}

TEST(StableRowIdsTest, FindsRowsOfAllFragments) {
  const auto first = MakeFragment(0, 100, 10);
  const auto second = MakeFragment(7, 50, 20);
  const FragmentTable table({second.get(), first.get()});
  const StableRowIds row_ids(&table);
  const std::vector<uint64_t> ids = {100, 109, 110, 99, 50, 69, 70, 0, ~uint64_t{0}};
  std::vector<RowAddress> addresses(ids.size());
  ASSERT_TRUE(row_ids.Find(ids, addresses).ok());
  const std::vector<RowAddress> expected = {
      0,        9,        kDeadRow, kDeadRow, uint64_t{7} << 32, (uint64_t{7} << 32) + 19,
      kDeadRow, kDeadRow, kDeadRow};
  EXPECT_EQ(addresses, expected);
}

TEST(StableRowIdsTest, TwoLiveRowsWithOneIdAreCorrupt) {
  const auto first = MakeFragment(0, 100, 10);
  const auto second = MakeFragment(1, 109, 1);
  const FragmentTable table({first.get(), second.get()});
  const StableRowIds row_ids(&table);
  const uint64_t id = 100;
  RowAddress address = 0;
  EXPECT_EQ(base::CodeOf(row_ids.Find(std::span(&id, 1), std::span(&address, 1))),
            base::ErrorCode::kCorrupt);
}

TEST(StableRowIdsTest, ManyThreadsMayAskFirst) {
  const auto fragment = MakeFragment(3, 0, 1000);
  const FragmentTable table({fragment.get()});
  const StableRowIds row_ids(&table);
  base::ThreadPool pool(4);
  const auto body = [&](int64_t item, int /*worker*/) {
    const auto id = static_cast<uint64_t>(item);
    RowAddress address = 0;
    ARROW_RETURN_NOT_OK(row_ids.Find(std::span(&id, 1), std::span(&address, 1)));
    return address == ((uint64_t{3} << 32) | id) ? arrow::Status::OK()
                                                 : base::Internal("wrong row for id ", id);
  };
  EXPECT_TRUE(pool.ParallelFor(1000, base::CancelToken(), body).ok());
}

}  // namespace
}  // namespace kinjo::dataset
