// The program: reads the command line and hands over to one command.
#include "allocation.h"
#include "commands.h"
#include "help.h"
#include "interrupt.h"
#include "outcome.h"
#include "parse.h"

namespace kinjo::cli {

namespace {

int RunProgram(int argc, char** argv) {
  const Invocation invocation = Parse(argc, argv);
  const CommandRow* command = invocation.command;
  const char* name = command == nullptr ? "" : command->name;
  if (!invocation.error.empty()) return FailCommandLine(name, invocation.error);
  if (invocation.version) return Print(name, "kinjo " + Version() + "\n");
  if (invocation.flags.help) {
    return Print(name, command == nullptr ? ProgramHelp() : CommandHelp(*command));
  }
  if (command == nullptr) {
    Tell(ProgramHelp());
    return kWrongCommandLine;
  }
  const Flags& flags = invocation.flags;
  if (flags.memory_limit.has_value() || flags.index_memory_limit.has_value()) ReturnFreedMemory();
  if (command->command == kImport) ReuseFreedMemory();
  if (!flags.storage_options.empty()) {
    const Result<void> set = SetStorageOptions("", flags.storage_options);
    if (!set.ok()) return FailCommandLine(name, "--storage-option: " + set.error().message);
  }
  WatchSignals();
  switch (command->command) {
    case kExplain:
      return RunExplain(invocation.flags);
    case kSearchDataset:
      return RunSearch(invocation.flags);
    case kTune:
      return RunTune(invocation.flags);
    case kInfo:
      return RunInfo(invocation.flags);
    case kScan:
      return RunScan(invocation.flags);
    case kIndexCreate:
      return RunIndexCreate(invocation.flags);
    case kIndexList:
      return RunIndexList(invocation.flags);
    case kIndexOptimize:
      return RunIndexOptimize(invocation.flags);
    case kIndexDrop:
      return RunIndexDrop(invocation.flags);
    case kIndexRename:
      return RunIndexRename(invocation.flags);
    case kIndexCheck:
      return RunIndexCheck(invocation.flags);
    case kImport:
      return RunImport(invocation.flags);
    case kDelete:
      return RunDelete(invocation.flags);
    case kCompact:
      return RunCompact(invocation.flags);
    case kColumns:
      return RunColumns(invocation.flags);
    case kRestore:
      return RunRestore(invocation.flags);
    case kTag:
      return RunTag(invocation.flags);
    case kCleanup:
      return RunCleanup(invocation.flags);
    default:
      return RunJoin(invocation.flags);
  }
}

}  // namespace

}  // namespace kinjo::cli

int main(int argc, char** argv) { return kinjo::cli::RunProgram(argc, argv); }
