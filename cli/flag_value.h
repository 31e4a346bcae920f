// How the text of a flag reads, one function a kind of flags.def. Each gives what is wrong with the
// text ("must be a whole number"), or "" when it was stored.
#pragma once

#include <string>

#include "flags.h"

namespace kinjo::cli {

std::string ReadText(const std::string& text, Text* value);
/// A text that an empty shell variable can't be mistaken for.
std::string ReadCondition(const std::string& text, Condition* value);
std::string ReadInteger(const std::string& text, Integer* value);
/// A finite number.
std::string ReadDecimal(const std::string& text, Decimal* value);
/// A whole or decimal number with a unit: B, KB, MB, GB, TB (thousands), KiB, MiB, GiB, TiB.
std::string ReadBytes(const std::string& text, Bytes* value);
/// A whole or decimal number with a unit: s, min, h, d, w.
std::string ReadAge(const std::string& text, Age* value);
/// "LO,HI"; an empty end is open.
std::string ReadRange(const std::string& text, Range* value);
/// Names separated by commas; an empty text is a list of none.
std::string ReadList(const std::string& text, List* value);
/// KEY=VALUE, added to those before.
std::string ReadPairs(const std::string& text, Pairs* value);
std::string ReadColumn(const std::string& text, Column* value);
std::string ReadSwitch(const std::string& text, Switch* value);

}  // namespace kinjo::cli
