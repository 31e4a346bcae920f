#include "format/proto/transaction_messages.h"

#include "gtest/gtest.h"

namespace kinjo::format::proto {
namespace {

/// Encodes, parses, and gives what came out.
TransactionMessage Again(TransactionMessage::Operation operation) {
  TransactionMessage transaction{.read_version = 7, .uuid = "u", .tag = "t"};
  transaction.properties["a"] = "b";
  transaction.operation = std::move(operation);
  TransactionMessage read;
  EXPECT_TRUE(ParseTransaction(EncodeTransaction(transaction).text(), &read));
  EXPECT_EQ(read.read_version, 7u);
  EXPECT_EQ(read.uuid, "u");
  EXPECT_EQ(read.tag, "t");
  EXPECT_EQ(read.properties.at("a"), "b");
  EXPECT_EQ(OperationName(read.operation), OperationName(transaction.operation));
  return read;
}

template <typename T>
T AgainAs(T operation) {
  return std::get<T>(Again(std::move(operation)).operation);
}

DataFragmentMessage Fragment(uint64_t id) {
  DataFragmentMessage fragment{.id = id, .physical_rows = 10};
  fragment.files.push_back({.path = "f", .fields = {0, -2}, .column_indices = {0, 1}});
  return fragment;
}

TEST(TransactionTest, EveryOperationThatIsWrittenComesBack) {
  const auto append = AgainAs(AppendOperation{{Fragment(0), Fragment(0)}});
  ASSERT_EQ(append.fragments.size(), 2u);
  EXPECT_EQ(append.fragments[1].files[0].fields, (std::vector<int32_t>{0, -2}));
  const auto rows_less = AgainAs(DeleteOperation{{Fragment(4)}, {1, 300}, "a > 1"});
  EXPECT_EQ(rows_less.updated_fragments[0].id, 4u);
  EXPECT_EQ(rows_less.deleted_fragment_ids, (std::vector<uint64_t>{1, 300}));
  EXPECT_EQ(rows_less.predicate, "a > 1");
  Field field{.id = 3, .parent_id = -1, .name = "x", .logical_type = "int64"};
  field.metadata["k"] = "v";
  const auto overwrite = AgainAs(OverwriteOperation{
      .fragments = {Fragment(0)}, .fields = {field}, .config_upserts = {{"c", "d"}}});
  EXPECT_EQ(overwrite.fields[0].parent_id, -1);
  EXPECT_EQ(overwrite.fields[0].metadata.at("k"), "v");
  EXPECT_EQ(overwrite.config_upserts.at("c"), "d");
  IndexMetadataMessage index{.uuid = std::string(16, 'u'), .fields = {3}, .name = "i"};
  index.index_version = 2;
  const auto create = AgainAs(CreateIndexOperation{{index}, {index, index}});
  EXPECT_EQ(create.new_indices[0].uuid, index.uuid);
  EXPECT_EQ(create.removed_indices.size(), 2u);
  RewriteOperation moved;
  moved.groups.push_back({{Fragment(1), Fragment(2)}, {Fragment(0)}});
  moved.rewritten_indices.push_back({.old_id = "old", .new_id = "new"});
  const auto rewrite = AgainAs(moved);
  EXPECT_EQ(rewrite.groups[0].old_fragments.size(), 2u);
  EXPECT_EQ(rewrite.rewritten_indices[0].new_id, "new");
  EXPECT_EQ(AgainAs(MergeOperation{.fragments = {Fragment(1)}, .fields = {field}}).fields.size(),
            1u);
  EXPECT_EQ(AgainAs(RestoreOperation{5}).version, 5u);
  EXPECT_EQ(AgainAs(ReserveFragmentsOperation{6}).num_fragments, 6u);
  EXPECT_EQ(AgainAs(ProjectOperation{{field}}).fields[0].name, "x");
  for (const bool preserves : {false, true}) {
    ProjectOperation project;
    project.preserves_nullability = preserves;
    EXPECT_EQ(AgainAs(project).preserves_nullability, preserves);
    MergeOperation merge;
    merge.preserves_nullability = preserves;
    EXPECT_EQ(AgainAs(merge).preserves_nullability, preserves);
  }
}

TEST(TransactionTest, AnOperationThatIsNotKnownKeepsItsNumber) {
  TransactionMessage read;
  ASSERT_TRUE(ParseTransaction(WireWriter().PresentBytes(150, "anything").text(), &read));
  EXPECT_EQ(std::get<UnknownOperation>(read.operation).number, 150u);
}

TEST(TransactionTest, MalformedBytesAreRefused) {
  TransactionMessage read;
  EXPECT_FALSE(ParseTransaction("\x0a\xff", &read));
  EXPECT_FALSE(ParseTransaction(WireWriter().Number(100, 1).text(), &read));
  const WireWriter append = WireWriter().Bytes(1, "\xff\xff\xff");
  EXPECT_FALSE(ParseTransaction(WireWriter().Message(100, append).text(), &read));
}

}  // namespace
}  // namespace kinjo::format::proto
