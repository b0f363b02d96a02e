// The progress protocol under random schedules. Workers run random scopes, one of them nested, whose
// operators send records, hold, move and drop capabilities at random; each worker reads each peer's batches
// with a delay of their own, in order, and may be built late. One thread simulates them all and knows the
// truth: which records are under way and which capabilities are held.
//
// Safe: no frontier on any worker is ever ahead of what the truth can still lead to, and none moves back.
// Live: whenever everything was read and run, every frontier is exactly that, and all counts are; and when
// capabilities and records are gone the workers end. Both in eager and in demand mode.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <source_location>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <leat/base/rng.hpp>
#include <leat/comm/fabric.hpp>
#include <leat/progress/antichain.hpp>
#include <leat/progress/kept_batch.hpp>
#include <leat/progress/nested_scope.hpp>
#include <leat/progress/plane.hpp>
#include <leat/progress/product.hpp>
#include <leat/progress/subgraph.hpp>

#include "draw_graph.hpp"
#include "property.hpp"

namespace leat::progress {
namespace {

using Outer = std::uint64_t;
using Inner = Product<std::uint64_t, std::uint64_t>;

constexpr ScopeId kOuterScope = 0;
constexpr ScopeId kInnerScope = 1;

// All times are noted as inner ones; those of the outer scope are in round 0.
Inner noted(const Outer& time) { return {time, 0}; }
Inner noted(const Inner& time) { return time; }
template <class T>
T time_of(const Inner& noted) {
  if constexpr (std::is_same_v<T, Outer>) {
    return noted.outer;
  } else {
    return noted;
  }
}
// A time at or after `time`.
Inner later(Rng& rng, Inner time, bool is_inner) {
  time.outer += rng.below(2);
  if (is_inner) time.inner += rng.below(3);
  return time;
}

/// What is run: the outer scope, and the inside of one of its nodes if that is a scope.
struct Plan {
  property::Shape<Outer> outer;
  property::Shape<Inner> inner;
  std::uint32_t nested = 0;  // 0: there is none
  std::uint64_t sends = 0;   // how many batches of records may be sent altogether
};

Plan draw_plan(Rng& rng) {
  Plan plan;
  plan.outer = property::draw_shape<Outer>(rng, {.nodes_max = 5});
  plan.sends = 5 + rng.below(40);
  if (rng.below(3) != 0) {
    plan.nested = static_cast<std::uint32_t>(1 + rng.below(plan.outer.nodes.size() - 1));
    auto& node = plan.outer.nodes[plan.nested];
    node.links.clear();  // the inside says what they are
    std::erase_if(plan.outer.edges, [&](const auto& edge) {
      return edge.to == plan.nested && edge.from >= plan.nested;  // the inside may not advance
    });
    plan.inner = property::draw_shape<Inner>(rng, {.nodes_max = 4,
                                                   .scope_inputs_max = node.targets,
                                                   .scope_outputs_max = node.sources,
                                                   .scope_ports_exact = true});
  }
  return plan;
}

/// Which ports a scope's nodes have; the same on all workers.
struct Ports {
  std::vector<std::vector<PortIndex>> targets;
  std::vector<std::vector<PortIndex>> sources;
  friend bool operator==(const Ports&, const Ports&) = default;
};

/// A port of either scope.
struct Place {
  ScopeId scope = kOuterScope;
  PortIndex port = 0;
  friend auto operator<=>(const Place&, const Place&) = default;
};

/// Records under way, or a capability (one "record").
struct Stamp {
  Inner time;
  std::int64_t records;
};
using Stamps = std::map<Place, std::vector<Stamp>>;

class World;

template <class T>
constexpr ScopeId kScopeOf = std::is_same_v<T, Outer> ? kOuterScope : kInnerScope;

/// The operator of every node: does a few random things when it runs.
template <class T>
class Operator final : public Operate<T> {
 public:
  Operator(World& world, std::size_t worker, NodeIndex node)
      : world_(world), worker_(worker), node_(node) {}
  Operator(const Operator&) = delete;
  Operator& operator=(const Operator&) = delete;
  ~Operator() override;
  bool schedule() override;

 private:
  World& world_;
  std::size_t worker_;
  NodeIndex node_;
};

/// The nested scope, known to the world while it lives.
class Nested final : public Operate<Outer> {
 public:
  Nested(World& world, std::size_t worker, std::unique_ptr<NestedScope<Outer, Inner>> scope)
      : world_(world), worker_(worker), scope_(std::move(scope)) {}
  Nested(const Nested&) = delete;
  Nested& operator=(const Nested&) = delete;
  ~Nested() override;
  bool schedule() override { return scope_->schedule(); }
  void initialize() override { scope_->initialize(); }
  void accept_frontier(std::uint32_t input, const Outer& time, int delta) override {
    scope_->accept_frontier(input, time, delta);
  }

 private:
  World& world_;
  std::size_t worker_;
  std::unique_ptr<NestedScope<Outer, Inner>> scope_;
};

class World {
 public:
  World(const Plan& plan, std::size_t peers, core::ProgressMode mode, Rng& rng)
      : plan_(plan),
        mode_(mode),
        rng_(rng),
        fabric_(peers),
        workers_(peers),
        sends_left_(plan.sends) {
    for (std::size_t index = 0; index < peers; ++index) {
      workers_[index].plane = std::make_unique<ProgressPlane>(fabric_.seat(index), mode);
      workers_[index].unread.resize(peers);
    }
    outer_ports_ = ports_of(property::Drawn<Outer>(plan.outer));
    note_initial(kOuterScope, plan.outer, outer_ports_);
    if (plan.nested != 0) {
      inner_ports_ = ports_of(property::Drawn<Inner>(plan.inner));
      note_initial(kInnerScope, plan.inner, inner_ports_);
    }
  }
  World(const World&) = delete;
  World& operator=(const World&) = delete;
  ~World() {
    tearing_down_ = true;
    for (auto& worker : workers_) worker.root.reset();
  }

  /// Runs to the end, or until something is broken. Returns: what.
  std::string run() {
    for (int tick = 0; tick < 400 && broken_.empty(); ++tick) {
      random_tick();
      if (tick % 60 == 59) come_to_rest();
    }
    draining_ = true;
    for (auto& worker : workers_) worker.may_build = true;
    for (int tick = 0; broken_.empty() && !over(); ++tick) {
      if (tick == 20'000) broken_ = "did not end";
      random_tick();
    }
    return broken_;
  }

  [[nodiscard]] std::uint64_t batches() {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < workers_.size(); ++i) sum += fabric_.seat(i).counters().batches;
    return sum;
  }

  // -- For operators ---------------------------------------------------------------------------------

  template <class T>
  void act(std::size_t worker, NodeIndex node) {
    if (frozen_) return;
    for (std::uint64_t n = 1 + rng_.below(draining_ ? 8 : 3); n > 0; --n) {
      if (rng_.below(2) == 0) {
        consume<T>(worker, node);
      } else {
        use_capability<T>(worker, node);
      }
    }
  }

  /// An operator, or the nested scope, is destroyed: nothing may be able to reach it on any worker.
  template <class T>
  void ended(NodeIndex node) {
    if (tearing_down_) return;
    const auto reach = reachable();
    for (const PortIndex port : ports<T>().targets[node]) {
      if (reach.contains({kScopeOf<T>, port})) broken_ = "a child with an open input was destroyed";
    }
    for (const PortIndex port : ports<T>().sources[node]) {
      for (auto& worker : workers_) {
        if (!worker.held[{kScopeOf<T>, port}].empty()) {
          broken_ = "a child with a capability was destroyed";
        }
      }
    }
  }
  void nested_ended(std::size_t worker) {
    workers_[worker].inner = nullptr;
    if (tearing_down_) return;
    const auto reach = reachable();
    for (const auto& [place, times] : reach) {
      if (place.scope == kInnerScope) broken_ = "a scope was destroyed that something can reach";
    }
  }

 private:
  struct Worker {
    std::unique_ptr<ProgressPlane> plane;
    core::ActivationSet active;
    std::unique_ptr<Subgraph<Outer>> root;
    Subgraph<Inner>* inner = nullptr;           // while it lives
    LocalPtr<Ledger<Inner>> inner_ledger;       // longer
    std::vector<std::deque<KeptBatch>> unread;  // by writer
    Stamps queued;                              // records for this worker, by target
    Stamps held;                                // capabilities, by source
    std::map<Place, Antichain<Inner>> shown;
    bool built = false;
    bool over = false;
    bool may_build = false;
  };

  template <class T>
  static Ports ports_of(const property::Drawn<T>& drawn) {
    return {drawn.targets, drawn.sources};
  }
  template <class T>
  void note_initial(ScopeId scope, const property::Shape<T>& shape, const Ports& ports) {
    for (NodeIndex node = 1; node < shape.nodes.size(); ++node) {
      if (scope == kOuterScope && node == plan_.nested) continue;
      for (const PortIndex port : ports.sources[node]) {
        for (auto& worker : workers_) worker.held[{scope, port}].push_back({Inner{}, 1});
      }
    }
  }

  template <class T>
  [[nodiscard]] const Ports& ports() const {
    if constexpr (std::is_same_v<T, Outer>) {
      return outer_ports_;
    } else {
      return inner_ports_;
    }
  }
  template <class T>
  [[nodiscard]] const property::Shape<T>& shape() const {
    if constexpr (std::is_same_v<T, Outer>) {
      return plan_.outer;
    } else {
      return plan_.inner;
    }
  }
  template <class T>
  Subgraph<T>* graph(std::size_t worker) {
    if constexpr (std::is_same_v<T, Outer>) {
      return workers_[worker].root.get();
    } else {
      return workers_[worker].inner;
    }
  }
  template <class T>
  Ledger<T>& ledger(std::size_t worker) {
    if constexpr (std::is_same_v<T, Outer>) {
      return *workers_[worker].root->ledger();
    } else {
      return *workers_[worker].inner_ledger;
    }
  }

  // -- Building --------------------------------------------------------------------------------------

  // The ports come in the order in which property::Drawn makes them.
  template <class T>
  void build_node(Subgraph<T>& graph, std::size_t worker, NodeIndex node, Ports& made) {
    const auto& drawn = shape<T>().nodes[node];
    const NodeIndex added = graph.add_node({"node " + std::to_string(node), {}});
    for (std::uint32_t i = 0; i < drawn.targets; ++i) {
      made.targets[node].push_back(graph.add_port(added, PortKind::target));
    }
    for (std::uint32_t i = 0; i < drawn.sources; ++i) {
      made.sources[node].push_back(graph.add_port(added, PortKind::source));
    }
    for (const auto& link : drawn.links) {
      graph.add_link(made.targets[node][link.input], made.sources[node][link.output], link.summary);
    }
    graph.install(added, std::make_unique<Operator<T>>(*this, worker, node), true);
  }
  template <class T>
  void build_edges(Subgraph<T>& graph) {
    for (const auto& edge : shape<T>().edges) {
      graph.add_edge(ports<T>().sources[edge.from][edge.output],
                     ports<T>().targets[edge.to][edge.input]);
    }
  }
  void build_nested(std::size_t worker, Ports& outer_made) {
    auto& at = workers_[worker];
    auto scope =
        std::make_unique<NestedScope<Outer, Inner>>(*at.root, kInnerScope, NodeName{"nested", {}});
    const auto& node = plan_.outer.nodes[plan_.nested];
    Ports made{decltype(Ports::targets)(plan_.inner.nodes.size()),
               decltype(Ports::sources)(plan_.inner.nodes.size())};
    std::vector<PortIndex> outer_sources;
    std::vector<PortIndex> inner_sources;
    for (std::uint32_t i = 0; i < node.targets; ++i) {
      outer_made.targets[plan_.nested].push_back(0);
    }
    // Inside, outputs (targets of node 0) are made before inputs, outside it is the other way round.
    std::vector<NestedScope<Outer, Inner>::Entrance> entrances;
    std::vector<NestedScope<Outer, Inner>::Exit> exits;
    for (std::uint32_t i = 0; i < node.targets; ++i) entrances.push_back(scope->add_input());
    for (std::uint32_t i = 0; i < node.sources; ++i) exits.push_back(scope->add_output());
    for (std::uint32_t i = 0; i < node.targets; ++i) {
      outer_made.targets[plan_.nested][i] = entrances[i].outer_target;
      made.sources[0].push_back(entrances[i].inner_source);
    }
    for (const auto& exit : exits) {
      outer_made.sources[plan_.nested].push_back(exit.outer_source);
      made.targets[0].push_back(exit.inner_target);
    }
    at.inner = &scope->inner();
    at.inner_ledger = scope->inner().ledger();
    for (NodeIndex inside = 1; inside < plan_.inner.nodes.size(); ++inside) {
      build_node<Inner>(scope->inner(), worker, inside, made);
    }
    renumber_scope_ports(made);
    if (made != inner_ports_) broken_ = "the inner scope's ports are not numbered in order";
    build_edges<Inner>(scope->inner());
    scope->seal();
    const NodeIndex at_node = scope->node();
    at.root->install(at_node, std::make_unique<Nested>(*this, worker, std::move(scope)), false);
  }
  // property::Drawn makes node 0's targets before its sources; a nested scope makes its inputs as they are
  // asked for. Both number the rest alike, so the plan's numbers of node 0 are taken from what was made.
  void renumber_scope_ports(const Ports& made) {
    inner_ports_.targets[0] = made.targets[0];
    inner_ports_.sources[0] = made.sources[0];
  }

  void build(std::size_t worker) {
    auto& at = workers_[worker];
    at.root = std::make_unique<Subgraph<Outer>>(*at.plane, kOuterScope, NodeName{"root", {}},
                                                core::Activation(at.active, 0));
    Ports made{decltype(Ports::targets)(plan_.outer.nodes.size()),
               decltype(Ports::sources)(plan_.outer.nodes.size())};
    for (NodeIndex node = 1; node < plan_.outer.nodes.size(); ++node) {
      if (node == plan_.nested) {
        build_nested(worker, made);
      } else {
        build_node<Outer>(*at.root, worker, node, made);
      }
    }
    if (made != outer_ports_) broken_ = "the outer scope's ports are not numbered in order";
    build_edges<Outer>(*at.root);
    at.root->seal(nullptr);
    at.root->initialize();
    at.built = true;
  }

  // -- What operators do -----------------------------------------------------------------------------

  template <class T>
  void consume(std::size_t worker, NodeIndex node) {
    const auto& targets = ports<T>().targets[node];
    if (targets.empty()) return;
    const auto input = static_cast<std::uint32_t>(rng_.below(targets.size()));
    auto& queue = workers_[worker].queued[{kScopeOf<T>, targets[input]}];
    if (queue.empty()) return;
    std::swap(queue[rng_.below(queue.size())], queue.back());  // data comes in any order
    const Stamp stamp = queue.back();
    queue.pop_back();
    const T time = time_of<T>(stamp.time);
    if (!graph<T>(worker)->frontier(targets[input]).less_equal(time)) {
      broken_ = "a record came at a time that its operator's frontier had passed";
    }
    ledger<T>(worker).update(targets[input], time, -stamp.records);
    if (draining_) return;
    for (const auto& link : shape<T>().nodes[node].links) {
      if (link.input != input || rng_.below(2) == 0) continue;
      const auto reached = PathSummary<T>::results_in(link.summary, time);
      if (!reached) continue;
      const Inner then = later(rng_, noted(*reached), kScopeOf<T> == kInnerScope);
      const PortIndex source = ports<T>().sources[node][link.output];
      if (rng_.below(2) == 0) {
        mint<T>(worker, source, then);
      } else {
        send<T>(worker, source, then);
      }
    }
  }

  template <class T>
  void use_capability(std::size_t worker, NodeIndex node) {
    const auto& sources = ports<T>().sources[node];
    if (sources.empty()) return;
    const PortIndex source = sources[rng_.below(sources.size())];
    auto& held = workers_[worker].held[{kScopeOf<T>, source}];
    if (held.empty()) return;
    const std::size_t which = rng_.below(held.size());
    const Inner time = held[which].time;
    const Inner then = later(rng_, time, kScopeOf<T> == kInnerScope);
    const auto drop = [&] {
      ledger<T>(worker).update(source, time_of<T>(time), -1);
      held[which] = held.back();
      held.pop_back();
    };
    switch (draining_ ? 3 : rng_.below(5)) {
      case 0:
      case 1:
        send<T>(worker, source, then);
        break;
      case 2:
        ledger<T>(worker).update(source, time_of<T>(then), +1);
        ledger<T>(worker).update(source, time_of<T>(time), -1);
        held[which].time = then;
        break;
      case 3:
        drop();
        break;
      default:
        if (held.size() < 4) mint<T>(worker, source, then);
        break;
    }
  }

  template <class T>
  void mint(std::size_t worker, PortIndex source, const Inner& time) {
    ledger<T>(worker).update(source, time_of<T>(time), +1);
    workers_[worker].held[{kScopeOf<T>, source}].push_back({time, 1});
  }

  template <class T>
  void send(std::size_t worker, PortIndex source, const Inner& time) {
    if (sends_left_ == 0) return;
    --sends_left_;
    push<T>(worker, source, time, static_cast<std::int64_t>(1 + rng_.below(3)), true);
  }

  // As edges do it: what a child scope emits is counted by the scope itself.
  template <class T>
  void push(std::size_t worker, PortIndex source, const Inner& time, std::int64_t records,
            bool counted) {
    for (const auto& edge : shape<T>().edges) {
      if (ports<T>().sources[edge.from][edge.output] != source) continue;
      const PortIndex target = ports<T>().targets[edge.to][edge.input];
      if (counted) ledger<T>(worker).update(target, time_of<T>(time), records);
      if constexpr (std::is_same_v<T, Outer>) {
        if (edge.to == plan_.nested) {
          const PortIndex inside = inner_ports_.sources[0][edge.input];
          ledger<Inner>(worker).update(inside, time, -records);
          push<Inner>(worker, inside, time, records, true);
          continue;
        }
      } else if (edge.to == 0) {
        push<Outer>(worker, outer_ports_.sources[plan_.nested][edge.input], {time.outer, 0},
                    records, false);
        continue;
      }
      workers_[rng_.below(workers_.size())].queued[{kScopeOf<T>, target}].push_back(
          {time, records});
    }
  }

  // -- Schedules -------------------------------------------------------------------------------------

  void random_tick() {
    const std::size_t index = rng_.below(workers_.size());
    auto& worker = workers_[index];
    if (!worker.built) {
      if (rng_.below(worker.may_build ? 2 : 40) == 0) build(index);
      return;
    }
    switch (rng_.below(4)) {
      case 0:
        read(index, rng_.below(workers_.size()), 1 + rng_.below(3));
        break;
      case 1:
        break;
      default:
        activate_someone(index);
        break;
    }
    step(index);
  }

  void activate_someone(std::size_t index) {
    auto& worker = workers_[index];
    if (worker.over) return;
    if (worker.inner != nullptr && rng_.below(2) == 0) {
      const auto node = static_cast<NodeIndex>(1 + rng_.below(worker.inner->nodes() - 1));
      worker.inner->activation_of(node).activate();
    } else {
      const auto node = static_cast<NodeIndex>(1 + rng_.below(worker.root->nodes() - 1));
      worker.root->activation_of(node).activate();
    }
  }

  bool step(std::size_t index) {
    auto& worker = workers_[index];
    if (!worker.built || worker.over || !worker.active.is_set(0)) return false;
    worker.active.clear(0);
    if (!worker.root->schedule()) {
      worker.over = true;
      if (!reachable().empty()) broken_ = "a dataflow ended that was not over";
      worker.root.reset();
    } else if (mode_ == core::ProgressMode::eager || workers_.size() == 1) {
      const bool nothing_held =
          worker.root->ledger()->changes().is_empty() &&
          (worker.inner == nullptr || worker.inner_ledger->changes().is_empty());
      if (!nothing_held) broken_ = "a batch was held back";
    }
    for (std::size_t reader = 0; reader < workers_.size(); ++reader) {
      if (reader == index) continue;  // only `index` has written since the last time
      fabric_.seat(reader).read_logs([&](const queue::EntryHeader& entry) {
        workers_[reader].unread[index].emplace_back(entry);
      });
    }
    check_frontiers(index, false);
    return true;
  }

  bool read(std::size_t reader, std::size_t writer, std::uint64_t batches) {
    auto& worker = workers_[reader];
    auto& unread = worker.unread[writer];
    if (!worker.built || unread.empty()) return false;
    for (; batches > 0 && !unread.empty(); --batches) {
      const auto& entry = unread.front().entry();
      if (entry.tag == kOuterScope) {
        if (worker.root != nullptr) worker.root->absorb(entry);
      } else if (worker.inner != nullptr) {
        worker.inner->absorb(entry);
      }
      unread.pop_front();
    }
    return true;
  }

  /// Nobody does anything new; everything is read and run.
  void come_to_rest() {
    for (const auto& worker : workers_) {
      if (!worker.built) return;
    }
    frozen_ = true;
    for (int round = 0;; ++round) {
      bool busy = false;
      for (std::size_t index = 0; index < workers_.size(); ++index) {
        for (std::size_t writer = 0; writer < workers_.size(); ++writer) {
          busy = read(index, writer, 1'000'000) || busy;
        }
        busy = step(index) || busy;
      }
      if (!busy) break;
      if (round == 10'000) {
        broken_ = "did not come to rest";
        break;
      }
    }
    for (std::size_t index = 0; index < workers_.size(); ++index) check_frontiers(index, true);
    check_counts<Outer>();
    if (plan_.nested != 0) check_counts<Inner>();
    frozen_ = false;
  }

  [[nodiscard]] bool over() const {
    return std::all_of(workers_.begin(), workers_.end(), [](const auto& w) { return w.over; });
  }

  // -- The truth -------------------------------------------------------------------------------------

  /// What the records under way and the capabilities held can still lead to, at every port.
  std::map<Place, Antichain<Inner>> reachable() {
    std::map<Place, Antichain<Inner>> reach;
    std::vector<std::pair<Place, Inner>> work;
    const auto insert = [&](const Place& place, const Inner& time) {
      if (reach[place].insert(time)) work.emplace_back(place, time);
    };
    for (const auto& worker : workers_) {
      for (const auto* stamps : {&worker.queued, &worker.held}) {
        for (const auto& [place, list] : *stamps) {
          for (const auto& stamp : list) insert(place, stamp.time);
        }
      }
    }
    while (!work.empty()) {
      const auto [place, time] = work.back();
      work.pop_back();
      if (place.scope == kOuterScope) {
        follow<Outer>(place, time, insert);
      } else {
        follow<Inner>(place, time, insert);
      }
    }
    return reach;
  }

  template <class T, class Insert>
  void follow(const Place& place, const Inner& time, Insert& insert) {
    for (const auto& edge : shape<T>().edges) {
      if (ports<T>().sources[edge.from][edge.output] != place.port) continue;
      insert({kScopeOf<T>, ports<T>().targets[edge.to][edge.input]}, time);
    }
    for (NodeIndex node = 0; node < shape<T>().nodes.size(); ++node) {
      const auto& targets = ports<T>().targets[node];
      const auto found = std::find(targets.begin(), targets.end(), place.port);
      if (found == targets.end()) continue;
      const auto input = static_cast<std::uint32_t>(found - targets.begin());
      for (const auto& link : shape<T>().nodes[node].links) {
        if (link.input != input) continue;
        if (const auto then = PathSummary<T>::results_in(link.summary, time_of<T>(time))) {
          insert({kScopeOf<T>, ports<T>().sources[node][link.output]}, noted(*then));
        }
      }
      if constexpr (std::is_same_v<T, Outer>) {
        if (node != 0 && node == plan_.nested) {
          insert({kInnerScope, inner_ports_.sources[0][input]}, time);
        }
      } else if (node == 0) {
        insert({kOuterScope, outer_ports_.sources[plan_.nested][input]}, {time.outer, 0});
      }
    }
  }

  void check_frontiers(std::size_t index, bool at_rest) {
    const auto reach = reachable();
    if (workers_[index].root != nullptr) check_scope<Outer>(index, reach, at_rest);
    if (workers_[index].inner != nullptr) check_scope<Inner>(index, reach, at_rest);
    if (workers_[index].over && at_rest && !reach.empty()) broken_ = "it ended too early";
  }

  template <class T>
  void check_scope(std::size_t index, const std::map<Place, Antichain<Inner>>& reach,
                   bool at_rest) {
    for (NodeIndex node = 1; node < shape<T>().nodes.size(); ++node) {
      for (const PortIndex target : ports<T>().targets[node]) {
        const Place place{kScopeOf<T>, target};
        Antichain<Inner> frontier;
        for (const T& time : graph<T>(index)->frontier(target)) {
          frontier.insert(noted(time));
        }
        const auto found = reach.find(place);
        const Antichain<Inner> truth = found == reach.end() ? Antichain<Inner>() : found->second;
        if (!frontier.dominates(truth.borrow())) broken_ = "a frontier was ahead of the truth";
        if (at_rest && frontier != truth) broken_ = "a frontier stayed behind the truth";
        auto [before, is_first] = workers_[index].shown.try_emplace(place, frontier);
        if (!is_first && !before->second.dominates(frontier.borrow())) {
          broken_ = "a frontier moved back";
        }
        before->second = frontier;
      }
    }
  }

  /// What any worker counts, and what all of them hold back, is what there is.
  template <class T>
  void check_counts() {
    for (NodeIndex node = 1; node < shape<T>().nodes.size(); ++node) {
      if (std::is_same_v<T, Outer> && node == plan_.nested) continue;
      for (const bool is_target : {true, false}) {
        for (const PortIndex port :
             is_target ? ports<T>().targets[node] : ports<T>().sources[node]) {
          check_counts_at<T>(port, is_target);
        }
      }
    }
  }
  template <class T>
  void check_counts_at(PortIndex port, bool is_target) {
    std::map<Inner, std::int64_t> truth;
    const auto add = [&](const Inner& time, std::int64_t count) {
      if ((truth[time] += count) == 0) truth.erase(time);
    };
    for (std::size_t index = 0; index < workers_.size(); ++index) {
      auto& worker = workers_[index];
      for (const auto& stamp : (is_target ? worker.queued : worker.held)[{kScopeOf<T>, port}]) {
        add(stamp.time, stamp.records);
      }
      if (graph<T>(index) == nullptr) continue;
      for (const auto& [at, diff] : ledger<T>(index).changes()) {
        if (at.port == port) add(noted(at.time), -diff);
      }
    }
    for (std::size_t index = 0; index < workers_.size(); ++index) {
      if (graph<T>(index) == nullptr) continue;
      std::map<Inner, std::int64_t> counted;
      graph<T>(index)->tracker().pointstamps(port).for_each(
          [&](const T& time, std::int64_t count) { counted[noted(time)] = count; });
      if (counted != truth) broken_ = "the counts are not what there is";
    }
  }

  const Plan& plan_;
  core::ProgressMode mode_;
  Rng& rng_;
  comm::Fabric fabric_;
  std::vector<Worker> workers_;
  Ports outer_ports_;
  Ports inner_ports_;
  std::uint64_t sends_left_;
  std::string broken_;
  bool frozen_ = false;
  bool draining_ = false;
  bool tearing_down_ = false;
};

template <class T>
Operator<T>::~Operator() {
  world_.ended<T>(node_);
}
template <class T>
bool Operator<T>::schedule() {
  world_.act<T>(worker_, node_);
  return false;
}
Nested::~Nested() { world_.nested_ended(worker_); }

TEST(ProgressProtocol, IsSafeAndLiveUnderAnyScheduleInBothModes) {
  const char* const given = std::getenv("LEAT_ROUNDS");
  const std::uint64_t rounds = given != nullptr ? std::strtoull(given, nullptr, 10) : 200;
  std::uint64_t eager_batches = 0;
  std::uint64_t demand_batches = 0;
  for (std::uint64_t round = 0; round < rounds; ++round) {
    for (const auto mode : {core::ProgressMode::eager, core::ProgressMode::demand}) {
      const bool is_eager = mode == core::ProgressMode::eager;
      Rng rng(property::seed() + round);
      const Plan plan = draw_plan(rng);
      const std::size_t peers = 1 + rng.below(4);
      World world(plan, peers, mode, rng);
      ASSERT_EQ(world.run(), "") << "LEAT_SEED=" << property::seed() + round << " LEAT_ROUNDS=1, "
                                 << peers << " workers, " << (is_eager ? "eager" : "demand");
      (is_eager ? eager_batches : demand_batches) += world.batches();
    }
  }
  if (rounds >= 100) {  // or chance decides
    EXPECT_LT(demand_batches, eager_batches);
  }
}

}  // namespace
}  // namespace leat::progress
