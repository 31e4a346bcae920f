#include "index/model_trainer.h"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "index/chance.h"
#include "index/element_bounds.h"
#include "index/elements.h"
#include "index/kmeans.h"
#include "index/kmodes.h"
#include "index/nearest_vectors.h"
#include "index/pq_trainer.h"

namespace kinjo::index {

namespace {

using format::ElementType;
using format::QuantizerKind;
using kernels::Metric;

// Few partitions are trained on the rows of so many: it costs little, and centroids that fit a
// small sample fit the column less well.
constexpr int64_t kLeastSampled = 256;
constexpr int64_t kBlockRows = 1024;  // prepared at a time
constexpr int64_t kMeanRows = 4096;   // that any point near the data is found from
// What of the work is done once partitions stand, where there is a codebook to train.
constexpr double kPartitionsPart = 0.6;

format::IndexKind KindOf(const TrainingOptions& options) {
  return format::ParseIndexKind(options.index_type).value_or(format::IndexKind{});
}

/// A sample, prepared block by block; T as in row_encoder.cc.
template <typename T>
class Sample {
 public:
  Sample(const ColumnVectors& vectors, Metric metric) : vectors_(vectors), metric_(metric) {
    FindIndexedRows(vectors, metric, &positions_, &left_out_);
  }

  int64_t size() const { return static_cast<int64_t>(positions_.size()); }
  int64_t dim() const { return vectors_.dim; }
  const LeftOutRows& left_out() const { return left_out_; }

  /// Of a few rows.
  std::vector<T> Mean() const {
    const auto count = std::min<size_t>(positions_.size(), kMeanRows);
    std::vector<T> rows(count * static_cast<size_t>(dim()));
    PrepareVectors(vectors_, metric_, std::span(positions_).first(count), rows.data());
    std::vector<T> mean(static_cast<size_t>(dim()));
    for (int64_t j = 0; j < dim(); ++j) {
      double sum = 0;
      for (size_t i = 0; i < count; ++i) {
        sum += rows[i * static_cast<size_t>(dim()) + static_cast<size_t>(j)] /
               static_cast<double>(count);
      }
      mean[j] = static_cast<T>(sum);
    }
    return mean;
  }

  /// Calls body(first, rows, count) for blocks of prepared rows, on the pool.
  template <class Body>
  arrow::Status ForBlocks(const BuildContext& context, Body body) const {
    const int64_t items = (size() + kBlockRows - 1) / kBlockRows;
    return context.pool->ParallelFor(items, context.cancel, [&](int64_t item, int) {
      const int64_t first = item * kBlockRows;
      const int64_t count = std::min(kBlockRows, size() - first);
      std::vector<T> rows(static_cast<size_t>(count * dim()));
      PrepareVectors(
          vectors_, metric_,
          std::span(positions_).subspan(static_cast<size_t>(first), static_cast<size_t>(count)),
          rows.data());
      body(first, rows.data(), count);
      return arrow::Status::OK();
    });
  }

  /// Leaves `count` rows by chance.
  void Reduce(int64_t count, uint64_t seed) {
    std::vector<uint32_t> fewer;
    for (const int64_t i : SamplePositions(size(), count, seed)) fewer.push_back(positions_[i]);
    positions_ = std::move(fewer);
  }

 private:
  const ColumnVectors& vectors_;
  const Metric metric_;
  std::vector<uint32_t> positions_;
  LeftOutRows left_out_;
};

/// The stages of training, for one kind of number.
template <typename T>
class Trainer {
 public:
  Trainer(const ColumnVectors& sample, const TrainingOptions& options, const BuildContext& context)
      : vectors_(sample),
        type_(sample.type),
        options_(options),
        kind_(KindOf(options)),
        context_(context),
        sample_(sample, options.metric) {}

  arrow::Result<TrainedModel> Train();

 private:
  BuildContext Part(double from, double to) const {
    BuildContext part = context_;
    part.progress = [this, from, to](double done) { context_.Report(from + (to - from) * done); };
    return part;
  }
  int64_t dim() const { return sample_.dim(); }
  bool dot() const { return options_.metric == Metric::kDot; }
  arrow::Status TrainCentroids(const BuildContext& context);
  arrow::Status TrainPq(const BuildContext& context);
  arrow::Result<std::vector<T>> PqRows(const BuildContext& context);
  void DrawRotation();

  const ColumnVectors& vectors_;
  const ElementType type_;
  const TrainingOptions& options_;
  const format::IndexKind kind_;
  const BuildContext& context_;
  Sample<T> sample_;
  std::vector<T> centroids_;
  TrainedModel model_;
};

template <typename T>
arrow::Status Trainer<T>::TrainCentroids(const BuildContext& context) {
  if (options_.centroids.has_value()) {
    model_.ivf.centroids = *options_.centroids;
    centroids_ = WidenTensor<T>(*options_.centroids);
    return arrow::Status::OK();
  }
  centroids_.assign(static_cast<size_t>(options_.num_partitions * dim()), T{0});
  if (sample_.size() > 0) {
    // Only directions count for dot; else rows are moved to the origin, where floats are fine.
    const std::vector<T> mean =
        dot() ? std::vector<T>(static_cast<size_t>(dim()), T{0}) : sample_.Mean();
    std::vector<float> moved(static_cast<size_t>(sample_.size() * dim()));
    ARROW_RETURN_NOT_OK(
        sample_.ForBlocks(context, [&](int64_t first, const T* rows, int64_t count) {
          float* out = moved.data() + first * dim();
          // A double's range is kept within a float's, or k-means would meet infinities.
          constexpr double kMost = std::numeric_limits<float>::max();
          for (int64_t i = 0; i < count * dim(); ++i) {
            const auto from_mean = static_cast<double>(rows[i] - mean[i % dim()]);
            out[i] = static_cast<float>(std::clamp(from_mean, -kMost, kMost));
          }
        }));
    ARROW_ASSIGN_OR_RAISE(const KMeansResult trained,
                          TrainKMeans(moved.data(), sample_.size(), dim(),
                                      {.num_clusters = options_.num_partitions,
                                       .nearness = dot() ? Nearness::kDot : Nearness::kL2,
                                       .max_iterations = options_.max_iterations,
                                       .seed = options_.seed},
                                      context));
    for (size_t i = 0; i < centroids_.size(); ++i) {
      centroids_[i] = static_cast<T>(trained.centroids[i] + mean[i % mean.size()]);
    }
    RoundToElements(type_, centroids_.data(), static_cast<int64_t>(centroids_.size()));
    model_.cost = trained.cost;
    model_.imbalance = trained.imbalance();
    model_.empty_partitions = trained.empty_clusters();
    model_.iterations = trained.iterations;
  }
  model_.ivf.centroids = MakeTensor(type_, std::span<const T>(centroids_), dim());
  return arrow::Status::OK();
}

// The rows that codebooks are trained on: residuals, or for dot the rows themselves.
template <typename T>
arrow::Result<std::vector<T>> Trainer<T>::PqRows(const BuildContext& context) {
  sample_.Reduce(options_.sample_rate << options_.num_bits, ~options_.seed);
  std::vector<T> out(static_cast<size_t>(sample_.size() * dim()));
  const NearestVectors<T> nearest(centroids_, dim(), Nearness::kL2);
  ARROW_RETURN_NOT_OK(sample_.ForBlocks(context, [&](int64_t first, const T* rows, int64_t count) {
    T* to = out.data() + first * dim();
    if (dot()) {
      std::copy(rows, rows + count * dim(), to);
      return;
    }
    std::vector<uint32_t> partitions(static_cast<size_t>(count));
    nearest.Find(rows, dim(), count, partitions.data());
    for (int64_t i = 0; i < count; ++i) {
      const T* centroid = centroids_.data() + partitions[i] * dim();
      for (int64_t j = 0; j < dim(); ++j) to[i * dim() + j] = rows[i * dim() + j] - centroid[j];
    }
    RoundToElements(type_, to, count * dim());
  }));
  return out;
}

template <typename T>
arrow::Status Trainer<T>::TrainPq(const BuildContext& context) {
  format::PqCodebook pq;
  pq.num_bits = static_cast<uint32_t>(options_.num_bits);
  pq.num_sub_vectors = static_cast<uint32_t>(options_.num_sub_vectors);
  pq.dim = static_cast<uint32_t>(dim());
  pq.transposed = options_.transposed;
  if (options_.codebook.has_value()) {
    pq.codebook = *options_.codebook;
    model_.quantizer = std::move(pq);
    return arrow::Status::OK();
  }
  const int64_t sub_dim = dim() / options_.num_sub_vectors;
  std::vector<T> codebook(static_cast<size_t>(dim() << options_.num_bits), T{0});
  if (sample_.size() > 0) {
    ARROW_ASSIGN_OR_RAISE(const std::vector<T> rows, PqRows(context));
    ARROW_ASSIGN_OR_RAISE(codebook, TrainPqCodebook(rows.data(), sample_.size(), dim(),
                                                    {.num_sub_vectors = options_.num_sub_vectors,
                                                     .num_bits = options_.num_bits,
                                                     .max_iterations = options_.max_iterations,
                                                     .seed = ChanceBits(options_.seed, 1)},
                                                    context));
    RoundToElements(type_, codebook.data(), static_cast<int64_t>(codebook.size()));
  }
  pq.codebook = MakeTensor(type_, std::span<const T>(codebook), sub_dim);
  model_.quantizer = std::move(pq);
  return arrow::Status::OK();
}

template <typename T>
void Trainer<T>::DrawRotation() {
  format::RqModel rq;
  rq.num_bits = static_cast<uint32_t>(options_.num_bits);
  rq.packed = options_.transposed;
  const int64_t bytes = 4 * ((dim() + 7) / 8);
  for (int64_t i = 0; i < bytes; ++i) {
    rq.signs.push_back(
        static_cast<uint8_t>(ChanceBits(options_.seed ^ 0x51615u, static_cast<uint64_t>(i))));
  }
  model_.quantizer = std::move(rq);
}

template <typename T>
arrow::Result<TrainedModel> Trainer<T>::Train() {
  model_.trained_rows = sample_.size();
  model_.left_out = sample_.left_out();
  const bool pq = kind_.quantizer == QuantizerKind::kPq;
  ElementBounds bounds;
  ARROW_RETURN_NOT_OK(TrainCentroids(Part(0, pq ? kPartitionsPart : 1)));
  switch (kind_.quantizer) {
    case QuantizerKind::kPq:
      ARROW_RETURN_NOT_OK(TrainPq(Part(kPartitionsPart, 1)));
      break;
    case QuantizerKind::kSq:
      ARROW_RETURN_NOT_OK(WidenBounds(vectors_, options_.metric, context_, &bounds));
      model_.quantizer = bounds.ToModel();
      break;
    case QuantizerKind::kRq:
      DrawRotation();
      break;
    case QuantizerKind::kFlat:
      model_.quantizer = format::FlatModel{};
      break;
  }
  context_.Report(1);
  return std::move(model_);
}

arrow::Result<TrainedModel> TrainBits(const ColumnVectors& sample, const TrainingOptions& options,
                                      const BuildContext& context) {
  TrainedModel model;
  model.quantizer = format::FlatModel{};
  std::vector<uint32_t> positions;
  FindIndexedRows(sample, Metric::kHamming, &positions, &model.left_out);
  model.trained_rows = static_cast<int64_t>(positions.size());
  if (options.centroids.has_value()) {
    model.ivf.centroids = *options.centroids;
    return model;
  }
  KModesResult trained{.centroids = std::vector<uint8_t>(
                           static_cast<size_t>(options.num_partitions * sample.dim), 0)};
  if (!positions.empty()) {
    std::vector<uint8_t> rows;
    rows.reserve(positions.size() * static_cast<size_t>(sample.dim));
    for (const uint32_t i : positions) {
      rows.insert(rows.end(), sample.row(i), sample.row(i) + sample.dim);
    }
    ARROW_ASSIGN_OR_RAISE(trained, TrainKModes(rows.data(), model.trained_rows, sample.dim,
                                               {.num_clusters = options.num_partitions,
                                                .max_iterations = options.max_iterations,
                                                .seed = options.seed},
                                               context));
    model.cost = trained.cost;
    model.imbalance = Imbalance(trained.sizes);
    model.empty_partitions = std::count(trained.sizes.begin(), trained.sizes.end(), 0);
    model.iterations = trained.iterations;
  }
  model.ivf.centroids = {.type = ElementType::kUint8,
                         .rows = static_cast<uint64_t>(options.num_partitions),
                         .cols = static_cast<uint64_t>(sample.dim),
                         .data = arrow::Buffer::FromVector(std::move(trained.centroids))};
  return model;
}

// A given tensor: its form, and that it is finite.
arrow::Status CheckGiven(const format::Tensor& given, const char* what, ElementType type,
                         uint64_t rows, uint64_t cols) {
  if (given.type != type || given.rows != rows || given.cols != cols || given.data == nullptr ||
      static_cast<uint64_t>(given.data->size()) != rows * cols * format::ElementBytes(type)) {
    return base::Invalid(what, " has ", given.rows, " rows of ", given.cols, " ",
                         format::ElementTypeName(given.type), "; ", rows, " of ", cols, " ",
                         format::ElementTypeName(type), " are needed");
  }
  bool finite = true;
  if (type == ElementType::kFloat64) {
    finite = AllFinite(WidenTensor<double>(given).data(), static_cast<int64_t>(rows * cols));
  } else if (type != ElementType::kUint8) {
    finite = AllFinite(WidenTensor<float>(given).data(), static_cast<int64_t>(rows * cols));
  }
  if (!finite) return base::Invalid(what, " has an element that is NaN or infinite");
  return arrow::Status::OK();
}

arrow::Status CheckPq(const TrainingOptions& options, ElementType type, int64_t dim) {
  if (options.num_bits != 8 && options.num_bits != 4) {
    return base::Invalid("num_bits must be 8 or 4 for PQ, not ", options.num_bits);
  }
  if (options.num_sub_vectors < 1 || dim % options.num_sub_vectors != 0) {
    return base::Invalid("num_sub_vectors must divide the ", dim, " elements of a vector, not be ",
                         options.num_sub_vectors);
  }
  if (options.num_bits == 4 && options.num_sub_vectors % 2 != 0) {
    return base::Invalid("num_sub_vectors must be even for num_bits = 4, not ",
                         options.num_sub_vectors);
  }
  if (!options.codebook.has_value()) return arrow::Status::OK();
  return CheckGiven(*options.codebook, "codebook", type,
                    static_cast<uint64_t>(options.num_sub_vectors << options.num_bits),
                    static_cast<uint64_t>(dim / options.num_sub_vectors));
}

}  // namespace

arrow::Status CheckTrainingOptions(const TrainingOptions& options, ElementType type, int64_t dim) {
  constexpr int64_t kMostPartitions = int64_t{1} << 24;
  const auto kind = format::ParseIndexKind(options.index_type);
  if (!kind.has_value()) {
    return base::Invalid("type is '", options.index_type,
                         "'; there are: ", format::IndexTypeNames());
  }
  if (options.num_partitions < 1 || options.num_partitions > kMostPartitions) {
    return base::Invalid("num_partitions must be 1 to ", kMostPartitions, ", not ",
                         options.num_partitions);
  }
  if (options.sample_rate < 1 || options.max_iterations < 1) {
    return base::Invalid("sample_rate = ", options.sample_rate,
                         " and max_iterations = ", options.max_iterations, " must be at least 1");
  }
  const bool bits = options.metric == Metric::kHamming;
  if (bits != (type == ElementType::kUint8) || (bits && kind->quantizer != QuantizerKind::kFlat)) {
    return base::NotSupported("An index of type ", options.index_type, " over ",
                              format::ElementTypeName(type), " vectors with metric ",
                              kernels::MetricName(options.metric),
                              " isn't built; uint8 vectors are indexed for hamming by IVF_FLAT and "
                              "IVF_HNSW_FLAT, others for l2, cosine and dot");
  }
  if (kind->quantizer == QuantizerKind::kPq) ARROW_RETURN_NOT_OK(CheckPq(options, type, dim));
  if (kind->quantizer == QuantizerKind::kSq && options.num_bits != 8) {
    return base::Invalid("num_bits must be 8 for SQ, not ", options.num_bits);
  }
  if (kind->quantizer == QuantizerKind::kRq) {
    if (options.num_bits < 1 || options.num_bits > 9) {
      return base::Invalid("num_bits must be 1 to 9 for RQ, not ", options.num_bits);
    }
    if (dim % 8 != 0) {
      return base::Invalid("RQ codes vectors of a multiple of 8 elements, not of ", dim);
    }
  }
  if (options.codebook.has_value() && kind->quantizer != QuantizerKind::kPq) {
    return base::Invalid("codebook is for PQ; type is '", options.index_type, "'");
  }
  if (!options.centroids.has_value()) return arrow::Status::OK();
  return CheckGiven(*options.centroids, "centroids", type,
                    static_cast<uint64_t>(options.num_partitions), static_cast<uint64_t>(dim));
}

int64_t TrainingRows(const TrainingOptions& options, int64_t num_rows) {
  int64_t wanted = 0;
  if (!options.centroids.has_value()) {
    wanted = options.sample_rate * std::max(options.num_partitions, kLeastSampled);
  }
  const QuantizerKind quantizer = KindOf(options).quantizer;
  if (quantizer == QuantizerKind::kPq && !options.codebook.has_value()) {
    wanted = std::max(wanted, options.sample_rate << options.num_bits);
  } else if (quantizer == QuantizerKind::kSq) {
    wanted = std::max(wanted, options.sample_rate << 8);
  }
  return std::min(wanted, num_rows);
}

arrow::Result<TrainedModel> TrainModel(const ColumnVectors& sample, const TrainingOptions& options,
                                       const BuildContext& context) {
  arrow::Result<TrainedModel> trained =
      sample.type == ElementType::kUint8     ? TrainBits(sample, options, context)
      : sample.type == ElementType::kFloat64 ? Trainer<double>(sample, options, context).Train()
                                             : Trainer<float>(sample, options, context).Train();
  ARROW_RETURN_NOT_OK(trained.status());
  format::IvfModel& ivf = trained->ivf;
  ivf.index_type = options.index_type;
  ivf.kind = KindOf(options);
  ivf.distance_type = kernels::MetricName(options.metric);
  ivf.lengths.assign(static_cast<size_t>(options.num_partitions), 0);
  return trained;
}

}  // namespace kinjo::index
