#include "parse.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>

namespace kinjo::cli {

namespace {

// Every option as text first: what a text means is the table's business (FlagRow::read).
using Texts = std::map<const FlagRow*, std::string>;

void AddFlags(const CommandRow& command, CLI::App* app, Texts* texts) {
  for (const FlagRow& row : FlagTable()) {
    if ((row.commands & command.command) == 0) continue;
    if (row.is_switch) {
      app->add_flag_function(row.names, [&row, texts](int64_t) { (*texts)[&row] = ""; });
    } else {
      app->add_option_function<std::string>(
          row.names, [&row, texts](const std::string& text) { (*texts)[&row] = text; });
    }
  }
}

std::string LongestName(const FlagRow& row) {
  const std::string names = row.names;
  return names.substr(names.rfind(',') + 1);
}

void ReadTexts(const Texts& texts, Invocation* invocation) {
  for (const FlagRow& row : FlagTable()) {
    const auto given = texts.find(&row);
    if (given == texts.end()) continue;
    const std::string wrong = row.read(&invocation->flags, given->second);
    if (wrong.empty()) continue;
    invocation->error = LongestName(row) + " " + wrong + ", but is '" + given->second + "'";
    return;
  }
}

std::string OneLine(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  while (!text.empty() && text.back() == ' ') text.pop_back();
  return text;
}

}  // namespace

Invocation Parse(int argc, char** argv) {
  Invocation invocation;
  Texts texts;
  CLI::App app;
  app.set_help_flag("");
  app.require_subcommand(0, 1);
  app.add_flag("--version", invocation.version);
  app.add_flag("-h,--help", invocation.flags.help);
  std::map<const CLI::App*, const CommandRow*> commands;
  for (const CommandRow& row : CommandTable()) {
    CLI::App* command = app.add_subcommand(row.name);
    command->set_help_flag("");
    AddFlags(row, command, &texts);
    commands[command] = &row;
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    invocation.error = OneLine(error.what());
  }
  for (const CLI::App* command : app.get_subcommands()) invocation.command = commands[command];
  if (invocation.error.empty()) ReadTexts(texts, &invocation);
  return invocation;
}

}  // namespace kinjo::cli
