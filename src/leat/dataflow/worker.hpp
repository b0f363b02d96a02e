// What      A worker as an author of dataflows sees it: builds dataflows and steps them.
// Protocol  All workers build the same dataflows in the same order. A dataflow may be built at any
//           time, also while others run; it ends when its inputs are closed and nothing is
//           outstanding anywhere.
// Threads   The worker's own.
// Source    Timely Dataflow's `Worker`.
#pragma once

#include <algorithm>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <source_location>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <leat/base/clock.hpp>
#include <leat/base/hash.hpp>
#include <leat/comm/fabric.hpp>
#include <leat/core/config.hpp>
#include <leat/core/log_registry.hpp>
#include <leat/core/worker.hpp>
#include <leat/dataflow/context.hpp>
#include <leat/dataflow/scope.hpp>
#include <leat/progress/plane.hpp>
#include <leat/progress/sketch.hpp>
#include <leat/progress/watch/holding.hpp>

namespace leat::dataflow {

/// What a dataflow is called, and its share of its worker.
struct DataflowOptions {
  std::string name = "dataflow";
  /// Of dataflows that always have something to do, one of weight 2 handles twice the records of
  /// one of weight 1 (see `Config::records_per_turn`). At least 1. Workers may differ.
  std::uint32_t weight = 1;
};

/// How it stands with a dataflow on one worker.
enum class DataflowState {
  running,
  cancelling,  ///< its part here is gone; some peer has not said that its part is
  cancelled,   ///< its parts are gone everywhere, before its time: nothing comes out any more
  ended,       ///< it ran to its end, was dropped, or failed
};

/// What a worker's coordination cost so far.
struct WorkerCounters {
  std::uint64_t steps = 0;
  std::uint64_t parks = 0;
  std::uint64_t notices = 0;       // edges announced to peers
  std::uint64_t wakes_sent = 0;    // system calls made to wake peers
  std::uint64_t batches = 0;       // progress batches that this worker published or applied alone
  std::uint64_t batches_read = 0;  // progress batches read from peers
  std::uint64_t records = 0;       // records that came to operators
};

class Worker {
 public:
  /// For embedders; `execute` makes workers otherwise. `clock` may be null: the worker never parks
  /// then, and all it logs is at time 0. Times of logs count from `log_origin`; from now on by
  /// default.
  Worker(comm::Seat& seat, const core::Config& config, const Clock* clock,
         std::optional<Nanos> log_origin = std::nullopt);
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;
  ~Worker();

  [[nodiscard]] std::size_t index() const noexcept { return context_.seat.index(); }
  [[nodiscard]] std::size_t peers() const noexcept { return context_.seat.peers(); }
  [[nodiscard]] const core::Config& config() const noexcept { return config_; }

  /// Builds a dataflow: calls `build(Scope<T>&)` at once and returns its result.
  ///
  /// Errors: `UsageError` for a graph that cannot run (see `seal`), or that is not what the peers
  /// build.
  template <progress::Timestamp T = std::uint64_t, class Build>
  auto dataflow(Build&& build, std::source_location where = std::source_location::current()) {
    return dataflow<T>(DataflowOptions{}, std::forward<Build>(build), where);
  }
  template <progress::Timestamp T = std::uint64_t, class Build>
  auto dataflow(DataflowOptions options, Build&& build,
                std::source_location where = std::source_location::current()) {
    return dataflow_with<T>(std::move(options), nullptr, std::forward<Build>(build), where);
  }
  template <progress::Timestamp T = std::uint64_t, class Build>
  auto dataflow_named(std::string name, Build&& build,
                      std::source_location where = std::source_location::current()) {
    return dataflow<T>(DataflowOptions{.name = std::move(name)}, std::forward<Build>(build), where);
  }
  /// The same; `resources` are destroyed after all of the dataflow's operators.
  template <progress::Timestamp T = std::uint64_t, class Resources, class Build>
  auto dataflow_with(std::string name, Resources resources, Build&& build,
                     std::source_location where = std::source_location::current()) {
    return dataflow_with<T>(DataflowOptions{.name = std::move(name)}, std::move(resources),
                            std::forward<Build>(build), where);
  }
  template <progress::Timestamp T = std::uint64_t, class Resources, class Build>
  auto dataflow_with(DataflowOptions options, Resources resources, Build&& build,
                     std::source_location where = std::source_location::current()) {
    const auto task = scheduler_.reserve();
    const auto root = context_.new_id();
    try {
      return build_dataflow<T>(task, root, std::move(options), std::move(resources), build, where);
    } catch (...) {
      note_failed_build(root);
      throw;
    }
  }
  /// One pass over everything that has something to do. Never waits. Returns: whether dataflows
  /// remain.
  ///
  /// A worker without peers goes round a few times in each scope, as long as records and frontiers
  /// alone keep its operators busy; one that activated itself runs in the next step.
  bool step();
  /// The same; an idle worker first polls for a while and then sleeps until there is news, or
  /// `timeout` has passed.
  bool step_or_park(std::optional<Nanos> timeout = std::nullopt);
  /// Steps while `condition()` holds.
  template <class Condition>
  void step_while(Condition&& condition) {
    while (condition()) step();
  }
  template <class Condition>
  void step_or_park_while(std::optional<Nanos> timeout, Condition&& condition) {
    while (condition()) step_or_park(timeout);
  }
  template <class Condition>
  void step_or_park_while(Condition&& condition) {
    step_or_park_while(std::nullopt, std::forward<Condition>(condition));
  }

  [[nodiscard]] bool has_dataflows() const noexcept { return scheduler_.has_tasks(); }
  /// Indices of the dataflows that run, and the index that the next one gets.
  [[nodiscard]] std::vector<std::uint32_t> installed_dataflows() const;
  [[nodiscard]] std::uint32_t next_dataflow_index() const noexcept { return scheduler_.next_id(); }
  [[nodiscard]] const std::string& dataflow_name(std::uint32_t index) const;
  /// The shape of a running dataflow, for pictures and reports.
  ///
  /// Errors: `UsageError` if it does not run.
  [[nodiscard]] progress::Sketch sketch(std::uint32_t index) const;
  /// What keeps times of a running dataflow possible, in every scope of it: capabilities that are
  /// held, records that were not consumed. Empty if it does not run.
  [[nodiscard]] std::vector<progress::Holding> holdings(std::uint32_t index) const;
  /// The same as text: which operator, or which handle on it, holds the frontiers back, at which
  /// time, on which worker, and what to do; or that nothing does.
  ///
  /// Ask between two steps, when the dataflow does not move any more. Which worker it is, is exact
  /// with two of them or with `Config::name_holders`; else it says whether it is this one.
  [[nodiscard]] std::string where_is_it_stuck(std::uint32_t index) const;
  /// Ends a dataflow on all workers before its time, whatever it is doing. One worker is enough to
  /// ask; if several do, that is one cancel. Its operators, capabilities and records are destroyed:
  /// here before this returns (or, from within one of its operators, when that run of it is over),
  /// at each peer in its next step, and where it is not built yet, when that is done.
  ///
  /// No operator is told that its input is complete, so nothing comes out that claims to be whole
  /// and is not. When `state(index)` says `cancelled` nothing comes out on any worker any more; until
  /// then peers may be at work. Other dataflows go on. What is left of it outside has no effect:
  /// records that are sent into its inputs are dropped, its probes are done and say that they were
  /// `cut_short`, its capabilities and activators do nothing. Nothing happens if it has ended.
  ///
  /// Errors: `UsageError` if there never was a dataflow `index`.
  /// Source: ours; the protocol is in progress/cancellations.hpp.
  void cancel(std::uint32_t index);
  /// How it stands with a dataflow, as far as this worker has heard.
  ///
  /// Errors: `UsageError` if there never was a dataflow `index`.
  [[nodiscard]] DataflowState state(std::uint32_t index) const;
  /// Destroys a dataflow now, with all it holds. All workers must, each by itself; what arrives for
  /// it is dropped. `cancel` has them agree on it.
  void drop_dataflow(std::uint32_t index);

  /// What whoever wants to look registers with, before the dataflows that it wants to see are built:
  /// the worker's own streams are listed in progress/watch/events.hpp, and programs add theirs.
  [[nodiscard]] core::LogRegistry& logs() noexcept { return logs_; }

  [[nodiscard]] WorkerCounters counters() const;
  [[nodiscard]] core::Timers& timers() noexcept { return scheduler_.timers(); }
  /// An id that no other call on this worker returns; all workers must ask in the same order.
  [[nodiscard]] std::uint64_t new_identifier() noexcept { return context_.new_id(); }
  /// Whose code the exception that is leaving this worker came out of.
  [[nodiscard]] const std::string& thrower() const noexcept { return plane_.thrower(); }

 private:
  struct AnyDataflow : core::Task {
    AnyDataflow(Worker& worker_in, progress::ScopeId root_in) : worker(worker_in), root(root_in) {}
    virtual void sketch(progress::SketchSink& into,
                        const progress::Sketch::Address& address) const = 0;
    virtual void holdings(std::vector<progress::Holding>& into) const = 0;

    Worker& worker;
    progress::ScopeId root;
    bool is_cancelled = false;  // from within: when its run is over
  };
  /// Out of line, so that dataflows of the usual times are compiled once, in worker.cpp.
  template <progress::Timestamp T>
  struct Graph : AnyDataflow {
    Graph(Worker& worker_in, progress::ScopeId root_in, const progress::NodeName& name,
          core::Activation self);
    bool run() override;
    void sketch(progress::SketchSink& into,
                const progress::Sketch::Address& address) const override;
    void holdings(std::vector<progress::Holding>& into) const override;
    progress::Subgraph<T> graph;
  };
  template <class Resources>
  struct Kept {
    [[no_unique_address]] Resources resources;
  };
  template <progress::Timestamp T, class Resources>
  struct Dataflow final : Kept<Resources>,
                          Graph<T> {  // resources are destroyed after the operators
    template <class... Args>
    explicit Dataflow(Resources kept, Args&&... args)
        : Kept<Resources>{std::move(kept)}, Graph<T>(std::forward<Args>(args)...) {}
  };

  template <progress::Timestamp T, class Resources, class Build>
  auto build_dataflow(core::Worker::TaskId task, progress::ScopeId root, DataflowOptions options,
                      Resources resources, Build& build, std::source_location where) {
    progress::NodeName who{std::move(options.name), where};
    auto running = std::make_unique<Dataflow<T, Resources>>(std::move(resources), *this, root, who,
                                                            scheduler_.activation_of(task));
    auto& graph = running->graph;
    graph.set_place({plane_.new_node_id(), {task}});
    auto state = make_local<ScopeState<T>>(context_, graph, who, std::vector<std::uint32_t>{task});
    const Building<T> building(state);
    Scope<T> scope(state);
    const auto finish = [&] {
      state->open = false;
      graph.seal(nullptr);
      context_.seat.fabric().agree(context_.seat, context_.new_id(),
                                   shape_of(*running, type_hash<T>(), who.name));
      note_built(task, root, who.name);
      if (plane_.cancellations().is_begun(root))
        return;  // by a peer that was faster: it never runs
      graph.initialize();
      scheduler_.install(task, std::move(running), std::max<std::uint32_t>(options.weight, 1));
    };
    if constexpr (std::is_void_v<std::invoke_result_t<Build&, Scope<T>&>>) {
      build(scope);
      finish();
    } else {
      auto result = build(scope);
      finish();
      return result;
    }
  }

  /// What all workers must agree on about a dataflow: names, places and edges, also inside scopes.
  static comm::Signature shape_of(const AnyDataflow& dataflow, std::uint64_t time_type,
                                  const std::string& name);
  void require_peers() const;
  void flush_logs() {
    if (!logs_.empty()) [[unlikely]]
      logs_.flush();
  }
  void note_built(std::uint32_t index, progress::ScopeId root, std::string name);
  void note_failed_build(progress::ScopeId root);
  void note_failure();
  struct Installed {
    std::uint32_t index;
    progress::ScopeId root;
    std::string name;
    bool is_cancelled = false;
  };
  [[nodiscard]] const Installed& installed(std::uint32_t index, const char* what) const;
  void end_part(Installed& which);

  core::Config config_;
  core::LogRegistry logs_;  // ends after the dataflows that log to it
  progress::ProgressPlane plane_;
  core::Worker scheduler_;
  Context context_;
  std::vector<Installed> installed_;  // in order of their index; also those that have ended
  int exceptions_ = std::uncaught_exceptions();  // under way when this was made
};

template <progress::Timestamp T>
Worker::Graph<T>::Graph(Worker& worker_in, progress::ScopeId root_in,
                        const progress::NodeName& name, core::Activation self)
    : AnyDataflow(worker_in, root_in), graph(worker_in.plane_, root_in, name, self) {}

template <progress::Timestamp T>
bool Worker::Graph<T>::run() {
  bool remains = false;
  try {
    remains = graph.schedule();
  } catch (...) {
    worker.note_failure();
    throw;
  }
  if (!this->is_cancelled) [[likely]]
    return remains;
  worker.plane_.cancel(this->root);
  return false;
}

template <progress::Timestamp T>
void Worker::Graph<T>::sketch(progress::SketchSink& into,
                              const progress::Sketch::Address& address) const {
  graph.sketch(into, address);
}

template <progress::Timestamp T>
void Worker::Graph<T>::holdings(std::vector<progress::Holding>& into) const {
  graph.holdings(into);
}

extern template struct Worker::Graph<std::uint64_t>;

}  // namespace leat::dataflow
