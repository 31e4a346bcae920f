// What an S3 bucket can be asked: reads of ranges, listings, whole and conditional writes, uploads
// in parts. Signed, tried again, and checked; paths, folders and streams are for those above.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "io/aws_credentials.h"
#include "io/http_client.h"
#include "io/random_reader.h"
#include "io/storage_options.h"

namespace kinjo::io {

/// One object of a bucket.
struct S3Object {
  std::string key;
  uint64_t size_bytes = 0;
  int64_t modified_s = 0;  ///< since the epoch
  std::string etag;        ///< changes with the bytes
};

/// What lies below a prefix: objects, and with a delimiter the folders (keys up to and with it).
struct S3Listing {
  std::vector<S3Object> objects;
  std::vector<std::string> folders;
};

/// A range of an object and where its bytes go.
struct S3Read {
  ByteRange range;
  uint8_t* out = nullptr;
};

/// How a conditional write ended.
enum class PutResult : uint8_t {
  kPut,     ///< these bytes are there now
  kTaken,   ///< others are, or were there before
  kInDoubt  ///< the store may have taken them: it didn't say, nor could it be asked
};

/// One bucket. Thread-safe. Errors name the object as s3://bucket/key and say what the store
/// answered; `cancelled` (see CancelScope) ends waits.
class S3Client {
 public:
  /// `uri` of the bucket or below: what its storage options are looked up by.
  static arrow::Result<std::shared_ptr<S3Client>> Make(std::string bucket, const std::string& uri,
                                                       S3Settings settings);

  /// Nothing when there is no such object.
  arrow::Result<std::optional<S3Object>> Head(const std::string& key);

  /// Fills all `reads` of an object, several at a time; `corrupt` when the object is no longer the
  /// one of `etag` (if that is known) or is shorter. `requests` counts what was sent, each try.
  arrow::Status Read(const S3Object& object, std::span<const S3Read> reads,
                     std::atomic<uint64_t>* requests);

  /// At most about `most` entries, all unless told.
  arrow::Result<S3Listing> List(const std::string& prefix, bool by_folder,
                                std::optional<int> most = std::nullopt);

  arrow::Status Put(const std::string& key, std::string_view bytes);
  /// An error means that nothing was put.
  arrow::Result<PutResult> PutIfAbsent(const std::string& key, std::string_view bytes);
  /// An object that isn't there is fine.
  arrow::Status Delete(const std::string& key);

  /// Uploads in parts: nothing is seen of one before it is completed.
  arrow::Result<std::string> BeginUpload(const std::string& key);
  /// Sends parts `first`, `first + 1`, ... (from 1) at the same time; gives their etags.
  arrow::Result<std::vector<std::string>> PutParts(const std::string& key,
                                                   const std::string& upload, int first,
                                                   std::span<const std::string_view> parts);
  arrow::Status CompleteUpload(const std::string& key, const std::string& upload,
                               const std::vector<std::string>& etags, uint64_t size_bytes);
  /// Best effort.
  void AbortUpload(const std::string& key, const std::string& upload);

  const std::string& bucket() const { return bucket_; }

 private:
  /// What is asked, before it is signed.
  struct Ask {
    std::string method;
    std::string key;
    NamedTexts query;
    NamedTexts headers;
    std::string_view body;
    std::span<uint8_t> into;
    ByteRange range;  ///< that the answer must be, with `into`
  };
  /// The last answer to it.
  struct Answered {
    HttpAnswer answer;
    int tries = 0;
    double seconds = 0;
    bool in_doubt = false;   ///< a try before the last, or it, may have been acted on unseen
    std::string signed_for;  ///< the region that the last try was signed for
  };

  S3Client(std::string bucket, const std::string& uri, S3Settings settings,
           std::unique_ptr<HttpClient> http);

  arrow::Result<std::vector<Answered>> Send(std::span<const Ask> asks,
                                            std::atomic<uint64_t>* requests = nullptr);
  arrow::Result<Answered> Send(Ask ask);
  /// Signs and sends the asks that are still open; gives their answers, in that order.
  arrow::Result<std::vector<HttpAnswer>> SendRound(std::span<const Ask> asks,
                                                   const std::vector<size_t>& open,
                                                   std::vector<AwsKeys>* keys,
                                                   std::vector<Answered>* answered);
  arrow::Result<HttpRequest> Sign(const Ask& ask, AwsKeys* keys, std::string* signed_for);
  /// True when another try may end better: after a wait, or at once with what was learnt.
  bool MayRetry(const Ask& ask, const Answered& answered, const AwsKeys& keys, bool* at_once);
  std::string region();
  bool Learn(const HttpAnswer& answer, const std::string& signed_for);
  std::string UriOf(const std::string& key) const;
  /// Why a good answer didn't come.
  arrow::Status Failed(const char* doing, const Ask& ask, const Answered& answered) const;
  void AddEncryption(NamedTexts* headers) const;
  /// Whether an object has these very bytes; nothing when there is none.
  arrow::Result<std::optional<bool>> Holds(const std::string& key, std::string_view bytes);

  const std::string bucket_;
  const S3Settings settings_;
  const std::unique_ptr<HttpClient> http_;
  AwsCredentials credentials_;
  std::mutex mutex_;
  std::string region_;  ///< the bucket's may be learnt from an answer
};

}  // namespace kinjo::io
