#include "watch.h"

namespace kinjo_node {

void Told::Tell(void* told, const kinjo_progress* progress) {
  auto* self = static_cast<Told*>(told);
  const std::lock_guard<std::mutex> lock(self->mutex_);
  self->progress_ = *progress;
}

Napi::Value Told::ToValue(Napi::Env env) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (progress_.struct_size == 0) return env.Null();
  Napi::Object value = Napi::Object::New(env);
  value.Set("doneRows", static_cast<double>(progress_.done_rows));
  value.Set("totalRows", static_cast<double>(progress_.total_rows));
  value.Set("elapsedSeconds", progress_.elapsed_s);
  value.Set("rowsPerSecond", progress_.rows_per_s);
  value.Set("remainingSeconds", progress_.remaining_s);
  return value;
}

kinjo_run_options Watch::Options() {
  kinjo_run_options options;
  kinjo_run_options_init(&options, sizeof(options));
  options.cancel = cancel_;
  options.progress = Told::Tell;
  options.progress_context = &told_;
  return options;
}

}  // namespace kinjo_node
