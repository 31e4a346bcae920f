#include "watch.h"

#include <pthread.h>

namespace nb = nanobind;

namespace kinjo::python {

namespace {

pthread_t main_thread;

// Negative: not known.
template <typename Number, typename Object>
nb::object Known(Number number) {
  if (number < 0) return nb::none();
  return Object(number);
}

}  // namespace

void SetMainThread() {
  main_thread = static_cast<pthread_t>(
      nb::cast<uintptr_t>(nb::module_::import_("threading").attr("main_thread")().attr("ident")));
}

std::shared_ptr<Watch> Watch::Make(nb::object progress) {
  std::shared_ptr<Watch> watch(new Watch(std::move(progress)));
  Quick([&](kinjo_error** error) { return kinjo_cancel_make(&watch->cancel_, error); });
  return watch;
}

Watch::~Watch() { kinjo_cancel_free(cancel_); }

kinjo_run_options Watch::Options() {
  kinjo_run_options options;
  kinjo_run_options_init(&options, sizeof(options));
  options.cancel = cancel_;
  if (progress_.is_none()) return options;
  options.progress_context = this;
  options.progress = [](void* context, const kinjo_progress* progress) {
    auto* watch = static_cast<Watch*>(context);
    const std::lock_guard<std::mutex> lock(watch->mutex_);
    watch->told_ = *progress;
  };
  return options;
}

bool Watch::looks_up() const {
  return !progress_.is_none() || pthread_equal(pthread_self(), main_thread) != 0;
}

bool Watch::LookUp() {
  looked_up_ = std::chrono::steady_clock::now();
  if (PyErr_CheckSignals() != 0) return false;
  std::optional<kinjo_progress> told;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    told.swap(told_);
  }
  if (!told.has_value()) return true;
  try {
    progress_(told->done_rows, Known<int64_t, nb::int_>(told->total_rows), told->elapsed_s,
              told->rows_per_s, Known<double, nb::float_>(told->remaining_s));
  } catch (nb::python_error& error) {
    error.restore();
    return false;
  }
  return true;
}

}  // namespace kinjo::python
