#include "stream.h"

#include <atomic>
#include <string>
#include <utility>

#include "capsules.h"

namespace nb = nanobind;

namespace kinjo::python {

// Shared by the Python object and the exported stream; the last one frees it.
struct Reading {
  Reading(kinjo_stream* handle, std::shared_ptr<Watch> run_watch)
      : stream(handle), watch(std::move(run_watch)), made_in(ProcessNumber()) {}
  // Closes; needs the GIL, which it frees while it waits.
  ~Reading() {
    if (made_in != ProcessNumber()) return;  // the threads to wait for are the parent's
    Close();
    kinjo_stream_free(stream);
  }
  Reading(const Reading&) = delete;
  Reading& operator=(const Reading&) = delete;

  void Close() {
    const nb::gil_scoped_release released;
    kinjo_stream_close(stream, nullptr);
    EndWork();
  }
  void EndWork() { delete at_work.exchange(nullptr); }

  kinjo_stream* stream;
  std::shared_ptr<Watch> watch;
  const uint64_t made_in;
  std::atomic<bool> ended{false};
  std::atomic<AtWork*> at_work{new AtWork};  // until its threads are gone
  Failure failure;                           // of the last read
  bool failed = false;
  std::optional<nb::python_error> raised;  // what stopped the last read
  std::string message;                     // of either, for the reader
};

namespace {

// Behind the private_data of an exported stream.
using Shared = std::shared_ptr<Reading>;

Reading* Behind(ArrowArrayStream* self) { return static_cast<Shared*>(self->private_data)->get(); }

int Fail(Reading* reading, Failure failure) {
  reading->message = failure.message;
  reading->failed = true;
  const int number = kinjo_error_code_errno(failure.code);
  reading->failure = std::move(failure);
  return number;
}

int GetSchema(ArrowArrayStream* self, ArrowSchema* out) {
  Reading* reading = Behind(self);
  kinjo_error* error = nullptr;
  if (kinjo_stream_get_schema(reading->stream, out, &error)) return 0;
  return Fail(reading, Failure::Take(error));
}

void TellTheEnd(Reading* reading) {
  reading->ended = true;
  reading->EndWork();
  const PyGILState_STATE state = PyGILState_Ensure();
  if (!reading->raised.has_value() && !reading->watch->LookUp()) reading->raised.emplace();
  PyGILState_Release(state);
}

// What stopped a read, for a reader that has only texts.
void TellWhatRaised(Reading* reading) {
  const PyGILState_STATE state = PyGILState_Ensure();
  const nb::handle kind = reading->raised->type();
  reading->message = "stopped by ";
  reading->message += reinterpret_cast<PyTypeObject*>(kind.ptr())->tp_name;
  PyGILState_Release(state);
}

int GetNext(ArrowArrayStream* self, ArrowArray* out) {
  Reading* reading = Behind(self);
  if (reading->made_in != ProcessNumber()) {
    return Fail(reading,
                {KINJO_ERROR_STATE,
                 "this stream was made before this process was forked; join again here", "", -1});
  }
  kinjo_error* error = nullptr;
  const bool read = Await(
      reading->watch.get(), [&] { return kinjo_stream_next(reading->stream, out, &error); },
      &reading->raised);
  const bool at_end = read && out->release == nullptr;
  if (at_end) TellTheEnd(reading);
  if (reading->raised.has_value()) {
    if (read && out->release != nullptr) out->release(out);
    if (!read) kinjo_error_free(error);
    TellWhatRaised(reading);
    return ECANCELED;
  }
  if (!read) return Fail(reading, Failure::Take(error));
  return 0;
}

const char* GetLastError(ArrowArrayStream* self) {
  const std::string& message = Behind(self)->message;
  return message.empty() ? nullptr : message.c_str();
}

// A reader may let go on any thread, with the GIL or without.
void Release(ArrowArrayStream* self) {
  auto* shared = static_cast<Shared*>(self->private_data);
  *self = ArrowArrayStream{};
  if (!Py_IsInitialized()) return;  // the process ends, and with it all threads
  const PyGILState_STATE state = PyGILState_Ensure();
  if (shared->get()->made_in == ProcessNumber()) shared->get()->Close();
  delete shared;
  PyGILState_Release(state);
}

}  // namespace

Stream::Stream(kinjo_stream* stream, std::shared_ptr<Watch> watch)
    : reading_(std::make_shared<Reading>(stream, std::move(watch))) {}

nb::capsule Stream::Export() {
  RequireThisProcess(reading_->made_in, "this stream");
  if (exported_) RaiseError(KINJO_ERROR_STATE, "the rows of this stream were asked for already");
  exported_ = true;
  return StreamCapsule({GetSchema, GetNext, GetLastError, Release, new Shared(reading_)});
}

nb::object Stream::TakeError() {
  if (reading_->raised.has_value()) {
    nb::object value = nb::borrow(reading_->raised->value());
    reading_->raised.reset();
    return value;
  }
  if (!std::exchange(reading_->failed, false)) return nb::none();
  return ExceptionOf(reading_->failure);
}

void Stream::Cancel() {
  if (reading_->made_in == ProcessNumber()) reading_->watch->Cancel();
}

void Stream::Close() {
  if (reading_->made_in == ProcessNumber()) reading_->Close();
}

bool Stream::ended() const { return reading_->ended; }

}  // namespace kinjo::python
