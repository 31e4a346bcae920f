#include "tests/oracle/random_index.h"

#include <limits>

#include "index/rq_encoder.h"

namespace kinjo::oracle {

namespace {

template <typename T>
std::shared_ptr<arrow::Buffer> Store(std::vector<T> values) {
  return arrow::Buffer::FromVector(std::move(values));
}

size_t SubVectors(size_t dim) { return dim % 4 == 0 ? dim / 2 : 2; }

}  // namespace

std::shared_ptr<arrow::Buffer> StoreElements(format::ElementType type, const Numbers& values) {
  switch (type) {
    case format::ElementType::kFloat16: {
      std::vector<uint16_t> bits;
      for (const double value : values) bits.push_back(arrow::util::Float16(value).bits());
      return Store(std::move(bits));
    }
    case format::ElementType::kFloat32:
      return Store(std::vector<float>(values.begin(), values.end()));
    case format::ElementType::kFloat64:
      return Store(values);
    default:
      return Store(std::vector<uint8_t>(values.begin(), values.end()));
  }
}

RandomIndexFiles::RandomIndexFiles(const IndexRecipe& recipe, const std::vector<IndexedRow>& rows,
                                   std::mt19937_64* random)
    : recipe_(recipe), random_(random) {
  std::vector<IndexedRow> prepared = rows;
  for (IndexedRow& row : prepared) {
    if (recipe.metric == "cosine") row.vector = Rounded(recipe.type, Unit(row.vector));
  }
  ivf_ = {.index_type = recipe.index_type, .kind = recipe.kind, .distance_type = recipe.metric};
  MakeCentroids(prepared);
  MakeModel(prepared);
  std::vector<std::vector<uint64_t>> ids(recipe.partitions);
  std::vector<std::vector<Numbers>> vectors(recipe.partitions);
  for (const IndexedRow& row : prepared) {
    const size_t partition = Nearest(row.vector);
    ids[partition].push_back(row.row_id);
    vectors[partition].push_back(row.vector);
  }
  for (size_t p = 0; p < recipe.partitions; ++p) {
    ivf_.offsets.push_back(p == 0 ? 0 : ivf_.offsets.back() + ivf_.lengths.back());
    ivf_.lengths.push_back(ids[p].size());
    format::PartitionRows stored{.num_rows = ids[p].size(), .row_ids = Store(ids[p])};
    stored.code_bytes = code_bytes();
    if (recipe.kind.quantizer == format::QuantizerKind::kPq) {
      CodePq(vectors[p], p, &stored);
    } else if (recipe.kind.quantizer == format::QuantizerKind::kSq) {
      CodeSq(vectors[p], &stored);
    } else if (recipe.kind.quantizer == format::QuantizerKind::kRq) {
      CodeRq(vectors[p], p, &stored);
    } else {
      Numbers all;
      for (const Numbers& row : vectors[p]) all.insert(all.end(), row.begin(), row.end());
      stored.codes = StoreElements(recipe.type, all);
    }
    partitions_.push_back(std::move(stored));
    if (recipe.kind.has_graph) graphs_.push_back(MakeGraph(static_cast<uint32_t>(ids[p].size())));
  }
}

// Some are rows, so that distances tie; the last may be no point at all, and then has no row.
void RandomIndexFiles::MakeCentroids(const std::vector<IndexedRow>& rows) {
  Numbers all;
  for (size_t p = 0; p < recipe_.partitions; ++p) {
    Numbers centroid(recipe_.dim, 1);
    if (!rows.empty()) centroid = rows[Draw(rows.size())].vector;
    const bool bytes = recipe_.type == format::ElementType::kUint8;
    if (!bytes && Draw(3) > 0) {
      for (double& value : centroid) value *= 1 + static_cast<double>(Draw(100)) / 1000;
    }
    centroid = Rounded(recipe_.type, centroid);
    if (!bytes && p > 0 && p + 1 == recipe_.partitions && Draw(4) == 0) {
      centroid[0] = std::numeric_limits<double>::quiet_NaN();
    }
    centroids_.push_back(centroid);
    all.insert(all.end(), centroid.begin(), centroid.end());
  }
  ivf_.centroids = {.type = recipe_.type,
                    .rows = recipe_.partitions,
                    .cols = recipe_.dim,
                    .data = StoreElements(recipe_.type, all)};
}

void RandomIndexFiles::MakeModel(const std::vector<IndexedRow>& rows) {
  switch (recipe_.kind.quantizer) {
    case format::QuantizerKind::kPq:
      return MakeCodebook(rows);
    case format::QuantizerKind::kRq:
      return MakeRotation();
    case format::QuantizerKind::kSq: {
      format::SqModel sq{.start = 0, .end = 0};
      for (const IndexedRow& row : rows) {
        sq.start = std::min(sq.start, *std::min_element(row.vector.begin(), row.vector.end()));
        sq.end = std::max(sq.end, *std::max_element(row.vector.begin(), row.vector.end()));
      }
      if (Draw(3) == 0) sq.end = sq.start + (sq.end - sq.start) / 2;  // some rows lie outside
      quantizer_ = sq;
      return;
    }
    case format::QuantizerKind::kFlat:
      quantizer_ = format::FlatModel{};
  }
}

size_t RandomIndexFiles::Nearest(const Numbers& vector) const {
  size_t best = 0;
  double least = std::numeric_limits<double>::infinity();
  for (size_t p = 0; p < centroids_.size(); ++p) {
    double distance = SquaredL2(vector, centroids_[p]);
    if (recipe_.metric == "dot") distance = -Dot(vector, centroids_[p]);
    if (recipe_.metric == "hamming") distance = DifferingBits(vector, centroids_[p]);
    if (distance < least) {
      least = distance;
      best = p;
    }
  }
  return best;
}

Numbers RandomIndexFiles::Residual(const Numbers& vector, size_t partition) const {
  Numbers residual = vector;
  for (size_t j = 0; j < residual.size(); ++j) residual[j] -= centroids_[partition][j];
  return residual;
}

// Entries are sub-vectors of rows drawn at random.
void RandomIndexFiles::MakeCodebook(const std::vector<IndexedRow>& rows) {
  const size_t parts = SubVectors(recipe_.dim);
  const size_t sub_dim = recipe_.dim / parts;
  const size_t entries = size_t{1} << recipe_.bits;
  for (size_t i = 0; i < parts * entries; ++i) {
    Numbers vector(recipe_.dim, 0.5);
    if (!rows.empty()) {
      vector = rows[Draw(rows.size())].vector;
      if (recipe_.metric != "dot") vector = Residual(vector, Nearest(vector));
    }
    const auto first = vector.begin() + static_cast<int64_t>(i / entries * sub_dim);
    codebook_.insert(codebook_.end(), first, first + static_cast<int64_t>(sub_dim));
  }
  codebook_ = Rounded(recipe_.type, codebook_);
  quantizer_ = format::PqCodebook{.num_bits = recipe_.bits,
                                  .num_sub_vectors = static_cast<uint32_t>(parts),
                                  .dim = dim(),
                                  .transposed = recipe_.transposed,
                                  .codebook = {.type = recipe_.type,
                                               .rows = parts * entries,
                                               .cols = sub_dim,
                                               .data = StoreElements(recipe_.type, codebook_)}};
}

void RandomIndexFiles::CodePq(const std::vector<Numbers>& rows, size_t partition,
                              format::PartitionRows* out) {
  const size_t parts = SubVectors(recipe_.dim);
  const size_t sub_dim = recipe_.dim / parts;
  const size_t entries = size_t{1} << recipe_.bits;
  const size_t code_bytes = parts * recipe_.bits / 8;
  const bool planes = recipe_.transposed && !recipe_.kind.has_graph;
  std::vector<uint8_t> codes(rows.size() * code_bytes);
  for (size_t i = 0; i < rows.size(); ++i) {
    const Numbers row = recipe_.metric == "dot" ? rows[i] : Residual(rows[i], partition);
    for (size_t m = 0; m < parts; ++m) {
      size_t nearest = 0;
      double least = std::numeric_limits<double>::infinity();
      for (size_t e = 0; e < entries; ++e) {
        const double distance =
            SquaredL2(std::span(row).subspan(m * sub_dim, sub_dim),
                      std::span(codebook_).subspan((m * entries + e) * sub_dim, sub_dim));
        if (distance < least) {
          least = distance;
          nearest = e;
        }
      }
      const size_t b = m * recipe_.bits / 8;
      uint8_t& byte = codes[planes ? b * rows.size() + i : i * code_bytes + b];
      byte = static_cast<uint8_t>(byte | nearest << (recipe_.bits == 4 && m % 2 == 1 ? 4 : 0));
    }
  }
  out->codes = Store(std::move(codes));
}

void RandomIndexFiles::CodeSq(const std::vector<Numbers>& rows, format::PartitionRows* out) const {
  const auto& sq = std::get<format::SqModel>(quantizer_);
  std::vector<uint8_t> codes;
  for (const Numbers& row : rows) {
    for (const double value : row) {
      const double steps = (value - sq.start) * 255 / (sq.end - sq.start);
      codes.push_back(sq.end == sq.start ? 0 : static_cast<uint8_t>(std::clamp(steps, 0.0, 255.0)));
    }
  }
  out->codes = Store(std::move(codes));
}

void RandomIndexFiles::MakeRotation() {
  format::RqModel rq{.num_bits = recipe_.bits, .packed = recipe_.packed};
  if (!recipe_.matrix) {
    for (size_t i = 0; i < 4 * ((recipe_.dim + 7) / 8); ++i) {
      rq.signs.push_back(static_cast<uint8_t>(Draw(256)));
    }
    quantizer_ = rq;
    return;
  }
  // A mirror image turns nothing, but is as orthogonal as any.
  Numbers axis;
  for (size_t j = 0; j < recipe_.dim; ++j) axis.push_back(1 + static_cast<double>(Draw(9)));
  const double norm2 = Dot(axis, axis);
  Numbers matrix;
  for (size_t i = 0; i < recipe_.dim; ++i) {
    for (size_t j = 0; j < recipe_.dim; ++j) {
      matrix.push_back((i == j ? 1 : 0) - 2 * axis[i] * axis[j] / norm2);
    }
  }
  rq.matrix = {.type = format::ElementType::kFloat32,
               .rows = recipe_.dim,
               .cols = recipe_.dim,
               .data = StoreElements(format::ElementType::kFloat32, matrix)};
  quantizer_ = rq;
}

// Codes need not be good ones: each element has a code near its share of the largest, in the space
// of the residual itself, and the factors are those of a residual of that direction and length.
void RandomIndexFiles::CodeRq(const std::vector<Numbers>& rows, size_t partition,
                              format::PartitionRows* out) {
  const unsigned ex = recipe_.bits - 1;
  const double levels = static_cast<double>(2u << ex);
  std::vector<uint32_t> codes;
  std::vector<float> adds;
  std::vector<float> scales;
  for (const Numbers& row : rows) {
    const Numbers residual = Residual(row, partition);
    double largest = 1e-9;
    for (const double value : residual) largest = std::max(largest, std::abs(value));
    for (const double value : residual) {
      const double share = (value / largest + 1) / 2;
      codes.push_back(static_cast<uint32_t>(std::min(levels - 1, std::floor(share * levels))));
    }
    const double step = 2 * largest / levels;
    const bool dot = recipe_.metric == "dot";
    adds.push_back(static_cast<float>(dot ? 1 + static_cast<double>(Draw(100)) / 500
                                          : Dot(residual, residual)));
    scales.push_back(static_cast<float>(dot ? -step : -2 * step));
    if (Draw(40) == 0) adds.back() = std::numeric_limits<float>::infinity();
    if (Draw(40) == 0) scales.back() = std::numeric_limits<float>::quiet_NaN();
  }
  const auto dim = static_cast<int64_t>(recipe_.dim);
  out->codes = Store(index::EncodeSigns(codes, dim, static_cast<int>(ex), recipe_.packed));
  if (ex > 0) out->ex_codes = Store(index::EncodeExCodes(codes, dim, static_cast<int>(ex)));
  out->add_factors = Store(std::move(adds));
  out->scale_factors = Store(std::move(scales));
}

// Edges at random: some nodes are not reached by any.
format::PartitionGraph RandomIndexFiles::MakeGraph(uint32_t nodes) {
  format::PartitionGraph graph{.num_nodes = nodes};
  if (nodes == 0) return graph;
  for (size_t level = 0; level < 2; ++level) {
    format::GraphLevel made;
    made.offsets.push_back(0);
    std::vector<uint32_t> own;
    for (uint32_t node = 0; node < nodes; node += level == 0 ? 1 : 5) own.push_back(node);
    for (size_t i = 0; i < own.size(); ++i) {
      for (size_t edge = Draw(5); edge > 0; --edge) made.neighbors.push_back(own[Draw(own.size())]);
      made.offsets.push_back(static_cast<uint32_t>(made.neighbors.size()));
    }
    if (level > 0) made.nodes = own;
    graph.entry_point = own[Draw(own.size())];
    graph.levels.push_back(std::move(made));
  }
  return graph;
}

}  // namespace kinjo::oracle
