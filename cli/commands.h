// One function a command, each in its own file. They give the program's exit code.
#pragma once

#include "flags.h"

namespace kinjo::cli {

int RunJoin(const Flags& flags);
int RunExplain(const Flags& flags);
int RunSearch(const Flags& flags);
int RunTune(const Flags& flags);
int RunInfo(const Flags& flags);
int RunScan(const Flags& flags);
int RunIndexCreate(const Flags& flags);
int RunIndexList(const Flags& flags);
int RunIndexOptimize(const Flags& flags);
int RunIndexDrop(const Flags& flags);
int RunIndexRename(const Flags& flags);
int RunIndexCheck(const Flags& flags);
int RunImport(const Flags& flags);
int RunDelete(const Flags& flags);
int RunCompact(const Flags& flags);
int RunColumns(const Flags& flags);
int RunRestore(const Flags& flags);
int RunTag(const Flags& flags);
int RunCleanup(const Flags& flags);

}  // namespace kinjo::cli
