// What      Input from outside at times in any order, under capabilities that the program holds.
// Protocol  `auto [handle, capability, stream] = unordered_input<Record>(scope)`; send with
//           `handle.session(capability.delayed(t)).give(x)`; the input ends when all capabilities
//           are dropped.
// Threads   The worker's own.
// Source    Timely Dataflow's `UnorderedInput`.
#pragma once

#include <source_location>
#include <utility>
#include <vector>

#include <leat/base/usage_error.hpp>
#include <leat/dataflow/builder.hpp>
#include <leat/dataflow/scope.hpp>

namespace leat::dataflow {

template <progress::Timestamp T, class Record>
class UnorderedHandle {
 public:
  using leat_stays_on_its_worker = void;

  explicit UnorderedHandle(LocalPtr<internal::OutputCore<T, std::vector<Record>>> core)
      : core_(std::move(core)) {}

  /// Records being sent at one time. They are on their way when it is destroyed.
  class [[nodiscard]] Sending {
   public:
    Sending(internal::OutputCore<T, std::vector<Record>>& core, const Capability<T>& capability)
        : core_(core), capability_(capability.clone()) {}
    Sending(const Sending&) = delete;
    Sending& operator=(const Sending&) = delete;
    ~Sending() noexcept(false) {
      if (std::uncaught_exceptions() > exceptions_) batch_.clear();
      ship();
      if (unflushed_ && !core_.token->ledger->closed()) {
        from_outside(*core_.token, [&] { core_.tee->flush(); });
      }
    }
    void give(Record record) {
      batch_.push_back(std::move(record));
      if (batch_.size() >= kBatchRecords<Record>) ship();
    }

   private:
    void ship() {
      if (batch_.empty()) return;
      if (core_.token->ledger->closed()) {  // whoever would receive it is gone
        batch_.clear();
        return;
      }
      Message<T, std::vector<Record>> message{Stamp<T>(capability_.time()), std::move(batch_)};
      unflushed_ = true;
      from_outside(*core_.token, [&] { core_.tee->push(message); });
      batch_ = std::move(message.batch);
      batch_.clear();
    }
    internal::OutputCore<T, std::vector<Record>>& core_;
    Capability<T> capability_;  // its own: the program may give up the one it was opened with
    std::vector<Record> batch_;
    bool unflushed_ = false;  // something waits in an edge
    int exceptions_ = std::uncaught_exceptions();
  };

  /// Errors: `UsageError` if the capability is not of this input.
  Sending session(const Capability<T>& capability) {
    if (capability.token() != core_->token) {
      throw UsageError(core_->token->described(), "a session",
                       "a capability that is not of this input",
                       "use the capability that came with the handle, or one made from it");
    }
    return Sending(*core_, capability);
  }

 private:
  LocalPtr<internal::OutputCore<T, std::vector<Record>>> core_;
};

template <progress::Timestamp T, class Record>
struct UnorderedInput {
  UnorderedHandle<T, Record> handle;
  Capability<T> capability;  // at the least time
  StreamOf<T, Record> stream;
};

template <class Record, progress::Timestamp T>
[[nodiscard]] UnorderedInput<T, Record> unordered_input(
    Scope<T>& scope, std::source_location where = std::source_location::current()) {
  OperatorBuilder<T> builder(scope.state(), "unordered_input", where);
  builder.held_outside("program's capability");
  auto [port, stream] = builder.template new_output<std::vector<Record>>();
  Capability<T> initial;
  builder.build([&](std::vector<Capability<T>> capabilities) {
    initial = std::move(capabilities[0]);
    return [] {};
  });
  return {UnorderedHandle<T, Record>(port.core()), std::move(initial), std::move(stream)};
}

}  // namespace leat::dataflow
