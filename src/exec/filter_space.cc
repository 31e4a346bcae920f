#include "exec/filter_space.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace kinjo::exec {

namespace {

/// Writes row / norm.
void WriteUnit(const double* row, double norm, int64_t dim, double* unit) {
  for (int64_t j = 0; j < dim; ++j) unit[j] = row[j] / norm;
}

void AddRow(const ExactRows& rows, int64_t row, double scale, std::vector<double>* sum) {
  const int64_t dim = static_cast<int64_t>(sum->size());
  for (int64_t j = 0; j < dim; ++j) {
    const double value =
        rows.is_float() ? static_cast<double>(rows.float_row(row)[j]) : rows.double_row(row)[j];
    (*sum)[j] += value * scale;
  }
}

}  // namespace

FilterSpace FilterSpace::Around(kernels::Metric metric, const ExactRows& rows, int64_t dim) {
  FilterSpace space;
  space.metric = metric;
  space.dim = dim;
  if (metric == kernels::Metric::kDot || metric == kernels::Metric::kHamming) return space;
  std::vector<double> sum(static_cast<size_t>(dim), 0.0);
  int64_t count = 0;
  for (int64_t i = 0; i < rows.num_rows(); ++i) {
    if (!rows.can_match(i)) continue;
    AddRow(rows, i, metric == kernels::Metric::kCosine ? 1.0 / rows.norm(i) : 1.0, &sum);
    ++count;
  }
  space.centre.assign(static_cast<size_t>(dim), 0.0f);
  for (int64_t j = 0; j < dim && count > 0; ++j) {
    const float mean = static_cast<float>(sum[j] / static_cast<double>(count));
    space.centre[j] = std::isfinite(mean) ? mean : 0.0f;
  }
  space.centre_wide.assign(space.centre.begin(), space.centre.end());
  return space;
}

void MovedQueries::Reset(int64_t num_queries, int64_t dim) {
  values.resize(static_cast<size_t>(num_queries * dim));
  norms2.resize(static_cast<size_t>(num_queries));
  ids.resize(static_cast<size_t>(num_queries));
  std::iota(ids.begin(), ids.end(), 0u);
}

void MovedQueries::Move(const FilterSpace& space, const QueryRows& queries, int64_t i) {
  const double* query = queries.query(i);
  const double scale = space.metric == kernels::Metric::kCosine ? queries.norms[i] : 1.0;
  float* moved = values.data() + i * space.dim;
  double norm2 = 0;
  for (int64_t j = 0; j < space.dim; ++j) {
    const double centre = space.centre.empty() ? 0.0 : space.centre_wide[j];
    moved[j] = static_cast<float>(query[j] / scale - centre);
    norm2 += static_cast<double>(moved[j]) * moved[j];
  }
  norms2[i] = norm2;
}

void RowBlock::StoreRow(const FilterSpace& space, int64_t slot) {
  const int64_t row = row_of_slot_[slot];
  const float* centre = space.centre.empty() ? nullptr : space.centre.data();
  const double* wide = space.centre.empty() ? nullptr : space.centre_wide.data();
  const bool dot = space.metric == kernels::Metric::kDot;
  if (space.metric == kernels::Metric::kCosine) {
    WriteUnit(exact_.double_row(row), exact_.norm(row), space.dim, unit_.data());
    grouped_.SetRow(slot, unit_.data(), wide, dot);
  } else if (exact_.is_float()) {
    grouped_.SetRow(slot, exact_.float_row(row), centre, dot);
  } else {
    grouped_.SetRow(slot, exact_.double_row(row), wide, dot);
  }
}

void RowBlock::KeepMatchable(ExactRows rows, const std::vector<uint64_t>& addresses) {
  exact_ = std::move(rows);
  addresses_.clear();
  row_of_slot_.clear();
  group_of_slot_.clear();
  for (int64_t i = 0; i < exact_.num_rows(); ++i) {
    if (!exact_.can_match(i)) continue;
    addresses_.push_back(addresses[i]);
    row_of_slot_.push_back(static_cast<uint32_t>(i));
  }
}

void RowBlock::Fill(const FilterSpace& space, ExactRows rows,
                    const std::vector<uint64_t>& addresses) {
  KeepMatchable(std::move(rows), addresses);
  StoreRows(space);
}

void RowBlock::FillUngrouped(ExactRows rows, const std::vector<uint64_t>& addresses) {
  KeepMatchable(std::move(rows), addresses);
}

void RowBlock::FillByGroup(const FilterSpace& space, ExactRows rows,
                           const std::vector<uint64_t>& addresses, const RowGroups& groups,
                           std::span<const uint32_t> wanted) {
  exact_ = std::move(rows);
  addresses_.clear();
  row_of_slot_.clear();
  group_of_slot_.clear();
  std::vector<uint32_t> group(addresses.size());
  groups.Of(addresses, group);
  for (int64_t i = 0; i < exact_.num_rows(); ++i) {
    if (!exact_.can_match(i) || !std::binary_search(wanted.begin(), wanted.end(), group[i])) {
      continue;
    }
    row_of_slot_.push_back(static_cast<uint32_t>(i));
  }
  std::sort(row_of_slot_.begin(), row_of_slot_.end(), [&](uint32_t a, uint32_t b) {
    return std::pair(group[a], a) < std::pair(group[b], b);
  });
  for (const uint32_t row : row_of_slot_) {
    addresses_.push_back(addresses[row]);
    group_of_slot_.push_back(group[row]);
  }
  StoreRows(space);
}

std::pair<int64_t, int64_t> RowBlock::slots_of(uint32_t group) const {
  const auto [first, last] = std::equal_range(group_of_slot_.begin(), group_of_slot_.end(), group);
  return {first - group_of_slot_.begin(), last - group_of_slot_.begin()};
}

void RowBlock::StoreUnits(const FilterSpace& space) {
  constexpr int64_t kGroup = kernels::kGroupRows;
  const int64_t dim = space.dim;
  const double* centre = space.centre_wide.data();
  moved_.resize(static_cast<size_t>(kGroup * dim));
  for (int64_t first = 0; first < num_rows(); first += kGroup) {
    const int64_t count = std::min(kGroup, num_rows() - first);
    for (int64_t i = 0; i < count; ++i) {
      const int64_t row = row_of_slot_[first + i];
      const float* from = exact_.float_row(row);
      // A product instead of a quotient is off by 2^-52 at most, far below what becomes of it as a
      // float; what the filter passes is scored on the row itself.
      const double inverse = 1 / exact_.norm(row);
      float* to = moved_.data() + i * dim;
      for (int64_t j = 0; j < dim; ++j) {
        to[j] = static_cast<float>(static_cast<double>(from[j]) * inverse - centre[j]);
      }
    }
    grouped_.SetRows(first, count, moved_.data(), nullptr, false);
  }
}

void RowBlock::StoreRows(const FilterSpace& space) {
  if (space.metric == kernels::Metric::kHamming) return;
  unit_.resize(static_cast<size_t>(space.dim));
  grouped_.Reset(num_rows(), space.dim, /*with_codes=*/true);
  const bool whole = num_rows() == exact_.num_rows() && group_of_slot_.empty();
  if (whole && exact_.is_float() && space.metric != kernels::Metric::kCosine && num_rows() > 0) {
    const float* centre = space.centre.empty() ? nullptr : space.centre.data();
    grouped_.SetRows(0, num_rows(), exact_.float_row(0), centre,
                     space.metric == kernels::Metric::kDot);
  } else if (exact_.is_float() && space.metric == kernels::Metric::kCosine) {
    StoreUnits(space);
  } else {
    for (int64_t slot = 0; slot < num_rows(); ++slot) StoreRow(space, slot);
  }
  grouped_.MakeCodes(0, grouped_.num_groups());
}

}  // namespace kinjo::exec
