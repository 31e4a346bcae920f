// Indexes built, committed and kept through the C++ header: in pieces, with a given model, over
// rows that an index leaves out, and what is refused or stopped.
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <filesystem>
#include <limits>
#include <string>
#include <vector>

#include "arrow/api.h"
#include "arrow/c/bridge.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kinjo/kinjo.hpp"
#include "kinjo/writing.hpp"

namespace {

using ::testing::HasSubstr;

constexpr int64_t kDim = 8;

#define ASSERT_KINJO_OK(result) ASSERT_TRUE((result).ok()) << (result).error().message
#define EXPECT_KINJO_OK(result) EXPECT_TRUE((result).ok()) << (result).error().message

/// Row i of `count`, from row `first` of an endless sequence on.
std::vector<float> Vectors(int64_t count, int64_t first = 0) {
  std::vector<float> values;
  for (int64_t i = first * kDim; i < (first + count) * kDim; ++i) {
    const auto x = static_cast<float>(i);
    values.push_back(std::sin(x * x) + static_cast<float>(i / kDim % 7));
  }
  return values;
}

class IndexTest : public ::testing::Test {
 protected:
  void SetUp() override {
    static std::atomic<int> number{0};
    path_ = std::filesystem::temp_directory_path() /
            ("kinjo_index_test_" + std::to_string(::getpid()) + "_" + std::to_string(number++));
    uri_ = path_.string();
  }
  void TearDown() override { std::filesystem::remove_all(path_); }

  /// One more fragment.
  void Append(const std::vector<float>& values) {
    auto rows = kinjo::Table::FromVectors(values, kDim);
    ASSERT_KINJO_OK(rows);
    kinjo::WriteOptions options;
    options.mode = std::filesystem::exists(path_) ? "append" : "create";
    ASSERT_KINJO_OK(kinjo::DatasetWriter(uri_).Write(*rows, options));
  }

  /// Row ids that the index alone finds for these queries, k a query, nearest first; all partitions
  /// are visited and candidates scored on their vectors.
  std::vector<uint64_t> Find(const std::vector<float>& queries, int64_t k) {
    auto dataset = kinjo::Dataset::Open(uri_);
    EXPECT_KINJO_OK(dataset);
    return Find(*dataset, queries, k);
  }
  std::vector<uint64_t> Find(const kinjo::Dataset& dataset, const std::vector<float>& queries,
                             int64_t k) {
    auto table = kinjo::Table::FromVectors(queries, kDim);
    kinjo::JoinOptions options;
    options.k = k;
    options.index = "require";
    options.fast_search = true;
    options.nprobes = 1000;
    options.refine_factor = 50;
    options.with_row_id = true;
    auto join = kinjo::Join::Search(dataset, *table, options);
    EXPECT_KINJO_OK(join);
    if (!join.ok()) return {};
    auto stream = join->Run();
    auto exported = stream->Export();
    const auto rows =
        arrow::ImportRecordBatchReader(exported->get()).ValueOrDie()->ToTable().ValueOrDie();
    std::vector<uint64_t> ids;
    for (const auto& chunk : rows->GetColumnByName("_rowid")->chunks()) {
      const auto& values = static_cast<const arrow::UInt64Array&>(*chunk);
      for (int64_t i = 0; i < values.length(); ++i) ids.push_back(values.Value(i));
    }
    return ids;
  }

  /// Each of the rows of fragment `fragment` finds itself.
  void ExpectFound(uint64_t fragment, const std::vector<float>& values) {
    const std::vector<uint64_t> ids = Find(values, 1);
    ASSERT_EQ(ids.size(), values.size() / kDim);
    for (size_t i = 0; i < ids.size(); ++i) EXPECT_EQ(ids[i], fragment << 32 | i) << fragment;
  }

  size_t Segments() {
    size_t count = 0;
    for (const auto& entry : std::filesystem::directory_iterator(path_ / "_indices")) {
      count += entry.is_directory() ? 1 : 0;
    }
    return count;
  }

  std::filesystem::path path_;
  std::string uri_;
};

TEST_F(IndexTest, SegmentsOfSeveralProcessesBecomeOneIndex) {
  for (int64_t part = 0; part < 3; ++part) Append(Vectors(300, part * 300));
  // The model of all: centroids and codebook as whoever shares the work out would give them.
  const std::vector<float> centroids = Vectors(4, 5);
  kinjo::IndexOptions options;
  options.type = "IVF_FLAT";
  options.num_partitions = 4;
  options.centroids = centroids.data();
  options.num_centroids = 4;
  auto first = kinjo::Index::BuildSegment(uri_, options, {0, 2});
  ASSERT_KINJO_OK(first);
  auto second = kinjo::Index::BuildSegment(uri_, options, {1});
  ASSERT_KINJO_OK(second);
  EXPECT_EQ(Segments(), 2u);
  auto dataset = kinjo::Dataset::Open(uri_);
  EXPECT_THAT(*dataset->Describe(), Not(HasSubstr("together")));  // nothing is committed yet
  auto version = kinjo::Index::CommitSegments(uri_, {*first, *second}, "together");
  ASSERT_KINJO_OK(version);
  EXPECT_EQ(*version, 4u);
  for (uint64_t part = 0; part < 3; ++part) {
    ExpectFound(part, Vectors(300, static_cast<int64_t>(part) * 300));
  }
  auto again = kinjo::Index::CommitSegments(uri_, {*first}, "together");
  ASSERT_FALSE(again.ok());
  EXPECT_EQ(again.error().code, KINJO_ERROR_INVALID);
  EXPECT_THAT(again.error().message, HasSubstr("has an index 'together' already"));
}

TEST_F(IndexTest, SegmentsShareAModelThatWasTrainedOnce) {
  for (int64_t part = 0; part < 3; ++part) Append(Vectors(300, part * 300));
  for (const char* type : {"IVF_PQ", "IVF_FLAT", "IVF_SQ", "IVF_RQ"}) {
    kinjo::IndexOptions options;
    options.type = type;
    options.num_partitions = 4;
    auto model = kinjo::Index::Train(uri_, options);
    ASSERT_KINJO_OK(model);
    EXPECT_EQ(*kinjo::Index::Train(uri_, options), *model);
    options.model = *model;
    auto first = kinjo::Index::BuildSegment(uri_, options, {0, 2});
    ASSERT_KINJO_OK(first);
    auto second = kinjo::Index::BuildSegment(uri_, options, {1});
    ASSERT_KINJO_OK(second);
    ASSERT_KINJO_OK(kinjo::Index::CommitSegments(uri_, {*first, *second}, "shared", true));
    for (uint64_t part = 0; part < 3; ++part) {
      ExpectFound(part, Vectors(300, static_cast<int64_t>(part) * 300));
    }
  }
}

TEST_F(IndexTest, AModelOfOtherVectorsIsRefused) {
  Append(Vectors(300));
  kinjo::IndexOptions options;
  options.num_partitions = 2;
  const std::string model = *kinjo::Index::Train(uri_, options);
  for (const std::string& text :
       {std::string("{}"), std::string("no JSON"), model.substr(0, model.size() / 2)}) {
    options.model = text;
    auto refused = kinjo::Index::BuildSegment(uri_, options, {0});
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().code, KINJO_ERROR_INVALID);
    EXPECT_THAT(refused.error().message, HasSubstr("model"));
  }
  options.model = model;
  options.num_partitions = 3;
  EXPECT_FALSE(kinjo::Index::BuildSegment(uri_, options, {0}).ok());
  const float centroids[2 * kDim] = {};
  options.num_partitions = {};
  options.centroids = centroids;
  options.num_centroids = 2;
  EXPECT_FALSE(kinjo::Index::BuildSegment(uri_, options, {0}).ok());
}

TEST_F(IndexTest, ASnapshotOfSomeFragmentsSearchesTheirSegments) {
  for (int64_t part = 0; part < 3; ++part) Append(Vectors(300, part * 300));
  kinjo::IndexOptions options;
  options.type = "IVF_FLAT";
  options.num_partitions = 4;
  auto first = kinjo::Index::BuildSegment(uri_, options, {0, 2});
  auto second = kinjo::Index::BuildSegment(uri_, options, {1});
  ASSERT_KINJO_OK(first);
  ASSERT_KINJO_OK(second);
  ASSERT_KINJO_OK(kinjo::Index::CommitSegments(uri_, {*first, *second}, "parts"));
  const std::vector<float> queries = Vectors(50, 450);
  for (const std::vector<uint64_t>& ids : {std::vector<uint64_t>{1}, {0, 2}, {2}}) {
    auto some = kinjo::Dataset::Open(uri_, {}, "", ids);
    ASSERT_KINJO_OK(some);
    EXPECT_EQ(some->Info()->num_rows, 300 * ids.size());
    for (const uint64_t row : Find(*some, queries, 3)) {
      EXPECT_NE(std::find(ids.begin(), ids.end(), row >> 32), ids.end());
    }
  }
  // Query i is row 150 + i of fragment 1.
  auto middle = kinjo::Dataset::Open(uri_, {}, "", std::vector<uint64_t>{1});
  const std::vector<uint64_t> found = Find(*middle, queries, 1);
  for (size_t i = 0; i < found.size(); ++i) EXPECT_EQ(found[i], (uint64_t{1} << 32) + 150 + i);
  auto missing = kinjo::Dataset::Open(uri_, {}, "", std::vector<uint64_t>{0, 7});
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.error().code, KINJO_ERROR_NOT_FOUND);
  auto none = kinjo::Dataset::Open(uri_, {}, "", std::vector<uint64_t>{});
  ASSERT_KINJO_OK(none);
  EXPECT_EQ(none->Info()->num_rows, 0u);
}

TEST_F(IndexTest, WhatDoesNotGoTogetherIsRefused) {
  Append(Vectors(300));
  Append(Vectors(300, 300));
  kinjo::IndexOptions options;
  options.type = "IVF_FLAT";
  options.num_partitions = 2;
  auto flat = kinjo::Index::BuildSegment(uri_, options, {0});
  ASSERT_KINJO_OK(flat);
  options.type = "IVF_SQ";
  auto coded = kinjo::Index::BuildSegment(uri_, options, {1});
  auto twice = kinjo::Index::BuildSegment(uri_, options, {0});
  ASSERT_KINJO_OK(coded);
  ASSERT_KINJO_OK(twice);
  EXPECT_FALSE(kinjo::Index::CommitSegments(uri_, {*flat, *coded}).ok());
  EXPECT_FALSE(kinjo::Index::CommitSegments(uri_, {*coded, *twice, *twice}).ok());
  EXPECT_FALSE(kinjo::Index::CommitSegments(uri_, {}).ok());
  for (const std::string text : {"", "{}", "[]", "{\"uuid\":1}", "no JSON"}) {
    auto refused = kinjo::Index::CommitSegments(uri_, {text});
    ASSERT_FALSE(refused.ok()) << text;
    EXPECT_EQ(refused.error().code, KINJO_ERROR_INVALID) << text;
  }
  auto missing = kinjo::Index::BuildSegment(uri_, options, {7});
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.error().code, KINJO_ERROR_NOT_FOUND);
  EXPECT_KINJO_OK(kinjo::Index::CommitSegments(uri_, {*coded, *twice}));
}

TEST_F(IndexTest, SegmentsOfRowsThatWentAreAConflict) {
  Append(Vectors(300));
  Append(Vectors(300, 300));
  kinjo::IndexOptions options;
  options.type = "IVF_FLAT";
  options.num_partitions = 2;
  auto segment = kinjo::Index::BuildSegment(uri_, options, {0, 1});
  ASSERT_KINJO_OK(segment);
  ASSERT_KINJO_OK(kinjo::DatasetWriter(uri_).Compact());
  auto refused = kinjo::Index::CommitSegments(uri_, {*segment});
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, KINJO_ERROR_CONFLICT);
}

TEST_F(IndexTest, AGivenCodebookIsUsed) {
  Append(Vectors(600));
  const std::vector<float> centroids(kDim, 0.0f);
  const std::vector<float> codebook = Vectors(2 * 256 / 2, 0);  // 2 x 256 entries of 4 elements
  kinjo::IndexOptions options;
  options.type = "IVF_PQ";
  options.num_partitions = 1;
  options.num_sub_vectors = 2;
  options.centroids = centroids.data();
  options.num_centroids = 1;
  options.codebook = codebook.data();
  auto created = kinjo::Index::Create(uri_, options);
  ASSERT_KINJO_OK(created);
  EXPECT_THAT(*created, HasSubstr("\"trained_rows\":0"));
  ExpectFound(0, Vectors(600));
  options.type = "IVF_SQ";
  options.replace = true;
  auto refused = kinjo::Index::Create(uri_, options);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, KINJO_ERROR_INVALID);
}

TEST_F(IndexTest, EveryTypeTakesRowsThatAreOdd) {
  std::vector<float> values = Vectors(400);
  const auto nan = std::numeric_limits<float>::quiet_NaN();
  values[3 * kDim] = nan;
  values[4 * kDim + 7] = std::numeric_limits<float>::infinity();
  for (int64_t j = 0; j < kDim; ++j) values[5 * kDim + j] = 0;
  for (int64_t i = 100; i < 250; ++i) {  // copies of one row
    std::copy_n(values.begin() + 99 * kDim, kDim, values.begin() + i * kDim);
  }
  Append(values);
  for (const std::string type :
       {"IVF_FLAT", "IVF_PQ", "IVF_SQ", "IVF_RQ", "IVF_HNSW_FLAT", "IVF_HNSW_PQ", "IVF_HNSW_SQ"}) {
    for (const std::string metric : {"l2", "cosine", "dot"}) {
      kinjo::IndexOptions options;
      options.type = type;
      options.metric = metric;
      options.num_partitions = 16;
      options.replace = true;
      auto created = kinjo::Index::Create(uri_, options);
      ASSERT_TRUE(created.ok()) << type << " " << metric << ": " << created.error().message;
      EXPECT_THAT(*created, HasSubstr("\"non_finite_rows\":2")) << type;
      const std::string zero = metric == "cosine" ? "1" : "0";
      EXPECT_THAT(*created, HasSubstr("\"zero_rows\":" + zero)) << type;
      const std::string rows = metric == "cosine" ? "397" : "398";
      EXPECT_THAT(*created, HasSubstr("\"num_rows\":" + rows)) << type;
    }
  }
}

TEST_F(IndexTest, OptimizeBringsNewRowsInAndThenHasNothingToDo) {
  Append(Vectors(600));
  kinjo::IndexOptions options;
  options.type = "IVF_SQ";
  options.num_partitions = 4;
  ASSERT_KINJO_OK(kinjo::Index::Create(uri_, options));
  auto idle = kinjo::Index::Optimize(uri_, "vector_idx");
  ASSERT_KINJO_OK(idle);
  EXPECT_THAT(*idle, HasSubstr("\"version\":2"));
  EXPECT_THAT(*idle, HasSubstr("\"changed\":false"));

  std::vector<float> far = Vectors(100, 600);
  for (float& value : far) value *= 30;  // beyond the bounds of the first segment
  Append(far);
  EXPECT_TRUE(Find({far.begin(), far.begin() + kDim}, 1)[0] >> 32 == 0);
  kinjo::IndexOptimizeOptions apart;
  apart.num_indices_to_merge = 0;
  auto changed = kinjo::Index::Optimize(uri_, "vector_idx", apart);
  ASSERT_KINJO_OK(changed);
  EXPECT_THAT(*changed, HasSubstr("\"changed\":true"));
  EXPECT_THAT(*changed, HasSubstr("\"replaced\":[]"));
  EXPECT_THAT(*changed, HasSubstr("\"fragment_ids\":[1]"));
  ExpectFound(0, Vectors(600));
  ExpectFound(1, far);

  kinjo::IndexOptimizeOptions anew;
  anew.retrain = true;
  auto retrained = kinjo::Index::Optimize(uri_, "vector_idx", anew);
  ASSERT_KINJO_OK(retrained);
  EXPECT_THAT(*retrained, HasSubstr("\"fragment_ids\":[0,1]"));
  ExpectFound(0, Vectors(600));
  ExpectFound(1, far);
  anew.num_indices_to_merge = 1;
  auto both = kinjo::Index::Optimize(uri_, "vector_idx", anew);
  ASSERT_FALSE(both.ok());
  EXPECT_EQ(both.error().code, KINJO_ERROR_INVALID);
  EXPECT_EQ(kinjo::Index::Optimize(uri_, "other").error().code, KINJO_ERROR_NOT_FOUND);
}

TEST_F(IndexTest, StaleSegmentsAreBuiltAnew) {
  Append(Vectors(400));
  Append(Vectors(400, 400));
  kinjo::IndexOptions options;
  options.type = "IVF_FLAT";
  options.num_partitions = 2;
  ASSERT_KINJO_OK(kinjo::Index::Create(uri_, options));
  kinjo::DatasetWriter writer(uri_);
  ASSERT_KINJO_OK(writer.Delete("vector is null"));
  EXPECT_THAT(kinjo::Index::Optimize(uri_, "vector_idx").value(), HasSubstr("\"changed\":false"));
  kinjo::WriteOptions overwrite;
  overwrite.mode = "append";
  auto rows = kinjo::Table::FromVectors(Vectors(50, 900), kDim);
  ASSERT_KINJO_OK(writer.Write(*rows, overwrite));
  // 50 new rows don't touch a segment of 800; two such segments would be merged.
  EXPECT_THAT(kinjo::Index::Optimize(uri_, "vector_idx").value(),
              HasSubstr("\"fragment_ids\":[2]"));
  ASSERT_KINJO_OK(writer.Write(*rows, overwrite));
  EXPECT_THAT(kinjo::Index::Optimize(uri_, "vector_idx").value(),
              HasSubstr("\"fragment_ids\":[2,3]"));
}

TEST_F(IndexTest, ABuildThatIsStoppedOrRefusedLeavesNothing) {
  Append(Vectors(3000));
  kinjo::IndexOptions options;
  options.type = "IVF_HNSW_FLAT";
  options.num_partitions = 1;
  auto cancel = kinjo::Cancel::Make();
  ASSERT_KINJO_OK(cancel);
  const kinjo::ProgressFunction stop = [&](const kinjo_progress& progress) {
    if (progress.done_rows > 0) cancel.value().Raise();
  };
  kinjo::RunOptions run;
  run.cancel = &cancel.value();
  run.progress = &stop;
  auto stopped = kinjo::Index::Create(uri_, options, run);
  ASSERT_FALSE(stopped.ok());
  EXPECT_EQ(stopped.error().code, KINJO_ERROR_CANCELLED);
  EXPECT_EQ(Segments(), 0u);
  options.memory_limit_bytes = 1 << 20;
  auto refused = kinjo::Index::Create(uri_, options);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, KINJO_ERROR_CAPACITY);
  EXPECT_EQ(Segments(), 0u);
  EXPECT_EQ(kinjo::Index::Drop(uri_, "vector_idx").error().code, KINJO_ERROR_NOT_FOUND);
}

TEST_F(IndexTest, RenameAndDrop) {
  Append(Vectors(300));
  kinjo::IndexOptions options;
  options.type = "IVF_FLAT";
  options.name = "a";
  ASSERT_KINJO_OK(kinjo::Index::Create(uri_, options));
  options.name = "b";
  ASSERT_KINJO_OK(kinjo::Index::Create(uri_, options));
  EXPECT_EQ(kinjo::Index::Rename(uri_, "a", "b").error().code, KINJO_ERROR_INVALID);
  EXPECT_EQ(*kinjo::Index::Rename(uri_, "a", "c"), 4u);
  EXPECT_EQ(*kinjo::Index::Drop(uri_, "b"), 5u);
  EXPECT_THAT(*kinjo::Dataset::Open(uri_)->Describe(), HasSubstr("\"c\""));
  ExpectFound(0, Vectors(300));
}

}  // namespace
