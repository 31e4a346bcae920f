// Codes the rows of a column by the model of an index that exists, and compares with what that
// index stores: partitions, codes and factors.
//
//   row_codes DIRECTORY TYPE ROWS DIM
//
// DIRECTORY is `_indices/<uuid>` of an index over rows 0, 1, ... of the file ROWS, raw elements of
// TYPE (float16, float32, float64, uint8). Prints one line of JSON: how many rows were compared and
// how many we put into another partition; how many bytes of the first column and of the ex codes
// differ; and the greatest difference of each factor, relative to the largest.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <map>
#include <string>
#include <vector>

#include "format/index_file/index_files.h"
#include "index/row_encoder.h"
#include "io/random_reader.h"

namespace kinjo {
namespace {

struct Comparison {
  int64_t rows = 0;
  int64_t moved = 0;
  int64_t codes = 0;
  int64_t code_bytes = 0;
  int64_t ex_codes = 0;
  double add = 0;
  double scale = 0;
};

double Difference(const std::shared_ptr<arrow::Buffer>& ours,
                  const std::shared_ptr<arrow::Buffer>& theirs) {
  const auto* a = reinterpret_cast<const float*>(ours->data());
  const auto* b = reinterpret_cast<const float*>(theirs->data());
  double largest = 0;
  double difference = 0;
  for (int64_t i = 0; i < ours->size() / 4; ++i) {
    largest = std::max<double>(largest, std::abs(b[i]));
    difference = std::max<double>(difference, std::abs(a[i] - b[i]));
  }
  return largest == 0 ? difference : difference / largest;
}

int64_t Unequal(const std::shared_ptr<arrow::Buffer>& ours,
                const std::shared_ptr<arrow::Buffer>& theirs) {
  int64_t unequal = 0;
  for (int64_t i = 0; i < ours->size(); ++i) unequal += ours->data()[i] != theirs->data()[i];
  return unequal;
}

// Compares a partition: our codes of the rows that it holds, whatever partition we put them in.
void Compare(const format::PartitionRows& ours, const format::PartitionRows& theirs,
             Comparison* comparison) {
  const int64_t unequal = Unequal(ours.codes, theirs.codes);
  comparison->codes += unequal;
  comparison->code_bytes += ours.codes->size();
  if (ours.add_factors == nullptr) return;
  comparison->add = std::max(comparison->add, Difference(ours.add_factors, theirs.add_factors));
  comparison->scale =
      std::max(comparison->scale, Difference(ours.scale_factors, theirs.scale_factors));
  if (ours.ex_codes != nullptr) comparison->ex_codes += Unequal(ours.ex_codes, theirs.ex_codes);
}

arrow::Status Run(const std::string& directory, const std::string& type, const std::string& path,
                  int64_t dim) {
  ARROW_ASSIGN_OR_RAISE(const io::Location location, io::ResolveUri(directory));
  ARROW_ASSIGN_OR_RAISE(auto files,
                        format::IndexFiles::Open(location, std::make_shared<io::IoCounters>()));
  ARROW_ASSIGN_OR_RAISE(const io::Location rows, io::ResolveUri(path));
  ARROW_ASSIGN_OR_RAISE(const auto reader, io::OpenFile(rows));
  ARROW_ASSIGN_OR_RAISE(const auto bytes, reader->Read({0, reader->size()}));
  index::ColumnVectors vectors{.data = bytes->data(), .dim = dim};
  for (const auto element : {format::ElementType::kFloat16, format::ElementType::kFloat32,
                             format::ElementType::kFloat64, format::ElementType::kUint8}) {
    if (type == format::ElementTypeName(element)) vectors.type = element;
  }
  vectors.num_rows = bytes->size() / (dim * format::ElementBytes(vectors.type));
  std::vector<uint64_t> row_ids(static_cast<size_t>(vectors.num_rows));
  for (size_t i = 0; i < row_ids.size(); ++i) row_ids[i] = i;

  ARROW_ASSIGN_OR_RAISE(const auto encoder,
                        index::RowEncoder::Make(files->ivf(), files->quantizer()));
  base::ThreadPool pool(2);
  index::EncodedRows encoded;
  ARROW_RETURN_NOT_OK(
      encoder->Encode(vectors, row_ids, {.pool = &pool, .cancel = {}, .progress = {}}, &encoded));
  const int64_t record_bytes = encoder->record_bytes();
  std::map<uint64_t, int64_t> place;
  for (int64_t i = 0; i < encoded.num_rows(); ++i) {
    uint64_t row_id;
    std::memcpy(&row_id, encoded.records.data() + i * record_bytes, sizeof(row_id));
    place[row_id] = i;
  }
  Comparison comparison;
  for (uint64_t p = 0; p < files->ivf().num_partitions(); ++p) {
    ARROW_ASSIGN_OR_RAISE(const format::PartitionRows theirs, files->ReadPartition(p));
    const auto* ids = reinterpret_cast<const uint64_t*>(theirs.row_ids->data());
    std::vector<uint8_t> records;
    for (uint64_t i = 0; i < theirs.num_rows; ++i) {
      const auto found = place.find(ids[i]);
      if (found == place.end()) return base::Invalid("Row ", ids[i], " is left out by us");
      comparison.moved += encoded.partitions[found->second] != p;
      const uint8_t* record = encoded.records.data() + found->second * record_bytes;
      records.insert(records.end(), record, record + record_bytes);
      ++comparison.rows;
    }
    const index::StoredPartition stored =
        encoder->Store(records.data(), static_cast<int64_t>(theirs.num_rows));
    if (theirs.num_rows > 0) Compare(ToPartitionRows(*encoder, stored), theirs, &comparison);
  }
  std::printf(
      "{\"rows\": %lld, \"encoded\": %lld, \"moved\": %lld, \"code_bytes\": %lld, "
      "\"other_code_bytes\": %lld, \"other_ex_bytes\": %lld, \"add\": %.3g, \"scale\": %.3g}\n",
      static_cast<long long>(comparison.rows), static_cast<long long>(encoded.num_rows()),
      static_cast<long long>(comparison.moved), static_cast<long long>(comparison.code_bytes),
      static_cast<long long>(comparison.codes), static_cast<long long>(comparison.ex_codes),
      comparison.add, comparison.scale);
  return arrow::Status::OK();
}

}  // namespace
}  // namespace kinjo

int main(int argc, char** argv) {
  if (argc != 5) {
    std::cerr << "usage: row_codes DIRECTORY TYPE ROWS DIM\n";
    return 2;
  }
  const arrow::Status status = kinjo::Run(argv[1], argv[2], argv[3], std::atoll(argv[4]));
  if (status.ok()) return 0;
  std::cerr << kinjo::base::ErrorCodeName(kinjo::base::CodeOf(status)) << ": "
            << kinjo::base::MessageOf(status) << "\n";
  return 1;
}
