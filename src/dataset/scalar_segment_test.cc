// Lookups in a B-tree of floats made in memory: what is read, and that what is found equals the
// test of all values.
#include "dataset/scalar_segment.h"

#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "arrow/api.h"
#include "format/index_file/index_fixture.h"
#include "gtest/gtest.h"
#include "predicate/predicate.h"

namespace kinjo::dataset {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

/// Sorted as Lance sorts, in pages of two: null, -NaN | -1, -0 | 0, 2 | 5, inf | NaN, NaN.
class BtreeOfFloats : public testing::Test {
 protected:
  BtreeOfFloats() {
    values_ =
        Floats({{}, -kNan, -1, -0.0, 0, 2, 5, std::numeric_limits<double>::infinity(), kNan, kNan});
    auto lookup = std::make_shared<format::MemoryLanceFile>("page_lookup.lance");
    lookup->SetMetadata("batch_size", "2");
    lookup->AddColumn("min", "double", Floats({{}, -1, 0, 5, kNan}));
    lookup->AddColumn("max", "double", Floats({-kNan, -0.0, 2, values_->Value(7), kNan}));
    lookup->AddColumn("null_count", "uint32", Numbers<arrow::UInt32Builder>({1, 0, 0, 0, 0}));
    lookup->AddColumn("page_idx", "uint32", Numbers<arrow::UInt32Builder>({0, 1, 2, 3, 4}));
    auto data = std::make_shared<format::MemoryLanceFile>("page_data.lance");
    data->AddColumn("values", "double", values_);
    data->AddColumn("ids", "uint64",
                    Numbers<arrow::UInt64Builder>({10, 11, 12, 13, 14, 15, 16, 17, 18, 19}));
    segment_ = MakeBtreeSegment(format::BtreeFile::Assemble(lookup, data).ValueOrDie());
  }

  static std::shared_ptr<arrow::DoubleArray> Floats(
      const std::vector<std::optional<double>>& values) {
    arrow::DoubleBuilder builder;
    for (const auto& value : values) {
      EXPECT_TRUE((value.has_value() ? builder.Append(*value) : builder.AppendNull()).ok());
    }
    return std::static_pointer_cast<arrow::DoubleArray>(builder.Finish().ValueOrDie());
  }
  template <typename Builder>
  static std::shared_ptr<arrow::Array> Numbers(const std::vector<int>& values) {
    Builder builder;
    for (const int value : values) EXPECT_TRUE(builder.Append(value).ok());
    return builder.Finish().ValueOrDie();
  }

  static std::shared_ptr<arrow::BooleanArray> Evaluate(
      const predicate::Predicate& filter, const std::shared_ptr<arrow::Array>& values) {
    const auto schema = arrow::schema({arrow::field("f", arrow::float64())});
    const auto batch = arrow::RecordBatch::Make(schema, values->length(), {values});
    return filter.Evaluate(*batch).ValueOrDie();
  }

  /// Looks `text` up and checks what is found; gives how many values were read for it.
  uint64_t Check(const std::string& text, bool wants_unknown) {
    const auto filter =
        predicate::Predicate::Parse(text, arrow::schema({arrow::field("f", arrow::float64())}))
            .ValueOrDie();
    ScalarSegment::Lookup lookup;
    lookup.test = [&](const std::shared_ptr<arrow::Array>& values) {
      return Evaluate(*filter, values);
    };
    lookup.bounds = ValueBounds::Of(filter->root());
    const auto truth = Evaluate(*filter, values_);
    lookup.null_is_unknown = truth->IsNull(0);
    lookup.null_passes = truth->IsValid(0) && truth->Value(0);
    lookup.wants_unknown = wants_unknown;
    std::map<uint64_t, bool> expected;  // row id -> known
    for (int64_t i = 0; i < truth->length(); ++i) {
      const uint64_t row_id = 10 + static_cast<uint64_t>(i);
      if (truth->IsNull(i)) {
        if (wants_unknown) expected[row_id] = false;
      } else if (truth->Value(i)) {
        expected[row_id] = true;
      }
    }
    std::map<uint64_t, bool> found;
    const auto take = [&](bool known, std::span<const uint64_t> row_ids) {
      for (const uint64_t row_id : row_ids) found[row_id] = known;
      return arrow::Status::OK();
    };
    EXPECT_TRUE(segment_->Find(lookup, base::CancelToken(), take).ok());
    EXPECT_EQ(found, expected) << text;
    EXPECT_EQ(segment_->CostOf(lookup).all, 10u);
    return segment_->CostOf(lookup).read;
  }

  std::shared_ptr<arrow::DoubleArray> values_;
  std::shared_ptr<ScalarSegment> segment_;
};

// The pages at the ends may hold NaN, so they are always read.
TEST_F(BtreeOfFloats, SkipsPagesThatHoldNoSuchNumber) {
  EXPECT_EQ(Check("f = 2", false), 6u);
  EXPECT_EQ(Check("f = 0", false), 8u);
  EXPECT_EQ(Check("f BETWEEN 3 AND 4", false), 4u);
  EXPECT_EQ(Check("f < -5", false), 4u);
  EXPECT_EQ(Check("f > 1e9", false), 6u);
  EXPECT_EQ(Check("isnan(f)", false), 4u);
}

TEST_F(BtreeOfFloats, FindsWhatATestOfAllValuesFinds) {
  for (const char* text :
       {"f IS NULL", "f IS NOT NULL", "isnan(f)", "f <> 2", "f >= 2", "f <= 0", "f IN (0, 5, NULL)",
        "NOT (f < 2)", "f < 0 OR f > 2", "f IS NULL OR f = 5"}) {
    Check(text, false);
    Check(text, true);
  }
}

TEST_F(BtreeOfFloats, StopsWhenCancelled) {
  ScalarSegment::Lookup lookup;
  lookup.test = [](const std::shared_ptr<arrow::Array>& values) {
    return std::static_pointer_cast<arrow::BooleanArray>(
        arrow::MakeArrayOfNull(arrow::boolean(), values->length()).ValueOrDie());
  };
  base::CancelToken cancel;
  cancel.Cancel();
  const auto take = [](bool, std::span<const uint64_t>) { return arrow::Status::OK(); };
  EXPECT_EQ(base::CodeOf(segment_->Find(lookup, cancel, take)), base::ErrorCode::kCancelled);
}

// One page may be the whole index: its values are tested in pieces, between which the search stops.
TEST(BtreeOfOnePage, IsReadInPieces) {
  constexpr int64_t kRows = 700000;
  arrow::Int64Builder values;
  arrow::UInt64Builder ids;
  for (int64_t i = 0; i < kRows; ++i) {
    ASSERT_TRUE(values.Append(i).ok() && ids.Append(static_cast<uint64_t>(i)).ok());
  }
  const auto one = [](auto builder, int64_t value) {
    EXPECT_TRUE(builder.Append(value).ok());
    return builder.Finish().ValueOrDie();
  };
  auto lookup = std::make_shared<format::MemoryLanceFile>("page_lookup.lance");
  lookup->SetMetadata("batch_size", std::to_string(kRows));
  lookup->AddColumn("min", "int64", one(arrow::Int64Builder(), 0));
  lookup->AddColumn("max", "int64", one(arrow::Int64Builder(), kRows - 1));
  lookup->AddColumn("null_count", "uint32", one(arrow::UInt32Builder(), 0));
  lookup->AddColumn("page_idx", "uint32", one(arrow::UInt32Builder(), 0));
  auto data = std::make_shared<format::MemoryLanceFile>("page_data.lance");
  data->AddColumn("values", "int64", values.Finish().ValueOrDie());
  data->AddColumn("ids", "uint64", ids.Finish().ValueOrDie());
  const auto segment = MakeBtreeSegment(format::BtreeFile::Assemble(lookup, data).ValueOrDie());

  const base::CancelToken cancel;
  int64_t longest = 0;
  int64_t stop_after = kRows;  // values
  int64_t tested = 0;
  ScalarSegment::Lookup everything;
  everything.test = [&](const std::shared_ptr<arrow::Array>& piece) {
    longest = std::max(longest, piece->length());
    tested += piece->length();
    if (tested > stop_after) cancel.Cancel();
    return std::static_pointer_cast<arrow::BooleanArray>(
        arrow::MakeArrayFromScalar(arrow::BooleanScalar(true), piece->length()).ValueOrDie());
  };
  everything.bounds = ValueBounds();
  uint64_t next = 0;
  const auto take = [&](bool, std::span<const uint64_t> row_ids) {
    for (const uint64_t row_id : row_ids) EXPECT_EQ(row_id, next++);
    return arrow::Status::OK();
  };
  ASSERT_TRUE(segment->Find(everything, cancel, take).ok());
  EXPECT_EQ(next, static_cast<uint64_t>(kRows));
  EXPECT_LT(longest, kRows / 2);
  stop_after = next = tested = 0;
  EXPECT_EQ(base::CodeOf(segment->Find(everything, cancel, take)), base::ErrorCode::kCancelled);
  EXPECT_LT(tested, kRows / 2);
}

}  // namespace
}  // namespace kinjo::dataset
