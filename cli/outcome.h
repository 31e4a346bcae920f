// How a command ends: its exit code, and the one line that says why it failed.
#pragma once

#include <string>

#include "kinjo/kinjo.hpp"

namespace kinjo::cli {

inline constexpr int kDone = 0;
inline constexpr int kFailed = 1;
inline constexpr int kWrongCommandLine = 2;
inline constexpr int kRefusedOrTooLarge = 3;
inline constexpr int kInterrupted = 130;  // 128 + SIGINT, as shells count
inline constexpr int kTerminated = 143;   // 128 + SIGTERM
inline constexpr int kBrokenPipe = 141;   // 128 + SIGPIPE

/// Prints "kinjo: COMMAND: message" to standard error, with options spelled as flags, and gives the
/// exit code of the error's code.
int Fail(const char* command, const Error& error);
/// The same for a command line that can't be carried out: exit code 2, with a pointer to the help.
int FailCommandLine(const char* command, const Error& error);
int FailCommandLine(const char* command, const std::string& message);

/// How a run ended, in one word.
template <typename T>
const char* StateOf(const Result<T>& done) {
  if (done.ok()) return "done";
  return done.error().code == KINJO_ERROR_CANCELLED ? "cancelled" : "failed";
}

/// Writes to standard output and flushes it. Gives the exit code: a full disk is a failure.
int Print(const char* command, const std::string& text);
/// Writes to standard error.
void Tell(const std::string& text);

}  // namespace kinjo::cli
