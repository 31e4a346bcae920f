#include "index/pq_trainer.h"

#include <algorithm>

#include "index/chance.h"
#include "index/kmeans.h"

namespace kinjo::index {

namespace {

// A sub-vector of all rows, moved to the origin, as k-means takes it.
template <typename T>
struct SubVectors {
  SubVectors(const T* rows, int64_t num_rows, int64_t dim, int64_t first, int64_t sub_dim)
      : mean(static_cast<size_t>(sub_dim)), values(static_cast<size_t>(num_rows * sub_dim)) {
    for (int64_t j = 0; j < sub_dim; ++j) {
      double sum = 0;
      for (int64_t i = 0; i < num_rows; ++i) sum += rows[i * dim + first + j];
      mean[j] = static_cast<T>(sum / static_cast<double>(num_rows));
    }
    for (int64_t i = 0; i < num_rows; ++i) {
      for (int64_t j = 0; j < sub_dim; ++j) {
        values[i * sub_dim + j] = static_cast<float>(rows[i * dim + first + j] - mean[j]);
      }
    }
  }

  std::vector<T> mean;
  std::vector<float> values;
};

}  // namespace

template <typename T>
arrow::Result<std::vector<T>> TrainPqCodebook(const T* rows, int64_t num_rows, int64_t dim,
                                              const PqTraining& training,
                                              const BuildContext& context) {
  const int64_t sub_dim = dim / training.num_sub_vectors;
  const int64_t entries = training.num_entries();
  std::vector<T> codebook(static_cast<size_t>(dim * entries));
  const BuildContext silent{.pool = context.pool, .cancel = context.cancel, .progress = {}};
  const auto train = [&](int64_t m) -> arrow::Status {
    const SubVectors<T> sub(rows, num_rows, dim, m * sub_dim, sub_dim);
    ARROW_ASSIGN_OR_RAISE(const KMeansResult trained,
                          TrainKMeans(sub.values.data(), num_rows, sub_dim,
                                      {.num_clusters = entries,
                                       .max_iterations = training.max_iterations,
                                       .seed = ChanceBits(training.seed, static_cast<uint64_t>(m))},
                                      silent));
    T* out = codebook.data() + m * entries * sub_dim;
    for (int64_t i = 0; i < entries * sub_dim; ++i) {
      out[i] = static_cast<T>(trained.centroids[i] + sub.mean[i % sub_dim]);
    }
    return arrow::Status::OK();
  };
  // Side by side where there are enough of them: k-means of few elements gains little from threads.
  const int64_t together =
      training.num_sub_vectors >= context.pool->size() ? context.pool->size() : 1;
  for (int64_t m = 0; m < training.num_sub_vectors; m += together) {
    const int64_t count = std::min(together, training.num_sub_vectors - m);
    if (count == 1) {
      ARROW_RETURN_NOT_OK(train(m));
    } else {
      ARROW_RETURN_NOT_OK(context.pool->ParallelFor(
          count, context.cancel, [&](int64_t item, int) { return train(m + item); }));
    }
    context.Report(static_cast<double>(m + count) / static_cast<double>(training.num_sub_vectors));
  }
  return codebook;
}

template arrow::Result<std::vector<float>> TrainPqCodebook(const float*, int64_t, int64_t,
                                                           const PqTraining&, const BuildContext&);
template arrow::Result<std::vector<double>> TrainPqCodebook(const double*, int64_t, int64_t,
                                                            const PqTraining&, const BuildContext&);

}  // namespace kinjo::index
