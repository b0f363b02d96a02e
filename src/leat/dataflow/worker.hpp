// What      A worker as an author of dataflows sees it: builds dataflows and steps them.
// Protocol  All workers build the same dataflows in the same order. A dataflow may be built at any
//           time, also while others run; it ends when its inputs are closed and nothing is
//           outstanding anywhere.
// Threads   The worker's own.
// Source    Timely Dataflow's `Worker`.
#pragma once

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

namespace leat::dataflow {

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
    return dataflow_named<T>("dataflow", std::forward<Build>(build), where);
  }
  template <progress::Timestamp T = std::uint64_t, class Build>
  auto dataflow_named(std::string name, Build&& build,
                      std::source_location where = std::source_location::current()) {
    return dataflow_with<T>(std::move(name), nullptr, std::forward<Build>(build), where);
  }
  /// The same; `resources` are destroyed after all of the dataflow's operators.
  template <progress::Timestamp T = std::uint64_t, class Resources, class Build>
  auto dataflow_with(std::string name, Resources resources, Build&& build,
                     std::source_location where = std::source_location::current()) {
    const auto task = scheduler_.reserve();
    progress::NodeName who{std::move(name), where};
    auto running = std::make_unique<Dataflow<T, Resources>>(std::move(resources), context_.plane,
                                                            context_.new_id(), who,
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
      graph.initialize();
      names_.push_back({task, who.name});
      scheduler_.install(task, std::move(running));
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

  /// One pass over everything that has something to do. Never waits. Returns: whether dataflows
  /// remain.
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
  /// Destroys a dataflow now, with all it holds. All workers must; what arrives for it is dropped.
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
    virtual void sketch(progress::Sketch& into, const progress::Sketch::Address& address) const = 0;
  };
  template <progress::Timestamp T, class Resources>
  struct Dataflow final : AnyDataflow {
    Dataflow(Resources resources_in, progress::ProgressPlane& plane, progress::ScopeId id,
             const progress::NodeName& name, core::Activation self)
        : resources(std::move(resources_in)), graph(plane, id, name, self) {}
    bool run() override { return graph.schedule(); }
    void sketch(progress::Sketch& into, const progress::Sketch::Address& address) const override {
      graph.sketch(into, address);
    }

    [[no_unique_address]] Resources resources;  // destroyed after the operators
    progress::Subgraph<T> graph;
  };

  /// What all workers must agree on about a dataflow: names, places and edges, also inside scopes.
  static comm::Signature shape_of(const AnyDataflow& dataflow, std::uint64_t time_type,
                                  const std::string& name);
  void require_peers() const;
  void flush_logs() {
    if (!logs_.empty()) [[unlikely]]
      logs_.flush();
  }

  core::Config config_;
  core::LogRegistry logs_;  // ends after the dataflows that log to it
  progress::ProgressPlane plane_;
  core::Worker scheduler_;
  Context context_;
  std::vector<std::pair<std::uint32_t, std::string>> names_;
  int exceptions_ = std::uncaught_exceptions();  // under way when this was made
};

}  // namespace leat::dataflow
