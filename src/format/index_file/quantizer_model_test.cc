#include "format/index_file/quantizer_model.h"

#include <gtest/gtest.h>

#include "arrow/array/array_nested.h"
#include "arrow/array/array_primitive.h"
#include "format/index_file/index_fixture.h"

namespace kinjo::format {
namespace {

using base::ErrorCode;

constexpr uint32_t kFloat32 = 2;
constexpr uint32_t kFloat64 = 3;

/// A model of two partitions of width 8.
IvfModel ModelOf(QuantizerKind kind) {
  IvfModel ivf;
  ivf.kind.quantizer = kind;
  ivf.centroids.rows = 2;
  ivf.centroids.cols = 8;
  return ivf;
}

/// JSON inside JSON, as the file holds it.
std::string Quoted(const std::string& json) {
  std::string text = "[\"";
  for (const char c : json) {
    if (c == '"') text += '\\';
    text += c;
  }
  return text + "\"]";
}

arrow::Result<QuantizerModel> Read(QuantizerKind kind, const std::string& json,
                                   const std::string& buffer = "") {
  MemoryLanceFile file("auxiliary.idx");
  file.SetMetadata("storage_metadata", Quoted(json));
  file.global_buffers().push_back(buffer);
  return ReadQuantizer(file, ModelOf(kind));
}

ErrorCode CodeOfRead(QuantizerKind kind, const std::string& json, const std::string& buffer = "") {
  return base::CodeOf(Read(kind, json, buffer).status());
}

std::string SqJson(const char* start, const char* end, int bits = 8, int dim = 8) {
  return base::Concat(R"({"dim":)", dim, R"(,"num_bits":)", bits, R"(,"bounds":{"start":)", start,
                      R"(,"end":)", end, "}}");
}

TEST(QuantizerModel, Sq) {
  const auto model = Read(QuantizerKind::kSq, SqJson("-4.03", "4.5")).ValueOrDie();
  EXPECT_EQ(std::get<SqModel>(model).start, -4.03);
  EXPECT_EQ(std::get<SqModel>(model).end, 4.5);
  const auto whole = Read(QuantizerKind::kSq, SqJson("0", "0")).ValueOrDie();
  EXPECT_EQ(std::get<SqModel>(whole).end, 0);
  EXPECT_EQ(CodeOfRead(QuantizerKind::kSq, SqJson("0", "1", 4)), ErrorCode::kNotSupported);
  for (const std::string& json : {SqJson("1", "0"), SqJson("null", "0"), SqJson("0", "\"1\""),
                                  SqJson("0", "1", 8, 16), std::string(R"({"dim":8,"num_bits":8})"),
                                  std::string(R"({"dim":8,"num_bits":8,"bounds":[0,1]})")}) {
    EXPECT_EQ(CodeOfRead(QuantizerKind::kSq, json), ErrorCode::kCorrupt) << json;
  }
}

std::string RqJson(const std::string& rotation, int bits = 5, int dim = 8,
                   const char* estimator = "raw_query") {
  return base::Concat("{", rotation, R"(,"code_dim":)", dim, R"(,"num_bits":)", bits,
                      R"(,"packed":true,"query_estimator":")", estimator, "\"}");
}
constexpr const char* kFast =
    R"("rotate_mat_position":null,"fast_rotation_signs":[1,2,254,255],"rotation_type":"fast")";
constexpr const char* kMatrix = R"("rotate_mat_position":1,"rotation_type":"matrix")";

TEST(QuantizerModel, RqWithAFastRotation) {
  const auto model = Read(QuantizerKind::kRq, RqJson(kFast)).ValueOrDie();
  const auto& rq = std::get<RqModel>(model);
  EXPECT_EQ(rq.num_bits, 5u);
  EXPECT_EQ(rq.ex_bits(), 4u);
  EXPECT_TRUE(rq.packed);
  EXPECT_EQ(rq.signs, (std::vector<uint8_t>{1, 2, 254, 255}));
  EXPECT_EQ(rq.matrix.data, nullptr);
  std::string plain = RqJson(kFast);
  plain.replace(plain.find("true"), 4, "false");
  EXPECT_FALSE(std::get<RqModel>(Read(QuantizerKind::kRq, plain).ValueOrDie()).packed);
}

TEST(QuantizerModel, RqWithAMatrix) {
  const std::string matrix = EncodeTensor(kFloat64, {8, 8}, std::string(512, '\0'));
  for (const char* rotation : {kMatrix, R"("rotate_mat_position":1)"}) {
    const auto model = Read(QuantizerKind::kRq, RqJson(rotation), matrix).ValueOrDie();
    const auto& rq = std::get<RqModel>(model);
    EXPECT_TRUE(rq.signs.empty());
    EXPECT_EQ(rq.matrix.type, ElementType::kFloat64);
    EXPECT_EQ(rq.matrix.rows, 8u);
  }
  const std::vector<std::string> odd = {
      EncodeTensor(kFloat32, {8, 8}, std::string(255, '\0')),
      EncodeTensor(kFloat32, {8, 16}, std::string(512, '\0')),
      EncodeTensor(4, {8, 8}, std::string(64, '\0'))};  // of bytes
  for (const std::string& bytes : odd) {
    EXPECT_EQ(CodeOfRead(QuantizerKind::kRq, RqJson(kMatrix), bytes), ErrorCode::kCorrupt);
  }
  EXPECT_EQ(CodeOfRead(QuantizerKind::kRq, RqJson(R"("rotation_type":"matrix")"), matrix),
            ErrorCode::kCorrupt);
  EXPECT_EQ(CodeOfRead(QuantizerKind::kRq, RqJson(R"("rotate_mat_position":2)"), matrix),
            ErrorCode::kCorrupt);
}

TEST(QuantizerModel, RqOfOtherFormsIsNotSupportedByName) {
  const auto residual = Read(QuantizerKind::kRq, RqJson(kFast, 5, 8, "residual_query"));
  EXPECT_EQ(base::CodeOf(residual.status()), ErrorCode::kNotSupported);
  EXPECT_NE(base::MessageOf(residual.status()).find("residual_query"), std::string::npos);
  const auto untold =
      Read(QuantizerKind::kRq, base::Concat("{", kFast, R"(,"code_dim":8,"num_bits":1})"));
  EXPECT_EQ(base::CodeOf(untold.status()), ErrorCode::kNotSupported);
  EXPECT_EQ(CodeOfRead(QuantizerKind::kRq, RqJson(R"("rotation_type":"slow")")),
            ErrorCode::kNotSupported);
}

TEST(QuantizerModel, RqThatContradictsItselfIsCorrupt) {
  for (const std::string& json :
       {RqJson(kFast, 0), RqJson(kFast, 10), RqJson(kFast, 5, 16),
        RqJson(R"("rotation_type":"fast")"),
        RqJson(R"("fast_rotation_signs":[1,2,3],"rotation_type":"fast")"),
        RqJson(R"("fast_rotation_signs":[1,2,3,256],"rotation_type":"fast")"),
        RqJson(R"("fast_rotation_signs":[1,2,3,-1],"rotation_type":"fast")"),
        RqJson(R"("fast_rotation_signs":"abcd","rotation_type":"fast")"),
        RqJson(R"("fast_rotation_signs":[1,2,3,4],"rotation_type":3)"),
        RqJson(R"("rotate_mat_position":"x")")}) {
    EXPECT_EQ(CodeOfRead(QuantizerKind::kRq, json), ErrorCode::kCorrupt) << json;
  }
  // A width that bits can't be packed for.
  IvfModel odd = ModelOf(QuantizerKind::kRq);
  odd.centroids.cols = 12;
  MemoryLanceFile file("auxiliary.idx");
  file.SetMetadata("storage_metadata", Quoted(RqJson(kFast, 5, 12)));
  EXPECT_EQ(base::CodeOf(ReadQuantizer(file, odd).status()), ErrorCode::kCorrupt);
}

std::shared_ptr<arrow::Array> Numbers(const std::vector<float>& values) {
  std::string bytes(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float));
  return std::make_shared<arrow::FloatArray>(static_cast<int64_t>(values.size()),
                                             arrow::Buffer::FromString(std::move(bytes)));
}

std::shared_ptr<arrow::Array> Bytes(const std::string& bytes, int32_t width) {
  const auto values = std::make_shared<arrow::UInt8Array>(static_cast<int64_t>(bytes.size()),
                                                          arrow::Buffer::FromString(bytes));
  return arrow::FixedSizeListArray::FromArrays(values, width).ValueOrDie();
}

/// An RQ index of one partition: two rows of width 8, `bits` an element.
struct RqFiles {
  explicit RqFiles(int bits) {
    index->SetMetadata("lance:index", R"({"type":"IVF_RQ","distance_type":"l2"})");
    index->SetMetadata("lance:ivf", "1");
    index->global_buffers().push_back(
        EncodeIvf({}, {}, EncodeTensor(kFloat32, {1, 8}, std::string(32, '\0'))));
    auxiliary->SetMetadata("lance:ivf", "1");
    auxiliary->SetMetadata("storage_metadata", Quoted(RqJson(kFast, bits)));
    auxiliary->global_buffers().push_back(EncodeIvf({}, {2}, ""));
    auxiliary->AddColumn(
        "_rowid", "uint64",
        std::make_shared<arrow::UInt64Array>(2, arrow::Buffer::FromString(std::string(16, '\1'))));
    auxiliary->AddColumn("_rabit_codes", "fixed_size_list:uint8:1", Bytes("ab", 1));
    auxiliary->AddColumn("__add_factors", "float", Numbers({1, 2}));
    auxiliary->AddColumn("__scale_factors", "float", Numbers({3, 4}));
  }

  std::shared_ptr<MemoryLanceFile> index = std::make_shared<MemoryLanceFile>("index.idx");
  std::shared_ptr<MemoryLanceFile> auxiliary = std::make_shared<MemoryLanceFile>("auxiliary.idx");
};

std::vector<float> FloatsOf(const std::shared_ptr<arrow::Buffer>& buffer) {
  const auto* values = reinterpret_cast<const float*>(buffer->data());
  return {values, values + buffer->size() / 4};
}

TEST(QuantizerModel, RqRowsOfOneBit) {
  const RqFiles files(1);
  const auto index = IndexFiles::Assemble(files.index, files.auxiliary).ValueOrDie();
  EXPECT_EQ(index->code_bytes(), 1u + 8u);
  const PartitionRows rows = index->ReadPartition(0).ValueOrDie();
  EXPECT_EQ(rows.codes->ToString(), "ab");
  EXPECT_EQ(rows.ex_codes, nullptr);
  EXPECT_EQ(FloatsOf(rows.add_factors), (std::vector<float>{1, 2}));
  EXPECT_EQ(FloatsOf(rows.scale_factors), (std::vector<float>{3, 4}));
  EXPECT_EQ(rows.size_bytes(), index->partition_bytes(0));
}

TEST(QuantizerModel, RqRowsOfSeveralBits) {
  RqFiles files(3);
  const std::string ex(32, 'e');
  const auto assemble = [&] { return IndexFiles::Assemble(files.index, files.auxiliary); };
  EXPECT_EQ(base::CodeOf(assemble().status()), ErrorCode::kCorrupt);  // no ex codes
  files.auxiliary->AddColumn("__ex_codes", "fixed_size_list:uint8:2", Bytes("eeee", 2));
  EXPECT_EQ(base::CodeOf(assemble().status()), ErrorCode::kNotSupported);  // in their old form
  files.auxiliary->AddColumn("__blocked_ex_codes", "fixed_size_list:uint8:16", Bytes(ex, 16));
  EXPECT_EQ(base::CodeOf(assemble().status()), ErrorCode::kCorrupt);  // no factors
  files.auxiliary->AddColumn("__add_factors_ex", "float", Numbers({5, 6}));
  files.auxiliary->AddColumn("__scale_factors_ex", "float", Numbers({7, 8}));
  const auto index = assemble().ValueOrDie();
  EXPECT_EQ(index->code_bytes(), 1u + 16u + 8u);
  const PartitionRows rows = index->ReadPartition(0).ValueOrDie();
  EXPECT_EQ(rows.ex_codes->ToString(), ex);
  EXPECT_EQ(FloatsOf(rows.add_factors), (std::vector<float>{5, 6}));
  EXPECT_EQ(FloatsOf(rows.scale_factors), (std::vector<float>{7, 8}));
  EXPECT_EQ(rows.size_bytes(), index->partition_bytes(0));
  files.auxiliary->mutable_schema().fields.back().logical_type = "double";
  EXPECT_EQ(base::CodeOf(assemble().status()), ErrorCode::kCorrupt);
}

TEST(QuantizerModel, TypesAreKnownByName) {
  EXPECT_EQ(ParseIndexKind("IVF_RQ")->quantizer, QuantizerKind::kRq);
  EXPECT_FALSE(ParseIndexKind("IVF_SQ")->has_graph);
  EXPECT_EQ(ParseIndexKind("IVF_HNSW_PQ")->quantizer, QuantizerKind::kPq);
  EXPECT_TRUE(ParseIndexKind("IVF_HNSW_PQ")->has_graph);
  EXPECT_FALSE(ParseIndexKind("IVF_HNSW_RQ").has_value());
  EXPECT_FALSE(ParseIndexKind("").has_value());
  EXPECT_NE(IndexTypeNames().find("IVF_RQ, IVF_HNSW_FLAT"), std::string::npos);
}

}  // namespace
}  // namespace kinjo::format
