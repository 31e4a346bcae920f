#include "join/left_identity.h"

#include <algorithm>

#include "io/random_reader.h"

namespace kinjo::join {

namespace {

/// One name for a place, however it was written. (Wildcards stay as they are.)
std::string PlaceOf(const std::string& uri) {
  const auto location = io::ResolveUri(uri);
  return location.ok() ? location->path : uri;
}

}  // namespace

std::string LeftIdentity::WhyNotSame(const tabular::TableSource& left, const RightSide& right) {
  if (right.table() == &left) return "";
  const auto left_dataset = left.dataset();
  const auto right_dataset = right.dataset();
  const bool in_files = left.format() != "stream" && left.format() != "memory";
  if (!in_files) {
    return base::Concat("the left side (", left.uri(),
                        ") is not read from files and not the table of the right side (",
                        right.uri(), ")");
  }
  if (left.format() != right.format() || PlaceOf(left.uri()) != PlaceOf(right.uri())) {
    return base::Concat(left.uri(), " and ", right.uri(), " are two tables");
  }
  if (left_dataset == nullptr || right_dataset == nullptr) return "";
  if (left_dataset->version() == right_dataset->version()) return "";
  return base::Concat("the left side is version ", left_dataset->version(), " of ", left.uri(),
                      ", the right side version ", right_dataset->version());
}

std::unique_ptr<LeftIdentity> LeftIdentity::Open(const RightSide& right) {
  return std::unique_ptr<LeftIdentity>(new LeftIdentity(right.dataset()));
}

arrow::Status LeftIdentity::AddressesOf(int64_t first_row, std::span<uint64_t> addresses) {
  if (dataset_ == nullptr) {
    auto row = static_cast<uint64_t>(first_row);
    for (uint64_t& address : addresses) address = row++;
    return arrow::Status::OK();
  }
  if (scan_ == nullptr) {
    ARROW_ASSIGN_OR_RAISE(scan_, dataset_->MakeScan({}));
  }
  for (size_t done = 0; done < addresses.size();) {
    const int64_t row = first_row + static_cast<int64_t>(done);
    const auto batch_rows = static_cast<int64_t>(batch_.addresses.size());
    if (row >= batch_first_row_ + batch_rows) {
      batch_first_row_ += batch_rows;
      ARROW_ASSIGN_OR_RAISE(batch_, scan_->Next());
      if (batch_.batch != nullptr) continue;
      return base::Internal("left row ", row, " of ", dataset_->uri(), " was asked for, but only ",
                            batch_first_row_, " rows are live");
    }
    const auto begin = batch_.addresses.begin() + (row - batch_first_row_);
    const auto count = std::min<int64_t>(static_cast<int64_t>(addresses.size() - done),
                                         batch_.addresses.end() - begin);
    std::copy_n(begin, count, addresses.begin() + static_cast<int64_t>(done));
    done += static_cast<size_t>(count);
  }
  return arrow::Status::OK();
}

}  // namespace kinjo::join
