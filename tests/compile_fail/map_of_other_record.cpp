// An operator says which function does not fit the records.
// expect: map: the function cannot be called with a record
#include <cstdint>
#include <string>

#include <leat/dataflow.hpp>

namespace df = leat::dataflow;

auto build(df::Scope<std::uint64_t>& scope, df::Input<int>& numbers) {
#ifdef RIGHT
  return scope.input(numbers) | df::map([](int number) { return number + 1; });
#else
  return scope.input(numbers) | df::map([](const std::string& word) { return word.size(); });
#endif
}
