#include "interrupt.h"

#include <unistd.h>

#include <atomic>
#include <csignal>

namespace kinjo::cli {

namespace {

volatile std::sig_atomic_t terminated = 0;
volatile std::sig_atomic_t reader_left = 0;
std::atomic<const Cancel*> running = nullptr;

extern "C" void OnSignal(int signal) {
  if (signal == SIGTERM) terminated = 1;
  if (signal == SIGPIPE) reader_left = 1;
  const Cancel* cancel = running.load();
  if (cancel == nullptr) _exit(128 + signal);
  cancel->Raise();
}

void Watch(int signal, int flags) {
  struct sigaction action{};
  action.sa_handler = OnSignal;
  action.sa_flags = flags;
  sigemptyset(&action.sa_mask);
  sigaction(signal, &action, nullptr);
}

}  // namespace

void WatchSignals() {
  // Reset after the first: the second has the signal's usual effect.
  Watch(SIGINT, SA_RESTART | static_cast<int>(SA_RESETHAND));
  Watch(SIGTERM, SA_RESTART | static_cast<int>(SA_RESETHAND));
  Watch(SIGPIPE, SA_RESTART);
  // A file that may not grow further (ulimit -f) is then a failed write like any other.
  std::signal(SIGXFSZ, SIG_IGN);
}

Result<const Cancel*> CancelOnSignal() {
  static const Result<Cancel> cancel = Cancel::Make();  // a signal may come until the very end
  if (!cancel.ok()) return cancel.error();
  running.store(&cancel.value());
  return &cancel.value();
}

bool Terminated() { return terminated != 0; }

bool ReaderLeft() { return reader_left != 0; }

}  // namespace kinjo::cli
