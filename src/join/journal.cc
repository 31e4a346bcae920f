#include "join/journal.h"

#include <array>
#include <cinttypes>
#include <cstdio>

#include "base/checksum.h"
#include "nlohmann/json.hpp"

namespace kinjo::join {

namespace {

using Json = nlohmann::ordered_json;

constexpr int kVersion = 1;

std::string Dump(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string Sum(const Json& line) {
  std::array<char, 20> text{};
  (void)std::snprintf(text.data(), text.size(), "%016" PRIx64, base::Checksum(Dump(line)));
  return text.data();
}

std::string Line(Json line) {
  line["sum"] = Sum(line);
  return Dump(line) + "\n";
}

// The object of a line, without its checksum; nothing if the line is torn.
std::optional<Json> Parse(std::string_view text) {
  Json line = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!line.is_object() || !line.contains("sum") || !line["sum"].is_string()) return std::nullopt;
  const std::string sum = line["sum"];
  line.erase("sum");
  if (Sum(line) != sum) return std::nullopt;
  return line;
}

std::optional<int64_t> Number(const Json& line, const char* key) {
  const auto found = line.find(key);
  if (found == line.end() || !found->is_number_integer() || *found < 0) return std::nullopt;
  return found->get<int64_t>();
}

std::optional<std::string> Text(const Json& line, const char* key) {
  const auto found = line.find(key);
  if (found == line.end() || !found->is_string()) return std::nullopt;
  return found->get<std::string>();
}

std::optional<JournalHeader> ReadHeader(const Json& line) {
  const auto part_rows = Number(line, "part_rows");
  const auto format = Text(line, "format");
  const auto run = line.find("run");
  if (!part_rows || *part_rows < 1 || !format || run == line.end() || !run->is_object()) {
    return std::nullopt;
  }
  JournalHeader header{.part_rows = *part_rows, .format = *format, .run = {}};
  for (const auto& [name, value] : run->items()) {
    if (!value.is_string()) return std::nullopt;
    header.run.push_back({name, value.get<std::string>()});
  }
  return header;
}

// Takes one whole line in; false when it isn't what must come next.
bool TakeLine(const Json& line, Journal* journal) {
  if (journal->left_rows) return false;
  if (!journal->header) {
    journal->header = ReadHeader(line);
    return journal->header.has_value();
  }
  const auto parts = static_cast<int64_t>(journal->parts.size());
  if (line.contains("finished")) {
    journal->left_rows = Number(line, "left_rows");
    return Number(line, "parts") == parts && journal->left_rows.has_value();
  }
  const auto file = Text(line, "file");
  const auto rows = Number(line, "rows");
  const auto bytes = Number(line, "bytes");
  if (Number(line, "part") != parts || !file || !rows || !bytes) return false;
  journal->parts.push_back({*file, *rows, *bytes});
  return *file == PartName(parts, journal->header->format);
}

}  // namespace

arrow::Result<Journal> ReadJournal(std::string_view bytes, const std::string& path) {
  Journal journal;
  size_t at = 0;
  while (true) {
    const size_t end = bytes.find('\n', at);
    if (end == std::string_view::npos) return journal;
    const std::optional<Json> line = Parse(bytes.substr(at, end - at));
    if (!line && end + 1 == bytes.size()) return journal;
    if (!line) return base::Corrupt(path, at, "a line of the journal is damaged");
    const auto version = Number(*line, "kinjo_parts");
    if (at == 0 && version && *version != kVersion) {
      return base::NotSupported("the journal ", path, " is of version ", *version,
                                "; this program continues version ", kVersion);
    }
    if (!TakeLine(*line, &journal)) {
      return base::Corrupt(path, at, "a line of the journal doesn't follow from those before it");
    }
    at = end + 1;
    journal.whole_bytes = static_cast<int64_t>(at);
  }
}

std::string HeaderLine(const JournalHeader& header) {
  Json run = Json::object();
  for (const tabular::Trait& trait : header.run) run[trait.name] = trait.value;
  return Line({{"kinjo_parts", kVersion},
               {"part_rows", header.part_rows},
               {"format", header.format},
               {"run", std::move(run)}});
}

std::string PartLine(int64_t part, const JournalPart& what) {
  return Line({{"part", part}, {"file", what.file}, {"rows", what.rows}, {"bytes", what.bytes}});
}

std::string EndLine(int64_t parts, int64_t left_rows) {
  return Line({{"finished", true}, {"parts", parts}, {"left_rows", left_rows}});
}

std::string PartName(int64_t part, const std::string& format) {
  std::array<char, 24> number{};
  (void)std::snprintf(number.data(), number.size(), "%05" PRId64, part);
  return base::Concat("part-", number.data(), ".", format);
}

}  // namespace kinjo::join
