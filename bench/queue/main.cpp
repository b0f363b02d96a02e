// What does it cost to hand a message from any of several threads to one?
#include "rivals.hpp"

int main(int argc, char** argv) {
  using namespace leat::bench;
  Suite suite("queue", argc, argv);
  add_leat(suite);
  add_mutex_deque(suite);
  add_boost_lockfree(suite);
#if defined(LEAT_BENCH_TBB)
  add_tbb(suite);
#endif
  return suite.finish();
}
