// HTTP requests, several in flight from one thread. One try each: who may be asked again, and how
// long to wait before, is for those that know what was asked.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "io/curl_library.h"

namespace kinjo::io {

struct HttpRequest {
  std::string method;
  std::string url;
  std::vector<std::pair<std::string, std::string>> headers;
  std::string_view body;    ///< sent; outlives the call
  std::span<uint8_t> into;  ///< where the body of a good answer goes, if anywhere
};

struct HttpAnswer {
  int status = 0;         ///< 0: none came
  std::string failure;    ///< why none came, or not whole
  bool was_sent = false;  ///< the server may have acted, although nothing came back
  std::vector<std::pair<std::string, std::string>> headers;  ///< names in lower case
  std::string body;         ///< of an answer that didn't go into `into`
  uint64_t into_bytes = 0;  ///< how many bytes of `into` came

  bool is_whole() const { return status != 0 && failure.empty(); }
  bool is_good() const { return is_whole() && status >= 200 && status < 300; }
  /// Empty when there is none.
  std::string_view Header(std::string_view name) const;
};

struct HttpLimits {
  int64_t connect_timeout_ms = 5000;
  int64_t request_timeout_ms = 30'000;  ///< from the begin of a request to its last byte
  int connections = 16;                 ///< at the same time in one call

  bool operator==(const HttpLimits&) const = default;
};

/// Keeps connections for the next call. Thread-safe; also after a fork, in both processes.
class HttpClient {
 public:
  static arrow::Result<std::unique_ptr<HttpClient>> Make(HttpLimits limits);
  ~HttpClient();
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;

  /// One answer a request; what fails of a request stands in its answer. An error is `cancelled`
  /// (see CancelScope), and then nothing is known of what the server did, or lack of memory.
  arrow::Result<std::vector<HttpAnswer>> Send(std::span<const HttpRequest> requests);

 private:
  class Connections;

  HttpClient(const CurlLibrary* curl, HttpLimits limits);
  std::unique_ptr<Connections> Take();
  void GiveBack(std::unique_ptr<Connections> connections);

  const CurlLibrary* const curl_;
  const HttpLimits limits_;
  const std::string certificates_;  ///< a file of trusted ones; empty: as libcurl was built
  std::mutex mutex_;
  std::vector<std::unique_ptr<Connections>> idle_;
};

}  // namespace kinjo::io
