#include "kernels/simd_level.h"

#include <atomic>
#include <cctype>
#include <cstdlib>
#include <sstream>

#include "hwy/targets.h"
#include "kernels/kernel_table.h"

namespace kinjo::kernels {
namespace {

// Highway's bit of the level in use; 0 until the first call. The table is kept beside it so that a
// kernel call costs one load.
constinit std::atomic<const KernelTable*> current_table{nullptr};
constinit std::atomic<int64_t> current_target{0};

std::string LevelName(int64_t target) {
  std::string name = hwy::TargetName(target);
  for (char& letter : name) {
    letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  }
  return name;
}

// Bits of the usable levels, best first: Highway gives better levels lower bits.
std::vector<int64_t> UsableTargets() {
  std::vector<int64_t> targets;
  const int64_t usable = hwy::SupportedTargets() & CompiledTargets();
  for (int bit = 0; bit < 63; ++bit) {
    if ((usable >> bit) & 1) targets.push_back(int64_t{1} << bit);
  }
  return targets;
}

// The level of that name, or 0.
int64_t TargetNamed(const std::string& name) {
  for (const int64_t target : UsableTargets()) {
    if (name.empty() || LevelName(target) == name) return target;
  }
  return 0;
}

void Use(int64_t target) {
  current_target.store(target, std::memory_order_relaxed);
  current_table.store(KernelTableOf(target), std::memory_order_release);
}

std::string EnvironmentName() {
  const char* name = std::getenv("KINJO_SIMD");
  return name == nullptr ? "" : name;
}

// Threads that come here at once choose the same level.
const KernelTable* ChooseFirst() {
  int64_t target = TargetNamed(EnvironmentName());
  if (target == 0) target = TargetNamed("");
  Use(target);
  return current_table.load(std::memory_order_acquire);
}

// Whether this build has the level, on whatever machine.
bool IsCompiled(const std::string& name) {
  for (int bit = 0; bit < 63; ++bit) {
    const int64_t target = int64_t{1} << bit;
    if ((CompiledTargets() & target) != 0 && LevelName(target) == name) return true;
  }
  return false;
}

arrow::Status Unavailable(const std::string& setting, const std::string& name) {
  std::ostringstream message;
  message << setting << " is '" << name << "', which "
          << (IsCompiled(name) ? "this machine's processor lacks"
                               : "is no instruction set that Kinjo has code for")
          << "; here there are: ";
  const char* separator = "";
  for (const std::string& level : AvailableSimdLevels()) {
    message << separator << level;
    separator = ", ";
  }
  message << " (leave it unset for the best)";
  return arrow::Status::Invalid(message.str());
}

}  // namespace

const KernelTable& Kernels() {
  const KernelTable* table = current_table.load(std::memory_order_acquire);
  return table != nullptr ? *table : *ChooseFirst();
}

std::vector<std::string> AvailableSimdLevels() {
  std::vector<std::string> names;
  for (const int64_t target : UsableTargets()) names.push_back(LevelName(target));
  return names;
}

std::string CurrentSimdLevel() {
  Kernels();
  return LevelName(current_target.load(std::memory_order_relaxed));
}

arrow::Status ForceSimdLevel(const std::string& name) {
  const int64_t target = TargetNamed(name);
  if (target == 0) return Unavailable("the SIMD level", name);
  Use(target);
  return arrow::Status::OK();
}

arrow::Status CheckSimdEnvironment() {
  const std::string name = EnvironmentName();
  if (TargetNamed(name) == 0) return Unavailable("KINJO_SIMD", name);
  return arrow::Status::OK();
}

}  // namespace kinjo::kernels
