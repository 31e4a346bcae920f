#include "allocation.h"

#include <malloc.h>

#include <cstdlib>

namespace kinjo::cli {

void ReturnFreedMemory() {
  ReuseFreedMemory();  // Arrow's own allocator keeps what it once had
#ifdef __GLIBC__
  constexpr int kKeptBytes = 1 << 20;
  (void)mallopt(M_MMAP_THRESHOLD, kKeptBytes);
  (void)mallopt(M_TRIM_THRESHOLD, kKeptBytes);
#endif
}

void ReuseFreedMemory() {
  // What the user chose stays.
  (void)setenv("ARROW_DEFAULT_MEMORY_POOL", "system", /*overwrite=*/0);
}

}  // namespace kinjo::cli
