// How one data file of a fragment is stored: its columns, and the encoding of each page.
#pragma once

#include <cstddef>

#include "base/error.h"
#include "dataset/dataset.h"
#include "dataset/fragment.h"
#include "format/schema.h"

namespace kinjo::dataset {

/// Of the file at place `number` of fragment->files(); columns in the file's order.
arrow::Result<StoredFile> DescribeFile(Fragment* fragment, size_t number,
                                       const format::Schema& schema);

}  // namespace kinjo::dataset
