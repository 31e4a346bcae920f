#include "io/http_client.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <cstring>
#include <ctime>

#include "base/cancel_scope.h"

#undef curl_easy_setopt
#undef curl_easy_getinfo

namespace kinjo::io {
namespace {

constexpr int kPollMs = 50;                          // how often a wait looks at the token
constexpr size_t kMostBodyBytes = size_t{64} << 20;  // of an answer that nobody sized
constexpr size_t kMostHeaders = 100;
constexpr size_t kMostIdle = 16;

/// The file of trusted certificates: where the environment says, else where distributions put it.
std::string FindCertificates() {
  for (const char* name : {"AWS_CA_BUNDLE", "CURL_CA_BUNDLE", "SSL_CERT_FILE"}) {
    const char* path = std::getenv(name);
    if (path != nullptr && *path != '\0') return path;
  }
  for (const char* path : {"/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt",
                           "/etc/ssl/ca-bundle.pem", "/etc/ssl/cert.pem"}) {
    if (access(path, R_OK) == 0) return path;
  }
  return {};
}

/// A write to a connection that the other side closed must not end the process: TLS libraries write
/// without asking for that.
class NoBrokenPipe {
 public:
  NoBrokenPipe() {
    sigset_t pending;
    sigemptyset(&set_);
    sigaddset(&set_, SIGPIPE);
    was_pending_ = sigpending(&pending) == 0 && sigismember(&pending, SIGPIPE) == 1;
    is_blocked_ = pthread_sigmask(SIG_BLOCK, &set_, &before_) == 0;
  }
  ~NoBrokenPipe() {
    if (!is_blocked_) return;
    const timespec at_once{};
    if (!was_pending_) (void)sigtimedwait(&set_, nullptr, &at_once);
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  NoBrokenPipe(const NoBrokenPipe&) = delete;
  NoBrokenPipe& operator=(const NoBrokenPipe&) = delete;

 private:
  sigset_t set_;
  sigset_t before_;
  bool was_pending_ = false;
  bool is_blocked_ = false;
};

/// One request on its way.
class Transfer {
 public:
  Transfer(const CurlLibrary* curl, const HttpRequest& request, HttpAnswer* answer)
      : curl_(*curl), request_(request), answer_(*answer), easy_(curl->easy_init()) {}
  ~Transfer() {
    if (easy_ != nullptr) curl_.easy_cleanup(easy_);
    curl_.slist_free_all(headers_);
  }
  Transfer(const Transfer&) = delete;
  Transfer& operator=(const Transfer&) = delete;

  CURL* easy() const { return easy_; }

  arrow::Status Prepare(const HttpLimits& limits, const std::string& certificates) {
    bool good = easy_ != nullptr;
    // Without these two libcurl adds what wasn't signed, or waits to be invited.
    good = good && AddHeader("Expect:") && AddHeader("Content-Type:");
    std::string line;
    for (const auto& [name, value] : request_.headers) {
      line.assign(name).append(": ").append(value);
      good = good && AddHeader(line);
    }
    if (!good) return arrow::Status::OutOfMemory("no memory for a request to ", request_.url);
    Set(CURLOPT_URL, request_.url.c_str());
    Set(CURLOPT_PATH_AS_IS, 1L);
    Set(CURLOPT_NOSIGNAL, 1L);
    Set(CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
    Set(CURLOPT_HTTPHEADER, headers_);
    Set(CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(limits.connect_timeout_ms));
    Set(CURLOPT_TIMEOUT_MS, static_cast<long>(limits.request_timeout_ms));
    Set(CURLOPT_TCP_KEEPALIVE, 1L);
    Set(CURLOPT_USERAGENT, "kinjo");
    if (!certificates.empty()) Set(CURLOPT_CAINFO, certificates.c_str());
    if (request_.method == "HEAD") {
      Set(CURLOPT_NOBODY, 1L);
    } else if (request_.method == "PUT" || request_.method == "POST") {
      Set(CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request_.body.size()));
      Set(CURLOPT_POSTFIELDS, request_.body.empty() ? "" : request_.body.data());
    }
    if (request_.method != "HEAD") Set(CURLOPT_CUSTOMREQUEST, request_.method.c_str());
    Set(CURLOPT_HEADERFUNCTION, &Transfer::OnHeader);
    Set(CURLOPT_HEADERDATA, this);
    Set(CURLOPT_WRITEFUNCTION, &Transfer::OnBody);
    Set(CURLOPT_WRITEDATA, this);
    Set(CURLOPT_ERRORBUFFER, error_);
    return arrow::Status::OK();
  }

  void End(CURLcode code) {
    answer_.status = Status();
    if (code == CURLE_OK) return;
    const bool unreached = code == CURLE_COULDNT_RESOLVE_HOST || code == CURLE_COULDNT_CONNECT ||
                           code == CURLE_COULDNT_RESOLVE_PROXY;
    curl_off_t connected_us = 0;
    curl_.easy_getinfo(easy_, CURLINFO_PRETRANSFER_TIME_T, &connected_us);
    answer_.was_sent = !unreached && connected_us > 0;
    answer_.failure = error_[0] != '\0' ? error_ : curl_.easy_strerror(code);
  }

 private:
  template <typename Value>
  void Set(CURLoption option, Value value) {
    // An option that this libcurl doesn't know leaves it at what it does anyway.
    (void)curl_.easy_setopt(easy_, option, value);
  }

  bool AddHeader(const std::string& line) {
    curl_slist* longer = curl_.slist_append(headers_, line.c_str());
    if (longer == nullptr) return false;
    headers_ = longer;
    return true;
  }

  int Status() const {
    long status = 0;
    curl_.easy_getinfo(easy_, CURLINFO_RESPONSE_CODE, &status);
    return static_cast<int>(status);
  }

  static size_t OnHeader(char* bytes, size_t size, size_t count, void* self) {
    auto& answer = static_cast<Transfer*>(self)->answer_;
    std::string_view line(bytes, size * count);
    while (!line.empty() && std::isspace(static_cast<unsigned char>(line.back()))) {
      line.remove_suffix(1);
    }
    const size_t colon = line.find(':');
    if (line.starts_with("HTTP/")) {
      answer.headers.clear();  // those of an answer before the last
    } else if (colon != std::string_view::npos && answer.headers.size() < kMostHeaders) {
      std::string name(line.substr(0, colon));
      for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
      line.remove_prefix(colon + 1);
      while (line.starts_with(' ')) line.remove_prefix(1);
      answer.headers.emplace_back(std::move(name), line);
    }
    return size * count;
  }

  /// Fewer bytes than it was given end the request.
  static size_t OnBody(char* bytes, size_t size, size_t count, void* self) {
    return static_cast<Transfer*>(self)->Take({bytes, size * count}) ? size * count : 0;
  }

  bool Take(std::string_view bytes) {
    const int status = Status();
    if (request_.into.empty() || status < 200 || status >= 300) {
      if (answer_.body.size() + bytes.size() > kMostBodyBytes) return false;
      answer_.body.append(bytes);
      return true;
    }
    if (bytes.size() > request_.into.size() - answer_.into_bytes) return false;
    std::memcpy(request_.into.data() + answer_.into_bytes, bytes.data(), bytes.size());
    answer_.into_bytes += bytes.size();
    return true;
  }

  const CurlLibrary& curl_;
  const HttpRequest& request_;
  HttpAnswer& answer_;
  CURL* const easy_;
  curl_slist* headers_ = nullptr;
  char error_[CURL_ERROR_SIZE] = {};
};

}  // namespace

/// A set of connections that one call uses at a time.
class HttpClient::Connections {
 public:
  explicit Connections(const CurlLibrary* curl)
      : curl_(*curl), multi_(curl->multi_init()), process_(getpid()) {}
  ~Connections() {
    // Those of a parent process stay its own: closing them here would tell the server good-bye.
    if (multi_ != nullptr && IsOurs()) curl_.multi_cleanup(multi_);
  }
  Connections(const Connections&) = delete;
  Connections& operator=(const Connections&) = delete;

  bool IsOurs() const { return process_ == getpid(); }

  arrow::Status Run(std::span<const std::unique_ptr<Transfer>> transfers, size_t most) {
    if (multi_ == nullptr) return arrow::Status::OutOfMemory("no memory for connections");
    size_t begun = 0;
    size_t ended = 0;
    arrow::Status status;
    while (ended < transfers.size() && status.ok()) {
      for (; begun < transfers.size() && begun - ended < most; ++begun) {
        curl_.multi_add_handle(multi_, transfers[begun]->easy());
      }
      int running = 0;
      curl_.multi_perform(multi_, &running);
      const size_t before = ended;
      ended += CollectEnded(transfers);
      if (ended == before) curl_.multi_poll(multi_, nullptr, 0, kPollMs, nullptr);
      status = base::CancelScope::Check();
    }
    for (size_t i = 0; i < begun; ++i) curl_.multi_remove_handle(multi_, transfers[i]->easy());
    return ended == transfers.size() ? arrow::Status::OK() : status;
  }

 private:
  size_t CollectEnded(std::span<const std::unique_ptr<Transfer>> transfers) {
    size_t ended = 0;
    int left = 0;
    while (const CURLMsg* message = curl_.multi_info_read(multi_, &left)) {
      if (message->msg != CURLMSG_DONE) continue;
      const auto transfer = std::find_if(transfers.begin(), transfers.end(), [&](const auto& each) {
        return each->easy() == message->easy_handle;
      });
      if (transfer == transfers.end()) continue;
      (*transfer)->End(message->data.result);
      ++ended;
    }
    return ended;
  }

  const CurlLibrary& curl_;
  CURLM* const multi_;
  const pid_t process_;
};

std::string_view HttpAnswer::Header(std::string_view name) const {
  for (const auto& [each, value] : headers) {
    if (each == name) return value;
  }
  return {};
}

arrow::Result<std::unique_ptr<HttpClient>> HttpClient::Make(HttpLimits limits) {
  ARROW_ASSIGN_OR_RAISE(const CurlLibrary* curl, CurlLibrary::Get());
  return std::unique_ptr<HttpClient>(new HttpClient(curl, limits));
}

HttpClient::HttpClient(const CurlLibrary* curl, HttpLimits limits)
    : curl_(curl), limits_(limits), certificates_(FindCertificates()) {}

HttpClient::~HttpClient() = default;

std::unique_ptr<HttpClient::Connections> HttpClient::Take() {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::erase_if(idle_, [](const auto& each) { return !each->IsOurs(); });
  if (idle_.empty()) return std::make_unique<Connections>(curl_);
  std::unique_ptr<Connections> last = std::move(idle_.back());
  idle_.pop_back();
  return last;
}

void HttpClient::GiveBack(std::unique_ptr<Connections> connections) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (idle_.size() < kMostIdle) idle_.push_back(std::move(connections));
}

arrow::Result<std::vector<HttpAnswer>> HttpClient::Send(std::span<const HttpRequest> requests) {
  ARROW_RETURN_NOT_OK(base::CancelScope::Check());
  const NoBrokenPipe no_broken_pipe;
  std::vector<HttpAnswer> answers(requests.size());
  std::vector<std::unique_ptr<Transfer>> transfers;
  for (size_t i = 0; i < requests.size(); ++i) {
    transfers.push_back(std::make_unique<Transfer>(curl_, requests[i], &answers[i]));
    ARROW_RETURN_NOT_OK(transfers.back()->Prepare(limits_, certificates_));
  }
  std::unique_ptr<Connections> connections = Take();
  ARROW_RETURN_NOT_OK(connections->Run(transfers, static_cast<size_t>(limits_.connections)));
  GiveBack(std::move(connections));
  return answers;
}

}  // namespace kinjo::io
