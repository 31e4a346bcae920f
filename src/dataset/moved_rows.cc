#include "dataset/moved_rows.h"

#include <algorithm>

namespace kinjo::dataset {
namespace {

namespace proto = format::proto;

/// Takes the first `rows` rows off `runs`, from run `*at` with `*used` of its rows gone on.
std::vector<proto::VersionRun> TakeRuns(const std::vector<proto::VersionRun>& runs, uint64_t rows,
                                        size_t* at, uint64_t* used) {
  std::vector<proto::VersionRun> taken;
  while (rows > 0 && *at < runs.size()) {
    const uint64_t part = std::min(rows, runs[*at].rows - *used);
    if (part > 0) taken.push_back({part, runs[*at].version});
    rows -= part;
    *used += part;
    if (*used == runs[*at].rows) {
      ++*at;
      *used = 0;
    }
  }
  return taken;
}

}  // namespace

void MovedRows::AddLive(const std::optional<std::string>& message, uint64_t physical_rows,
                        const format::DeadRows& dead, Versions* versions) {
  std::vector<proto::VersionRun> runs;
  if (!message.has_value() || !proto::ParseRowVersions(*message, &runs)) versions->known = false;
  if (!versions->known) return;
  uint64_t begin = 0;
  for (const proto::VersionRun& run : runs) {
    const uint64_t end = std::min(begin + run.rows, physical_rows);
    std::vector<format::RowRange> live;
    const uint64_t rows = dead.AppendLiveRanges(begin, end, &live);
    begin = end;
    if (rows == 0) continue;
    if (!versions->runs.empty() && versions->runs.back().version == run.version) {
      versions->runs.back().rows += rows;
    } else {
      versions->runs.push_back({rows, run.version});
    }
  }
}

void MovedRows::AddVersions(const proto::DataFragmentMessage& fragment,
                            const format::DeadRows& dead) {
  AddLive(fragment.created_at, fragment.physical_rows, dead, &created_at_);
  AddLive(fragment.last_updated_at, fragment.physical_rows, dead, &last_updated_at_);
}

arrow::Status MovedRows::AddRowIds(const Dataset& dataset, std::span<const RowAddress> addresses) {
  const size_t before = ids_.size();
  ids_.resize(before + addresses.size());
  return dataset.RowIds(addresses, std::span(ids_).subspan(before));
}

void MovedRows::GiveTo(std::vector<proto::DataFragmentMessage>* fragments) const {
  uint64_t begin = 0;
  size_t created = 0;
  uint64_t created_used = 0;
  size_t updated = 0;
  uint64_t updated_used = 0;
  for (proto::DataFragmentMessage& fragment : *fragments) {
    const uint64_t rows = fragment.physical_rows;
    fragment.row_ids = proto::EncodeRowIds(std::span(ids_).subspan(begin, rows)).text();
    begin += rows;
    if (created_at_.known) {
      const auto runs = TakeRuns(created_at_.runs, rows, &created, &created_used);
      fragment.created_at = proto::EncodeRowVersions(runs).text();
    }
    if (last_updated_at_.known) {
      const auto runs = TakeRuns(last_updated_at_.runs, rows, &updated, &updated_used);
      fragment.last_updated_at = proto::EncodeRowVersions(runs).text();
    }
  }
}

}  // namespace kinjo::dataset
