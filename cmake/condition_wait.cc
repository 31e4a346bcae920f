// std::condition_variable::wait, as `ld --wrap` names what stands in for it. GCC 12 took `noexcept`
// off that function, and with that gave its symbol a new version, GLIBCXX_3.4.30: the only thing
// that we would need of so new a libstdc++. Systems of glibc 2.34 have an older one, and couldn't
// load what we ship. cmake/KinjoConditionWait.cmake links this in.
#include <pthread.h>

#include <condition_variable>
#include <mutex>

extern "C" void __wrap__ZNSt18condition_variable4waitERSt11unique_lockISt5mutexE(  // NOLINT
    std::condition_variable* self, std::unique_lock<std::mutex>& lock) {
  pthread_cond_wait(self->native_handle(), lock.mutex()->native_handle());
}
