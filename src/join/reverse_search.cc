#include "join/reverse_search.h"

#include <algorithm>
#include <span>
#include <utility>

#include "join/derived_table.h"
#include "join/row_bytes.h"

namespace kinjo::join {

namespace {

/// The rows `addresses` of the right side as a table, read some at a time.
std::shared_ptr<tabular::TableSource> MatchedRows(const std::shared_ptr<RightSide>& right,
                                                  const std::vector<uint64_t>* addresses,
                                                  int64_t batch_bytes) {
  const auto read = [right, addresses,
                     batch_bytes](const std::optional<std::vector<std::string>>& columns)
      -> arrow::Result<std::shared_ptr<arrow::RecordBatchReader>> {
    const auto all = right->schema();
    const std::vector<std::string> names = columns.value_or(all->field_names());
    arrow::FieldVector fields;
    int64_t row_bytes = 1;
    for (const std::string& name : names) {
      fields.push_back(all->GetFieldByName(name));
      row_bytes += ValueBytes(*fields.back()->type());
    }
    const auto batch_rows =
        static_cast<size_t>(std::clamp<int64_t>(batch_bytes / row_bytes, 1, kScanBatchRows));
    const auto next = [right, names, batch_rows,
                       rest = std::span<const uint64_t>(*addresses)]() mutable
        -> arrow::Result<std::shared_ptr<arrow::RecordBatch>> {
      if (rest.empty()) return nullptr;
      const auto some = rest.first(std::min(batch_rows, rest.size()));
      rest = rest.subspan(some.size());
      return right->Take(names, some);
    };
    return MakeReader(arrow::schema(std::move(fields)), next);
  };
  const auto take = [right, addresses](const std::vector<std::string>& columns,
                                       std::span<const uint64_t> ordinals) {
    std::vector<uint64_t> taken;
    for (const uint64_t ordinal : ordinals) taken.push_back((*addresses)[ordinal]);
    return right->Take(columns, taken);
  };
  return MakeDerivedTable({.uri = right->uri(),
                           .format = "matched rows",
                           .schema = right->schema(),
                           .num_rows = static_cast<int64_t>(addresses->size()),
                           .read = read,
                           .take = take});
}

}  // namespace

JoinPlan MakeReversePlan(const JoinPlan& plan, const std::vector<uint64_t>* addresses) {
  JoinPlan reverse;
  reverse.options.k = plan.options.k;
  reverse.options.distance_range = plan.options.distance_range;
  reverse.left = MatchedRows(plan.right, addresses, plan.memory.take_bytes / 2);
  reverse.right = MakeTableSide(plan.left);
  reverse.left_vector = plan.right_vector;
  reverse.right_vector = plan.left_vector;
  reverse.choice.metric = plan.metric();
  reverse.range = plan.range;
  reverse.memory = plan.memory;
  reverse.dim = plan.dim;  // what a scan's blocks were planned for
  reverse.threads = plan.threads;
  reverse.candidates = reverse.wanted = plan.options.k;
  return reverse;
}

}  // namespace kinjo::join
