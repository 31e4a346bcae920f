#include "dataset/index_build.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "arrow/api.h"
#include "base/assert_result.h"
#include "dataset/index_optimize.h"
#include "dataset/write_dataset.h"
#include "format/index_file/index_files.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "io/random_reader.h"

namespace kinjo::dataset {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr int64_t kDim = 8;
constexpr int64_t kRows = 900;
constexpr int64_t kRowsAFragment = 300;
// Every so many rows one has no vector, or an infinite one.
constexpr int64_t kNullEvery = 100;
constexpr int64_t kOddEvery = 90;

bool IsNull(int64_t row) { return row % kNullEvery == 7; }
bool IsOdd(int64_t row) { return row % kOddEvery == 11; }
bool IsLeftOut(int64_t row) { return IsNull(row) || IsOdd(row); }

float Element(int64_t row, int64_t i) {
  const auto x = static_cast<float>(row * kDim + i);
  return std::sin(x * 0.37F) + static_cast<float>(row % 5) * 3;
}

std::shared_ptr<arrow::Array> Vectors() {
  auto values = std::make_shared<arrow::FloatBuilder>();
  arrow::FixedSizeListBuilder lists(arrow::default_memory_pool(), values, kDim);
  for (int64_t row = 0; row < kRows; ++row) {
    EXPECT_TRUE((IsNull(row) ? lists.AppendNull() : lists.Append()).ok());
    for (int64_t i = 0; i < kDim && !IsNull(row); ++i) {
      EXPECT_TRUE(values->Append(IsOdd(row) && i == 3 ? INFINITY : Element(row, i)).ok());
    }
  }
  return lists.Finish().ValueOrDie();
}

std::string Bytes(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

class IndexBuildTest : public testing::Test {
 protected:
  void SetUp() override {
    static std::atomic<int> number{0};
    path_ = std::filesystem::temp_directory_path() /
            base::Concat("kinjo_index_build_test_", ::getpid(), "_", number++);
    const auto vectors = Vectors();
    const auto inside = arrow::StructArray::Make({vectors}, std::vector<std::string>{"vec"});
    const auto schema = arrow::schema(
        {arrow::field("vec", vectors->type()), arrow::field("item", (*inside)->type())});
    const auto batch = arrow::RecordBatch::Make(schema, kRows, {vectors, *inside});
    const auto rows = arrow::RecordBatchReader::Make({batch}, schema).ValueOrDie();
    WriteOptions options;
    options.limits.max_rows = kRowsAFragment;
    ASSERT_TRUE(WriteDataset(path_.string(), rows.get(), options).ok());
    dataset_ = Dataset::Open(path_.string()).ValueOrDie();
  }
  void TearDown() override { std::filesystem::remove_all(path_); }

  static IndexParams Params(const std::string& type) {
    IndexParams params;
    params.type = type;
    params.num_partitions = 5;
    params.num_sub_vectors = type.ends_with("PQ") ? 4 : 0;
    params.sample_rate = 40;
    return params;
  }
  std::filesystem::path Folder(const IndexSegment& segment) const {
    return path_ / "_indices" / segment.uuid;
  }
  size_t Folders() const {
    if (!std::filesystem::exists(path_ / "_indices")) return 0;
    return static_cast<size_t>(
        std::distance(std::filesystem::directory_iterator(path_ / "_indices"), {}));
  }
  /// Row ids of a segment, partition after partition.
  std::vector<std::vector<uint64_t>> RowIds(const IndexSegment& segment) const {
    const auto folder = io::ResolveUri(Folder(segment).string()).ValueOrDie();
    const auto files = format::IndexFiles::Open(folder, nullptr).ValueOrDie();
    std::vector<std::vector<uint64_t>> ids;
    for (uint64_t i = 0; i < files->ivf().num_partitions(); ++i) {
      const auto rows = files->ReadRowIds(i).ValueOrDie();
      const auto* first = reinterpret_cast<const uint64_t*>(rows.row_ids->data());
      ids.emplace_back(first, first + rows.num_rows);
    }
    return ids;
  }

  std::filesystem::path path_;
  std::shared_ptr<Dataset> dataset_;
};

TEST_F(IndexBuildTest, EachVectorOnceInThePartitionNearest) {
  KINJO_ASSERT_RESULT(built, BuildSegment(dataset_, "vec", std::nullopt, Params("IVF_FLAT"), {}));
  const IndexSegment& segment = built.segment;
  EXPECT_THAT(segment.fragment_ids, ElementsAre(0, 1, 2));
  EXPECT_EQ(segment.dataset_version, 1u);
  EXPECT_EQ(segment.type, "IVF_FLAT");
  EXPECT_EQ(segment.metric, "l2");
  EXPECT_EQ(segment.index_bytes, std::filesystem::file_size(Folder(segment) / "index.idx"));
  EXPECT_EQ(segment.auxiliary_bytes, std::filesystem::file_size(Folder(segment) / "auxiliary.idx"));
  EXPECT_EQ(built.report.left_out.null_rows, kRows / kNullEvery);
  EXPECT_EQ(built.report.left_out.odd_rows, kRows / kOddEvery);

  const auto folder = io::ResolveUri(Folder(segment).string()).ValueOrDie();
  const auto files = format::IndexFiles::Open(folder, nullptr).ValueOrDie();
  const auto* centroids = reinterpret_cast<const float*>(files->ivf().centroids.data->data());
  const auto distance = [&](int64_t row, size_t partition) {
    double sum = 0;
    for (int64_t i = 0; i < kDim; ++i) {
      const double difference =
          double{Element(row, i)} - double{centroids[static_cast<int64_t>(partition) * kDim + i]};
      sum += difference * difference;
    }
    return sum;
  };
  std::vector<int64_t> seen;
  const auto ids = RowIds(segment);
  for (size_t partition = 0; partition < ids.size(); ++partition) {
    for (const uint64_t id : ids[partition]) {
      const auto row = static_cast<int64_t>((id >> 32) * kRowsAFragment + (id & 0xffffffff));
      seen.push_back(row);
      for (size_t other = 0; other < ids.size(); ++other) {
        EXPECT_LE(distance(row, partition), distance(row, other) * (1 + 1e-6)) << row;
      }
    }
  }
  std::sort(seen.begin(), seen.end());
  std::vector<int64_t> expected;
  for (int64_t row = 0; row < kRows; ++row) {
    if (!IsLeftOut(row)) expected.push_back(row);
  }
  EXPECT_EQ(seen, expected);
  EXPECT_EQ(segment.num_rows, expected.size());
}

TEST_F(IndexBuildTest, TheSameBytesOnAnyThreads) {
  for (const char* type :
       {"IVF_FLAT", "IVF_PQ", "IVF_SQ", "IVF_RQ", "IVF_HNSW_FLAT", "IVF_HNSW_PQ", "IVF_HNSW_SQ"}) {
    std::vector<std::pair<std::string, std::string>> files;
    for (const int64_t threads : {1, 2, 5}) {
      IndexBuildOptions options;
      options.threads = threads;
      KINJO_ASSERT_RESULT(built,
                          BuildSegment(dataset_, "vec", std::nullopt, Params(type), options));
      const auto folder = Folder(built.segment);
      files.emplace_back(Bytes(folder / "index.idx"), Bytes(folder / "auxiliary.idx"));
      EXPECT_TRUE(files.back() == files.front()) << type << ", " << threads << " threads";
    }
  }
}

TEST_F(IndexBuildTest, SegmentsOfSomeFragmentsWithOneModel) {
  KINJO_ASSERT_RESULT(model, TrainIndexModel(dataset_, "vec", Params("IVF_PQ"), {}));
  EXPECT_EQ(Folders(), 0u);
  ASSERT_TRUE(model.codebook.has_value());
  IndexParams given = Params("IVF_PQ");
  given.centroids = model.centroids;
  given.codebook = model.codebook;
  KINJO_ASSERT_RESULT(whole, BuildSegment(dataset_, "vec", std::nullopt, Params("IVF_PQ"), {}));
  KINJO_ASSERT_RESULT(first, BuildSegment(dataset_, "vec", std::vector<uint64_t>{1}, given, {}));
  KINJO_ASSERT_RESULT(rest, BuildSegment(dataset_, "vec", std::vector<uint64_t>{2, 0}, given, {}));
  EXPECT_EQ(first.report.trained_rows, 0);
  EXPECT_THAT(rest.segment.fragment_ids, ElementsAre(0, 2));
  // The pieces have the rows of the whole, partition by partition.
  const auto all = RowIds(whole.segment);
  const auto one = RowIds(first.segment);
  const auto two = RowIds(rest.segment);
  for (size_t i = 0; i < all.size(); ++i) {
    std::vector<uint64_t> together = one[i];
    together.insert(together.end(), two[i].begin(), two[i].end());
    EXPECT_THAT(together, testing::UnorderedElementsAreArray(all[i]));
  }
  const auto missing = BuildSegment(dataset_, "vec", std::vector<uint64_t>{1, 9}, given, {});
  EXPECT_EQ(base::CodeOf(missing.status()), base::ErrorCode::kNotFound);
}

TEST_F(IndexBuildTest, VectorsInsideAStruct) {
  KINJO_ASSERT_RESULT(top, BuildSegment(dataset_, "vec", std::nullopt, Params("IVF_SQ"), {}));
  KINJO_ASSERT_RESULT(inside,
                      BuildSegment(dataset_, "item.vec", std::nullopt, Params("IVF_SQ"), {}));
  EXPECT_NE(inside.segment.field_id, top.segment.field_id);
  EXPECT_EQ(inside.segment.field_id, dataset_->schema().FindPath("item.vec")->id);
  EXPECT_TRUE(Bytes(Folder(top.segment) / "auxiliary.idx") ==
              Bytes(Folder(inside.segment) / "auxiliary.idx"));
  for (const char* wrong : {"item", "item.x", "item.vec.y", "none", ""}) {
    EXPECT_FALSE(BuildSegment(dataset_, wrong, std::nullopt, Params("IVF_SQ"), {}).ok()) << wrong;
  }
}

TEST_F(IndexBuildTest, WhatFailsOrIsStoppedLeavesNoFiles) {
  IndexBuildOptions small;
  small.memory_limit_bytes = 1 << 10;
  const auto refused = BuildSegment(dataset_, "vec", std::nullopt, Params("IVF_PQ"), small);
  EXPECT_EQ(base::CodeOf(refused.status()), base::ErrorCode::kCapacity);
  // Stopped wherever progress is told.
  for (int calls = 0; calls < 3; ++calls) {
    int told = 0;
    IndexBuildOptions options;
    options.progress = [&, cancel = options.cancel](const base::Progress&) {
      if (told++ == calls) cancel.Cancel();
    };
    const auto stopped =
        BuildSegment(dataset_, "vec", std::nullopt, Params("IVF_HNSW_SQ"), options);
    EXPECT_EQ(base::CodeOf(stopped.status()), base::ErrorCode::kCancelled) << calls;
  }
  EXPECT_EQ(Folders(), 0u);
}

TEST_F(IndexBuildTest, ProgressRisesToTheWhole) {
  std::vector<int64_t> done;
  IndexBuildOptions options;
  options.progress = [&](const base::Progress& progress) {
    EXPECT_EQ(progress.total_rows, kRows);
    done.push_back(progress.done_rows);
  };
  ASSERT_TRUE(BuildSegment(dataset_, "vec", std::nullopt, Params("IVF_PQ"), options).ok());
  ASSERT_GE(done.size(), 4u);
  EXPECT_TRUE(std::is_sorted(done.begin(), done.end()));
  EXPECT_EQ(done.front(), 0);
  EXPECT_EQ(done.back(), kRows);
}

TEST_F(IndexBuildTest, NamesAreTakenOnce) {
  KINJO_ASSERT_RESULT(first, CreateIndex(dataset_, "vec", "", false, Params("IVF_FLAT"), {}));
  EXPECT_EQ(first.name, "vec_idx");
  EXPECT_EQ(first.version, 2u);
  const auto taken = CreateIndex(dataset_, "vec", "vec_idx", false, Params("IVF_FLAT"), {});
  EXPECT_EQ(base::CodeOf(taken.status()), base::ErrorCode::kInvalid);
  EXPECT_THAT(taken.status().message(), HasSubstr("has an index 'vec_idx' already"));
  EXPECT_EQ(Folders(), 1u);
  dataset_ = Dataset::Open(path_.string()).ValueOrDie();
  KINJO_ASSERT_RESULT(second, CreateIndex(dataset_, "vec", "vec_idx", true, Params("IVF_SQ"), {}));
  const auto newest = Dataset::Open(path_.string()).ValueOrDie();
  ASSERT_EQ(newest->vector_indexes().size(), 1u);
  EXPECT_EQ(newest->vector_indexes()[0].type, "IVF_SQ");
  EXPECT_EQ(newest->vector_indexes()[0].segments.at(0).uuid, second.built.segment.uuid);
  KINJO_ASSERT_RESULT(optimized, OptimizeIndex(path_.string(), "vec_idx", {}));
  EXPECT_FALSE(optimized.changed);
}

TEST_F(IndexBuildTest, FilesOfASegmentThatCannotBeCommittedGo) {
  KINJO_ASSERT_RESULT(built, BuildSegment(dataset_, "vec", std::nullopt, Params("IVF_FLAT"), {}));
  EXPECT_EQ(Folders(), 1u);
  const auto version = CommitBuilt(path_.string(), "x", built.segment, Existing::kKeep,
                                   {"01020304-0506-0708-090a-0b0c0d0e0f10"}, {});
  EXPECT_EQ(base::CodeOf(version.status()), base::ErrorCode::kConflict);
  EXPECT_EQ(Folders(), 0u);
}

}  // namespace
}  // namespace kinjo::dataset
