// Training and coding of a whole column, as an index build runs them between reading and writing:
// reads raw float32 rows and prints the seconds of training, of coding and of gathering by
// partition.
//
// coding_bench ROWS.f32 DIM PARTITIONS THREADS INDEX_TYPE NUM_BITS NUM_SUB_VECTORS
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <limits>
#include <numeric>
#include <vector>

#include "index/model_trainer.h"
#include "index/row_encoder.h"
#include "index/shuffle.h"

namespace kinjo::bench {
namespace {

using Clock = std::chrono::steady_clock;

std::vector<float> ReadFloats(const char* path) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  std::vector<float> values(static_cast<size_t>(file.tellg()) / sizeof(float));
  file.seekg(0);
  file.read(reinterpret_cast<char*>(values.data()),
            static_cast<std::streamsize>(values.size() * sizeof(float)));
  return values;
}

index::ColumnVectors Rows(const float* rows, int64_t count, int64_t dim) {
  return {.data = reinterpret_cast<const uint8_t*>(rows), .num_rows = count, .dim = dim};
}

std::vector<float> Sample(const std::vector<float>& values, int64_t dim, int64_t count) {
  const int64_t total = static_cast<int64_t>(values.size()) / dim;
  std::vector<float> sample;
  for (const int64_t i : index::SamplePositions(total, count, 0)) {
    sample.insert(sample.end(), values.begin() + i * dim, values.begin() + (i + 1) * dim);
  }
  return sample;
}

arrow::Status Run(char** argv) {
  const std::vector<float> values = ReadFloats(argv[1]);
  const int64_t dim = std::atoll(argv[2]);
  const int64_t num_rows = static_cast<int64_t>(values.size()) / dim;
  base::ThreadPool pool(std::atoi(argv[4]));
  const index::BuildContext context{.pool = &pool, .cancel = {}, .progress = {}};
  const index::TrainingOptions options{.index_type = argv[5],
                                       .num_partitions = std::atoll(argv[3]),
                                       .num_sub_vectors = std::atoll(argv[7]),
                                       .num_bits = std::atoi(argv[6])};
  const auto start = Clock::now();
  const std::vector<float> sample = Sample(values, dim, index::TrainingRows(options, num_rows));
  ARROW_ASSIGN_OR_RAISE(
      const index::TrainedModel model,
      TrainModel(Rows(sample.data(), static_cast<int64_t>(sample.size()) / dim, dim), options,
                 context));
  const auto trained = Clock::now();
  ARROW_ASSIGN_OR_RAISE(const auto encoder, index::RowEncoder::Make(model.ivf, model.quantizer));
  index::PartitionShuffle shuffle(encoder->num_partitions(), encoder->record_bytes(),
                                  std::numeric_limits<int64_t>::max(), {});
  double add_s = 0;
  constexpr int64_t kRows = 65536;
  for (int64_t first = 0; first < num_rows; first += kRows) {
    const int64_t count = std::min(kRows, num_rows - first);
    std::vector<uint64_t> row_ids(static_cast<size_t>(count));
    std::iota(row_ids.begin(), row_ids.end(), static_cast<uint64_t>(first));
    index::EncodedRows encoded;
    ARROW_RETURN_NOT_OK(
        encoder->Encode(Rows(values.data() + first * dim, count, dim), row_ids, context, &encoded));
    const auto before = Clock::now();
    ARROW_RETURN_NOT_OK(shuffle.Add(encoded));
    add_s += std::chrono::duration<double>(Clock::now() - before).count();
  }
  const auto coded = Clock::now();
  int64_t bytes = 0;
  ARROW_RETURN_NOT_OK(
      shuffle.ForEachPartition(context, [&](int64_t, const uint8_t* records, int64_t count) {
        for (const auto& column : encoder->Store(records, count).columns) bytes += column->size();
        return arrow::Status::OK();
      }));
  const auto gathered = Clock::now();
  const std::chrono::duration<double> train_s = trained - start;
  const std::chrono::duration<double> code_s = coded - trained;
  const std::chrono::duration<double> gather_s = gathered - coded;
  std::printf("train %.2f s (%d passes, imbalance %.2f), code %.2f s, gather %.2f s, %lld bytes\n",
              train_s.count(), model.iterations, model.imbalance, code_s.count() - add_s,
              gather_s.count() + add_s, static_cast<long long>(bytes));
  return arrow::Status::OK();
}

}  // namespace
}  // namespace kinjo::bench

int main(int argc, char** argv) {
  if (argc != 8) return 2;
  const arrow::Status status = kinjo::bench::Run(argv);
  if (!status.ok()) std::cerr << status << "\n";
  return status.ok() ? 0 : 1;
}
