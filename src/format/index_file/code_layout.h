// How the codes of a partition lie in its column: planes for PQ, permuted blocks of 32 rows for the
// sign bits of RQ. docs/format/index-file.md has the tables.
#pragma once

#include <cstdint>

namespace kinjo::format {

/// `rows` and `planes` are num_rows * row_bytes bytes: byte b of row i goes to b * num_rows + i.
void TransposeCodes(const uint8_t* rows, uint64_t num_rows, uint64_t row_bytes, uint8_t* planes);

/// The same sizes: rows of sign bits to packed ones.
void PackSigns(const uint8_t* rows, uint64_t num_rows, uint64_t row_bytes, uint8_t* packed);

}  // namespace kinjo::format
