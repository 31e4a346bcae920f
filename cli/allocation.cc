#include "allocation.h"

#include <malloc.h>

#include <cstdlib>

namespace kinjo::cli {

namespace {

void UseSystemAllocator() {
  // What the user chose stays.
  (void)setenv("ARROW_DEFAULT_MEMORY_POOL", "system", /*overwrite=*/0);
}

}  // namespace

void ReturnFreedMemory() {
  UseSystemAllocator();  // Arrow's own keeps what it once had
#ifdef __GLIBC__
  constexpr int kKeptBytes = 1 << 20;
  (void)mallopt(M_MMAP_THRESHOLD, kKeptBytes);
  (void)mallopt(M_TRIM_THRESHOLD, kKeptBytes);
#endif
}

void ReuseFreedMemory() {
  UseSystemAllocator();
#ifdef __GLIBC__
  constexpr int kReusedBytes = 32 << 20;
  (void)mallopt(M_MMAP_THRESHOLD, kReusedBytes);
  (void)mallopt(M_TRIM_THRESHOLD, 2 * kReusedBytes);
  (void)mallopt(M_ARENA_MAX, 1);
#endif
}

}  // namespace kinjo::cli
