#include <leat/actor/config.hpp>

#include <leat/base/mutant.hpp>
#include <leat/base/time/ticks.hpp>
#include <leat/base/usage_error.hpp>

#include <charconv>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace leat::actor {
namespace {

template <class Number>
void take_from(const char* name, Number& value) {
  const char* const text = std::getenv(name);
  if (text == nullptr) return;
  const char* const end = text + std::strlen(text);
  const auto [rest, error] = std::from_chars(text, end, value);
  if (error != std::errc() || rest != end) {
    throw UsageError(std::string("environment variable ") + name, "a whole number from 0",
                     std::string("\"") + text + "\"", "unset it, or write digits only");
  }
}

// What the clock of the processor is replaced by where it is not steady: about the default slice.
constexpr Nanos kTick = std::chrono::microseconds(150);

}  // namespace

Config::Config() {
  const bool steady = ticks_are_steady() && !LEAT_MUTANT("ticks.unsteady");
  if (!steady && !LEAT_MUTANT("config.trusts_the_clock")) timeslice_tick_ = kTick;
}

Config Config::exact(std::size_t threads) {
  if (threads == 0 || threads > kThreadsMax) {
    throw UsageError("Config::exact", "from 1 to " + std::to_string(kThreadsMax) + " threads",
                     std::to_string(threads),
                     threads == 0 ? "use Config::current_thread() for a runtime without threads"
                                  : "take a few more than there are CPUs at most");
  }
  Config config;
  config.threads_ = threads;
  return config;
}

Config Config::current_thread() { return {}; }

Config Config::virtual_time() {
  Config config;
  config.virtual_time_ = true;
  return config;
}

Config& Config::contain_faults(bool contain) {
  contain_faults_ = contain;
  return *this;
}
Config& Config::group(Group which, std::uint32_t shares) {
  const auto number = static_cast<std::size_t>(which);
  if (number >= kGroupsMax || shares == 0) {
    throw UsageError(
        "Config::group",
        "a group from 0 to " + std::to_string(kGroupsMax - 1) + ", with a share or more",
        "group " + std::to_string(number) + " with " + std::to_string(shares),
        "leave a group out that is to get nothing");
  }
  if (shares_.empty()) shares_.assign(1, kCommonShares);
  if (shares_.size() <= number) shares_.resize(number + 1, 0);
  shares_[number] = shares;
  return *this;
}
Config& Config::stow_after(Nanos idle) {
  if (idle < Nanos{0}) {
    throw UsageError("Config::stow_after", "a time from 0", std::to_string(idle.count()) + " ns",
                     "take some milliseconds at least: to come back costs microseconds");
  }
  stow_after_ = idle;
  return *this;
}
Config& Config::stow_above(std::size_t resident_bytes) {
  stow_above_ = resident_bytes;
  return *this;
}
Config& Config::measure_stacks(std::uint32_t every) {
  measure_stacks_ = every;
  return *this;
}
Config& Config::migrate_always(bool migrate) {
  migrate_always_ = migrate;
  return *this;
}
Config& Config::simulated_workers(std::size_t workers) {
  if (workers == 0 || workers > kThreadsMax || threads_ != 0) {
    throw UsageError("Config::simulated_workers",
                     "from 1 to " + std::to_string(kThreadsMax) + " workers without threads",
                     std::to_string(workers) + " and " + std::to_string(threads_) + " threads",
                     "start with virtual_time()");
  }
  simulated_ = workers;
  return *this;
}
Config& Config::alloc_interval(std::uint32_t allocations) {
  alloc_interval_ = allocations;
  return *this;
}
Config& Config::timeslice_cycles(std::uint64_t cycles) {
  timeslice_cycles_ = cycles;
  return *this;
}
Config& Config::timeslice_tick(Nanos period) {
  if (period <= Nanos{0}) {
    throw UsageError("Config::timeslice_tick", "a time above 0",
                     std::to_string(period.count()) + " ns",
                     "take a tenth of a millisecond, or leave it out for the processor's clock");
  }
  timeslice_tick_ = period;
  return *this;
}
Config& Config::stack_pool_cap(std::size_t stacks) {
  stack_pool_cap_ = stacks;
  return *this;
}
Config& Config::stack(StackClass size) {
  stack_ = size;
  return *this;
}
Config& Config::idle_spin(Nanos most) {
  if (most < Nanos{0}) {
    throw UsageError("Config::idle_spin", "a time from 0", std::to_string(most.count()) + " ns",
                     "give 0 to sleep at once");
  }
  idle_spin_ = most;
  return *this;
}
Config& Config::clock(const Clock& source) {
  if (virtual_time_) {
    throw UsageError("Config::clock", "another clock for a runtime with virtual time",
                     "virtual_time(), which has its own", "use current_thread() or exact()");
  }
  clock_ = &source;
  return *this;
}
Config& Config::on_lost_failure(std::function<void(Pid, std::string_view, const Exit&)> tell) {
  on_lost_failure_ = std::move(tell);
  return *this;
}

Config& Config::on_dead_letter(std::function<void(Pid, std::string_view)> tell) {
  on_dead_letter_ = std::move(tell);
  return *this;
}

Config& Config::slow_senders_above(std::size_t messages) {
  slow_senders_above_ = messages;
  return *this;
}

Config& Config::on_stall(Nanos after, std::function<void(const Stall&)> tell) {
  if (after <= Nanos{0} || virtual_time_) {
    throw UsageError(
        "Config::on_stall", "a time above 0, of the world",
        std::to_string(after.count()) + " ns" + (virtual_time_ ? ", with virtual time" : ""),
        "take some milliseconds, and current_thread() or exact()");
  }
  stall_after_ = after;
  on_stall_ = std::move(tell);
  return *this;
}

Config& Config::from_environment() {
  take_from("LEAT_ALLOC_INTERVAL", alloc_interval_);
  take_from("LEAT_TIMESLICE_CYCLES", timeslice_cycles_);
  return *this;
}

}  // namespace leat::actor
