#include "dataset/dataset.h"

#include <unordered_set>
#include <utility>

#include "dataset/open_fragments.h"
#include "dataset/snapshot.h"
#include "dataset/version_choice.h"
#include "format/table/manifest.h"

namespace kinjo::dataset {
namespace {

/// Leaves the fragments of these ids alone.
arrow::Status KeepFragments(const std::vector<uint64_t>& ids, const std::string& uri,
                            format::Manifest* manifest) {
  const std::unordered_set<uint64_t> wanted(ids.begin(), ids.end());
  std::unordered_set<uint64_t> found;
  std::erase_if(manifest->fragments, [&](const format::Fragment& fragment) {
    if (!wanted.contains(fragment.id)) return true;
    found.insert(fragment.id);
    return false;
  });
  for (const uint64_t id : ids) {
    if (found.contains(id)) continue;
    return base::NotFound(uri, " has no fragment ", id, " in version ", manifest->version);
  }
  return arrow::Status::OK();
}

/// Of all fragments where no ids are given.
arrow::Result<std::shared_ptr<Dataset>> OpenVersion(const std::string& uri,
                                                    const OpenOptions& options,
                                                    const std::vector<uint64_t>* fragment_ids) {
  ARROW_ASSIGN_OR_RAISE(io::Location place, io::ResolveUri(uri));
  ARROW_ASSIGN_OR_RAISE(ChosenVersion chosen, ChooseVersion(std::move(place), options));
  const auto counters = std::make_shared<io::IoCounters>();
  const io::Location location =
      io::Child(io::Child(chosen.root, "_versions"), chosen.name.FileName());
  ARROW_ASSIGN_OR_RAISE(const std::shared_ptr<io::RandomReader> reader,
                        io::OpenFile(location, 0, counters));
  ARROW_ASSIGN_OR_RAISE(format::Manifest manifest, format::ReadManifest(reader.get()));
  if (manifest.version != chosen.name.version) {
    return base::Corrupt(location.uri, 0, "the manifest of version ", chosen.name.version,
                         " says it is version ", manifest.version);
  }
  if (fragment_ids != nullptr) {
    ARROW_RETURN_NOT_OK(KeepFragments(*fragment_ids, chosen.root.uri, &manifest));
  }
  std::vector<uint64_t> versions;
  versions.reserve(chosen.names.size());
  for (const format::ManifestName& name : chosen.names) versions.push_back(name.version);
  return Snapshot::Make(std::move(chosen.root), chosen.name, std::move(manifest),
                        std::move(versions), counters);
}

}  // namespace

arrow::Result<std::shared_ptr<Dataset>> Dataset::Open(const std::string& uri,
                                                      const OpenOptions& options) {
  return OpenVersion(uri, options, nullptr);
}

arrow::Result<std::shared_ptr<Dataset>> OpenFragments(const std::string& uri,
                                                      const OpenOptions& options,
                                                      const std::vector<uint64_t>& fragment_ids) {
  return OpenVersion(uri, options, &fragment_ids);
}

arrow::Result<std::vector<format::Tag>> Dataset::ListTags() const {
  return std::vector<format::Tag>();
}

arrow::Result<std::vector<StoredFile>> Dataset::ListFiles() { return std::vector<StoredFile>(); }

arrow::Result<std::shared_ptr<format::IndexFiles>> Dataset::OpenIndexFiles(const IndexInfo& index,
                                                                           size_t segment) {
  return base::NotFound(uri(), " has no files of segment ", segment, " of index '", index.name,
                        "'");
}

const std::vector<ScalarIndexInfo>& Dataset::scalar_indexes() const {
  static const std::vector<ScalarIndexInfo> kNone;
  return kNone;
}

arrow::Result<std::shared_ptr<ScalarSegment>> Dataset::OpenScalarSegment(
    const ScalarIndexInfo& index, size_t segment) {
  return base::NotFound(uri(), " has no segment ", segment, " of a scalar index '", index.name,
                        "'");
}

}  // namespace kinjo::dataset
