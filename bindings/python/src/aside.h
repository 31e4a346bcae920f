// Work that goes on beside the thread that waits for it. The thread for it is kept between calls:
// starting one takes longer than a small join.
#pragma once

#include <functional>
#include <future>

namespace kinjo::python {

/// Runs `work` on the kept thread, or on one of its own while that is busy. Any thread; also in a
/// forked child, which gets a thread of its own. `work` must not throw.
std::future<bool> RunAside(std::function<bool()> work);

}  // namespace kinjo::python
