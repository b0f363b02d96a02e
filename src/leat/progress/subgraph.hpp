// What      One scope on one worker: its children, its tracker, and its part in the progress
//           protocol. The dataflow layer builds graphs with it; the root of every dataflow is one.
// Protocol  Each run of a scope: propagate what peers and the parent said; run the active children
//           in ascending order, each at most once; propagate what child scopes reported; publish
//           what the children did as one whole batch, unless demand mode holds it; apply that batch
//           to the own tracker in the same way as a received one, and propagate again. A worker
//           without peers goes round again at once, a few times over, for children that records or
//           frontiers made active; not if one of them asked for the next step.
// Invariants
//   (1) A batch is whole: it is published entirely or held entirely, and it is applied here exactly
//       when it is published (the reader of the logs skips its own).
//   (2) All that a scope tells its parent (records consumed at its inputs, records produced at its
//       outputs, capabilities projected to its outputs) leaves from `propagate` in one step, never
//       in halves.
//   (3) The children's counts start at `peers` per output at the minimum, on every worker, and are
//       never published; whatever an operator does later, also while the graph is built, is an
//       ordinary change.
//   (4) A child scope is not local: every worker reports the same aggregate for it, so its changes
//       go to the tracker directly and never into the ledger.
//   (5) A run ends early, between two children, when the fuel of its dataflow's turn is spent; the
//       next one begins there, so every active child comes to run. It goes round at most
//       kRoundsAtOnce times.
//   (6) A child is destroyed only when it said it is complete, its input frontiers are empty, and
//       no worker holds a capability of it.
// Threads   The worker's own, throughout.
// Source    Naiad (SOSP 2013) and Timely Dataflow's `Subgraph`; ours differs in the ledger, in
//           activation by bits, and in frontiers that are read in place.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <leat/base/check.hpp>
#include <leat/base/local_ptr.hpp>
#include <leat/base/usage_error.hpp>
#include <leat/core/activation.hpp>
#include <leat/core/config.hpp>
#include <leat/core/spares.hpp>
#include <leat/progress/batch_entry.hpp>
#include <leat/progress/ledger.hpp>
#include <leat/progress/node_name.hpp>
#include <leat/progress/operate.hpp>
#include <leat/progress/plane.hpp>
#include <leat/progress/product.hpp>
#include <leat/progress/reachability.hpp>
#include <leat/progress/validator.hpp>
#include <leat/progress/watch/scope_watch.hpp>
#include <leat/progress/watch/time_text.hpp>

namespace leat::progress {

/// Which node of its worker something is, and where: the same on all workers.
struct NodePlace {
  std::uint64_t id = 0;
  Sketch::Address address;
};

/// What a scope tells its parent, in the scope's own times.
template <class T>
class Boundary {
 public:
  Boundary() = default;
  Boundary(const Boundary&) = delete;
  Boundary& operator=(const Boundary&) = delete;
  virtual ~Boundary() = default;
  virtual void consumed(std::uint32_t input, const T& time, std::int64_t records) = 0;
  virtual void produced(std::uint32_t output, const T& time, std::int64_t records) = 0;
  virtual void capability(std::uint32_t output, const T& time, std::int64_t delta) = 0;
};

template <Timestamp T>
class Subgraph final : public ScopeInbox, core::Keeper {
 public:
  using Summary = SummaryOf<T>;

  Subgraph(ProgressPlane& plane, ScopeId id, NodeName name, core::Activation self)
      : plane_(plane),
        id_(id),
        name_(plane.names().share(std::move(name))),
        self_(self),
        active_(self),
        ledger_(make_local<Ledger<T>>(self)),
        children_(1),
        counts_(1),
        watch_(ScopeWatch<T>::if_wanted(plane)) {
    if (!Encodable<T> && plane_.has_links()) refuse_times(type_name<T>());
    children_[0].name = name_;
    plane_.announce(id_);
  }
  ~Subgraph() override {
    if (watch_) tell_end();
    ledger_->close();
    plane_.detach(id_);
    // Later children may hold what earlier ones own last: the order of construction, reversed.
    while (!children_.empty()) children_.pop_back();
  }

  // -- Building -----------------------------------------------------------------------------------

  /// Says which node of its worker the scope itself is. Before children are added.
  void set_place(NodePlace place) {
    if (watch_) watch_->set_scope(place.id);
    place_ = std::move(place);
  }
  /// Reserves the next child's place; it must be installed before `seal`.
  NodeIndex add_node(NodeName name) {
    children_.emplace_back();
    counts_.emplace_back();
    children_.back().name = plane_.names().share(std::move(name));
    children_.back().id = plane_.new_node_id();
    return static_cast<NodeIndex>(children_.size() - 1);
  }
  /// Adds an input (target) or output (source) to a node. On node 0 a source is an input of the
  /// scope.
  PortIndex add_port(NodeIndex node, PortKind kind,
                     FrontierInterest interest = FrontierInterest::always) {
    auto& count = counts_[node];
    const auto number = kind == PortKind::target ? count.targets++ : count.sources++;
    const PortIndex port = graph_.add_port(node, number, kind);
    ports_.push_back({node == 0 ? Reaction::nothing : reaction_to(interest)});
    if (node == 0) (kind == PortKind::source ? scope_inputs_ : scope_outputs_).push_back(port);
    const std::uint64_t channel = kind == PortKind::target ? plane_.new_channel_id() : 0;
    if (watch_) channels_.push_back(channel);
    return port;
  }
  void set_interest(PortIndex port, FrontierInterest interest) {
    ports_[port].reaction = reaction_to(interest);
  }
  /// Connects two ports. `pact` says how records travel, `type` what their batches are; both live as
  /// long as the program.
  void add_edge(PortIndex source, PortIndex target, const char* pact = "",
                std::string_view type = {}) {
    graph_.add_edge(source, target);
    ports_[target].pact = number_of(pact);
    if (watch_) {
      watch_->tell(ChannelsEvent{channels_[target], edge(source, target), std::string(type)});
    }
  }
  void add_link(PortIndex target, PortIndex source, Summary summary) {
    graph_.add_link(target, source, std::move(summary));
  }
  /// Puts a child in its reserved place. `local` is false for a scope.
  void install(NodeIndex node, std::unique_ptr<Operate<T>> child, bool local) {
    LEAT_CHECK(children_[node].op == nullptr, "a child is installed once");
    children_[node].op = std::move(child);
    children_[node].local = local;
    ++live_children_;
  }
  [[nodiscard]] bool installed(NodeIndex node) const noexcept {
    return children_[node].op != nullptr;
  }

  /// Ends building: checks the shape and makes the tracker.
  ///
  /// Errors: `UsageError` naming the operators, if a reserved place is empty (a feedback that was
  ///         never connected) or a cycle need not advance time.
  void seal(Boundary<T>* boundary) {
    for (std::size_t node = 1; node < children_.size(); ++node) {
      if (!children_[node].op) {
        throw UsageError(children_[node].name->described(),
                         "every loop to be closed in the scope that opened it",
                         "a feedback without a connection", "call connect_loop with its handle");
      }
    }
    const auto forward = Hops<Summary>::forward(graph_.ports.size(), graph_.hops);
    if (const auto cycle = stalled_cycle(graph_, forward); !cycle.empty()) {
      throw UsageError(children_[graph_.ports[cycle.front()].node].name->described(),
                       "a loop that advances time", "the cycle " + described(cycle) + " does not",
                       "give its feedback a summary that adds to the time");
    }
    for (PortIndex port = 0; port < graph_.ports.size(); ++port) {
      const PortInfo& info = graph_.ports[port];
      if (info.node != 0 && !children_[info.node].local) ports_[port].reaction = Reaction::inform;
    }
    boundary_ = boundary;
    tracker_ = Tracker<T>(graph_, children_.size());
    // Nothing is added any more, and the tracker knows the shape; a large graph that is idle should
    // not pay for having grown.
    graph_ = {};
    counts_ = {};
    children_.shrink_to_fit();
    ports_.shrink_to_fit();
    channels_.shrink_to_fit();
    sealed_ = true;
  }

  /// Gives the children their initial counts, and makes the scope ready to run.
  void initialize() {
    if (watch_) tell_shape();
    const auto peers = static_cast<std::int64_t>(plane_.peers());
    if (plane_.validates())
      validator_ = std::make_unique<Validator<T>>(tracker_, tracker_.ports().size());
    for (PortIndex port = 0; port < tracker_.ports().size(); ++port) {
      const PortInfo& info = tracker_.info(port);
      if (info.node == 0 || info.kind != PortKind::source || !children_[info.node].local) continue;
      tracker_.update(port, TimestampTraits<T>::minimum(), peers);
      if (validator_) validator_->begins_with(port);
      if (watch_) tell_beginning(port, peers);
    }
    for (std::size_t node = 1; node < children_.size(); ++node) {
      children_[node].op->initialize();
      active_.activate(static_cast<std::uint32_t>(node));
    }
    propagate();
    self_.activate();
    plane_.attach(id_, *this);
  }

  // -- Running ------------------------------------------------------------------------------------

  /// Returns: true while something of this scope, on any worker, is outstanding.
  bool schedule() {
    if (watch_ && boundary_ == nullptr) [[unlikely]]
      watch_->scope_starts();
    ledger_->enter_run();
    active_.enter_run();
    if (validator_) [[unlikely]]
      validate();  // what came from outside
    propagate();
    // Without peers nothing can come in between that would have to be heard first.
    std::uint32_t rounds_left = plane_.peers() == 1 ? kRoundsAtOnce : 1;
    do {
      run_children();
      propagate();  // what child scopes reported: a held batch may block since then
      if (publish()) propagate();
    } while (--rounds_left != 0 && active_.any() && active_.all_at_once() &&
             !plane_.fuel().is_spent());
    ledger_->leave_run();
    active_.leave_run();
    if (watch_) [[unlikely]]
      watch_->scope_stops();
    return live_children_ > 0 || tracker_.tracking_anything();
  }

  /// Takes a peer's batch. It has effect when the scope runs next.
  void absorb(const queue::EntryHeader& entry) override {
    if (watch_) [[unlikely]]
      watch_->absorbed(tracker_.ports(), batch_of<T>(entry), plane_.reading());
    const auto changes = batch_of<T>(entry);
    apply_all(changes.size(), [&](std::size_t i) -> const LoggedChange<T>& { return changes[i]; });
    self_.activate();
  }

  /// The same of a batch that came as bytes; what it says of ports that are not there is refused.
  void absorb_bytes(const WireBatch& batch) override {
    if (batch.type_hash != type_hash<LoggedChange<T>>())
      refuse_batch(id_, batch, "its times are of another type");
    if constexpr (Encodable<T>) {
      ByteSource from(batch.bytes);
      arrived_.clear();
      for (std::uint32_t i = 0; i < batch.count; ++i) {
        auto& change = arrived_.emplace_back();
        if (!Codec<LoggedChange<T>>::decode(from, change))
          refuse_batch(id_, batch, from.error().message);
        if (change.port >= tracker_.ports().size())
          refuse_batch(id_, batch, "there is no port " + std::to_string(change.port));
      }
      if (watch_) [[unlikely]]
        watch_->absorbed(tracker_.ports(), std::span<const LoggedChange<T>>(arrived_),
                         plane_.reading());
      apply_all(arrived_.size(),
                [&](std::size_t i) -> const LoggedChange<T>& { return arrived_[i]; });
      self_.activate();
    }
  }

  /// The parent's frontier at one of this scope's inputs changed.
  void accept_frontier(std::uint32_t input, const T& time, int delta) {
    if (watch_) [[unlikely]]
      tell_count(scope_inputs_[input], time, delta);
    tracker_.update(scope_inputs_[input], time, delta);
    self_.activate();
  }

  /// A change that a child scope reports; every worker learns it in the same way.
  void report(PortIndex port, const T& time, std::int64_t delta) {
    if (watch_ && tracker_.info(port).node != 0) [[unlikely]]
      tell_count(port, time, delta);
    apply(port, time, delta);
  }

  /// The times that may still arrive at a target of this scope's children. Constant while operators
  /// run.
  [[nodiscard]] AntichainRef<T> frontier(PortIndex target) const noexcept {
    return tracker_.frontier(target);
  }

  [[nodiscard]] const LocalPtr<Ledger<T>>& ledger() const noexcept { return ledger_; }
  [[nodiscard]] const Tracker<T>& tracker() const noexcept { return tracker_; }
  [[nodiscard]] core::Activation activation_of(NodeIndex node) noexcept { return {active_, node}; }
  [[nodiscard]] ScopeId id() const noexcept { return id_; }
  [[nodiscard]] bool sealed() const noexcept { return sealed_; }
  [[nodiscard]] ProgressPlane& plane() noexcept { return plane_; }
  [[nodiscard]] const SharedName& name_of(NodeIndex node) const noexcept {
    return children_[node].name;
  }
  /// Which node of its worker a child is.
  [[nodiscard]] NodePlace place_of(NodeIndex node) const {
    NodePlace place{children_[node].id, place_.address};
    place.address.push_back(node);
    return place;
  }
  [[nodiscard]] std::uint64_t id_of(NodeIndex node) const noexcept { return children_[node].id; }
  /// Where the ends of the edge into `target` tell of its messages; null if nobody wants to know.
  [[nodiscard]] LocalPtr<ChannelLog> channel_log(PortIndex target) const {
    return watch_ ? watch_->channel_log(channels_[target]) : nullptr;
  }
  [[nodiscard]] std::size_t nodes() const noexcept { return children_.size(); }
  [[nodiscard]] std::uint32_t outputs() const noexcept {
    return static_cast<std::uint32_t>(scope_outputs_.size());
  }
  [[nodiscard]] PortIndex input_port(std::uint32_t input) const noexcept {
    return scope_inputs_[input];
  }

  /// Says what outside the operator holds the capabilities of a child, for reports; a literal.
  void held_outside(NodeIndex node, const char* what) { outside_.emplace_back(node, what); }
  /// Adds what keeps times of this scope possible, and of the scopes in it: all counts of operators
  /// that are not zero.
  void holdings(std::vector<Holding>& into) const {
    for (PortIndex port = 0; port < tracker_.ports().size(); ++port) {
      const PortInfo& info = tracker_.info(port);
      const Child& child = children_[info.node];
      const bool is_source = info.kind == PortKind::source;
      // What a scope holds is what is held in it; what the parent holds is not ours.
      if (info.node == 0 || (is_source && !child.local)) continue;
      const std::size_t first = into.size();
      std::int64_t total = 0;
      tracker_.pointstamps(port).for_each([&](const T& time, std::int64_t count) {
        total += count;
        Holding& held = into.emplace_back();
        held.address = place_of(info.node).address;
        held.who = child.name->described();
        held.outside = outside(info.node);
        held.kind = is_source ? Holding::Kind::capability : Holding::Kind::records;
        held.port = info.number;
        held.pact = pact(port);
        held.time = time_text(time);
        held.count = count;
        held.blocks = tracker_.is_blocking(port, time);
        held.is_due = active_.is_set(info.node);
        if (child.op && is_source) held.held_here = child.op->held_here(info.number);
        if (child.op && !is_source) held.unread = child.op->unread_here(info.number);
        if (watch_) held.by_worker = watch_->shares_of(port, time);
      });
      for (std::size_t i = first; i < into.size(); ++i) into[i].count_at_port = total;
    }
    for (NodeIndex node = 1; node < children_.size(); ++node) {
      if (children_[node].op) children_[node].op->holdings(into);
    }
  }

  /// Tells this scope's children and edges, `address` being its own.
  void sketch(SketchSink& into, const Sketch::Address& address) const {
    auto child = address;
    child.push_back(0);
    for (NodeIndex node = 1; node < children_.size(); ++node) {
      child.back() = node;
      into.node(child, children_[node].name->name, !children_[node].local);
      if (children_[node].op) children_[node].op->sketch(into, child);
    }
    for (const auto& [target, source] : edges()) {
      const PortInfo& from = info(source);
      const PortInfo& to = info(target);
      into.edge(address, from.node, from.number, to.node, to.number, pact(target));
    }
  }

 private:
  static constexpr std::uint32_t kRoundsAtOnce = 16;

  struct Child {
    std::unique_ptr<Operate<T>> op;
    SharedName name;
    std::uint64_t id = 0;  // within its worker
    bool local = true;
    bool incomplete = true;
  };
  /// What a change of a target's frontier leads to.
  enum class Reaction : std::uint8_t { nothing, run, run_if_capability, inform };
  static Reaction reaction_to(FrontierInterest interest) noexcept {
    if (interest == FrontierInterest::never) return Reaction::nothing;
    return interest == FrontierInterest::always ? Reaction::run : Reaction::run_if_capability;
  }

  struct Port {
    Reaction reaction = Reaction::nothing;
    std::uint16_t pact = 0;  // of the edge into a target; in `pacts_`
  };
  struct PortCount {  // of a node that is being built
    std::uint32_t targets = 0;
    std::uint32_t sources = 0;
  };

  struct Crossing {  // a count at the scope's boundary, on its way to the parent
    PortKind kind;
    std::uint32_t number;
    T time;
    std::int64_t delta;
  };

  // A change that every worker learns in the same way, from an aggregate or from a published batch.
  void apply(PortIndex port, const T& time, std::int64_t delta) {
    const PortInfo& info = tracker_.info(port);
    if (info.node != 0) {
      tracker_.update(port, time, delta);
    } else {
      crossings_.push_back({info.kind, info.number, time, delta});
    }
  }

  /// A change where it stands.
  struct ChangeRef {
    const T& time;
    std::int64_t delta;
    PortIndex port;
  };
  // All changes of a batch. The two halves of a capability's move stand next to each other.
  template <class At>
  void apply_all(std::size_t count, const At& at) {
    for (std::size_t i = 0; i < count; ++i) {
      const auto& one = at(i);
      if (i + 1 < count) {
        const auto& other = at(i + 1);
        if (one.port == other.port && one.delta == -other.delta &&
            tracker_.info(one.port).node != 0) {
          const bool is_gone = one.delta < 0;
          tracker_.move(one.port, is_gone ? one.time : other.time, is_gone ? other.time : one.time,
                        is_gone ? other.delta : one.delta);
          ++i;
          continue;
        }
      }
      apply(one.port, one.time, one.delta);
    }
  }

  void propagate() {
    if (tracker_.has_changes() || tracker_.nodes().has_quiet() || !crossings_.empty())
      propagate_changes();
  }
  void propagate_changes() {
    tracker_.propagate([&](PortIndex port, const T* joined,
                           const T* left) { frontier_changed(port, joined, left); },
                       [&](std::uint32_t output, const T& time, int delta) {
                         boundary_->capability(output, time, delta);
                       });
    tracker_.nodes().drain_quiet([&](NodeIndex node) {
      if (node != 0 && children_[node].op) active_.activate(node);
    });
    if (!crossings_.empty()) cross();
  }
  [[gnu::always_inline]] void frontier_changed(PortIndex port, const T* joined, const T* left) {
    switch (ports_[port].reaction) {
      case Reaction::nothing:
        return;
      case Reaction::run:
        active_.activate(tracker_.info(port).node);
        return;
      case Reaction::run_if_capability:
      case Reaction::inform:
        on_target(port, joined, left);
    }
  }
  void cross() {
    for (const auto& crossing : crossings_) {
      if (crossing.kind == PortKind::source) {
        boundary_->consumed(crossing.number, crossing.time, -crossing.delta);
      } else {
        boundary_->produced(crossing.number, crossing.time, crossing.delta);
      }
    }
    crossings_.clear();
  }

  void on_target(PortIndex port, const T* joined, const T* left) {
    const PortInfo& info = tracker_.info(port);
    auto& child = children_[info.node];
    if (!child.op) return;
    if (ports_[port].reaction == Reaction::inform) {
      if (joined != nullptr) child.op->accept_frontier(info.number, *joined, +1);
      if (left != nullptr) child.op->accept_frontier(info.number, *left, -1);
    } else if (tracker_.node(info.node).capabilities <= 0) {
      return;
    }
    active_.activate(info.node);
  }

  void run_children() {
    auto child = active_.take_from(std::exchange(resume_, 0));
    while (child != core::ActivationSet::kNone) {
      run_child(child);
      if (plane_.fuel().is_spent()) [[unlikely]] {  // the others go on where this run ended
        const auto next = active_.next_from(child + 1);
        if (next != core::ActivationSet::kNone) resume_ = next;
        return;
      }
      child = active_.take_from(child + 1);
    }
  }
  [[gnu::always_inline]] void run_child(NodeIndex node) {
    auto& child = children_[node];
    if (!child.op) return;
    if (watch_) [[unlikely]]
      tell_start(node);
    try {
      child.incomplete = child.op->schedule();
      if (validator_) [[unlikely]]
        validate();
    } catch (...) {
      if (watch_) watch_->stops(child.id);
      plane_.note_thrower(child.name->described());
      throw;
    }
    if (watch_) [[unlikely]]
      watch_->stops(child.id);
    const auto& state = tracker_.node(node);
    if (!child.incomplete && state.open_inputs == 0 && state.capabilities == 0) {
      child.op.reset();
      tracker_.nodes().end(node);
      --live_children_;
      if (watch_) watch_->shuts_down(child.id);
    }
  }

  // Checks what was written since the last time, and puts it aside.
  void validate() {
    auto& changes = ledger_->changes();
    if (changes.is_empty()) return;
    const auto net = changes.changes();
    const typename Validator<T>::Changes written(net.begin(), net.end());
    changes.clear();
    for (const auto& [at, diff] : written) valid_.update(at, diff);
    validator_->check(
        written, [&](NodeIndex node) { return children_[node].name->described(); },
        [&](NodeIndex node, std::uint32_t input) {
          const auto* const op = children_[node].op.get();
          return op != nullptr && op->unread_here(input).value_or(Unread{}).kept > 0;
        });
  }

  /// Returns: whether there was a batch and it was published.
  bool publish() {
    if (!validator_) [[likely]]
      return publish_changes();
    auto& changes = ledger_->changes();
    for (const auto& [at, diff] : valid_) changes.update(at, diff);
    valid_.clear();
    const bool is_published = publish_changes();
    for (const auto& [at, diff] : changes) valid_.update(at, diff);
    changes.clear();
    return is_published;
  }
  bool publish_changes() {
    auto& changes = ledger_->changes();
    if (changes.is_empty()) return false;
    const bool shared = plane_.peers() > 1;
    if (shared && plane_.mode() == core::ProgressMode::demand && !must_publish(changes))
      return false;
    if (shared) plane_.publish<T>(id_, changes);
    plane_.count_batch();
    if (watch_) [[unlikely]]
      watch_->published(tracker_.ports(), changes);
    const auto net = changes.net();
    if (!moves_at_once(net))
      apply_all(net.size(), [&](std::size_t i) {
        return ChangeRef{net[i].value.time, net[i].diff, net[i].value.port};
      });
    changes.clear();
    if (changes.keeps_much()) used(plane_.spares());
    return true;
  }
  // A capability that moves on is mostly all that a round has to say.
  bool moves_at_once(std::span<const Change<Pointstamp<T>>> net) {
    if constexpr (Order<T>::is_total) {
      if (net.size() != 2) return false;
      const bool is_gone = net[0].diff < 0;
      const auto& from = net[is_gone ? 0 : 1];
      const auto& to = net[is_gone ? 1 : 0];
      return from.value.port == to.value.port && from.diff == -to.diff &&
             tracker_.info(to.value.port).node != 0 &&
             tracker_.move_at_once(to.value.port, from.value.time, to.value.time, to.diff,
                                   [&](PortIndex port, const T* joined, const T* left) {
                                     frontier_changed(port, joined, left);
                                   });
    } else {
      return false;
    }
  }
  void release_spares() override { ledger_->changes().release_spares(); }

  /// Demand mode holds a batch back, whole, until someone may be waiting for it: until it takes
  /// something away that blocks a frontier, or says something about the scope's boundary, which
  /// only we can see.
  bool must_publish(typename Ledger<T>::Changes& changes) {
    for (const auto& [at, delta] : changes.net()) {
      if (tracker_.info(at.port).node == 0) return true;
      if (delta < 0 && tracker_.is_blocking(at.port, at.time)) return true;
    }
    return false;
  }

  std::string described(const std::vector<PortIndex>& cycle) const {
    std::string text;
    NodeIndex last = 0;
    for (const PortIndex port : cycle) {
      const NodeIndex node = graph_.ports[port].node;
      if (node == last) continue;
      last = node;
      if (!text.empty()) text += " -> ";
      text += "\"" + children_[node].name->name + "\"";
    }
    return text;
  }

  // -- For reports --------------------------------------------------------------------------------

  std::uint16_t number_of(const char* pact) {
    const auto found = std::find(pacts_.begin(), pacts_.end(), std::string_view(pact));
    if (found == pacts_.end()) {
      LEAT_CHECK(pacts_.size() < UINT16_MAX, "too many kinds of pacts in one scope");
      pacts_.push_back(pact);
      return static_cast<std::uint16_t>(pacts_.size() - 1);
    }
    return static_cast<std::uint16_t>(found - pacts_.begin());
  }
  [[nodiscard]] const char* pact(PortIndex target) const { return pacts_[ports_[target].pact]; }
  [[nodiscard]] const char* outside(NodeIndex node) const {
    for (const auto& [holder, what] : outside_) {
      if (holder == node) return what;
    }
    return "";
  }
  [[nodiscard]] const PortInfo& info(PortIndex port) const {
    return sealed_ ? tracker_.info(port) : graph_.ports[port];
  }
  [[nodiscard]] Sketch::Edge edge(PortIndex source, PortIndex target) const {
    const PortInfo& from = info(source);
    const PortInfo& to = info(target);
    return {place_.address, from.node, from.number, to.node, to.number, pact(target)};
  }
  /// The edges as (target, source), in order. Requires: sealed.
  [[nodiscard]] std::vector<std::pair<PortIndex, PortIndex>> edges() const {
    std::vector<std::pair<PortIndex, PortIndex>> all;
    for (PortIndex source = 0; source < tracker_.ports().size(); ++source) {
      if (tracker_.info(source).kind != PortKind::source) continue;
      for (const Step& step : tracker_.forward().row(source)) all.emplace_back(step.port, source);
    }
    std::sort(all.begin(), all.end());
    return all;
  }

  // -- For those who watch; never called if nobody does -------------------------------------------

  [[gnu::cold]] void tell_shape() {
    std::vector<WorkerEvent> nodes;
    if (boundary_ == nullptr)
      nodes.push_back(OperatesEvent{place_.id, place_.address, name_->name, name_->place(), true});
    for (NodeIndex node = 1; node < children_.size(); ++node) {
      const Child& child = children_[node];
      nodes.push_back(OperatesEvent{child.id, place_of(node).address, child.name->name,
                                    child.name->place(), !child.local});
    }
    nodes.push_back(CommChannelsEvent{place_.id, CommChannelsEvent::Kind::progress});
    watch_->tell_all(std::move(nodes));
    if (watch_->has_summaries()) tell_summaries();
  }
  void tell_summaries() {
    std::vector<SummaryEvent<T>> summaries(children_.size());
    for (PortIndex port = 0; port < tracker_.ports().size(); ++port) {
      const PortInfo& from = tracker_.info(port);
      if (from.kind == PortKind::source || from.node == 0) continue;
      for (const Step& step : tracker_.forward().row(port)) {
        summaries[from.node].links.push_back(
            {from.number, tracker_.info(step.port).number, tracker_.forward().summary(step)});
      }
    }
    for (NodeIndex node = 1; node < children_.size(); ++node)
      summaries[node].id = children_[node].id;
    summaries.erase(summaries.begin());  // the boundary's
    watch_->tell_summaries(std::move(summaries));
  }
  void tell_beginning(PortIndex port, std::int64_t peers) {
    tell_count(port, TimestampTraits<T>::minimum(), peers);
    watch_->given_to_all(port, TimestampTraits<T>::minimum());
  }
  [[gnu::cold]] void tell_count(PortIndex port, const T& time, std::int64_t delta) {
    watch_->counted({ScopeWatch<T>::change(tracker_.info(port), time, delta)});
  }
  [[gnu::cold]] void tell_start(NodeIndex node) {
    bool is_news = false;
    for (PortIndex port = 0; port < tracker_.ports().size(); ++port) {
      const PortInfo& info = tracker_.info(port);
      if (info.node == node && info.kind == PortKind::target)
        is_news = watch_->is_news(port, frontier(port)) || is_news;
    }
    if (is_news) watch_->tell(PushProgressEvent{children_[node].id});
    watch_->starts(children_[node].id);
  }
  /// What is left when the scope ends before it is empty is taken back.
  [[gnu::cold]] void tell_end() {
    watch_->scope_stops();
    if (sealed_ && watch_->has_counts()) {
      for (PortIndex port = 0; port < tracker_.ports().size(); ++port) {
        tracker_.pointstamps(port).for_each(
            [&](const T& time, std::int64_t count) { tell_count(port, time, -count); });
      }
    }
    for (NodeIndex node = 1; node < children_.size(); ++node) {
      if (children_[node].op) watch_->shuts_down(children_[node].id);
    }
    if (boundary_ == nullptr) watch_->shuts_down(place_.id);
  }

  ProgressPlane& plane_;
  ScopeId id_;
  SharedName name_;
  core::Activation self_;
  core::ActivationSet active_;
  LocalPtr<Ledger<T>> ledger_;
  std::vector<Child> children_;
  std::vector<Port> ports_;
  std::vector<PortIndex> scope_inputs_;   // node 0's sources
  std::vector<PortIndex> scope_outputs_;  // node 0's targets
  Graph<T> graph_;                        // until it is sealed
  std::vector<PortCount> counts_;         // by node, until it is sealed
  std::vector<const char*> pacts_{""};
  std::vector<std::pair<NodeIndex, const char*>> outside_;  // what holds capabilities, if not logic
  std::vector<std::uint64_t> channels_;                     // by port, if somebody watches
  Tracker<T> tracker_;
  std::unique_ptr<Validator<T>> validator_;  // null: nothing is checked
  typename Ledger<T>::Changes valid_;        // what was checked and is not published
  Boundary<T>* boundary_ = nullptr;
  std::vector<Crossing> crossings_;
  std::vector<LoggedChange<T>> arrived_;  // of one batch from another process
  std::size_t live_children_ = 0;
  std::uint32_t resume_ = 0;  // where the last run ended for want of fuel
  bool sealed_ = false;
  NodePlace place_;
  std::unique_ptr<ScopeWatch<T>> watch_;  // null: nobody wants to know
};

// The times that most programs use are compiled once, in subgraph.cpp.
extern template class Subgraph<std::uint64_t>;
extern template class Subgraph<Product<std::uint64_t, std::uint64_t>>;

}  // namespace leat::progress
