#include "dataset/index_answer.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <span>
#include <utility>

#include "arrow/array/array_nested.h"
#include "arrow/array/util.h"
#include "arrow/record_batch.h"
#include "dataset/scalar_segment.h"
#include "dataset/value_bounds.h"
#include "format/schema.h"
#include "predicate/predicate.h"

namespace kinjo::dataset {
namespace {

using predicate::ExpressionKind;

/// A lookup may read so many values however few the index has.
constexpr uint64_t kFewValues = uint64_t{1} << 16;

/// The field that a path names, and its number below.
const format::Field* FindField(const format::Schema& schema, const std::vector<std::string>& path) {
  const std::vector<format::Field>* fields = &schema.fields;
  const format::Field* found = nullptr;
  for (const std::string& name : path) {
    const auto field = std::find_if(fields->begin(), fields->end(),
                                    [&](const format::Field& each) { return each.name == name; });
    if (field == fields->end()) return nullptr;
    found = &*field;
    fields = &field->children;
  }
  return found;
}

/// A batch whose only value at `path` is `values`, as an expression wants to see it.
std::shared_ptr<arrow::RecordBatch> BatchOf(const std::vector<std::string>& path,
                                            std::shared_ptr<arrow::Array> values) {
  for (size_t level = path.size(); level-- > 1;) {
    auto type = arrow::struct_({arrow::field(path[level], values->type())});
    values = std::make_shared<arrow::StructArray>(std::move(type), values->length(),
                                                  arrow::ArrayVector{values});
  }
  auto schema = arrow::schema({arrow::field(path[0], values->type())});
  return arrow::RecordBatch::Make(std::move(schema), values->length(), {values});
}

uint64_t LiveRowsIn(const Dataset& dataset, const std::vector<uint64_t>& fragment_ids) {
  uint64_t rows = 0;
  for (const FragmentInfo& fragment : dataset.fragments()) {
    if (std::binary_search(fragment_ids.begin(), fragment_ids.end(), fragment.id)) {
      rows += fragment.physical_rows - fragment.deleted_rows;
    }
  }
  return rows;
}

std::vector<uint64_t> CoverOf(const ScalarIndexInfo& index) {
  std::vector<uint64_t> ids;
  for (const IndexSegmentInfo& segment : index.segments) {
    ids.insert(ids.end(), segment.fragment_ids.begin(), segment.fragment_ids.end());
  }
  std::sort(ids.begin(), ids.end());
  return ids;
}

/// An expression over one column, asked of the values of that column's index.
class LookupAnswer final : public IndexAnswer {
 public:
  LookupAnswer(Dataset* dataset, const ScalarIndexInfo& index, ExpressionPtr expression,
               bool wants_unknown)
      : dataset_(dataset),
        index_(index),
        expression_(std::move(expression)),
        path_(*OnlyColumn(*expression_)),
        fragment_ids_(CoverOf(index)) {
    lookup_.test = [this](const std::shared_ptr<arrow::Array>& values) {
      return predicate::Evaluate(*expression_, *BatchOf(path_, values));
    };
    lookup_.bounds = ValueBounds::Of(*expression_);
    lookup_.wants_unknown = wants_unknown;
  }

  void AddNames(std::set<std::string>* names) const override { names->insert(index_.name); }
  const std::vector<uint64_t>& fragment_ids() const override { return fragment_ids_; }

  arrow::Result<bool> Open() override {
    ARROW_ASSIGN_OR_RAISE(const auto type,
                          format::ToArrowType(*dataset_->schema().FindId(index_.field_id)));
    ARROW_ASSIGN_OR_RAISE(const auto null, arrow::MakeArrayOfNull(type, 1));
    ARROW_ASSIGN_OR_RAISE(const auto of_null, lookup_.test(null));
    lookup_.null_is_unknown = of_null->IsNull(0);
    lookup_.null_passes = of_null->IsValid(0) && of_null->Value(0);
    ScalarSegment::Cost cost;
    for (size_t i = 0; i < index_.segments.size(); ++i) {
      if (index_.segments[i].fragment_ids.empty()) continue;
      auto opened = dataset_->OpenScalarSegment(index_, i);
      if (!opened.ok() && base::CodeOf(opened.status()) == base::ErrorCode::kNotSupported)
        return false;
      ARROW_ASSIGN_OR_RAISE(auto segment, std::move(opened));
      if (!segment->type()->Equals(*type)) return false;
      const ScalarSegment::Cost own = segment->CostOf(lookup_);
      cost.read += own.read;
      cost.all += own.all;
      segments_.emplace_back(&index_.segments[i], std::move(segment));
    }
    return index_.kind == ScalarIndexKind::kBitmap || cost.read <= kFewValues ||
           cost.read <= cost.all / 2;
  }

  arrow::Result<TruthRows> Run(const base::CancelToken& cancel) override {
    TruthRows rows;
    std::vector<RowAddress> addresses;
    for (const auto& [info, segment] : segments_) {
      const auto take = [&](bool known, std::span<const uint64_t> row_ids) -> arrow::Status {
        addresses.resize(row_ids.size());
        ARROW_RETURN_NOT_OK(dataset_->ResolveRowIds(*info, row_ids, addresses));
        std::erase(addresses, kDeadRow);
        std::sort(addresses.begin(), addresses.end());
        (known ? rows.passing : rows.unknown).Add(addresses);
        return arrow::Status::OK();
      };
      ARROW_RETURN_NOT_OK(segment->Find(lookup_, cancel, take));
    }
    return rows;
  }

 private:
  Dataset* dataset_;
  const ScalarIndexInfo& index_;
  const ExpressionPtr expression_;
  const std::vector<std::string> path_;
  const std::vector<uint64_t> fragment_ids_;
  ScalarSegment::Lookup lookup_;
  std::vector<std::pair<const IndexSegmentInfo*, std::shared_ptr<ScalarSegment>>> segments_;
};

/// NOT: the live rows for which the input is false.
class NotAnswer final : public IndexAnswer {
 public:
  NotAnswer(Dataset* dataset, std::unique_ptr<IndexAnswer> input)
      : dataset_(dataset), input_(std::move(input)) {}

  void AddNames(std::set<std::string>* names) const override { input_->AddNames(names); }
  const std::vector<uint64_t>& fragment_ids() const override { return input_->fragment_ids(); }
  arrow::Result<bool> Open() override { return input_->Open(); }

  arrow::Result<TruthRows> Run(const base::CancelToken& cancel) override {
    ARROW_ASSIGN_OR_RAISE(TruthRows input, input_->Run(cancel));
    TruthRows rows;
    ARROW_RETURN_NOT_OK(AddLiveRows(cancel, &rows.passing));
    rows.passing.Subtract(input.passing);
    rows.passing.Subtract(input.unknown);
    rows.unknown = std::move(input.unknown);
    return rows;
  }

 private:
  arrow::Status AddLiveRows(const base::CancelToken& cancel, RowMask* rows) {
    // A scan of no columns reads no file.
    ARROW_ASSIGN_OR_RAISE(const auto scan, dataset_->MakeScan({.fragment_ids = fragment_ids()}));
    while (true) {
      ARROW_RETURN_NOT_OK(cancel.Check());
      ARROW_ASSIGN_OR_RAISE(const ScanBatch batch, scan->Next());
      if (batch.batch == nullptr) return arrow::Status::OK();
      rows->Add(batch.addresses);
    }
  }

  Dataset* dataset_;
  const std::unique_ptr<IndexAnswer> input_;
};

/// AND or OR of two or more inputs, in the fragments that all of them cover.
class JointAnswer final : public IndexAnswer {
 public:
  JointAnswer(bool is_and, bool wants_unknown, std::vector<std::unique_ptr<IndexAnswer>> inputs)
      : is_and_(is_and), wants_unknown_(wants_unknown), inputs_(std::move(inputs)) {
    fragment_ids_ = inputs_[0]->fragment_ids();
    for (const auto& input : inputs_) {
      std::vector<uint64_t> common;
      std::set_intersection(fragment_ids_.begin(), fragment_ids_.end(),
                            input->fragment_ids().begin(), input->fragment_ids().end(),
                            std::back_inserter(common));
      fragment_ids_ = std::move(common);
    }
  }

  void AddNames(std::set<std::string>* names) const override {
    for (const auto& input : inputs_) input->AddNames(names);
  }
  const std::vector<uint64_t>& fragment_ids() const override { return fragment_ids_; }

  arrow::Result<bool> Open() override {
    for (const auto& input : inputs_) {
      ARROW_ASSIGN_OR_RAISE(const bool good, input->Open());
      if (!good) return false;
    }
    return true;
  }

  arrow::Result<TruthRows> Run(const base::CancelToken& cancel) override {
    ARROW_ASSIGN_OR_RAISE(TruthRows rows, inputs_[0]->Run(cancel));
    for (size_t i = 1; i < inputs_.size(); ++i) {
      ARROW_ASSIGN_OR_RAISE(TruthRows other, inputs_[i]->Run(cancel));
      is_and_ ? And(std::move(other), &rows) : Or(std::move(other), &rows);
    }
    return rows;
  }

 private:
  /// Unknown where neither is false and not both are true.
  void And(TruthRows other, TruthRows* rows) const {
    if (wants_unknown_) {
      rows->unknown.UniteWith(rows->passing);
      other.unknown.UniteWith(other.passing);
      rows->unknown.IntersectWith(other.unknown);
    }
    rows->passing.IntersectWith(other.passing);
    if (wants_unknown_) rows->unknown.Subtract(rows->passing);
  }
  /// Unknown where neither is true and either is unknown.
  void Or(TruthRows other, TruthRows* rows) const {
    rows->passing.UniteWith(other.passing);
    if (!wants_unknown_) return;
    rows->unknown.UniteWith(other.unknown);
    rows->unknown.Subtract(rows->passing);
  }

  const bool is_and_;
  const bool wants_unknown_;
  const std::vector<std::unique_ptr<IndexAnswer>> inputs_;
  std::vector<uint64_t> fragment_ids_;
};

/// Plans over the indexes of one snapshot.
class Planner {
 public:
  explicit Planner(Dataset* dataset) : dataset_(dataset) {}

  std::unique_ptr<IndexAnswer> Plan(const ExpressionPtr& expression, bool wants_unknown) const {
    auto lookup = PlanLookup(expression, wants_unknown);
    if (lookup != nullptr) return lookup;
    switch (expression->kind) {
      case ExpressionKind::kNot:
        return PlanNot(expression->inputs[0]);
      case ExpressionKind::kNotEqual:
        return PlanNot(MakeNode(ExpressionKind::kEqual, expression->inputs));
      case ExpressionKind::kAnd:
      case ExpressionKind::kOr:
        return PlanJoint(expression, wants_unknown);
      default:
        return nullptr;
    }
  }

 private:
  std::unique_ptr<IndexAnswer> PlanLookup(const ExpressionPtr& expression,
                                          bool wants_unknown) const {
    const std::vector<std::string>* path = OnlyColumn(*expression);
    const ScalarIndexInfo* index = path == nullptr ? nullptr : FindIndex(*path);
    if (index == nullptr) return nullptr;
    // A B-tree without bounds would be read whole.
    const bool bounded =
        index->kind == ScalarIndexKind::kBitmap || !ValueBounds::Of(*expression).is_everything();
    if (!bounded) return nullptr;
    return std::make_unique<LookupAnswer>(dataset_, *index, expression, wants_unknown);
  }

  std::unique_ptr<IndexAnswer> PlanNot(const ExpressionPtr& input) const {
    auto planned = Plan(input, /*wants_unknown=*/true);
    if (planned == nullptr) return nullptr;
    return std::make_unique<NotAnswer>(dataset_, std::move(planned));
  }

  std::unique_ptr<IndexAnswer> PlanJoint(const ExpressionPtr& expression,
                                         bool wants_unknown) const {
    std::vector<std::unique_ptr<IndexAnswer>> inputs;
    const auto grouped = GroupByColumn(expression->kind, expression->inputs);
    // All over one column, and yet no lookup: the members may do apart.
    for (const ExpressionPtr& input : grouped.size() == 1 ? expression->inputs : grouped) {
      auto planned = Plan(input, wants_unknown);
      if (planned == nullptr) return nullptr;
      inputs.push_back(std::move(planned));
    }
    auto joint = std::make_unique<JointAnswer>(expression->kind == ExpressionKind::kAnd,
                                               wants_unknown, std::move(inputs));
    if (joint->fragment_ids().empty()) return nullptr;
    return joint;
  }

  /// The usable index of a column that covers the most rows.
  const ScalarIndexInfo* FindIndex(const std::vector<std::string>& path) const {
    const format::Field* field = FindField(dataset_->schema(), path);
    if (field == nullptr) return nullptr;
    const ScalarIndexInfo* best = nullptr;
    uint64_t best_rows = 0;
    for (const ScalarIndexInfo& index : dataset_->scalar_indexes()) {
      if (index.field_id != field->id || !index.unusable_reason.empty()) continue;
      const uint64_t rows = LiveRowsIn(*dataset_, CoverOf(index));
      if (rows <= best_rows) continue;
      best = &index;
      best_rows = rows;
    }
    return best;
  }

  Dataset* dataset_;
};

}  // namespace

std::unique_ptr<IndexAnswer> IndexAnswer::Plan(Dataset* dataset, const ExpressionPtr& expression,
                                               bool wants_unknown) {
  if (expression->can_fail) return nullptr;
  return Planner(dataset).Plan(expression, wants_unknown);
}

}  // namespace kinjo::dataset
