// How the program holds memory: for itself alone, so a library must not do it.
#pragma once

namespace kinjo::cli {

/// Makes freed memory go back to the system at once, at the price of time: allocators keep as much
/// again as is in use, and a limit is for the whole process. Before the first thread and the first
/// call of the library.
void ReturnFreedMemory();

/// Makes large blocks that were freed serve again, for all threads: a write frees the same sizes
/// page after page, and giving each back to the system costs more than the encoding. Before the
/// first thread and the first call of the library.
void ReuseFreedMemory();

}  // namespace kinjo::cli
