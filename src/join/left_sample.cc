#include "join/left_sample.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <span>
#include <utility>

#include "arrow/table.h"
#include "join/derived_table.h"

namespace kinjo::join {

namespace {

constexpr int64_t kChoosingRowsMin = 144;
constexpr int64_t kMoreOfOneNeighbor = 128;  // divided by k
constexpr int64_t kChoosingRowsMax = 512;
constexpr int64_t kMeasuringRowsMin = 160;
constexpr int64_t kMeasuringRowsMax = 1024;
constexpr int64_t kCurveChoosingRows = 256;
constexpr int64_t kCurveMeasuringRows = 1024;
// A list of vectors is as many queries.
constexpr int64_t kMultivectorShare = 4;

constexpr uint64_t kSeed = 0x6b696e6a6f;

// SplitMix64: the same numbers on every machine.
uint64_t NextRandom(uint64_t* state) {
  uint64_t z = (*state += 0x9e3779b97f4a7c15);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

// `count` of the rows [0, rows), in random order: Floyd's way, which needs no list of all rows.
std::vector<int64_t> DrawRows(int64_t rows, int64_t count) {
  std::vector<int64_t> drawn;
  std::vector<int64_t> sorted;
  uint64_t state = kSeed;
  for (int64_t last = rows - count; last < rows; ++last) {
    int64_t row = static_cast<int64_t>(NextRandom(&state) % static_cast<uint64_t>(last + 1));
    auto place = std::lower_bound(sorted.begin(), sorted.end(), row);
    if (place != sorted.end() && *place == row) {
      row = last;  // is above all that were drawn
      place = sorted.end();
    }
    sorted.insert(place, row);
    drawn.push_back(row);
  }
  for (size_t i = drawn.size(); i > 1; --i) {
    std::swap(drawn[i - 1], drawn[NextRandom(&state) % i]);
  }
  return drawn;
}

// A left side whose first rows were read already. They come again, then the rest of their stream,
// with the failure that ended the reading, if one did. Read once more.
// Requires: the columns are LeftReader's, for which the rows were read.
std::shared_ptr<tabular::TableSource> ReadBeforehand(
    const std::shared_ptr<tabular::TableSource>& source, arrow::RecordBatchVector read,
    const arrow::Status& failed, const std::shared_ptr<arrow::RecordBatchReader>& rest) {
  struct State {
    arrow::RecordBatchVector read;
    size_t next = 0;
    bool handed_on = false;
  };
  auto state = std::make_shared<State>(State{.read = std::move(read)});
  const auto next = [state, failed, rest]() -> arrow::Result<std::shared_ptr<arrow::RecordBatch>> {
    if (state->next < state->read.size()) return std::exchange(state->read[state->next++], nullptr);
    ARROW_RETURN_NOT_OK(failed);
    return rest->Next();
  };
  return MakeDerivedTable(
      {.uri = source->uri(),
       .format = source->format(),
       .schema = source->schema(),
       .num_rows = source->num_rows(),
       .read = [source, state, rest, next](const auto& columns)
           -> arrow::Result<std::shared_ptr<arrow::RecordBatchReader>> {
         if (std::exchange(state->handed_on, true)) return source->Read(columns);
         return MakeReader(rest->schema(), next);
       },
       .take = [source](const auto& columns,
                        auto ordinals) { return source->Take(columns, ordinals); }});
}

// The first rows of a left side that doesn't tell how many it has.
struct Prefix {
  std::shared_ptr<arrow::RecordBatch> rows;  // the vector column, of at most kSampledPrefixRows
  bool whole = false;                        // there are no more
};

arrow::Result<Prefix> ReadPrefix(JoinPlan* plan) {
  ARROW_ASSIGN_OR_RAISE(auto reader, plan->left->Read(LeftReader::Columns(*plan)));
  arrow::RecordBatchVector read;
  arrow::RecordBatchVector vectors;
  arrow::Status failed;
  Prefix prefix;
  int64_t rows = 0;
  while (rows < kSampledPrefixRows && !prefix.whole && failed.ok()) {
    std::shared_ptr<arrow::RecordBatch> batch;
    failed = reader->ReadNext(&batch);
    prefix.whole = failed.ok() && batch == nullptr;
    if (!failed.ok() || prefix.whole) break;
    const int64_t used = std::min(batch->num_rows(), kSampledPrefixRows - rows);
    std::vector<int> indices;
    for (const std::string& name : LeftReader::Columns(*plan, LeftParts::kVectors)) {
      indices.push_back(batch->schema()->GetFieldIndex(name));
    }
    ARROW_ASSIGN_OR_RAISE(auto column, batch->SelectColumns(indices));
    if (used > 0) vectors.push_back(column->Slice(0, used));
    rows += used;
    read.push_back(std::move(batch));
  }
  if (!vectors.empty()) {
    ARROW_ASSIGN_OR_RAISE(prefix.rows, arrow::ConcatenateRecordBatches(vectors));
  }
  plan->left = ReadBeforehand(plan->left, std::move(read), failed, reader);
  return prefix;
}

// Rows of a batch in the given order.
arrow::Result<std::shared_ptr<arrow::RecordBatch>> RowsOf(const arrow::RecordBatch& batch,
                                                          const std::vector<int64_t>& rows) {
  arrow::RecordBatchVector pieces;
  for (const int64_t row : rows) pieces.push_back(batch.Slice(row, 1));
  return arrow::ConcatenateRecordBatches(pieces);
}

// The right rows that left rows are. They are looked up in order.
arrow::Result<std::vector<uint64_t>> PlacesOf(const RightSide& right,
                                              std::span<const int64_t> numbers) {
  std::vector<size_t> order(numbers.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(),
            [&](size_t a, size_t b) { return numbers[a] < numbers[b]; });
  const auto identity = LeftIdentity::Open(right);
  std::vector<uint64_t> places(numbers.size());
  for (const size_t i : order) {
    ARROW_RETURN_NOT_OK(identity->AddressesOf(numbers[i], std::span(&places[i], 1)));
  }
  return places;
}

// The rows' vectors as one block, whatever a block may hold else.
// `numbers`: of the rows in the left side.
arrow::Status ReadBlock(const JoinPlan& plan, const EligibleRows* eligible,
                        std::shared_ptr<arrow::RecordBatch> rows, std::span<const int64_t> numbers,
                        LeftBlock* block) {
  JoinPlan sampled = plan;
  sampled.memory.block_rows = rows->num_rows();
  sampled.memory.block_bytes = sampled.memory.block_vectors = std::numeric_limits<int64_t>::max();
  sampled.layout.left_columns.clear();
  sampled.left = tabular::MakeBatchSource(std::move(rows), plan.left->uri());
  ARROW_ASSIGN_OR_RAISE(const auto reader,
                        LeftReader::Open(sampled, eligible, LeftParts::kVectors));
  if (plan.eligibility.excludes_by_place()) {
    ARROW_ASSIGN_OR_RAISE(auto places, PlacesOf(*plan.right, numbers));
    reader->SetPlaces(std::move(places));
  }
  return reader->Next(block);
}

int64_t Shared(int64_t rows, bool multivector) {
  return multivector ? rows / kMultivectorShare : rows;
}

}  // namespace

SampleSizes SampleSizes::For(std::optional<int64_t> left_rows, int64_t k, bool multivector) {
  const int64_t rows = left_rows.value_or(kSampledPrefixRows);
  // A row of one neighbour is found or missed: it takes more rows to tell.
  const int64_t choosing = kChoosingRowsMin + kMoreOfOneNeighbor / std::max<int64_t>(k, 1);
  return {Shared(std::clamp(rows / 80, choosing, kChoosingRowsMax), multivector),
          Shared(std::clamp(rows / 60, kMeasuringRowsMin, kMeasuringRowsMax), multivector)};
}

SampleSizes SampleSizes::ForCurve(bool multivector) {
  return {Shared(kCurveChoosingRows, multivector), Shared(kCurveMeasuringRows, multivector)};
}

int64_t LeftSample::measured_population() const {
  if (!left_rows.has_value()) return -1;
  return is_census() ? *left_rows : *left_rows - static_cast<int64_t>(choosing.size());
}

arrow::Result<std::optional<LeftSample>> DrawLeftSample(const SampleSizes& sizes,
                                                        const EligibleRows* eligible,
                                                        JoinPlan* plan) {
  LeftSample sample;
  sample.left_rows = plan->left->num_rows();
  Prefix prefix;
  if (!sample.left_rows.has_value()) {
    ARROW_ASSIGN_OR_RAISE(prefix, ReadPrefix(plan));
    if (prefix.whole) sample.left_rows = prefix.rows == nullptr ? 0 : prefix.rows->num_rows();
  }
  const int64_t rows =
      prefix.rows != nullptr ? prefix.rows->num_rows() : sample.left_rows.value_or(0);
  if (rows == 0) return std::nullopt;
  const bool census = rows <= sizes.choosing + sizes.measuring;
  std::vector<int64_t> drawn = DrawRows(rows, std::min(rows, sizes.choosing + sizes.measuring));
  const int64_t choosing = census ? rows : sizes.choosing;
  std::sort(drawn.begin(), drawn.begin() + choosing);
  std::sort(drawn.begin() + choosing, drawn.end());
  sample.choosing.assign(drawn.begin(), drawn.begin() + choosing);
  sample.measuring.assign(drawn.begin() + (census ? 0 : choosing), drawn.end());

  std::vector<uint64_t> rising(drawn.begin(), drawn.end());
  std::sort(rising.begin(), rising.end());
  std::shared_ptr<arrow::RecordBatch> batch = prefix.rows;
  std::vector<int64_t> places = drawn;
  if (batch == nullptr) {
    ARROW_ASSIGN_OR_RAISE(
        batch, plan->left->Take(LeftReader::Columns(*plan, LeftParts::kVectors), rising));
    for (int64_t& place : places) {
      place = std::lower_bound(rising.begin(), rising.end(), static_cast<uint64_t>(place)) -
              rising.begin();
    }
  }
  ARROW_ASSIGN_OR_RAISE(batch, RowsOf(*batch, places));
  const std::pair<std::shared_ptr<arrow::RecordBatch>, LeftBlock*> parts[] = {
      {batch, &sample.all}, {batch->Slice(0, choosing), &sample.choosing_block}};
  for (const auto& [part, block] : parts) {
    const arrow::Status read = ReadBlock(*plan, eligible, part, drawn, block);
    if (!read.ok() && base::CodeOf(read) == base::ErrorCode::kInvalid) return std::nullopt;
    ARROW_RETURN_NOT_OK(read);
  }
  return sample;
}

}  // namespace kinjo::join
