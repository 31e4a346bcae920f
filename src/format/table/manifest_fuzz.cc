// Any bytes as a manifest file, as a manifest message inside a sound file, and as an index section
// inside a sound file: an error or a manifest whose parts can be walked, never a crash.
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "arrow/buffer.h"
#include "format/table/manifest.h"
#include "format/table/synthetic_manifest.h"
#include "io/random_reader.h"

namespace {

using kinjo::format::DataFile;
using kinjo::format::Field;
using kinjo::format::Fragment;
using kinjo::format::IndexEntry;
using kinjo::format::Manifest;
using kinjo::format::RowIdSequence;
namespace synthetic = kinjo::format::synthetic;

/// Uses everything that was read, so that a bad size shows up here.
size_t Walk(const Manifest& manifest) {
  size_t sum = manifest.schema.fields.size();
  for (const Fragment& fragment : manifest.fragments) {
    if (fragment.row_ids.has_value() && fragment.row_ids->size() > 0) {
      sum += fragment.row_ids->Get(0) + fragment.row_ids->Get(fragment.row_ids->size() - 1);
      fragment.row_ids->ForEachRun([&](const RowIdSequence::Run& run) { sum += run.length; });
    }
    for (const DataFile& file : fragment.files) sum += file.columns.size();
  }
  for (const IndexEntry& entry : manifest.indexes) {
    if (entry.fragments.has_value()) sum += entry.fragments->Contains(1) ? 1 : 0;
  }
  for (const Field& field : manifest.schema.fields)
    sum += kinjo::format::ToArrowType(field).ok() ? 1 : 0;
  return sum;
}

void Read(std::string bytes) {
  const auto reader =
      kinjo::io::OpenBuffer(arrow::Buffer::FromString(std::move(bytes)), "1.manifest");
  const arrow::Result<Manifest> manifest = kinjo::format::ReadManifest(reader.get());
  if (manifest.ok()) Walk(*manifest);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string input(reinterpret_cast<const char*>(data), size);
  Read(input);
  Read(synthetic::ManifestFile(synthetic::Message(input)));
  Read(synthetic::ManifestFile(synthetic::ManifestOf(1).Number(6, 0), synthetic::Section(input)));
  return 0;
}
