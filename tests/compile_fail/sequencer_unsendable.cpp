// Each element of a sequencer goes to every worker; what must stay on its own cannot be one.
// expect: must be copyable and sendable
#include <cstdint>

#include <leat/base/local_ptr.hpp>
#include <leat/dataflow/synchronization/sequencer.hpp>

namespace df = leat::dataflow;

struct Counter : leat::LocalCounted<Counter> {
  int count = 0;
};

void build(df::Worker& worker) {
#ifdef RIGHT
  df::Sequencer<std::uint64_t> sequencer(worker);
#else
  df::Sequencer<leat::LocalPtr<Counter>> sequencer(worker);
#endif
}
