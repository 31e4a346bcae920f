// The conformance corpus (bindings/conformance) through the C++ header, and with it the C ABI.
#include <functional>
#include <map>
#include <regex>
#include <string>
#include <vector>

#include "arrow/c/bridge.h"
#include "capi/conformance_tables.h"
#include "gtest/gtest.h"
#include "kinjo/kinjo.hpp"

namespace {

using kinjo_conformance::Json;
using kinjo_conformance::Places;

/// What a test is made for; prints as its name.
struct Case {
  Json json;
};
std::string NameOf(const Case& one) { return one.json["name"]; }
void PrintTo(const Case& one, std::ostream* out) { *out << NameOf(one); }

const std::filesystem::path kCorpus = KINJO_CONFORMANCE_DIR;

std::vector<Case> LibraryCases() {
  std::vector<Case> cases;
  for (const auto& file : std::filesystem::directory_iterator(kCorpus / "cases")) {
    for (const Json& one : kinjo_conformance::ReadJson(file.path())) {
      const Json faces = one.value("faces", Json({"library"}));
      if (std::find(faces.begin(), faces.end(), "library") != faces.end()) cases.push_back({one});
    }
  }
  return cases;
}

float FloatOf(const Json& value) {
  return value.is_string() ? std::stof(value.get<std::string>()) : value.get<float>();
}

using Setter = std::function<void(const Json&, kinjo::JoinOptions*)>;

template <typename Member>
Setter Set(Member member) {
  return [member](const Json& value, kinjo::JoinOptions* options) {
    auto& place = options->*member;
    place = value.get<std::decay_t<decltype(place)>>();
  };
}

template <typename T>
Setter SetOptional(std::optional<T> kinjo::JoinOptions::* member) {
  return [member](const Json& value, kinjo::JoinOptions* options) {
    options->*member = value.get<T>();
  };
}

const std::map<std::string, Setter>& Setters() {
  using O = kinjo::JoinOptions;
  static const std::map<std::string, Setter> setters = {
      {"k", Set(&O::k)},
      {"on", Set(&O::on)},
      {"left_on", Set(&O::left_on)},
      {"right_on", Set(&O::right_on)},
      {"how", Set(&O::how)},
      {"metric", Set(&O::metric)},
      {"nprobes", SetOptional(&O::nprobes)},
      {"minimum_nprobes", SetOptional(&O::minimum_nprobes)},
      {"maximum_nprobes", SetOptional(&O::maximum_nprobes)},
      {"refine_factor", SetOptional(&O::refine_factor)},
      {"index", Set(&O::index)},
      {"fast_search", Set(&O::fast_search)},
      {"distance_range",
       [](const Json& value, O* options) {
         options->distance_range = std::pair(FloatOf(value[0]), FloatOf(value[1]));
       }},
      {"left_select", SetOptional(&O::left_select)},
      {"right_select", SetOptional(&O::right_select)},
      {"suffix", Set(&O::suffix)},
      {"with_row_id", Set(&O::with_row_id)},
      {"with_query_index", Set(&O::with_query_index)},
      {"right_version", SetOptional(&O::right_version)},
      {"right_tag", Set(&O::right_tag)},
      {"memory_limit_bytes", SetOptional(&O::memory_limit_bytes)},
      {"threads", SetOptional(&O::threads)},
      {"where", Set(&O::where)},
      {"by", SetOptional(&O::by)},
      {"exclude_self", SetOptional(&O::exclude_self)},
      {"ef", SetOptional(&O::ef)},
      {"search_effort", SetOptional(&O::search_effort)},
      {"recall", SetOptional(&O::recall)},
      {"approx_mode", Set(&O::approx_mode)},
      {"unordered_pairs", Set(&O::unordered_pairs)},
      {"mutual", Set(&O::mutual)},
      {"clusters", Set(&O::clusters)},
  };
  return setters;
}

// What a case gave, as far as it came.
struct Outcome {
  std::optional<kinjo::Error> error;
  std::string left, right;  // paths
  std::string plan;
  std::shared_ptr<arrow::Table> rows;
  Json report;
};

class Conformance : public testing::TestWithParam<Case> {
 protected:
  void SetUp() override {
    places_ = {kCorpus, KINJO_GOLDEN_DIR, std::filesystem::path(testing::TempDir()) / Name()};
    std::filesystem::remove_all(places_.folder);
    std::filesystem::create_directories(places_.folder);
  }
  void TearDown() override { std::filesystem::remove_all(places_.folder); }

  std::string Name() const { return "kinjo-" + NameOf(GetParam()); }
  std::string Action() const { return GetParam().json.value("action", ""); }

  kinjo::Result<kinjo::Join> Make(Outcome* outcome) {
    const Json& given = GetParam().json;
    outcome->left = PlaceTable(given["left"], places_, "left").ValueOrDie();
    outcome->right = PlaceTable(given["right"], places_, "right").ValueOrDie();
    kinjo::JoinOptions options;
    for (const auto& [name, value] : given["options"].items()) Setters().at(name)(value, &options);
    const auto left = kinjo::Table::Open(outcome->left);
    if (!left.ok()) return left.error();
    if (given.value("command", "join") == "join") {
      return kinjo::Join::Make(left.value(), outcome->right, options);
    }
    const auto dataset =
        kinjo::Dataset::Open(outcome->right, options.right_version, options.right_tag);
    options.right_tag.clear();  // the dataset at hand is the one that it names
    if (!dataset.ok()) return dataset.error();
    return kinjo::Join::Search(dataset.value(), left.value(), options);
  }

  // The calls that have an action of their own, each of which is to fail.
  kinjo::Error FailingCall(kinjo::Join* join) {
    if (Action() == "write_below_a_file") {
      std::ofstream(places_.folder / "out") << "a file, not a folder";
      return join->Write((places_.folder / "out" / "out.arrow").string()).error();
    }
    if (Action() == "cancel") {
      const auto cancel = kinjo::Cancel::Make();
      cancel.value().Raise();
      return join->Run({&cancel.value(), nullptr})->Next().error();
    }
    auto stream = join->Run();
    EXPECT_TRUE(stream.ok()) << stream.error().message;
    EXPECT_TRUE(stream->Close().ok());
    if (Action() == "read_after_close") return stream->Next().error();
    EXPECT_EQ(Action(), "run_twice");
    return join->Run().error();
  }

  // What kept the rows from coming, if anything did.
  static std::optional<kinjo::Error> ReadRows(kinjo::Join* join,
                                              std::shared_ptr<arrow::Table>* rows) {
    auto stream = join->Run();
    if (!stream.ok()) return stream.error();
    const auto schema = arrow::ImportSchema(join->Schema()->get()).ValueOrDie();
    arrow::RecordBatchVector batches;
    while (true) {
      auto batch = stream->Next();
      if (!batch.ok()) return batch.error();
      if (batch->empty()) break;
      batches.push_back(arrow::ImportRecordBatch(batch->get(), schema).ValueOrDie());
    }
    const auto table = arrow::Table::FromRecordBatches(schema, batches).ValueOrDie();
    *rows = table->CombineChunks().ValueOrDie();
    return std::nullopt;
  }

  Outcome Run() {
    Outcome outcome;
    auto join = Make(&outcome);
    if (!join.ok()) {
      outcome.error = join.error();
      return outcome;
    }
    if (!Action().empty()) {
      outcome.error = FailingCall(&join.value());
      return outcome;
    }
    outcome.plan = join->Explain().value();
    if (GetParam().json["expect"].contains("explain")) return outcome;
    outcome.error = ReadRows(&join.value(), &outcome.rows);
    if (outcome.error) return outcome;
    outcome.report = Json::parse(join->DescribeReport().value());
    outcome.report["index_used"] = outcome.report["path"] == "index";
    return outcome;
  }

  Places places_;
};

template <typename T>
const T* ColumnOf(const arrow::Table& table, const std::string& name) {
  const auto column = table.GetColumnByName(name);
  if (column == nullptr || column->num_chunks() == 0) return nullptr;
  return static_cast<const T*>(column->chunk(0).get());
}

void ExpectError(const Json& expect, const std::optional<kinjo::Error>& error) {
  ASSERT_TRUE(error.has_value()) << "it went well";
  EXPECT_EQ(kinjo_error_code_name(error->code), expect["code"].get<std::string>())
      << error->message;
  EXPECT_NE(error->message.find(expect["message"].get<std::string>()), std::string::npos)
      << error->message;
}

std::string Replaced(std::string text, const std::string& what, const std::string& with) {
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what)) {
    text.replace(at, what.size(), with);
  }
  return text;
}

// Without the line of the left side, which tells how it was handed over, and without the numbers
// that are the machine's.
std::vector<std::string> PlanLines(const Outcome& outcome) {
  std::string plan = Replaced(outcome.plan, outcome.right, "{right}");
  plan = std::regex_replace(plan, std::regex("\\b[0-9.]+ ([KMGT]i)?B\\b"), "{size}");
  plan = std::regex_replace(plan, std::regex("\\b[0-9]+ threads?\\b"), "{threads}");
  std::istringstream text(plan);
  std::vector<std::string> lines;
  std::string line;
  while (std::getline(text, line)) {
    // How long each way would take is the machine's.
    const bool estimate = line.starts_with("  · way");
    if (line.find("LeftScan:") == std::string::npos && !estimate) lines.push_back(line);
  }
  return lines;
}

// ids[q] and distances[q] are those of left row q; one without a match has none.
void ExpectRows(const Json& expect, const arrow::Table& rows) {
  std::vector<std::vector<int64_t>> ids(expect["ids"].size());
  std::vector<std::vector<float>> distances(ids.size());
  const auto* query = ColumnOf<arrow::Int64Array>(rows, "_query_index");
  if (query == nullptr) query = ColumnOf<arrow::Int64Array>(rows, "q");
  const auto* id = ColumnOf<arrow::Int64Array>(rows, "id");
  const auto* distance = ColumnOf<arrow::FloatArray>(rows, "_distance");
  const auto* rank = ColumnOf<arrow::Int32Array>(rows, "_rank");
  for (int64_t row = 0; row < rows.num_rows(); ++row) {
    const auto left = static_cast<size_t>(query == nullptr ? 0 : query->Value(row));
    ASSERT_LT(left, ids.size());
    if (rank->IsNull(row)) {
      EXPECT_TRUE(id->IsNull(row) && distance->IsNull(row));
      continue;
    }
    ids[left].push_back(id->Value(row));
    distances[left].push_back(distance->Value(row));
    EXPECT_EQ(rank->Value(row), static_cast<int32_t>(ids[left].size()));
  }
  EXPECT_EQ(Json(ids), expect["ids"]);
  for (size_t left = 0; left < distances.size(); ++left) {
    ASSERT_EQ(distances[left].size(), expect["distances"][left].size());
    for (size_t i = 0; i < distances[left].size(); ++i) {
      const double wanted = expect["distances"][left][i].get<double>();
      EXPECT_NEAR(distances[left][i], wanted, std::max(1e-6, 1e-5 * std::abs(wanted)));
    }
  }
}

TEST_P(Conformance, IsKept) {
  const Json& expect = GetParam().json["expect"];
  const Outcome outcome = Run();
  if (expect.contains("error")) return ExpectError(expect["error"], outcome.error);
  ASSERT_FALSE(outcome.error.has_value()) << outcome.error->message;
  if (expect.contains("explain")) {
    EXPECT_EQ(PlanLines(outcome), expect["explain"].get<std::vector<std::string>>());
    return;
  }
  if (expect.contains("columns")) {
    const auto columns = expect["columns"].get<std::vector<std::string>>();
    EXPECT_EQ(outcome.rows->schema()->field_names(), columns);
  }
  if (expect.contains("ids")) ExpectRows(expect, *outcome.rows);
  if (expect.contains("clusters")) {
    const auto* clusters = ColumnOf<arrow::Int64Array>(*outcome.rows, "_cluster");
    ASSERT_NE(clusters, nullptr);
    const auto* values = clusters->raw_values();
    EXPECT_EQ(Json(std::vector<int64_t>(values, values + clusters->length())), expect["clusters"]);
  }
  const Json report = expect.value("report", Json::object());
  for (const auto& [key, value] : report.items()) EXPECT_EQ(outcome.report[key], value) << key;
}

INSTANTIATE_TEST_SUITE_P(Corpus, Conformance, testing::ValuesIn(LibraryCases()),
                         [](const auto& one) { return NameOf(one.param); });

}  // namespace
