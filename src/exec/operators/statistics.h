// What an operator can say about its rows before it runs.
#pragma once

#include <cstdint>
#include <vector>

namespace kinjo::exec {

/// A number that is known, guessed, or not known.
struct Estimate {
  enum class Kind : uint8_t { kAbsent, kInexact, kExact };
  Kind kind = Kind::kAbsent;
  int64_t value = 0;

  static Estimate Exact(int64_t value) { return {Kind::kExact, value}; }
  static Estimate Inexact(int64_t value) { return {Kind::kInexact, value}; }
  bool known() const { return kind != Kind::kAbsent; }
  friend bool operator==(const Estimate&, const Estimate&) = default;
};

struct Statistics {
  Estimate num_rows;
  std::vector<Estimate> null_counts;  ///< of each column of the schema

  static Statistics Unknown(int num_columns) {
    return {.num_rows = {}, .null_counts = std::vector<Estimate>(static_cast<size_t>(num_columns))};
  }
};

}  // namespace kinjo::exec
