// `kinjo explain`, and `kinjo join --explain`: the plan, without reading a left row.
#include "commands.h"
#include "join_request.h"
#include "outcome.h"

namespace kinjo::cli {

int RunExplain(const Flags& flags) {
  const char* command = "explain";
  const JoinRequest request = MakeJoin(command, flags);
  if (!request.join) return request.exit_code;
  Result<std::string> plan = request.join->Explain(flags.verbose);
  if (!plan.ok()) return Fail(command, plan.error());
  if (plan->empty() || plan->back() != '\n') *plan += "\n";
  return Print(command, *plan);
}

}  // namespace kinjo::cli
