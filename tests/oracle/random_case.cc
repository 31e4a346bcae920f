#include "tests/oracle/random_case.h"

#include <functional>
#include <limits>
#include <random>

#include "arrow/api.h"
#include "join/memory_sides.h"
#include "tests/oracle/random_dataset.h"
#include "tests/oracle/random_index.h"

namespace kinjo::oracle {

namespace {

using format::ElementType;

std::shared_ptr<arrow::DataType> ArrowType(ElementType type) {
  switch (type) {
    case ElementType::kFloat16:
      return arrow::float16();
    case ElementType::kFloat32:
      return arrow::float32();
    case ElementType::kFloat64:
      return arrow::float64();
    default:
      return arrow::uint8();
  }
}

std::shared_ptr<arrow::Array> MakeVectors(ElementType type, size_t dim,
                                          const std::vector<Numbers>& vectors) {
  Numbers all;
  arrow::TypedBufferBuilder<bool> valid;
  for (const Numbers& vector : vectors) {
    all.insert(all.end(), vector.begin(), vector.end());
    all.resize(all.size() + dim - vector.size(), 0.0);
    if (!valid.Append(!vector.empty()).ok()) std::abort();
  }
  const auto count = static_cast<int64_t>(vectors.size());
  const auto values = arrow::MakeArray(arrow::ArrayData::Make(
      ArrowType(type), count * static_cast<int64_t>(dim), {nullptr, StoreElements(type, all)}));
  return std::make_shared<arrow::FixedSizeListArray>(
      arrow::fixed_size_list(ArrowType(type), static_cast<int32_t>(dim)), count, values,
      valid.Finish().ValueOrDie());
}

/// A predicate and what it means for the row at a position.
struct Filter {
  const char* where;
  std::function<bool(size_t)> passes;
};

// `tag` is the position mod 7, null where that is 10 mod 11.
const std::vector<Filter>& Filters() {
  static const std::vector<Filter> filters = {
      {"id < 0", [](size_t) { return false; }},
      {"id IN (0, 3, 77)", [](size_t i) { return i == 0 || i == 3 || i == 77; }},
      {"id % 2 = 1", [](size_t i) { return i % 2 == 1; }},
      {"tag < 3", [](size_t i) { return i % 11 != 10 && i % 7 < 3; }},
      {"tag IS NULL OR id >= 200", [](size_t i) { return i % 11 == 10 || i >= 200; }},
      {"id BETWEEN 20 AND 35", [](size_t i) { return i >= 20 && i <= 35; }},
      {"id >= 0", [](size_t) { return true; }}};
  return filters;
}

class CaseMaker {
 public:
  explicit CaseMaker(uint64_t seed) : random_(seed * 7919 + 1) {}

  RandomCase Make() {
    ChooseKind();
    ChooseShape();
    MakeRows();
    MakeLeft();
    MakeDataset();
    ChooseOptions();
    case_.text = Describe();
    return std::move(case_);
  }

 private:
  size_t Draw(size_t count) { return random_() % count; }
  bool Chance(size_t one_in) { return Draw(one_in) == 0; }
  template <typename T>
  T OneOf(std::initializer_list<T> values) {
    return values.begin()[Draw(values.size())];
  }

  void ChooseKind() {
    recipe_.metric = OneOf<std::string>({"l2", "l2", "cosine", "dot", "hamming"});
    const bool bits = recipe_.metric == "hamming";
    recipe_.type = bits ? ElementType::kUint8
                        : OneOf({ElementType::kFloat32, ElementType::kFloat32,
                                 ElementType::kFloat16, ElementType::kFloat64});
    const std::string code = bits ? "FLAT" : OneOf<std::string>({"FLAT", "PQ", "SQ", "RQ"});
    const bool graph = code != "RQ" && Chance(5);
    recipe_.index_type = (graph ? "IVF_HNSW_" : "IVF_") + code;
    recipe_.kind = format::ParseIndexKind(recipe_.index_type).value();
    recipe_.bits = code == "RQ" ? static_cast<unsigned>(1 + Draw(9)) : OneOf({4u, 8u});
    recipe_.transposed = !graph && !Chance(3);  // under a graph the reader turns codes to rows
    recipe_.packed = !Chance(3);
    recipe_.matrix = Chance(4);
    case_.metric = recipe_.metric;
  }

  void ChooseShape() {
    const bool rq = recipe_.kind.quantizer == format::QuantizerKind::kRq;
    const bool pq = recipe_.kind.quantizer == format::QuantizerKind::kPq;
    recipe_.dim = rq   ? OneOf<size_t>({8, 16, 24, 72})
                  : pq ? OneOf<size_t>({4, 8, 12, 20})
                       : OneOf<size_t>({1, 3, 5, 8, 17, 33});
    recipe_.partitions = OneOf<size_t>({1, 2, 5, 9, 30, 70});
    fragments_ = 1 + Draw(5);
    const bool float16 = recipe_.type == ElementType::kFloat16;
    whole_numbers_ = Chance(3);
    offset_ = Chance(4) ? (float16 ? 20.0 : 3000.0) : 0.0;
    left_type_ =
        recipe_.type == ElementType::kFloat32 && Chance(3) ? ElementType::kFloat64 : recipe_.type;
  }

  Numbers RandomVector(ElementType type) {
    Numbers vector(recipe_.dim);
    std::normal_distribution<double> normal;
    const double centre = static_cast<double>(Draw(6)) - 3;
    for (double& value : vector) {
      if (type == ElementType::kUint8) {
        value = static_cast<double>(Draw(256));
      } else if (whole_numbers_) {
        value = offset_ + static_cast<double>(Draw(5)) - 2;
      } else {
        value = Rounded(type, offset_ + centre + normal(random_));
      }
    }
    return vector;
  }

  // Now and then one that can't match, or that is another's double.
  Numbers RandomOrOdd(ElementType type, const std::vector<Numbers>& others) {
    const bool bytes = type == ElementType::kUint8;
    if (Chance(25)) return {};
    if (!others.empty() && Chance(8)) return others[Draw(others.size())];
    Numbers vector = RandomVector(type);
    if (Chance(30)) std::fill(vector.begin(), vector.end(), 0.0);
    if (!bytes && Chance(30)) {
      vector[Draw(vector.size())] = OneOf(
          {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()});
    }
    return vector;
  }

  void MakeRows() {
    const size_t count = OneOf<size_t>({0, 1, 40, 150, 300, 420});
    const bool stable_ids = Chance(3);
    const size_t deleted_of_ten = OneOf<size_t>({0, 0, 2, 9});
    std::vector<Numbers> vectors;
    uint64_t fragment = 0;
    uint64_t offset = 0;
    for (size_t i = 0; i < count; ++i) {
      if (i * fragments_ / count != (i == 0 ? 0 : (i - 1) * fragments_ / count)) {
        fragment += 1 + Draw(2);  // ids may have gaps
        offset = 0;
      }
      vectors.push_back(RandomOrOdd(recipe_.type, vectors));
      NaiveRow row{.address = fragment << 32 | offset, .fragment = fragment};
      row.row_id = stable_ids ? 5000 + (i * 37) % 1009 : row.address;
      row.live = Draw(10) >= deleted_of_ten;
      row.vector = vectors.back();
      case_.right.rows.push_back(std::move(row));
      offset += 1;
    }
  }

  void MakeLeft() {
    const size_t count = OneOf<size_t>({0, 1, 9, 30, 60});
    for (size_t i = 0; i < count; ++i) {
      case_.left.push_back(RandomOrOdd(left_type_, case_.left));
      const NaiveRow* same =
          case_.right.rows.empty() ? nullptr : &case_.right.rows[Draw(case_.right.rows.size())];
      if (same != nullptr && !same->vector.empty() && Chance(10)) case_.left[i] = same->vector;
    }
    const auto vectors = MakeVectors(left_type_, recipe_.dim, case_.left);
    const auto batch = arrow::RecordBatch::Make(
        arrow::schema({arrow::field("q", arrow::int64()), arrow::field("v", vectors->type())}),
        static_cast<int64_t>(count), {join::MakeIds(static_cast<int64_t>(count)), vectors});
    case_.left_table =
        std::make_shared<join::MemoryTable>(batch, "left", OneOf<int64_t>({1, 10, 100}));
  }

  bool CanBeIndexed(const Numbers& vector) const {
    return !vector.empty() && IsFinite(vector) && !(recipe_.metric == "cosine" && IsZero(vector));
  }

  // Covers some fragments by one to three segments; some of a segment's entries belong to none.
  void MakeDataset() {
    std::vector<Numbers> vectors;
    for (const NaiveRow& row : case_.right.rows) vectors.push_back(row.vector);
    const auto dataset = std::make_shared<RandomDataset>(
        case_.right.rows, MakeVectors(recipe_.type, recipe_.dim, vectors));
    case_.dataset = dataset;
    if (Chance(12) || case_.right.rows.empty()) return;
    const size_t segments = OneOf<size_t>({1, 1, 2, 3});
    std::vector<std::vector<uint64_t>> fragments(segments);
    const bool leaves_some = Chance(3);
    for (const dataset::FragmentInfo& fragment : dataset->fragments()) {
      if (leaves_some && Chance(2)) continue;
      fragments[Draw(segments)].push_back(fragment.id);
    }
    std::erase_if(fragments, [](const auto& ids) { return ids.empty(); });
    if (fragments.empty()) return;
    std::vector<std::shared_ptr<format::IndexFiles>> files;
    for (const auto& ids : fragments) {
      std::vector<IndexedRow> rows;
      for (const NaiveRow& row : case_.right.rows) {
        const bool covered = std::count(ids.begin(), ids.end(), row.fragment) > 0;
        if (CanBeIndexed(row.vector) && (covered || Chance(20))) {
          rows.push_back({covered || !Chance(2) ? row.row_id : 999'999 + row.row_id, row.vector});
        }
      }
      files.push_back(std::make_shared<RandomIndexFiles>(recipe_, rows, &random_));
      case_.right.deltas.push_back({std::make_shared<NaiveSegment>(files.back()), ids});
    }
    dataset->AddIndex(recipe_.index_type, recipe_.metric, std::move(files), fragments);
  }

  void ChooseProbes() {
    join::JoinOptions& options = case_.options;
    const size_t way = Draw(5);
    if (way == 0) options.nprobes = OneOf<int64_t>({1, 2, 7, 1000});
    if (way == 1) options.maximum_nprobes = OneOf<int64_t>({2, 5, 40});
    if (way == 2) options.minimum_nprobes = OneOf<int64_t>({1, 2, 25});
    if (way == 3) options.search_effort = OneOf({0.0, 0.2, 0.45, 0.5, 0.8, 1.0});
  }

  void ChooseRange() {
    const bool all = case_.left.empty() || case_.right.rows.empty();
    const Numbers& a = all ? Numbers() : case_.left[Draw(case_.left.size())];
    const Numbers& b = all ? Numbers() : case_.right.rows[Draw(case_.right.rows.size())].vector;
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    float middle = 1;
    if (!a.empty() && !b.empty() && IsFinite(a) && IsFinite(b) && !IsZero(a) && !IsZero(b)) {
      middle = recipe_.metric == "l2"        ? static_cast<float>(SquaredL2(a, b))
               : recipe_.metric == "dot"     ? static_cast<float>(1 - Dot(a, b))
               : recipe_.metric == "hamming" ? static_cast<float>(DifferingBits(a, b))
                                             : static_cast<float>(1 - Dot(Unit(a), Unit(b)));
    }
    switch (Draw(3)) {
      case 0:
        case_.options.distance_range = {-kInfinity, middle};
        break;
      case 1:
        case_.options.distance_range = {middle, kInfinity};
        break;
      default:
        case_.options.distance_range = {middle, middle + std::abs(middle) / 2 + 1};
    }
  }

  void ChooseOptions() {
    join::JoinOptions& options = case_.options;
    options.k = OneOf<int64_t>({1, 2, 5, 10, 10, 60, 500});
    ChooseProbes();
    if (Chance(3)) options.refine_factor = OneOf<int64_t>({1, 2, 5});
    if (Chance(5)) ChooseRange();
    if (Chance(3)) {
      const Filter& filter = Filters()[Draw(Filters().size())];
      options.where = filter.where;
      for (size_t i = 0; i < case_.right.rows.size(); ++i) {
        case_.right.rows[i].passes = filter.passes(i);
      }
    }
    if (!case_.right.deltas.empty()) {
      if (Chance(10)) options.index = join::IndexUse::kNever;
      options.fast_search = options.index != join::IndexUse::kNever && Chance(4);
    }
    options.metric = kernels::ParseMetric(recipe_.metric);
    options.how = Chance(3) ? join::How::kLeft : join::How::kInner;
    options.with_query_index = true;
    options.with_row_id = true;
    options.left_select = std::vector<std::string>{"q"};
    options.right_select = std::vector<std::string>{"id"};
    options.memory_limit_bytes = OneOf<int64_t>({int64_t{1} << 30, int64_t{160} << 20});
    if (!recipe_.kind.has_graph) return;
    const int64_t candidates = options.k * options.refine_factor.value_or(1);
    // A beam as wide as a partition finds all its rows, and so has nothing to decide.
    case_.naive_knows = !Chance(3);
    options.ef = std::max<int64_t>(candidates, case_.naive_knows ? 1000 : 4);
  }

  std::string Describe() const {
    const join::JoinOptions& o = case_.options;
    const auto number = [](const auto& value) {
      return value.has_value() ? base::Concat(*value) : std::string("-");
    };
    return base::Concat(
        recipe_.metric, " ", case_.right.deltas.empty() ? "no index" : recipe_.index_type, " bits ",
        recipe_.bits, ", ", format::ElementTypeName(recipe_.type), " x ", recipe_.dim, ", left ",
        format::ElementTypeName(left_type_), " x ", case_.left.size(), ", ",
        case_.right.rows.size(), " rows in ", fragments_, " fragments, ", case_.right.deltas.size(),
        " segments of ", recipe_.partitions, " partitions; k ", o.k, " nprobes ", number(o.nprobes),
        " minimum ", number(o.minimum_nprobes), " maximum ", number(o.maximum_nprobes), " effort ",
        number(o.search_effort), " refine ", number(o.refine_factor), " ef ", number(o.ef),
        " where \"", o.where, "\" range ",
        o.distance_range.has_value()
            ? base::Concat("[", o.distance_range->first, ", ", o.distance_range->second, ")")
            : "-",
        o.fast_search ? ", fast_search" : "",
        o.index == join::IndexUse::kNever ? ", index never" : "");
  }

  std::mt19937_64 random_;
  RandomCase case_;
  IndexRecipe recipe_;
  size_t fragments_ = 1;
  bool whole_numbers_ = false;
  double offset_ = 0;
  ElementType left_type_ = ElementType::kFloat32;
};

}  // namespace

RandomCase MakeRandomCase(uint64_t seed) { return CaseMaker(seed).Make(); }

}  // namespace kinjo::oracle
