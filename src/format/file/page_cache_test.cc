#include "format/file/page_cache.h"

#include <gtest/gtest.h>

namespace kinjo::format {
namespace {

std::shared_ptr<const PageState> StateOf(uint64_t bytes) {
  auto state = std::make_shared<PageState>();
  state->bytes = bytes;
  return state;
}

TEST(PageCacheTest, NumbersAreGivenOnce) {
  PageCache cache;
  EXPECT_EQ(cache.NumberPages(3), 0u);
  EXPECT_EQ(cache.NumberPages(1), 3u);
  EXPECT_EQ(cache.NumberPages(1), 4u);
}

TEST(PageCacheTest, WhatWasUsedLongestAgoGoesFirst) {
  PageCache cache(100);
  for (const uint64_t page : {1, 2, 3}) cache.Keep(page, StateOf(30));
  EXPECT_NE(cache.Find(1), nullptr);
  cache.Keep(4, StateOf(40));
  EXPECT_EQ(cache.Find(2), nullptr);
  EXPECT_NE(cache.Find(1), nullptr);
  EXPECT_NE(cache.Find(3), nullptr);
  EXPECT_NE(cache.Find(4), nullptr);
  EXPECT_EQ(cache.kept_bytes(), 100u);
}

TEST(PageCacheTest, HoldsNoMoreThanItMay) {
  PageCache cache(100);
  for (uint64_t page = 0; page < 1000; ++page) {
    cache.Keep(page, StateOf(1 + page % 70));
    EXPECT_LE(cache.kept_bytes(), 100u);
    EXPECT_NE(cache.Find(page), nullptr);
  }
  cache.Keep(5000, StateOf(101));
  EXPECT_EQ(cache.Find(5000), nullptr);
  EXPECT_EQ(cache.states_made(), 1001u);
}

TEST(PageCacheTest, WhatIsInUseOutlivesItsEntry) {
  PageCache cache(10);
  cache.Keep(1, StateOf(10));
  const auto held = cache.Find(1);
  cache.Keep(2, StateOf(10));
  EXPECT_EQ(cache.Find(1), nullptr);
  EXPECT_EQ(held->bytes, 10u);
}

}  // namespace
}  // namespace kinjo::format
