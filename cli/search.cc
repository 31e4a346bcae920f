// `kinjo search`: the nearest rows of a dataset to one vector or to a batch of them.
#include <iostream>
#include <iterator>

#include "commands.h"
#include "join_request.h"
#include "join_run.h"
#include "outcome.h"
#include "query_text.h"

namespace kinjo::cli {

namespace {

constexpr const char* kCommand = "search";

// `--query` as it was given, with - replaced by what standard input holds.
std::string QueryOf(const Flags& flags) {
  if (*flags.query != "-") return *flags.query;
  return {std::istreambuf_iterator<char>(std::cin), std::istreambuf_iterator<char>()};
}

// The target of numbers: the column of the dataset that they are compared with.
QueryTarget TargetOf(const Flags& flags) {
  return {*flags.searched, flags.right_on.value_or(flags.on.value_or("")),
          flags.metric.value_or("")};
}

// A table that isn't there may have been meant as numbers.
Error NotATable(const std::string& query, Error error) {
  const bool numbers = query.find(',') != std::string::npos &&
                       query.find_first_not_of("0123456789.,+-eE ") == std::string::npos;
  if (numbers) error.message = "--query: numbers stand in brackets: \"[" + query + "]\"";
  return error;
}

JoinRequest MakeSearch(const Flags& flags) {
  if (!flags.searched)
    return {{}, FailCommandLine(kCommand, "DATASET is needed: the Lance dataset to search")};
  if (!flags.query) {
    return {{},
            FailCommandLine(kCommand,
                            "--query is needed: a table of vectors, or numbers like [0.1, 0.2]")};
  }
  JoinOptions options = OptionsOf(flags);
  const Result<void> checked = Join::Check(options);
  if (!checked.ok()) return {{}, FailCommandLine(kCommand, checked.error())};
  const std::string query = QueryOf(flags);
  TypedQueries typed;
  if (IsQueryText(query) || *flags.query == "-") {
    const std::string wrong = ReadQueryText(query, &typed);
    if (!wrong.empty()) return {{}, FailCommandLine(kCommand, "--query: " + wrong)};
  }
  const Result<Dataset> dataset =
      Dataset::Open(*flags.searched, options.right_version, options.right_tag);
  if (!dataset.ok()) return {{}, Fail(kCommand, dataset.error())};
  options.right_tag = "";  // the dataset at hand is the one that it names
  Result<Table> queries = typed.width == 0
                              ? Table::Open(query)
                              : MakeQueryTable(typed, dataset.value(), TargetOf(flags));
  if (!queries.ok()) return {{}, Fail(kCommand, NotATable(query, queries.error()))};
  Result<Join> search = Join::Search(dataset.value(), *queries, options);
  if (!search.ok()) return {{}, Fail(kCommand, search.error())};
  return {*std::move(search), kDone};
}

}  // namespace

int RunSearch(const Flags& flags) {
  return RunRequest({kCommand, "query", "queries"}, flags, [&] { return MakeSearch(flags); });
}

}  // namespace kinjo::cli
