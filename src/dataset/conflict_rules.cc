#include "dataset/conflict_rules.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "format/table/roaring_bitmap.h"

namespace kinjo::dataset {
namespace {

namespace proto = format::proto;
using Transaction = proto::TransactionMessage;

template <typename T>
const T* As(const Transaction& transaction) {
  return std::get_if<T>(&transaction.operation);
}

void AddIds(const std::vector<proto::DataFragmentMessage>& fragments, std::set<uint64_t>* ids) {
  for (const proto::DataFragmentMessage& fragment : fragments) ids->insert(fragment.id);
}

/// Fragments that a transaction takes away, or whose rows it changes. (A Merge changes all: it is
/// judged apart.)
std::set<uint64_t> ChangedFragments(const Transaction& transaction) {
  std::set<uint64_t> ids;
  if (const auto* rows_less = As<proto::DeleteOperation>(transaction)) {
    AddIds(rows_less->updated_fragments, &ids);
    ids.insert(rows_less->deleted_fragment_ids.begin(), rows_less->deleted_fragment_ids.end());
  }
  if (const auto* update = As<proto::UpdateOperation>(transaction)) {
    AddIds(update->updated_fragments, &ids);
    ids.insert(update->removed_fragment_ids.begin(), update->removed_fragment_ids.end());
  }
  if (const auto* rewrite = As<proto::RewriteOperation>(transaction)) {
    for (const auto& group : rewrite->groups) AddIds(group.old_fragments, &ids);
  }
  return ids;
}

/// A fragment that both change, or nothing.
std::optional<uint64_t> SharedFragment(const std::set<uint64_t>& ours,
                                       const std::set<uint64_t>& theirs) {
  for (const uint64_t id : theirs) {
    if (ours.contains(id)) return id;
  }
  return std::nullopt;
}

/// True when the segment covers one of the fragments, or doesn't say which it covers.
bool Covers(const proto::IndexMetadataMessage& index, const std::set<uint64_t>& fragments) {
  const auto bitmap = format::RoaringBitmap::Parse(index.fragment_bitmap);
  if (!bitmap.has_value()) return !fragments.empty();
  return std::any_of(fragments.begin(), fragments.end(),
                     [&](uint64_t id) { return bitmap->Contains(static_cast<uint32_t>(id)); });
}

Judgement Retry(std::string why) { return {Verdict::kRetry, std::move(why)}; }

Judgement JudgeChangedFragments(const Transaction& ours, const Transaction& theirs) {
  const auto shared = SharedFragment(ChangedFragments(ours), ChangedFragments(theirs));
  if (!shared.has_value()) return {};
  return Retry(base::Concat("changed fragment ", *shared, ", which this one changes too"));
}

Judgement JudgeDelete(const Transaction& ours, const Transaction& theirs) {
  if (As<proto::MergeOperation>(theirs) != nullptr) return Retry("added columns");
  return JudgeChangedFragments(ours, theirs);
}

Judgement JudgeRewrite(const Transaction& ours, const Transaction& theirs) {
  if (const auto* created = As<proto::CreateIndexOperation>(theirs)) {
    const std::set<uint64_t> fragments = ChangedFragments(ours);
    for (const proto::IndexMetadataMessage& index : created->new_indices) {
      if (Covers(index, fragments)) {
        return Retry(base::Concat("built the index '", index.name,
                                  "' over fragments that this one rewrites"));
      }
    }
  }
  return JudgeDelete(ours, theirs);
}

Judgement JudgeIndexBesideIndex(const proto::CreateIndexOperation& ours,
                                const proto::CreateIndexOperation& theirs) {
  std::set<std::string_view> names;
  for (const auto& index : ours.new_indices) names.insert(index.name);
  for (const auto& index : ours.removed_indices) names.insert(index.name);
  for (const auto* list : {&theirs.new_indices, &theirs.removed_indices}) {
    for (const proto::IndexMetadataMessage& index : *list) {
      if (names.contains(index.name)) {
        return Retry(base::Concat("changed the index '", index.name, "' too"));
      }
    }
  }
  return {};
}

Judgement JudgeCreateIndex(const proto::CreateIndexOperation& ours, const Transaction& theirs) {
  if (const auto* other = As<proto::CreateIndexOperation>(theirs)) {
    return JudgeIndexBesideIndex(ours, *other);
  }
  const auto* update = As<proto::UpdateOperation>(theirs);
  const bool rewrite = As<proto::RewriteOperation>(theirs) != nullptr;
  for (const proto::IndexMetadataMessage& index : ours.new_indices) {
    if (rewrite && Covers(index, ChangedFragments(theirs))) {
      return Retry(base::Concat("compacted fragments that the index '", index.name, "' covers"));
    }
    for (const int32_t field : index.fields) {
      const auto changed = static_cast<uint32_t>(field);
      if (update != nullptr && std::count(update->fields_modified.begin(),
                                          update->fields_modified.end(), changed) != 0) {
        return Retry(base::Concat("changed the column that the index '", index.name, "' is of"));
      }
    }
  }
  return {};
}

bool ChangesData(const Transaction& transaction) {
  return As<proto::CreateIndexOperation>(transaction) == nullptr;
}

/// New rows may lack a value that was made required.
Judgement JudgeAppend(const Transaction& theirs) {
  const auto* merge = As<proto::MergeOperation>(theirs);
  const auto* project = As<proto::ProjectOperation>(theirs);
  const bool keeps = (merge == nullptr || merge->preserves_nullability) &&
                     (project == nullptr || project->preserves_nullability);
  return keeps ? Judgement{} : Retry("may have made a column required");
}

Judgement JudgeProject(const Transaction& theirs) {
  if (As<proto::MergeOperation>(theirs) != nullptr) return Retry("added columns");
  if (As<proto::ProjectOperation>(theirs) != nullptr) return Retry("dropped or renamed columns");
  return {};
}

}  // namespace

Judgement JudgePair(const Transaction& ours, const Transaction& theirs) {
  const bool theirs_replaces_all = As<proto::OverwriteOperation>(theirs) != nullptr;
  if (As<proto::RestoreOperation>(ours) != nullptr) return {};
  if (As<proto::UnknownOperation>(theirs) != nullptr) {
    return Retry("did something that this build doesn't know");
  }
  if (As<proto::OverwriteOperation>(ours) != nullptr) {
    return theirs_replaces_all ? Retry("overwrote the dataset too") : Judgement{};
  }
  if (theirs_replaces_all) return {Verdict::kFail, "overwrote the dataset"};
  if (const auto* restore = As<proto::RestoreOperation>(theirs)) {
    return {Verdict::kFail, base::Concat("restored version ", restore->version)};
  }
  if (As<proto::ReserveFragmentsOperation>(theirs) != nullptr ||
      As<proto::UpdateConfigOperation>(theirs) != nullptr) {
    return {};
  }
  if (As<proto::AppendOperation>(ours) != nullptr) return JudgeAppend(theirs);
  if (As<proto::DeleteOperation>(ours) != nullptr) return JudgeDelete(ours, theirs);
  if (As<proto::RewriteOperation>(ours) != nullptr) return JudgeRewrite(ours, theirs);
  if (const auto* index = As<proto::CreateIndexOperation>(ours)) {
    return JudgeCreateIndex(*index, theirs);
  }
  if (As<proto::MergeOperation>(ours) != nullptr && ChangesData(theirs)) {
    return Retry(base::Concat("committed ", proto::OperationName(theirs.operation)));
  }
  if (As<proto::ProjectOperation>(ours) != nullptr) return JudgeProject(theirs);
  return {};
}

Judgement JudgeAgainst(const Transaction& ours, const TableVersion& latest) {
  std::set<uint64_t> fragments;
  AddIds(latest.messages.manifest.fragments, &fragments);
  for (const uint64_t id : ChangedFragments(ours)) {
    if (!fragments.contains(id)) return Retry(base::Concat("took away fragment ", id));
  }
  const auto* index = As<proto::CreateIndexOperation>(ours);
  if (index == nullptr) return {};
  for (const proto::IndexMetadataMessage& removed : index->removed_indices) {
    const auto& there = latest.messages.indexes;
    const bool found = std::any_of(there.begin(), there.end(),
                                   [&](const auto& each) { return each.uuid == removed.uuid; });
    if (!found) return Retry(base::Concat("took away a segment of the index '", removed.name, "'"));
  }
  for (const proto::IndexMetadataMessage& added : index->new_indices) {
    for (const int32_t field : added.fields) {
      if (latest.schema().FindId(field) == nullptr) {
        return Retry(base::Concat("dropped the column that the index '", added.name, "' is of"));
      }
    }
  }
  return {};
}

}  // namespace kinjo::dataset
