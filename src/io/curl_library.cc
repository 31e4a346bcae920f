#include "io/curl_library.h"

#include <dlfcn.h>

// Names of functions, not the macros that check their arguments.
#undef curl_easy_setopt
#undef curl_easy_getinfo

namespace kinjo::io {
namespace {

// Debian has it twice: git, for one, brings the second.
constexpr const char* kNames[] = {"libcurl.so.4", "libcurl-gnutls.so.4"};

template <typename Function>
bool Find(void* library, const char* name, Function* function) {
  *function = reinterpret_cast<Function>(dlsym(library, name));
  return *function != nullptr;
}

arrow::Result<CurlLibrary> Load() {
  void* library = nullptr;
  std::string reason;
  for (const char* name : kNames) {
    library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (library != nullptr) break;
    reason = dlerror();
  }
  if (library == nullptr) {
    return base::NotSupported("object stores are read through libcurl, which isn't here (", reason,
                              "); install it (Debian, Ubuntu: libcurl4; Fedora: libcurl)");
  }
  CurlLibrary curl;
  const bool complete = Find(library, "curl_global_init", &curl.global_init) &&
                        Find(library, "curl_easy_init", &curl.easy_init) &&
                        Find(library, "curl_easy_cleanup", &curl.easy_cleanup) &&
                        Find(library, "curl_easy_setopt", &curl.easy_setopt) &&
                        Find(library, "curl_easy_getinfo", &curl.easy_getinfo) &&
                        Find(library, "curl_easy_strerror", &curl.easy_strerror) &&
                        Find(library, "curl_multi_init", &curl.multi_init) &&
                        Find(library, "curl_multi_cleanup", &curl.multi_cleanup) &&
                        Find(library, "curl_multi_add_handle", &curl.multi_add_handle) &&
                        Find(library, "curl_multi_remove_handle", &curl.multi_remove_handle) &&
                        Find(library, "curl_multi_perform", &curl.multi_perform) &&
                        Find(library, "curl_multi_poll", &curl.multi_poll) &&
                        Find(library, "curl_multi_info_read", &curl.multi_info_read) &&
                        Find(library, "curl_slist_append", &curl.slist_append) &&
                        Find(library, "curl_slist_free_all", &curl.slist_free_all);
  if (!complete) {
    return base::NotSupported(
        "the libcurl of this system is too old to read object stores; 7.68 "
        "or newer is needed");
  }
  if (curl.global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) {
    return base::Io("libcurl could not be started");
  }
  return curl;
}

}  // namespace

arrow::Result<const CurlLibrary*> CurlLibrary::Get() {
  // Never unloaded: its own threads and what it registered for the exit may outlive anything here.
  static const auto* loaded = new arrow::Result<CurlLibrary>(Load());
  ARROW_RETURN_NOT_OK(loaded->status());
  return &**loaded;
}

}  // namespace kinjo::io
