// Rows with large values: output batches stay within the memory plan, and no row is lost.
#include <gtest/gtest.h>

#include "arrow/util/byte_size.h"
#include "join/brute_force.h"
#include "join/memory_sides.h"

namespace kinjo::join {
namespace {

constexpr int64_t kValueBytes = 64 << 10;

/// Rows of a vector, an id and a string of 64 KiB.
std::shared_ptr<MemoryTable> WideTable(const std::string& prefix, int64_t rows, uint32_t seed) {
  const auto batch =
      MakeVectorBatch(prefix + "id", "v", IntegerVectors(rows, 2, seed), arrow::float32(), 2);
  arrow::StringBuilder text;
  for (int64_t i = 0; i < rows; ++i) {
    EXPECT_TRUE(text.Append(std::string(kValueBytes, static_cast<char>('a' + i % 26))).ok());
  }
  const auto wide = batch->AddColumn(2, prefix + "text", text.Finish().ValueOrDie());
  return std::make_shared<MemoryTable>(wide.ValueOrDie(), prefix, 50);
}

JoinOptions Options() {
  JoinOptions options;
  options.k = 20;
  options.threads = 1;
  options.memory_limit_bytes = int64_t{32} << 20;
  return options;
}

struct Sizes {
  int64_t rows = 0;
  int64_t largest = 0;
};

arrow::Result<Sizes> RunWide(const JoinOptions& options) {
  ARROW_ASSIGN_OR_RAISE(
      const auto plan,
      MakePlan(WideTable("left_", 100, 1), MakeTableSide(WideTable("right_", 600, 2)), options));
  Executor executor(plan, {});
  Sizes sizes;
  ARROW_RETURN_NOT_OK(executor.Run({}, [&](const std::shared_ptr<arrow::RecordBatch>& batch) {
    const auto& left = static_cast<const arrow::Int64Array&>(*batch->GetColumnByName("left_id"));
    for (int64_t i = 0; i < batch->num_rows(); ++i) {
      EXPECT_EQ(left.Value(i), sizes.rows++ / 20);
    }
    sizes.largest = std::max(sizes.largest, arrow::util::TotalBufferSize(*batch));
    return batch->ValidateFull();
  }));
  return sizes;
}

TEST(WideRows, OutputBatchesAreBoundedByBytes) {
  for (const bool left : {false, true}) {
    JoinOptions options = Options();
    options.left_select = std::vector<std::string>{"left_id"};
    options.right_select = std::vector<std::string>{"right_id"};
    if (left) {
      options.left_select->push_back("left_text");
    } else {
      options.right_select->push_back("right_text");
    }
    KINJO_ASSERT_RESULT(sizes, RunWide(options));
    EXPECT_EQ(sizes.rows, 2000);
    EXPECT_LT(sizes.largest, *options.memory_limit_bytes / 2) << "left " << left;
  }
}

}  // namespace
}  // namespace kinjo::join
