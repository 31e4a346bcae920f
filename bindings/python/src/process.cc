#include "process.h"

#include <pthread.h>

#include <atomic>

#include "errors.h"

namespace kinjo::python {

namespace {

std::atomic<uint64_t> process_number{0};
std::atomic<int64_t> works{0};
std::atomic<bool> forked_at_work{false};

// In the child there is one thread, and none of its parent's work goes on.
void AfterFork() {
  process_number.fetch_add(1);
  if (works.exchange(0) > 0) forked_at_work.store(true);
}

}  // namespace

uint64_t ProcessNumber() { return process_number.load(); }

void WatchForks() { pthread_atfork(nullptr, nullptr, AfterFork); }

void RequireSafeProcess() {
  if (!forked_at_work.load()) return;
  RaiseError(KINJO_ERROR_STATE,
             "this process was forked while Kinjo was at work in its parent, whose threads are "
             "missing here; start processes with multiprocessing's 'spawn', or fork them first");
}

void RequireThisProcess(uint64_t made_in, const char* what) {
  RequireSafeProcess();
  if (made_in == ProcessNumber()) return;
  RaiseError(KINJO_ERROR_STATE,
             std::string(what) + " was made before this process was forked; make it again here");
}

AtWork::AtWork() : process_(ProcessNumber()) { works.fetch_add(1); }

AtWork::~AtWork() {
  if (process_ == ProcessNumber()) works.fetch_sub(1);
}

}  // namespace kinjo::python
