// What      Work that an operator puts off, because one record may turn into very many: a join
//           whose keys explode, a scan of an index. It is done in bounded parts, each in an
//           activation of its own, so that others get their turn between, what comes out is
//           consumed as it comes, and progress goes out.
// Protocol  `add(capability, work)` when the work is known; `run(output)` once in every activation.
//           `work(session)` puts out a few records and returns whether there is more; it is called
//           until the activation's fuel is spent, and again in the next one. An operator that takes
//           input only while the backlog is empty keeps it small.
// Invariants
//   (1) Work is done in the order in which it was added.
//   (2) An activation goes past its fuel by one call of `work` and one batch at most; and it does a
//       little even if taking input has spent all, so work is not put off for ever.
//   (3) A capability is held until its work is done, and no longer.
// Limits    What is put off takes memory: `work` should hold what it needs to go on, not what it
//           will put out.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include <leat/base/growing_ring.hpp>
#include <leat/dataflow/builder.hpp>

namespace leat::dataflow {

template <progress::Timestamp T, class Work>
class Backlog {
 public:
  using leat_stays_on_its_worker = void;

  /// `self` activates the operator whose work this is.
  explicit Backlog(Activator self) : self_(std::move(self)) {}

  void add(Capability<T> capability, Work work) {
    ring_->push_back({std::move(capability), std::move(work)});
  }

  /// Does what this activation may still do, and has the operator run again if something is left.
  template <class Output>
  void run(Output& output) {
    const std::int64_t until = std::min<std::int64_t>(self_.fuel_left() - kAtLeast, 0);
    while (!ring_->empty()) {
      if (self_.fuel_left() <= until) {
        self_.activate();
        return;
      }
      Item& item = ring_->front();
      bool more = true;
      {
        auto session = output.session(item.capability);
        while (more && self_.fuel_left() > until) more = item.work(session);
      }
      if (!more) ring_->drop_front();
    }
  }

  [[nodiscard]] bool empty() const noexcept { return ring_->empty(); }
  /// How many pieces of work wait, the one that is being done among them.
  [[nodiscard]] std::size_t size() const noexcept { return ring_->size(); }

 private:
  static constexpr std::int64_t kAtLeast = 256;  // records in an activation

  struct Item {
    Capability<T> capability;
    Work work;
  };
  struct Ring final : LocalCounted<Ring>, GrowingRing<Item> {};

  Activator self_;
  LocalPtr<Ring> ring_ = make_local<Ring>();  // logic is moved once it is made
};

}  // namespace leat::dataflow
