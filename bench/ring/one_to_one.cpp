// What does a message cost from one thread to one other: in throughput, and there and back?
#include "run.hpp"

namespace leat::bench {
namespace {

template <template <class> class Queue>
void add(Suite& suite, const std::string& name) {
  for_sizes([&]<std::size_t kBytes>() {
    using P = Message<kBytes>;
    using AsRing = OneConsumer<P, Queue>;
    add_one_thread<AsRing, P>(suite, name);
    add_stream<AsRing, P>(suite, name, {});
    suite.run({.params = params_of(name, "round_trip", kBytes),
               .iterations = 200'000,
               .tiny_iterations = 100},
              round_trip<Queue, P>);
  });
}

}  // namespace
}  // namespace leat::bench

int main(int argc, char** argv) {
  using namespace leat::bench;
  Suite suite("ring_one_to_one", argc, argv);
  add<LeatSpsc>(suite, "leat::queue::SpscRing");
  add<PlainRing>(suite, "plain_ring");
  add<BoostSpsc>(suite, "boost::lockfree::spsc_queue");
  add<MutexQueue>(suite, "mutex+condvar");
#if defined(LEAT_BENCH_TBB)
  add<TbbBounded>(suite, "tbb::concurrent_bounded_queue");
#endif
#if defined(LEAT_BENCH_MOODYCAMEL)
  add<Moodycamel>(suite, "moodycamel::ConcurrentQueue");
#endif
#if defined(LEAT_BENCH_READERWRITER)
  add<ReaderWriter>(suite, "moodycamel::ReaderWriterQueue");
#endif
  return suite.finish();
}
