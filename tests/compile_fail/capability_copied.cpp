// A second right to send is asked for by name; it does not come about by a copy.
// expect: deleted
// expect: Capability
#include <cstdint>

#include <leat/dataflow/capability.hpp>

namespace df = leat::dataflow;

df::Capability<std::uint64_t> second(const df::Capability<std::uint64_t>& capability) {
#ifdef RIGHT
  return capability.clone();
#else
  return capability;
#endif
}
