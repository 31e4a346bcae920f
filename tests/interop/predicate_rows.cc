// Answers predicates on a table, so that a test in another language can compare the answers with
// those of another engine. Reads one predicate a line; prints one line for each: a letter a row,
// t(rue), f(alse) or n(ull), or the code and the message of the error.
//
//   predicate_rows TABLE.arrow < PREDICATES
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "arrow/array.h"
#include "arrow/compute/initialize.h"
#include "arrow/io/file.h"
#include "arrow/ipc/reader.h"
#include "arrow/record_batch.h"
#include "base/error.h"
#include "predicate/predicate.h"

namespace {

using kinjo::predicate::Predicate;
using Batches = std::vector<std::shared_ptr<arrow::RecordBatch>>;

arrow::Result<Batches> ReadBatches(const std::string& path) {
  ARROW_ASSIGN_OR_RAISE(const auto file, arrow::io::ReadableFile::Open(path));
  ARROW_ASSIGN_OR_RAISE(const auto reader, arrow::ipc::RecordBatchFileReader::Open(file));
  Batches batches;
  for (int i = 0; i < reader->num_record_batches(); ++i) {
    ARROW_ASSIGN_OR_RAISE(auto batch, reader->ReadRecordBatch(i));
    batches.push_back(std::move(batch));
  }
  return batches;
}

arrow::Result<std::string> Answer(const std::string& text, const Batches& batches) {
  ARROW_ASSIGN_OR_RAISE(const auto predicate, Predicate::Parse(text, batches.front()->schema()));
  std::string answer;
  for (const auto& batch : batches) {
    ARROW_ASSIGN_OR_RAISE(const auto values, predicate->Evaluate(*batch));
    ARROW_RETURN_NOT_OK(values->ValidateFull());
    if (values->length() != batch->num_rows())
      return kinjo::base::Internal("rows: ", values->length());
    for (int64_t row = 0; row < values->length(); ++row) {
      const bool known = values->IsValid(row);
      answer.push_back(known ? (values->Value(row) ? 't' : 'f') : 'n');
    }
  }
  return answer;
}

void PrintError(const arrow::Status& status) {
  std::cout << kinjo::base::ErrorCodeName(kinjo::base::CodeOf(status)) << ": "
            << kinjo::base::MessageOf(status) << '\n';
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "predicate_rows TABLE.arrow < PREDICATES\n";
    return 2;
  }
  if (const auto started = arrow::compute::Initialize(); !started.ok()) {
    std::cerr << started.ToString() << '\n';
    return 1;
  }
  const auto batches = ReadBatches(argv[1]);
  if (!batches.ok() || batches->empty()) {
    std::cerr << "no batches: " << batches.status().ToString() << '\n';
    return 1;
  }
  std::string text;
  while (std::getline(std::cin, text)) {
    const auto answer = Answer(text, *batches);
    if (answer.ok()) {
      std::cout << *answer << '\n';
    } else {
      PrintError(answer.status());
    }
  }
  return 0;
}
