// The library about itself: version, instruction sets, defaults.
#include "capi/describe.h"
#include "capi/wall.h"
#include "kernels/simd_level.h"

using namespace kinjo::capi;  // NOLINT: the functions below are C's

const char* kinjo_version(void) { return KINJO_VERSION; }

bool kinjo_simd_level(char** level, kinjo_error** error) {
  return Wall(error, [&] { return GiveText(kinjo::kernels::CurrentSimdLevel(), level); });
}

bool kinjo_simd_levels(char** levels, kinjo_error** error) {
  return Wall(error, [&] {
    std::string joined;
    for (const std::string& level : kinjo::kernels::AvailableSimdLevels()) {
      joined += (joined.empty() ? "" : ",") + level;
    }
    return GiveText(joined, levels);
  });
}

bool kinjo_runtime_describe(char** json, kinjo_error** error) {
  return Wall(error, [&] { return GiveText(DescribeRuntime(), json); });
}
