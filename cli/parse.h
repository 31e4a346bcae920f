// The command line read: which command, with which flags. The only user of the parser library.
#pragma once

#include <optional>
#include <string>

#include "flags.h"

namespace kinjo::cli {

/// What the program was asked to do.
struct Invocation {
  const CommandRow* command = nullptr;  ///< null for the program itself (--help, --version)
  Flags flags;
  bool version = false;
  std::string error;  ///< one line; not empty when the command line can't be understood
};

Invocation Parse(int argc, char** argv);

}  // namespace kinjo::cli
