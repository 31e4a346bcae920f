#include "index_options.h"

#include "option_text.h"

namespace kinjo::jvm {
namespace {

const OptionSetters<IndexOptions>& Setters() {
  using O = IndexOptions;
  static const OptionSetters<IndexOptions> setters = {
      {"column", Into(&O::column)},
      {"type", Into(&O::type)},
      {"metric", Into(&O::metric)},
      {"num_partitions", Into(&O::num_partitions, Integer)},
      {"target_partition_size", Into(&O::target_partition_size, Integer)},
      {"num_sub_vectors", Into(&O::num_sub_vectors, Integer)},
      {"num_bits", Into(&O::num_bits, Integer)},
      {"m", Into(&O::m, Integer)},
      {"ef_construction", Into(&O::ef_construction, Integer)},
      {"max_level", Into(&O::max_level, Integer)},
      {"sample_rate", Into(&O::sample_rate, Integer)},
      {"max_iterations", Into(&O::max_iterations, Integer)},
      {"seed", Into(&O::seed, Integer)},
      {"threads", Into(&O::threads, Integer)},
      {"memory_limit_bytes", Into(&O::memory_limit_bytes, Integer)},
      {"model", Into(&O::model)},
  };
  return setters;
}

}  // namespace

IndexOptions ParseIndexOptions(const std::vector<std::string>& names,
                               const std::vector<std::string>& texts) {
  return ParseOptions(Setters(), names, texts);
}

}  // namespace kinjo::jvm
