// What      Batches that several consumers look at without copying: `stream | shared()`. All of them
//           see one batch, at one address; it goes when the last of them is done with it.
// Limits    Records can be read, not changed or moved out. Shared batches stay on their worker: their
//           counts are not atomic, and an exchange refuses them when it is compiled.
// Cost      One allocation per batch, whatever the number of consumers; and the memory of the batch
//           goes with it instead of going back to the sender.
// Source    Timely Dataflow's `SharedStream`.
#pragma once

#include <cstddef>
#include <ranges>
#include <source_location>
#include <type_traits>
#include <utility>

#include <leat/base/local_ptr.hpp>
#include <leat/dataflow/builder.hpp>
#include <leat/dataflow/container.hpp>
#include <leat/dataflow/pipe.hpp>

namespace leat::dataflow {

/// A batch that is counted by those who hold it. A container itself; copies are of the same batch.
template <Container C>
class Shared {
 public:
  using value_type = RecordOf<C>;
  using leat_stays_on_its_worker = void;

  /// No batch: without records.
  Shared() = default;
  explicit Shared(C batch) : core_(make_local<Core>(std::move(batch))) {}

  /// The batch; an empty one if there is none.
  [[nodiscard]] const C& operator*() const noexcept { return core_ ? core_->batch : kNone; }
  [[nodiscard]] const C* operator->() const noexcept { return &**this; }

  [[nodiscard]] std::size_t record_count() const noexcept { return dataflow::record_count(**this); }
  [[nodiscard]] auto begin() const
    requires std::ranges::input_range<const C>
  {
    return (**this).begin();
  }
  [[nodiscard]] auto end() const
    requires std::ranges::input_range<const C>
  {
    return (**this).end();
  }
  /// Lets go of the batch; others keep it.
  void clear() noexcept { core_.reset(); }

 private:
  struct Core final : LocalCounted<Core> {
    explicit Core(C batch_in) : batch(std::move(batch_in)) {}
    const C batch;
  };
  static const C kNone;

  LocalPtr<Core> core_;
};

template <Container C>
const C Shared<C>::kNone{};

/// The handle may be copied whatever the records are.
template <class C>
struct IsCopyable<Shared<C>> : std::true_type {};

namespace internal {

class SharedOp : public Named<SharedOp> {
 public:
  explicit SharedOp(std::source_location where) : Named<SharedOp>("shared", where) {}

  template <progress::Timestamp T, Container C>
  Stream<T, Shared<C>> apply(Stream<T, C> stream) && {
    OperatorBuilder<T> builder(stream.scope_state(), this->name_);
    auto input = builder.new_input(stream, pipeline);
    auto [port, produced] = builder.template new_output<Shared<C>>();
    builder.set_interest(0, progress::FrontierInterest::never);
    builder.build([&](auto) {
      return [input = std::move(input), output = std::move(port)]() mutable {
        input.for_each([&](auto& message) {
          output.session(message).give_batch(Shared<C>(std::move(message.records())));
        });
      };
    });
    return std::move(produced);
  }
};

struct SharedFn {
  SharedOp operator()(std::source_location where = std::source_location::current()) const {
    return SharedOp(where);
  }
};

}  // namespace internal

/// `stream | shared()`: the same records in batches that consumers share.
inline constexpr internal::SharedFn shared{};

}  // namespace leat::dataflow
