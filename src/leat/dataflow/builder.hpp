// What      Builds one operator: any number of inputs and outputs, logic that runs when there is
//           reason to. All operators of this library are built with it, and a user's own look the
//           same.
// Protocol  Add inputs and outputs; then `build` with a function that receives one capability per
//           output (at the least time) and returns the logic. The logic runs at least once. It is a
//           callable that takes nothing and returns nothing, or `true` while the operator is
//           incomplete.
// Limits    Every input is linked to every output, by the identity, unless told otherwise: say so
//           for operators with many ports.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <source_location>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <leat/base/local_ptr.hpp>
#include <leat/base/usage_error.hpp>
#include <leat/dataflow/activator.hpp>
#include <leat/dataflow/capability.hpp>
#include <leat/dataflow/pact.hpp>
#include <leat/dataflow/ports.hpp>
#include <leat/dataflow/stream.hpp>
#include <leat/progress/operate.hpp>

namespace leat::dataflow {

/// How many records an operator that makes many of few may put out in this activation: 32 batches,
/// and no more than the fuel of its activation; at least 1.
template <class Record>
[[nodiscard]] std::size_t records_left(const Activator& self) noexcept {
  const auto fuel = static_cast<std::size_t>(std::max<std::int64_t>(self.fuel_left(), 1));
  return std::min(fuel, kRecordsPerActivation<Record>);
}

/// Which operator this is; handed to constructors of logic.
struct OperatorInfo {
  progress::NodeIndex node = 0;        // within its scope
  std::uint64_t id = 0;                // within its worker
  std::vector<std::uint32_t> address;  // the same on all workers
  Activator activation;                // activates the operator
};

/// That a time may go from a port to another, and by how much it advances at least.
template <progress::Timestamp T>
struct LinkTo {
  std::uint32_t port = 0;
  progress::SummaryOf<T> summary{};
};

/// An output of an operator under construction: the port for its logic, and the stream it becomes.
template <progress::Timestamp T, Container C>
struct NewOutput {
  OutputPort<T, C> port;
  Stream<T, C> stream;
};

namespace internal {

/// What a scope can ask of an operator for reports, whatever its logic.
template <progress::Timestamp T>
class ReportingShell : public progress::Operate<T> {
 public:
  [[nodiscard]] std::optional<std::size_t> held_here(std::uint32_t output) const override {
    if (context_->own_accounts) return std::nullopt;
    const auto& token = context_->outputs[output];
    return token->local_owners() - token->ports - 1;  // the context's own
  }
  [[nodiscard]] std::optional<progress::Unread> unread_here(std::uint32_t input) const override {
    if (context_->own_accounts) return std::nullopt;
    const auto* const reading = context_->inputs[input].reading;
    return reading == nullptr ? progress::Unread{} : reading->unread();
  }

 protected:
  explicit ReportingShell(LocalPtr<OperatorContext<T>> context) : context_(std::move(context)) {}

  LocalPtr<OperatorContext<T>> context_;  // outlives the ports that the logic holds
};

template <progress::Timestamp T, class Logic>
class OperatorShell final : public ReportingShell<T> {
  using ReportingShell<T>::context_;

 public:
  OperatorShell(LocalPtr<OperatorContext<T>> context, Logic logic)
      : ReportingShell<T>(std::move(context)), logic_(std::move(logic)) {}
  ~OperatorShell() override { context_->has_ended(); }

  bool schedule() override {
    context_->begin();
    bool incomplete = false;
    if constexpr (std::same_as<std::invoke_result_t<Logic&>, bool>) {
      incomplete = logic_();
    } else {
      logic_();
    }
    if (context_->end()) context_->target.put_off();
    return incomplete;
  }

 private:
  Logic logic_;
};

}  // namespace internal

template <progress::Timestamp T>
class OperatorBuilder {
 public:
  using Summary = progress::SummaryOf<T>;

  OperatorBuilder(LocalPtr<ScopeState<T>> scope, std::string name,
                  std::source_location where = std::source_location::current())
      : OperatorBuilder(std::move(scope), progress::NodeName{std::move(name), where}) {}
  OperatorBuilder(LocalPtr<ScopeState<T>> scope, progress::NodeName name)
      : scope_(std::move(scope)), context_(make_local<OperatorContext<T>>()) {
    require_stream(scope_, name);
    scope_->require_open(name);
    auto& graph = *scope_->graph;
    context_->graph = &graph;
    context_->ledger = graph.ledger();
    context_->node = graph.add_node(std::move(name));
    context_->name = graph.name_of(context_->node);
    context_->tank = &graph.plane().fuel();
    context_->begins(*scope_->context, graph.activation_of(context_->node));
    context_->records = &scope_->context->seat.counters().records;
  }

  /// Reads `stream` through `pact`. Linked by the identity to all outputs that exist and that will.
  template <Container C, class Pact>
  InputPort<T, C> new_input(const Stream<T, C>& stream, const Pact& pact) {
    const auto number = static_cast<std::uint32_t>(context_->inputs.size());
    auto port = add_input(stream, pact, true);
    for (std::uint32_t output = 0; output < context_->outputs.size(); ++output) {
      if (output_defaults_[output]) links_[number].push_back({output, Summary{}});
    }
    return port;
  }
  /// The same, linked only as `links` say (to outputs, which may be added later).
  template <Container C, class Pact>
  InputPort<T, C> new_input(const Stream<T, C>& stream, const Pact& pact,
                            const std::vector<LinkTo<T>>& links) {
    auto port = add_input(stream, pact, false);
    for (const auto& link : links) links_.back().push_back({link.port, link.summary});
    return port;
  }

  /// Adds an output of batches `C`. Linked by the identity from all inputs that exist and that
  /// will.
  template <Container C>
  NewOutput<T, C> new_output() {
    const auto number = static_cast<std::uint32_t>(context_->outputs.size());
    auto output = add_output<C>(true);
    for (std::size_t input = 0; input < context_->inputs.size(); ++input) {
      if (input_defaults_[input]) links_[input].push_back({number, Summary{}});
    }
    return output;
  }
  /// The same, linked only as `links` say (from inputs, which must exist).
  template <Container C>
  NewOutput<T, C> new_output(const std::vector<LinkTo<T>>& links) {
    const auto number = static_cast<std::uint32_t>(context_->outputs.size());
    auto output = add_output<C>(false);
    for (const auto& link : links) {
      require_input(link.port, "a link");
      links_[link.port].push_back({number, link.summary});
    }
    return output;
  }

  /// When a change of input `input`'s frontier runs the operator; `always` unless told otherwise.
  void set_interest(std::uint32_t input, progress::FrontierInterest interest) {
    require_input(input, "an interest");
    context_->graph->set_interest(context_->inputs[input].target, interest);
  }

  /// Says what outside the operator holds its capabilities, for reports; a literal.
  void held_outside(const char* what) { context_->graph->held_outside(context_->node, what); }

  [[nodiscard]] OperatorInfo info() const {
    auto address = scope_->address;
    address.push_back(context_->node);
    return {context_->node, context_->graph->id_of(context_->node), std::move(address),
            Activator(context_)};
  }
  [[nodiscard]] const progress::NodeName& name() const noexcept { return *context_->name; }
  [[nodiscard]] const LocalPtr<OperatorContext<T>>& context() const noexcept { return context_; }

  /// Ends building. `make(capabilities)` returns the logic; `capabilities.size()` is the number of
  /// outputs.
  template <class Make>
  void build(Make&& make) {
    link_ports();
    std::vector<Capability<T>> capabilities;
    capabilities.reserve(context_->outputs.size());
    for (const auto& token : context_->outputs)
      capabilities.push_back(Capability<T>::initial(token));
    install(std::forward<Make>(make)(std::move(capabilities)));
  }
  /// The same for logic that accounts for the capabilities that it begins with itself; see
  /// raw_builder.hpp.
  template <class Logic>
  void build_without_capabilities(Logic logic) {
    context_->own_accounts = true;
    link_ports();
    install(std::move(logic));
  }

 private:
  using Links = typename OperatorContext<T>::Links;

  void link_ports() {
    auto& graph = *scope_->graph;
    for (std::size_t number = 0; number < links_.size(); ++number) {
      auto& input = context_->inputs[number];
      for (const auto& link : links_[number]) {
        if (link.output >= context_->outputs.size()) {
          throw UsageError(
              context_->name->described(), "a link to output " + std::to_string(link.output),
              std::to_string(context_->outputs.size()) + " outputs", "add the output before build");
        }
        graph.add_link(input.target, context_->outputs[link.output]->port, link.summary);
      }
      if (!are_plain(links_[number]))
        input.links = std::make_unique<const Links>(std::move(links_[number]));
    }
  }
  // Whether these are what an input has that keeps no links: one to each output, leaving times alone.
  [[nodiscard]] bool are_plain(const Links& links) const {
    for (std::size_t output = 0; output < links.size(); ++output) {
      if (links[output].output != output || !(links[output].summary == Summary{})) return false;
    }
    return links.size() == context_->outputs.size();
  }
  template <class Logic>
  void install(Logic logic) {
    static_assert(std::is_invocable_v<Logic&>,
                  "the logic of an operator is called without arguments");
    scope_->graph->install(
        context_->node,
        std::make_unique<internal::OperatorShell<T, Logic>>(context_, std::move(logic)), true);
  }
  void require_input(std::uint32_t input, const char* what) const {
    if (input < context_->inputs.size()) return;
    throw UsageError(context_->name->described(),
                     std::string(what) + " of input " + std::to_string(input),
                     std::to_string(context_->inputs.size()) + " inputs", "add the input first");
  }

  template <Container C, class Pact>
  InputPort<T, C> add_input(const Stream<T, C>& stream, const Pact& pact, bool linked_to_all) {
    require_stream(stream.scope_state(), *context_->name);
    stream.scope_state()->require_open(*context_->name);
    if (stream.scope_state() != scope_) {
      throw UsageError(context_->name->described(),
                       "a stream of scope \"" + scope_->name.name + "\"",
                       "a stream of scope \"" + stream.scope_state()->name.name + "\"",
                       "bring it in with enter, or out with leave");
    }
    auto& graph = *scope_->graph;
    const auto target = graph.add_port(context_->node, progress::PortKind::target);
    EdgeCount<T> count = stream.counted() ? EdgeCount<T>(context_->ledger, target) : EdgeCount<T>();
    auto ends = pact.template connect<C>(Connection<T>{*scope_, context_->node, *context_->name,
                                                       std::move(count), context_->target,
                                                       graph.channel_log(target)});
    stream.connect(target, std::move(ends.push), internal::pact_name<Pact>());
    const auto number = static_cast<std::uint32_t>(context_->inputs.size());
    context_->inputs.push_back({target, nullptr, nullptr});
    links_.emplace_back();
    input_defaults_.push_back(linked_to_all);
    return InputPort<T, C>(
        make_local<internal::InputCore<T, C>>(*context_, number, std::move(ends.pull)));
  }
  template <Container C>
  NewOutput<T, C> add_output(bool linked_from_all) {
    auto& graph = *scope_->graph;
    auto token = make_local<OutputToken<T>>();
    token->ledger = context_->ledger;
    token->port = graph.add_port(context_->node, progress::PortKind::source);
    token->output = static_cast<std::uint32_t>(context_->outputs.size());
    token->operator_name = context_->name;
    token->scope = scope_;
    context_->outputs.push_back(token);
    output_defaults_.push_back(linked_from_all);
    auto tee = make_local<Tee<T, C>>();
    auto core = make_local<internal::OutputCore<T, C>>(*context_, token, tee);
    return {OutputPort<T, C>(std::move(core)), Stream<T, C>(scope_, token->port, std::move(tee))};
  }

  LocalPtr<ScopeState<T>> scope_;
  LocalPtr<OperatorContext<T>> context_;
  std::vector<Links> links_;           // by input
  std::vector<bool> input_defaults_;   // linked to outputs that come later
  std::vector<bool> output_defaults_;  // linked from inputs that come later
};

}  // namespace leat::dataflow
