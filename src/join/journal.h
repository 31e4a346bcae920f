// The journal of a run that can be continued: what its lines say. One JSON object a line, each with
// a checksum of itself, so that a line that a crash tore is known as one:
//
//   {"kinjo_parts":1,"part_rows":65536,"format":"parquet","run":{"left uri":"...",...},"sum":"..."}
//   {"part":0,"file":"part-00000.parquet","rows":655360,"bytes":12345,"sum":"..."}      one a part
//   {"finished":true,"parts":1,"left_rows":65536,"sum":"..."}                           the last
//
// A line is written when what it tells is on the disk.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "tabular/table_source.h"

namespace kinjo::join {

/// What one folder of parts is the answer of.
struct JournalHeader {
  int64_t part_rows = 0;  ///< left rows of each part but the last
  std::string format;     ///< of the parts: "parquet", ...
  std::vector<tabular::Trait> run;
};

struct JournalPart {
  std::string file;
  int64_t rows = 0;  ///< result rows
  int64_t bytes = 0;
};

struct Journal {
  std::optional<JournalHeader> header;  ///< nothing: no line is whole
  std::vector<JournalPart> parts;
  std::optional<int64_t> left_rows;  ///< set when the run is finished
  /// The whole lines; what follows is torn and to be cut off.
  int64_t whole_bytes = 0;
};

/// Reads a journal back. Bytes behind the last newline and a last line whose checksum is wrong are
/// torn; any other line that is wrong is `corrupt`. `path` is for messages.
arrow::Result<Journal> ReadJournal(std::string_view bytes, const std::string& path);

// The lines, with their newlines.
std::string HeaderLine(const JournalHeader& header);
std::string PartLine(int64_t part, const JournalPart& what);
std::string EndLine(int64_t parts, int64_t left_rows);

/// "part-00042.parquet".
std::string PartName(int64_t part, const std::string& format);
/// Parts of a folder at most: their names sort in their order.
inline constexpr int64_t kPartsMax = 100'000;

}  // namespace kinjo::join
