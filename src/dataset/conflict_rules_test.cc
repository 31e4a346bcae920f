// Every pair of operations once. tests/writing has the same table against pylance.
#include "dataset/conflict_rules.h"

#include <map>
#include <string>

#include "format/table/roaring_bitmap.h"
#include "format/table/uuid.h"
#include "gtest/gtest.h"

namespace kinjo::dataset {
namespace {

namespace proto = format::proto;
using Transaction = proto::TransactionMessage;

proto::DataFragmentMessage Fragment(uint64_t id) { return {.id = id, .physical_rows = 10}; }

Transaction Of(Transaction::Operation operation) {
  Transaction transaction;
  transaction.operation = std::move(operation);
  return transaction;
}

proto::IndexMetadataMessage Index(const std::string& name, std::vector<uint32_t> fragments) {
  proto::IndexMetadataMessage index{.uuid = format::NewUuid(), .fields = {4}, .name = name};
  if (!fragments.empty()) index.fragment_bitmap = format::EncodeRoaring(fragments);
  return index;
}

Transaction Rewrite(uint64_t fragment) {
  proto::RewriteOperation operation;
  operation.groups.push_back({{Fragment(fragment)}, {Fragment(0)}});
  return Of(operation);
}

Transaction Update(uint64_t fragment, std::vector<uint32_t> fields = {}) {
  return Of(proto::UpdateOperation{{}, {Fragment(fragment)}, {Fragment(0)}, std::move(fields)});
}

/// The operations of a table's sides; ours change fragment 1 and build the index "a" over it.
const std::map<std::string, Transaction>& Operations() {
  static const auto* operations = new std::map<std::string, Transaction>{
      {"append", Of(proto::AppendOperation{{Fragment(0)}})},
      {"delete_1", Of(proto::DeleteOperation{{Fragment(1)}, {}, ""})},
      {"delete_2", Of(proto::DeleteOperation{{}, {2}, ""})},
      {"update_1", Update(1)},
      {"update_2", Update(2)},
      {"update_columns", Update(2, {4})},
      {"index_a", Of(proto::CreateIndexOperation{{Index("a", {1})}, {}})},
      {"index_b", Of(proto::CreateIndexOperation{{Index("b", {2})}, {}})},
      {"drop_a", Of(proto::CreateIndexOperation{{}, {Index("a", {1})}})},
      {"rewrite_1", Rewrite(1)},
      {"rewrite_2", Rewrite(2)},
      {"merge", Of(proto::MergeOperation{{Fragment(1), Fragment(2)}, {}, {}})},
      {"project", Of(proto::ProjectOperation{})},
      {"config", Of(proto::UpdateConfigOperation{})},
      {"reserve", Of(proto::ReserveFragmentsOperation{1})},
      {"overwrite", Of(proto::OverwriteOperation{})},
      {"restore", Of(proto::RestoreOperation{1})},
      {"unknown", Of(proto::UnknownOperation{111})}};
  return *operations;
}

/// Theirs that don't go with ours: "name" is a retry, "!name" a failure; the others are fine.
const std::map<std::string, std::string>& Conflicts() {
  static const auto* conflicts = new std::map<std::string, std::string>{
      {"append", " !overwrite !restore unknown "},
      {"delete_1", " delete_1 update_1 rewrite_1 merge !overwrite !restore unknown "},
      {"index_a", " index_a drop_a rewrite_1 update_columns !overwrite !restore unknown "},
      {"drop_a", " index_a drop_a !overwrite !restore unknown "},
      {"rewrite_1", " delete_1 update_1 rewrite_1 index_a merge !overwrite !restore unknown "},
      {"merge",
       " append delete_1 delete_2 update_1 update_2 update_columns rewrite_1 rewrite_2 merge "
       "project "
       "!overwrite !restore unknown "},
      {"project", " merge project !overwrite !restore unknown "},
      {"reserve", " !overwrite !restore unknown "},
      {"overwrite", " overwrite unknown "},
      {"restore", " "}};
  return *conflicts;
}

TEST(ConflictRulesTest, EveryPair) {
  for (const auto& [ours, conflicts] : Conflicts()) {
    for (const auto& [theirs, transaction] : Operations()) {
      const Judgement judgement = JudgePair(Operations().at(ours), transaction);
      const bool fails = conflicts.find(" !" + theirs + " ") != std::string::npos;
      const bool retries = conflicts.find(" " + theirs + " ") != std::string::npos;
      const Verdict expected = fails ? Verdict::kFail : retries ? Verdict::kRetry : Verdict::kOk;
      EXPECT_EQ(judgement.verdict, expected) << ours << " after " << theirs;
      EXPECT_EQ(judgement.why.empty(), expected == Verdict::kOk);
    }
  }
}

TEST(ConflictRulesTest, AnAppendBesideARequiredColumn) {
  const Transaction append = Operations().at("append");
  proto::MergeOperation merge;
  merge.preserves_nullability = false;
  EXPECT_EQ(JudgePair(append, Of(merge)).verdict, Verdict::kRetry);
  proto::ProjectOperation project;
  project.preserves_nullability = false;
  EXPECT_EQ(JudgePair(append, Of(project)).verdict, Verdict::kRetry);
}

TEST(ConflictRulesTest, AnIndexThatDoesNotSayWhatItCoversCoversAll) {
  const Transaction index = Of(proto::CreateIndexOperation{{Index("a", {})}, {}});
  EXPECT_EQ(JudgePair(index, Rewrite(9)).verdict, Verdict::kRetry);
  EXPECT_EQ(JudgePair(Rewrite(9), index).verdict, Verdict::kRetry);
}

TEST(ConflictRulesTest, WhatIsGoneFromTheNewestVersion) {
  TableVersion latest;
  latest.messages.manifest.fragments = {Fragment(1)};
  latest.messages.indexes = {Index("a", {1})};
  latest.checked.schema.fields = {{.id = 4, .name = "v"}};
  EXPECT_EQ(JudgeAgainst(Rewrite(1), latest).verdict, Verdict::kOk);
  EXPECT_EQ(JudgeAgainst(Rewrite(2), latest).verdict, Verdict::kRetry);
  const auto& there = latest.messages.indexes[0];
  EXPECT_EQ(JudgeAgainst(Of(proto::CreateIndexOperation{{there}, {there}}), latest).verdict,
            Verdict::kOk);
  const Transaction other = Of(proto::CreateIndexOperation{{}, {Index("a", {1})}});
  EXPECT_EQ(JudgeAgainst(other, latest).verdict, Verdict::kRetry);
  latest.checked.schema.fields[0].id = 5;
  const Transaction dropped = Of(proto::CreateIndexOperation{{there}, {}});
  EXPECT_EQ(JudgeAgainst(dropped, latest).verdict, Verdict::kRetry);
}

}  // namespace
}  // namespace kinjo::dataset
