// What a way would take: seconds, bytes read and memory, from a few speeds of the machine and the
// storage. The estimates choose among ways with one answer (join/way_choice.h) and are shown by
// explain; being wrong they cost time and nothing else.
#pragma once

#include <cstdint>

#include "join/ways.h"

namespace kinjo::join {

/// Nanoseconds of one thread.
struct MachineSpeed {
  double multiply_ns = 0.05;       ///< of an element of a query and a row, on floats
  double code_multiply_ns = 0.02;  ///< the same on bytes, where the machine has that
  double group_ns = 0.3;           ///< of an element that is grouped, with its code
  double unit_ns = 1.5;            ///< the same of a row that is divided by its length before
  double canonical_ns = 0.3;       ///< of an element of a pair whose distance is reported
  double copy_ns = 0.1;            ///< of a byte that is read from memory and written
};

/// The speeds of this machine: measured when first asked for, in a few milliseconds, by the calling
/// thread. Any thread.
const MachineSpeed& MeasuredSpeed();

/// Nanoseconds that reads take beside copying.
struct StorageSpeed {
  double request_ns = 2'000;
  double byte_ns = 0;
};

/// What a store is like whose reads so far took `read_ns`, most of them small, as those of opening
/// a dataset are. Without reads: files of this machine in its cache.
StorageSpeed StorageSpeedOf(int64_t requests, int64_t read_ns);

/// True vectors that are scanned for all left rows.
struct ExactWork {
  int64_t left_rows = 0;
  int64_t block_rows = 0;  ///< of a query block
  int64_t right_rows = 0;
  int64_t batch_rows = 0;  ///< of a right block
  int64_t dim = 0;
  int64_t element_bytes = 4;
  int64_t k = 0;
  bool cosine = false;
};

/// An index that is searched, and what is refined behind it.
struct IndexWork {
  int64_t left_rows = 0;
  int64_t block_rows = 0;
  int64_t partitions = 0;
  int64_t rows = 0;   ///< of all partitions
  int64_t bytes = 0;  ///< of all partitions as stored
  double cached = 0;  ///< share of them that stays in memory
  double probes = 0;  ///< of a left row
  int64_t dim = 0;
  int64_t candidates = 0;  ///< that are handed on
  bool refines = false;
};

/// A filter over columns of the right side.
struct FilterWork {
  int64_t right_rows = 0;
  int64_t row_bytes = 0;  ///< of its columns
  double row_ns = 0;      ///< to evaluate a row
  bool indexed = false;   ///< scalar indexes may answer
  double partitions = 0;  ///< that are read, again where they don't stay in memory
  double rows_met = 0;    ///< of those partitions
};

/// Immutable.
class CostModel {
 public:
  CostModel(const MachineSpeed& machine, const StorageSpeed& storage, int threads)
      : machine_(machine), storage_(storage), threads_(threads) {}

  Estimate Exact(const ExactWork& work, ExactWay way) const;
  /// kOneByOne and the others differ by the work's block_rows, and all by what is cached.
  Estimate Index(const IndexWork& work) const;
  Estimate Filter(const FilterWork& work, FilterWay way) const;

  /// Partitions of an index that a query block reads.
  static double PartitionsTouched(const IndexWork& work, double block_rows);
  /// Partitions that a run reads, those again that weren't kept.
  static double PartitionsRead(const IndexWork& work);

 private:
  double ReadNs(double requests, double bytes) const {
    return requests * storage_.request_ns + bytes * (storage_.byte_ns + machine_.copy_ns);
  }
  /// Of a row that comes into the answer of a query for a while.
  double SurvivorNs(int64_t dim) const;

  MachineSpeed machine_;
  StorageSpeed storage_;
  double threads_;
};

}  // namespace kinjo::join
