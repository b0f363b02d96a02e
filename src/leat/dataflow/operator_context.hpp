// What      What the ports of one operator share, and whoever runs it: where it is in its scope, what it
//           writes down, what it may use up, and which of its outputs are to be flushed.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include <leat/base/local_ptr.hpp>
#include <leat/base/small_vector.hpp>
#include <leat/core/fuel.hpp>
#include <leat/core/spares.hpp>
#include <leat/dataflow/activator.hpp>
#include <leat/dataflow/capability.hpp>
#include <leat/progress/subgraph.hpp>

namespace leat::dataflow {

/// How many messages an operator may take before others get their turn.
inline constexpr std::uint32_t kMessagesPerActivation = 64;

/// What the ports of one operator share, with its activators too.
template <progress::Timestamp T>
struct OperatorContext final : ActivationPlace {
  using Summary = progress::SummaryOf<T>;
  struct Link {
    std::uint32_t output;
    Summary summary;
  };
  using Links = std::vector<Link>;
  /// What is asked of an input, whatever its batches are.
  class Reading : public core::Keeper {
   public:
    [[nodiscard]] virtual progress::Unread unread() const = 0;

   protected:
    ~Reading() = default;
  };
  struct InputInfo {
    progress::PortIndex target;
    std::unique_ptr<const Links> links;  // null: to each output, and times stay as they are
    const Reading* reading = nullptr;    // null once the port is gone
  };
  /// An output that was used in this activation and must be flushed at its end.
  class Flushable : public core::Keeper {
   public:
    virtual void flush() = 0;

   protected:
    ~Flushable() = default;

    bool is_waiting_ = false;  // in the context's `to_flush`

   private:
    friend OperatorContext;
    Flushable* next_ = nullptr;  // there
  };

  progress::Subgraph<T>* graph = nullptr;
  LocalPtr<progress::Ledger<T>> ledger;
  progress::SharedName name;
  SmallVector<InputInfo, 1> inputs;
  SmallVector<LocalPtr<OutputToken<T>>, 1> outputs;

  core::Fuel* tank = nullptr;        // the worker's
  std::uint64_t* records = nullptr;  // that came to operators of this worker
  Flushable* to_flush = nullptr;     // and others after it
  std::uint32_t activation = 0;      // counts runs of the operator, modulo 2^32
  bool own_accounts = false;         // its logic does them; nobody else knows what it holds
  bool more = false;                 // an input was left with messages in it

  void begin() noexcept {
    ++activation;
    more = false;
    fuel = tank->per_activation;
  }
  /// Returns: whether the operator has more to do at once.
  bool end() {
    while (Flushable* const output = to_flush) {
      to_flush = output->next_;
      output->is_waiting_ = false;
      output->flush();
    }
    tank->left -= tank->per_activation - fuel + core::Fuel::kActivation;
    return more;
  }
  void flush_at_end(Flushable& output) noexcept {
    if (output.is_waiting_) return;
    output.is_waiting_ = true;
    output.next_ = std::exchange(to_flush, &output);
  }
};

}  // namespace leat::dataflow
