#include "join/validate.h"

#include <gtest/gtest.h>

#include <functional>

namespace kinjo::join {
namespace {

struct Refusal {
  std::function<void(JoinOptions*)> set;
  std::string message;
};

void ExpectRefused(const std::vector<Refusal>& refusals) {
  for (const Refusal& refusal : refusals) {
    JoinOptions options;
    refusal.set(&options);
    const arrow::Status status = ValidateOptions(options);
    EXPECT_EQ(base::CodeOf(status), base::ErrorCode::kInvalid);
    EXPECT_EQ(base::MessageOf(status), refusal.message);
  }
}

TEST(Validate, NamesTheOptionItsValueAndTheBound) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<Refusal> refusals = {
      {[](JoinOptions* o) { o->k = 0; }, "k must be at least 1, but is 0"},
      {[](JoinOptions* o) { o->k = -4; }, "k must be at least 1, but is -4"},
      {[](JoinOptions* o) { o->k = kCandidatesMax + 1; },
       "k must be at most 16777216, but is 16777217"},
      {[](JoinOptions* o) { o->nprobes = 0; }, "nprobes must be at least 1, but is 0"},
      {[](JoinOptions* o) { o->minimum_nprobes = 0; },
       "minimum_nprobes must be at least 1, but is 0"},
      {[](JoinOptions* o) { o->maximum_nprobes = -1; },
       "maximum_nprobes must be at least 1, but is -1"},
      {[](JoinOptions* o) { o->refine_factor = 0; }, "refine_factor must be at least 1, but is 0"},
      {[](JoinOptions* o) {
         o->k = 1 << 14;
         o->refine_factor = 1 << 14;
       },
       "k * refine_factor must be at most 16777216, but k = 16384 and refine_factor = 16384"},
      {[](JoinOptions* o) {
         o->minimum_nprobes = 9;
         o->maximum_nprobes = 3;
       },
       "minimum_nprobes = 9 is above maximum_nprobes = 3"},
      {[](JoinOptions* o) {
         o->nprobes = 5;
         o->minimum_nprobes = 3;
       },
       "nprobes = 5 and minimum_nprobes = 3 can't be given together: nprobes fixes both ends"},
      {[](JoinOptions* o) {
         o->nprobes = 5;
         o->maximum_nprobes = 7;
       },
       "nprobes = 5 and maximum_nprobes = 7 can't be given together: nprobes fixes both ends"},
      {[](JoinOptions* o) { o->threads = 0; }, "threads must be at least 1, but is 0"},
      {[](JoinOptions* o) { o->threads = 5000; }, "threads must be at most 1024, but is 5000"},
      {[](JoinOptions* o) { o->memory_limit_bytes = 0; },
       "memory_limit must be at least 1, but is 0"},
      {[](JoinOptions* o) { o->distance_range = {2.0f, 2.0f}; },
       "distance_range must have its lower end below its upper end, but is [2, 2)"},
      {[&](JoinOptions* o) { o->distance_range = {nan, 2.0f}; },
       "distance_range must not hold NaN, but is [nan, 2)"},
      {[](JoinOptions* o) { o->index = IndexUse::kNamed; },
       "index asks for an index by name, but the name is empty"},
      {[](JoinOptions* o) {
         o->fast_search = true;
         o->index = IndexUse::kNever;
       },
       "fast_search = true and index = never can't be given together: fast_search skips the rows "
       "that no index covers"},
  };
  ExpectRefused(refusals);
}

TEST(Validate, EffortAndBreadthHaveBounds) {
  ExpectRefused({
      {[](JoinOptions* o) { o->ef = 0; }, "ef must be at least 1, but is 0"},
      {[](JoinOptions* o) {
         o->ef = 19;
         o->refine_factor = 2;
       },
       "ef must be at least 20 (k * refine_factor), but ef = 19, k = 10 and refine_factor = 2"},
      {[](JoinOptions* o) { o->recall = 0; }, "recall must be above 0 and at most 1, but is 0"},
      {[](JoinOptions* o) { o->recall = 1.5; }, "recall must be above 0 and at most 1, but is 1.5"},
      {[](JoinOptions* o) { o->recall = std::numeric_limits<double>::quiet_NaN(); },
       "recall must be above 0 and at most 1, but is nan"},
      {[](JoinOptions* o) {
         o->recall = 0.9;
         o->ef = 300;
       },
       "recall = 0.9 and ef = 300 can't be given together: recall chooses it"},
      {[](JoinOptions* o) {
         o->recall = 0.9;
         o->maximum_nprobes = 3;
       },
       "recall = 0.9 and maximum_nprobes = 3 can't be given together: recall chooses it"},
      {[](JoinOptions* o) {
         o->recall = 0.9;
         o->unordered_pairs = true;
       },
       "recall = 0.9 and unordered_pairs can't be given together: recall is measured on the k "
       "nearest, before pairs are chosen among them"},
      {[](JoinOptions* o) { o->search_effort = 1.5; },
       "search_effort must be from 0 to 1, but is 1.5"},
      {[](JoinOptions* o) { o->search_effort = -0.25; },
       "search_effort must be from 0 to 1, but is -0.25"},
      {[](JoinOptions* o) { o->search_effort = std::numeric_limits<double>::infinity(); },
       "search_effort must be from 0 to 1, but is inf"},
      {[](JoinOptions* o) { o->search_effort = std::numeric_limits<double>::quiet_NaN(); },
       "search_effort must be from 0 to 1, but is nan"},
      {[](JoinOptions* o) {
         o->search_effort = 0.5;
         o->nprobes = 4;
       },
       "search_effort = 0.5 and nprobes = 4 can't be given together: both say how many partitions "
       "are visited"},
  });
}

TEST(Validate, WhatGivesPairsGoesTogetherOrDoesnt) {
  const std::pair<float, float> range = {0, 1};
  ExpectRefused({
      {[&](JoinOptions* o) {
         o->unordered_pairs = o->clusters = true;
         o->distance_range = range;
       },
       "unordered_pairs = true and clusters = true can't be given together: clusters gives left "
       "rows, not pairs"},
      {[](JoinOptions* o) {
         o->unordered_pairs = true;
         o->how = How::kLeft;
       },
       "unordered_pairs = true and how = left can't be given together: a row whose pairs came out "
       "at other rows is not one without match"},
      {[](JoinOptions* o) {
         o->unordered_pairs = true;
         o->exclude_self = "id";
       },
       "unordered_pairs = true and exclude_self = id can't be given together: a row is told by its "
       "place in the table there"},
      {[](JoinOptions* o) { o->clusters = true; },
       "clusters = true needs a distance_range with an upper end: rows within it are one cluster"},
      {[](JoinOptions* o) {
         o->clusters = true;
         o->distance_range = {0, std::numeric_limits<float>::infinity()};
       },
       "clusters = true needs a distance_range with an upper end: rows within it are one cluster"},
      {[&](JoinOptions* o) {
         o->clusters = true;
         o->distance_range = range;
         o->how = How::kLeft;
       },
       "clusters = true and how = left can't be given together: clusters gives every left row "
       "once"},
      {[&](JoinOptions* o) {
         o->clusters = true;
         o->distance_range = range;
         o->right_select = {"id"};
       },
       "clusters = true and right_select can't be given together: clusters gives left rows only"},
      {[&](JoinOptions* o) {
         o->clusters = true;
         o->distance_range = range;
         o->with_row_id = true;
       },
       "clusters = true and with_row_id = true can't be given together: clusters gives left rows "
       "only"},
  });
  JoinOptions options;
  options.mutual = options.unordered_pairs = true;
  options.exclude_self = "";
  EXPECT_TRUE(ValidateOptions(options).ok());
  options.unordered_pairs = false;
  options.how = How::kLeft;
  EXPECT_TRUE(ValidateOptions(options).ok());
  options.how = How::kInner;
  options.clusters = true;
  options.distance_range = range;
  EXPECT_TRUE(ValidateOptions(options).ok());
  EXPECT_TRUE(ValidatePairs(options, "").ok());
  EXPECT_EQ(base::MessageOf(ValidatePairs(options, "they are two tables")),
            "clusters = true needs a self-join, of one table with itself by one vector column, but "
            "they are two tables");
  options.clusters = false;
  EXPECT_TRUE(ValidatePairs(options, "they are two tables").ok());
}

TEST(Validate, LetsGoodOptionsThrough) {
  EXPECT_TRUE(ValidateOptions({}).ok());
  JoinOptions options;
  options.k = kCandidatesMax;
  options.minimum_nprobes = 3;
  options.maximum_nprobes = 3;
  options.refine_factor = 1;
  options.threads = kThreadsMax;
  options.distance_range = {-std::numeric_limits<float>::infinity(),
                            std::numeric_limits<float>::infinity()};
  EXPECT_TRUE(ValidateOptions(options).ok());
  options.search_effort = 1;
  options.ef = kCandidatesMax;
  EXPECT_TRUE(ValidateOptions(options).ok());
  options.search_effort = 0;
  options.k = 10;
  options.refine_factor = 3;
  options.ef = 30;
  EXPECT_TRUE(ValidateOptions(options).ok());
}

TEST(Validate, AVersionHasANumberOrATag) {
  JoinOptions options;
  options.right_tag = "stable";
  EXPECT_TRUE(ValidateOptions(options).ok());
  options.right_version = 3;
  const std::string message = base::MessageOf(ValidateOptions(options));
  EXPECT_NE(message.find("right_version = 3"), std::string::npos) << message;
  EXPECT_NE(message.find("right_tag = stable"), std::string::npos) << message;
}

TEST(Validate, FastSearchNeedsAnIndex) {
  JoinOptions options;
  options.fast_search = true;
  EXPECT_TRUE(ValidatePath(options, true, "").ok());
  const arrow::Status status = ValidatePath(options, false, "there is none");
  EXPECT_EQ(base::CodeOf(status), base::ErrorCode::kInvalid);
  EXPECT_EQ(base::MessageOf(status),
            "fast_search = true needs an index, but index = auto found none to use: there is none");
}

}  // namespace
}  // namespace kinjo::join
