// Objects of a bucket as files: one that is read anywhere, and one that is written from its begin
// to its end and is there when it is closed.
#pragma once

#include <memory>

#include "arrow/io/interfaces.h"
#include "io/random_reader.h"
#include "io/s3_client.h"

namespace kinjo::io {

/// Reads go to the store as ranges of a few MiB, several at a time. `object.etag` may be empty:
/// then nobody notices that the object was replaced by one as long.
std::shared_ptr<RandomReader> MakeS3Reader(std::shared_ptr<S3Client> client, S3Object object,
                                           std::shared_ptr<IoCounters> counters);

/// The same for Arrow's readers of files. Thread-safe but for what has a position.
std::shared_ptr<arrow::io::RandomAccessFile> MakeS3Input(std::shared_ptr<RandomReader> reader);

/// Small objects go out in one request at Close(), larger ones in parts as they come; until Close()
/// returned success nobody sees anything. Abort(), or dropping it before, takes the parts back.
/// Keeps some 32 MiB (more of objects above 10 GiB). One thread.
std::shared_ptr<arrow::io::OutputStream> MakeS3Output(std::shared_ptr<S3Client> client,
                                                      std::string key);

}  // namespace kinjo::io
