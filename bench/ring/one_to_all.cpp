// What does a message cost from one thread to all of several: one ring, or a ring for each?
#include "run.hpp"

namespace leat::bench {
namespace {

template <template <class> class Queue, std::size_t kBytes>
void add_at_size(Suite& suite, const std::string& name) {
  using P = Message<kBytes>;
  add_one_thread<Queue<P>, P>(suite, name);
  for (const std::size_t consumers : {1, 2, 3}) {
    add_stream<Queue<P>, P>(suite, name, {.consumers = consumers});
    add_stream<Queue<P>, P>(suite, name, {.consumers = consumers, .cores = 1});
  }
}

template <template <class> class Queue>
void add(Suite& suite, const std::string& name) {
  add_at_size<Queue, 8>(suite, name);
  add_at_size<Queue, 64>(suite, name);
  add_at_size<Queue, 256>(suite, name);
}

template <template <class> class Queue, std::size_t kBytes>
void add_alone(Suite& suite, const std::string& name) {
  using P = Message<kBytes>;
  add_one_thread<Queue<P>, P>(suite, name);
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
  // Without anybody to wait for; and what it costs that consumers may sleep.
  add_alone<LeatSingleLossy, 8>(suite, "leat::queue::Ring+lossy");
  add_alone<LeatSingleLossy, 64>(suite, "leat::queue::Ring+lossy");
  add_alone<LeatSingleWakeable, 8>(suite, "leat::queue::Ring+wakeable");
  add_alone<LeatSingleWakeable, 64>(suite, "leat::queue::Ring+wakeable");
  return suite.finish();
}
