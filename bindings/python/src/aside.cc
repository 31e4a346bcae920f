#include "aside.h"

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>

#include "process.h"

namespace kinjo::python {

namespace {

// The kept thread. It is never freed: it waits until the process ends.
class Keeper {
 public:
  Keeper() : process_(ProcessNumber()) {
    std::thread([this] { Loop(); }).detach();
  }

  bool is_of_this_process() const { return process_ == ProcessNumber(); }

  /// Moves from `work` unless the thread is busy.
  bool Take(std::function<bool()>* work, std::future<bool>* done) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (busy_) return false;
    busy_ = true;
    work_ = std::move(*work);
    result_ = std::promise<bool>();
    *done = result_.get_future();
    changed_.notify_one();
    return true;
  }

 private:
  void Loop() {
    std::unique_lock<std::mutex> lock(mutex_);
    while (true) {
      changed_.wait(lock, [this] { return work_ != nullptr; });
      const std::function<bool()> work = std::exchange(work_, nullptr);
      lock.unlock();
      const bool outcome = work();
      lock.lock();
      busy_ = false;
      result_.set_value(outcome);
    }
  }

  const uint64_t process_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool busy_ = false;
  std::function<bool()> work_;  // to be begun
  std::promise<bool> result_;
};

std::atomic<Keeper*> the_keeper{nullptr};

Keeper* KeeperOfThisProcess() {
  Keeper* keeper = the_keeper.load();
  if (keeper != nullptr && keeper->is_of_this_process()) return keeper;
  auto* made = new Keeper();
  // Of two that are made at once one stays unused.
  return the_keeper.compare_exchange_strong(keeper, made) ? made : keeper;
}

}  // namespace

std::future<bool> RunAside(std::function<bool()> work) {
  std::future<bool> done;
  if (KeeperOfThisProcess()->Take(&work, &done)) return done;
  return std::async(std::launch::async, std::move(work));
}

}  // namespace kinjo::python
