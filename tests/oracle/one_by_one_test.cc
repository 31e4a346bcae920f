// The engine's join against the naive one-by-one loop: the same rows in the same order with the
// same bytes, whatever the number of threads, the size of a query block and the way that is gone.
//
// KINJO_ORACLE_CASES says how many cases run (1,000 unless given), KINJO_ORACLE_SEED runs one
// alone.
#include <bit>
#include <cstdlib>

#include "gtest/gtest.h"
#include "join/memory_sides.h"
#include "kernels/simd_level.h"
#include "tests/oracle/random_case.h"

namespace kinjo::oracle {
namespace {

constexpr uint64_t kCases = 1000;

struct OutputRow {
  int64_t left = 0;
  int32_t rank = 0;  ///< 0 for a left row without match
  int64_t right = -1;
  uint64_t row_id = 0;
  uint32_t distance_bits = 0;

  friend bool operator==(const OutputRow&, const OutputRow&) = default;
};

std::ostream& operator<<(std::ostream& out, const OutputRow& row) {
  return out << "left " << row.left << " rank " << row.rank << " right " << row.right << " row id "
             << row.row_id << " distance " << std::bit_cast<float>(row.distance_bits);
}

uint32_t Bits(float distance) { return std::bit_cast<uint32_t>(distance); }

std::vector<OutputRow> Expected(const RandomCase& one) {
  std::vector<OutputRow> rows;
  for (size_t i = 0; i < one.left.size(); ++i) {
    const auto matches = NaiveJoin(one.left[i], one.right, one.metric, one.options);
    int32_t rank = 0;
    for (const NaiveMatch& match : matches) {
      rows.push_back({static_cast<int64_t>(i), ++rank, match.row - one.right.rows.data(),
                      match.row->row_id, Bits(match.distance)});
    }
    if (rank == 0 && one.options.how == join::How::kLeft) {
      rows.push_back({.left = static_cast<int64_t>(i)});
    }
  }
  return rows;
}

/// Another way for each run of a case.
join::ForcedWays WayOfTurn(uint64_t turn) {
  join::ForcedWays ways;
  ways.exact = static_cast<join::ExactWay>(turn % 4);
  ways.index = static_cast<join::IndexWay>(turn / 2 % 3);
  if (turn % 3 == 0) ways.filter = join::FilterWay::kBeside;
  return ways;
}

arrow::Result<std::vector<OutputRow>> Joined(const RandomCase& one, int64_t threads,
                                             int64_t block_rows, uint64_t turn) {
  join::JoinOptions options = one.options;
  options.threads = threads;
  options.block_rows = block_rows;
  options.forced_ways = WayOfTurn(turn);
  // Where the join can't go that way, the planner chooses.
  const auto plan = join::MakePlan(one.left_table, join::MakeDatasetSide(one.dataset), options);
  if (!plan.ok()) options.forced_ways = {};
  ARROW_ASSIGN_OR_RAISE(const auto outcome,
                        join::RunJoin(one.left_table, join::MakeDatasetSide(one.dataset), options));
  std::vector<OutputRow> rows;
  if (outcome.table->num_rows() == 0) return rows;
  const arrow::Table& table = *outcome.table;
  const auto& left = join::ColumnOf<arrow::Int64Array>(table, "q");
  const auto& query = join::ColumnOf<arrow::Int64Array>(table, "_query_index");
  const auto& rank = join::ColumnOf<arrow::Int32Array>(table, "_rank");
  const auto& right = join::ColumnOf<arrow::Int64Array>(table, "id");
  const auto& row_id = join::ColumnOf<arrow::UInt64Array>(table, "_rowid");
  const auto& distance = join::ColumnOf<arrow::FloatArray>(table, "_distance");
  for (int64_t i = 0; i < table.num_rows(); ++i) {
    EXPECT_EQ(left.Value(i), query.Value(i));
    OutputRow row{.left = query.Value(i)};
    if (rank.IsValid(i)) {
      row = {query.Value(i), rank.Value(i), right.Value(i), row_id.Value(i),
             Bits(distance.Value(i))};
    }
    rows.push_back(row);
  }
  return rows;
}

void ExpectSame(const std::vector<OutputRow>& got, const std::vector<OutputRow>& want) {
  for (size_t i = 0; i < std::min(got.size(), want.size()); ++i) {
    ASSERT_EQ(got[i], want[i]) << "output row " << i;
  }
  ASSERT_EQ(got.size(), want.size());
}

/// The instruction set that a case runs with: all of this machine's in turns.
void ChooseLevel(uint64_t seed) {
  const std::vector<std::string> levels = kernels::AvailableSimdLevels();
  ASSERT_TRUE(kernels::ForceSimdLevel(levels[seed % levels.size()]).ok());
}

void RunCase(uint64_t seed) {
  const RandomCase one = MakeRandomCase(seed);
  ChooseLevel(seed);
  SCOPED_TRACE("KINJO_ORACLE_SEED=" + std::to_string(seed) + " runs this case alone: " + one.text);
  std::vector<OutputRow> want;
  if (one.naive_knows) want = Expected(one);
  bool first = !one.naive_knows;
  uint64_t turn = seed;
  for (const int64_t threads : {1, 2}) {
    for (const int64_t block_rows : {1, 7, 4096}) {
      SCOPED_TRACE(base::Concat("threads ", threads, ", block_rows ", block_rows));
      KINJO_ASSERT_RESULT(got, Joined(one, threads, block_rows, turn++));
      if (first) want = got;
      first = false;
      ExpectSame(got, want);
      if (testing::Test::HasFatalFailure()) return;
    }
  }
}

/// A quarter of the cases, so that quarters may run side by side.
class OneByOne : public testing::TestWithParam<uint64_t> {
 protected:
  ~OneByOne() override { EXPECT_TRUE(kernels::ForceSimdLevel("").ok()); }
};

constexpr uint64_t kQuarters = 4;

TEST_P(OneByOne, BatchedEqualsTheNaiveLoop) {
  const char* alone = std::getenv("KINJO_ORACLE_SEED");
  if (alone != nullptr) {
    if (GetParam() == 0) RunCase(std::strtoull(alone, nullptr, 10));
    return;
  }
  const char* asked = std::getenv("KINJO_ORACLE_CASES");
  const uint64_t cases = asked != nullptr ? std::strtoull(asked, nullptr, 10) : kCases;
  for (uint64_t seed = GetParam(); seed < cases; seed += kQuarters) {
    RunCase(seed);
    if (HasFatalFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(Quarter, OneByOne, testing::Range(uint64_t{0}, kQuarters));

}  // namespace
}  // namespace kinjo::oracle
