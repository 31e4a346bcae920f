// `kinjo explain`: the plan of a join, without reading a left row.
#include "commands.h"
#include "join_request.h"
#include "join_run.h"

namespace kinjo::cli {

int RunExplain(const Flags& flags) {
  const char* command = "explain";
  return TellPlan(command, flags, MakeJoin(command, flags));
}

}  // namespace kinjo::cli
