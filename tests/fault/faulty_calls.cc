// Stands between a program and the C library (LD_PRELOAD) and makes one of its calls that change
// the file system go wrong: the n-th, counted from 1, of those that make, fill, cut, rename, remove
// or sync a file or a folder. Writing to the standard streams and to pipes isn't counted.
//
//   KINJO_FAULT_CALL   n
//   KINJO_FAULT_KIND   kill: the process dies by SIGKILL, a write half done; full: the call, and
//                      each write after it, fails with ENOSPC; io: the call fails with EIO
//   KINJO_FAULT_COUNT  a file that gets one line for each call counted: its name
#include <dlfcn.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdarg>
#include <cstdlib>
#include <cstring>

namespace {

template <typename Function>
Function Next(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

ssize_t RealWrite(int file, const void* bytes, size_t size) {
  static const auto next = Next<ssize_t (*)(int, const void*, size_t)>("write");
  return next(file, bytes, size);
}

int RealOpen(const char* path, int flags, mode_t mode) {
  static const auto next = Next<int (*)(const char*, int, ...)>("open64");
  return next(path, flags, mode);
}

enum class Verdict { kGoOn, kFail, kDie };

bool KindIs(const char* kind) {
  const char* given = std::getenv("KINJO_FAULT_KIND");
  return given != nullptr && std::strcmp(given, kind) == 0;
}

void Note(const char* name) {
  const char* path = std::getenv("KINJO_FAULT_COUNT");
  if (path == nullptr) return;
  const int file = RealOpen(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (file < 0) return;
  (void)!RealWrite(file, name, std::strlen(name));
  (void)!RealWrite(file, "\n", 1);
  close(file);
}

// Counts one call, and says what becomes of it.
Verdict Judge(const char* name, bool fills) {
  static std::atomic<long> calls{0};
  static const char* const text = std::getenv("KINJO_FAULT_CALL");
  static const long chosen = text == nullptr ? 0 : std::atol(text);
  const long call = ++calls;
  Note(name);
  if (chosen == 0) return Verdict::kGoOn;
  if (call == chosen && KindIs("kill")) return Verdict::kDie;
  if (call == chosen && KindIs("io")) {
    errno = EIO;
    return Verdict::kFail;
  }
  if (KindIs("full") && (call == chosen || (call > chosen && fills))) {
    errno = ENOSPC;
    return Verdict::kFail;
  }
  return Verdict::kGoOn;
}

[[noreturn]] void Die() {
  kill(getpid(), SIGKILL);
  while (true) pause();
}

// A file of a disk: what /proc shows is none.
bool IsFile(int file) {
  struct stat info{};
  struct statfs system{};
  return file > 2 && fstat(file, &info) == 0 && S_ISREG(info.st_mode) &&
         fstatfs(file, &system) == 0 && system.f_type != PROC_SUPER_MAGIC;
}

bool IsFolder(int file) {
  struct stat info{};
  return file > 2 && fstat(file, &info) == 0 && S_ISDIR(info.st_mode);
}

// Runs `call` unless this is the call that goes wrong.
template <typename Call>
int Counted(const char* name, bool fills, const Call& call) {
  const Verdict verdict = Judge(name, fills);
  if (verdict == Verdict::kDie) Die();
  return verdict == Verdict::kFail ? -1 : call();
}

int Open(const char* path, int flags, mode_t mode) {
  if ((flags & O_CREAT) == 0) return RealOpen(path, flags, mode);
  return Counted("open", true, [&] { return RealOpen(path, flags, mode); });
}

}  // namespace

extern "C" {

ssize_t write(int file, const void* bytes, size_t size) {
  if (!IsFile(file)) return RealWrite(file, bytes, size);
  const Verdict verdict = Judge("write", true);
  if (verdict == Verdict::kFail) return -1;
  if (verdict == Verdict::kGoOn) return RealWrite(file, bytes, size);
  (void)!RealWrite(file, bytes, size / 2);
  Die();
}

int open(const char* path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(more, mode_t) : 0;
  va_end(more);
  return Open(path, flags, mode);
}

int open64(const char* path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(more, mode_t) : 0;
  va_end(more);
  return Open(path, flags, mode);
}

int fsync(int file) {
  static const auto next = Next<int (*)(int)>("fsync");
  if (!IsFile(file) && !IsFolder(file)) return next(file);
  return Counted("fsync", false, [&] { return next(file); });
}

int ftruncate(int file, off_t size) noexcept {
  static const auto next = Next<int (*)(int, off_t)>("ftruncate");
  return Counted("ftruncate", false, [&] { return next(file, size); });
}

int ftruncate64(int file, off64_t size) noexcept {
  static const auto next = Next<int (*)(int, off64_t)>("ftruncate64");
  return Counted("ftruncate", false, [&] { return next(file, size); });
}

int rename(const char* from, const char* to) noexcept {
  static const auto next = Next<int (*)(const char*, const char*)>("rename");
  return Counted("rename", false, [&] { return next(from, to); });
}

int link(const char* from, const char* to) noexcept {
  static const auto next = Next<int (*)(const char*, const char*)>("link");
  return Counted("link", false, [&] { return next(from, to); });
}

int unlink(const char* path) noexcept {
  static const auto next = Next<int (*)(const char*)>("unlink");
  return Counted("unlink", false, [&] { return next(path); });
}

int mkdir(const char* path, mode_t mode) noexcept {
  static const auto next = Next<int (*)(const char*, mode_t)>("mkdir");
  return Counted("mkdir", true, [&] { return next(path, mode); });
}
}
