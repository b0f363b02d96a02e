// Of what a consumer of Flux's protocol saves by a cached mask, and by a shift in place of a division:
// which is which? And what does ours do with neither?
#include "run.hpp"

namespace leat::bench {
namespace {

template <class P>
using HeaderDivision = FluxRing<P, false, Epoch::header_division>;
template <class P>
using HeaderShift = FluxRing<P, false, Epoch::header_shift>;
template <class P>
using CachedDivision = FluxRing<P, false, Epoch::cached_division>;

template <template <class> class Queue>
void add(Suite& suite, const std::string& name) {
  add_one_thread<Queue<Message<8>>, Message<8>>(suite, name);
  add_one_thread<Queue<Message<64>>, Message<64>>(suite, name);
  add_stream<Queue<Message<8>>, Message<8>>(suite, name, {});
  add_stream<Queue<Message<64>>, Message<64>>(suite, name, {});
  suite.run({.params = params_of(name, "empty_poll", 64),
             .iterations = 2'000'000,
             .tiny_iterations = 100,
             .countable = true},
            empty_poll<Queue<Message<64>>, Message<64>>);
}

}  // namespace
}  // namespace leat::bench

int main(int argc, char** argv) {
  using namespace leat::bench;
  Suite suite("ring_ablation", argc, argv);
  add<HeaderDivision>(suite, "flux+header+division");
  add<HeaderShift>(suite, "flux+header+shift");
  add<CachedDivision>(suite, "flux+cached+division");
  add<FluxSingle>(suite, "flux+cached+shift");
  add<LeatSingle>(suite, "leat::queue::Ring");
  return suite.finish();
}
