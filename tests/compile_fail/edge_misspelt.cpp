// A synchronising access names an edge that exists; a slip of the pen does not compile.
// expect: publsh
#include <leat/base/atomic.hpp>

struct publish : leat::Edge {};

int read(const leat::Atomic<int>& word) {
#ifdef RIGHT
  return word.load_acquire(publish{});
#else
  return word.load_acquire(publsh{});
#endif
}
