#include "base/cgroup.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <sstream>
#include <vector>

#include "base/error.h"

namespace kinjo::base {

namespace {

// Version 1 writes the largest number of pages where there is no limit.
constexpr int64_t kNoLimitBytes = int64_t{1} << 62;

/// Whole numbers of a file of one line; "max" reads as 0, and so do others that aren't numbers.
std::vector<int64_t> ReadNumbers(const std::string& path) {
  std::ifstream file(path);
  std::vector<int64_t> numbers;
  for (std::string word; file >> word;) {
    std::istringstream text(word);
    int64_t number = 0;
    numbers.push_back(text >> number ? number : 0);
  }
  return numbers;
}

void TakeMemory(const std::string& path, CgroupLimits* limits) {
  const std::vector<int64_t> numbers = ReadNumbers(path);
  if (numbers.empty() || numbers[0] <= 0 || numbers[0] >= kNoLimitBytes) return;
  limits->memory_bytes = std::min(limits->memory_bytes.value_or(numbers[0]), numbers[0]);
}

void TakeProcessors(const std::vector<int64_t>& quota_and_period, CgroupLimits* limits) {
  if (quota_and_period.size() < 2 || quota_and_period[0] <= 0 || quota_and_period[1] <= 0) return;
  const double share =
      static_cast<double>(quota_and_period[0]) / static_cast<double>(quota_and_period[1]);
  limits->processors = std::min(limits->processors.value_or(share), share);
}

/// "/a/b" gives "/a/b", "/a" and "": in a container the files of the group lie at the top, under
/// whichever name the machine knows it by.
std::vector<std::string> WithAncestors(std::string group) {
  std::vector<std::string> groups;
  while (true) {
    while (!group.empty() && group.back() == '/') group.pop_back();
    groups.push_back(group);
    if (group.empty()) return groups;
    group.resize(group.rfind('/') == std::string::npos ? 0 : group.rfind('/'));
  }
}

void ReadVersion2(const std::string& mount, const std::string& group, CgroupLimits* limits) {
  for (const std::string& each : WithAncestors(group)) {
    TakeMemory(Concat(mount, each, "/memory.max"), limits);
    TakeProcessors(ReadNumbers(Concat(mount, each, "/cpu.max")), limits);
  }
}

// Both of a folder; less than two numbers where one is missing.
std::vector<int64_t> ReadQuota(const std::string& folder) {
  std::vector<int64_t> numbers = ReadNumbers(folder + "/cpu.cfs_quota_us");
  const std::vector<int64_t> period = ReadNumbers(folder + "/cpu.cfs_period_us");
  numbers.insert(numbers.end(), period.begin(), period.end());
  return numbers;
}

void ReadVersion1(const std::string& mount, const std::string& controllers,
                  const std::string& group, CgroupLimits* limits) {
  std::istringstream names(controllers);
  for (std::string name; std::getline(names, name, ',');) {
    // A controller is mounted by its own name, or by all of those mounted together.
    const std::string own = Concat(mount, "/", name);
    const std::string together = Concat(mount, "/", controllers);
    for (const std::string& each : WithAncestors(group)) {
      if (name == "memory") TakeMemory(Concat(own, each, "/memory.limit_in_bytes"), limits);
      if (name != "cpu") continue;
      TakeProcessors(ReadQuota(own + each), limits);
      TakeProcessors(ReadQuota(together + each), limits);
    }
  }
}

}  // namespace

CgroupLimits ReadCgroupLimits(const std::string& root) {
  CgroupLimits limits;
  const std::string mount = root + "/sys/fs/cgroup";
  std::ifstream file(root + "/proc/self/cgroup");
  // A line is "number:controllers:group"; that of version 2 has number 0 and no controllers.
  for (std::string line; std::getline(file, line);) {
    const size_t first = line.find(':');
    const size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const std::string group = line.substr(second + 1);
    if (controllers.empty()) {
      ReadVersion2(mount, group, &limits);
    } else {
      ReadVersion1(mount, controllers, group, &limits);
    }
  }
  return limits;
}

int64_t HalfOfMemory(const CgroupLimits& limits, int64_t machine_bytes) {
  return std::min(machine_bytes, limits.memory_bytes.value_or(machine_bytes)) / 2;
}

int ThreadsWithin(const CgroupLimits& limits, int processors) {
  const double quota = limits.processors.value_or(processors);
  if (quota >= processors) return std::max(1, processors);
  return std::max(1, static_cast<int>(std::ceil(quota)));
}

}  // namespace kinjo::base
