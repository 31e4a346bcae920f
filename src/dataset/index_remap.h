// Vector indexes in a compaction: their segments are copied with the addresses that rows have now,
// so that the index goes on covering them. Nothing is trained or coded again.
#pragma once

#include <string>
#include <vector>

#include "base/cancel_token.h"
#include "base/error.h"
#include "dataset/moved_addresses.h"
#include "dataset/table_version.h"
#include "dataset/uncommitted_files.h"
#include "format/proto/transaction_messages.h"
#include "io/random_reader.h"

namespace kinjo::dataset {

/// The segments of usable vector indexes of `dataset`, opened at `version`, that cover one of the
/// fragments: numbers of entries of the version's index section.
std::vector<size_t> SegmentsToRemap(
    const Dataset& dataset, const TableVersion& version,
    const std::vector<format::proto::RewriteOperation::Group>& groups);

/// Copies one segment below the dataset's `_indices`, synced, and adds its files to `files`.
arrow::Result<format::proto::RewriteOperation::RewrittenIndex> RemapSegment(
    const io::Location& root, const TableVersion& version, size_t entry,
    const MovedAddresses& moved, const base::CancelToken& cancel, UncommittedFiles* files);

}  // namespace kinjo::dataset
