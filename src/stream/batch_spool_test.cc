#include "stream/batch_spool.h"

#include <cstdlib>

#include "arrow/array/array_dict.h"
#include "arrow/array/builder_binary.h"
#include "arrow/array/builder_dict.h"
#include "gmock/gmock.h"
#include "stream/scripted_source.h"

namespace kinjo::stream {
namespace {

TEST(BatchSpool, GivesBackWhatWasPutInItsOrder) {
  const auto spool = BatchSpool::Make(OneInt()).ValueOrDie();
  ASSERT_TRUE(spool->Put(*Numbers(0, 3)).ok());
  ASSERT_TRUE(spool->Put(*Numbers(3, 3)).ok());
  EXPECT_TRUE(spool->Take().ValueOrDie()->Equals(*Numbers(0, 3)));
  ASSERT_TRUE(spool->Put(*Numbers(10, 40)->Slice(5, 7)).ok());
  EXPECT_TRUE(spool->Take().ValueOrDie()->Equals(*Numbers(3, 3)));
  EXPECT_TRUE(spool->Take().ValueOrDie()->Equals(*Numbers(15, 22)));
}

TEST(BatchSpool, EachBatchMayHaveItsOwnDictionary) {
  const auto type = arrow::dictionary(arrow::int32(), arrow::utf8());
  const auto schema = arrow::schema({arrow::field("word", type)});
  const auto spool = BatchSpool::Make(schema).ValueOrDie();
  std::vector<Batch> batches;
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"a", "b", "a"}, {"c"}, {"b", "d"}}) {
    arrow::StringDictionary32Builder builder;
    for (const std::string& word : words) ASSERT_TRUE(builder.Append(word).ok());
    const auto column = builder.Finish().ValueOrDie();
    batches.push_back(arrow::RecordBatch::Make(schema, column->length(), {column}));
    ASSERT_TRUE(spool->Put(*batches.back()).ok());
  }
  for (const Batch& batch : batches) EXPECT_TRUE(spool->Take().ValueOrDie()->Equals(*batch));
}

TEST(BatchSpool, SaysWhereItCouldNotMakeItsFile) {
  const char* before = std::getenv("TMPDIR");
  const std::string kept = before == nullptr ? "" : before;
  ::setenv("TMPDIR", (testing::TempDir() + "no-such-folder").c_str(), 1);
  const auto spool = BatchSpool::Make(OneInt());
  before == nullptr ? ::unsetenv("TMPDIR") : ::setenv("TMPDIR", kept.c_str(), 1);
  ASSERT_FALSE(spool.ok());
  EXPECT_EQ(base::CodeOf(spool.status()), base::ErrorCode::kIo);
  EXPECT_THAT(spool.status().message(), testing::HasSubstr("no-such-folder"));
  EXPECT_THAT(spool.status().message(), testing::HasSubstr("TMPDIR"));
}

}  // namespace
}  // namespace kinjo::stream
