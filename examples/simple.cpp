// The smallest dataflow: numbers from a range, looked at one by one, on the calling thread.
//
//   simple
//
// prints "seen: 0" to "seen: 9", in order.

#include <leat/dataflow.hpp>

#include <cstdio>
#include <ranges>

namespace df = leat::dataflow;

int main() {
  // [simple]
  df::example([](auto& scope) {
    df::to_stream(scope, std::views::iota(0, 10)) |
        df::inspect([](int number) { std::printf("seen: %d\n", number); });
  });
  // [/simple]
}
