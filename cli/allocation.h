// How the program holds memory: for itself alone, so a library must not do it.
#pragma once

namespace kinjo::cli {

/// Makes freed memory go back to the system at once, at the price of time: allocators keep as much
/// again as is in use, and a limit is for the whole process. Before the first thread and the first
/// call of the library.
void ReturnFreedMemory();

/// Makes Arrow allocate as the rest of the program does: the C library reuses the large blocks that
/// a write frees page by page, where Arrow's own allocator gives them back and asks for new ones,
/// which costs more than the encoding. Before the first call of the library.
void ReuseFreedMemory();

}  // namespace kinjo::cli
