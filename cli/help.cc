#include "help.h"

#include <sstream>
#include <string_view>

namespace kinjo::cli {

namespace {

constexpr size_t kWidth = 80;
constexpr size_t kSummaryColumn = 20;  // where a command's summary begins: after any name
constexpr size_t kIndent = 26;         // where the explanation of a flag begins

struct Heading {
  Group group;
  const char* text;
};

constexpr Heading kHeadings[] = {
    {Group::kChange, "What to change"},
    {Group::kSides, "The two sides"},
    {Group::kRead, "The rows"},
    {Group::kIndex, "The index"},
    {Group::kTraining, "How it is built"},
    {Group::kSearch, "The search"},
    {Group::kRows, "The rows of the result"},
    {Group::kOutput, "Where they go"},
    {Group::kResources, "Limits"},
    {Group::kInspect, "What to describe"},
    {Group::kReport, "What is told"},
};

// "-k, --k N", with room in front for a short name that isn't there.
std::string NamesAndValue(const FlagRow& row) {
  std::string names = row.names;
  if (names[0] != '-') return std::string("  ") + row.value;
  const size_t comma = names.find(',');
  names = comma == std::string::npos ? "    " + names : names.insert(comma + 1, " ");
  if (row.may_lack_value) {
    names += std::string("[=") + row.value + "]";
  } else if (row.value[0] != '\0') {
    names += std::string(" ") + row.value;
  }
  return "  " + names;
}

// Words from `text`, wrapped; the first line continues a line of `begin` characters.
void Wrap(std::string_view text, size_t begin, std::string* out) {
  std::istringstream words{std::string(text)};
  std::string word;
  size_t column = begin;
  if (column + 2 > kIndent) {
    *out += '\n';
    column = 0;
  }
  out->append(kIndent - column, ' ');
  column = kIndent;
  bool first = true;
  while (words >> word) {
    if (!first && column + 1 + word.size() > kWidth) {
      *out += '\n';
      out->append(kIndent, ' ');
      column = kIndent;
    } else if (!first) {
      *out += ' ';
      ++column;
    }
    *out += word;
    column += word.size();
    first = false;
  }
  *out += '\n';
}

}  // namespace

std::string CommandHelp(const CommandRow& command) {
  std::string help = std::string(command.summary) + "\n\nusage: kinjo " + command.name + " " +
                     command.usage + "\n";
  for (const Heading& heading : kHeadings) {
    std::string rows;
    for (const FlagRow& row : FlagTable()) {
      if (row.group != heading.group || (row.commands & command.command) == 0) continue;
      const std::string names = NamesAndValue(row);
      rows += names;
      Wrap(row.help, names.size(), &rows);
    }
    if (!rows.empty()) help += std::string("\n") + heading.text + "\n" + rows;
  }
  return help + "\nexample:\n  " + command.example + "\n";
}

std::string ProgramHelp() {
  std::string help = "Join tables by nearest neighbours, on Lance datasets and their indexes\n\n";
  help += "usage: kinjo COMMAND [flags]\n\n";
  for (const CommandRow& command : CommandTable()) {
    const std::string name = std::string("  ") + command.name;
    help += name + std::string(kSummaryColumn - name.size(), ' ') + command.summary + "\n";
  }
  help += "\n  kinjo help COMMAND, or kinjo COMMAND --help, tells the flags of a command;\n";
  help += "  kinjo --version tells the version\n";
  help += "\nexit codes: 0 done, 1 failed, 2 the command line is wrong, 3 refused (memory limit,\n";
  help += "            --index require), 130 interrupted\n";
  return help;
}

}  // namespace kinjo::cli
