#include "join/write_parts.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "join/even_batches.h"
#include "join/journal.h"
#include "join/run_identity.h"
#include "tabular/part_folder.h"

namespace kinjo::join {

namespace {

constexpr int64_t kDefaultPartRows = 65536;  // a few query blocks

// What the writer of a part may hold of a row group. The same for every memory limit, so that no
// limit shows in a part's bytes, and little beside the smallest that joins run with.
constexpr int64_t kHeldBytes = int64_t{16} << 20;

std::string FormatOf(const PartsOptions& options) {
  return options.sink.format.empty() ? "parquet" : options.sink.format;
}

// The journal's first line if this run began now.
arrow::Result<JournalHeader> MakeHeader(const KnnJoin& join, const PartsOptions& options) {
  JournalHeader header{.part_rows = options.part_rows.value_or(kDefaultPartRows),
                       .format = FormatOf(options)};
  ARROW_ASSIGN_OR_RAISE(header.run, join.Identity());
  header.run.push_back({"format", header.format});
  header.run.push_back({"compression", options.sink.compression});
  header.run.push_back({"row_group_rows", std::to_string(options.sink.row_group_rows)});
  // As a reader finds it: text that isn't UTF-8 can't be written down as it is.
  ARROW_ASSIGN_OR_RAISE(const Journal read, ReadJournal(HeaderLine(header), "header"));
  return *read.header;
}

arrow::Status CheckSameRun(const JournalHeader& was, const JournalHeader& is, bool rows_given,
                           const std::string& folder) {
  std::string differences = Differences(was.run, is.run);
  if (rows_given && was.part_rows != is.part_rows) {
    differences += base::Concat(differences.empty() ? "" : ", ", "part_rows was ", was.part_rows,
                                " and is ", is.part_rows);
  }
  if (differences.empty()) return arrow::Status::OK();
  return base::Invalid("the parts in ", folder, " are of another run: ", differences,
                       "; give what it was begun with, or name another folder");
}

// The recorded parts must be there as they were written. One more may be: its line wasn't written.
arrow::Status CheckFiles(const std::string& folder, const std::vector<tabular::PartFile>& files,
                         const Journal& journal) {
  for (const JournalPart& part : journal.parts) {
    const auto found = std::find_if(files.begin(), files.end(),
                                    [&](const auto& file) { return file.name == part.file; });
    if (found == files.end()) {
      return base::Invalid(folder, " has no ", part.file,
                           " any more, which its journal tells of; put it back, or remove the "
                           "folder and begin again");
    }
    if (found->bytes != part.bytes) {
      return base::Invalid(part.file, " in ", folder, " has ", found->bytes,
                           " bytes, but was written with ", part.bytes,
                           "; put it back, or remove the folder and begin again");
    }
  }
  const auto parts = static_cast<int64_t>(journal.parts.size());
  for (const auto& file : files) {
    const bool recorded = std::any_of(journal.parts.begin(), journal.parts.end(),
                                      [&](const auto& part) { return part.file == file.name; });
    const bool next = journal.header && !journal.left_rows &&
                      file.name == PartName(parts, journal.header->format);
    if (recorded || next) continue;
    return base::Invalid(folder, " holds ", file.name,
                         ", which its journal doesn't tell of; take it away first");
  }
  return arrow::Status::OK();
}

// Fills the folder with the parts that come out of a stream.
class PartWriter {
 public:
  PartWriter(tabular::PartFolder* folder, std::string format, tabular::SinkOptions options,
             std::shared_ptr<arrow::Schema> schema, PartsOutcome* outcome)
      : folder_(*folder),
        format_(std::move(format)),
        options_(std::move(options)),
        schema_(std::move(schema)),
        outcome_(*outcome),
        batches_([this](const arrow::RecordBatch& batch) { return sink_->Write(batch); }) {
    options_.format = format_;
    options_.overwrite = true;
    options_.held_bytes = kHeldBytes;
  }

  arrow::Status Write(const std::shared_ptr<arrow::RecordBatch>& batch) {
    ARROW_RETURN_NOT_OK(OpenPart());
    return batches_.Add(batch);
  }

  /// The part is whole: it is put in its place, then told of.
  arrow::Status Commit() {
    ARROW_RETURN_NOT_OK(OpenPart());
    ARROW_RETURN_NOT_OK(batches_.Flush());
    ARROW_RETURN_NOT_OK(sink_->Finish());
    JournalPart part{.file = PartName(outcome_.parts, format_), .rows = sink_->rows_written()};
    sink_ = nullptr;
    ARROW_ASSIGN_OR_RAISE(part.bytes, folder_.BytesOf(part.file));
    ARROW_RETURN_NOT_OK(folder_.AddLine(PartLine(outcome_.parts, part)));
    ++outcome_.parts;
    outcome_.rows += part.rows;
    return arrow::Status::OK();
  }

 private:
  arrow::Status OpenPart() {
    if (sink_ != nullptr) return arrow::Status::OK();
    if (outcome_.parts >= kPartsMax) {
      return base::Invalid("a folder holds at most ", kPartsMax, " parts, and the parts of ",
                           folder_.path(), " are too small for that; give a larger part_rows");
    }
    ARROW_ASSIGN_OR_RAISE(sink_,
                          folder_.OpenPart(PartName(outcome_.parts, format_), schema_, options_));
    return arrow::Status::OK();
  }

  tabular::PartFolder& folder_;
  const std::string format_;
  tabular::SinkOptions options_;
  const std::shared_ptr<arrow::Schema> schema_;
  PartsOutcome& outcome_;
  std::unique_ptr<tabular::TableSink> sink_;  // of the part at hand; aborts what isn't finished
  EvenBatches batches_;
};

arrow::Status RunMissing(KnnJoin* join, const JournalHeader& header, PartWriter* writer,
                         const base::CancelToken& cancel, base::ProgressCallback progress,
                         PartsOutcome* outcome) {
  const PartCut cut{.part_rows = header.part_rows, .first_row = outcome->parts * header.part_rows};
  ARROW_ASSIGN_OR_RAISE(const auto stream, join->RunParts(cut, cancel, std::move(progress)));
  while (true) {
    ARROW_ASSIGN_OR_RAISE(const auto batch, stream->Next());
    if (batch == nullptr) break;
    if (batch->num_rows() > 0) {
      ARROW_RETURN_NOT_OK(writer->Write(batch));
      continue;
    }
    ARROW_RETURN_NOT_OK(writer->Commit());
    outcome->left_rows = outcome->parts * header.part_rows;
  }
  ARROW_RETURN_NOT_OK(cancel.Check());
  return stream->Close();
}

// What is told of a run that finds all parts there: that every row is done, by earlier runs.
arrow::Status TellFinished(KnnJoin* join, const PartsOutcome& outcome,
                           const base::CancelToken& cancel, base::ProgressCallback progress) {
  if (outcome.left_rows == 0) return arrow::Status::OK();
  const PartCut nothing{.part_rows = outcome.left_rows, .first_row = outcome.left_rows};
  ARROW_ASSIGN_OR_RAISE(const auto stream, join->RunParts(nothing, cancel, std::move(progress)));
  ARROW_ASSIGN_OR_RAISE(const auto batch, stream->Next());
  if (batch != nullptr) {
    return base::Internal("the journal tells of ", outcome.left_rows,
                          " left rows, but there are more");
  }
  return stream->Close();
}

}  // namespace

arrow::Status CheckPartsOptions(const std::string& folder, const PartsOptions& options) {
  if (folder.empty() || folder == "-") {
    return base::Invalid(
        "a run that can be continued needs a folder for its parts, but the output "
        "is ",
        folder.empty() ? "not given" : "standard output");
  }
  const std::string format = FormatOf(options);
  if (format == "table" || format == "lance") {
    return base::Invalid("format is \"", format, "\"; parts must be parquet, arrow, csv or jsonl");
  }
  tabular::SinkOptions sink = options.sink;
  sink.format = format;
  ARROW_RETURN_NOT_OK(tabular::CheckSink(PartName(0, format), sink));
  const int64_t part_rows = options.part_rows.value_or(kDefaultPartRows);
  if (part_rows >= 1 && part_rows <= INT32_MAX) return arrow::Status::OK();
  return base::Invalid("part_rows must be from 1 to ", INT32_MAX, ", but is ", part_rows);
}

arrow::Status WriteParts(KnnJoin* join, const std::string& path, const PartsOptions& options,
                         const base::CancelToken& cancel, base::ProgressCallback progress,
                         PartsOutcome* outcome) {
  *outcome = PartsOutcome{};
  ARROW_RETURN_NOT_OK(CheckPartsOptions(path, options));
  ARROW_ASSIGN_OR_RAISE(JournalHeader header, MakeHeader(*join, options));
  ARROW_ASSIGN_OR_RAISE(const auto folder, tabular::PartFolder::Open(path));
  ARROW_ASSIGN_OR_RAISE(Journal journal, ReadJournal(folder->journal(), folder->journal_path()));
  ARROW_ASSIGN_OR_RAISE(const auto files, folder->List());
  ARROW_RETURN_NOT_OK(CheckFiles(path, files, journal));
  if (files.empty()) {
    // Nothing would be lost: it may begin with other sides and options.
    ARROW_RETURN_NOT_OK(folder->CutJournal(0));
    ARROW_RETURN_NOT_OK(folder->AddLine(HeaderLine(header)));
  } else {
    ARROW_RETURN_NOT_OK(CheckSameRun(*journal.header, header, options.part_rows.has_value(), path));
    ARROW_RETURN_NOT_OK(folder->CutJournal(journal.whole_bytes));
    header.part_rows = journal.header->part_rows;
  }
  ARROW_RETURN_NOT_OK(folder->RemoveLeftovers());
  outcome->parts = outcome->parts_before = static_cast<int64_t>(journal.parts.size());
  outcome->left_rows = journal.left_rows.value_or(outcome->parts * header.part_rows);
  for (const JournalPart& part : journal.parts) outcome->rows += part.rows;
  outcome->finished = journal.left_rows.has_value();
  if (outcome->finished) return TellFinished(join, *outcome, cancel, std::move(progress));
  PartWriter writer(folder.get(), header.format, options.sink, join->output_schema(), outcome);
  ARROW_RETURN_NOT_OK(RunMissing(join, header, &writer, cancel, std::move(progress), outcome));
  const JoinReport report = join->report();
  outcome->left_rows = report.resumed_rows + report.left_rows;
  ARROW_RETURN_NOT_OK(folder->AddLine(EndLine(outcome->parts, outcome->left_rows)));
  outcome->finished = true;
  return arrow::Status::OK();
}

}  // namespace kinjo::join
