#include <leat/dataflow/worker.hpp>

#include <algorithm>
#include <exception>

#include <leat/base/hash.hpp>
#include <leat/base/usage_error.hpp>

namespace leat::dataflow {

template struct Worker::Graph<std::uint64_t>;

namespace {
// What peers in other processes answer takes longer to come, and to be woken for it longer still.
Nanos spin_of(const comm::Seat& seat, const core::Config& config) {
  return seat.peers() == seat.neighbours() ? config.idle_spin : 5 * config.idle_spin;
}

// For workers that have no clock: time stands.
const Clock& clock_or_none(const Clock* clock) {
  static const SettableClock none;
  return clock != nullptr ? *clock : none;
}
}  // namespace

Worker::Worker(comm::Seat& seat, const core::Config& config, const Clock* clock,
               std::optional<Nanos> log_origin)
    : config_(config),
      logs_(clock_or_none(clock), log_origin ? *log_origin : clock_or_none(clock).now()),
      plane_(seat, config.progress_mode, &logs_),
      scheduler_(plane_, seat.fabric().stop(), clock,
                 core::IdlePolicy(spin_of(seat, config), &seat.fabric().crowd())),
      context_{scheduler_, seat, plane_} {
  const auto fuel = [](std::size_t records) {
    return static_cast<std::int64_t>(std::max<std::size_t>(records, 1));
  };
  scheduler_.fuel().per_activation = fuel(config.records_per_activation);
  scheduler_.set_turn(fuel(config.records_per_turn));
  plane_.use(scheduler_.fuel(), scheduler_.spares());
  plane_.set_validation(config.validate_progress);
  plane_.on_cancel([this](progress::ScopeId root) {
    for (auto& each : installed_) {
      if (each.root == root) end_part(each);
    }
  });
  plane_.name_holders(config.name_holders);
}

Worker::~Worker() {
  // After a failure the peers learn of that instead.
  if (std::uncaught_exceptions() != exceptions_) return;
  plane_.leave();
  context_.seat.fabric().left(context_.next_id);
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
  // After a failure that is what is to be heard.
  if (!has_dataflows() || context_.seat.fabric().stop().requested()) return;
  throw UsageError(
      "worker " + std::to_string(index()), "to run dataflow \"" + installed_.back().name + "\"",
      "a peer that left without building it", "build the same dataflows on every worker");
}

std::vector<std::uint32_t> Worker::installed_dataflows() const {
  std::vector<std::uint32_t> running;
  for (const auto& each : installed_) {
    if (scheduler_.running(each.index)) running.push_back(each.index);
  }
  return running;
}

const Worker::Installed& Worker::installed(std::uint32_t index, const char* what) const {
  const auto at = std::lower_bound(
      installed_.begin(), installed_.end(), index,
      [](const Installed& entry, std::uint32_t wanted) { return entry.index < wanted; });
  if (at == installed_.end() || at->index != index) {
    throw UsageError("worker " + std::to_string(this->index()),
                     std::string(what) + " " + std::to_string(index),
                     std::to_string(installed_.size()) + " dataflows", "ask installed_dataflows()");
  }
  return *at;
}

const std::string& Worker::dataflow_name(std::uint32_t index) const {
  return installed(index, "the name of dataflow").name;
}

void Worker::note_built(std::uint32_t index, progress::ScopeId root, std::string name) {
  const auto after = std::upper_bound(
      installed_.begin(), installed_.end(), index,
      [](std::uint32_t wanted, const Installed& entry) { return wanted < entry.index; });
  // A peer may have cancelled it before it was built here: it never runs then.
  const bool is_cancelled = plane_.cancellations().is_begun(root);
  installed_.insert(after, {index, root, std::move(name), is_cancelled});
  context_.seat.fabric().built(this->index(), root, {}, nullptr);
}

void Worker::note_failed_build(progress::ScopeId root) {
  context_.seat.fabric().built(index(), root, plane_.thrower(), std::current_exception());
}

void Worker::note_failure() {
  context_.seat.fabric().failed(index(), plane_.thrower(), std::current_exception());
}

void Worker::end_part(Installed& which) {
  if (!scheduler_.running(which.index)) return;
  which.is_cancelled = true;
  if (scheduler_.is_inside(which.index)) {  // when its run is over
    static_cast<AnyDataflow*>(scheduler_.task(which.index))->is_cancelled = true;
  } else {
    scheduler_.drop(which.index);
  }
}

void Worker::cancel(std::uint32_t index) {
  auto& which = const_cast<Installed&>(installed(index, "to cancel dataflow"));
  if (!scheduler_.running(index)) return;
  end_part(which);
  if (!scheduler_.running(index)) plane_.cancel(which.root);
}

DataflowState Worker::state(std::uint32_t index) const {
  const Installed& which = installed(index, "the state of dataflow");
  if (scheduler_.running(index)) return DataflowState::running;
  if (!which.is_cancelled) return DataflowState::ended;
  return plane_.cancellations().is_agreed(which.root) ? DataflowState::cancelled
                                                      : DataflowState::cancelling;
}

void dataflow_failed(Context& context, std::uint32_t dataflow, const std::string& whose) {
  context.plane.note_thrower(whose);
  context.seat.fabric().failed(context.seat.index(), whose, std::current_exception());
  // From within its own operators it ends by the exception, which leaves them.
  if (!context.scheduler.is_inside(dataflow)) context.scheduler.drop(dataflow);
}

namespace {
// A number for a shape, made as the shape is told.
class ShapeHash final : public progress::SketchSink {
 public:
  explicit ShapeHash(std::uint64_t seed) : hash(seed) {}
  void node(const progress::Sketch::Address& address, const std::string& name,
            bool /*is_scope*/) override {
    ++nodes;
    mix(fnv1a(name));
    for (const auto step : address) mix(step);
  }
  void edge(const progress::Sketch::Address& scope, std::uint32_t from, std::uint32_t output,
            std::uint32_t to, std::uint32_t input, const char* /*pact*/) override {
    ++edges;
    for (const auto step : scope) mix(step);
    mix((std::uint64_t{from} << 32) | output);
    mix((std::uint64_t{to} << 32) | input);
  }

  std::uint64_t hash;
  std::size_t nodes = 0;
  std::size_t edges = 0;

 private:
  void mix(std::uint64_t value) { hash = hash_combine(hash, value); }
};
}  // namespace

comm::Signature Worker::shape_of(const AnyDataflow& dataflow, std::uint64_t time_type,
                                 const std::string& name) {
  ShapeHash shape(time_type);
  dataflow.sketch(shape, {});
  return {shape.hash, "dataflow \"" + name + "\" with " + std::to_string(shape.nodes) +
                          " operators and scopes and " + std::to_string(shape.edges) + " edges"};
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
  progress::SketchDrawer drawer(sketch);
  static_cast<const AnyDataflow*>(task)->sketch(drawer, {index});
  return sketch;
}

std::vector<progress::Holding> Worker::holdings(std::uint32_t index) const {
  std::vector<progress::Holding> holdings;
  if (const auto* const task = scheduler_.task(index))
    static_cast<const AnyDataflow*>(task)->holdings(holdings);
  return holdings;
}

std::string Worker::where_is_it_stuck(std::uint32_t index) const {
  const std::string title =
      "dataflow " + std::to_string(index) + " \"" + dataflow_name(index) + "\"";
  if (!scheduler_.running(index)) return title + " has ended\n";
  return progress::where_is_it_stuck(title, holdings(index), this->index(), peers());
}

void Worker::drop_dataflow(std::uint32_t index) { scheduler_.drop(index); }

WorkerCounters Worker::counters() const {
  const auto& scheduler = scheduler_.counters();
  const auto& seat = context_.seat.counters();
  return {scheduler.steps, scheduler.parks,   seat.notices, seat.wakes_sent,
          seat.batches,    seat.batches_read, seat.records};
}

}  // namespace leat::dataflow
