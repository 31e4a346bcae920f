// Where native work meets JavaScript's event loop: a few threads of the package's own for calls
// that block (never libuv's four), one more for ending handles, and the way back to the loop. One a
// Node environment (the main thread, each worker).
#pragma once

#include <napi.h>

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include "kinjo/kinjo.h"
#include "watch.h"

namespace kinjo_node {

/// Threads that run jobs in order. Add: any thread.
class Workers {
 public:
  explicit Workers(size_t most) : most_(most) {}
  /// Jobs that haven't begun are dropped; waits for those that have.
  void Stop();
  void Add(std::function<void()> job);

 private:
  void Main();

  const size_t most_;
  std::mutex mutex_;  // guards the fields below
  std::condition_variable wake_;
  std::deque<std::function<void()>> jobs_;
  std::vector<std::thread> threads_;
  size_t idle_ = 0;
  bool stopping_ = false;
};

/// A stream with what must live as long as its work may run.
struct Running {
  struct Schema {
    ArrowSchema raw{};
    ~Schema() {
      if (raw.release != nullptr) raw.release(&raw);
    }
  };

  kinjo_stream* stream = nullptr;  // null before its start and after the loop's end
  std::shared_ptr<Schema> schema = std::make_shared<Schema>();
  Told told;

  Running() = default;
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;
  /// Waits for what runs.
  ~Running() { kinjo_stream_free(stream); }
};

class Loop {
 public:
  using Task = std::function<void(Napi::Env)>;

  /// Ends with the environment, or when the process says that it exits: what runs is cancelled then
  /// and waited for.
  static std::shared_ptr<Loop> Make(Napi::Env env);
  static std::shared_ptr<Loop> Of(Napi::Env env);

  /// Runs `task` on the loop's thread, if there will be a loop. Any thread.
  void Post(Task task);
  /// Keeps the loop alive until as many Drops. On the loop's thread.
  void Hold();
  void Drop();
  /// Runs a job that may block. One with a watch takes long, so that it has other threads and holds
  /// up no short one; it is raised when the environment ends first. Any thread.
  void Work(std::function<void()> job, std::shared_ptr<Watch> watch = nullptr);

  /// Knows of a stream from before it is started until Free, or Forget where it couldn't be: it is
  /// ended with the environment. Any thread.
  void Add(std::shared_ptr<Running> running);
  void Forget(const std::shared_ptr<Running>& running);
  /// Cancels the stream, and lets go of it where waiting for its end holds up nothing else.
  void Free(std::shared_ptr<Running> running);

  /// Ends what runs and waits for it; nothing is settled or started from then on. A process that
  /// exits runs no hooks of its environment, but destroys what the engine's threads use. On the
  /// loop's thread; again does nothing.
  void Stop();

 private:
  Loop() : workers_(4), changes_(4), reaper_(1) {}
  static void Run(napi_env env, napi_value, void*, void* data);
  void End();

  napi_env env_ = nullptr;
  napi_threadsafe_function function_ = nullptr;
  size_t held_ = 0;  // of the loop's thread
  Workers workers_;
  Workers changes_;
  Workers reaper_;
  std::mutex mutex_;  // guards the fields below
  bool ended_ = false;
  std::set<std::shared_ptr<Watch>> watches_;
  std::set<std::shared_ptr<Running>> running_;
};

/// A promise and the way to settle it from any thread. Made on the loop's thread, which it keeps
/// alive until it is settled, once.
class Pending {
 public:
  explicit Pending(Napi::Env env);
  Napi::Promise promise() const { return state_->deferred.Promise(); }
  /// `value` makes the answer on the loop's thread.
  void Resolve(std::function<Napi::Value(Napi::Env)> value) const;
  /// Takes the error over.
  void Reject(kinjo_error* error) const;

 private:
  struct State {
    Napi::Promise::Deferred deferred;
    std::shared_ptr<Loop> loop;
  };
  std::shared_ptr<State> state_;
};

/// {code, message, path, offset, cause} for the JavaScript side to make an error of.
Napi::Value ErrorValue(Napi::Env env, const kinjo_error* error);

}  // namespace kinjo_node
