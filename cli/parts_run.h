// `--resume`: a join into a folder of parts, and what is told of them.
#pragma once

#include <string>

#include "flags.h"
#include "kinjo/kinjo.hpp"

namespace kinjo::cli {

/// What is wrong with the flags about parts, or "".
std::string WrongParts(const Flags& flags);

PartsOptions PartsOf(const Flags& flags);

/// Tells what the folder holds at the end of a run that went well. True when earlier runs had
/// finished it and this one did nothing.
bool TellParts(const Flags& flags, const std::string& folder, const kinjo_parts_info& parts);

/// After a run that failed: how to go on, if there is something to go on from.
void TellUnfinishedParts(const std::string& folder, const kinjo_parts_info& parts);

}  // namespace kinjo::cli
