#include "dataset/scalar_index_list.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "dataset/index_entry.h"

namespace kinjo::dataset {
namespace {

/// From this version on a B-tree lists addresses, whatever the row ids are.
constexpr int32_t kBtreeOfAddresses = 1;

int32_t NewestVersion(ScalarIndexKind kind) {
  return kind == ScalarIndexKind::kBtree ? kBtreeOfAddresses : 0;
}

std::optional<ScalarIndexKind> KindOf(const format::IndexEntry& entry) {
  if (HasDetails(entry, "BTreeIndexDetails")) return ScalarIndexKind::kBtree;
  if (HasDetails(entry, "BitmapIndexDetails")) return ScalarIndexKind::kBitmap;
  return std::nullopt;
}

bool ListsFile(const format::IndexEntry& entry, const char* name) {
  return entry.files.empty() ||
         std::find(entry.files.begin(), entry.files.end(), name) != entry.files.end();
}

/// Why an entry can't be used; "" when it can.
std::string CheckEntry(const format::Manifest& manifest, const format::IndexEntry& entry,
                       ScalarIndexKind kind) {
  if (entry.index_version.value_or(0) > NewestVersion(kind)) {
    return base::Concat("its index version is ", *entry.index_version, ", this build knows up to ",
                        NewestVersion(kind));
  }
  if (entry.has_covering_fields) return "it has covering columns, which this build doesn't know";
  if (entry.fields.size() != 1) return "it doesn't index one column";
  if (manifest.schema.FindId(entry.fields.front()) == nullptr) {
    return base::Concat("its column (field id ", entry.fields.front(), ") was dropped");
  }
  if (!entry.fragments.has_value()) return "its entry doesn't say which fragments it covers";
  const char* file =
      kind == ScalarIndexKind::kBtree ? "page_data.lance" : "bitmap_page_lookup.lance";
  if (!ListsFile(entry, file)) return base::Concat("it has no file ", file);
  return {};
}

}  // namespace

ScalarIndexList ListScalarIndexes(const format::Manifest& manifest, const BaseLocations& locations,
                                  const FragmentTable& fragments) {
  ScalarIndexList list;
  std::map<std::string, std::set<uint64_t>> claimed;  // fragments by index name
  for (const format::IndexEntry& entry : manifest.indexes) {
    const std::optional<ScalarIndexKind> kind = KindOf(entry);
    if (entry.name.starts_with(kSystemIndexPrefix) || !kind.has_value()) continue;
    const int32_t field_id = entry.fields.empty() ? -1 : entry.fields.front();
    auto index = std::find_if(list.indexes.begin(), list.indexes.end(),
                              [&](const ScalarIndexInfo& info) { return info.name == entry.name; });
    if (index == list.indexes.end()) {
      index = list.indexes.insert(index, {.name = entry.name,
                                          .column = PathOfField(manifest.schema.fields, field_id),
                                          .field_id = field_id,
                                          .kind = *kind});
    }
    std::string reason = CheckEntry(manifest, entry, *kind);
    if (index->kind != *kind || index->field_id != field_id) {
      reason = "its segments differ in column or type";
    }
    arrow::Result<io::Location> folder = locations.Index(entry.uuid, entry.base_id);
    if (folder.ok()) {
      list.folders.emplace(entry.uuid, *std::move(folder));
    } else {
      reason = base::MessageOf(folder.status());
    }
    IndexSegmentInfo segment;
    segment.uuid = entry.uuid;
    segment.dataset_version = entry.dataset_version;
    segment.fragment_ids = CoveredFragments(entry, fragments);
    segment.lists_addresses =
        *kind == ScalarIndexKind::kBtree && entry.index_version.value_or(0) == kBtreeOfAddresses;
    for (const uint64_t id : segment.fragment_ids) {
      if (!claimed[entry.name].insert(id).second && reason.empty()) {
        reason = base::Concat("two of its segments cover fragment ", id);
      }
    }
    index->segments.push_back(std::move(segment));
    if (index->unusable_reason.empty()) index->unusable_reason = std::move(reason);
  }
  if (HasStaleIndexes(manifest)) {
    for (ScalarIndexInfo& index : list.indexes) index.unusable_reason = kStaleIndexReason;
  }
  return list;
}

}  // namespace kinjo::dataset
