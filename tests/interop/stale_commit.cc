// Commits one change that is made from an older version of a dataset, so that a test can have other
// writers commit in between.
//
//   stale_commit DATASET READ_VERSION OPERATION [FRAGMENT]
//
// Prints "ok VERSION", or "conflict MESSAGE". The dataset has an int64 column `id` and no other
// that may not be null. FRAGMENT is what `delete` takes a row of and what `rewrite` and `index`
// cover.
#include <algorithm>
#include <functional>
#include <iostream>
#include <map>
#include <string>
#include <vector>

#include "arrow/builder.h"
#include "base/error.h"
#include "dataset/commit.h"
#include "dataset/fragment_writer.h"
#include "format/arrow_schema.h"
#include "format/table/deletion_writer.h"
#include "format/table/roaring_bitmap.h"
#include "format/table/uuid.h"
#include "io/file_changes.h"

namespace {

namespace proto = kinjo::format::proto;
using kinjo::dataset::TableVersion;
using kinjo::dataset::Transaction;
using Fragments = std::vector<proto::DataFragmentMessage>;

/// A change as it is made from one version.
struct Maker {
  kinjo::io::Location root;
  TableVersion read;
  uint64_t fragment = 0;

  const Fragments& fragments() const { return read.messages.manifest.fragments; }

  arrow::Result<const proto::DataFragmentMessage*> Chosen() const {
    for (const auto& each : fragments()) {
      if (each.id == fragment) return &each;
    }
    return kinjo::base::NotFound("no fragment ", fragment);
  }

  /// One fragment with a row of one column, the first of `schema`.
  arrow::Result<Fragments> Write(const kinjo::format::Schema& schema, int64_t value,
                                 int64_t rows) const {
    arrow::Int64Builder ids;
    for (int64_t i = 0; i < rows; ++i) ARROW_RETURN_NOT_OK(ids.Append(value));
    ARROW_ASSIGN_OR_RAISE(auto column, ids.Finish());
    ARROW_ASSIGN_OR_RAISE(auto field, kinjo::format::ToArrowField(schema.fields[0]));
    ARROW_ASSIGN_OR_RAISE(
        auto writer, kinjo::dataset::FragmentWriter::Make(root, schema, read.data_format(), {}));
    ARROW_RETURN_NOT_OK(
        writer->Write(*arrow::RecordBatch::Make(arrow::schema({field}), rows, {column})));
    return writer->Finish();
  }

  arrow::Result<Fragments> WriteIds(int64_t value) const {
    kinjo::format::Schema schema;
    schema.fields = {*read.schema().FindPath("id")};
    return Write(schema, value, 1);
  }

  arrow::Result<proto::TransactionMessage::Operation> Append() const {
    ARROW_ASSIGN_OR_RAISE(auto fragments, WriteIds(-1));
    return proto::AppendOperation{fragments};
  }

  arrow::Result<proto::TransactionMessage::Operation> Delete() const {
    ARROW_ASSIGN_OR_RAISE(const auto* chosen, Chosen());
    kinjo::format::DeadRows dead;
    dead.Add(chosen->physical_rows - 1);
    ARROW_ASSIGN_OR_RAISE(const auto encoded,
                          kinjo::format::EncodeDeletions(dead, chosen->physical_rows));
    proto::DataFragmentMessage updated = *chosen;
    updated.deletion_file = {.file_type = static_cast<uint64_t>(encoded.type),
                             .read_version = read.version(),
                             .id = std::hash<std::string>()(kinjo::format::NewUuid()),
                             .num_deleted_rows = 1};
    const auto folder = kinjo::io::Child(root, "_deletions");
    ARROW_RETURN_NOT_OK(kinjo::io::MakeFolder(folder));
    const auto place = kinjo::io::Child(
        folder, kinjo::format::DeletionFileName(chosen->id, *updated.deletion_file));
    ARROW_RETURN_NOT_OK(
        kinjo::io::PutIfAbsent(place, static_cast<std::string_view>(*encoded.bytes)).status());
    return proto::DeleteOperation{{updated}, {}, "a row"};
  }

  arrow::Result<proto::TransactionMessage::Operation> Overwrite() const {
    kinjo::format::Schema schema;
    schema.fields = {*read.schema().FindPath("id")};
    ARROW_ASSIGN_OR_RAISE(auto fragments, Write(schema, -1, 1));
    return proto::OverwriteOperation{.fragments = fragments,
                                     .fields = kinjo::format::Flatten(schema.fields)};
  }

  /// An entry without files: what is tested is whether it is committed.
  arrow::Result<proto::TransactionMessage::Operation> Index() const {
    proto::IndexMetadataMessage index;
    index.uuid = kinjo::format::NewUuid();
    index.fields = {read.schema().FindPath("vec")->id};
    index.name = "ours";
    index.dataset_version = read.version();
    const auto covered = static_cast<uint32_t>(fragment);
    index.fragment_bitmap = kinjo::format::EncodeRoaring({&covered, 1});
    return proto::CreateIndexOperation{{index}, {}};
  }

  arrow::Result<proto::TransactionMessage::Operation> Rewrite() const {
    ARROW_ASSIGN_OR_RAISE(const auto* chosen, Chosen());
    ARROW_ASSIGN_OR_RAISE(auto fragments, WriteIds(-1));
    proto::RewriteOperation operation;
    operation.groups.push_back({{*chosen}, fragments});
    return operation;
  }

  arrow::Result<proto::TransactionMessage::Operation> Merge() const {
    int32_t next_id = 100;
    kinjo::format::Schema added;
    ARROW_ASSIGN_OR_RAISE(
        auto field, kinjo::format::MakeField(*arrow::field("ours", arrow::int64()), -1, &next_id));
    added.fields = {field};
    proto::MergeOperation operation{.fragments = fragments(),
                                    .fields = read.messages.manifest.fields};
    operation.fields.push_back(field);
    for (proto::DataFragmentMessage& each : operation.fragments) {
      ARROW_ASSIGN_OR_RAISE(auto written,
                            Write(added, 7, static_cast<int64_t>(each.physical_rows)));
      each.files.push_back(written[0].files[0]);
    }
    return operation;
  }

  arrow::Result<proto::TransactionMessage::Operation> Project() const {
    auto fields = read.messages.manifest.fields;
    std::erase_if(fields, [](const auto& field) { return field.name == "price"; });
    return proto::ProjectOperation{fields};
  }

  arrow::Result<proto::TransactionMessage::Operation> Restore() const {
    return proto::RestoreOperation{1};
  }

  arrow::Result<proto::TransactionMessage::Operation> Reserve() const {
    return proto::ReserveFragmentsOperation{3};
  }
};

arrow::Status CommitStale(int argc, char** argv) {
  using Make = arrow::Result<proto::TransactionMessage::Operation> (Maker::*)() const;
  const std::map<std::string, Make> operations = {
      {"append", &Maker::Append},   {"delete", &Maker::Delete},   {"overwrite", &Maker::Overwrite},
      {"index", &Maker::Index},     {"rewrite", &Maker::Rewrite}, {"merge", &Maker::Merge},
      {"project", &Maker::Project}, {"restore", &Maker::Restore}, {"reserve", &Maker::Reserve}};
  Maker maker;
  ARROW_ASSIGN_OR_RAISE(maker.root, kinjo::io::ResolveUri(argv[1]));
  const uint64_t version = std::stoull(argv[2]);
  ARROW_ASSIGN_OR_RAISE(maker.read, kinjo::dataset::ReadTableVersion(maker.root, version));
  if (argc > 4) maker.fragment = std::stoull(argv[4]);
  const auto found = operations.find(argv[3]);
  if (found == operations.end()) return kinjo::base::Invalid("no operation ", argv[3]);
  Transaction transaction;
  transaction.read_version = version;
  ARROW_ASSIGN_OR_RAISE(transaction.operation, (maker.*found->second)());
  const auto committed = kinjo::dataset::Commit(maker.root, std::move(transaction));
  if (committed.ok()) {
    std::cout << "ok " << *committed << '\n';
    return arrow::Status::OK();
  }
  if (kinjo::base::CodeOf(committed.status()) != kinjo::base::ErrorCode::kConflict) {
    return committed.status();
  }
  std::cout << "conflict " << kinjo::base::MessageOf(committed.status()) << '\n';
  return arrow::Status::OK();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) {
    std::cerr << "usage: stale_commit DATASET READ_VERSION OPERATION [FRAGMENT]\n";
    return 2;
  }
  const arrow::Status status = CommitStale(argc, argv);
  if (status.ok()) return 0;
  std::cerr << kinjo::base::ErrorCodeName(kinjo::base::CodeOf(status)) << ": "
            << kinjo::base::MessageOf(status) << '\n';
  return 1;
}
