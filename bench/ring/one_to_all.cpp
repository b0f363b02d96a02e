// What does a message cost from one thread to all of several: one ring, or a ring for each?
#include "run.hpp"

namespace leat::bench {
namespace {

template <template <class> class Queue>
void add(Suite& suite, const std::string& name) {
  for_sizes([&]<std::size_t kBytes>() {
    using P = Message<kBytes>;
    add_one_thread<Queue<P>, P>(suite, name);
    for (const std::size_t consumers : {1, 2, 3}) {
      add_stream<Queue<P>, P>(suite, name, {.consumers = consumers});
      add_stream<Queue<P>, P>(suite, name, {.consumers = consumers, .cores = 1});
    }
  });
}

/// On one thread only.
template <template <class> class Queue>
void add_alone(Suite& suite, const std::string& name) {
  add_one_thread<Queue<Message<8>>, Message<8>>(suite, name);
  add_one_thread<Queue<Message<64>>, Message<64>>(suite, name);
}

}  // namespace
}  // namespace leat::bench

int main(int argc, char** argv) {
  using namespace leat::bench;
  Suite suite("ring_one_to_all", argc, argv);
  add<LeatSingle>(suite, "leat::queue::Ring");
  add<FluxSingle>(suite, "flux");
  add<PrivatePlain>(suite, "private_plain_rings");
  add<PrivateBoost>(suite, "private_boost_spsc");
  add<PrivateLeat>(suite, "private_leat_spsc");
#if defined(LEAT_BENCH_READERWRITER)
  add<PrivateReaderWriter>(suite, "private_readerwriterqueue");
#endif
  // Without anybody to wait for; and what it costs that consumers may sleep.
  add_alone<LeatSingleLossy>(suite, "leat::queue::Ring+lossy");
  add_alone<LeatSingleWakeable>(suite, "leat::queue::Ring+wakeable");
  return suite.finish();
}
