#include "io/s3_client.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstring>
#include <utility>

#include "base/cancel_scope.h"
#include "io/retry.h"
#include "io/sha256.h"
#include "io/xml_text.h"

namespace kinjo::io {
namespace {

constexpr int kMostKeysAPage = 1000;

int64_t NowSeconds() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::seconds>(now).count();
}

std::optional<uint64_t> NumberOf(std::string_view text) {
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::string WithoutQuotes(std::string_view etag) {
  std::string text(etag);
  std::erase(text, '"');
  return text;
}

/// The store's own word for what is wrong, such as NoSuchKey.
std::string CodeOfAnswer(const HttpAnswer& answer) {
  return XmlText(answer.body, "Code").value_or("");
}

/// Answers after which the same request may do better.
bool IsPassing(const HttpAnswer& answer) {
  if (!answer.is_whole()) return true;
  switch (answer.status) {
    case 408:
    case 429:
    case 500:
    case 502:
    case 503:
    case 504:
      return true;
    default: {
      const std::string code = CodeOfAnswer(answer);
      return code == "RequestTimeout" || code == "SlowDown" || code == "InternalError";
    }
  }
}

/// Whether a write may have been done although this answer isn't a yes. 501: a store that doesn't
/// know what is asked of it says so before it does anything.
bool MayHaveActed(const HttpAnswer& answer) {
  if (!answer.is_whole()) return answer.was_sent;
  return answer.status >= 500 && answer.status != 501;
}

bool MayBeExpired(const HttpAnswer& answer, bool is_head) {
  if (answer.status != 400 && answer.status != 401 && answer.status != 403) return false;
  if (is_head) return true;  // its answer has no words
  const std::string code = CodeOfAnswer(answer);
  return code == "ExpiredToken" || code == "TokenRefreshRequired" || code == "RequestExpired" ||
         code == "InvalidToken" || code == "ExpiredTokenException";
}

/// A completed upload may be answered by 200 and an error in its body.
bool SaysError(const HttpAnswer& answer) {
  return answer.is_good() && !XmlElements(answer.body, "Error").empty();
}

std::string RangeText(const ByteRange& range) {
  return base::Concat("bytes=", range.offset, "-", range.offset + range.length - 1);
}

/// Whether a read's answer is what was asked for: a proxy may send a whole object, or cut one.
bool IsAnswerTo(const ByteRange& range, const HttpAnswer& answer) {
  if (answer.into_bytes != range.length) return false;
  if (answer.status == 206) {
    const std::string begin =
        base::Concat("bytes ", range.offset, "-", range.offset + range.length - 1);
    return answer.Header("content-range").starts_with(begin + "/");
  }
  return answer.status == 200 && range.offset == 0;
}

void AddToListing(std::string_view xml, S3Listing* listing) {
  for (const std::string_view each : XmlElements(xml, "Contents")) {
    listing->objects.push_back(
        {.key = XmlText(each, "Key").value_or(""),
         .size_bytes = NumberOf(XmlText(each, "Size").value_or("")).value_or(0),
         .modified_s = SecondsOfIsoTime(XmlText(each, "LastModified").value_or("")).value_or(0),
         .etag = WithoutQuotes(XmlText(each, "ETag").value_or(""))});
  }
  for (const std::string_view each : XmlElements(xml, "CommonPrefixes")) {
    listing->folders.push_back(XmlText(each, "Prefix").value_or(""));
  }
}

}  // namespace

arrow::Result<std::shared_ptr<S3Client>> S3Client::Make(std::string bucket, const std::string& uri,
                                                        S3Settings settings) {
  ARROW_ASSIGN_OR_RAISE(auto http, HttpClient::Make(settings.limits));
  return std::shared_ptr<S3Client>(
      new S3Client(std::move(bucket), uri, std::move(settings), std::move(http)));
}

S3Client::S3Client(std::string bucket, const std::string& uri, S3Settings settings,
                   std::unique_ptr<HttpClient> http)
    : bucket_(std::move(bucket)),
      settings_(std::move(settings)),
      http_(std::move(http)),
      credentials_(uri, settings_.region),
      region_(settings_.region) {}

std::string S3Client::UriOf(const std::string& key) const {
  return base::Concat("s3://", bucket_, "/", key);
}

std::string S3Client::region() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return region_;
}

/// The store may say that the bucket is in another region than was thought.
bool S3Client::Learn(const HttpAnswer& answer, const std::string& signed_for) {
  const std::string_view told = answer.Header("x-amz-bucket-region");
  if (told.empty() || answer.status < 300) return false;
  const std::lock_guard<std::mutex> lock(mutex_);
  if (told == signed_for) return false;
  region_ = told;
  return true;
}

arrow::Result<HttpRequest> S3Client::Sign(const Ask& ask, AwsKeys* keys, std::string* signed_for) {
  const std::string region = this->region();
  *signed_for = region;
  std::string address = settings_.endpoint;
  if (address.empty()) address = base::Concat("https://s3.", region, ".amazonaws.com");
  const size_t host_at = address.find("://") + 3;
  std::string host = address.substr(host_at, address.find('/', host_at) - host_at);
  std::string path = address.substr(host_at + host.size());
  const std::string scheme = address.substr(0, host_at);
  if (settings_.virtual_hosted_style) {
    host = base::Concat(bucket_, ".", host);
  } else {
    path += "/" + UriEncode(bucket_, false);
  }
  path += "/" + UriEncode(ask.key, true);
  HttpRequest request{.method = ask.method,
                      .url = base::Concat(scheme, host, path),
                      .headers = ask.headers,
                      .body = ask.body,
                      .into = ask.into};
  if (!ask.query.empty()) request.url += "?" + QueryText(ask.query);
  if (settings_.request_payer) request.headers.emplace_back("x-amz-request-payer", "requester");
  if (settings_.skip_signature) return request;
  ARROW_ASSIGN_OR_RAISE(*keys, credentials_.Get());
  request.headers = SignRequest({.method = ask.method,
                                 .host = host,
                                 .path = std::move(path),
                                 .query = ask.query,
                                 .headers = std::move(request.headers),
                                 .payload_sha256 = HexOf(Sha256(ask.body))},
                                *keys, region, "s3", NowSeconds());
  // libcurl would leave a default port out, and what is sent must be what was signed.
  request.headers.emplace_back("host", std::move(host));
  return request;
}

bool S3Client::MayRetry(const Ask& ask, const Answered& answered, const AwsKeys& keys,
                        bool* at_once) {
  const HttpAnswer& answer = answered.answer;
  if (IsPassing(answer) || SaysError(answer)) return true;
  // 409: somebody else writes the same object right now.
  if (answer.status == 409 && ask.method == "PUT") return true;
  if (Learn(answer, answered.signed_for)) return *at_once = true;
  if (!settings_.skip_signature && MayBeExpired(answer, ask.method == "HEAD") &&
      credentials_.Renew(keys)) {
    return *at_once = true;
  }
  // A read whose answer isn't what was asked for.
  return answer.is_good() && !ask.into.empty() && !IsAnswerTo(ask.range, answer);
}

arrow::Result<std::vector<HttpAnswer>> S3Client::SendRound(std::span<const Ask> asks,
                                                           const std::vector<size_t>& open,
                                                           std::vector<AwsKeys>* keys,
                                                           std::vector<Answered>* answered) {
  std::vector<HttpRequest> round;
  for (const size_t i : open) {
    ARROW_ASSIGN_OR_RAISE(HttpRequest request,
                          Sign(asks[i], &(*keys)[i], &(*answered)[i].signed_for));
    round.push_back(std::move(request));
  }
  return http_->Send(round);
}

arrow::Result<std::vector<S3Client::Answered>> S3Client::Send(std::span<const Ask> asks,
                                                              std::atomic<uint64_t>* requests) {
  std::vector<Answered> answered(asks.size());
  std::vector<AwsKeys> keys(asks.size());
  std::vector<size_t> open(asks.size());
  for (size_t i = 0; i < open.size(); ++i) open[i] = i;
  Retry retry(settings_.retries);
  while (true) {
    arrow::Result<std::vector<HttpAnswer>> sent = SendRound(asks, open, &keys, &answered);
    // What an earlier try may have done isn't forgotten because no further one can be made.
    const bool in_doubt = std::any_of(answered.begin(), answered.end(),
                                      [](const Answered& each) { return each.in_doubt; });
    if (!sent.ok() && in_doubt && base::CancelScope::Check().ok()) return answered;
    ARROW_ASSIGN_OR_RAISE(std::vector<HttpAnswer> answers, std::move(sent));
    if (requests != nullptr) requests->fetch_add(open.size(), std::memory_order_relaxed);
    std::vector<size_t> again;
    bool all_at_once = true;
    for (size_t i = 0; i < open.size(); ++i) {
      Answered& to = answered[open[i]];
      to.answer = std::move(answers[i]);
      to.tries = retry.tries();
      to.seconds = retry.seconds();
      bool at_once = false;
      to.in_doubt |= MayHaveActed(to.answer);
      if (!MayRetry(asks[open[i]], to, keys[open[i]], &at_once)) continue;
      all_at_once &= at_once;
      again.push_back(open[i]);
    }
    open = std::move(again);
    if (open.empty()) return answered;
    // What is known better now isn't waited for, but counts as a try, so that this ends.
    ARROW_ASSIGN_OR_RAISE(const bool more, retry.Wait(/*at_once=*/all_at_once));
    if (!more) return answered;
  }
}

arrow::Result<S3Client::Answered> S3Client::Send(Ask ask) {
  ARROW_ASSIGN_OR_RAISE(std::vector<Answered> answered, Send(std::span(&ask, 1)));
  return std::move(answered.front());
}

arrow::Status S3Client::Failed(const char* doing, const Ask& ask, const Answered& answered) const {
  const HttpAnswer& answer = answered.answer;
  std::string why = answer.failure;
  if (answer.is_whole()) {
    why = base::Concat("the store answered ", answer.status);
    const std::string code = CodeOfAnswer(answer);
    const std::string message = XmlText(answer.body, "Message").value_or("");
    if (!code.empty()) why += " " + code;
    if (!message.empty()) why += " (" + message + ")";
    if (answer.status == 403 || answer.status == 401) {
      why += settings_.skip_signature
                 ? "; aws_skip_signature is true, so no key was sent"
                 : "; see that the key is right, hasn't expired, and may do this";
    }
  } else if (answer.status != 0) {
    why = base::Concat("the answer wasn't whole: ", answer.failure);
  }
  if (answered.tries > 1) {
    const auto tenths = static_cast<int64_t>(answered.seconds * 10);
    why +=
        base::Concat("; tried ", answered.tries, " times in ", tenths / 10, ".", tenths % 10, " s");
  }
  const bool missing = answer.is_whole() && answer.status == 404;
  return base::MakeError(missing ? base::ErrorCode::kNotFound : base::ErrorCode::kIo,
                         base::Concat("can't ", doing, " ", UriOf(ask.key), ": ", why),
                         UriOf(ask.key));
}

void S3Client::AddEncryption(NamedTexts* headers) const {
  if (!settings_.server_side_encryption.empty()) {
    headers->emplace_back("x-amz-server-side-encryption", settings_.server_side_encryption);
  }
  if (!settings_.kms_key_id.empty()) {
    headers->emplace_back("x-amz-server-side-encryption-aws-kms-key-id", settings_.kms_key_id);
  }
}

arrow::Result<std::optional<S3Object>> S3Client::Head(const std::string& key) {
  const Ask ask{.method = "HEAD", .key = key};
  ARROW_ASSIGN_OR_RAISE(const Answered answered, Send(ask));
  const HttpAnswer& answer = answered.answer;
  if (answer.is_whole() && answer.status == 404) return std::optional<S3Object>();
  if (!answer.is_good()) return Failed("look at", ask, answered);
  const auto size = NumberOf(answer.Header("content-length"));
  if (!size.has_value()) {
    return base::Io("can't look at ", UriOf(key), ": the store doesn't tell its size");
  }
  return std::optional(
      S3Object{.key = key,
               .size_bytes = *size,
               .modified_s = SecondsOfHttpTime(answer.Header("last-modified")).value_or(0),
               .etag = WithoutQuotes(answer.Header("etag"))});
}

arrow::Status S3Client::Read(const S3Object& object, std::span<const S3Read> reads,
                             std::atomic<uint64_t>* requests) {
  std::vector<Ask> asks;
  for (const S3Read& read : reads) {
    NamedTexts headers = {{"range", RangeText(read.range)}};
    if (!object.etag.empty()) headers.emplace_back("if-match", "\"" + object.etag + "\"");
    asks.push_back({.method = "GET",
                    .key = object.key,
                    .headers = std::move(headers),
                    .into = {read.out, static_cast<size_t>(read.range.length)},
                    .range = read.range});
  }
  ARROW_ASSIGN_OR_RAISE(const std::vector<Answered> answered, Send(asks, requests));
  for (size_t i = 0; i < reads.size(); ++i) {
    const HttpAnswer& answer = answered[i].answer;
    if (answer.is_good() && IsAnswerTo(reads[i].range, answer)) continue;
    if (answer.is_whole() && answer.status == 412) {
      return base::Corrupt(UriOf(object.key), reads[i].range.offset,
                           "the object was replaced since it was opened");
    }
    if (answer.is_whole() && answer.status == 416) {
      return base::Corrupt(UriOf(object.key), reads[i].range.offset, "the object ended while ",
                           reads[i].range.length, " bytes were read; it had ", object.size_bytes,
                           " bytes when it was opened");
    }
    if (!answer.is_good()) return Failed("read", asks[i], answered[i]);
    return base::MakeError(
        base::ErrorCode::kIo,
        base::Concat("can't read ", UriOf(object.key), ": asked for ", RangeText(reads[i].range),
                     ", the store answered ", answer.status, " with '",
                     answer.Header("content-range"), "' and ", answer.into_bytes, " bytes"),
        UriOf(object.key), reads[i].range.offset);
  }
  return arrow::Status::OK();
}

arrow::Result<S3Listing> S3Client::List(const std::string& prefix, bool by_folder,
                                        std::optional<int> most) {
  S3Listing listing;
  std::string next;
  do {
    Ask ask{.method = "GET",
            .query = {{"list-type", "2"},
                      {"prefix", prefix},
                      {"max-keys", std::to_string(most.value_or(kMostKeysAPage))}}};
    if (by_folder) ask.query.emplace_back("delimiter", "/");
    if (!next.empty()) ask.query.emplace_back("continuation-token", next);
    ARROW_ASSIGN_OR_RAISE(const Answered answered, Send(ask));
    if (!answered.answer.is_good()) {
      ask.key = prefix;
      return Failed("list", ask, answered);
    }
    const std::string& xml = answered.answer.body;
    if (XmlElements(xml, "ListBucketResult").empty()) {
      return base::Io("can't list ", UriOf(prefix), ": the store's answer isn't a listing");
    }
    AddToListing(xml, &listing);
    const bool is_cut = XmlText(xml, "IsTruncated") == "true";
    next = is_cut ? XmlText(xml, "NextContinuationToken").value_or("") : "";
    if (is_cut && next.empty() && !most.has_value()) {
      return base::Io("can't list ", UriOf(prefix),
                      ": the store's answer is cut and doesn't say how to go on");
    }
  } while (!next.empty() && !most.has_value());
  for (const S3Object& object : listing.objects) {
    if (object.key.empty() || !object.key.starts_with(prefix)) {
      return base::Io("can't list ", UriOf(prefix), ": the store named '", object.key, "'");
    }
  }
  return listing;
}

arrow::Status S3Client::Put(const std::string& key, std::string_view bytes) {
  Ask ask{.method = "PUT", .key = key, .body = bytes};
  AddEncryption(&ask.headers);
  ARROW_ASSIGN_OR_RAISE(const Answered answered, Send(ask));
  return answered.answer.is_good() ? arrow::Status::OK() : Failed("write", ask, answered);
}

arrow::Result<std::optional<bool>> S3Client::Holds(const std::string& key, std::string_view bytes) {
  ARROW_ASSIGN_OR_RAISE(const std::optional<S3Object> there, Head(key));
  if (!there.has_value()) return std::optional<bool>();
  if (there->size_bytes != bytes.size()) return std::optional(false);
  if (bytes.empty()) return std::optional(true);
  std::string read(bytes.size(), '\0');
  const S3Read whole{{0, bytes.size()}, reinterpret_cast<uint8_t*>(read.data())};
  ARROW_RETURN_NOT_OK(Read(*there, std::span(&whole, 1), nullptr));
  return std::optional(read == bytes);
}

arrow::Result<PutResult> S3Client::PutIfAbsent(const std::string& key, std::string_view bytes) {
  // Not to be stopped in between: who stops a commit wants to know whether there was one.
  const base::CancelToken never;
  const base::CancelScope not_cancelled(never);
  Ask ask{.method = "PUT", .key = key, .headers = {{"if-none-match", "*"}}, .body = bytes};
  AddEncryption(&ask.headers);
  ARROW_ASSIGN_OR_RAISE(const Answered answered, Send(ask));
  const HttpAnswer& answer = answered.answer;
  if (answer.is_good()) return PutResult::kPut;
  const bool is_taken = answer.is_whole() && (answer.status == 412 || answer.status == 409);
  if (!is_taken && !answered.in_doubt) return Failed("write", ask, answered);
  // A try before may have done it, and its answer was lost; also one that libcurl made of its own
  // accord when a kept connection broke. What is there now tells whose it is.
  const arrow::Result<std::optional<bool>> holds = Holds(key, bytes);
  if (!holds.ok()) return PutResult::kInDoubt;
  if (holds->has_value()) return **holds ? PutResult::kPut : PutResult::kTaken;
  // Nothing yet; a request that is still on its way could put it.
  return PutResult::kInDoubt;
}

arrow::Status S3Client::Delete(const std::string& key) {
  // What was cancelled is cleaned up too.
  const base::CancelToken never;
  const base::CancelScope not_cancelled(never);
  const Ask ask{.method = "DELETE", .key = key};
  ARROW_ASSIGN_OR_RAISE(const Answered answered, Send(ask));
  if (answered.answer.is_good() || answered.answer.status == 404) return arrow::Status::OK();
  return Failed("remove", ask, answered);
}

arrow::Result<std::string> S3Client::BeginUpload(const std::string& key) {
  Ask ask{.method = "POST", .key = key, .query = {{"uploads", ""}}};
  AddEncryption(&ask.headers);
  ARROW_ASSIGN_OR_RAISE(const Answered answered, Send(ask));
  if (!answered.answer.is_good()) return Failed("write", ask, answered);
  std::optional<std::string> upload = XmlText(answered.answer.body, "UploadId");
  if (!upload.has_value() || upload->empty()) {
    return base::Io("can't write ", UriOf(key), ": the store gave the upload no name");
  }
  return *std::move(upload);
}

arrow::Result<std::vector<std::string>> S3Client::PutParts(
    const std::string& key, const std::string& upload, int first,
    std::span<const std::string_view> parts) {
  std::vector<Ask> asks;
  for (size_t i = 0; i < parts.size(); ++i) {
    const int number = first + static_cast<int>(i);
    asks.push_back({.method = "PUT",
                    .key = key,
                    .query = {{"partNumber", std::to_string(number)}, {"uploadId", upload}},
                    .body = parts[i]});
  }
  ARROW_ASSIGN_OR_RAISE(const std::vector<Answered> answered, Send(asks));
  std::vector<std::string> etags;
  for (size_t i = 0; i < parts.size(); ++i) {
    if (!answered[i].answer.is_good()) return Failed("write", asks[i], answered[i]);
    etags.push_back(WithoutQuotes(answered[i].answer.Header("etag")));
  }
  return etags;
}

arrow::Status S3Client::CompleteUpload(const std::string& key, const std::string& upload,
                                       const std::vector<std::string>& etags, uint64_t size_bytes) {
  std::string xml = "<CompleteMultipartUpload>";
  for (size_t i = 0; i < etags.size(); ++i) {
    xml += base::Concat("<Part><PartNumber>", i + 1, "</PartNumber><ETag>\"", XmlEscaped(etags[i]),
                        "\"</ETag></Part>");
  }
  xml += "</CompleteMultipartUpload>";
  const Ask ask{.method = "POST", .key = key, .query = {{"uploadId", upload}}, .body = xml};
  ARROW_ASSIGN_OR_RAISE(const Answered answered, Send(ask));
  if (answered.answer.is_good() && !SaysError(answered.answer)) return arrow::Status::OK();
  if (answered.in_doubt) {
    // A try before may have done it: then the upload is no more, and the object there.
    const arrow::Result<std::optional<S3Object>> there = Head(key);
    const bool is_done = there.ok() && there->has_value() && (*there)->size_bytes == size_bytes;
    if (is_done) return arrow::Status::OK();
  }
  return Failed("write", ask, answered);
}

void S3Client::AbortUpload(const std::string& key, const std::string& upload) {
  const base::CancelToken never;
  const base::CancelScope not_cancelled(never);
  (void)Send({.method = "DELETE", .key = key, .query = {{"uploadId", upload}}});
}

}  // namespace kinjo::io
