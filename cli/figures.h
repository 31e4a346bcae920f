// Numbers as people read them.
#pragma once

#include <cstdint>
#include <string>

namespace kinjo::cli {

/// 1234567 -> "1,234,567".
std::string Count(uint64_t number);
/// Count with a noun: "1 row", "2 rows". The plural is the singular and an s unless given.
std::string Counted(uint64_t number, const std::string& noun, const std::string& plural = "");
/// 4294967296 -> "4.0 GiB".
std::string Size(uint64_t bytes);
/// "0.42 s", "12.3 s", "3 min 20 s", "2 h 5 min".
std::string Duration(double seconds);

/// "0.9531"; a number that only rounds to 1 is cut, not rounded.
std::string Fraction(double fraction);

/// "nprobes 24, refine factor 5, ef 64"; what is 0 isn't told.
std::string SettingsText(int64_t nprobes, int64_t refine_factor, int64_t ef);

}  // namespace kinjo::cli
