#include "curve_plot.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

#include "figures.h"

namespace kinjo::cli {

namespace {

constexpr double kWidth = 760;
constexpr double kHeight = 460;
constexpr double kLeft = 86;
constexpr double kRight = 30;
constexpr double kTop = 70;
constexpr double kBottom = 64;

// Recalls nearer to 1 than this are drawn at the end of the axis.
constexpr double kMissMin = 0.0005;

const char* const kInk = "#1f2933";
const char* const kFaint = "#d9dee4";
const char* const kSoft = "#66727f";
const char* const kCurve = "#1f6feb";
const char* const kPick = "#d9480f";

std::string Fixed(double value) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.1f", value);
  return text;
}

std::string Escaped(const std::string& text) {
  std::string safe;
  for (const char c : text) {
    if (c == '&') {
      safe += "&amp;";
    } else if (c == '<') {
      safe += "&lt;";
    } else {
      safe += c;
    }
  }
  return safe;
}

std::string Line(double x1, double y1, double x2, double y2, const std::string& style) {
  return "<line x1=\"" + Fixed(x1) + "\" y1=\"" + Fixed(y1) + "\" x2=\"" + Fixed(x2) + "\" y2=\"" +
         Fixed(y2) + "\" " + style + "/>\n";
}

std::string Words(double x, double y, const std::string& text, const std::string& style) {
  return "<text x=\"" + Fixed(x) + "\" y=\"" + Fixed(y) + "\" " + style + ">" + Escaped(text) +
         "</text>\n";
}

std::string Stroke(const char* colour, const char* width) {
  return std::string("stroke=\"") + colour + "\" stroke-width=\"" + width + "\"";
}

std::string Fill(const char* colour) { return std::string("fill=\"") + colour + "\""; }

// Where recalls and rates lie in the picture.
class Scales {
 public:
  explicit Scales(const DescribedCurve& curve) {
    double least = curve.target;
    double slowest = curve.points.front().queries_per_s;
    double fastest = slowest;
    for (const DescribedPoint& point : curve.points) {
      least = std::min(least, point.recall_low);
      slowest = std::min(slowest, point.queries_per_s);
      fastest = std::max(fastest, point.queries_per_s);
    }
    from_ = Depth(std::max(0.0, least - 0.02));
    low_ = std::floor(std::log10(std::max(slowest, 1e-3)) * 2 - 0.2) / 2;
    high_ = std::max(low_ + 0.5, std::ceil(std::log10(std::max(fastest, 1e-3)) * 2 + 0.2) / 2);
  }

  double X(double recall) const {
    const double share = (Depth(recall) - from_) / (Depth(1) - from_);
    return kLeft + std::clamp(share, 0.0, 1.0) * (kWidth - kLeft - kRight);
  }
  double Y(double rate) const {
    const double share = (std::log10(std::max(rate, 1e-3)) - low_) / (high_ - low_);
    return kHeight - kBottom - share * (kHeight - kTop - kBottom);
  }
  bool ShowsRecall(double recall) const { return Depth(recall) >= from_ - 1e-9; }
  bool ShowsRate(double rate) const {
    return std::log10(rate) >= low_ - 1e-9 && std::log10(rate) <= high_ + 1e-9;
  }

 private:
  static double Depth(double recall) { return -std::log10(std::max(1 - recall, kMissMin)); }

  double from_ = 0;
  double low_ = 0;
  double high_ = 1;
};

std::string DrawAxes(const Scales& scales) {
  std::string svg;
  const double floor = kHeight - kBottom;
  const double end = kWidth - kRight;
  for (const double recall : {0.0, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95, 0.98, 0.99, 0.995, 0.999}) {
    if (!scales.ShowsRecall(recall)) continue;
    const double x = scales.X(recall);
    char label[16];
    std::snprintf(label, sizeof(label), "%g", recall);
    svg += Line(x, kTop, x, floor, Stroke(kFaint, "1"));
    svg += Words(x, floor + 18, label, Fill(kSoft) + " text-anchor=\"middle\"");
  }
  svg += Words(end, floor + 18, "1", Fill(kSoft) + " text-anchor=\"middle\"");
  for (int decade = -3; decade < 10; ++decade) {
    for (const double step : {1.0, 2.0, 5.0}) {
      const double rate = step * std::pow(10, decade);
      if (!scales.ShowsRate(rate)) continue;
      const double y = scales.Y(rate);
      char label[24];
      std::snprintf(label, sizeof(label), "%g", rate);
      const std::string text = rate >= 1000 ? Count(static_cast<uint64_t>(rate)) : label;
      svg += Line(kLeft, y, end, y, Stroke(kFaint, "1"));
      svg += Words(kLeft - 8, y + 4, text, Fill(kSoft) + " text-anchor=\"end\"");
    }
  }
  svg += Line(kLeft, floor, end, floor, Stroke(kInk, "1.2"));
  svg += Line(kLeft, kTop, kLeft, floor, Stroke(kInk, "1.2"));
  svg += Words((kLeft + end) / 2, kHeight - 18, "recall (bars: 95 % interval)",
               Fill(kInk) + " text-anchor=\"middle\"");
  svg += "<g transform=\"translate(22 " + Fixed((kTop + floor) / 2) + ") rotate(-90)\">" +
         Words(0, 0, "queries a second", Fill(kInk) + " text-anchor=\"middle\"") + "</g>\n";
  return svg;
}

std::string DrawPoint(const Scales& scales, const DescribedPoint& point, bool labelled) {
  const char* colour = point.pick ? kPick : kCurve;
  const double x = scales.X(point.recall);
  const double y = scales.Y(point.queries_per_s);
  std::string svg = Line(scales.X(point.recall_low), y, scales.X(point.recall_high), y,
                         Stroke(colour, point.pick ? "2" : "1"));
  svg += "<circle cx=\"" + Fixed(x) + "\" cy=\"" + Fixed(y) + "\" r=\"" + (point.pick ? "6" : "4") +
         "\" " + Fill(colour) + "><title>" +
         Escaped(SettingsText(point.nprobes, point.refine_factor, point.ef) + ": recall " +
                 Fraction(point.recall)) +
         "</title></circle>\n";
  if (point.pick) {
    const bool at_end = x > kWidth - 230;
    svg += Words(
        at_end ? x - 12 : x + 12, y - 12,
        point.nprobes == 0 ? "exact" : SettingsText(point.nprobes, point.refine_factor, point.ef),
        Fill(kPick) + " font-weight=\"600\"" + (at_end ? " text-anchor=\"end\"" : ""));
  } else if (labelled) {
    svg += Words(x, y + 18, Count(static_cast<uint64_t>(point.nprobes)),
                 Fill(kSoft) + " font-size=\"10\" text-anchor=\"middle\"");
  }
  return svg;
}

std::string Title(const DescribedCurve& curve) {
  std::string text = "Recall@" + std::to_string(curve.k);
  if (!curve.index_name.empty()) text += " through " + curve.index_name;
  if (!curve.index_type.empty()) text += " (" + curve.index_type + ", " + curve.metric + ")";
  return text;
}

}  // namespace

std::string DrawCurve(const DescribedCurve& curve) {
  const std::string size = Fixed(kWidth) + " " + Fixed(kHeight);
  std::string svg = "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 " + size +
                    "\" width=\"" + Fixed(kWidth) + "\" height=\"" + Fixed(kHeight) +
                    "\" font-family=\"Helvetica, Arial, sans-serif\" font-size=\"12\">\n";
  svg += "<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n";
  svg += Words(kLeft, 30, Title(curve), Fill(kInk) + " font-size=\"16\" font-weight=\"600\"");
  svg += Words(
      kLeft, 50,
      "Measured on " + Counted(curve.measured_rows, "left row") + "; small numbers are probes",
      Fill(kSoft));
  if (!curve.points.empty()) {
    const Scales scales(curve);
    svg += DrawAxes(scales);
    const double x = scales.X(curve.target);
    svg += Line(x, kTop, x, kHeight - kBottom, Stroke(kPick, "1.2") + " stroke-dasharray=\"5 4\"");
    svg += Words(x, kTop - 6, "target " + Fraction(curve.target),
                 Fill(kPick) + " text-anchor=\"middle\"");
    std::string path;
    for (const DescribedPoint& point : curve.points) {
      if (point.pick && curve.points.size() > 1) continue;
      path += (path.empty() ? "M" : " L") + Fixed(scales.X(point.recall)) + " " +
              Fixed(scales.Y(point.queries_per_s));
    }
    svg += "<path d=\"" + path + "\" fill=\"none\" " + Stroke(kCurve, "2") + "/>\n";
    for (const DescribedPoint& point : curve.points) {
      svg += DrawPoint(scales, point, curve.points.size() > 1);
    }
  }
  return svg + "</svg>\n";
}

}  // namespace kinjo::cli
