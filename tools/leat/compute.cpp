#include "compute.hpp"

#include <leat/base/clock.hpp>
#include <leat/base/fields.hpp>
#include <leat/base/hash.hpp>
#include <leat/base/os/memory.hpp>
#include "flow/breakage.hpp"
#include "flow/components.hpp"
#include "flow/count.hpp"
#include "flow/failure.hpp"
#include "flow/first.hpp"
#include "flow/lookup.hpp"
#include "flow/meter.hpp"
#include "flow/page_rank.hpp"
#include "flow/sketch.hpp"
#include "flow/streams.hpp"

#include <algorithm>
#include <chrono>
#include <optional>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace leat::tool {

namespace flow {

/// What a worker's part of the run cost.
struct Cost {
  std::uint64_t records = 0;
  std::uint64_t wake_ups = 0;
  std::uint64_t memory =
      0;  // of its process, from its first worker, if that is not the first of all
};
LEAT_FIELDS(Cost, records, wake_ups, memory);

/// What a process was given, as a number.
struct Job {
  std::uint64_t process = 0;
  std::uint64_t nodes = 0;
  std::uint64_t number = 0;
};
LEAT_FIELDS(Job, process, nodes, number);

}  // namespace flow

namespace {

using namespace flow;

/// How many nodes a worker feeds between two steps.
constexpr NodeId kNodesPerStep = 1024;
/// How often the progress display is told.
constexpr Nanos kTellEvery = std::chrono::milliseconds(50);

/// A node's rank, looked up by how many nodes it breaks.
class Ranks {
 public:
  explicit Ranks(const Share& share) : share_(share), ranks_(share.size()) {}
  void add(const Ranked& ranked) { ranks_[share_.row_of(ranked.node)] = ranked.page_rank; }
  void seal() {}
  template <class Session>
  void answer(const Fact<std::uint32_t>& gone, Session& session) const {
    // Who is gone includes what was removed.
    session.give(RankedNode{gone.node, ranks_[share_.row_of(gone.node)], gone.value - 1, 0});
  }

 private:
  Share share_;
  std::vector<std::uint64_t> ranks_;
};

/// The removal of one node, called by that node.
constexpr auto removed_alone = [](const auto& row) { return removal_of(row.node, row.node); };

/// How many nodes each row's node reaches; on the first worker, for the rows that are shown.
class Reaches {
 public:
  void add(const Fact<std::uint32_t>& reached) { reached_.push_back(reached); }
  void seal() { std::ranges::sort(reached_, {}, &Fact<std::uint32_t>::node); }
  template <class Session>
  void answer(RankedNode row, Session& session) const {
    const auto found = std::ranges::lower_bound(reached_, row.node, {}, &Fact<std::uint32_t>::node);
    row.reaches = found->value - 1;  // a node reaches itself, so it was found
    session.give(row);
  }

 private:
  std::vector<Fact<std::uint32_t>> reached_;
};

/// One worker's part of the job. What is computed is written by the first worker alone.
class Part {
 public:
  Part(df::Worker& worker, const DependencyGraph& graph, const ComputeOptions& options,
       std::vector<Meter>& meters, Progress& progress, Computed& computed)
      : worker_(worker),
        graph_(graph),
        options_(options),
        meters_(meters),
        meter_(meters[worker.index() % meters.size()]),
        progress_(progress),
        computed_(computed),
        share_(graph.nodes(), worker.index(), worker.peers()) {}

  /// Refuses to go on if a process was given something else than this one.
  void agree(const Job& own) {
    std::optional<Job> other;
    df::Input<Job> jobs;
    worker_.dataflow_named("jobs", [&](Scope& scope) {
      scope.input(jobs) | df::broadcast() | df::inspect([&](const Job& job) {
                                              if (job.number != own.number) other = job;
                                            }).named("compare");
    });
    jobs.send(own);
    jobs.close();
    while (worker_.has_dataflows()) worker_.step_or_park();
    if (!other) return;
    const auto text = [](const Job& job) {
      return "process " + std::to_string(job.process) + " a graph of " + std::to_string(job.nodes) +
             " nodes (job " + std::to_string(job.number) + ")";
    };
    throw std::runtime_error("processes were given different work: " + text(own) + ", " +
                             text(*other) + "; give all of them the same input and options");
  }

  void rank() {
    df::Input<Edge> edges;
    df::Input<Watch> watches;
    worker_.dataflow_named("ranking", [&](Scope& scope) {
      const auto edges_fed = scope.input(edges);
      const auto watches_fed = scope.input(watches);
      build_ranking(scope, edges_fed, watches_fed);
    });
    sketch();
    feed([&](NodeId node) {
      feed_edges(node, edges);
      feed_watches(node, watches);
    });
    edges.close();
    watches.close();
    while (worker_.has_dataflows()) turn();
  }

  void answer() {
    df::Input<Watch> watches;
    df::Input<Loss> questions;
    df::Probe<> answered;
    worker_.dataflow_named("questions", [&](Scope& scope) {
      const auto watches_fed = scope.input(watches);
      const auto questions_fed = scope.input(questions);
      build_questions(scope, watches_fed, questions_fed, answered);
    });
    sketch();
    feed([&](NodeId node) { feed_watches(node, watches); });
    watches.close();
    if (is_first()) {
      // Question q is at time q, the first one 1: time 0 is over when the graph is in place.
      questions.advance_to(1);
      while (answered.less_than(1)) turn();
      for (const NodeId removed : options_.without) ask(removed, questions, answered);
    }
    questions.close();
    while (worker_.has_dataflows()) turn();
  }

  /// What the run cost so far: on the first worker that of all, on the others nothing.
  Cost add_up() {
    const std::size_t place = worker_.index() % meters_.size();
    const Cost own{meter_.records(), worker_.counters().wakes_sent,
                   place == 0 && !is_first() ? os::peak_rss_bytes() : 0};
    Cost sum;
    df::Input<Cost> costs;
    worker_.dataflow_named("costs", [&](Scope& scope) {
      scope.input(costs) | df::sink(to_first_worker(), "costs", [&sum](auto& input) {
        input.for_each([&sum](auto& message) {
          for (const Cost& cost : message.records()) {
            sum.records += cost.records;
            sum.wake_ups += cost.wake_ups;
            sum.memory += cost.memory;
          }
        });
      });
    });
    costs.send(own);
    costs.close();
    while (worker_.has_dataflows()) worker_.step_or_park();
    return sum;
  }

 private:
  [[nodiscard]] bool is_first() const { return worker_.index() == 0; }

  void build_ranking(Scope& scope, const Stream<Edge>& edges, const Stream<Watch>& watches) {
    const std::size_t nodes = graph_.nodes();
    const auto ranks = page_rank(scope, edges, nodes, meter_);
    ranks | df::sink(df::pipeline, "rounds", [this](auto& input) {
      input.for_each([this](auto& message) {
        if (is_first()) computed_.page_rank_rounds = message.records().front().rounds;
      });
    });
    component_sizes(scope, edges, nodes, meter_) |
        df::sink(to_first_worker(), "components", [this](auto& input) {
          input.for_each([this](auto& message) {
            for (const auto& [node, size] : message.records()) {
              ++computed_.components;
              computed_.largest_component =
                  std::max<std::size_t>(computed_.largest_component, size);
            }
          });
        });

    const auto by_removal = [](const Gone& gone) { return gone.removal; };
    const auto shown = first(
        breakage(scope, watches, candidates(scope, ranks), nodes, meter_, "breaks") |
            count_by(share_, "count broken", by_removal) |
            lookup<RankedNode>(ranks, df::pipeline, df::pipeline, "add ranks", Ranks(share_)),
        "ranking", options_.top, [](const RankedNode& a, const RankedNode& b) {
          return std::tie(b.breaks, b.page_rank, a.node) < std::tie(a.breaks, a.page_rank, b.node);
        });

    const auto reached = breakage(scope, edges | df::map(watch_of).named("as clauses"),
                                  shown | df::map(removed_alone).named("remove each shown"), nodes,
                                  meter_, "reaches") |
                         count_by(share_, "count reached", by_removal);
    shown | lookup<RankedNode>(reached, to_first_worker(), df::pipeline, "add reaches", Reaches()) |
        df::sink(df::pipeline, "rows", [this](auto& input) {
          input.for_each([this](auto& message) {
            const auto& rows = message.records();
            computed_.ranking.insert(computed_.ranking.end(), rows.begin(), rows.end());
          });
        });
  }

  /// What is removed, one at a time, to see what breaks.
  Stream<Loss> candidates(Scope& scope, const Stream<Ranked>& ranks) {
    if (!options_.candidates) {
      return own_nodes(scope, graph_.nodes()) |
             df::map([](NodeId node) { return removal_of(node, node); }).named("remove each");
    }
    return first(ranks, "candidates", *options_.candidates,
                 [](const Ranked& a, const Ranked& b) {
                   return std::tie(b.page_rank, a.node) < std::tie(a.page_rank, b.node);
                 }) |
           df::map(removed_alone).named("remove each");
  }

  void build_questions(Scope& scope, const Stream<Watch>& watches, const Stream<Loss>& questions,
                       const df::Probe<>& answered) {
    breakage_by_round(scope, watches, questions, graph_.nodes(), meter_, "breaks") |
        df::exchange([](const GoneInRound&) { return 0; }) |
        df::inspect_time([this](Time question, const GoneInRound& record) {
          if (record.round == 0) return;  // what was removed itself
          computed_.answers[question - 1].broken.push_back({record.gone.node, record.round});
        }).named("answers") |
        df::probe(answered);
  }

  void ask(NodeId removed, df::Input<Loss>& questions, const df::Probe<>& answered) {
    Answer& answer = computed_.answers.emplace_back();
    answer.removed = removed;
    const Time question = questions.time();
    const Nanos asked_at = clock_.now();
    questions.send(removal_of(removed, static_cast<std::uint32_t>(question)));
    questions.advance_to(question + 1);
    while (answered.less_than(question + 1)) turn();
    answer.latency = clock_.now() - asked_at;
    std::ranges::sort(answer.broken, {}, [](const Breakage& breakage) {
      return std::pair(breakage.distance, breakage.node);
    });
  }

  /// Calls `feed_node` for the run of nodes that this worker feeds, whoever keeps them.
  template <class FeedNode>
  void feed(FeedNode feed_node) {
    const std::size_t nodes = graph_.nodes();
    const auto begin_of = [&](std::size_t worker) {
      return static_cast<NodeId>(nodes * worker / worker_.peers());
    };
    const NodeId end = begin_of(worker_.index() + 1);
    for (NodeId node = begin_of(worker_.index()); node < end; ++node) {
      feed_node(node);
      if (node % kNodesPerStep == 0) {
        worker_.step();
        tell();
      }
    }
  }
  void feed_edges(NodeId node, df::Input<Edge>& input) {
    const auto targets = graph_.edges_of(node);
    for (const NodeId to : targets) input.send({node, to});
    meter_.add(targets.size());
  }
  void feed_watches(NodeId node, df::Input<Watch>& input) {
    for (ClauseId clause = graph_.first_clause(node); clause != graph_.end_clause(node); ++clause) {
      const auto alternatives = graph_.alternatives(clause);
      const auto of = static_cast<std::uint32_t>(alternatives.size());
      for (const NodeId alternative : alternatives) input.send({alternative, node, clause, of});
      meter_.add(of);
    }
  }

  void sketch() {
    if (is_first())
      computed_.flow = flow::graph_of(worker_.sketch(worker_.installed_dataflows().back()));
  }

  void turn() {
    worker_.step_or_park();
    tell();
  }
  void tell() {
    if (!is_first()) return;
    const Nanos now = clock_.now();
    if (now - told_at_ < kTellEvery) return;
    told_at_ = now;
    Sample sample;
    for (const Meter& meter : meters_) sample.records += meter.records();
    sample.iteration = meter_.round();
    sample.frontier = meter_.frontier();
    progress_.tell(std::move(sample));
  }

  df::Worker& worker_;
  const DependencyGraph& graph_;
  const ComputeOptions& options_;
  std::vector<Meter>& meters_;
  Meter& meter_;
  Progress& progress_;
  Computed& computed_;
  const Share share_;
  const RealClock clock_;
  Nanos told_at_{0};
};

/// What processes must have been given alike.
Job job_of(const DependencyGraph& graph, const ComputeOptions& options, std::size_t process) {
  std::uint64_t hash = hash_combine(options.top, options.candidates.value_or(0));
  for (const NodeId node : options.without) hash = hash_combine(hash, node);
  for (NodeId node = 0; node < graph.nodes(); ++node) {
    hash = hash_combine(hash, fnv1a(graph.name(node)));
    for (ClauseId clause = graph.first_clause(node); clause != graph.end_clause(node); ++clause) {
      for (const NodeId other : graph.alternatives(clause)) hash = hash_combine(hash, other);
      hash = hash_combine(hash, clause);
    }
    for (const NodeId other : graph.edges_of(node)) hash = hash_combine(hash, other);
  }
  return {process, graph.nodes(), hash};
}

}  // namespace

Result<Computed> compute(const DependencyGraph& graph, const ComputeOptions& options,
                         Progress& progress, const core::Network& network) {
  Computed computed;
  computed.figures.processes = network.processes;
  computed.figures.workers = options.workers * network.processes;
  if (graph.nodes() == 0 && network.processes == 1) return computed;

  core::Config config;
  config.network = network;
  config.workers = options.workers;
  config.idle_spin = options.idle_spin.value_or(config.idle_spin);
  std::optional<Job> job;
  if (network.processes > 1) job = job_of(graph, options, network.process);
  std::vector<Meter> meters(options.workers);
  const RealClock clock;
  const Nanos begin = clock.now();
  auto outcome = df::execute(config, [&](df::Worker& worker) {
    Part part(worker, graph, options, meters, progress, computed);
    if (job) part.agree(*job);
    if (graph.nodes() == 0) return Cost{};
    if (options.without.empty()) {
      part.rank();
    } else {
      part.answer();
    }
    return part.add_up();
  });
  computed.figures.elapsed = clock.now() - begin;
  if (!outcome.ok()) return flow::error_of(outcome);

  computed.figures.rounds = meters.front().rounds();
  const Cost& cost = outcome.value(0);
  computed.figures.records = cost.records;
  computed.figures.wake_ups = cost.wake_ups;
  computed.figures.memory_elsewhere = cost.memory;
  return computed;
}

}  // namespace leat::tool
