#include <leat/actor/scheduler/scheduler.hpp>

#include <leat/actor/fiber/context.hpp>
#include <leat/actor/look/stall.hpp>
#include <leat/actor/mailbox/mailbox.hpp>
#include <leat/actor/scheduler/last_words.hpp>
#include <leat/actor/spawn.hpp>
#include <leat/actor/stack/overflow.hpp>
#include <leat/base/check.hpp>
#include <leat/base/mutant.hpp>
#include <leat/base/os/process_fence.hpp>
#include <leat/base/os/thread_name.hpp>
#include <leat/base/usage_error.hpp>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <mutex>
#include <span>
#include <string>
#include <utility>

namespace leat::actor {
namespace {

constinit std::mutex schedulers_mutex;

void tell_standard_error(Pid pid, std::string_view name, const Exit& exit) {
  const std::string quoted = name.empty() ? std::string() : " \"" + std::string(name) + "\"";
  std::fprintf(stderr, "leat: actor %u.%u%s failed, and nobody joined it: %s\n", pid.slot(),
               pid.generation(), quoted.c_str(), exit.text().c_str());
}

const Actor& actor_of(const void* owner) noexcept {
  return *static_cast<const Actor*>(static_cast<const internal::OnStack*>(owner));
}

// In a signal handler: no allocation, no locale.
std::size_t name_of(const void* owner, std::span<char> text) noexcept {
  const Actor& actor = actor_of(owner);
  std::size_t used = 0;
  const auto put = [&](std::string_view part) {
    const std::size_t count = std::min(part.size(), text.size() - used);
    std::copy_n(part.data(), count, text.data() + used);
    used += count;
  };
  const auto put_number = [&](std::uint32_t number) {
    char digits[12];
    put({digits, static_cast<std::size_t>(
                     std::to_chars(digits, digits + sizeof digits, number).ptr - digits)});
  };
  put("actor ");
  put_number(actor.index);
  put(".");
  put_number(actor.generation);
  if (!actor.name.empty()) {
    put(" \"");
    put(actor.name);
    put("\"");
  }
  return used;
}

bool ends_alone(const void* owner, FaultKind /*why*/) noexcept {
  return actor_of(owner).scheduler->config().contains_faults();
}

void end_alone(void* owner, FaultKind why) {
  auto& actor = *static_cast<Actor*>(static_cast<internal::OnStack*>(owner));
  actor.exit = Exit::killed(why == FaultKind::stack_overflow ? "it overflowed its stack"
                            : why == FaultKind::null_access  ? "it read or wrote through null"
                                                             : "it divided by zero");
  worker_of(actor).end(actor);
}

}  // namespace

Scheduler* internal::first_scheduler = nullptr;

void Scheduler::enlist() noexcept {
  const std::lock_guard lock(schedulers_mutex);
  next_ = std::exchange(internal::first_scheduler, this);
}
void Scheduler::delist() noexcept {
  const std::lock_guard lock(schedulers_mutex);
  Scheduler** at = &internal::first_scheduler;
  while (*at != this) at = &(*at)->next_;
  *at = next_;
}

Scheduler::Scheduler(Config config, bool stepped)
    : config_(std::move(config)),
      virtual_clock_(config_.is_virtual_time() ? std::make_unique<SettableClock>() : nullptr),
      clock_(virtual_clock_               ? static_cast<const Clock&>(*virtual_clock_)
             : config_.clock() != nullptr ? *config_.clock()
                                          : real_clock_),
      mark_(config_.workers() == 1 && !stepped && os::process_fence_ready() ? &SoloMark::take()
                                                                            : nullptr),
      stacks_({.stack_class = config_.stack(), .cap = config_.stack_pool_cap()}),
      slots_(*this, mark_),
      stower_(*this, config_.stow_after(), config_.stow_above()),
      stack_report_(config_.measure_stacks()),
      idle_(config_.workers(), os::process_fence_ready()),
      names_(mark_) {
  if (shadow_stack_on() && !LEAT_MUTANT("scheduler.ignores_shadow_stack")) {
    throw UsageError("actor runtime", "to switch stacks", "a thread with a shadow stack (CET)",
                     "run without it: GLIBC_TUNABLES=glibc.cpu.hwcaps=-SHSTK");
  }
  tell_of_owners({&name_of, &ends_alone, &end_alone});
  watch_terminate();
  if (config_.timeslice_tick() > Nanos{0} && !stepped) {
    ticker_ = std::make_unique<Ticker>(config_.timeslice_tick());
  }
  for (std::size_t i = 0; i < config_.workers(); ++i) {
    workers_.push_back(std::make_unique<Worker>(*this, i, mark_));
  }
  enlist();
  if (stepped) {
    for (const std::unique_ptr<Worker>& worker : workers_) worker->set_stepped();
    return;
  }
  if (config_.on_stall()) (void)parts_.get<StallWatch>(*this);
  for (std::size_t i = 0; i < config_.threads(); ++i) {
    threads_.emplace_back([this, i] {
      os::set_thread_name("leat actor " + std::to_string(i));
      workers_[i]->run([this] { return stopping(); });
    });
  }
}

Scheduler::~Scheduler() {
  if (!is_quiet(true)) {
    slots_.for_each([this](Actor& actor) { cancel(actor); });
    await_quiet(kAll);
  }
  parts_.end();
  stopping_.store_release(true, over{});
  for (const std::unique_ptr<Worker>& worker : workers_) worker->unpark();
  for (std::thread& thread : threads_) thread.join();
  delist();
  workers_.clear();
  if (mark_ != nullptr) SoloMark::give(*mark_);
}

void Scheduler::start_from_outside(Actor& actor) noexcept {
  outside_[actor.daemon ? 1 : 0].started.fetch_add_release(1, count{});
  if (workers_.size() == 1) {
    // What is in the inbox of a solo worker asks to be woken.
    LEAT_CHECK(actor.state.park(Sharing::solo), "a new actor was woken before it was started");
  }
  inbox_.put(actor);
  idle_.wake_one_if_needed();
}

void Scheduler::wake(Actor& actor) noexcept {
  Worker* const worker = this_worker();
  if (worker != nullptr && &worker->scheduler() == this) [[likely]] {
    if (actor.state.wake(worker->sharing())) worker->enqueue_woken(actor);
    return;
  }
  if (workers_.size() == 1) {
    inbox_.put(actor);
  } else if (!actor.state.wake(Sharing::shared)) {
    return;
  } else if (actor.kept) {
    worker_of(actor).inbox().put(actor);
    worker_of(actor).unpark();
    return;
  } else {
    inbox_.put(actor);
  }
  idle_.wake_one_if_needed();
}

void Scheduler::let_go_of_claimed(Actor& actor) noexcept {
  if (actor.state.park(sharing())) return;
  Worker* const worker = this_worker();
  if (worker != nullptr && &worker->scheduler() == this) {
    worker->enqueue_claimed(actor);
    return;
  }
  LEAT_CHECK(workers_.size() > 1, "an actor was woken while nobody could run it");
  if (actor.kept) {
    worker_of(actor).inbox().put(actor);
    worker_of(actor).unpark();
    return;
  }
  inbox_.put(actor);
  idle_.wake_one_if_needed();
}

// -- ends ---------------------------------------------------------------------------------------

void Scheduler::run_until_quiet() {
  if (this_worker() != nullptr) {
    throw UsageError("Runtime::run", "to wait for a runtime", "the caller is an actor",
                     "run it on a thread of its own, or spawn here");
  }
  check_threads("to run actors");
  await_quiet(kAllButDaemons);
}

void Scheduler::run_until_ended(Actor& actor) {
  if (!threads_.empty()) return;  // who joins it waits
  awaited_actor_ = &actor;
  await_quiet(kOneActor);
}

std::uint8_t Scheduler::known_group(Group group) const {
  const auto number = static_cast<std::uint8_t>(group);
  const std::vector<std::uint32_t>& shares = config_.shares();
  if (number != 0 && (number >= shares.size() || shares[number] == 0)) {
    throw UsageError("spawn", "an actor in scheduling group " + std::to_string(number),
                     "a runtime without that group", "name it by Config::group");
  }
  return number;
}

bool Scheduler::was_left_by_threads() const noexcept {
  return !threads_.empty() && forks_ != forks_so_far() && !LEAT_MUTANT("scheduler.forks_unnoticed");
}

void Scheduler::check_threads(const char* what) const {
  if (!was_left_by_threads()) return;
  throw UsageError("actor runtime", what,
                   "the child of a fork, in which the runtime's threads do not exist",
                   "make a Runtime after the fork, or exec another program");
}

void Scheduler::await_quiet(std::uint32_t awaited) {
  awaited_.store_relaxed(awaited);  // looked at again and again
  if (threads_.empty()) {
    workers_[0]->run([this, awaited] { return has_come(awaited); });
  } else {
    while (!has_come(awaited)) {
      for (const std::unique_ptr<Worker>& worker : workers_) worker->unpark();
      waiter_.park([this, awaited] { return has_come(awaited); });
    }
  }
  awaited_.store_relaxed(kNothing);
}

bool Scheduler::has_come(std::uint32_t awaited) const noexcept {
  return awaited == kOneActor ? internal::has_ended(*awaited_actor_) : is_quiet(awaited == kAll);
}

bool Scheduler::tell_quiet(std::uint32_t awaited) noexcept {
  if (!has_come(awaited)) return false;
  if (!threads_.empty()) waiter_.unpark();
  return true;
}

bool Scheduler::is_quiet(bool daemons) const noexcept {
  std::uint64_t ended = 0;
  for (const std::unique_ptr<Worker>& worker : workers_) ended += worker->ended(daemons);
  std::uint64_t started = outside_[0].started.load_acquire(count{}) +
                          (daemons ? outside_[1].started.load_acquire(count{}) : 0);
  for (const std::unique_ptr<Worker>& worker : workers_) started += worker->started(daemons);
  return ended == started;
}

bool Scheduler::cancel(Pid pid) noexcept {
  if (was_left_by_threads()) return false;
  Actor* const actor = slots_.find(pid.slot());
  if (actor == nullptr) return false;
  const ObjectLock::Guard guard(actor->lock);
  if (!actor->live || actor->generation != pid.generation()) return false;
  actor->orders.store_relaxed(Actor::kCancel);  // the wake carries it
  wake(*actor);
  return true;
}

void Scheduler::cancel(Actor& actor) noexcept {
  const ObjectLock::Guard guard(actor.lock);
  if (!actor.live) return;
  actor.orders.store_relaxed(Actor::kCancel);  // the wake carries it
  wake(actor);
}

bool Scheduler::is_alive(Pid pid) noexcept {
  if (was_left_by_threads()) return false;
  Actor* const actor = slots_.find(pid.slot());
  if (actor == nullptr) return false;
  const ObjectLock::Guard guard(actor->lock);
  return actor->live && actor->generation == pid.generation();
}

bool Scheduler::deliver(internal::LetterPtr farewell, Pid parent) noexcept {
  Actor* const actor = slots_.find(parent.slot());
  if (actor == nullptr) return false;
  const ObjectLock::Guard guard(actor->lock);
  if (!actor->live || actor->generation != parent.generation()) return false;
  internal::put_letter(*actor, *farewell.release());
  return true;
}

void Scheduler::tell_failure(Pid pid, std::string_view name, const Exit& exit) const noexcept {
  if (config_.on_lost_failure()) {
    config_.on_lost_failure()(pid, name, exit);
  } else {
    tell_standard_error(pid, name, exit);
  }
}

namespace {

// With the lock held. The Pid goes first, so that who asks by it how the actor ended is not told of
// another's end.
void end_tenancy(Actor& actor) noexcept {
  ++actor.generation;
  actor.ended = false;
  actor.left = false;
  actor.looked = false;
  actor.joined = false;
  actor.follows = false;
}

}  // namespace

void Scheduler::vacate_failed(Actor& actor, SoloMark* mark) noexcept {
  const Pid pid = actor.pid();
  Exit exit;
  bool looked = false;
  {
    const ObjectLock::Guard guard(actor.lock, mark);
    looked = actor.looked;
    exit = std::exchange(actor.exit, Exit());
    end_tenancy(actor);
  }
  const ExitKind kind = exit.kind();
  if (!looked && kind != ExitKind::cancelled && kind != ExitKind::shutdown) {
    tell_failure(pid, actor.name, exit);
  }
}

void Scheduler::vacate(Actor& actor, SoloMark* mark) noexcept {
  if (actor.has_result) {
    actor.type->drop_result(actor);
    actor.has_result = false;
  }
  actor.state.reset();
  actor.orders.store_relaxed(0);  // the lock below orders it for later holders of the Pid
  actor.deadline = kNever;
  actor.shields = 0;
  if (actor.exit.ok()) [[likely]] {
    const ObjectLock::Guard guard(actor.lock, mark);
    end_tenancy(actor);
  } else {
    vacate_failed(actor, mark);
  }
  if (actor.place != 0) [[unlikely]] {
    actor.place = 0;
    actor.name.clear();
  }
}

void Scheduler::recycle_from_outside(Actor& actor) noexcept {
  vacate(actor, internal::this_solo_mark());
  slots_.give(&actor, &actor);
}

}  // namespace leat::actor
