// Segments of uint8 vectors under hamming: centroids and rows are compared by their differing bits,
// which are counted exactly. Nothing is moved, decoded or rounded here.
#pragma once

#include <memory>

#include "base/error.h"
#include "format/index_file/index_files.h"
#include "index/ivf_segment.h"

namespace kinjo::index {

/// Queries are prepared from whole numbers of 0 to 255. A decoded partition has no `rows`: its
/// bytes are compared where they lie, in `codes`. Requires: a FLAT quantizer over uint8.
std::shared_ptr<IvfSegment> MakeHammingSegment(std::shared_ptr<format::IndexFiles> files);

}  // namespace kinjo::index
