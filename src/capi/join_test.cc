// One join over a golden dataset through the C++ header: rows by stream, by export and by file;
// cancel, close, report; and handles freed in an unusual order.
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "arrow/api.h"
#include "arrow/c/bridge.h"
#include "arrow/io/interfaces.h"
#include "arrow/util/thread_pool.h"
#include "gtest/gtest.h"
#include "kinjo/kinjo.hpp"

namespace {

const std::string kRight = std::string(KINJO_GOLDEN_DIR) + "/flat_l2.lance";
constexpr int64_t kRows = 700;

#define ASSERT_KINJO_OK(result) ASSERT_TRUE((result).ok()) << (result).error().message

kinjo::Result<kinjo::Join> SelfJoin(kinjo::JoinOptions options = {}) {
  kinjo::Result<kinjo::Table> left = kinjo::Table::Open(kRight);
  if (!left.ok()) return left.error();
  options.on = "vec";
  options.index = "never";
  return kinjo::Join::Make(*left, kRight, options);
}

// `batches` batches of `rows` rows of a vector column, made when they are read.
ArrowArrayStream VectorStream(int64_t batches, int64_t rows) {
  const auto type = arrow::fixed_size_list(arrow::float32(), 16);
  const auto schema = arrow::schema({arrow::field("vec", type)});
  std::vector<std::shared_ptr<arrow::RecordBatch>> made;
  for (int64_t i = 0; i < batches; ++i) {
    auto values = std::make_shared<arrow::FloatBuilder>();
    arrow::FixedSizeListBuilder builder(arrow::default_memory_pool(), values, type);
    for (int64_t row = 0; row < rows; ++row) {
      EXPECT_TRUE(builder.Append().ok());
      for (int j = 0; j < 16; ++j) {
        EXPECT_TRUE(values->Append(static_cast<float>((row * 7 + j) % 11)).ok());
      }
    }
    made.push_back(arrow::RecordBatch::Make(schema, rows, {builder.Finish().ValueOrDie()}));
  }
  ArrowArrayStream stream{};
  const auto reader = arrow::RecordBatchReader::Make(made, schema).ValueOrDie();
  EXPECT_TRUE(arrow::ExportRecordBatchReader(reader, &stream).ok());
  return stream;
}

TEST(Dataset, IsDescribed) {
  const auto dataset = kinjo::Dataset::Open(kRight);
  ASSERT_KINJO_OK(dataset);
  const auto info = dataset.value().Info();
  ASSERT_KINJO_OK(info);
  EXPECT_EQ(info.value().num_rows, static_cast<uint64_t>(kRows));
  EXPECT_EQ(info.value().num_vector_indexes, 1u);
  auto schema = dataset.value().Schema();
  ASSERT_KINJO_OK(schema);
  const auto imported = arrow::ImportSchema(schema->get()).ValueOrDie();
  EXPECT_EQ(imported->field_names(), (std::vector<std::string>{"id", "name", "vec"}));
  const auto json = dataset.value().Describe();
  ASSERT_KINJO_OK(json);
  EXPECT_NE(json.value().find("\"IVF_FLAT\""), std::string::npos) << json.value();
}

TEST(Dataset, NoSuchIndexNamesThoseThereAre) {
  const auto dataset = kinjo::Dataset::Open(kRight);
  ASSERT_KINJO_OK(dataset);
  const auto json = dataset.value().DescribeIndex("nope");
  ASSERT_FALSE(json.ok());
  EXPECT_EQ(json.error().code, KINJO_ERROR_NOT_FOUND);
  EXPECT_NE(json.error().message.find("vec_idx"), std::string::npos) << json.error().message;
}

TEST(Join, ARecallTargetIsReportedAndItsCurveTold) {
  auto left = kinjo::Table::Open(kRight);
  ASSERT_KINJO_OK(left);
  kinjo::JoinOptions options;
  options.k = 3;
  options.on = "vec";
  auto plain = kinjo::Join::Make(*left, kRight, options);
  ASSERT_KINJO_OK(plain);
  EXPECT_TRUE(std::isnan(plain->Report()->recall));
  EXPECT_EQ(plain->Tune().error().code, KINJO_ERROR_INVALID);  // no target

  options.recall = 0.9;
  auto join = kinjo::Join::Make(*left, kRight, options);
  ASSERT_KINJO_OK(join);
  auto stream = join->Run();
  ASSERT_KINJO_OK(stream);
  while (true) {
    auto batch = stream->Next();
    ASSERT_KINJO_OK(batch);
    if (batch->empty()) break;
  }
  auto report = join->Report();
  ASSERT_KINJO_OK(report);
  EXPECT_GT(report->recall, 0.85);
  EXPECT_LE(report->recall_low, report->recall);
  EXPECT_GE(report->recall_high, report->recall);
  EXPECT_GE(report->recall_measured_rows, 150);
  EXPECT_GE(report->chosen_nprobes, 1);
  EXPECT_EQ(report->chosen_refine_factor, 0);  // IVF_FLAT is exact
  EXPECT_EQ(join->Tune().error().code, KINJO_ERROR_STATE);

  auto tuned = kinjo::Join::Make(*left, kRight, options);
  ASSERT_KINJO_OK(tuned);
  auto curve = tuned->Tune();
  ASSERT_KINJO_OK(curve);
  EXPECT_NE(curve->find("\"pick\":true"), std::string::npos) << *curve;
}

TEST(Join, StreamsRowsThatOutliveTheirHandles) {
  std::vector<kinjo::Batch> batches;
  kinjo::Schema schema;
  {
    kinjo::JoinOptions options;
    options.k = 1;
    auto join = SelfJoin(options);
    ASSERT_KINJO_OK(join);
    auto stream = join->Run();
    ASSERT_KINJO_OK(stream);
    {
      const kinjo::Join gone = *std::move(join);
    }
    schema = *stream->Schema();
    while (true) {
      auto batch = stream->Next();
      ASSERT_KINJO_OK(batch);
      if (batch->empty()) break;
      batches.push_back(*std::move(batch));
    }
  }
  const auto type = arrow::ImportSchema(schema.get()).ValueOrDie();
  int64_t rows = 0;
  for (kinjo::Batch& batch : batches) {
    const auto imported = arrow::ImportRecordBatch(batch.get(), type).ValueOrDie();
    const auto& distances =
        static_cast<const arrow::FloatArray&>(*imported->GetColumnByName("_distance"));
    for (int64_t i = 0; i < imported->num_rows(); ++i) EXPECT_EQ(distances.Value(i), 0.0f);
    const auto ids = imported->GetColumnByName("id");
    EXPECT_TRUE(ids->Equals(imported->GetColumnByName("id_right")));
    rows += imported->num_rows();
  }
  EXPECT_EQ(rows, kRows);
}

// The pools of Arrow are the host's: a join of another size leaves them, and only who asks for it
// changes them.
TEST(Join, LeavesArrowsPoolsToTheProcess) {
  const int before = arrow::GetCpuThreadPoolCapacity();
  const int io_before = arrow::io::GetIOThreadPoolCapacity();
  kinjo::JoinOptions options;
  options.threads = before + 3;
  auto join = SelfJoin(options);
  ASSERT_KINJO_OK(join);
  auto stream = join->Run();
  ASSERT_KINJO_OK(stream);
  while (true) {
    auto batch = stream->Next();
    ASSERT_KINJO_OK(batch);
    if (batch->empty()) break;
  }
  EXPECT_EQ(arrow::GetCpuThreadPoolCapacity(), before);
  EXPECT_EQ(arrow::io::GetIOThreadPoolCapacity(), io_before);
  ASSERT_KINJO_OK(kinjo::SetArrowThreads(5));
  EXPECT_EQ(arrow::GetCpuThreadPoolCapacity(), 5);
  EXPECT_EQ(arrow::io::GetIOThreadPoolCapacity(), 5);
  ASSERT_KINJO_OK(kinjo::SetArrowThreads(1));
  EXPECT_EQ(arrow::GetCpuThreadPoolCapacity(), 1);
  EXPECT_EQ(arrow::io::GetIOThreadPoolCapacity(), 2);
  for (const int64_t wrong : {int64_t{0}, int64_t{-1}, int64_t{1} << 40}) {
    const auto refused = kinjo::SetArrowThreads(wrong);
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().code, KINJO_ERROR_INVALID);
    EXPECT_NE(refused.error().message.find(std::to_string(wrong)), std::string::npos);
  }
  ASSERT_TRUE(arrow::SetCpuThreadPoolCapacity(before).ok());
  ASSERT_TRUE(arrow::io::SetIOThreadPoolCapacity(io_before).ok());
}

TEST(Join, IsExportedAsAnArrowStream) {
  auto join = SelfJoin();
  ASSERT_KINJO_OK(join);
  auto stream = join->Run();
  ASSERT_KINJO_OK(stream);
  auto exported = stream->Export();
  ASSERT_KINJO_OK(exported);
  EXPECT_EQ(stream->Next().error().code, KINJO_ERROR_STATE);
  const auto reader = arrow::ImportRecordBatchReader(exported->get()).ValueOrDie();
  const auto table = reader->ToTable().ValueOrDie();
  EXPECT_EQ(table->num_rows(), kRows * 10);
  const auto report = join->Report();
  ASSERT_KINJO_OK(report);
  EXPECT_FALSE(report.value().index_used);
  EXPECT_TRUE(report.value().exact_distances);
  EXPECT_EQ(report.value().left_rows, kRows);
  EXPECT_EQ(report.value().result_rows, kRows * 10);
  const auto json = join->DescribeReport();
  ASSERT_KINJO_OK(json);
  EXPECT_NE(json.value().find("\"result_rows\":7000"), std::string::npos) << json.value();
}

TEST(Join, TellsTheMemoryThatItReservedAndThatItTook) {
  auto join = SelfJoin();
  ASSERT_KINJO_OK(join);
  EXPECT_EQ(join->Report().value().measured_memory_bytes, -1);
  const auto before = join->DescribeReport();
  ASSERT_KINJO_OK(before);
  EXPECT_NE(before.value().find("\"measured_memory_bytes\":null"), std::string::npos);
  auto stream = join->Run();
  ASSERT_KINJO_OK(stream);
  while (true) {
    auto batch = stream->Next();
    ASSERT_KINJO_OK(batch);
    if (batch->empty()) break;
  }
  const auto report = join->Report();
  ASSERT_KINJO_OK(report);
  EXPECT_GT(report.value().peak_memory_bytes, 0);
  EXPECT_GE(report.value().measured_memory_bytes, 0);
  const std::string told =
      "\"measured_memory_bytes\":" + std::to_string(report.value().measured_memory_bytes);
  EXPECT_NE(join->DescribeReport().value().find(told), std::string::npos);
}

TEST(Join, AReportOfAnOlderHeaderIsFilledAsFarAsItGoes) {
  kinjo_table* left = nullptr;
  kinjo_join* made = nullptr;
  ASSERT_TRUE(kinjo_table_open(kRight.c_str(), nullptr, &left, nullptr));
  ASSERT_TRUE(kinjo_join_make(left, kRight.c_str(), nullptr, &made, nullptr));
  kinjo_join_report report;
  std::memset(&report, 0x5a, sizeof(report));
  report.struct_size = offsetof(kinjo_join_report, peak_memory_bytes);
  EXPECT_TRUE(kinjo_join_get_report(made, &report, nullptr));
  EXPECT_EQ(report.left_rows, 0);
  EXPECT_EQ(report.peak_memory_bytes, 0x5a5a5a5a5a5a5a5a);
  kinjo_join_free(made);
  kinjo_table_free(left);
}

TEST(Join, AnInstructionSetThatIsNotThereIsRefused) {
  const char* given = std::getenv("KINJO_SIMD");
  const std::string before = given == nullptr ? "" : given;
  ASSERT_EQ(setenv("KINJO_SIMD", "bogus", 1), 0);
  const auto join = SelfJoin();
  ASSERT_EQ(setenv("KINJO_SIMD", before.c_str(), 1), 0);
  ASSERT_FALSE(join.ok());
  EXPECT_EQ(join.error().code, KINJO_ERROR_INVALID);
  EXPECT_NE(join.error().message.find("KINJO_SIMD is 'bogus'"), std::string::npos)
      << join.error().message;
}

TEST(Join, AnExportedStreamMayBeReleasedUnread) {
  auto join = SelfJoin();
  ASSERT_KINJO_OK(join);
  auto stream = join->Run();
  ASSERT_KINJO_OK(stream);
  {
    auto exported = *stream->Export();
  }
  stream->Cancel();
}

TEST(Join, TakesAStreamOnTheLeft) {
  ArrowArrayStream source = VectorStream(3, 50);
  auto left = kinjo::Table::FromStream(&source, "in memory");
  ASSERT_KINJO_OK(left);
  EXPECT_EQ(source.release, nullptr);
  EXPECT_EQ(*left->NumRows(), -1);
  kinjo::JoinOptions options;
  options.k = 2;
  auto join = kinjo::Join::Make(*left, kRight, options);
  ASSERT_KINJO_OK(join);
  auto stream = join->Run();
  ASSERT_KINJO_OK(stream);
  int64_t rows = 0;
  while (true) {
    auto batch = stream->Next();
    ASSERT_KINJO_OK(batch);
    if (batch->empty()) break;
    rows += (*batch)->length;
  }
  EXPECT_EQ(rows, 3 * 50 * 2);
}

TEST(Join, StopsWhenCancelledFromAnotherThread) {
  auto join = SelfJoin();
  ASSERT_KINJO_OK(join);
  auto stream = join->Run();
  ASSERT_KINJO_OK(stream);
  std::thread([&] { stream->Cancel(); }).join();
  const auto batch = stream->Next();
  ASSERT_FALSE(batch.ok());
  EXPECT_EQ(batch.error().code, KINJO_ERROR_STATE);
  EXPECT_TRUE(stream->Close().ok());
  EXPECT_TRUE(stream->Close().ok());
}

class WriteTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::path(testing::TempDir()) /
              testing::UnitTest::GetInstance()->current_test_info()->name();
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::filesystem::path folder_;
};

TEST_F(WriteTest, PutsAWholeFileAtThePath) {
  const std::string path = folder_ / "out.parquet";
  auto join = SelfJoin();
  ASSERT_KINJO_OK(join);
  int64_t last_done = -1;
  const kinjo::ProgressFunction progress = [&](const kinjo_progress& now) {
    EXPECT_GE(now.done_rows, last_done);
    last_done = now.done_rows;
  };
  const auto rows = join->Write(path, {}, {nullptr, &progress});
  ASSERT_KINJO_OK(rows);
  EXPECT_EQ(rows.value(), kRows * 10);
  EXPECT_EQ(last_done, kRows);
  auto written = kinjo::Table::Open(path);
  ASSERT_KINJO_OK(written);
  EXPECT_EQ(*written->NumRows(), kRows * 10);
}

TEST_F(WriteTest, APlaceIsJudgedWithoutAJoin) {
  EXPECT_TRUE(kinjo::Join::CheckSinkPlace(folder_ / "out.csv", {}).ok());
  EXPECT_TRUE(std::filesystem::is_empty(folder_));
  const auto is_folder = kinjo::Join::CheckSinkPlace(folder_, {.format = "csv"});
  ASSERT_FALSE(is_folder.ok());
  EXPECT_EQ(is_folder.error().code, KINJO_ERROR_INVALID);
  const auto absent = kinjo::Join::CheckSinkPlace(folder_ / "absent" / "out.csv", {});
  ASSERT_FALSE(absent.ok());
  EXPECT_EQ(absent.error().code, KINJO_ERROR_IO);
  // The options are judged too.
  EXPECT_FALSE(kinjo::Join::CheckSinkPlace(folder_ / "out.csv", {.format = "tsv"}).ok());
}

TEST_F(WriteTest, LeavesNothingWhenCancelled) {
  const std::string path = folder_ / "out.parquet";
  auto join = SelfJoin();
  ASSERT_KINJO_OK(join);
  const auto cancel = kinjo::Cancel::Make();
  ASSERT_KINJO_OK(cancel);
  cancel.value().Raise();
  const auto rows = join->Write(path, {}, {&cancel.value(), nullptr});
  ASSERT_FALSE(rows.ok());
  EXPECT_EQ(rows.error().code, KINJO_ERROR_CANCELLED);
  EXPECT_TRUE(std::filesystem::is_empty(folder_));
}

TEST_F(WriteTest, LeavesWhatWasThereWhenItFails) {
  const std::string path = folder_ / "out.csv";
  std::ofstream(path) << "before\n";
  auto join = SelfJoin();
  ASSERT_KINJO_OK(join);
  const auto rows = join->Write(path, {"nonsense", "", std::nullopt, true});
  ASSERT_FALSE(rows.ok());
  EXPECT_EQ(rows.error().code, KINJO_ERROR_INVALID);
  std::string line;
  std::getline(std::ifstream(path), line);
  EXPECT_EQ(line, "before");
}

}  // namespace
