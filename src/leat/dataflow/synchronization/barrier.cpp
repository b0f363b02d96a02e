#include <leat/dataflow/synchronization/barrier.hpp>

namespace leat::dataflow {

Barrier::Barrier(Worker& worker, std::source_location where) : worker_(worker) {
  worker.dataflow_named<std::uint64_t>(
      "barrier", [&](auto& scope) { scope.input(input_, where) | probe(probe_, where); }, where);
}

Barrier::Barrier(Barrier&&) noexcept = default;

Barrier::~Barrier() = default;

void Barrier::wait() {
  advance();
  worker_.step_or_park_while([this] { return !reached(); });
}

void Barrier::advance() { input_.advance_to(round() + 1); }

bool Barrier::reached() const { return !probe_.less_than(input_.time()); }

}  // namespace leat::dataflow
