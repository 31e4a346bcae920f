// `kinjo join`: runs a join and writes its rows.
#include "commands.h"
#include "join_request.h"
#include "join_run.h"

namespace kinjo::cli {

int RunJoin(const Flags& flags) {
  const char* command = "join";
  return RunRequest({command, "left row", "left rows"}, flags,
                    [&] { return MakeJoin(command, flags); });
}

}  // namespace kinjo::cli
