#include "dataset/index_list.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include "arrow/type.h"
#include "dataset/index_entry.h"
#include "format/index_file/index_files.h"
#include "format/proto/table_messages.h"
#include "format/schema.h"

namespace kinjo::dataset {
namespace {

constexpr std::string_view kVectorDetails = "vectorindexdetails";
constexpr int32_t kNewestIndexVersion = 2;
/// By the numbers of VectorIndexDetails.metric_type.
constexpr const char* kMetrics[] = {"l2", "cosine", "dot", "hamming"};

/// What one entry says about the index that it belongs to.
struct Judgement {
  std::string type;
  std::string metric;
  std::string unusable_reason;
  std::optional<IndexGraphs> graphs;
};

bool HasVectorDetails(const format::IndexEntry& entry) { return HasDetails(entry, kVectorDetails); }

std::string TypeName(const format::proto::VectorIndexDetailsMessage& details) {
  using Quantizer = format::proto::VectorIndexDetailsMessage::Quantizer;
  const std::string prefix = details.has_hnsw ? "IVF_HNSW_" : "IVF_";
  switch (details.quantizer) {
    case Quantizer::kPq:
      return prefix + "PQ";
    case Quantizer::kSq:
      return prefix + "SQ";
    case Quantizer::kRq:
      return prefix + "RQ";
    case Quantizer::kFlat:
      return prefix + "FLAT";
    case Quantizer::kUnknown:
      return {};
  }
  return {};
}

/// Vectors, or a multivector column's lists of vectors.
bool HoldsVectors(const arrow::DataType& type) {
  if (type.id() == arrow::Type::FIXED_SIZE_LIST) return true;
  return type.id() == arrow::Type::LIST &&
         static_cast<const arrow::ListType&>(type).value_type()->id() ==
             arrow::Type::FIXED_SIZE_LIST;
}

/// Why vectors of this column can't be searched; "" when they can.
std::string CheckColumn(const format::Schema& schema, const format::IndexEntry& entry) {
  if (entry.fields.empty()) return "its entry names no column";
  const format::Field* field = schema.FindId(entry.fields.front());
  if (field == nullptr) {
    return base::Concat("its column (field id ", entry.fields.front(), ") was dropped");
  }
  const arrow::Result<std::shared_ptr<arrow::DataType>> type = format::ToArrowType(*field);
  if (!type.ok()) return base::MessageOf(type.status());
  if (!HoldsVectors(**type)) {
    return base::Concat("its column has the type ", (*type)->ToString(),
                        ", this build searches fixed-size lists and lists of those");
  }
  return {};
}

class Lister {
 public:
  Lister(const format::Manifest& manifest, const BaseLocations& locations,
         const FragmentTable& fragments, const std::shared_ptr<io::IoCounters>& counters)
      : manifest_(manifest), locations_(locations), fragments_(fragments), counters_(counters) {}

  IndexList Run() {
    for (const format::IndexEntry& entry : manifest_.indexes) {
      if (!entry.name.starts_with(kSystemIndexPrefix) && IsVectorIndex(entry)) Add(entry);
    }
    if (HasStaleIndexes(manifest_)) {
      for (IndexInfo& index : list_.indexes) index.unusable_reason = kStaleIndexReason;
    }
    for (IndexInfo& index : list_.indexes) {
      if (index.unusable_reason.empty() && LeavesAllRowsOut(index)) {
        index.unusable_reason = "it covers no fragment of this version";
      }
    }
    return std::move(list_);
  }

 private:
  /// True when rows live and none of them is covered. Lance writes such an entry, without files,
  /// when there are too few rows to train on.
  bool LeavesAllRowsOut(const IndexInfo& index) const {
    const auto& all = fragments_.fragments();
    return std::any_of(all.begin(), all.end(),
                       [](const Fragment* fragment) { return fragment->live_rows() > 0; }) &&
           std::all_of(index.segments.begin(), index.segments.end(),
                       [](const auto& segment) { return segment.fragment_ids.empty(); });
  }

  /// Entries without details (written by old versions) count when their column holds vectors.
  bool IsVectorIndex(const format::IndexEntry& entry) const {
    if (entry.details_type.has_value() && !entry.details_type->empty()) {
      return HasVectorDetails(entry);
    }
    if (entry.fields.empty()) return false;
    const format::Field* field = manifest_.schema.FindId(entry.fields.front());
    if (field == nullptr) return false;
    const auto type = format::ToArrowType(*field);
    return type.ok() && HoldsVectors(**type);
  }

  void Add(const format::IndexEntry& entry) {
    const Judgement judgement = Judge(entry);
    const std::string column =
        entry.fields.empty() ? "" : PathOfField(manifest_.schema.fields, entry.fields.front());
    auto index = std::find_if(list_.indexes.begin(), list_.indexes.end(),
                              [&](const IndexInfo& info) { return info.name == entry.name; });
    if (index == list_.indexes.end()) {
      index = list_.indexes.insert(
          index,
          IndexInfo{
              entry.name, column, judgement.type, judgement.metric, {}, {}, judgement.graphs});
    }
    std::string reason = judgement.unusable_reason;
    if (reason.empty() && (index->column != column || index->type != judgement.type ||
                           index->metric != judgement.metric)) {
      reason = "its segments differ in column, type or metric";
    }
    IndexSegmentInfo segment;
    segment.uuid = entry.uuid;
    segment.dataset_version = entry.dataset_version;
    segment.fragment_ids = CoveredFragments(entry, fragments_);
    std::set<uint64_t>& claimed = claimed_[entry.name];
    for (const uint64_t id : segment.fragment_ids) {
      if (!claimed.insert(id).second && reason.empty()) {
        reason = base::Concat("two of its segments cover fragment ", id);
      }
    }
    index->segments.push_back(std::move(segment));
    if (index->unusable_reason.empty()) index->unusable_reason = std::move(reason);
  }

  Judgement Judge(const format::IndexEntry& entry) {
    Judgement judgement;
    arrow::Result<io::Location> folder = locations_.Index(entry.uuid, entry.base_id);
    if (!folder.ok()) {
      judgement.unusable_reason = base::MessageOf(folder.status());
      return judgement;
    }
    list_.folders.emplace(entry.uuid, *folder);
    TellTypeFromDetails(entry, &judgement);
    judgement.unusable_reason = CheckEntry(entry);
    if (!judgement.unusable_reason.empty()) return judgement;
    if (judgement.type.empty()) TellTypeFromFiles(*folder, &judgement);
    if (!judgement.unusable_reason.empty()) return judgement;
    if (!format::ParseIndexKind(judgement.type).has_value()) {
      judgement.unusable_reason = base::Concat("its type is ", judgement.type,
                                               ", this build searches ", format::IndexTypeNames());
    }
    return judgement;
  }

  static void TellTypeFromDetails(const format::IndexEntry& entry, Judgement* judgement) {
    format::proto::VectorIndexDetailsMessage details;
    const bool told = HasVectorDetails(entry) &&
                      format::proto::ParseVectorIndexDetails(entry.details, &details) &&
                      details.metric_type < std::size(kMetrics);
    if (!told) return;
    judgement->type = TypeName(details);
    if (judgement->type.empty()) return;
    judgement->metric = kMetrics[details.metric_type];
    if (!details.has_hnsw) return;
    judgement->graphs = IndexGraphs{.m = details.hnsw.max_connections,
                                    .ef_construction = details.hnsw.construction_ef,
                                    .max_level = details.hnsw.max_level};
  }

  std::string CheckEntry(const format::IndexEntry& entry) const {
    if (entry.index_version.value_or(0) > kNewestIndexVersion) {
      return base::Concat("its index version is ", *entry.index_version,
                          ", this build knows up to ", kNewestIndexVersion);
    }
    if (entry.has_covering_fields) return "it has covering columns, which this build doesn't know";
    if (!entry.fragments.has_value()) {
      return "its entry doesn't say which fragments it covers; build it again";
    }
    if (!entry.files.empty() &&
        std::find(entry.files.begin(), entry.files.end(), "auxiliary.idx") == entry.files.end()) {
      return "it has legacy index files (no auxiliary.idx); build it again";
    }
    return CheckColumn(manifest_.schema, entry);
  }

  void TellTypeFromFiles(const io::Location& folder, Judgement* judgement) const {
    const auto files = format::IndexFiles::Open(folder, counters_);
    if (!files.ok()) {
      judgement->unusable_reason = base::MessageOf(files.status());
      return;
    }
    judgement->type = (*files)->ivf().index_type;
    judgement->metric = (*files)->ivf().distance_type;
  }

  const format::Manifest& manifest_;
  const BaseLocations& locations_;
  const FragmentTable& fragments_;
  const std::shared_ptr<io::IoCounters>& counters_;
  IndexList list_;
  std::map<std::string, std::set<uint64_t>> claimed_;  ///< fragments by index name
};

}  // namespace

IndexList ListVectorIndexes(const format::Manifest& manifest, const BaseLocations& locations,
                            const FragmentTable& fragments,
                            const std::shared_ptr<io::IoCounters>& counters) {
  return Lister(manifest, locations, fragments, counters).Run();
}

}  // namespace kinjo::dataset
