// A sink takes the records that it was made for.
// expect: capture_into: the sink takes events of other times or batches than the stream has
#include <cstdint>
#include <string>
#include <utility>

#include <leat/dataflow.hpp>

namespace df = leat::dataflow;

#ifdef RIGHT
using Record = std::uint64_t;
#else
using Record = std::string;
#endif

void build(df::Scope<std::uint64_t>& scope, df::Input<std::uint64_t>& numbers) {
  auto [writer, reader] = df::event_link<std::uint64_t, std::vector<Record>>();
  scope.input(numbers) | df::capture_into(std::move(writer));
}
