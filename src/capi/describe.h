// What the ABI tells as JSON: one object or array each, in one line, keys in a fixed order. Apart
// from the rest so that one translation unit only sees the JSON library.
#pragma once

#include <string>

#include "base/error.h"
#include "dataset/dataset.h"
#include "join/knn_join.h"

namespace kinjo::capi {

std::string DescribeRuntime();
arrow::Result<std::string> DescribeDataset(const dataset::Dataset& dataset);
/// Opens the index's segments. `not_found` lists the indexes that there are.
arrow::Result<std::string> DescribeIndex(dataset::Dataset* dataset, const std::string& name);
/// Reads every manifest.
arrow::Result<std::string> DescribeVersions(const dataset::Dataset& dataset);
/// Opens every data file.
arrow::Result<std::string> DescribeFiles(dataset::Dataset* dataset);
std::string DescribeReport(const join::JoinReport& report);
std::string DescribeCurve(const join::RecallCurve& curve);

}  // namespace kinjo::capi
