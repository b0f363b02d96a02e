// A route names a worker, and a worker is a number.
// expect: exchange: the route must return an integer
#include <cstdint>
#include <string>

#include <leat/dataflow.hpp>

namespace df = leat::dataflow;

auto build(df::Scope<std::uint64_t>& scope, df::Input<std::string>& words) {
#ifdef RIGHT
  return scope.input(words) | df::exchange([](const std::string& word) { return word.size(); });
#else
  return scope.input(words) | df::exchange([](const std::string& word) { return word; });
#endif
}
