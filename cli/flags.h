// The command line as values: one struct with a member for each row of flags.def, and the rows
// themselves for who parses them or prints them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace kinjo::cli {

/// Commands, as bits: a flag may belong to several.
enum Command : unsigned {
  kJoin = 1,
  kExplain = 2,
  kInfo = 4,
  kSearchDataset = 8,
  kTune = 16,
  kScan = 32,
  kIndexCreate = 1 << 20,
  kIndexList = 1 << 21,
  kIndexOptimize = 1 << 22,
  kIndexDrop = 1 << 23,
  kIndexRename = 1 << 24,
  kIndexCheck = 1 << 25,
  kBuildsIndex = kIndexCreate | kIndexOptimize,
  kNamesIndex = kIndexOptimize | kIndexDrop | kIndexRename | kIndexCheck,
  kIndexes = kIndexCreate | kIndexList | kNamesIndex,
  kRunsJoin = kJoin | kExplain | kTune,
  kAsks = kRunsJoin | kSearchDataset,
  kGivesRows = kJoin | kExplain | kSearchDataset,
  kRunsWhole = kJoin | kSearchDataset,
  kImport = 1 << 8,
  kDelete = 1 << 9,
  kCompact = 1 << 10,
  kColumns = 1 << 11,
  kRestore = 1 << 12,
  kTag = 1 << 13,
  kCleanup = 1 << 14,
  kChanges = kImport | kDelete | kCompact | kColumns | kRestore | kTag | kCleanup,
  kEvery = kAsks | kInfo | kScan | kIndexes | kChanges,
};

/// Headings of the help, in its order.
enum class Group {
  kChange,
  kSides,
  kRead,
  kIndex,
  kTraining,
  kSearch,
  kRows,
  kOutput,
  kResources,
  kReport,
  kInspect
};

// What a value of each kind is stored as.
using Text = std::optional<std::string>;
using Condition = std::optional<std::string>;
using Integer = std::optional<int64_t>;
using Decimal = std::optional<double>;
using Bytes = std::optional<int64_t>;
using Age = std::optional<int64_t>;  ///< seconds
using Range = std::optional<std::pair<float, float>>;
using List = std::optional<std::vector<std::string>>;
using Pairs =
    std::vector<std::pair<std::string, std::string>>;  ///< of a flag given again and again
using Column = std::optional<std::string>;  ///< "" where the flag is given without a value
using Switch = bool;

/// What was given. Nothing here is a default: those are the library's.
struct Flags {
#define FLAG(member, kind, names, value, group, commands, help) kind member{};
#include "flags.def"
#undef FLAG
};

/// One row of the table.
struct FlagRow {
  const char* option;  ///< its member of Flags: where the library has the option, its name there
  const char* names;
  const char* value;
  Group group;
  unsigned commands;
  const char* help;
  bool is_switch;
  bool may_repeat;      ///< then `read` is given its values one after another
  bool may_lack_value;  ///< then it is typed as --flag or --flag=value
  /// Reads `text` into its member. Gives what is wrong with the text, or "".
  std::string (*read)(Flags* flags, const std::string& text);
};

const std::vector<FlagRow>& FlagTable();

struct CommandRow {
  Command command;
  const char* name;
  const char* summary;  ///< one line
  const char* usage;    ///< after the command's name
  const char* example;
};

const std::vector<CommandRow>& CommandTable();

}  // namespace kinjo::cli
