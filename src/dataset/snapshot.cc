#include "dataset/snapshot.h"

#include <algorithm>
#include <limits>
#include <unordered_set>
#include <utility>

#include "arrow/array/concatenate.h"
#include "arrow/array/util.h"
#include "arrow/util/key_value_metadata.h"
#include "base/memory_budget.h"
#include "dataset/fragment_scan.h"
#include "dataset/scalar_segment.h"
#include "dataset/stored_file.h"
#include "format/index_file/index_files.h"
#include "format/schema.h"
#include "index/ivf_segment.h"

namespace kinjo::dataset {
namespace {

constexpr int kOffsetBits = 32;
constexpr uint64_t kOffsetMask = 0xffffffff;

// What an open dataset keeps of its indexes between searches, at most: that, and one part in so
// many of what a run may use by default.
constexpr int64_t kKeptBytesMax = int64_t{256} << 20;
constexpr int64_t kKeptShare = 8;

/// The addresses of one fragment as row ranges. REQUIRES: rising.
std::vector<format::RowRange> RangesOf(std::span<const RowAddress> addresses) {
  std::vector<format::RowRange> ranges;
  for (const RowAddress address : addresses) {
    const uint64_t row = address & kOffsetMask;
    if (!ranges.empty() && ranges.back().end == row) {
      ++ranges.back().end;
    } else {
      ranges.push_back({row, row + 1});
    }
  }
  return ranges;
}

}  // namespace

arrow::Result<std::vector<const format::Field*>> FindColumns(
    const format::Schema& schema, const std::string& uri, const std::vector<std::string>& names) {
  std::vector<const format::Field*> found;
  std::unordered_set<std::string> seen;
  for (const std::string& name : names) {
    const auto field = std::find_if(schema.fields.begin(), schema.fields.end(),
                                    [&](const format::Field& each) { return each.name == name; });
    if (field == schema.fields.end()) {
      std::string all;
      for (const format::Field& each : schema.fields) {
        all += (all.empty() ? "" : ", ") + each.name;
      }
      return base::NotFound(uri, " has no column '", name, "'; it has: ", all);
    }
    if (!seen.insert(name).second) {
      return base::Invalid("the column '", name, "' of ", uri, " is asked for twice");
    }
    found.push_back(&*field);
  }
  return found;
}

arrow::Result<std::shared_ptr<arrow::Schema>> MakeArrowSchema(
    const std::vector<const format::Field*>& fields) {
  arrow::FieldVector arrow_fields;
  for (const format::Field* field : fields) {
    ARROW_ASSIGN_OR_RAISE(std::shared_ptr<arrow::Field> arrow_field, format::ToArrowField(*field));
    arrow_fields.push_back(std::move(arrow_field));
  }
  return arrow::schema(std::move(arrow_fields));
}

Snapshot::Snapshot()
    : kept_partitions_(std::make_unique<KeptPartitions>(
          std::min(kKeptBytesMax, base::DefaultMemoryLimitBytes() / kKeptShare))) {}

arrow::Result<std::shared_ptr<Snapshot>> Snapshot::Make(io::Location root,
                                                        const format::ManifestName& name,
                                                        format::Manifest manifest,
                                                        std::vector<uint64_t> versions,
                                                        std::shared_ptr<io::IoCounters> counters) {
  std::shared_ptr<Snapshot> snapshot(new Snapshot());
  ARROW_ASSIGN_OR_RAISE(snapshot->locations_,
                        BaseLocations::Make(std::move(root), name, manifest.base_paths));
  snapshot->manifest_ = std::move(manifest);
  snapshot->versions_ = std::move(versions);
  snapshot->counters_ = std::move(counters);
  snapshot->BuildArrowSchema();
  ARROW_RETURN_NOT_OK(snapshot->OpenFragments());
  snapshot->indexes_ = ListVectorIndexes(snapshot->manifest_, snapshot->locations_,
                                         snapshot->table_, snapshot->counters_);
  for (const IndexInfo& index : snapshot->indexes_.indexes) {
    for (const IndexSegmentInfo& segment : index.segments) {
      snapshot->KeepCover(segment);
      snapshot->open_indexes_.try_emplace(segment.uuid);
    }
  }
  snapshot->scalar_indexes_ =
      ListScalarIndexes(snapshot->manifest_, snapshot->locations_, snapshot->table_);
  for (const ScalarIndexInfo& index : snapshot->scalar_indexes_.indexes) {
    for (const IndexSegmentInfo& segment : index.segments) snapshot->KeepCover(segment);
  }
  return snapshot;
}

arrow::Status Snapshot::OpenFragments() {
  std::vector<const Fragment*> all;
  for (format::Fragment& info : manifest_.fragments) {
    ARROW_ASSIGN_OR_RAISE(std::unique_ptr<Fragment> fragment,
                          Fragment::Make(std::move(info), locations_, counters_, page_cache_));
    FragmentInfo told;
    told.id = fragment->id();
    told.physical_rows = fragment->physical_rows();
    told.deleted_rows = fragment->dead().count();
    for (const format::DataFile& file : fragment->files()) told.files.push_back(file.path);
    num_rows_ += fragment->live_rows();
    all.push_back(fragment.get());
    fragment_infos_.push_back(std::move(told));
    fragments_.push_back(std::move(fragment));
  }
  manifest_.fragments.clear();
  table_ = FragmentTable(std::move(all));
  if (manifest_.stable_row_ids) stable_ids_ = std::make_unique<StableRowIds>(&table_);
  return arrow::Status::OK();
}

void Snapshot::BuildArrowSchema() {
  arrow::FieldVector fields;
  for (const format::Field& field : manifest_.schema.fields) {
    const arrow::Result<std::shared_ptr<arrow::Field>> converted = format::ToArrowField(field);
    // A type that this build doesn't read must not hide the column: reading it gives the error.
    fields.push_back(converted.ok() ? *converted : arrow::field(field.name, arrow::null()));
  }
  std::shared_ptr<arrow::KeyValueMetadata> metadata;
  if (!manifest_.schema.metadata.empty()) {
    metadata = std::make_shared<arrow::KeyValueMetadata>();
    for (const auto& [key, value] : manifest_.schema.metadata) metadata->Append(key, value);
  }
  arrow_schema_ = arrow::schema(std::move(fields), std::move(metadata));
}

arrow::Result<std::vector<StoredFile>> Snapshot::ListFiles() {
  std::vector<StoredFile> files;
  for (const std::unique_ptr<Fragment>& fragment : fragments_) {
    for (size_t i = 0; i < fragment->files().size(); ++i) {
      ARROW_ASSIGN_OR_RAISE(StoredFile file, DescribeFile(fragment.get(), i, manifest_.schema));
      files.push_back(std::move(file));
    }
  }
  return files;
}

arrow::Result<std::unique_ptr<Scan>> Snapshot::MakeScan(const ScanOptions& options) {
  if (options.batch_rows < 1) {
    return base::Invalid("batch_rows is ", options.batch_rows, ", must be at least 1");
  }
  ARROW_ASSIGN_OR_RAISE(std::vector<const format::Field*> fields,
                        FindColumns(manifest_.schema, uri(), options.columns));
  ARROW_ASSIGN_OR_RAISE(std::shared_ptr<arrow::Schema> schema, MakeArrowSchema(fields));
  std::vector<Fragment*> chosen;
  if (!options.fragment_ids.has_value()) {
    for (const std::unique_ptr<Fragment>& fragment : fragments_) chosen.push_back(fragment.get());
  } else {
    const std::unordered_set<uint64_t> wanted(options.fragment_ids->begin(),
                                              options.fragment_ids->end());
    for (const uint64_t id : wanted) {
      if (table_.Find(id) == nullptr) {
        return base::NotFound(uri(), " has no fragment ", id, " in version ", version());
      }
    }
    for (const std::unique_ptr<Fragment>& fragment : fragments_) {
      if (wanted.contains(fragment->id())) chosen.push_back(fragment.get());
    }
  }
  return std::make_unique<FragmentScan>(shared_from_this(), std::move(chosen), std::move(fields),
                                        std::move(schema),
                                        static_cast<uint64_t>(options.batch_rows), options.rows);
}

arrow::Result<std::shared_ptr<arrow::RecordBatch>> Snapshot::Take(
    const std::vector<std::string>& columns, std::span<const RowAddress> addresses) {
  ARROW_ASSIGN_OR_RAISE(const std::vector<const format::Field*> fields,
                        FindColumns(manifest_.schema, uri(), columns));
  ARROW_ASSIGN_OR_RAISE(std::shared_ptr<arrow::Schema> schema, MakeArrowSchema(fields));
  std::vector<arrow::ArrayVector> pieces(fields.size());
  for (size_t begin = 0; begin < addresses.size();) {
    const uint64_t id = addresses[begin] >> kOffsetBits;
    auto* fragment = const_cast<Fragment*>(table_.Find(id));
    size_t end = begin;
    for (; end < addresses.size() && addresses[end] >> kOffsetBits == id; ++end) {
      if (end > 0 && addresses[end] <= addresses[end - 1]) {
        return base::Internal("rows to take from ", uri(), " are not in rising order");
      }
      if (fragment == nullptr || !fragment->IsLive(addresses[end] & kOffsetMask)) {
        return base::NotFound(uri(), " has no live row ", addresses[end] & kOffsetMask,
                              " in fragment ", id, " of version ", version());
      }
    }
    const std::vector<format::RowRange> ranges = RangesOf(addresses.subspan(begin, end - begin));
    for (size_t i = 0; i < fields.size(); ++i) {
      ARROW_ASSIGN_OR_RAISE(std::shared_ptr<arrow::Array> piece,
                            fragment->ReadColumn(*fields[i], ranges));
      pieces[i].push_back(std::move(piece));
    }
    begin = end;
  }
  arrow::ArrayVector arrays;
  for (size_t i = 0; i < fields.size(); ++i) {
    if (pieces[i].empty()) {
      ARROW_ASSIGN_OR_RAISE(std::shared_ptr<arrow::Array> none,
                            arrow::MakeEmptyArray(schema->field(static_cast<int>(i))->type()));
      arrays.push_back(std::move(none));
    } else if (pieces[i].size() == 1) {
      arrays.push_back(std::move(pieces[i].front()));
    } else {
      ARROW_ASSIGN_OR_RAISE(std::shared_ptr<arrow::Array> whole, arrow::Concatenate(pieces[i]));
      arrays.push_back(std::move(whole));
    }
  }
  return arrow::RecordBatch::Make(std::move(schema), static_cast<int64_t>(addresses.size()),
                                  std::move(arrays));
}

arrow::Result<std::shared_ptr<index::IvfSegment>> Snapshot::OpenSegment(const IndexInfo& index,
                                                                        size_t segment) {
  if (segment >= index.segments.size()) {
    return base::Internal("index '", index.name, "' has no segment ", segment);
  }
  const std::string& uuid = index.segments[segment].uuid;
  const auto folder = indexes_.folders.find(uuid);
  const auto entry = open_indexes_.find(uuid);
  if (folder == indexes_.folders.end() || entry == open_indexes_.end()) {
    return base::NotFound("version ", version(), " of ", uri(), " has no index segment ", uuid);
  }
  const std::lock_guard<std::mutex> lock(entry->second.mutex);
  if (entry->second.segment == nullptr) {
    ARROW_ASSIGN_OR_RAISE(std::shared_ptr<format::IndexFiles> files,
                          format::IndexFiles::Open(folder->second, counters_));
    ARROW_ASSIGN_OR_RAISE(entry->second.segment, index::IvfSegment::Make(std::move(files)));
  }
  return entry->second.segment;
}

arrow::Result<std::shared_ptr<format::IndexFiles>> Snapshot::OpenIndexFiles(const IndexInfo& index,
                                                                            size_t segment) {
  if (segment >= index.segments.size()) {
    return base::Internal("index '", index.name, "' has no segment ", segment);
  }
  const auto folder = indexes_.folders.find(index.segments[segment].uuid);
  if (folder == indexes_.folders.end()) {
    return base::NotFound("version ", version(), " of ", uri(), " has no index segment ",
                          index.segments[segment].uuid);
  }
  return format::IndexFiles::Open(folder->second, counters_);
}

arrow::Result<std::shared_ptr<ScalarSegment>> Snapshot::OpenScalarSegment(
    const ScalarIndexInfo& index, size_t segment) {
  if (segment >= index.segments.size()) {
    return base::Internal("index '", index.name, "' has no segment ", segment);
  }
  const auto folder = scalar_indexes_.folders.find(index.segments[segment].uuid);
  if (folder == scalar_indexes_.folders.end()) {
    return base::NotFound("version ", version(), " of ", uri(), " has no index segment ",
                          index.segments[segment].uuid);
  }
  if (index.kind == ScalarIndexKind::kBtree) {
    ARROW_ASSIGN_OR_RAISE(auto file, format::BtreeFile::Open(folder->second, counters_));
    return MakeBtreeSegment(std::move(file));
  }
  ARROW_ASSIGN_OR_RAISE(auto file, format::BitmapFile::Open(folder->second, counters_));
  return MakeBitmapSegment(std::move(file));
}

void Snapshot::KeepCover(const IndexSegmentInfo& segment) {
  FragmentTable cover;
  const FragmentTable* made = CoverOf(segment, &cover);
  if (made == &cover) covers_.emplace(segment.uuid, std::move(cover));
}

const FragmentTable* Snapshot::CoverOf(const IndexSegmentInfo& segment, FragmentTable* made) const {
  const auto ready = covers_.find(segment.uuid);
  if (ready != covers_.end()) return &ready->second;
  std::vector<const Fragment*> covered;
  for (const uint64_t id : segment.fragment_ids) {
    const Fragment* fragment = table_.Find(id);
    if (fragment != nullptr) covered.push_back(fragment);
  }
  *made = FragmentTable(std::move(covered));
  return made;
}

arrow::Status Snapshot::ResolveRowIds(const IndexSegmentInfo& segment,
                                      std::span<const uint64_t> row_ids,
                                      std::span<RowAddress> addresses) const {
  if (row_ids.size() != addresses.size()) {
    return base::Internal(row_ids.size(), " row ids but room for ", addresses.size(), " addresses");
  }
  if (stable_ids_ != nullptr && !segment.lists_addresses) {
    ARROW_RETURN_NOT_OK(stable_ids_->Find(row_ids, addresses));
  } else if (row_ids.data() != addresses.data()) {
    std::copy(row_ids.begin(), row_ids.end(), addresses.begin());
  }
  FragmentTable made;
  KeepLiveRows(*CoverOf(segment, &made), addresses);
  return arrow::Status::OK();
}

arrow::Status Snapshot::RowIds(std::span<const RowAddress> addresses,
                               std::span<uint64_t> row_ids) const {
  if (row_ids.size() != addresses.size()) {
    return base::Internal(addresses.size(), " addresses but room for ", row_ids.size(), " row ids");
  }
  for (size_t i = 0; i < addresses.size(); ++i) {
    const uint64_t offset = addresses[i] & kOffsetMask;
    const Fragment* fragment = table_.Find(addresses[i] >> kOffsetBits);
    if (fragment == nullptr || offset >= fragment->physical_rows()) {
      return base::NotFound(uri(), " has no row at address ", addresses[i]);
    }
    row_ids[i] = stable_ids_ == nullptr ? addresses[i] : fragment->row_ids()->Get(offset);
  }
  return arrow::Status::OK();
}

}  // namespace kinjo::dataset
