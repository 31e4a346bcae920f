// What tells a table from another without reading its rows: a run that goes on later must find the
// tables that it began with.
#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "dataset/dataset.h"
#include "tabular/file_list.h"
#include "tabular/table_source.h"

namespace kinjo::tabular {

/// Of the files that `uri` names: the place, how many there are, their bytes, the time of the
/// newest, and a checksum over each one's name, size and time.
arrow::Result<std::vector<Trait>> IdentifyFiles(const std::string& uri, const FileList& list);

/// Of a snapshot: the place, the version, and a checksum over its fragments' files and its indexes,
/// whose names are drawn at random: a dataset that was made anew is another one at the same
/// version.
std::vector<Trait> IdentifyDataset(const dataset::Dataset& dataset);

}  // namespace kinjo::tabular
