// What happened to a dataset: its versions, when each was made and by which operation.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/error.h"

namespace kinjo::dataset {

struct PastVersion {
  uint64_t version = 0;
  int64_t seconds = 0;    ///< since 1970, UTC; 0 where its writer left the time out
  int32_t nanos = 0;      ///< 0 to 999'999'999
  std::string operation;  ///< "Append", "Delete", ...; "" where none is told
  std::string writer;     ///< "lance 14.0.2"; "" where it isn't told
  uint64_t num_rows = 0;  ///< live ones, as its manifest counts them
  uint64_t num_fragments = 0;
};

/// All versions there are now, rising. Reads every manifest.
arrow::Result<std::vector<PastVersion>> ListHistory(const std::string& uri);

}  // namespace kinjo::dataset
