#include "format/index_file/graph_reader.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "arrow/array/array_nested.h"
#include "arrow/array/builder_nested.h"
#include "arrow/array/builder_primitive.h"
#include "format/index_file/index_files.h"
#include "format/index_file/index_fixture.h"

namespace kinjo::format {
namespace {

using Lists = std::vector<std::vector<uint32_t>>;

std::shared_ptr<arrow::Array> MakeIds(const std::vector<uint32_t>& ids) {
  arrow::UInt32Builder builder;
  EXPECT_TRUE(builder.AppendValues(ids).ok());
  return builder.Finish().ValueOrDie();
}

std::shared_ptr<arrow::Array> MakeLists(const Lists& lists) {
  auto values = std::make_shared<arrow::UInt32Builder>();
  arrow::ListBuilder builder(arrow::default_memory_pool(), values);
  for (const auto& list : lists) {
    EXPECT_TRUE(builder.Append().ok());
    EXPECT_TRUE(values->AppendValues(list).ok());
  }
  return builder.Finish().ValueOrDie();
}

std::string Quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? "\\\"" : std::string(1, c);
  return out + "\"";
}

std::string Shape(uint32_t entry_point, const std::string& offsets) {
  return base::Concat(R"({"entry_point":)", entry_point,
                      R"(,"params":{"max_level":7,"m":2,"ef_construction":150},"level_offsets":[)",
                      offsets, "]}");
}

/// index.idx of three partitions of 3, 0 and 2 rows; a test changes what it is about.
struct GraphFixture {
  std::shared_ptr<MemoryLanceFile> index = std::make_shared<MemoryLanceFile>("index.idx");
  IvfModel ivf;
  std::vector<uint32_t> ids = {0, 1, 2, 1, 0, 1};
  Lists neighbors = {{1, 2}, {0}, {0, 1}, {}, {1}, {0}};
  std::vector<std::string> shapes = {Shape(1, "0,3,4,4"), "", Shape(0, "0,2")};
  std::vector<uint64_t> offsets = {0, 4, 4};
  std::vector<uint32_t> lengths = {4, 0, 2};

  GraphFixture() { ivf.lengths = {3, 0, 2}; }

  arrow::Result<std::unique_ptr<GraphReader>> Open() {
    std::string text = "[";
    for (size_t i = 0; i < shapes.size(); ++i) text += (i > 0 ? "," : "") + Quoted(shapes[i]);
    index->SetMetadata("lance:hnsw", text + "]");
    index->SetMetadata("lance:ivf", "1");
    index->global_buffers().push_back(EncodeIvf(offsets, lengths, ""));
    if (index->num_columns() == 0) {
      index->AddColumn("__vector_id", "uint32", MakeIds(ids));
      index->AddColumn("__neighbors", "list", MakeLists(neighbors));
      index->mutable_schema().fields[1].children.push_back(
          Field{.id = 9, .name = "item", .logical_type = "uint32"});
    }
    return GraphReader::Open(index, ivf);
  }
};

std::vector<uint32_t> NeighborsOf(const PartitionGraph& graph, size_t level, uint32_t node) {
  const auto found = graph.neighbors(level, node);
  return {found.begin(), found.end()};
}

TEST(GraphReader, ReadsLevelsAndEmptyPartitions) {
  const auto reader = GraphFixture().Open().ValueOrDie();
  const PartitionGraph first = reader->Read(0).ValueOrDie();
  EXPECT_EQ(first.num_nodes, 3u);
  EXPECT_EQ(first.entry_point, 1u);
  ASSERT_EQ(first.levels.size(), 2u);
  EXPECT_EQ(NeighborsOf(first, 0, 0), (std::vector<uint32_t>{1, 2}));
  EXPECT_EQ(NeighborsOf(first, 0, 1), (std::vector<uint32_t>{0}));
  EXPECT_EQ(NeighborsOf(first, 0, 2), (std::vector<uint32_t>{0, 1}));
  EXPECT_TRUE(NeighborsOf(first, 1, 1).empty());  // on the level, alone
  EXPECT_TRUE(NeighborsOf(first, 1, 2).empty());  // not on the level
  EXPECT_EQ(first.levels[1].nodes, (std::vector<uint32_t>{1}));
  const PartitionGraph empty = reader->Read(1).ValueOrDie();
  EXPECT_EQ(empty.num_nodes, 0u);
  EXPECT_TRUE(empty.levels.empty());
  const PartitionGraph last = reader->Read(2).ValueOrDie();
  EXPECT_EQ(NeighborsOf(last, 0, 1), (std::vector<uint32_t>{0}));
  EXPECT_EQ(base::CodeOf(reader->Read(3).status()), base::ErrorCode::kInternal);
}

TEST(GraphReader, TellsWhatAGraphMayTake) {
  const auto reader = GraphFixture().Open().ValueOrDie();
  for (const uint64_t partition : {0, 2}) {
    const PartitionGraph graph = reader->Read(partition).ValueOrDie();
    uint64_t edges_and_nodes = 0;
    for (const GraphLevel& level : graph.levels) {
      edges_and_nodes += level.neighbors.size() + level.offsets.size() - 1 + level.nodes.size();
    }
    EXPECT_GE(reader->graph_bytes(partition), 4 * edges_and_nodes);
    EXPECT_GT(graph.size_bytes(), 0);
  }
  EXPECT_EQ(reader->graph_bytes(1), 0u);
}

TEST(GraphReader, NeighborsThatAreNoNodesAreLeftOut) {
  GraphFixture fixture;
  fixture.neighbors = {{1, 3, 2, 4294967295u}, {7}, {0}, {2, 3}, {2}, {0, 1}};
  const auto reader = fixture.Open().ValueOrDie();
  const PartitionGraph first = reader->Read(0).ValueOrDie();
  EXPECT_EQ(NeighborsOf(first, 0, 0), (std::vector<uint32_t>{1, 2}));
  EXPECT_TRUE(NeighborsOf(first, 0, 1).empty());
  EXPECT_EQ(NeighborsOf(first, 0, 2), (std::vector<uint32_t>{0}));
  EXPECT_EQ(NeighborsOf(first, 1, 1), (std::vector<uint32_t>{2}));
  const PartitionGraph last = reader->Read(2).ValueOrDie();
  EXPECT_TRUE(NeighborsOf(last, 0, 0).empty());
  EXPECT_EQ(NeighborsOf(last, 0, 1), (std::vector<uint32_t>{0, 1}));
}

/// One way to damage the file, and what the error says.
struct Damage {
  const char* message;
  std::function<void(GraphFixture*)> apply;
};

TEST(GraphReader, RefusesShapesThatContradictTheModel) {
  const Damage damages[] = {
      {"starts at node 3, but has 3 nodes",
       [](GraphFixture* f) { f->shapes[0] = Shape(3, "0,3,4"); }},
      {"has 2 nodes, but the partition has 3 rows",
       [](GraphFixture* f) { f->shapes[0] = Shape(0, "0,2,4"); }},
      {"don't lie one after another within its 4 rows",
       [](GraphFixture* f) { f->shapes[0] = Shape(0, "0,3,5"); }},
      {"don't lie one after another", [](GraphFixture* f) { f->shapes[0] = Shape(0, "0,3,2"); }},
      {"don't lie one after another", [](GraphFixture* f) { f->shapes[0] = Shape(0, "1,3,4"); }},
      {"don't lie one after another", [](GraphFixture* f) { f->shapes[0] = Shape(0, "0"); }},
      {"don't lie one after another", [](GraphFixture* f) { f->shapes[0] = ""; }},
      {"has no rows, but a graph of 4", [](GraphFixture* f) { f->ivf.lengths[0] = 0; }},
      {"3 partitions but 2 graphs", [](GraphFixture* f) { f->shapes.pop_back(); }},
      {"2 of them, but the file has 6", [](GraphFixture* f) { f->offsets[2] = 5; }},
      {"3 centroids but 2 partitions",
       [](GraphFixture* f) {
         f->offsets.pop_back();
         f->lengths.pop_back();
       }},
      {"isn't a JSON object", [](GraphFixture* f) { f->shapes[0] = "[1]"; }},
      {"no number `entry_point`",
       [](GraphFixture* f) { f->shapes[0] = R"({"params":{"m":2},"level_offsets":[0,3]})"; }},
      {"no object `params`",
       [](GraphFixture* f) { f->shapes[0] = R"({"entry_point":0,"level_offsets":[0,3]})"; }},
      {"no array `level_offsets`",
       [](GraphFixture* f) { f->shapes[0] = R"({"entry_point":0,"params":{"m":2}})"; }},
      {"isn't a 32-bit number", [](GraphFixture* f) { f->shapes[0] = Shape(0, "0,4294967296"); }},
      {"isn't a 32-bit number", [](GraphFixture* f) { f->shapes[0] = Shape(0, "0,-3"); }},
  };
  for (const Damage& damage : damages) {
    GraphFixture fixture;
    damage.apply(&fixture);
    const auto reader = fixture.Open();
    EXPECT_EQ(base::CodeOf(reader.status()), base::ErrorCode::kCorrupt) << damage.message;
    EXPECT_NE(base::MessageOf(reader.status()).find(damage.message), std::string::npos)
        << reader.status();
  }
}

TEST(GraphReader, RefusesRowsThatAreNoGraph) {
  const Damage damages[] = {
      {"Level 0 of the graph of partition 0 doesn't list nodes below 3 in rising order",
       [](GraphFixture* f) { f->ids[0] = 1; }},
      {"Level 0 of the graph of partition 0 doesn't list nodes below 3",
       [](GraphFixture* f) { f->ids[2] = 3; }},
      {"Level 1 of the graph of partition 0 doesn't list nodes below 3",
       [](GraphFixture* f) { f->ids[3] = 3; }},
  };
  for (const Damage& damage : damages) {
    GraphFixture fixture;
    damage.apply(&fixture);
    const auto graph = fixture.Open().ValueOrDie()->Read(0);
    EXPECT_EQ(base::CodeOf(graph.status()), base::ErrorCode::kCorrupt);
    EXPECT_NE(base::MessageOf(graph.status()).find(damage.message), std::string::npos)
        << graph.status();
  }
}

TEST(GraphReader, RefusesOtherColumns) {
  GraphFixture nameless;
  ASSERT_TRUE(nameless.Open().ok());
  nameless.index->mutable_schema().fields[1].name = "neighbours";
  EXPECT_NE(base::MessageOf(GraphReader::Open(nameless.index, nameless.ivf).status())
                .find("no column `__neighbors`"),
            std::string::npos);
  GraphFixture typed;
  ASSERT_TRUE(typed.Open().ok());
  typed.index->mutable_schema().fields[0].logical_type = "uint64";
  EXPECT_NE(base::MessageOf(GraphReader::Open(typed.index, typed.ivf).status())
                .find("Column `__vector_id` of the index file is uint64, not uint32"),
            std::string::npos);
}

}  // namespace
}  // namespace kinjo::format
