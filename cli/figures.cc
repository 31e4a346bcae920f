#include "figures.h"

#include <cmath>
#include <cstdio>

namespace kinjo::cli {

namespace {

std::string Format(const char* format, double number) {
  char text[64];
  std::snprintf(text, sizeof(text), format, number);
  return text;
}

}  // namespace

std::string Count(uint64_t number) {
  std::string text = std::to_string(number);
  for (size_t end = text.size(); end > 3; end -= 3) text.insert(end - 3, ",");
  return text;
}

std::string Counted(uint64_t number, const std::string& noun, const std::string& plural) {
  if (number == 1) return "1 " + noun;
  return Count(number) + " " + (plural.empty() ? noun + "s" : plural);
}

std::string Size(uint64_t bytes) {
  if (bytes < 1024) return Counted(bytes, "byte");
  static constexpr const char* kUnits[] = {"KiB", "MiB", "GiB", "TiB", "PiB"};
  double amount = static_cast<double>(bytes) / 1024;
  size_t unit = 0;
  for (; amount >= 1024 && unit + 1 < std::size(kUnits); ++unit) amount /= 1024;
  return Format("%.1f ", amount) + kUnits[unit];
}

std::string Fraction(double fraction) {
  if (fraction < 1 && fraction > 0.9999) fraction = 0.9999;
  return fraction == 1 ? "1" : Format("%.4f", fraction);
}

std::string SettingsText(int64_t nprobes, int64_t refine_factor, int64_t ef) {
  std::string text = "nprobes " + Count(static_cast<uint64_t>(nprobes));
  if (refine_factor > 0) {
    text += ", refine factor " + Count(static_cast<uint64_t>(refine_factor));
  }
  if (ef > 0) text += ", ef " + Count(static_cast<uint64_t>(ef));
  return text;
}

std::string Duration(double seconds) {
  if (seconds < 10) return Format("%.2f s", seconds);
  if (seconds < 60) return Format("%.1f s", seconds);
  const auto whole = static_cast<uint64_t>(std::llround(seconds));
  if (whole < 3600) {
    return std::to_string(whole / 60) + " min " + std::to_string(whole % 60) + " s";
  }
  return std::to_string(whole / 3600) + " h " + std::to_string(whole % 3600 / 60) + " min";
}

}  // namespace kinjo::cli
