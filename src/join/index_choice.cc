#include "join/index_choice.h"

#include <algorithm>
#include <functional>
#include <set>

#include "join/validate.h"

namespace kinjo::join {

namespace {

/// Whether a segment can hold a live row. One that covers nothing may have no file at all: Lance
/// writes such an entry when there are too few rows to train on.
bool CoversRows(const dataset::IndexSegmentInfo& segment) { return !segment.fragment_ids.empty(); }

/// The right side that an index is looked for, and what for.
struct Question {
  const VectorColumn& right;
  const JoinOptions& options;
  bool has_rows;  ///< some row lives: an index that covers none leaves it out
};

/// Why `info` can't answer; empty when it can.
std::string WhyNot(const dataset::IndexInfo& info, const Question& question) {
  const auto& [right, options, has_rows] = question;
  if (info.column != right.name) return "it indexes column \"" + info.column + "\"";
  if (!info.unusable_reason.empty()) return info.unusable_reason;
  const auto metric = kernels::ParseMetric(info.metric);
  if (right.multivector && metric != kernels::Metric::kCosine) {
    return "its metric is " + info.metric + ", but lists of vectors are compared by cosine only";
  }
  if (!metric.has_value()) return "its metric \"" + info.metric + "\" is unknown";
  if (options.metric.has_value() && *options.metric != *metric) {
    return "its metric is " + info.metric +
           ", but metric = " + std::string(kernels::MetricName(*options.metric)) + " is asked for";
  }
  if (info.segments.empty()) return "it has no segment";
  if (has_rows && std::none_of(info.segments.begin(), info.segments.end(), CoversRows)) {
    return "it covers no fragment of this version";
  }
  return "";
}

uint64_t NewestVersion(const dataset::IndexInfo& info) {
  uint64_t newest = 0;
  for (const auto& segment : info.segments) newest = std::max(newest, segment.dataset_version);
  return newest;
}

std::string Describe(const dataset::IndexInfo& info) {
  return base::Concat("\"", info.name, "\" (", info.type, ", ", info.metric, ")");
}

arrow::Status CheckSegment(const index::IvfSegment& segment, const dataset::IndexInfo& info,
                           const VectorColumn& right) {
  if (right.type.width.has_value() && segment.dim() != *right.type.width) {
    return base::Invalid("index \"", info.name, "\" holds vectors of ", segment.dim(),
                         " elements, but ", right.what, " has ", *right.type.width);
  }
  return arrow::Status::OK();
}

arrow::Result<ChosenIndex> OpenIndex(dataset::Dataset* dataset, const dataset::IndexInfo& info,
                                     const VectorColumn& right) {
  ChosenIndex chosen;
  chosen.info = info;
  std::set<uint64_t> covered;
  std::erase_if(chosen.info.segments, std::not_fn(CoversRows));
  for (size_t i = 0; i < info.segments.size(); ++i) {
    if (!CoversRows(info.segments[i])) continue;
    ARROW_ASSIGN_OR_RAISE(auto segment, dataset->OpenSegment(info, i));
    ARROW_RETURN_NOT_OK(CheckSegment(*segment, info, right));
    chosen.segments.push_back(std::move(segment));
    covered.insert(info.segments[i].fragment_ids.begin(), info.segments[i].fragment_ids.end());
  }
  for (const dataset::FragmentInfo& fragment : dataset->fragments()) {
    const uint64_t live = fragment.physical_rows - fragment.deleted_rows;
    if (live == 0 || covered.contains(fragment.id)) continue;
    chosen.unindexed_fragments.push_back(fragment.id);
    chosen.unindexed_rows += static_cast<int64_t>(live);
  }
  std::sort(chosen.unindexed_fragments.begin(), chosen.unindexed_fragments.end());
  return chosen;
}

arrow::Status Refuse(const std::string& what) {
  return base::MakeError(base::ErrorCode::kRefused, what);
}

/// The newest index that fits; notes why the others don't.
const dataset::IndexInfo* PickNewest(const std::vector<dataset::IndexInfo>& indexes,
                                     const Question& question, std::vector<std::string>* others) {
  const dataset::IndexInfo* best = nullptr;
  for (const dataset::IndexInfo& info : indexes) {
    if (info.column != question.right.name) continue;
    const std::string why_not = WhyNot(info, question);
    if (!why_not.empty()) {
      others->push_back(Describe(info) + ": " + why_not);
    } else if (best == nullptr || NewestVersion(info) >= NewestVersion(*best)) {
      if (best != nullptr) others->push_back(Describe(*best) + ": a newer index fits too");
      best = &info;
    } else {
      others->push_back(Describe(info) + ": a newer index fits too");
    }
  }
  return best;
}

/// The metric of the exact path when none is named. What "near" means belongs to the data: the
/// metric of the index that would answer, else of the newest that this build can't search, so that
/// leaving the index out (`never`) or not being able to read it doesn't turn cosine into l2.
kernels::Metric UnnamedMetric(const std::vector<dataset::IndexInfo>& indexes,
                              const Question& question) {
  const VectorColumn& right = question.right;
  if (right.multivector) return kernels::Metric::kCosine;
  const bool bits = right.type.element == arrow::Type::UINT8;
  std::vector<std::string> others;
  const dataset::IndexInfo* best = PickNewest(indexes, question, &others);
  if (best != nullptr) return *kernels::ParseMetric(best->metric);
  for (const dataset::IndexInfo& info : indexes) {
    const auto metric = kernels::ParseMetric(info.metric);
    if (info.column != right.name || !metric.has_value()) continue;
    if ((*metric == kernels::Metric::kHamming) != bits) continue;
    if (best == nullptr || NewestVersion(info) >= NewestVersion(*best)) best = &info;
  }
  if (best != nullptr) return *kernels::ParseMetric(best->metric);
  return bits ? kernels::Metric::kHamming : kernels::Metric::kL2;
}

arrow::Result<const dataset::IndexInfo*> FindNamed(const std::vector<dataset::IndexInfo>& indexes,
                                                   const Question& question) {
  const JoinOptions& options = question.options;
  std::string names;
  for (const dataset::IndexInfo& info : indexes) {
    if (info.name == options.index_name) {
      const std::string why_not = WhyNot(info, question);
      if (why_not.empty()) return &info;
      return Refuse(base::Concat("index ", Describe(info), " can't be used: ", why_not));
    }
    names += (names.empty() ? "" : ", ") + info.name;
  }
  return base::NotFound("index: there is no vector index \"", options.index_name,
                        "\" on the right side; there are: ", names.empty() ? "none" : names);
}

std::string NoIndexReason(const dataset::Dataset* dataset, const VectorColumn& right,
                          const std::vector<std::string>& others) {
  if (dataset == nullptr) return "the right side is not a Lance dataset and has no index";
  if (others.empty()) return right.what + " has no vector index";
  std::string text = "no index fits: ";
  for (size_t i = 0; i < others.size(); ++i) text += (i > 0 ? "; " : "") + others[i];
  return text;
}

}  // namespace

arrow::Result<IndexChoice> ChooseIndex(dataset::Dataset* dataset, const VectorColumn& right,
                                       const JoinOptions& options) {
  IndexChoice choice;
  static const std::vector<dataset::IndexInfo> kNone;
  const auto& indexes = dataset == nullptr ? kNone : dataset->vector_indexes();
  const Question question{right, options, dataset != nullptr && dataset->num_rows() > 0};
  choice.metric = options.metric.value_or(UnnamedMetric(indexes, question));
  if (options.index == IndexUse::kNever) {
    choice.reason = "index = never";
    return choice;
  }
  const dataset::IndexInfo* info = nullptr;
  if (options.index == IndexUse::kNamed) {
    ARROW_ASSIGN_OR_RAISE(info, FindNamed(indexes, question));
    choice.reason = "index " + Describe(*info) + " is asked for by name";
    for (const dataset::IndexInfo& other : indexes) {
      if (&other == info || other.column != right.name) continue;
      const std::string why_not = WhyNot(other, question);
      choice.others.push_back(Describe(other) + ": " +
                              (why_not.empty() ? "another is asked for by name" : why_not));
    }
  } else {
    info = PickNewest(indexes, question, &choice.others);
    if (info != nullptr) {
      choice.reason = base::Concat("index ", Describe(*info), " fits column \"", right.name,
                                   "\" and metric", choice.others.empty() ? "" : "; the newest");
    } else {
      choice.reason = NoIndexReason(dataset, right, choice.others);
      if (options.index == IndexUse::kRequire) {
        return Refuse("index = require, but " + choice.reason);
      }
    }
  }
  ARROW_RETURN_NOT_OK(ValidatePath(options, info != nullptr, choice.reason));
  if (info == nullptr) return choice;
  choice.metric = *kernels::ParseMetric(info->metric);
  ARROW_ASSIGN_OR_RAISE(choice.index, OpenIndex(dataset, *info, right));
  return choice;
}

}  // namespace kinjo::join
