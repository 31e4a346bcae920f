#include "format/index_file/segment_writer.h"

#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <numeric>

#include "arrow/io/memory.h"
#include "base/assert_result.h"
#include "io/random_reader.h"

namespace kinjo::format {
namespace {

template <typename T>
std::shared_ptr<arrow::Buffer> BufferOf(const std::vector<T>& values) {
  return arrow::Buffer::FromVector(values);
}

template <typename T>
Tensor MakeTensor(ElementType type, uint64_t rows, uint64_t cols) {
  std::vector<T> values(rows * cols);
  std::iota(values.begin(), values.end(), static_cast<T>(1));
  return {.type = type, .rows = rows, .cols = cols, .data = BufferOf(values)};
}

std::vector<uint8_t> Bytes(uint64_t count, uint8_t first) {
  std::vector<uint8_t> bytes(count);
  std::iota(bytes.begin(), bytes.end(), first);
  return bytes;
}

/// Two opened files and what was told about them.
struct Written {
  WrittenSegment told;
  std::shared_ptr<arrow::Buffer> index;
  std::shared_ptr<arrow::Buffer> auxiliary;
  std::shared_ptr<LanceFile> index_file;
  std::shared_ptr<IndexFiles> files;
};

Written Write(const SegmentModel& model, const std::vector<PartitionToWrite>& partitions) {
  Written out;
  auto index = arrow::io::BufferOutputStream::Create().ValueOrDie();
  auto auxiliary = arrow::io::BufferOutputStream::Create().ValueOrDie();
  auto writer = SegmentWriter::Make(index, auxiliary, model).ValueOrDie();
  for (const PartitionToWrite& partition : partitions) {
    const arrow::Status status = writer->WritePartition(partition);
    EXPECT_TRUE(status.ok()) << status;
  }
  out.told = writer->Finish().ValueOrDie();
  out.index = index->Finish().ValueOrDie();
  out.auxiliary = auxiliary->Finish().ValueOrDie();
  out.index_file = LanceFile::Open(io::OpenBuffer(out.index, "index.idx")).ValueOrDie();
  auto opened = IndexFiles::Assemble(
      out.index_file, LanceFile::Open(io::OpenBuffer(out.auxiliary, "auxiliary.idx")).ValueOrDie());
  EXPECT_TRUE(opened.ok()) << opened.status();
  out.files = std::move(opened).ValueOrDie();
  EXPECT_EQ(out.told.index_bytes, static_cast<uint64_t>(out.index->size()));
  EXPECT_EQ(out.told.auxiliary_bytes, static_cast<uint64_t>(out.auxiliary->size()));
  return out;
}

SegmentModel ModelOf(const char* type, Tensor centroids, QuantizerModel quantizer,
                     const char* metric = "l2") {
  return {.kind = *ParseIndexKind(type),
          .distance_type = metric,
          .centroids = std::move(centroids),
          .quantizer = std::move(quantizer),
          .loss = 2.5,
          .graphs = {}};
}

/// Three partitions of 3, 0 and 35 rows, with columns of these bytes a row.
struct Rows {
  std::vector<PartitionToWrite> partitions;
  std::vector<uint64_t> sizes = {3, 0, 35};

  explicit Rows(const std::vector<uint64_t>& column_bytes) {
    uint64_t next_id = 100;
    for (const uint64_t size : sizes) {
      PartitionToWrite partition{.num_rows = size};
      std::vector<uint64_t> ids(size);
      std::iota(ids.begin(), ids.end(), next_id);
      next_id += size;
      partition.row_ids = BufferOf(ids);
      for (const uint64_t bytes : column_bytes) {
        partition.columns.push_back(BufferOf(Bytes(size * bytes, static_cast<uint8_t>(bytes))));
      }
      partitions.push_back(std::move(partition));
    }
  }
};

void ExpectTensor(const Tensor& read, const Tensor& written) {
  EXPECT_EQ(read.type, written.type);
  EXPECT_EQ(read.rows, written.rows);
  EXPECT_EQ(read.cols, written.cols);
  EXPECT_TRUE(read.data->Equals(*written.data));
}

void ExpectIvf(const Written& written, const SegmentModel& model, const Rows& rows) {
  const IvfModel& ivf = written.files->ivf();
  EXPECT_EQ(ivf.index_type, IndexTypeName(model.kind));
  EXPECT_EQ(ivf.distance_type, model.distance_type);
  ExpectTensor(ivf.centroids, model.centroids);
  EXPECT_EQ(ivf.lengths, rows.sizes);
  EXPECT_EQ(ivf.offsets, (std::vector<uint64_t>{0, 3, 3}));
  EXPECT_EQ(written.told.num_rows, 38u);
  for (uint64_t p = 0; p < 3; ++p) {
    KINJO_ASSERT_RESULT(read, written.files->ReadPartition(p));
    ASSERT_EQ(read.num_rows, rows.sizes[p]);
    if (read.num_rows > 0) EXPECT_TRUE(read.row_ids->Equals(*rows.partitions[p].row_ids));
  }
}

TEST(SegmentWriter, FlatOfEveryElement) {
  const std::pair<ElementType, Tensor> cases[] = {
      {ElementType::kFloat16, MakeTensor<uint16_t>(ElementType::kFloat16, 3, 4)},
      {ElementType::kFloat32, MakeTensor<float>(ElementType::kFloat32, 3, 4)},
      {ElementType::kFloat64, MakeTensor<double>(ElementType::kFloat64, 3, 4)},
      {ElementType::kUint8, MakeTensor<uint8_t>(ElementType::kUint8, 3, 4)}};
  for (const auto& [type, centroids] : cases) {
    const Rows rows({4 * ElementBytes(type)});
    const SegmentModel model = ModelOf("IVF_FLAT", centroids, FlatModel{},
                                       type == ElementType::kUint8 ? "hamming" : "cosine");
    const Written written = Write(model, rows.partitions);
    ExpectIvf(written, model, rows);
    KINJO_ASSERT_RESULT(last, written.files->ReadPartition(2));
    EXPECT_TRUE(last.codes->Equals(*rows.partitions[2].columns[0])) << ElementTypeName(type);
  }
}

TEST(SegmentWriter, PqOfBothWidths) {
  for (const uint32_t bits : {4u, 8u}) {
    const Rows rows({4 * bits / 8});
    const PqCodebook pq{.num_bits = bits,
                        .num_sub_vectors = 4,
                        .dim = 8,
                        .codebook = MakeTensor<float>(ElementType::kFloat32, 4u << bits, 2)};
    const SegmentModel model =
        ModelOf("IVF_PQ", MakeTensor<float>(ElementType::kFloat32, 3, 8), pq);
    const Written written = Write(model, rows.partitions);
    ExpectIvf(written, model, rows);
    const auto& read = std::get<PqCodebook>(written.files->quantizer());
    EXPECT_EQ(read.num_bits, bits);
    EXPECT_EQ(read.num_sub_vectors, 4u);
    EXPECT_TRUE(read.transposed);
    ExpectTensor(read.codebook, pq.codebook);
    KINJO_ASSERT_RESULT(last, written.files->ReadPartition(2));
    EXPECT_TRUE(last.codes->Equals(*rows.partitions[2].columns[0]));
  }
}

TEST(SegmentWriter, SqBoundsKeepTheirDigits) {
  const Rows rows({8});
  const SqModel sq{.start = -1.0 / 3, .end = 1e-3 + 2.0 / 7};
  const SegmentModel model = ModelOf("IVF_SQ", MakeTensor<float>(ElementType::kFloat32, 3, 8), sq);
  const Written written = Write(model, rows.partitions);
  ExpectIvf(written, model, rows);
  EXPECT_EQ(std::get<SqModel>(written.files->quantizer()).start, sq.start);
  EXPECT_EQ(std::get<SqModel>(written.files->quantizer()).end, sq.end);
}

TEST(SegmentWriter, RqOfOneAndSeveralBits) {
  for (const uint32_t bits : {1u, 3u}) {
    std::vector<uint64_t> column_bytes = {2, 4, 4, 4};
    if (bits > 1) column_bytes.insert(column_bytes.end(), {RqExCodeBytes(16, bits - 1), 4, 4});
    const Rows rows(column_bytes);
    const RqModel rq{.num_bits = bits, .packed = true, .signs = Bytes(8, 200), .matrix = {}};
    const SegmentModel model =
        ModelOf("IVF_RQ", MakeTensor<float>(ElementType::kFloat32, 3, 16), rq, "dot");
    const Written written = Write(model, rows.partitions);
    ExpectIvf(written, model, rows);
    const auto& read = std::get<RqModel>(written.files->quantizer());
    EXPECT_EQ(read.num_bits, bits);
    EXPECT_TRUE(read.packed);
    EXPECT_EQ(read.signs, rq.signs);
    KINJO_ASSERT_RESULT(last, written.files->ReadPartition(2));
    const auto& columns = rows.partitions[2].columns;
    EXPECT_TRUE(last.codes->Equals(*columns[0]));
    EXPECT_TRUE(last.add_factors->Equals(*columns[bits > 1 ? 5 : 1]));
    EXPECT_TRUE(last.scale_factors->Equals(*columns[bits > 1 ? 6 : 2]));
    if (bits > 1) EXPECT_TRUE(last.ex_codes->Equals(*columns[4]));
  }
}

GraphLevel MakeLevel(std::vector<uint32_t> nodes, const std::vector<std::vector<uint32_t>>& lists) {
  GraphLevel level{.nodes = std::move(nodes), .offsets = {0}, .neighbors = {}};
  for (const auto& list : lists) {
    level.neighbors.insert(level.neighbors.end(), list.begin(), list.end());
    level.offsets.push_back(static_cast<uint32_t>(level.neighbors.size()));
  }
  return level;
}

TEST(SegmentWriter, GraphsWithLevelsAndWithout) {
  Rows rows({8});
  PartitionGraph small{.num_nodes = 3, .entry_point = 2};
  small.levels.push_back(MakeLevel({}, {{1, 2}, {}, {0, 1}}));
  small.levels.push_back(MakeLevel({2}, {{}}));  // a node alone knows nobody
  PartitionGraph large{.num_nodes = 35, .entry_point = 7};
  std::vector<std::vector<uint32_t>> ring(35);
  for (uint32_t i = 0; i < 35; ++i) ring[i] = {(i + 1) % 35, (i + 34) % 35};
  large.levels.push_back(MakeLevel({}, ring));
  large.levels.push_back(MakeLevel({3, 7, 30}, {{7}, {3, 30}, {7}}));
  large.levels.push_back(MakeLevel({7}, {{}}));
  std::vector<std::vector<std::vector<float>>> distances;
  for (const PartitionGraph* graph : {&small, &large}) {
    distances.emplace_back();
    for (const GraphLevel& level : graph->levels) {
      distances.back().emplace_back(level.neighbors.size(), 0.5f);
    }
  }
  rows.partitions[0].graph = &small;
  rows.partitions[0].distances = &distances[0];
  rows.partitions[2].graph = &large;
  rows.partitions[2].distances = &distances[1];
  SegmentModel model = ModelOf("IVF_HNSW_SQ", MakeTensor<float>(ElementType::kFloat32, 3, 8),
                               SqModel{.start = 0, .end = 1});
  model.graphs = {.m = 20, .ef_construction = 150, .max_level = 7};
  const Written written = Write(model, rows.partitions);
  ExpectIvf(written, model, rows);
  for (const uint64_t p : {0, 2}) {
    const PartitionGraph& expected = p == 0 ? small : large;
    KINJO_ASSERT_RESULT(graph, written.files->ReadGraph(p));
    EXPECT_EQ(graph.entry_point, expected.entry_point);
    ASSERT_EQ(graph.levels.size(), expected.levels.size());
    for (size_t level = 0; level < graph.levels.size(); ++level) {
      EXPECT_EQ(graph.levels[level].nodes, expected.levels[level].nodes);
      EXPECT_EQ(graph.levels[level].offsets, expected.levels[level].offsets);
      EXPECT_EQ(graph.levels[level].neighbors, expected.levels[level].neighbors);
    }
  }
  KINJO_ASSERT_RESULT(empty, written.files->ReadGraph(1));
  EXPECT_EQ(empty.num_nodes, 0u);
  EXPECT_NE(written.index_file->schema().metadata.at("lance:hnsw").find("level_offsets"),
            std::string::npos);
}

TEST(SegmentWriter, SaysWhatLanceSays) {
  const Rows rows({2});
  const PqCodebook pq{.num_bits = 4,
                      .num_sub_vectors = 4,
                      .dim = 8,
                      .codebook = MakeTensor<float>(ElementType::kFloat32, 64, 2)};
  const Written written =
      Write(ModelOf("IVF_PQ", MakeTensor<float>(ElementType::kFloat32, 3, 8), pq), rows.partitions);
  const auto& index = written.index_file->schema();
  EXPECT_EQ(index.metadata.at("lance:index"), R"({"type":"IVF_PQ","distance_type":"l2"})");
  EXPECT_EQ(index.metadata.at("lance:flat"), R"(["","",""])");
  EXPECT_EQ(index.metadata.at("lance:ivf"), "1");
  EXPECT_EQ(index.fields.size(), 1u);
  EXPECT_EQ(index.fields[0].name, "__flat_marker");
  EXPECT_FALSE(index.fields[0].nullable);
  const auto auxiliary =
      LanceFile::Open(io::OpenBuffer(written.auxiliary, "auxiliary.idx")).ValueOrDie();
  const auto& metadata = auxiliary->schema().metadata;
  EXPECT_EQ(metadata.at("distance_type"), "l2");
  EXPECT_EQ(metadata.at("lance:ivf"), "1");
  EXPECT_EQ(metadata.at("storage_metadata"),
            R"(["{\"codebook_position\":2,\"nbits\":4,\"num_sub_vectors\":4,\"dimension\":8,)"
            R"(\"codebook_tensor\":[],\"transposed\":true}"])");
}

TEST(SegmentWriter, CountsItsPartitions) {
  const Rows rows({16});
  const SegmentModel model =
      ModelOf("IVF_FLAT", MakeTensor<float>(ElementType::kFloat32, 3, 4), FlatModel{});
  auto index = arrow::io::BufferOutputStream::Create().ValueOrDie();
  auto auxiliary = arrow::io::BufferOutputStream::Create().ValueOrDie();
  auto writer = SegmentWriter::Make(index, auxiliary, model).ValueOrDie();
  ASSERT_TRUE(writer->WritePartition(rows.partitions[0]).ok());
  EXPECT_EQ(base::CodeOf(writer->Finish().status()), base::ErrorCode::kInternal);
  ASSERT_TRUE(writer->WritePartition(rows.partitions[1]).ok());
  ASSERT_TRUE(writer->WritePartition(rows.partitions[2]).ok());
  EXPECT_EQ(base::CodeOf(writer->WritePartition(rows.partitions[1])), base::ErrorCode::kInternal);
}

}  // namespace
}  // namespace kinjo::format
