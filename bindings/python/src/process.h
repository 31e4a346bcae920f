// What a fork does to native work: threads are gone in the child, so nothing that the parent made
// may be used there, and nothing at all when the parent was at work at that moment. Each handle
// remembers the process that it was made in.
#pragma once

#include <cstdint>

namespace kinjo::python {

/// Counts forks: the number of a process, 0 before the first. Any thread.
uint64_t ProcessNumber();

/// Watches for forks from now on. Called once, at import.
void WatchForks();

/// Requires the GIL. Throws ClosedError in a child that was forked while its parent was at work,
/// and for a handle that another process made (`what` names it: "this Dataset").
void RequireSafeProcess();
void RequireThisProcess(uint64_t made_in, const char* what);

/// While one lives, native work is going on in this process.
class AtWork {
 public:
  AtWork();
  ~AtWork();
  AtWork(const AtWork&) = delete;
  AtWork& operator=(const AtWork&) = delete;

 private:
  const uint64_t process_;
};

}  // namespace kinjo::python
