// The help texts, laid out from the tables in flags.h for a width of 80 columns.
#pragma once

#include <string>

#include "flags.h"

namespace kinjo::cli {

std::string ProgramHelp();
std::string CommandHelp(const CommandRow& command);

}  // namespace kinjo::cli
