#include "progress.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "figures.h"
#include "outcome.h"

namespace kinjo::cli {

namespace {

constexpr int kBarCells = 24;
constexpr const char* kWipe = "\r\x1b[2K";  // to the line's begin, and erase it

// The first of these that is set decides the locale's character set.
bool TerminalIsUnicode() {
  for (const char* variable : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const char* value = std::getenv(variable);
    if (value == nullptr || value[0] == '\0') continue;
    std::string text = value;
    std::transform(text.begin(), text.end(), text.begin(),
                   [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
    return text.find("utf-8") != std::string::npos || text.find("utf8") != std::string::npos;
  }
  return false;
}

std::string Seconds(double seconds) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.3f", seconds);
  return text;
}

std::string JsonLine(const kinjo_progress& progress, const char* state) {
  const std::string total = progress.total_rows < 0 ? "null" : std::to_string(progress.total_rows);
  const std::string left = progress.remaining_s < 0 ? "null" : Seconds(progress.remaining_s);
  return std::string("{\"state\":\"") + state +
         "\",\"done_rows\":" + std::to_string(progress.done_rows) + ",\"total_rows\":" + total +
         ",\"elapsed_s\":" + Seconds(progress.elapsed_s) +
         ",\"rows_per_s\":" + Seconds(progress.rows_per_s) + ",\"remaining_s\":" + left + "}\n";
}

}  // namespace

ProgressDisplay::ProgressDisplay(ProgressKind kind) : kind_(kind), unicode_(TerminalIsUnicode()) {}

void ProgressDisplay::Show(const kinjo_progress& progress) {
  if (kind_ == ProgressKind::kNone) return;
  last_ = progress;
  if (kind_ == ProgressKind::kJson) return Tell(JsonLine(progress, "running"));
  Tell(kWipe + Line(progress));
  drawn_ = true;
}

void ProgressDisplay::End(const char* state) {
  if (kind_ == ProgressKind::kJson) return Tell(JsonLine(last_, state));
  if (drawn_) Tell(kWipe);
  drawn_ = false;
}

std::string ProgressDisplay::Bar(double fraction) const {
  const int full = static_cast<int>(std::lround(std::clamp(fraction, 0.0, 1.0) * kBarCells));
  std::string bar;
  for (int cell = 0; cell < kBarCells; ++cell) {
    if (unicode_) {
      bar += cell < full ? "━" : "╌";
    } else {
      bar += cell < full ? '#' : '.';
    }
  }
  return bar;
}

std::string ProgressDisplay::Line(const kinjo_progress& progress) const {
  const auto done = static_cast<double>(progress.done_rows);
  const std::string rows = Count(static_cast<uint64_t>(progress.done_rows));
  const std::string speed =
      Count(static_cast<uint64_t>(std::llround(progress.rows_per_s))) + " rows/s";
  if (progress.total_rows <= 0) return "  " + rows + " rows  " + speed;
  const double fraction = done / static_cast<double>(progress.total_rows);
  char percent[16];
  std::snprintf(percent, sizeof(percent), " %3.0f %%  ", 100 * fraction);
  std::string line = "  " + Bar(fraction) + percent + rows + " of " +
                     Count(static_cast<uint64_t>(progress.total_rows)) + " rows  " + speed;
  if (progress.remaining_s >= 0 && progress.done_rows < progress.total_rows) {
    line += "  " + Duration(progress.remaining_s) + " left";
  }
  return line;
}

}  // namespace kinjo::cli
