#include "tabular/file_identity.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <ctime>
#include <filesystem>

#include "base/checksum.h"
#include "io/file_info.h"

namespace kinjo::tabular {

namespace {

// The same name from another working folder is another table.
Trait PlaceOf(const std::string& uri) {
  const auto location = io::ResolveUri(uri);
  if (!location.ok() || location->file_system->type_name() != "local") return {"uri", uri};
  std::error_code error;
  const auto path = std::filesystem::absolute(location->path, error).lexically_normal();
  return {"uri", error ? uri : path.string()};
}

std::string TimeText(arrow::fs::TimePoint time) {
  constexpr int64_t kNsPerSecond = 1'000'000'000;
  const int64_t ns = time.time_since_epoch().count();
  const auto seconds = static_cast<std::time_t>(ns / kNsPerSecond);
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  std::array<char, 32> date{};
  (void)std::strftime(date.data(), date.size(), "%Y-%m-%dT%H:%M:%S", &parts);
  std::array<char, 16> fraction{};
  (void)std::snprintf(fraction.data(), fraction.size(), ".%09dZ",
                      static_cast<int>(ns % kNsPerSecond));
  return base::Concat(date.data(), fraction.data());
}

std::string SumText(const std::string& bytes) {
  std::array<char, 20> text{};
  (void)std::snprintf(text.data(), text.size(), "%016llx",
                      static_cast<unsigned long long>(base::Checksum(bytes)));
  return text.data();
}

}  // namespace

arrow::Result<std::vector<Trait>> IdentifyFiles(const std::string& uri, const FileList& list) {
  int64_t bytes = 0;
  arrow::fs::TimePoint newest{};
  std::string all;
  for (const ListedFile& file : list.files) {
    ARROW_ASSIGN_OR_RAISE(const arrow::fs::FileInfo info, io::LookAt(file.location));
    if (info.type() == arrow::fs::FileType::NotFound) {
      return base::NotFound("no such file: ", file.location.uri);
    }
    bytes += info.size();
    newest = std::max(newest, info.mtime());
    all += base::Concat(file.relative_path, '\n', info.size(), '\n', TimeText(info.mtime()), '\n');
  }
  std::vector<Trait> traits = {PlaceOf(uri)};
  if (!list.is_single_file) traits.push_back({"files", std::to_string(list.files.size())});
  traits.push_back({"bytes", std::to_string(bytes)});
  traits.push_back({"modified", TimeText(newest)});
  if (!list.is_single_file) traits.push_back({"checksum of names, sizes and times", SumText(all)});
  return traits;
}

std::vector<Trait> IdentifyDataset(const dataset::Dataset& dataset) {
  std::string all;
  for (const dataset::FragmentInfo& fragment : dataset.fragments()) {
    all += base::Concat(fragment.id, ' ', fragment.physical_rows, ' ', fragment.deleted_rows);
    for (const std::string& file : fragment.files) all += base::Concat(' ', file);
    all += '\n';
  }
  for (const dataset::IndexInfo& index : dataset.vector_indexes()) {
    for (const auto& segment : index.segments) all += base::Concat(segment.uuid, '\n');
  }
  return {PlaceOf(dataset.uri()),
          {"version", std::to_string(dataset.version())},
          {"checksum of files and indexes", SumText(all)}};
}

}  // namespace kinjo::tabular
