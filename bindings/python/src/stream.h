// The rows of a running join or scan, for one reader that understands Arrow's C stream.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>

#include "kinjo/kinjo.h"
#include "watch.h"

namespace kinjo::python {

struct Reading;

/// Handed to Python. Reads happen in the ArrowArrayStream that Export gives; this end stops them
/// and tells why they failed.
class Stream {
 public:
  /// Takes the stream over. `watch` is its run's.
  Stream(kinjo_stream* stream, std::shared_ptr<Watch> watch);

  /// The stream as a capsule, once. Its reads free the GIL if the reader holds it, notice Ctrl-C
  /// and tell progress. `foreign`: the reader doesn't know TakeError, so that a Ctrl-C which
  /// stopped a read is put to Python again, for when the reader returns.
  nanobind::capsule Export(bool foreign);
  /// What a read failed with: an exception (KeyboardInterrupt too), or None. Gives it once.
  nanobind::object TakeError();
  /// Asks the run to stop; reads then fail with Cancelled. Any thread.
  void Cancel();
  /// The same, and waits until it has stopped.
  void Close();
  bool ended() const;

 private:
  std::shared_ptr<Reading> reading_;
  bool exported_ = false;
};

}  // namespace kinjo::python
