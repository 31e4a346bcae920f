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

Result<Table> OpenQueries(const std::string& query, const TypedQueries& typed,
                          const Dataset& dataset, const Flags& flags) {
  if (typed.width == 0) return Table::Open(query);
  return MakeQueryTable(typed, dataset, flags.right_on.value_or(flags.on.value_or("")));
}

JoinRequest MakeSearch(const Flags& flags) {
  if (!flags.searched) return {{}, FailCommandLine(kCommand, "a dataset is needed")};
  if (!flags.query) {
    return {{}, FailCommandLine(kCommand, "--query is needed: a table of vectors, or numbers")};
  }
  JoinOptions options = OptionsOf(flags);
  const Result<void> checked = Join::Check(options);
  if (!checked.ok()) return {{}, FailCommandLine(kCommand, checked.error().message)};
  const std::string query = QueryOf(flags);
  TypedQueries typed;
  if (IsQueryText(query) || *flags.query == "-") {
    const std::string wrong = ReadQueryText(query, &typed);
    if (!wrong.empty()) return {{}, FailCommandLine(kCommand, "--query " + wrong)};
  }
  const Result<Dataset> dataset =
      Dataset::Open(*flags.searched, options.right_version, options.right_tag);
  if (!dataset.ok()) return {{}, Fail(kCommand, dataset.error())};
  options.right_tag = "";  // the dataset at hand is the one that it names
  Result<Table> queries = OpenQueries(query, typed, dataset.value(), flags);
  if (!queries.ok()) return {{}, Fail(kCommand, queries.error())};
  Result<Join> search = Join::Search(dataset.value(), *queries, options);
  if (!search.ok()) return {{}, Fail(kCommand, search.error())};
  return {*std::move(search), kDone};
}

}  // namespace

int RunSearch(const Flags& flags) {
  if (flags.verbose && !flags.explain) {
    return FailCommandLine(kCommand, "--verbose needs --explain");
  }
  return RunRequest({kCommand, "query", "queries"}, flags, [&] { return MakeSearch(flags); });
}

}  // namespace kinjo::cli
