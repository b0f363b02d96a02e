#include <leat/dataflow/worker.hpp>

#include <algorithm>
#include <exception>

#include <leat/base/hash.hpp>
#include <leat/base/usage_error.hpp>

namespace leat::dataflow {

namespace {
// For workers that have no clock: time stands.
const Clock& clock_or_none(const Clock* clock) {
  static const SettableClock none;
  return clock != nullptr ? *clock : none;
}
}  // namespace

Worker::Worker(comm::Seat& seat, const core::Config& config, const Clock* clock,
               std::optional<Nanos> log_origin)
    : config_(config),
      logs_(clock_or_none(clock), log_origin.value_or(clock_or_none(clock).now())),
      plane_(seat, config.progress_mode, &logs_),
      scheduler_(plane_, seat.fabric().stop(), clock,
                 core::IdlePolicy(config.idle_spin, &seat.fabric().crowd())),
      context_{scheduler_, seat, plane_} {}

Worker::~Worker() {
  // After a failure the peers learn of that instead.
  if (std::uncaught_exceptions() == exceptions_) context_.seat.fabric().left(context_.next_id);
}

bool Worker::step() {
  require_peers();
  const bool remain = scheduler_.step();
  flush_logs();
  return remain;
}

bool Worker::step_or_park(std::optional<Nanos> timeout) {
  require_peers();
  const bool remain = scheduler_.step_or_park(timeout);
  flush_logs();
  return remain;
}

void Worker::require_peers() const {
  if (context_.seat.fabric().lowest_id_left_at() >= context_.next_id) [[likely]]
    return;
  if (!has_dataflows()) return;
  throw UsageError(
      "worker " + std::to_string(index()), "to run dataflow \"" + names_.back().second + "\"",
      "a peer that left without building it", "build the same dataflows on every worker");
}

std::vector<std::uint32_t> Worker::installed_dataflows() const {
  std::vector<std::uint32_t> running;
  for (const auto& [index, name] : names_) {
    if (scheduler_.running(index)) running.push_back(index);
  }
  return running;
}

const std::string& Worker::dataflow_name(std::uint32_t index) const {
  const auto at = std::find_if(names_.begin(), names_.end(),
                               [&](const auto& entry) { return entry.first == index; });
  if (at == names_.end()) {
    throw UsageError("worker " + std::to_string(this->index()),
                     "the name of dataflow " + std::to_string(index),
                     std::to_string(names_.size()) + " dataflows", "ask installed_dataflows()");
  }
  return at->second;
}

comm::Signature Worker::shape_of(const AnyDataflow& dataflow, std::uint64_t time_type,
                                 const std::string& name) {
  progress::Sketch sketch;
  dataflow.sketch(sketch, {});
  std::uint64_t hash = time_type;
  const auto mix = [&hash](std::uint64_t value) { hash = hash_combine(hash, value); };
  for (const auto& node : sketch.nodes) {
    mix(fnv1a(node.name));
    for (const auto step : node.address) mix(step);
  }
  for (const auto& edge : sketch.edges) {
    for (const auto step : edge.scope) mix(step);
    mix((std::uint64_t{edge.from} << 32) | edge.output);
    mix((std::uint64_t{edge.to} << 32) | edge.input);
  }
  return {hash, "dataflow \"" + name + "\" with " + std::to_string(sketch.nodes.size()) +
                    " operators and scopes and " + std::to_string(sketch.edges.size()) + " edges"};
}

progress::Sketch Worker::sketch(std::uint32_t index) const {
  const auto* const task = scheduler_.task(index);
  if (task == nullptr) {
    throw UsageError(
        "worker " + std::to_string(this->index()), "a sketch of dataflow " + std::to_string(index),
        "no running dataflow of that index", "ask while it runs; see installed_dataflows()");
  }
  progress::Sketch sketch;
  sketch.nodes.push_back({{index}, dataflow_name(index), true});
  static_cast<const AnyDataflow*>(task)->sketch(sketch, {index});
  return sketch;
}

void Worker::drop_dataflow(std::uint32_t index) { scheduler_.drop(index); }

WorkerCounters Worker::counters() const {
  const auto& scheduler = scheduler_.counters();
  const auto& seat = context_.seat.counters();
  return {scheduler.steps, scheduler.parks, seat.notices,
          seat.wakes_sent, seat.batches,    seat.batches_read, seat.records};
}

}  // namespace leat::dataflow
