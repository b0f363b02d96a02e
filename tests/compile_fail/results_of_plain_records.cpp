// The combinators for results need records that are values or errors.
// expect: records are leat::Result<T> or
#include <leat/base/result.hpp>
#include <leat/dataflow/operators/results.hpp>
#include <leat/dataflow/operators/to_stream.hpp>

#include <cstdint>
#include <vector>

namespace df = leat::dataflow;

void build(df::Scope<std::uint64_t>& scope) {
#ifdef RIGHT
  df::to_stream(scope, std::vector<leat::Result<int>>{1}) | df::map_ok([](int x) { return x; });
#else
  df::to_stream(scope, std::vector<int>{1}) | df::map_ok([](int x) { return x; });
#endif
}
