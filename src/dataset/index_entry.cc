#include "dataset/index_entry.h"

#include <algorithm>
#include <cctype>

namespace kinjo::dataset {
namespace {

constexpr std::string_view kFragmentReuse = "__lance_frag_reuse";

char Lower(char letter) {
  return static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
}

}  // namespace

bool HasStaleIndexes(const format::Manifest& manifest) {
  return manifest.tagged_fragment_reuse ||
         std::any_of(manifest.indexes.begin(), manifest.indexes.end(),
                     [](const format::IndexEntry& entry) { return entry.name == kFragmentReuse; });
}

bool HasDetails(const format::IndexEntry& entry, std::string_view message) {
  const std::string type = entry.details_type.value_or("");
  return std::equal(type.begin(), type.end(), message.begin(), message.end(),
                    [](char a, char b) { return Lower(a) == Lower(b); });
}

std::string PathOfField(const std::vector<format::Field>& fields, int32_t id) {
  for (const format::Field& field : fields) {
    if (field.id == id) return field.name;
    const std::string below = PathOfField(field.children, id);
    if (!below.empty()) return field.name + "." + below;
  }
  return {};
}

std::vector<uint64_t> CoveredFragments(const format::IndexEntry& entry,
                                       const FragmentTable& fragments) {
  std::vector<uint64_t> ids;
  if (!entry.fragments.has_value()) return ids;
  for (const Fragment* fragment : fragments.fragments()) {
    if (entry.fragments->Contains(static_cast<uint32_t>(fragment->id()))) {
      ids.push_back(fragment->id());
    }
  }
  return ids;
}

}  // namespace kinjo::dataset
