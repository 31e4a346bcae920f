#include "dataset/index_build.h"

#include <algorithm>
#include <chrono>
#include <utility>
#include <variant>

#include "base/memory_budget.h"
#include "base/thread_pool.h"
#include "dataset/index_commit.h"
#include "dataset/segment_folder.h"
#include "dataset/vector_source.h"
#include "format/index_file/segment_writer.h"
#include "index/coded_graph_rows.h"
#include "index/element_bounds.h"
#include "index/hnsw_builder.h"
#include "index/model_trainer.h"
#include "index/row_encoder.h"
#include "index/shuffle.h"
#include "io/file_changes.h"
#include "io/scratch_file.h"

namespace kinjo::dataset {

namespace {

using Clock = std::chrono::steady_clock;

double SecondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// What is read at a time.
constexpr int64_t kBatchBytesMax = int64_t{32} << 20;
constexpr int64_t kBatchBytesMin = int64_t{1} << 20;

/// How much of the whole each step is, about: seconds of a build of a million rows.
struct StepShares {
  double train;
  double encode;
  double write;
};
constexpr StepShares kPlainShares = {0.45, 0.45, 0.1};
constexpr StepShares kGraphShares = {0.1, 0.1, 0.8};

/// Tells how far the whole is, a few times a second at most.
class ProgressTeller {
 public:
  ProgressTeller(const base::ProgressCallback& callback, int64_t total_rows)
      : callback_(callback), total_rows_(total_rows) {}

  /// The step that follows is this share of the whole.
  void BeginStep(double share) {
    done_ += share_;
    share_ = share;
    Tell(0, /*always=*/true);
  }
  void Tell(double part, bool always = false) {
    if (!callback_) return;
    const double elapsed = SecondsSince(start_);
    constexpr double kTellEvery = 0.2;
    if (!always && elapsed < told_ + kTellEvery) return;
    told_ = elapsed;
    const double whole = std::min(1.0, done_ + share_ * part);
    base::Progress progress;
    progress.done_rows = static_cast<int64_t>(whole * static_cast<double>(total_rows_));
    progress.total_rows = total_rows_;
    progress.elapsed_s = elapsed;
    if (elapsed > 0) progress.rows_per_s = static_cast<double>(progress.done_rows) / elapsed;
    if (whole > 0.02) progress.remaining_s = elapsed * (1 - whole) / whole;
    callback_(progress);
  }

 private:
  const base::ProgressCallback& callback_;
  const int64_t total_rows_;
  const Clock::time_point start_ = Clock::now();
  double told_ = 0;
  double done_ = 0;
  double share_ = 0;
};

class ScratchSpill final : public index::SpillFile {
 public:
  explicit ScratchSpill(std::unique_ptr<io::ScratchFile> file) : file_(std::move(file)) {}
  arrow::Status Append(const uint8_t* data, int64_t bytes) override {
    return file_->Append(data, bytes);
  }
  arrow::Status Read(int64_t offset, int64_t bytes, uint8_t* out) override {
    return file_->Read(offset, bytes, out);
  }

 private:
  const std::unique_ptr<io::ScratchFile> file_;
};

/// One build, step after step.
class Builder {
 public:
  Builder(const Dataset& dataset, const VectorSource& source, const IndexParams& given,
          const IndexBuildOptions& options)
      : dataset_(dataset),
        source_(source),
        column_(source.column()),
        given_(given),
        pool_(options.threads.has_value() ? static_cast<int>(*options.threads)
                                          : base::DefaultThreadCount()),
        budget_(options.memory_limit_bytes.value_or(base::DefaultMemoryLimitBytes())),
        batch_bytes_(std::clamp(budget_.limit_bytes() / 32, kBatchBytesMin, kBatchBytesMax)),
        teller_(options.progress, std::max<int64_t>(column_.num_rows, 1)) {
    context_.pool = &pool_;
    context_.cancel = options.cancel;
    context_.progress = [this](double part) { teller_.Tell(part); };
  }

  arrow::Result<BuiltSegment> Run();
  arrow::Result<IndexModel> LearnModel();

 private:
  arrow::Status Train();
  arrow::Status ReadSample(int64_t rows, std::vector<uint8_t>* sample) const;
  arrow::Status WidenBoundsToAllRows();
  arrow::Status Encode();
  arrow::Status Write(SegmentFolder* folder, IndexSegment* segment);
  arrow::Status WritePartition(const uint8_t* records, int64_t num_rows,
                               format::SegmentWriter* writer);
  arrow::Result<index::BuiltGraph> BuildGraph(const format::PartitionRows& rows);
  format::SegmentModel ModelOfFiles() const;

  const Dataset& dataset_;
  const VectorSource& source_;
  const IndexedVectors& column_;
  const IndexParams& given_;
  ResolvedParams params_;
  base::ThreadPool pool_;
  base::MemoryBudget budget_;
  const int64_t batch_bytes_;
  ProgressTeller teller_;
  index::BuildContext context_;
  std::unique_ptr<SegmentFolder> folder_;
  index::TrainedModel model_;
  std::unique_ptr<index::RowEncoder> encoder_;
  std::unique_ptr<index::PartitionShuffle> shuffle_;
  base::Reservation shuffle_memory_;
  int64_t written_rows_ = 0;
  int64_t coded_rows_ = 0;
  IndexBuildReport report_;
};

// The sample one vector after another; only such as the index holds.
arrow::Status Builder::ReadSample(int64_t rows, std::vector<uint8_t>* sample) const {
  ARROW_ASSIGN_OR_RAISE(VectorPass pass,
                        source_.ReadSample(rows, params_.training.seed, batch_bytes_));
  const auto row_bytes = static_cast<size_t>(column_.dim * format::ElementBytes(column_.element));
  const size_t bytes_max = static_cast<size_t>(rows) * row_bytes;
  sample->reserve(bytes_max);
  VectorBatch batch;
  std::vector<uint32_t> kept;
  while (sample->size() < bytes_max) {
    ARROW_RETURN_NOT_OK(context_.cancel.Check());
    ARROW_ASSIGN_OR_RAISE(const bool more, pass.Next(&batch));
    if (!more) break;
    index::LeftOutRows left_out;
    index::FindIndexedRows(batch.vectors, params_.training.metric, &kept, &left_out);
    for (const uint32_t i : kept) {
      if (sample->size() == bytes_max) break;
      const uint8_t* row = batch.vectors.row(i);
      sample->insert(sample->end(), row, row + row_bytes);
    }
  }
  return arrow::Status::OK();
}

arrow::Status Builder::Train() {
  const Clock::time_point start = Clock::now();
  const index::TrainingOptions& training = params_.training;
  const int64_t rows = index::TrainingRows(training, column_.num_rows);
  // The sample as it is stored, as numbers, and once more sorted for k-means.
  const int64_t row_bytes =
      column_.dim * (format::ElementBytes(column_.element) + 2 * int64_t{sizeof(float)}) + 32;
  const std::string what = base::Concat(
      "training on ", rows, " vectors (sample_rate = ", params_.training.sample_rate, ")");
  ARROW_ASSIGN_OR_RAISE(const base::Reservation memory,
                        budget_.Reserve(rows * row_bytes + 2 * batch_bytes_, what));
  std::vector<uint8_t> sample;
  if (rows > 0) ARROW_RETURN_NOT_OK(ReadSample(rows, &sample));
  index::ColumnVectors vectors{.type = column_.element, .data = sample.data(), .dim = column_.dim};
  vectors.num_rows =
      static_cast<int64_t>(sample.size()) / (column_.dim * format::ElementBytes(column_.element));
  ARROW_ASSIGN_OR_RAISE(model_, index::TrainModel(vectors, training, context_));
  report_.trained_rows = model_.trained_rows;
  report_.train_s = SecondsSince(start);
  return arrow::Status::OK();
}

// A row beyond the bounds of the sample would be coded as if it lay on them.
arrow::Status Builder::WidenBoundsToAllRows() {
  const bool sampled =
      index::TrainingRows(params_.training, column_.num_rows) < column_.num_rows || column_.lists;
  if (!sampled || params_.kind.quantizer != format::QuantizerKind::kSq) {
    return arrow::Status::OK();
  }
  const Clock::time_point start = Clock::now();
  ARROW_ASSIGN_OR_RAISE(VectorPass pass, source_.ReadAll(batch_bytes_));
  VectorBatch batch;
  index::ElementBounds bounds;
  for (;;) {
    ARROW_RETURN_NOT_OK(context_.cancel.Check());
    ARROW_ASSIGN_OR_RAISE(const bool more, pass.Next(&batch));
    if (!more) break;
    ARROW_RETURN_NOT_OK(
        index::WidenBounds(batch.vectors, params_.training.metric, context_, &bounds));
  }
  model_.quantizer = bounds.ToModel();
  report_.train_s += SecondsSince(start);
  return arrow::Status::OK();
}

arrow::Status Builder::Encode() {
  const Clock::time_point start = Clock::now();
  ARROW_ASSIGN_OR_RAISE(encoder_, index::RowEncoder::Make(model_.ivf, model_.quantizer));
  // Read, the next ones too, as numbers, and as records.
  const int64_t row_bytes = column_.dim * format::ElementBytes(column_.element);
  const int64_t batch_rows = batch_bytes_ / row_bytes + 1;
  ARROW_ASSIGN_OR_RAISE(const base::Reservation batch_memory,
                        budget_.Reserve(batch_bytes_ * 3 + batch_rows * encoder_->record_bytes(),
                                        "reading and coding vectors"));
  // A graph needs memory beside its rows later; else half is for gathering the rows.
  const int64_t all = (column_.num_rows + 1) * encoder_->record_bytes() * 2 + batch_bytes_;
  const int64_t memory = std::min(all, budget_.limit_bytes() / 2);
  ARROW_ASSIGN_OR_RAISE(shuffle_memory_, budget_.Reserve(memory, "gathering rows by partition"));
  shuffle_ = std::make_unique<index::PartitionShuffle>(
      params_.training.num_partitions, encoder_->record_bytes(), memory,
      [this]() -> arrow::Result<std::unique_ptr<index::SpillFile>> {
        ARROW_ASSIGN_OR_RAISE(auto file, io::ScratchFile::Make(folder_->location()));
        return std::make_unique<ScratchSpill>(std::move(file));
      });
  ARROW_ASSIGN_OR_RAISE(VectorPass pass, source_.ReadAll(batch_bytes_));
  VectorBatch batch;
  VectorBatch next;
  index::EncodedRows encoded;
  index::BuildContext quiet = context_;
  quiet.progress = nullptr;
  int64_t seen = 0;
  ARROW_ASSIGN_OR_RAISE(bool more, pass.Next(&batch));
  while (more) {
    ARROW_RETURN_NOT_OK(context_.cancel.Check());
    const auto read_on = [&] { return pass.Next(&next).Value(&more); };
    ARROW_RETURN_NOT_OK(
        encoder_->EncodeBeside(batch.vectors, batch.row_ids, quiet, read_on, &encoded));
    ARROW_RETURN_NOT_OK(shuffle_->Add(encoded));
    report_.left_out += encoded.left_out;
    coded_rows_ += encoded.num_rows();
    seen += batch.vectors.num_rows;
    teller_.Tell(static_cast<double>(seen) /
                 static_cast<double>(std::max<int64_t>(column_.num_rows, seen)));
    std::swap(batch, next);
  }
  report_.encode_s = SecondsSince(start);
  return arrow::Status::OK();
}

format::SegmentModel Builder::ModelOfFiles() const {
  format::SegmentModel model;
  model.kind = params_.kind;
  model.distance_type = std::string(kernels::MetricName(params_.training.metric));
  model.centroids = model_.ivf.centroids;
  model.quantizer = model_.quantizer;
  if (!given_.centroids.has_value()) {
    model.loss = model_.cost * static_cast<double>(model_.trained_rows);
  }
  model.graphs = params_.graphs;
  return model;
}

arrow::Result<index::BuiltGraph> Builder::BuildGraph(const format::PartitionRows& rows) {
  const auto num_rows = static_cast<int64_t>(rows.num_rows);
  const index::HnswParams hnsw{.m = params_.graphs.m,
                               .ef_construction = params_.graphs.ef_construction,
                               .max_level = params_.graphs.max_level,
                               .seed = params_.training.seed};
  const int64_t row_bytes =
      index::CodedGraphRowBytes(column_.element, column_.dim, model_.quantizer);
  ARROW_ASSIGN_OR_RAISE(
      const base::Reservation memory,
      budget_.Reserve(num_rows * row_bytes + index::HnswBuildBytes(num_rows, hnsw, pool_.size()),
                      base::Concat("the graph of a partition of ", num_rows, " rows")));
  const index::CodedGraphRows coded = index::MakeCodedGraphRows(
      rows, column_.element, column_.dim, model_.quantizer, params_.training.metric);
  return index::BuildHnsw(*coded.rows, hnsw, &pool_, context_.cancel, [&](uint32_t done) {
    teller_.Tell(static_cast<double>(written_rows_ + done) /
                 static_cast<double>(std::max<int64_t>(coded_rows_, 1)));
  });
}

arrow::Status Builder::WritePartition(const uint8_t* records, int64_t num_rows,
                                      format::SegmentWriter* writer) {
  const index::StoredPartition stored = encoder_->Store(records, num_rows);
  format::PartitionToWrite partition{
      .num_rows = stored.num_rows, .row_ids = stored.row_ids, .columns = stored.columns};
  index::BuiltGraph built;
  if (params_.kind.has_graph && num_rows > 0) {
    ARROW_ASSIGN_OR_RAISE(built, BuildGraph(index::ToPartitionRows(*encoder_, stored)));
    partition.graph = &built.graph;
    partition.distances = &built.distances;
  }
  ARROW_RETURN_NOT_OK(writer->WritePartition(partition));
  report_.empty_partitions += num_rows == 0;
  report_.largest_partition = std::max(report_.largest_partition, stored.num_rows);
  written_rows_ += num_rows;
  teller_.Tell(static_cast<double>(written_rows_) /
               static_cast<double>(std::max<int64_t>(coded_rows_, 1)));
  return arrow::Status::OK();
}

arrow::Status Builder::Write(SegmentFolder* folder, IndexSegment* segment) {
  const Clock::time_point start = Clock::now();
  ARROW_ASSIGN_OR_RAISE(const auto index_file,
                        io::CreateFile(io::Child(folder->location(), "index.idx")));
  ARROW_ASSIGN_OR_RAISE(const auto auxiliary_file,
                        io::CreateFile(io::Child(folder->location(), "auxiliary.idx")));
  ARROW_ASSIGN_OR_RAISE(const auto writer,
                        format::SegmentWriter::Make(index_file, auxiliary_file, ModelOfFiles()));
  index::BuildContext quiet = context_;
  quiet.progress = nullptr;
  ARROW_RETURN_NOT_OK(
      shuffle_->ForEachPartition(quiet, [&](int64_t, const uint8_t* records, int64_t num_rows) {
        return WritePartition(records, num_rows, writer.get());
      }));
  ARROW_ASSIGN_OR_RAISE(const format::WrittenSegment written, writer->Finish());
  ARROW_RETURN_NOT_OK(index_file->Close());
  ARROW_RETURN_NOT_OK(auxiliary_file->Close());
  segment->num_rows = written.num_rows;
  segment->index_bytes = written.index_bytes;
  segment->auxiliary_bytes = written.auxiliary_bytes;
  report_.write_s = SecondsSince(start);
  return arrow::Status::OK();
}

arrow::Result<BuiltSegment> Builder::Run() {
  ARROW_ASSIGN_OR_RAISE(params_, ResolveIndexParams(given_, column_));
  ARROW_ASSIGN_OR_RAISE(folder_, SegmentFolder::Make(dataset_.uri()));
  const StepShares& shares = params_.kind.has_graph ? kGraphShares : kPlainShares;
  teller_.BeginStep(shares.train);
  ARROW_RETURN_NOT_OK(Train());
  ARROW_RETURN_NOT_OK(WidenBoundsToAllRows());
  teller_.BeginStep(shares.encode);
  ARROW_RETURN_NOT_OK(Encode());
  teller_.BeginStep(shares.write);
  IndexSegment segment;
  ARROW_RETURN_NOT_OK(Write(folder_.get(), &segment));
  teller_.Tell(1, /*always=*/true);
  folder_->Keep();
  segment.uuid = folder_->uuid();
  segment.column = column_.column;
  segment.field_id = source_.field_id();
  segment.dataset_version = dataset_.version();
  segment.fragment_ids = source_.fragment_ids();
  segment.type = format::IndexTypeName(params_.kind);
  segment.metric = std::string(kernels::MetricName(params_.training.metric));
  segment.details = EncodeIndexDetails(params_);
  report_.params = params_;
  report_.peak_memory_bytes = budget_.peak_bytes();
  return BuiltSegment{std::move(segment), std::move(report_)};
}

arrow::Result<IndexModel> Builder::LearnModel() {
  ARROW_ASSIGN_OR_RAISE(params_, ResolveIndexParams(given_, column_));
  teller_.BeginStep(1);
  ARROW_RETURN_NOT_OK(Train());
  teller_.Tell(1, /*always=*/true);
  IndexModel learnt{.centroids = model_.ivf.centroids, .codebook = std::nullopt};
  const auto* product = std::get_if<format::PqCodebook>(&model_.quantizer);
  if (product != nullptr) learnt.codebook = product->codebook;
  return learnt;
}

}  // namespace

arrow::Result<IndexModel> TrainIndexModel(const std::shared_ptr<Dataset>& dataset,
                                          const std::string& column, const IndexParams& params,
                                          const IndexBuildOptions& options) {
  ARROW_ASSIGN_OR_RAISE(const VectorSource source,
                        VectorSource::Make(dataset, column, std::nullopt));
  return Builder(*dataset, source, params, options).LearnModel();
}

arrow::Result<BuiltSegment> BuildSegment(const std::shared_ptr<Dataset>& dataset,
                                         const std::string& column,
                                         std::optional<std::vector<uint64_t>> fragment_ids,
                                         const IndexParams& params,
                                         const IndexBuildOptions& options) {
  ARROW_ASSIGN_OR_RAISE(const VectorSource source,
                        VectorSource::Make(dataset, column, std::move(fragment_ids)));
  return Builder(*dataset, source, params, options).Run();
}

arrow::Result<uint64_t> CommitBuilt(const std::string& uri, const std::string& name,
                                    const IndexSegment& segment, Existing existing,
                                    std::vector<std::string> replaced,
                                    const base::CancelToken& cancel) {
  ARROW_ASSIGN_OR_RAISE(const io::Location root, io::ResolveUri(uri));
  UncommittedFiles files(root);
  files.AddSegment(segment.uuid);
  return CommitSegments(
      uri,
      {.name = name, .segments = {segment}, .existing = existing, .replaced = std::move(replaced)},
      cancel, &files);
}

arrow::Result<CreatedIndex> CreateIndex(const std::shared_ptr<Dataset>& dataset,
                                        const std::string& column, const std::string& name,
                                        bool replace, const IndexParams& params,
                                        const IndexBuildOptions& options) {
  CreatedIndex created;
  created.name = name.empty() ? DefaultIndexName(column) : name;
  const Existing existing = replace ? Existing::kReplace : Existing::kRefuse;
  // Before the work: a name that is taken, or can't be one.
  ARROW_RETURN_NOT_OK(CheckIndexName(dataset->uri(), created.name, existing));
  ARROW_ASSIGN_OR_RAISE(created.built,
                        BuildSegment(dataset, column, std::nullopt, params, options));
  ARROW_ASSIGN_OR_RAISE(created.version,
                        CommitBuilt(dataset->uri(), created.name, created.built.segment, existing,
                                    {}, options.cancel));
  return created;
}

}  // namespace kinjo::dataset
