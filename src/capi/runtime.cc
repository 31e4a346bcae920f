// The library about itself: version, instruction sets, defaults; and what it shares with its
// process, the pools of Arrow.
#include <algorithm>

#include "arrow/io/interfaces.h"
#include "arrow/util/thread_pool.h"
#include "capi/describe.h"
#include "capi/wall.h"
#include "join/validate.h"
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

bool kinjo_runtime_set_arrow_threads(int64_t threads, kinjo_error** error) {
  return Wall(error, [&]() -> arrow::Status {
    if (threads < 1 || threads > kinjo::join::kThreadsMax) {
      return kinjo::base::Invalid("threads must be from 1 to ", kinjo::join::kThreadsMax,
                                  ", but is ", threads);
    }
    const auto count = static_cast<int>(threads);
    ARROW_RETURN_NOT_OK(arrow::SetCpuThreadPoolCapacity(count));
    return arrow::io::SetIOThreadPoolCapacity(std::max(2, count));
  });
}
