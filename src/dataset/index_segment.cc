#include "dataset/index_segment.h"

#include <limits>
#include <optional>

#include "format/table/roaring_bitmap.h"
#include "format/table/uuid.h"

namespace kinjo::dataset {

namespace {

using format::QuantizerKind;
using Details = format::proto::VectorIndexDetailsMessage;

constexpr const char* kDetailsUrl = "/lance.index.pb.VectorIndexDetails";

// What Lance's readers of IVF_RQ want to see, and of all others.
constexpr int32_t kIndexVersion = 1;
constexpr int32_t kRqIndexVersion = 2;

Details::Quantizer QuantizerOf(QuantizerKind kind) {
  switch (kind) {
    case QuantizerKind::kPq:
      return Details::Quantizer::kPq;
    case QuantizerKind::kSq:
      return Details::Quantizer::kSq;
    case QuantizerKind::kRq:
      return Details::Quantizer::kRq;
    case QuantizerKind::kFlat:
      break;
  }
  return Details::Quantizer::kFlat;
}

}  // namespace

std::string EncodeIndexDetails(const ResolvedParams& params) {
  Details details;
  details.metric_type = static_cast<uint64_t>(params.training.metric);
  details.quantizer = QuantizerOf(params.kind.quantizer);
  details.num_bits = static_cast<uint32_t>(params.training.num_bits);
  details.num_sub_vectors = static_cast<uint32_t>(params.training.num_sub_vectors);
  details.has_hnsw = params.kind.has_graph;
  details.hnsw = {.max_connections = params.graphs.m,
                  .construction_ef = params.graphs.ef_construction,
                  .max_level = params.graphs.max_level};
  details.runtime_hints["lance.ivf.sample_rate"] = std::to_string(params.training.sample_rate);
  details.runtime_hints["lance.ivf.max_iters"] = std::to_string(params.training.max_iterations);
  return format::proto::EncodeVectorIndexDetails(details);
}

arrow::Result<format::proto::IndexMetadataMessage> MakeIndexEntry(const IndexSegment& segment,
                                                                  const std::string& name,
                                                                  uint64_t created_at_ms) {
  format::proto::IndexMetadataMessage entry;
  const auto uuid = format::ParseUuid(segment.uuid);
  if (!uuid) return base::Invalid("'", segment.uuid, "' is no UUID of an index segment");
  std::vector<uint32_t> fragments;
  for (const uint64_t id : segment.fragment_ids) {
    if (id >= std::numeric_limits<uint32_t>::max()) {
      return base::Invalid("an index segment covers fragment ", id, ", which can't be one");
    }
    fragments.push_back(static_cast<uint32_t>(id));
  }
  entry.uuid = *uuid;
  entry.fields = {segment.field_id};
  entry.name = name;
  entry.dataset_version = segment.dataset_version;
  entry.fragment_bitmap = format::EncodeRoaring(fragments);
  entry.has_details = true;
  entry.details_url = kDetailsUrl;
  entry.details = segment.details;
  entry.index_version = segment.type == "IVF_RQ" ? kRqIndexVersion : kIndexVersion;
  entry.created_at_ms = created_at_ms;
  entry.files = {{.path = "auxiliary.idx", .size_bytes = segment.auxiliary_bytes},
                 {.path = "index.idx", .size_bytes = segment.index_bytes}};
  return entry;
}

}  // namespace kinjo::dataset
