#include "suggestion.h"

#include <algorithm>
#include <numeric>

namespace kinjo::cli {

namespace {

// Letters to insert, leave out, replace or swap with their neighbour to make one word the other.
size_t EditDistance(const std::string& from, const std::string& to) {
  std::vector<std::vector<size_t>> steps(from.size() + 1, std::vector<size_t>(to.size() + 1));
  std::iota(steps[0].begin(), steps[0].end(), size_t{0});
  for (size_t i = 1; i <= from.size(); ++i) {
    steps[i][0] = i;
    for (size_t j = 1; j <= to.size(); ++j) {
      const size_t replaced = from[i - 1] == to[j - 1] ? 0 : 1;
      steps[i][j] =
          std::min({steps[i - 1][j] + 1, steps[i][j - 1] + 1, steps[i - 1][j - 1] + replaced});
      const bool swapped = i > 1 && j > 1 && from[i - 1] == to[j - 2] && from[i - 2] == to[j - 1];
      if (swapped) steps[i][j] = std::min(steps[i][j], steps[i - 2][j - 2] + 1);
    }
  }
  return steps[from.size()][to.size()];
}

}  // namespace

std::string DidYouMean(const std::string& word, const std::vector<std::string>& names) {
  constexpr size_t kLetters = 3;  // so many letters of the name for each that is wrong
  const std::string* best = nullptr;
  size_t best_distance = 0;
  for (const std::string& name : names) {
    const size_t distance = EditDistance(word, name);
    if (distance * kLetters > name.size()) continue;
    if (best == nullptr || distance < best_distance) {
      best = &name;
      best_distance = distance;
    }
  }
  return best == nullptr ? "" : "; did you mean " + *best + "?";
}

}  // namespace kinjo::cli
