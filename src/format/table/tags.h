// Tags: names that the owner of a dataset gave to versions, one small JSON file each in
// `_refs/tags`.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/error.h"
#include "io/random_reader.h"

namespace kinjo::format {

struct Tag {
  std::string name;
  uint64_t version = 0;
  std::string branch;           ///< "" = the main branch
  uint64_t manifest_bytes = 0;  ///< size of the version's manifest; not read
};

/// All tags of the dataset at `root`, by name.
arrow::Result<std::vector<Tag>> ListTags(const io::Location& root);

/// One tag; `not_found` lists those there are.
arrow::Result<Tag> FindTag(const io::Location& root, const std::string& name);

/// Writes a tag of the main branch. A name that isn't one is `invalid`, one that is taken
/// `conflict`.
arrow::Status CreateTag(const io::Location& root, const Tag& tag);
/// Moves a tag; what else its owner wrote into it stays. `not_found` lists the tags there are.
arrow::Status UpdateTag(const io::Location& root, const Tag& tag);
/// Removes a tag; `not_found` lists the tags there are.
arrow::Status DeleteTag(const io::Location& root, const std::string& name);

}  // namespace kinjo::format
