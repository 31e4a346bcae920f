// One random join: data and options drawn from a seed, as the engine takes them and as the naive
// loop does.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "join/options.h"
#include "join/right_side.h"
#include "tabular/table_source.h"
#include "tests/oracle/naive_join.h"

namespace kinjo::oracle {

struct RandomCase {
  std::string text;  ///< what it is, for messages
  std::string metric;
  std::vector<Numbers> left;  ///< a vector a left row; empty for null
  NaiveRight right;
  std::shared_ptr<dataset::Dataset> dataset;
  std::shared_ptr<tabular::TableSource> left_table;  ///< columns `q` (the row's number) and `v`
  /// Without threads and block_rows. The right column that comes out is `id`: the row's position in
  /// right.rows.
  join::JoinOptions options;
  /// False where a graph decides what is found (docs/format/index-file.md): then only the engine
  /// can be compared with itself.
  bool naive_knows = true;
};

RandomCase MakeRandomCase(uint64_t seed);

}  // namespace kinjo::oracle
