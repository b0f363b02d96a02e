// What does a message cost from one of several threads to one?
#include "run.hpp"

namespace leat::bench {
namespace {

template <class P>
using MutexMany = OneConsumer<P, MutexQueue>;
#if defined(LEAT_BENCH_TBB)
template <class P>
using TbbMany = OneConsumer<P, TbbBounded>;
#endif

template <template <class> class Queue>
void add(Suite& suite, const std::string& name) {
  for_sizes([&]<std::size_t kBytes>() {
    using P = Message<kBytes>;
    add_one_thread<Queue<P>, P>(suite, name);
    for (const std::size_t producers : {1, 2, 3}) {
      add_stream<Queue<P>, P>(suite, name, {.producers = producers});
    }
  });
}

}  // namespace
}  // namespace leat::bench

int main(int argc, char** argv) {
  using namespace leat::bench;
  Suite suite("ring_many_to_one", argc, argv);
  add<LeatMany>(suite, "leat::queue::Ring");
  add<FluxMany>(suite, "flux");
  add<MutexMany>(suite, "mutex+condvar");
#if defined(LEAT_BENCH_TBB)
  add<TbbMany>(suite, "tbb::concurrent_bounded_queue");
#endif
#if defined(LEAT_BENCH_MOODYCAMEL)
  add<MoodycamelMany>(suite, "moodycamel::ConcurrentQueue");
#endif
  add_one_thread<LeatManyLossy<Message<8>>, Message<8>>(suite, "leat::queue::Ring+lossy");
  add_one_thread<LeatManyLossy<Message<64>>, Message<64>>(suite, "leat::queue::Ring+lossy");
  return suite.finish();
}
