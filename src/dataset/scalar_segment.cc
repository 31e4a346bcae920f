#include "dataset/scalar_segment.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "arrow/type_traits.h"

namespace kinjo::dataset {
namespace {

/// Rows of a B-tree read at a time.
constexpr uint64_t kRowsAtATime = uint64_t{1} << 18;
/// Keys of a bitmap index tested at a time.
constexpr uint64_t kKeysAtATime = uint64_t{1} << 16;
/// Stored sets read at a time, at first: twice as many while they are small.
constexpr size_t kSetsAtFirst = 16;
constexpr int64_t kSmallSetsBytes = int64_t{1} << 20;

/// The numbers of values that pass, and of those that are unknown.
struct Split {
  std::vector<uint64_t> passing;
  std::vector<uint64_t> unknown;
};

arrow::Result<Split> SplitValues(const ScalarSegment::Lookup& lookup,
                                 const std::shared_ptr<arrow::Array>& values) {
  ARROW_ASSIGN_OR_RAISE(const std::shared_ptr<arrow::BooleanArray> tested, lookup.test(values));
  if (tested->length() != values->length()) {
    return base::Internal("a test of ", values->length(), " values gave ", tested->length());
  }
  Split split;
  for (int64_t i = 0; i < tested->length(); ++i) {
    if (tested->IsNull(i)) {
      if (lookup.wants_unknown) split.unknown.push_back(static_cast<uint64_t>(i));
    } else if (tested->Value(i)) {
      split.passing.push_back(static_cast<uint64_t>(i));
    }
  }
  return split;
}

class BtreeSegment final : public ScalarSegment {
 public:
  explicit BtreeSegment(std::shared_ptr<format::BtreeFile> file) : file_(std::move(file)) {
    for (int64_t page = 0; page < file_->num_pages(); ++page) {
      minimums_.push_back(SortKeyOf(file_->minimums(), page));
      maximums_.push_back(SortKeyOf(file_->maximums(), page));
    }
  }

  const std::shared_ptr<arrow::DataType>& type() const override { return file_->type(); }

  Cost CostOf(const Lookup& lookup) const override {
    Cost cost;
    for (int64_t page = 0; page < file_->num_pages(); ++page) {
      const format::RowRange rows = file_->page_rows(page);
      cost.all += rows.end - rows.begin;
      if (MayHold(page, lookup)) cost.read += rows.end - rows.begin;
    }
    return cost;
  }

  arrow::Status Find(const Lookup& lookup, const base::CancelToken& cancel,
                     const Take& take) const override {
    format::RowRange rows;
    for (int64_t page = 0; page < file_->num_pages(); ++page) {
      if (!MayHold(page, lookup)) continue;
      const format::RowRange own = file_->page_rows(page);
      const bool goes_on = own.begin == rows.end && own.end - rows.begin <= kRowsAtATime;
      if (!goes_on) {
        ARROW_RETURN_NOT_OK(FindIn(rows, lookup, cancel, take));
        rows.begin = own.begin;
      }
      rows.end = own.end;
    }
    return FindIn(rows, lookup, cancel, take);
  }

 private:
  bool MayHold(int64_t page, const Lookup& lookup) const {
    const bool wants_null = lookup.null_passes || (lookup.null_is_unknown && lookup.wants_unknown);
    const format::RowRange rows = file_->page_rows(page);
    if (wants_null && file_->null_count(page) > 0) return true;
    if (file_->null_count(page) == rows.end - rows.begin) return false;
    const auto at = static_cast<size_t>(page);
    // NaN lies at the ends of the order, and no bound tells of it.
    const bool may_hold_nan = arrow::is_floating(type()->id()) &&
                              (!minimums_[at].has_value() || !maximums_[at].has_value());
    if (may_hold_nan) return true;
    return lookup.bounds.MayHold(minimums_[at], maximums_[at]);
  }

  /// In pieces: the file says how large a page is, and one may be the whole index.
  arrow::Status FindIn(format::RowRange rows, const Lookup& lookup, const base::CancelToken& cancel,
                       const Take& take) const {
    while (rows.begin < rows.end) {
      ARROW_RETURN_NOT_OK(cancel.Check());
      const uint64_t end = rows.begin + std::min(kRowsAtATime, rows.end - rows.begin);
      ARROW_RETURN_NOT_OK(FindInPiece({rows.begin, end}, lookup, take));
      rows.begin = end;
    }
    return arrow::Status::OK();
  }

  arrow::Status FindInPiece(format::RowRange rows, const Lookup& lookup, const Take& take) const {
    ARROW_ASSIGN_OR_RAISE(const format::BtreeRows read, file_->Read(rows));
    ARROW_ASSIGN_OR_RAISE(Split split, SplitValues(lookup, read.values));
    const auto to_ids = [&](std::vector<uint64_t>* numbers) {
      for (uint64_t& number : *numbers) {
        number = read.row_ids->Value(static_cast<int64_t>(number));
      }
    };
    to_ids(&split.passing);
    ARROW_RETURN_NOT_OK(take(true, split.passing));
    to_ids(&split.unknown);
    return take(false, split.unknown);
  }

  const std::shared_ptr<format::BtreeFile> file_;
  std::vector<std::optional<SortKey>> minimums_;
  std::vector<std::optional<SortKey>> maximums_;
};

class BitmapSegment final : public ScalarSegment {
 public:
  explicit BitmapSegment(std::shared_ptr<format::BitmapFile> file) : file_(std::move(file)) {}

  const std::shared_ptr<arrow::DataType>& type() const override { return file_->type(); }

  Cost CostOf(const Lookup&) const override {
    return {.read = file_->num_keys(), .all = file_->num_keys()};
  }

  arrow::Status Find(const Lookup& lookup, const base::CancelToken& cancel,
                     const Take& take) const override {
    for (uint64_t begin = 0; begin < file_->num_keys(); begin += kKeysAtATime) {
      const uint64_t end = std::min(file_->num_keys(), begin + kKeysAtATime);
      ARROW_ASSIGN_OR_RAISE(const auto keys, file_->ReadKeys({begin, end}));
      ARROW_ASSIGN_OR_RAISE(Split split, SplitValues(lookup, keys));
      for (uint64_t& key : split.passing) key += begin;
      ARROW_RETURN_NOT_OK(TakeSets(split.passing, true, cancel, take));
      for (uint64_t& key : split.unknown) key += begin;
      ARROW_RETURN_NOT_OK(TakeSets(split.unknown, false, cancel, take));
    }
    return arrow::Status::OK();
  }

 private:
  arrow::Status TakeSets(std::span<const uint64_t> keys, bool known,
                         const base::CancelToken& cancel, const Take& take) const {
    size_t at_a_time = kSetsAtFirst;
    while (!keys.empty()) {
      const std::span<const uint64_t> chosen = keys.first(std::min(at_a_time, keys.size()));
      keys = keys.subspan(chosen.size());
      ARROW_ASSIGN_OR_RAISE(const auto sets, file_->ReadSets(chosen));
      for (int64_t i = 0; i < sets->length(); ++i) {
        ARROW_RETURN_NOT_OK(TakeSet(sets->GetView(i), known, cancel, take));
      }
      const bool small = sets->total_values_length() < kSmallSetsBytes;
      at_a_time = small ? at_a_time * 2 : std::max<size_t>(1, at_a_time / 2);
    }
    return arrow::Status::OK();
  }

  arrow::Status TakeSet(std::string_view stored, bool known, const base::CancelToken& cancel,
                        const Take& take) const {
    ARROW_ASSIGN_OR_RAISE(const auto groups, file_->ParseSet(stored));
    std::vector<uint64_t> row_ids;
    for (const format::RowIdGroup& group : groups) {
      arrow::Status status;
      group.lower.ForEachBlock([&](std::span<const uint32_t> lower) {
        row_ids.clear();
        for (const uint32_t part : lower) row_ids.push_back(uint64_t{group.upper} << 32 | part);
        status = cancel.Check();
        if (status.ok()) status = take(known, row_ids);
        return status.ok();
      });
      ARROW_RETURN_NOT_OK(status);
    }
    return arrow::Status::OK();
  }

  const std::shared_ptr<format::BitmapFile> file_;
};

}  // namespace

std::shared_ptr<ScalarSegment> MakeBtreeSegment(std::shared_ptr<format::BtreeFile> file) {
  return std::make_shared<BtreeSegment>(std::move(file));
}

std::shared_ptr<ScalarSegment> MakeBitmapSegment(std::shared_ptr<format::BitmapFile> file) {
  return std::make_shared<BitmapSegment>(std::move(file));
}

}  // namespace kinjo::dataset
