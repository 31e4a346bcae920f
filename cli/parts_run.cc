#include "parts_run.h"

#include "figures.h"
#include "interrupt.h"
#include "outcome.h"

namespace kinjo::cli {

std::string WrongParts(const Flags& flags) {
  if (flags.part_rows && !flags.resume) return "--part-rows needs --resume";
  if (flags.resume && flags.output.value_or("-") == "-") {
    return "--resume needs -o FOLDER: the folder for the parts";
  }
  const char* pairs = flags.mutual            ? "--mutual"
                      : flags.unordered_pairs ? "--unordered-pairs"
                      : flags.clusters        ? "--clusters"
                                              : nullptr;
  if (flags.resume && pairs != nullptr) {
    return std::string("--resume goes on part by part, but ") + pairs +
           " looks at all left rows before it is done; give one of them";
  }
  return "";
}

PartsOptions PartsOf(const Flags& flags) {
  PartsOptions parts;
  parts.format = flags.format.value_or("");
  parts.compression = flags.compression.value_or("");
  parts.row_group_rows = flags.row_group_rows;
  parts.part_rows = flags.part_rows;
  return parts;
}

bool TellParts(const Flags& flags, const std::string& folder, const kinjo_parts_info& parts) {
  const bool done_before = parts.parts == parts.parts_before;
  if (flags.progress == "none") return done_before;
  std::string text = "kinjo: " + Counted(static_cast<uint64_t>(parts.parts), "part") + " in " +
                     folder + ": " + Counted(static_cast<uint64_t>(parts.rows), "row") + " from " +
                     Counted(static_cast<uint64_t>(parts.left_rows), "left row");
  if (done_before) {
    text += ", finished by an earlier run; nothing was left to do";
  } else if (parts.parts_before > 0) {
    text += "; " + Count(static_cast<uint64_t>(parts.parts_before)) + " of them of earlier runs";
  }
  Tell(text + "\n");
  return done_before;
}

void TellUnfinishedParts(const std::string& folder, const kinjo_parts_info& parts) {
  if (parts.parts == 0 || ReaderLeft()) return;
  Tell("kinjo: " + Counted(static_cast<uint64_t>(parts.parts), "part") + " in " + folder +
       (parts.parts == 1 ? " is" : " are") +
       " finished and kept; the same command goes on from there\n");
}

}  // namespace kinjo::cli
