#include "dataset/row_pipe.h"

#include <atomic>
#include <stdexcept>

#include "arrow/array/builder_primitive.h"
#include "gtest/gtest.h"

namespace kinjo::dataset {
namespace {

constexpr int kBatches = 200;

std::shared_ptr<arrow::RecordBatch> BatchOf(int number) {
  arrow::Int32Builder builder;
  EXPECT_TRUE(builder.AppendValues(std::vector<int32_t>(100, number)).ok());
  auto column = builder.Finish().ValueOrDie();
  return arrow::RecordBatch::Make(arrow::schema({arrow::field("n", arrow::int32())}), 100,
                                  {std::move(column)});
}

/// Reads batches 0, 1, ..., failing at one of them; writes into `written`, failing at another.
struct Ends {
  int read_fails = -1;
  int write_fails = -1;
  bool throws = false;
  std::atomic<int> read{0};
  std::vector<int32_t> written;

  arrow::Status Pipe(base::ThreadPool* pool, int64_t most_bytes = 1000,
                     const base::CancelToken& cancel = {}) {
    return PipeRows(
        [&]() -> arrow::Result<std::shared_ptr<arrow::RecordBatch>> {
          const int number = read++;
          if (number == read_fails && throws) throw std::runtime_error("thrown");
          if (number == read_fails) return base::Invalid("can't read");
          return number == kBatches ? nullptr : BatchOf(number);
        },
        [&](const arrow::RecordBatch& batch) {
          const auto& column = static_cast<const arrow::Int32Array&>(*batch.column(0));
          written.push_back(column.Value(0));
          return written.back() == write_fails ? base::Invalid("can't write") : arrow::Status::OK();
        },
        most_bytes, pool, cancel);
  }
};

TEST(RowPipe, KeepsTheOrder) {
  for (const int threads : {1, 2, 5}) {
    for (const int64_t most_bytes : {0, 1000, 1 << 20}) {
      base::ThreadPool pool(threads);
      Ends ends;
      ASSERT_TRUE(ends.Pipe(&pool, most_bytes).ok());
      ASSERT_EQ(ends.written.size(), kBatches);
      for (int i = 0; i < kBatches; ++i) ASSERT_EQ(ends.written[i], i);
    }
  }
  Ends ends;
  ASSERT_TRUE(ends.Pipe(nullptr).ok());
  EXPECT_EQ(ends.written.size(), kBatches);
}

TEST(RowPipe, AnErrorOfEitherEndEndsBoth) {
  for (const int threads : {1, 2}) {
    base::ThreadPool pool(threads);
    Ends reading{.read_fails = 150};
    EXPECT_EQ(reading.Pipe(&pool).message(), "can't read");
    EXPECT_LE(reading.written.size(), 150);
    Ends writing{.write_fails = 20};
    EXPECT_EQ(writing.Pipe(&pool).message(), "can't write");
    EXPECT_EQ(writing.written.size(), 21);
    EXPECT_LT(writing.read, kBatches);
  }
}

TEST(RowPipe, AnExceptionEndsBoth) {
  base::ThreadPool pool(2);
  Ends ends{.read_fails = 10, .throws = true};
  EXPECT_FALSE(ends.Pipe(&pool).ok());
}

TEST(RowPipe, IsCancelled) {
  base::ThreadPool pool(2);
  base::CancelToken cancel;
  cancel.Cancel();
  Ends ends;
  EXPECT_EQ(base::CodeOf(ends.Pipe(&pool, 1000, cancel)), base::ErrorCode::kCancelled);
  EXPECT_TRUE(ends.written.empty());
}

}  // namespace
}  // namespace kinjo::dataset
