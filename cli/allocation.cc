#include "allocation.h"

#include <malloc.h>

#include <cstdlib>

namespace kinjo::cli {

void ReturnFreedMemory() {
  // Arrow's own allocator keeps what it once had. What the user chose stays.
  (void)setenv("ARROW_DEFAULT_MEMORY_POOL", "system", /*overwrite=*/0);
#ifdef __GLIBC__
  constexpr int kKeptBytes = 1 << 20;
  (void)mallopt(M_MMAP_THRESHOLD, kKeptBytes);
  (void)mallopt(M_TRIM_THRESHOLD, kKeptBytes);
#endif
}

}  // namespace kinjo::cli
