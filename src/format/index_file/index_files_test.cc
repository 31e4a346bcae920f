#include "format/index_file/index_files.h"

#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <limits>

#include "arrow/array/array_nested.h"
#include "arrow/array/array_primitive.h"
#include "format/index_file/index_fixture.h"

namespace kinjo::format {
namespace {

constexpr uint32_t kFloat32 = 2;

template <typename ArrayType, typename T>
std::shared_ptr<arrow::Array> MakeArray(const std::vector<T>& values) {
  std::string bytes(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
  return std::make_shared<ArrayType>(static_cast<int64_t>(values.size()),
                                     arrow::Buffer::FromString(std::move(bytes)));
}

std::shared_ptr<arrow::Array> MakeLists(const std::shared_ptr<arrow::Array>& values,
                                        int32_t width) {
  return arrow::FixedSizeListArray::FromArrays(values, width).ValueOrDie();
}

std::string Floats(size_t count, float first = 1) {
  std::string bytes;
  for (size_t i = 0; i < count; ++i) {
    const float value = first + static_cast<float>(i);
    bytes.append(reinterpret_cast<const char*>(&value), sizeof(value));
  }
  return bytes;
}

/// The two files of a small index; a test changes what it is about.
struct Files {
  std::shared_ptr<MemoryLanceFile> index = std::make_shared<MemoryLanceFile>("index.idx");
  std::shared_ptr<MemoryLanceFile> auxiliary = std::make_shared<MemoryLanceFile>("auxiliary.idx");

  arrow::Result<std::shared_ptr<IndexFiles>> Assemble() const {
    return IndexFiles::Assemble(index, auxiliary);
  }
};

// 3 partitions of 2, 0 and 3 rows, width 4.
Files CommonFiles(const char* type) {
  Files files;
  files.index->SetMetadata("lance:index",
                           base::Concat(R"({"type":")", type, R"(","distance_type":"l2"})"));
  files.index->SetMetadata("lance:ivf", "1");
  files.index->global_buffers().push_back(
      EncodeIvf({0, 0, 0}, {0, 0, 0}, EncodeTensor(kFloat32, {3, 4}, Floats(12))));
  files.auxiliary->SetMetadata("lance:ivf", "1");
  files.auxiliary->SetMetadata("distance_type", "L2");
  files.auxiliary->global_buffers().push_back(EncodeIvf({0, 2, 2}, {2, 0, 3}, ""));
  files.auxiliary->AddColumn("_rowid", "uint64",
                             MakeArray<arrow::UInt64Array>(std::vector<uint64_t>{9, 8, 7, 6, 5}));
  return files;
}

Files FlatFiles() {
  Files files = CommonFiles("IVF_FLAT");
  files.auxiliary->SetMetadata("storage_metadata", R"(["{\"dim\":4}"])");
  std::vector<float> values(20);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
  files.auxiliary->AddColumn("flat", "fixed_size_list:float:4",
                             MakeLists(MakeArray<arrow::FloatArray>(values), 4));
  return files;
}

std::string PqMetadata(int position, int bits, int sub_vectors, int dim) {
  return base::Concat(R"(["{\"codebook_position\":)", position, R"(,\"nbits\":)", bits,
                      R"(,\"num_sub_vectors\":)", sub_vectors, R"(,\"dimension\":)", dim,
                      R"(,\"transposed\":true}"])");
}

// 4 sub-vectors of 4 bits: two bytes a row.
Files PqFiles() {
  Files files = CommonFiles("IVF_PQ");
  files.auxiliary->SetMetadata("storage_metadata", PqMetadata(2, 4, 4, 4));
  files.auxiliary->global_buffers().push_back(EncodeTensor(kFloat32, {16, 4}, Floats(64)));
  files.auxiliary->AddColumn(
      "__pq_code", "fixed_size_list:uint8:2",
      MakeLists(MakeArray<arrow::UInt8Array>(std::vector<uint8_t>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}),
                2));
  return files;
}

TEST(IndexFiles, ReadsAFlatIndex) {
  const auto index = FlatFiles().Assemble().ValueOrDie();
  EXPECT_EQ(index->ivf().index_type, "IVF_FLAT");
  EXPECT_EQ(index->ivf().distance_type, "l2");
  EXPECT_EQ(index->ivf().num_partitions(), 3u);
  EXPECT_EQ(index->ivf().centroids.rows, 3u);
  EXPECT_EQ(index->ivf().centroids.cols, 4u);
  EXPECT_EQ(index->ivf().centroids.type, ElementType::kFloat32);
  EXPECT_TRUE(std::holds_alternative<FlatModel>(index->quantizer()));
  EXPECT_EQ(index->dim(), 4u);
  EXPECT_EQ(index->code_bytes(), 16u);
  EXPECT_EQ(index->partition_bytes(2), 3u * 24);
  const PartitionRows rows = index->ReadPartition(2).ValueOrDie();
  ASSERT_EQ(rows.num_rows, 3u);
  const auto* ids = reinterpret_cast<const uint64_t*>(rows.row_ids->data());
  EXPECT_EQ(std::vector<uint64_t>(ids, ids + 3), (std::vector<uint64_t>{7, 6, 5}));
  ASSERT_EQ(rows.codes->size(), 48);
  EXPECT_EQ(reinterpret_cast<const float*>(rows.codes->data())[0], 8.0f);
}

TEST(IndexFiles, ReadsAPqIndex) {
  const auto index = PqFiles().Assemble().ValueOrDie();
  const auto* pq = std::get_if<PqCodebook>(&index->quantizer());
  ASSERT_NE(pq, nullptr);
  EXPECT_EQ(pq->num_bits, 4u);
  EXPECT_EQ(pq->num_sub_vectors, 4u);
  EXPECT_EQ(pq->codebook.rows, 64u);
  EXPECT_EQ(pq->codebook.cols, 1u);
  EXPECT_TRUE(pq->transposed);
  EXPECT_EQ(index->code_bytes(), 2u);
  const PartitionRows first = index->ReadPartition(0).ValueOrDie();
  EXPECT_EQ(first.codes->ToString(), std::string("\0\1\2\3", 4));
  const PartitionRows last = index->ReadPartition(2).ValueOrDie();
  EXPECT_EQ(last.codes->ToString(), "\4\5\6\7\10\11");
  EXPECT_EQ(last.code_bytes, 2u);
  const PartitionRows none = index->ReadPartition(1).ValueOrDie();
  EXPECT_EQ(none.num_rows, 0u);
  EXPECT_EQ(none.codes->size(), 0);
  EXPECT_FALSE(index->ReadPartition(3).ok());
}

TEST(IndexFiles, ARunIsItsPartitions) {
  const auto index = PqFiles().Assemble().ValueOrDie();
  for (const auto& [first, count] : {std::pair{0, 3}, {0, 2}, {1, 1}, {1, 2}, {2, 0}}) {
    const auto run = index->ReadRun(first, count).ValueOrDie();
    ASSERT_EQ(run.size(), static_cast<size_t>(count));
    for (int i = 0; i < count; ++i) {
      const PartitionRows alone = index->ReadPartition(first + i).ValueOrDie();
      EXPECT_EQ(run[i].num_rows, alone.num_rows);
      EXPECT_EQ(run[i].code_bytes, alone.code_bytes);
      EXPECT_TRUE(run[i].row_ids->Equals(*alone.row_ids));
      EXPECT_TRUE(run[i].codes->Equals(*alone.codes));
    }
  }
  EXPECT_FALSE(index->ReadRun(1, 3).ok());
}

TEST(IndexFiles, OffsetsMayBeLeftOut) {
  const Files files = FlatFiles();
  files.auxiliary->global_buffers()[1] = EncodeIvf({}, {2, 0, 3}, "");
  const auto index = files.Assemble().ValueOrDie();
  EXPECT_EQ(index->ivf().offsets, (std::vector<uint64_t>{0, 2, 2}));
}

using Change = std::function<void(Files*)>;

void ExpectCode(base::ErrorCode code, Files files, const Change& change, const char* what) {
  change(&files);
  const arrow::Status status = files.Assemble().status();
  ASSERT_FALSE(status.ok()) << what;
  EXPECT_EQ(base::CodeOf(status), code) << what << ": " << status.ToString();
}

TEST(IndexFiles, OtherKindsAreNotSupportedByName) {
  for (const char* type : {"IVF_HNSW_RQ", "IVF_NEW"}) {
    const arrow::Status status = CommonFiles(type).Assemble().status();
    EXPECT_EQ(base::CodeOf(status), base::ErrorCode::kNotSupported);
    EXPECT_NE(base::MessageOf(status).find(type), std::string::npos);
  }
  const auto not_supported = base::ErrorCode::kNotSupported;
  ExpectCode(
      not_supported, FlatFiles(),
      [](Files* files) { files->index->SetMetadata("lance:pca", "{}"); }, "pca");
  ExpectCode(
      not_supported, FlatFiles(),
      [](Files* files) { files->auxiliary->SetMetadata("lance:pca", "{}"); }, "pca");
  ExpectCode(
      not_supported, PqFiles(),
      [](Files* files) {
        files->auxiliary->SetMetadata("storage_metadata", PqMetadata(2, 5, 4, 4));
      },
      "5 bits");
  ExpectCode(
      not_supported, PqFiles(),
      [](Files* files) {
        files->auxiliary->SetMetadata("storage_metadata", PqMetadata(2, 8, 3, 4));
      },
      "3 sub-vectors of width 4");
  ExpectCode(
      not_supported, FlatFiles(),
      [](Files* files) {
        std::string untyped;
        PutBytes(1, Floats(12), &untyped);
        files->index->global_buffers()[1] = untyped;
      },
      "legacy centroids");
  ExpectCode(
      not_supported, FlatFiles(),
      [](Files* files) {
        files->index->global_buffers()[1] =
            EncodeIvf({}, {}, EncodeTensor(0, {3, 4}, std::string(24, 'x')));
      },
      "bfloat16");
}

TEST(IndexFiles, AModelThatContradictsItselfIsCorrupt) {
  const auto ivf = [](std::string bytes) {
    return [bytes = std::move(bytes)](Files* files) { files->index->global_buffers()[1] = bytes; };
  };
  const auto rows = [](std::string bytes) {
    return
        [bytes = std::move(bytes)](Files* files) { files->auxiliary->global_buffers()[1] = bytes; };
  };
  const uint64_t most = std::numeric_limits<uint64_t>::max();
  const std::vector<std::pair<const char*, Change>> changes = {
      {"no centroids", ivf("")},
      {"malformed", ivf("\xff")},
      {"short tensor", ivf(EncodeIvf({}, {}, EncodeTensor(kFloat32, {3, 4}, Floats(11))))},
      {"long tensor", ivf(EncodeIvf({}, {}, EncodeTensor(kFloat32, {3, 4}, Floats(13))))},
      {"odd bytes", ivf(EncodeIvf({}, {}, EncodeTensor(kFloat32, {3, 4}, std::string(47, 'x'))))},
      {"vector", ivf(EncodeIvf({}, {}, EncodeTensor(kFloat32, {12}, Floats(12))))},
      {"empty", ivf(EncodeIvf({}, {}, EncodeTensor(kFloat32, {0, 4}, "")))},
      {"huge shape",
       ivf(EncodeIvf({}, {}, EncodeTensor(kFloat32, {0x80000000u, 0x80000000u}, Floats(12))))},
      {"other width", ivf(EncodeIvf({}, {}, EncodeTensor(kFloat32, {3, 5}, Floats(15))))},
      {"fewer lengths", rows(EncodeIvf({0, 2}, {2, 0}, ""))},
      {"fewer offsets", rows(EncodeIvf({0, 2}, {2, 0, 3}, ""))},
      {"past the end", rows(EncodeIvf({0, 2, 3}, {2, 0, 3}, ""))},
      {"offset past the end", rows(EncodeIvf({0, 6, 2}, {2, 0, 3}, ""))},
      {"wrapping", rows(EncodeIvf({0, 2, most}, {2, 0, 3}, ""))},
      {"long by sums", rows(EncodeIvf({}, {0xFFFFFFFFu, 0xFFFFFFFFu, 3}, ""))},
  };
  for (const auto& [what, change] : changes) {
    ExpectCode(base::ErrorCode::kCorrupt, FlatFiles(), change, what);
  }
}

TEST(IndexFiles, MetadataThatContradictsItselfIsCorrupt) {
  const auto erase = [](const char* key) {
    return [key](Files* files) { files->auxiliary->EraseMetadata(key); };
  };
  const auto storage = [](std::string text) {
    return [text = std::move(text)](Files* files) {
      files->auxiliary->SetMetadata("storage_metadata", text);
    };
  };
  const auto codebook = [](std::string bytes) {
    return
        [bytes = std::move(bytes)](Files* files) { files->auxiliary->global_buffers()[2] = bytes; };
  };
  const std::vector<std::pair<const char*, Change>> changes = {
      {"no type", [](Files* files) { files->index->EraseMetadata("lance:index"); }},
      {"no model", erase("lance:ivf")},
      {"no storage", erase("storage_metadata")},
      {"model text", [](Files* files) { files->index->SetMetadata("lance:ivf", "1x"); }},
      {"model sign", [](Files* files) { files->index->SetMetadata("lance:ivf", "-1"); }},
      {"model number", [](Files* files) { files->index->SetMetadata("lance:ivf", "2"); }},
      {"metric", [](Files* files) { files->auxiliary->SetMetadata("distance_type", "dot"); }},
      {"other width", storage(PqMetadata(2, 4, 4, 8))},
      {"no sub-vectors", storage(PqMetadata(2, 4, 0, 4))},
      {"too many sub-vectors", storage(PqMetadata(2, 4, 8, 4))},
      {"odd sub-vectors", storage(PqMetadata(2, 4, 1, 4))},
      {"codebook position", storage(PqMetadata(3, 4, 4, 4))},
      {"bits unlike the codebook", storage(PqMetadata(2, 8, 2, 4))},
      {"codebook shape", codebook(EncodeTensor(kFloat32, {4, 16}, Floats(64)))},
      {"codebook type", codebook(EncodeTensor(1, {16, 4}, std::string(128, '\0')))},
      {"codebook bytes", codebook(EncodeTensor(kFloat32, {16, 4}, Floats(63)))},
  };
  for (const auto& [what, change] : changes) {
    ExpectCode(base::ErrorCode::kCorrupt, PqFiles(), change, what);
  }
}

TEST(IndexFiles, ColumnsOfAnotherShapeAreCorrupt) {
  const auto retype = [](size_t column, const char* type) {
    return [column, type](Files* files) {
      files->auxiliary->mutable_schema().fields[column].logical_type = type;
    };
  };
  const auto rename = [](size_t column) {
    return [column](Files* files) { files->auxiliary->mutable_schema().fields[column].name = "x"; };
  };
  const std::vector<std::pair<const char*, Change>> changes = {
      {"row ids", retype(0, "int64")},
      {"no row ids", rename(0)},
      {"no codes", rename(1)},
      {"codes of another width", retype(1, "fixed_size_list:uint8:4")},
      {"codes of another type", retype(1, "fixed_size_list:int8:2")},
      {"codes that are no lists", retype(1, "uint8")},
  };
  for (const auto& [what, change] : changes) {
    ExpectCode(base::ErrorCode::kCorrupt, PqFiles(), change, what);
  }
}

TEST(IndexFiles, NullsInAPartitionAreCorrupt) {
  const Files files = PqFiles();
  const std::string valid("\x0f", 1);  // row 4 is null
  files.auxiliary->arrays()[0] = std::make_shared<arrow::UInt64Array>(
      5, files.auxiliary->arrays()[0]->data()->buffers[1], arrow::Buffer::FromString(valid));
  const auto index = files.Assemble().ValueOrDie();
  EXPECT_TRUE(index->ReadPartition(0).ok());
  EXPECT_EQ(base::CodeOf(index->ReadPartition(2).status()), base::ErrorCode::kCorrupt);
}

}  // namespace
}  // namespace kinjo::format
