#include "parse.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>
#include <span>

#include "suggestion.h"

namespace kinjo::cli {

namespace {

// Every option as text first: what a text means is the table's business (FlagRow::read).
using Texts = std::map<const FlagRow*, std::vector<std::string>>;

// What the parser takes for the value that isn't there.
constexpr const char* kNoValue = "\x01";

void AddFlags(const CommandRow& command, CLI::App* app, Texts* texts) {
  for (const FlagRow& row : FlagTable()) {
    if ((row.commands & command.command) == 0) continue;
    if (row.is_switch) {
      app->add_flag_function(row.names, [&row, texts](int64_t) { (*texts)[&row] = {""}; })
          ->disable_flag_override();
    } else if (row.may_lack_value) {
      // A flag, so that it doesn't take the next word for its value.
      app->add_flag(std::string(row.names) + "{" + kNoValue + "}")
          ->each([&row, texts](const std::string& text) {
            const std::string value = text == kNoValue ? "" : text;
            if (!texts->emplace(&row, std::vector<std::string>{value}).second) {
              throw CLI::ArgumentMismatch(std::string(row.names) + ": received twice");
            }
          });
    } else if (row.may_repeat) {
      // Each time it is given it takes one word, as the others do.
      app->add_option_function<std::vector<std::string>>(
             row.names,
             [&row, texts](const std::vector<std::string>& all) { (*texts)[&row] = all; })
          ->expected(1)
          ->take_all();
    } else {
      app->add_option_function<std::string>(
          row.names, [&row, texts](const std::string& text) { (*texts)[&row] = {text}; });
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
    for (const std::string& text : given->second) {
      const std::string wrong = row.read(&invocation->flags, text);
      if (wrong.empty()) continue;
      invocation->error = LongestName(row);
      invocation->error.append(" ").append(wrong).append(", but is '").append(text).append("'");
      return;
    }
  }
}

// The parser's reason in our words. It names the option before a colon, or bare as the first word.
std::string MismatchText(const CLI::ArgumentMismatch& error) {
  const std::string text = error.what();
  if (text.find("flag override") != std::string::npos) {
    const std::string bare = text.substr(0, text.find(' '));
    return (bare.size() == 1 ? "-" : "--") + bare + " takes no value";
  }
  const std::string name = text.substr(0, text.find(':'));
  const bool repeated = text.find("received") != std::string::npos;
  return name + (repeated ? " is given more than once" : " needs a value");
}

std::string SecondWords(const std::string& word);

std::string UnknownCommand(const std::string& name) {
  const std::string second = SecondWords(name);
  if (!second.empty()) return "'" + name + "' needs one of: " + second;
  std::vector<std::string> names;
  for (const CommandRow& row : CommandTable()) names.emplace_back(row.name);
  return "unknown command '" + name + "'" + DidYouMean(name, names);
}

// The long names of the flags that a command (null: the program itself) takes.
std::vector<std::string> FlagNames(const CommandRow* command) {
  if (command == nullptr) return {"--help", "--version"};
  std::vector<std::string> names;
  for (const FlagRow& row : FlagTable()) {
    if ((row.commands & command->command) != 0 && row.names[0] == '-') {
      names.push_back(LongestName(row));
    }
  }
  return names;
}

// What no row of the table takes, or "".
std::string UnknownText(const CLI::App& app, const CommandRow* command) {
  const std::vector<std::string> rest = app.remaining();
  if (rest.empty()) return "";
  const auto flag = std::find_if(rest.begin(), rest.end(),
                                 [](const std::string& word) { return word[0] == '-'; });
  if (flag != rest.end()) {
    const std::string name = flag->substr(0, flag->find('='));
    return "unknown flag " + name + DidYouMean(name, FlagNames(command));
  }
  if (command != nullptr) return "unexpected argument '" + rest.front() + "'";
  return UnknownCommand(rest.front());
}

// How the parser knows a command of two words.
std::string ParsedName(const CommandRow& row) {
  std::string name = row.name;
  std::replace(name.begin(), name.end(), ' ', '-');
  return name;
}

// Makes one word of the first two where they are a command together.
void JoinCommandWords(std::vector<std::string>* words) {
  if (words->size() < 2) return;
  for (const CommandRow& row : CommandTable()) {
    if (row.name != (*words)[0] + " " + (*words)[1]) continue;
    (*words)[0] = ParsedName(row);
    words->erase(words->begin() + 1);
    return;
  }
}

// "" unless `word` begins commands of two words: then what may follow.
std::string SecondWords(const std::string& word) {
  std::string list;
  for (const CommandRow& row : CommandTable()) {
    const std::string name = row.name;
    if (!name.starts_with(word + " ")) continue;
    list += (list.empty() ? "" : ", ") + name.substr(word.size() + 1);
  }
  return list;
}

// What is wrong with a word like `--flag=`, of a flag that may lack its value: the parser takes it
// for the bare flag, but a variable of the shell that is empty may stand there. "" if nothing is.
std::string EmptyValue(std::span<char* const> words) {
  for (const char* word : words) {
    for (const FlagRow& row : FlagTable()) {
      const std::string name = LongestName(row);
      if (row.may_lack_value && word == name + "=") {
        return name + "= is empty: give a value behind the =, or leave that out too";
      }
    }
  }
  return "";
}

// `kinjo help [COMMAND]`: what the command's own --help gives.
Invocation ParseHelp(std::vector<std::string> words) {
  Invocation invocation;
  invocation.flags.help = true;
  if (words.empty() || words[0] == "--help" || words[0] == "-h") return invocation;
  JoinCommandWords(&words);
  for (const CommandRow& row : CommandTable()) {
    if (ParsedName(row) == words[0]) invocation.command = &row;
  }
  if (invocation.command == nullptr) {
    invocation.error = UnknownCommand(words[0]);
  } else if (words.size() > 1) {
    invocation.error = "unexpected argument '" + words[1] + "'";
  }
  return invocation;
}

}  // namespace

Invocation Parse(int argc, char** argv) {
  if (argc > 1 && std::string(argv[1]) == "help") return ParseHelp({argv + 2, argv + argc});
  Invocation invocation;
  std::vector<std::string> words(argv + std::min(argc, 1), argv + argc);
  JoinCommandWords(&words);
  Texts texts;
  CLI::App app;
  app.set_help_flag("");
  app.require_subcommand(0, 1);
  app.allow_extras();
  app.add_flag("--version", invocation.version)->disable_flag_override();
  app.add_flag("-h,--help", invocation.flags.help)->disable_flag_override();
  std::map<const CLI::App*, const CommandRow*> commands;
  for (const CommandRow& row : CommandTable()) {
    CLI::App* command = app.add_subcommand(ParsedName(row));
    command->set_help_flag("");
    command->allow_extras();
    AddFlags(row, command, &texts);
    commands[command] = &row;
  }
  try {
    std::reverse(words.begin(), words.end());  // as the parser takes them
    app.parse(words);
  } catch (const CLI::ArgumentMismatch& error) {
    invocation.error = MismatchText(error);
  } catch (const CLI::ParseError& error) {
    invocation.error = error.what();
  }
  const CLI::App* read = &app;
  for (const CLI::App* command : app.get_subcommands()) {
    invocation.command = commands[command];
    read = command;
  }
  if (invocation.error.empty()) {
    invocation.error = UnknownText(*read, invocation.command);
  }
  if (invocation.error.empty()) {
    invocation.error = EmptyValue({argv, static_cast<size_t>(argc)});
  }
  if (invocation.error.empty()) ReadTexts(texts, &invocation);
  return invocation;
}

}  // namespace kinjo::cli
