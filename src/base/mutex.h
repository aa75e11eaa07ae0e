#pragma once

#include <mutex>

// std::mutex with the annotations that clang's thread-safety analysis needs (the lint preset
// rejects unguarded access; g++ ignores them). A lock is the exception here: what crosses threads
// is a message in an Inbox. Never held across a call into sys.
#if defined(__clang__)
#define OUTLAST_ANNOTATION(x) __attribute__((x))
#else
#define OUTLAST_ANNOTATION(x)
#endif
#define OUTLAST_GUARDED_BY(mutex) OUTLAST_ANNOTATION(guarded_by(mutex))
#define OUTLAST_REQUIRES(mutex) OUTLAST_ANNOTATION(requires_capability(mutex))

namespace outlast {

namespace detail {
// How many this thread holds; the simulator wants none at a call into sys.
inline thread_local int mutexes_held = 0;
}  // namespace detail

class OUTLAST_ANNOTATION(capability("mutex")) Mutex {
 public:
  void lock() OUTLAST_ANNOTATION(acquire_capability()) {
    mutex_.lock();
    ++detail::mutexes_held;
  }
  void unlock() OUTLAST_ANNOTATION(release_capability()) {
    --detail::mutexes_held;
    mutex_.unlock();
  }

 private:
  std::mutex mutex_;
};

class OUTLAST_ANNOTATION(scoped_lockable) MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) OUTLAST_ANNOTATION(acquire_capability(mutex)) : mutex_(mutex) {
    mutex_.lock();
  }
  ~MutexLock() OUTLAST_ANNOTATION(release_capability()) { mutex_.unlock(); }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

 private:
  Mutex& mutex_;
};

}  // namespace outlast
