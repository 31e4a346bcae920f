// One opened segment of an IVF index, ready to search: the model in float form, ranking, and
// partitions decoded into the grouped form that kernels/block_scan.h multiplies. Never sees a
// dataset: it deals in row ids and slots.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "format/index_file/graph_model.h"
#include "format/index_file/index_files.h"
#include "index/node_scorer.h"
#include "kernels/block_scan.h"
#include "kernels/byte_scan.h"
#include "kernels/metric.h"

namespace kinjo::index {

/// Queries prepared for one metric, row-major [num_queries][dim], in float64 so that a query far
/// from the origin keeps its digits. Rows for cosine are unit vectors.
struct QueryBlock {
  std::vector<double> values;  ///< what RankPartitions compares with centroids
  /// The queries as the quantizer compares them with rows, where that isn't `values`: the numbers 0
  /// to 255 of their codes (SQ, l2 and cosine), or rotated vectors (RQ). Else empty.
  std::vector<double> coded;
  /// The numbers of `query` as bytes, where they are such: hamming, and SQ for l2 and cosine.
  std::vector<uint8_t> bytes;
  int64_t num_queries = 0;
  int64_t dim = 0;
  /// For MoveQuery and Distance.
  const double* query(int64_t i) const { return (coded.empty() ? values : coded).data() + i * dim; }
  const uint8_t* query_bytes(int64_t i) const { return bytes.data() + i * dim; }
  /// For RankPartitions.
  const double* ranked_query(int64_t i) const { return values.data() + i * dim; }
};

/// A partition and the distance of a query to its centroid, on the metric's ranking scale (l2 for
/// l2 and cosine, 1 - dot for dot).
struct RankedPartition {
  uint32_t partition;
  float distance;
};

/// One partition's live rows, decoded. Rows are stored relative to the partition's centroid (SQ: to
/// the centroid's code) for l2 and cosine (r = x - c) and as they are for dot; so are queries that
/// MoveQuery prepared. IVF_FLAT under cosine divides them by their norm first.
struct DecodedPartition {
  /// Set by the caller before Decode: also make the rows' bytes (GroupedRows::MakeCodes), which
  /// pays from IvfSegment::queries_for_codes() on. PQ makes rows of bytes alone then, if it can.
  bool make_codes = false;
  /// Set by the caller before Decode: where rows are bytes, queries have QueryBlock::bytes and the
  /// machine scans those (kernels::ScansBytes), make `bytes` instead of `rows`.
  bool make_bytes = false;

  /// Set by the caller before Decode: the stored row of its first address, not 0 where a partition
  /// is decoded a slice of rows at a time.
  uint64_t first_stored = 0;

  bool has_bytes = false;       ///< Decode made `bytes`
  kernels::GroupedBytes bytes;  ///< the rows kept, in storage order
  double byte_unit = 0;         ///< what a squared difference is multiplied by: the distance

  kernels::GroupedRows rows;        ///< only the rows kept, in storage order
  std::vector<uint64_t> addresses;  ///< address of each kept row, parallel to rows

  // What Distance reads.
  std::shared_ptr<arrow::Buffer> codes;    ///< PartitionRows::codes
  uint64_t num_stored = 0;                 ///< PartitionRows::num_rows
  std::vector<uint32_t> storage_position;  ///< stored row of each kept row, parallel to rows
  // Of SQ and RQ only.
  std::vector<double> centre;  ///< the centroid: its code, or rotated
  // Of RQ only.
  std::shared_ptr<arrow::Buffer> ex_codes;  ///< PartitionRows::ex_codes
  std::vector<double> row_scales;           ///< of each kept row: one step of its codes
  std::vector<double> row_terms;            ///< of each kept row: what its codes don't say
};

/// Immutable and thread-safe.
class IvfSegment {
 public:
  /// Chooses the class that the metric and the element type ask for.
  static arrow::Result<std::shared_ptr<IvfSegment>> Make(std::shared_ptr<format::IndexFiles> files);
  virtual ~IvfSegment() = default;

  virtual const std::string& index_type() const = 0;
  virtual kernels::Metric metric() const = 0;
  virtual int64_t num_partitions() const = 0;
  virtual int64_t dim() const = 0;
  virtual format::ElementType element_type() const = 0;
  virtual uint64_t partition_rows(int64_t partition) const = 0;
  /// The least that Load has to read of a partition.
  virtual uint64_t partition_bytes(int64_t partition) const = 0;
  /// True when codes are the vectors themselves (IVF_FLAT), so that distances are exact. Not so for
  /// float16 under cosine: the unit vectors that are stored there are rounded to float16.
  virtual bool is_exact() const = 0;

  /// Prepares left vectors, [num][dim] float64: cosine normalises, in double; a zero vector stays
  /// zero. Where distances are approximate anyway, queries are first rounded to the index's element
  /// type as Lance does it (float16 cosine: afterwards too). An exact index keeps their digits.
  virtual QueryBlock PrepareQueries(std::span<const double> vectors) const = 0;

  /// The `limit` nearest partitions of queries [begin, end), nearest first, ties by partition id:
  /// of queries in the index's element type, whatever PrepareQueries kept. Distances are canonical.
  /// out[i] belongs to query begin + i.
  virtual void RankPartitions(const QueryBlock& queries, int64_t begin, int64_t end, int64_t limit,
                              std::vector<std::vector<RankedPartition>>* out) const = 0;

  /// The same partitions, cheaper: the nearest one comes first (or one that the block kernel can't
  /// tell from it), the others in any order, and distances mean nothing.
  virtual void PickPartitions(const QueryBlock& queries, int64_t begin, int64_t end, int64_t limit,
                              std::vector<std::vector<RankedPartition>>* out) const {
    RankPartitions(queries, begin, end, limit, out);
  }

  /// Reads one partition's row ids: `num_rows` and `row_ids` alone are set.
  virtual arrow::Result<format::PartitionRows> LoadRowIds(int64_t partition) const = 0;
  /// Reads the rest of a partition into `stored`, which LoadRowIds gave.
  virtual arrow::Status LoadCodes(int64_t partition, format::PartitionRows* stored) const = 0;
  /// Reads both.
  arrow::Result<format::PartitionRows> Load(int64_t partition) const;
  /// Reads both of `count` partitions from `first` on, in as few reads as columns are stored.
  virtual arrow::Result<std::vector<format::PartitionRows>> LoadRun(int64_t first,
                                                                    int64_t count) const;
  /// Decodes the rows whose entry in `addresses` (parallel to the stored rows from
  /// out->first_stored on) isn't `dead`. Rows
  /// that can't match aren't kept either: flat vectors with an element that isn't finite, or zero
  /// under cosine; RQ codes with a factor that isn't finite.
  virtual void Decode(int64_t partition, const format::PartitionRows& stored,
                      std::span<const uint64_t> addresses, uint64_t dead,
                      DecodedPartition* out) const = 0;

  /// True where Decode makes bytes when asked to.
  virtual bool scans_bytes() const { return false; }

  /// Queries of one partition from which on its rows should be made bytes.
  virtual int64_t queries_for_codes() const { return 12; }

  /// Writes query - centroid (l2, cosine) or the query (dot) as float into moved[dim], as the rows
  /// of the decoded partition are; returns its squared norm. `query` is QueryBlock::query(i), here
  /// and below.
  virtual double MoveQuery(int64_t partition, const double* query, const DecodedPartition& rows,
                           float* moved) const = 0;

  /// The reported distance of a prepared query to row `slot` of a decoded partition, on the
  /// contract's scale (cosine: 1 - cos, half of the squared l2 of unit vectors).
  virtual float Distance(int64_t partition, const double* query, const DecodedPartition& rows,
                         int64_t slot) const = 0;

  /// True when each partition has a graph over its rows (IVF_HNSW_*).
  virtual bool has_graph() const { return false; }
  /// The most that the graph of one partition takes in memory.
  virtual uint64_t graph_bytes(int64_t /*partition*/) const { return 0; }
  /// Reads the graph of one partition. Requires has_graph(), as does all that follows.
  virtual arrow::Result<format::PartitionGraph> LoadGraph(int64_t partition) const;
  /// Sets to `dead` the addresses (parallel to the stored rows) of the rows that Decode wouldn't
  /// keep.
  virtual void DropUnmatchable(const format::PartitionRows& /*stored*/,
                               std::span<uint64_t> /*addresses*/, uint64_t /*dead*/) const {}
  /// How far stored rows of a partition are from a prepared query. Both, and the segment, must
  /// outlive the scorer.
  virtual std::unique_ptr<NodeScorer> MakeScorer(int64_t partition, const double* query,
                                                 const format::PartitionRows& stored) const;
};

/// Lance 14's adaptive first round: how many of the ranked partitions to visit (before clamping to
/// minimum and maximum). `ranked` holds the distances of all partitions of one segment, rising; its
/// first AdaptiveProbeCap(metric, k) entries give the same answer.
int64_t AdaptiveProbeCount(kernels::Metric metric, int64_t k, std::span<const float> ranked);
/// The most that AdaptiveProbeCount can answer: as many ranks are worth computing for the first
/// round.
int64_t AdaptiveProbeCap(kernels::Metric metric, int64_t k);
/// The first round that `effort` (in [0, 1]) asks for, where the adaptive rule alone would visit
/// `adaptive` partitions: geometrically from `minimum` (at 0, not below 1) over `adaptive` (at 0.5)
/// to `maximum` (at 1). Rises with `effort` and with `adaptive`.
int64_t EffortProbeCount(double effort, int64_t adaptive, int64_t minimum, int64_t maximum);

}  // namespace kinjo::index
