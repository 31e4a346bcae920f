#include "join/left_identity.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include "arrow/filesystem/filesystem.h"
#include "io/random_reader.h"

namespace kinjo::join {

namespace {

/// One name for a place, however it was written: of a local one without links. (Wildcards stay as
/// they are.)
std::string PlaceOf(const std::string& uri) {
  const auto location = io::ResolveUri(uri);
  if (!location.ok()) return uri;
  if (location->file_system->type_name() != "local") return location->path;
  std::error_code error;
  const auto path = std::filesystem::canonical(location->path, error);
  return error ? location->path : path.string();
}

/// What a table says of its files beside the name that it was opened by; empty when nothing.
std::vector<tabular::Trait> FilesOf(arrow::Result<std::vector<tabular::Trait>> identity) {
  if (!identity.ok()) return {};
  std::erase_if(*identity, [](const tabular::Trait& trait) { return trait.name == "uri"; });
  return *std::move(identity);
}

/// The folder that holds the files of a folder or a glob.
std::string FolderOf(const std::string& uri) {
  const size_t wildcard = uri.find_first_of("*?[");
  if (wildcard == std::string::npos) return PlaceOf(uri);
  const size_t slash = uri.rfind('/', wildcard);
  return PlaceOf(slash == std::string::npos ? "." : uri.substr(0, std::max<size_t>(slash, 1)));
}

/// Whether two tables are the same files: by one place, or, of a folder and a glob, by one folder
/// with as many files of the same names, sizes and times.
bool SameFiles(const tabular::TableSource& left, const RightSide& right) {
  if (PlaceOf(left.uri()) == PlaceOf(right.uri())) return true;
  if (left.dataset() != nullptr || FolderOf(left.uri()) != FolderOf(right.uri())) return false;
  const auto files = FilesOf(left.Identity());
  return files.size() > 2 && files == FilesOf(right.Identity());
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
  if (left.format() != right.format() || !SameFiles(left, right)) {
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
