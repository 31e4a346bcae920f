// A bucket behind the face that local file systems have too, so that whoever lists and opens files
// needn't know where they lie. Folders are what names have before a slash.
#pragma once

#include <memory>
#include <string>

#include "arrow/filesystem/filesystem.h"
#include "io/random_reader.h"
#include "io/s3_client.h"

namespace kinjo::io {

/// Paths are bucket/key. Thread-safe. Errors are those of base/error.h and name s3://bucket/key.
class S3FileSystem final : public arrow::fs::FileSystem {
 public:
  explicit S3FileSystem(std::shared_ptr<S3Client> client) : client_(std::move(client)) {}

  /// The file system of an address s3://bucket/..., by its storage options and the environment. One
  /// for all addresses that are asked alike, so that they share connections and keys.
  static arrow::Result<std::shared_ptr<S3FileSystem>> ForUri(const std::string& uri);

  const std::shared_ptr<S3Client>& client() const { return client_; }
  /// The key of a path of this file system.
  std::string KeyOf(const std::string& path) const;

  /// Opens an object for ranged reads; `known_size` 0: asks for it.
  arrow::Result<std::shared_ptr<RandomReader>> OpenReader(const std::string& path,
                                                          uint64_t known_size,
                                                          std::shared_ptr<IoCounters> counters);

  std::string type_name() const override { return "s3"; }
  bool Equals(const arrow::fs::FileSystem& other) const override { return this == &other; }
  using arrow::fs::FileSystem::Equals;

  arrow::Result<arrow::fs::FileInfo> GetFileInfo(const std::string& path) override;
  arrow::Result<arrow::fs::FileInfoVector> GetFileInfo(
      const arrow::fs::FileSelector& selector) override;
  using arrow::fs::FileSystem::GetFileInfo;

  arrow::Result<std::shared_ptr<arrow::io::InputStream>> OpenInputStream(
      const std::string& path) override;
  using arrow::fs::FileSystem::OpenInputStream;
  arrow::Result<std::shared_ptr<arrow::io::RandomAccessFile>> OpenInputFile(
      const std::string& path) override;
  using arrow::fs::FileSystem::OpenInputFile;
  arrow::Result<std::shared_ptr<arrow::io::OutputStream>> OpenOutputStream(
      const std::string& path,
      const std::shared_ptr<const arrow::KeyValueMetadata>& metadata) override;
  using arrow::fs::FileSystem::OpenOutputStream;

  /// Folders need no making.
  arrow::Status CreateDir(const std::string& path, bool recursive) override;
  using arrow::fs::FileSystem::CreateDir;
  arrow::Status DeleteFile(const std::string& path) override;

  // Nobody here needs the rest: `not_supported`.
  arrow::Status DeleteDir(const std::string& path) override;
  arrow::Status DeleteDirContents(const std::string& path, bool missing_dir_ok) override;
  using arrow::fs::FileSystem::DeleteDirContents;
  arrow::Status DeleteRootDirContents() override;
  arrow::Status Move(const std::string& from, const std::string& to) override;
  arrow::Status CopyFile(const std::string& from, const std::string& to) override;
  arrow::Result<std::shared_ptr<arrow::io::OutputStream>> OpenAppendStream(
      const std::string& path,
      const std::shared_ptr<const arrow::KeyValueMetadata>& metadata) override;
  using arrow::fs::FileSystem::OpenAppendStream;

 private:
  const std::shared_ptr<S3Client> client_;
};

}  // namespace kinjo::io
