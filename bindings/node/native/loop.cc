#include "loop.h"

#include <utility>

namespace kinjo_node {

void Workers::Add(std::function<void()> job) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (stopping_) return;
  jobs_.push_back(std::move(job));
  if (idle_ < jobs_.size() && threads_.size() < most_) {
    threads_.emplace_back([this] { Main(); });
  }
  wake_.notify_one();
}

void Workers::Main() {
  std::unique_lock<std::mutex> lock(mutex_);
  while (true) {
    ++idle_;
    wake_.wait(lock, [this] { return stopping_ || !jobs_.empty(); });
    --idle_;
    if (jobs_.empty() || stopping_) return;
    std::function<void()> job = std::move(jobs_.front());
    jobs_.pop_front();
    lock.unlock();
    job();
    job = nullptr;
    lock.lock();
  }
}

void Workers::Stop() {
  std::deque<std::function<void()>> dropped;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    stopping_ = true;
    dropped.swap(jobs_);
    wake_.notify_all();
  }
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

std::shared_ptr<Loop> Loop::Make(Napi::Env env) {
  std::shared_ptr<Loop> loop(new Loop());
  loop->env_ = env;
  const Napi::String name = Napi::String::New(env, "kinjo");
  napi_create_threadsafe_function(env, nullptr, nullptr, name, 0, 1, nullptr, nullptr, nullptr, Run,
                                  &loop->function_);
  napi_unref_threadsafe_function(env, loop->function_);
  env.SetInstanceData(new std::shared_ptr<Loop>(loop));
  env.AddCleanupHook([loop] { loop->End(); });
  return loop;
}

std::shared_ptr<Loop> Loop::Of(Napi::Env env) {
  return *env.GetInstanceData<std::shared_ptr<Loop>>();
}

void Loop::Run(napi_env env, napi_value, void*, void* data) {
  const std::unique_ptr<Task> task(static_cast<Task*>(data));
  if (env == nullptr) return;  // no loop any more
  const Napi::Env environment(env);
  const Napi::HandleScope scope(environment);
  (*task)(environment);
}

void Loop::Post(Task task) {
  auto owned = std::make_unique<Task>(std::move(task));
  const std::lock_guard<std::mutex> lock(mutex_);
  if (ended_) return;
  if (napi_call_threadsafe_function(function_, owned.get(), napi_tsfn_nonblocking) == napi_ok) {
    owned.release();
  }
}

void Loop::Hold() {
  if (held_++ == 0) napi_ref_threadsafe_function(env_, function_);
}

void Loop::Drop() {
  if (--held_ == 0) napi_unref_threadsafe_function(env_, function_);
}

void Loop::Work(std::function<void()> job, std::shared_ptr<Watch> watch) {
  if (watch == nullptr) {
    workers_.Add(std::move(job));
    return;
  }
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    watches_.insert(watch);
  }
  changes_.Add([this, job = std::move(job), watch = std::move(watch)] {
    job();
    const std::lock_guard<std::mutex> lock(mutex_);
    watches_.erase(watch);
  });
}

void Loop::Add(std::shared_ptr<Running> running) {
  const std::lock_guard<std::mutex> lock(mutex_);
  running_.insert(std::move(running));
}

void Loop::Forget(const std::shared_ptr<Running>& running) {
  const std::lock_guard<std::mutex> lock(mutex_);
  running_.erase(running);
}

void Loop::Free(std::shared_ptr<Running> running) {
  Forget(running);
  kinjo_stream_cancel_async(running->stream, nullptr, nullptr);
  reaper_.Add([last = std::move(running)] {});
}

void Loop::Stop() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    ended_ = true;
    for (const auto& watch : watches_) watch->Raise();
  }
  workers_.Stop();
  changes_.Stop();
  reaper_.Stop();
  // Nobody starts one any more.
  for (const auto& one : running_) kinjo_stream_cancel_async(one->stream, nullptr, nullptr);
  for (const auto& one : running_) kinjo_stream_free(std::exchange(one->stream, nullptr));
  running_.clear();
}

void Loop::End() {
  Stop();
  napi_release_threadsafe_function(function_, napi_tsfn_abort);
}

Pending::Pending(Napi::Env env)
    : state_(new State{Napi::Promise::Deferred::New(env), Loop::Of(env)}) {
  state_->loop->Hold();
}

void Pending::Resolve(std::function<Napi::Value(Napi::Env)> value) const {
  state_->loop->Post([state = state_, value = std::move(value)](Napi::Env env) {
    state->loop->Drop();
    try {
      state->deferred.Resolve(value(env));
    } catch (const Napi::Error& error) {
      state->deferred.Reject(error.Value());
    }
  });
}

void Pending::Reject(kinjo_error* error) const {
  // Freed with the task, also when it never runs.
  const std::shared_ptr<kinjo_error> owned(error, kinjo_error_free);
  state_->loop->Post([state = state_, owned](Napi::Env env) {
    state->loop->Drop();
    state->deferred.Reject(ErrorValue(env, owned.get()));
  });
}

Napi::Value ErrorValue(Napi::Env env, const kinjo_error* error) {
  if (error == nullptr) return env.Null();
  Napi::Object value = Napi::Object::New(env);
  value.Set("code", kinjo_error_code_name(kinjo_error_get_code(error)));
  value.Set("message", kinjo_error_get_message(error));
  value.Set("path", kinjo_error_get_path(error));
  value.Set("offset", static_cast<double>(kinjo_error_get_offset(error)));
  value.Set("cause", ErrorValue(env, kinjo_error_get_cause(error)));
  return value;
}

}  // namespace kinjo_node
