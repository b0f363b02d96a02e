// What an exchange's builder gives out is counted by the receivers: it must be what it was given.
// expect: exchange: the builder does not promise to give out as many records as it was given
#include <cstdint>
#include <vector>

#include <leat/dataflow.hpp>

namespace df = leat::dataflow;

// Keeps one record of each batch.
struct Last {
  using Batch = std::vector<std::uint64_t>;
#ifdef RIGHT
  static constexpr bool preserves_length = true;
#endif

  Batch batch;

  bool push(std::uint64_t record) {
    batch.assign(1, record);
    return false;
  }
  Batch* extract() { return nullptr; }
  Batch* finish() { return batch.empty() ? nullptr : &batch; }
  void relax() { batch = Batch(); }
};

void build(df::Scope<std::uint64_t>& scope, df::Input<std::uint64_t>& numbers) {
  const auto route = [](std::uint64_t number) { return number; };
  scope.input(numbers) | df::sink(df::exchange_by<Last>(route), "last", [](auto&) {});
}
