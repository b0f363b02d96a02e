// An edge is a type made for the purpose, not any value that lies about.
// expect: load_acquire
// expect: constraints not satisfied
#include <leat/base/atomic.hpp>

struct publish : leat::Edge {};

int read(const leat::Atomic<int>& word) {
#ifdef RIGHT
  return word.load_acquire(publish{});
#else
  return word.load_acquire(0);
#endif
}
