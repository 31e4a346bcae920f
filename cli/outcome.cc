#include "outcome.h"

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "interrupt.h"
#include "option_words.h"

namespace kinjo::cli {

namespace {

int ExitCodeOf(kinjo_error_code code) {
  switch (code) {
    case KINJO_ERROR_CAPACITY:
    case KINJO_ERROR_REFUSED:
      return kRefusedOrTooLarge;
    case KINJO_ERROR_CANCELLED:
      return kInterrupted;
    default:
      return kFailed;
  }
}

std::string Prefix(const char* command) {
  return command[0] == '\0' ? "kinjo: " : std::string("kinjo: ") + command + ": ";
}

}  // namespace

int Fail(const char* command, const Error& error) {
  // Whoever read our output left: there is nobody to tell.
  if (ReaderLeft()) return kBrokenPipe;
  Tell(Prefix(command) + WithFlags(error.message) + "\n");
  if (error.code == KINJO_ERROR_CANCELLED && Terminated()) return kTerminated;
  return ExitCodeOf(error.code);
}

int FailCommandLine(const char* command, const Error& error) {
  return FailCommandLine(command, WithFlags(error.message));
}

int FailCommandLine(const char* command, const std::string& message) {
  const std::string help = command[0] == '\0'
                               ? "kinjo --help tells the commands"
                               : std::string("kinjo ") + command + " --help tells the flags";
  Tell(Prefix(command) + message + " (" + help + ")\n");
  return kWrongCommandLine;
}

int Print(const char* command, const std::string& text) {
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
  if (written && std::fflush(stdout) == 0) return kDone;
  Error error;
  error.code = KINJO_ERROR_IO;
  error.message = std::string("could not write to standard output: ") + std::strerror(errno);
  return Fail(command, error);
}

void Tell(const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}

}  // namespace kinjo::cli
