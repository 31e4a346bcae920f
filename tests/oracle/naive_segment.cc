#include "tests/oracle/naive_segment.h"

#include <limits>

namespace kinjo::oracle {

NaiveSegment::NaiveSegment(std::shared_ptr<format::IndexFiles> files) : files_(std::move(files)) {
  for (size_t p = 0; p < num_partitions(); ++p) {
    centroids_.push_back(Elements(type(), *files_->ivf().centroids.data, p * dim(), dim()));
    partitions_.push_back(files_->ReadPartition(p).ValueOrDie());
    std::vector<uint64_t> ids;
    for (size_t i = 0; i < partitions_[p].num_rows; ++i) {
      ids.push_back(ReadAs<uint64_t>(partitions_[p].row_ids->data(), i));
    }
    row_ids_.push_back(std::move(ids));
    rows_.emplace_back();
    for (size_t i = 0; i < partitions_[p].num_rows; ++i) rows_[p].push_back(Row(p, i));
    const bool rotates = kind() == format::QuantizerKind::kRq;
    rotated_centroids_.push_back(rotates ? Rotate(centroids_[p]) : Numbers());
  }
}

Numbers NaiveSegment::Row(size_t partition, size_t row) const {
  switch (kind()) {
    case format::QuantizerKind::kPq:
      return PqRow(partition, row);
    case format::QuantizerKind::kSq:
      return SqRow(partition, row);
    case format::QuantizerKind::kRq:
      return RqRow(partition, row);
    case format::QuantizerKind::kFlat:
      break;
  }
  return FlatRow(partition, row);
}

// Where distances are exact a query isn't rounded.
bool NaiveSegment::keeps_digits() const {
  if (kind() != format::QuantizerKind::kFlat) return false;
  return !(cosine() && type() == format::ElementType::kFloat16);
}

NaiveQuery NaiveSegment::Prepare(const Numbers& left) const {
  NaiveQuery query{.values = keeps_digits() ? left : Rounded(type(), left)};
  if (cosine()) {
    query.values = Unit(query.values);
    if (type() == format::ElementType::kFloat16) query.values = Rounded(type(), query.values);
  }
  if (kind() == format::QuantizerKind::kRq) query.rotated = Rotate(query.values);
  return query;
}

std::vector<std::pair<float, uint32_t>> NaiveSegment::Rank(const NaiveQuery& prepared) const {
  // Unit vectors are ranked as they are, others in the index's type.
  const Numbers query = cosine() ? prepared.values : Rounded(type(), prepared.values);
  std::vector<std::pair<float, uint32_t>> ranked;
  for (size_t p = 0; p < num_partitions(); ++p) {
    auto distance = std::numeric_limits<float>::infinity();
    if (metric() == "hamming") {
      distance = static_cast<float>(DifferingBits(query, centroids_[p]));
    } else if (IsFinite(centroids_[p])) {
      distance = static_cast<float>(metric() == "dot" ? 1 - Dot(query, centroids_[p])
                                                      : SquaredL2(query, centroids_[p]));
    }
    ranked.emplace_back(distance, static_cast<uint32_t>(p));
  }
  std::sort(ranked.begin(), ranked.end());
  return ranked;
}

Numbers NaiveSegment::FlatRow(size_t partition, size_t row) const {
  return Elements(type(), *partitions_[partition].codes, row * dim(), dim());
}

Numbers NaiveSegment::PqRow(size_t partition, size_t row) const {
  const auto& pq = std::get<format::PqCodebook>(files_->quantizer());
  const format::PartitionRows& stored = partitions_[partition];
  const size_t sub_dim = dim() / pq.num_sub_vectors;
  const size_t entries = size_t{1} << pq.num_bits;
  const size_t code_bytes = pq.num_sub_vectors * pq.num_bits / 8;
  const bool planes = pq.transposed && !files_->ivf().kind.has_graph;
  Numbers out;
  for (size_t m = 0; m < pq.num_sub_vectors; ++m) {
    const size_t b = m * pq.num_bits / 8;
    const uint8_t byte =
        stored.codes->data()[planes ? b * stored.num_rows + row : row * code_bytes + b];
    const size_t code = pq.num_bits == 8 ? byte : m % 2 == 0 ? byte & 15 : byte >> 4;
    const Numbers entry =
        Elements(pq.codebook.type, *pq.codebook.data, (m * entries + code) * sub_dim, sub_dim);
    out.insert(out.end(), entry.begin(), entry.end());
  }
  return out;
}

Numbers NaiveSegment::SqRow(size_t partition, size_t row) const {
  return Elements(format::ElementType::kUint8, *partitions_[partition].codes, row * dim(), dim());
}

namespace {

// The ex bits of element i of a block of 64, by the table of the format's page.
unsigned ExBits(const uint8_t* block, unsigned ex, size_t i) {
  const size_t part = i / 16;
  const size_t b = i % 16;
  const auto top = [&](size_t plane) {
    return static_cast<unsigned>(block[plane + b % 8] >> (2 * part + b / 8) & 1) << (ex - 1);
  };
  const auto pairs = [&] { return static_cast<unsigned>(block[b] >> (2 * part) & 3); };
  const auto sixes = [&] {
    if (part < 3) return static_cast<unsigned>(block[16 * part + b] & 63);
    unsigned bits = 0;
    for (unsigned k = 0; k < 3; ++k) bits |= static_cast<unsigned>(block[16 * k + b] >> 6) << 2 * k;
    return bits;
  };
  switch (ex) {
    case 0:
      return 0;
    case 1:
      return block[i / 8] >> (i % 8) & 1;
    case 2:
      return pairs();
    case 3:
      return pairs() | top(16);
    case 4:
      return block[8 * part + b % 8] >> (b < 8 ? 0 : 4) & 15;
    case 5:
      return (block[16 * (i / 32) + b] >> (i % 32 < 16 ? 0 : 4) & 15) | top(32);
    case 6:
      return sixes();
    case 7:
      return sixes() | top(48);
    default:
      return block[i];
  }
}

unsigned SignBit(const format::PartitionRows& stored, bool packed, size_t dim, size_t row,
                 size_t i) {
  constexpr size_t kOrder[16] = {0, 8, 1, 9, 2, 10, 3, 11, 4, 12, 5, 13, 6, 14, 7, 15};
  const uint8_t* codes = stored.codes->data();
  const size_t row_bytes = dim / 8;
  const size_t byte = i / 8;
  if (!packed) return codes[row * row_bytes + byte] >> (i % 8) & 1;
  const size_t first = row / 32 * 32;
  const uint8_t* block = codes + first * row_bytes;
  if (stored.num_rows - first < 32) {
    return block[byte * (stored.num_rows - first) + row - first] >> (i % 8) & 1;
  }
  for (size_t j = 0; j < 16; ++j) {
    for (const size_t high : {0, 16}) {
      if (first + kOrder[j] + high != row) continue;
      const uint8_t half = block[32 * byte + j + (i % 8 < 4 ? 0 : 16)];
      return half >> (high == 0 ? 0 : 4) >> (i % 4) & 1;
    }
  }
  return 0;
}

}  // namespace

// Twice the f of the format's page: odd whole numbers.
Numbers NaiveSegment::RqRow(size_t partition, size_t row) const {
  const auto& rq = std::get<format::RqModel>(files_->quantizer());
  const format::PartitionRows& stored = partitions_[partition];
  const unsigned ex = rq.ex_bits();
  const size_t row_bytes = (dim() + 63) / 64 * 8 * ex;
  Numbers out(dim());
  for (size_t i = 0; i < dim(); ++i) {
    unsigned low = 0;
    if (ex > 0) {
      low = ExBits(stored.ex_codes->data() + row * row_bytes + i / 64 * 8 * ex, ex, i % 64);
    }
    const unsigned code = SignBit(stored, rq.packed, dim(), row, i) << ex | low;
    out[i] = 2.0 * code - ((2u << ex) - 1);
  }
  return out;
}

Numbers NaiveSegment::Rotate(Numbers x) const {
  const auto& rq = std::get<format::RqModel>(files_->quantizer());
  const size_t d = dim();
  if (rq.signs.empty()) {
    Numbers out(d);
    for (size_t i = 0; i < d; ++i) {
      out[i] = Dot(Elements(rq.matrix.type, *rq.matrix.data, i * d, d), x);
    }
    return out;
  }
  const size_t t = std::bit_floor(d);
  for (size_t round = 0; round < 4; ++round) {
    for (size_t i = 0; i < d; ++i) {
      if (rq.signs[round * ((d + 7) / 8) + i / 8] >> (i % 8) & 1) x[i] = -x[i];
    }
    double* part = x.data() + (round % 2 == 0 ? 0 : d - t);
    for (size_t half = 1; half < t; half *= 2) {
      for (size_t i = 0; i < t; ++i) {
        if (i / half % 2 == 1) continue;
        const double a = part[i];
        const double b = part[i + half];
        part[i] = a + b;
        part[i + half] = a - b;
      }
    }
    const double scale = 1 / std::sqrt(static_cast<double>(t));
    for (size_t i = 0; i < t; ++i) part[i] *= scale;
    for (size_t i = 0; t < d && i < d / 2; ++i) {
      const double a = x[i];
      const double b = x[i + d / 2];
      x[i] = a + b;
      x[i + d / 2] = a - b;
    }
  }
  for (size_t i = 0; t < d && i < d; ++i) x[i] /= 4;
  return x;
}

double NaiveSegment::SqCode(double value) const {
  const auto& sq = std::get<format::SqModel>(files_->quantizer());
  if (sq.end == sq.start) return 0;
  const double steps = (value - sq.start) * 255 / (sq.end - sq.start);
  return std::floor(std::clamp(steps, 0.0, 255.0));
}

bool NaiveSegment::CanMatch(size_t partition, size_t row) const {
  if (kind() == format::QuantizerKind::kFlat) {
    const Numbers& vector = rows_[partition][row];
    return IsFinite(vector) && !(cosine() && IsZero(vector));
  }
  if (kind() != format::QuantizerKind::kRq) return true;
  const format::PartitionRows& stored = partitions_[partition];
  return std::isfinite(ReadAs<float>(stored.add_factors->data(), row)) &&
         std::isfinite(ReadAs<float>(stored.scale_factors->data(), row));
}

double NaiveSegment::FlatDistance(const Numbers& query, const Numbers& row) const {
  if (metric() == "hamming") return DifferingBits(query, row);
  if (metric() == "l2") return SquaredL2(query, row);
  if (metric() == "dot") return 1 - Dot(query, row);
  const double norms = std::sqrt(Dot(query, query)) * std::sqrt(Dot(row, row));
  return std::max(0.0, 1 - Dot(query, row) / norms);
}

double NaiveSegment::PqDistance(const Numbers& query, size_t partition, size_t row) const {
  const Numbers& entries = rows_[partition][row];
  if (metric() == "dot") return 1 - Dot(query, entries);
  Numbers residual(dim());
  for (size_t j = 0; j < dim(); ++j) residual[j] = query[j] - centroids_[partition][j];
  if (type() == format::ElementType::kFloat16) residual = Rounded(type(), residual);
  return SquaredL2(residual, entries);
}

double NaiveSegment::SqDistance(const Numbers& query, size_t partition, size_t row) const {
  const auto& sq = std::get<format::SqModel>(files_->quantizer());
  const double step = static_cast<float>(sq.end - sq.start) / 255.0f;
  const Numbers& codes = rows_[partition][row];
  if (metric() == "dot") {
    Numbers vector(dim());
    for (size_t j = 0; j < dim(); ++j) vector[j] = sq.start + codes[j] * step;
    return 1 - Dot(query, vector);
  }
  double sum = 0;  // of whole numbers
  for (size_t j = 0; j < dim(); ++j) {
    const bool rounds = type() == format::ElementType::kFloat32;
    const double code = SqCode(rounds ? Rounded(type(), query[j]) : query[j]);
    sum += (code - codes[j]) * (code - codes[j]);
  }
  return sum * (step * step);
}

// The sums of the format's page in the order that it fixes: a coded row is s d in the rotated
// space, d = 2 f, and what is left over is a number of the row alone.
double NaiveSegment::RqDistance(const NaiveQuery& query, size_t partition, size_t row) const {
  const format::PartitionRows& stored = partitions_[partition];
  const double add = ReadAs<float>(stored.add_factors->data(), row);
  const double scale = ReadAs<float>(stored.scale_factors->data(), row);
  const Numbers& d = rows_[partition][row];
  const Numbers& q = query.rotated;
  const Numbers& c = rotated_centroids_[partition];
  Numbers vector(dim());
  if (metric() == "dot") {
    const double norm2 = Dot(c, c);
    const double share = norm2 == 0 ? 1 : 1 - (add - 1) / norm2;
    for (size_t j = 0; j < dim(); ++j) vector[j] = share * c[j] + (-scale / 2) * d[j];
    return 1 - Dot(q, vector);
  }
  const double s = -scale / 4;
  const double rest = add + scale / 2 * Dot(c, d) - s * s * Dot(d, d);
  Numbers residual(dim());
  for (size_t j = 0; j < dim(); ++j) {
    residual[j] = q[j] - c[j];
    vector[j] = s * d[j];
  }
  return SquaredL2(residual, vector) + rest;
}

float NaiveSegment::Distance(const NaiveQuery& query, size_t partition, size_t row) const {
  double distance = 0;
  switch (kind()) {
    case format::QuantizerKind::kFlat:
      return static_cast<float>(FlatDistance(query.values, rows_[partition][row]));
    case format::QuantizerKind::kPq:
      distance = PqDistance(query.values, partition, row);
      break;
    case format::QuantizerKind::kSq:
      distance = SqDistance(query.values, partition, row);
      break;
    case format::QuantizerKind::kRq:
      distance = RqDistance(query, partition, row);
      break;
  }
  // Half of the squared l2 of unit vectors is 1 - cos.
  return static_cast<float>(cosine() ? distance / 2 : distance);
}

}  // namespace kinjo::oracle
