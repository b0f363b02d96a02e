#include <leat/actor/scheduler/worker.hpp>

#include <leat/actor/local.hpp>
#include <leat/actor/scheduler/scheduler.hpp>
#include <leat/actor/supervise/bonds.hpp>
#include <leat/base/check.hpp>
#include <leat/base/mutant.hpp>

#include <cxxabi.h>

#include <utility>

namespace leat::actor {
namespace {

constinit thread_local Worker* attached_worker = nullptr;

}  // namespace

internal::Here* internal::attached() noexcept {
  asm volatile("");  // not to be taken for a function of nothing
  return attached_worker;
}

void internal::before_lock() noexcept {
  Actor* const self = this_actor();
  if (self != nullptr && turn().held() == 0) self->scheduler->point(*self);
}

Worker::Attached::Attached(Worker& worker) noexcept
    : worker_(worker), before_(std::exchange(attached_worker, &worker)) {
  // The thread's own: it does not move while it is attached.
  thread_local Carrier carrier;
  worker.carrier_ = &carrier;
  {
    const std::lock_guard lock(worker.thread_mutex_);
    worker.thread_ = os::this_thread_to_sample();
  }
  worker.turn_ = &turn();
  const Config& config = worker.scheduler_.config();
  worker.before_ = turn().attach(
      {.alloc_interval = config.alloc_interval(),
       .timeslice_cycles = config.timeslice_cycles(),
       .ticks =
           worker.scheduler_.ticker() != nullptr ? &worker.scheduler_.ticker()->ticks() : nullptr,
       .allocated = worker.scheduler_.has_allocated() ? &Worker::allocated : nullptr},
      &Worker::preempted, &worker);
  if (Ticker* const ticker = worker.scheduler_.ticker()) ticker->busy();
}
Worker::Attached::~Attached() {
  if (Ticker* const ticker = worker_.scheduler_.ticker()) ticker->idle();
  turn().detach(worker_.before_);
  attached_worker = before_;
  const std::lock_guard lock(worker_.thread_mutex_);
  worker_.thread_ = 0;
}

bool Worker::sample(os::SampleLook look, void* context) {
  const std::lock_guard lock(thread_mutex_);
  return thread_ != 0 && !parker_.was_parked() && os::sample(thread_, look, context);
}

void Worker::preempted(void* worker) noexcept {
  auto& here = *static_cast<Worker*>(worker);
  Actor* const self = this_actor();
  // In a section of an object's lock it goes on: the section is short.
  if (self == nullptr || (here.mark != nullptr && here.mark->is_in())) return;
  self->held = turn().end(self->reductions);
  if (LEAT_MUTANT("worker.moves_the_preempted") && here.sharing_ == Sharing::shared) {
    here.departing_ = self;
    here.departure_ = Departure::yields;
    here.leave(*self, here.choose());
    return;
  }
  if (Actor* const next = here.choose()) {
    here.list_.push(*self);  // nobody else takes from it: it stays on this worker
    here.leave(*self, next);
  } else {
    here.stay(*self);
  }
}

bool Worker::allocated(void* worker) noexcept {
  Actor* const self = this_actor();
  return self != nullptr && static_cast<Worker*>(worker)->scheduler_.allocated(*self);
}

Worker::Worker(Scheduler& scheduler, std::size_t index, SoloMark* solo)
    : internal::Here{solo},
      scheduler_(scheduler),
      sharing_(scheduler.config().workers() == 1 ? Sharing::solo : Sharing::shared),
      index_(index),
      stacks_(scheduler.stacks()),
      slots_(scheduler.slots()),
      rng_(index + 1),
      idle_(scheduler.config().idle_spin()),
      migrate_(scheduler.config().migrates_always() && sharing_ == Sharing::shared),
      lifo_seen_(scheduler.config().workers(), 0),
      wheel_lock_(nullptr),
      wheel_(scheduler.clock().now()) {
  if (scheduler.config().shares().empty()) return;
  lanes_ = std::make_unique<Lanes>(scheduler.config().shares());
  until_look_ = 1;  // each choice goes by shares
}

Worker::~Worker() = default;

// -- choosing -----------------------------------------------------------------------------------

Actor* Worker::choose_after_look() noexcept {
  if (stepped_) {  // whoever steps us chooses
    ++turns_;
    until_look_ = 1;
    return nullptr;
  }
  if (lanes_ != nullptr) return choose_by_shares();
  turns_ += kLookEvery;
  until_look_ = kLookEvery;
  look_around();
  if (scheduler_.look_for_quiet() && scheduler_.config().threads() == 0) {
    back_to_run_ = true;  // though daemons could go on
    return nullptr;
  }
  return sharing_ == Sharing::solo ? choose_solo() : choose_shared();
}

// All that was put where it lies without groups goes into its lane first.
Actor* Worker::choose_by_shares() noexcept {
  ++turns_;
  until_look_ = 1;
  if (++turns_unlooked_ >= kLookEvery) {
    turns_unlooked_ = 0;
    look_around();
    if (scheduler_.look_for_quiet() && scheduler_.config().threads() == 0) {
      back_to_run_ = true;
      return nullptr;
    }
  }
  const auto sort = [this](Actor& actor, bool stays) {
    if (!lanes_->put(actor, stays)) scheduler_.inbox().put(actor);
  };
  const bool solo = sharing_ == Sharing::solo;
  while (Actor* const actor = list_.pop()) sort(*actor, true);
  if (lifo_.load_relaxed() != nullptr) {
    if (Actor* const woken = lifo_.exchange_acquire(nullptr, keep{})) sort(*woken, solo);
  }
  while (Actor* const actor = queue_.pop(sharing_)) sort(*actor, false);
  return lanes_->choose(sharing_, scheduler_.clock().now());
}

Actor* Worker::choose_shared() noexcept {
  // Relaxed: a hint, the exchange takes it. Only we put it there.
  if (lifo_runs_ < kLifoMost && lifo_.load_relaxed() != nullptr) {
    if (Actor* const woken = lifo_.exchange_acquire(nullptr, keep{})) {
      ++lifo_runs_;
      return woken;
    }
  }
  lifo_runs_ = 0;
  if ((until_look_ & 1) != 0) {
    if (Actor* const actor = list_.pop()) return actor;
  }
  if (Actor* const actor = queue_.pop(Sharing::shared)) return actor;
  if (Actor* const actor = list_.pop()) return actor;
  if (lifo_.load_relaxed() == nullptr) return nullptr;
  return lifo_.exchange_acquire(nullptr, keep{});
}

void Worker::look_around() noexcept {
  const auto take_own = [this](Actor& actor) {
    if (sharing_ == Sharing::solo) {  // what was put there asks us to wake it
      if (actor.state.wake(Sharing::solo)) list_.push(actor);
    } else {
      list_.push(actor);
    }
  };
  if (inbox_.size_approx() > 0) inbox_.take(Inbox::kBatch, take_own);
  if (Inbox& common = scheduler_.inbox(); common.size_approx() > 0) {
    if (sharing_ == Sharing::solo) {
      common.take(Inbox::kBatch, take_own);
    } else {
      const std::size_t share = common.size_approx() / scheduler_.worker_count() + 1;
      common.take(share, [this](Actor& actor) { enqueue_shared(actor); });
      tell_others();
    }
  }
  if (const Stower& stower = scheduler_.stower(); stower.is_wanted()) {
    (void)scheduler_.stower().look(scheduler_.clock().now());
  }
  if (wheel_.size() > 0) {  // our own timers; others only take theirs off
    const Nanos now = scheduler_.clock().now();
    const auto wake = [this](TimerNode& node) {
      Actor& actor = Actor::of(node);
      if (actor.state.wake(sharing_)) enqueue(actor);
    };
    if (sharing_ == Sharing::solo) {
      wheel_.advance(now, wake);
    } else {
      const ObjectLock::Guard guard(wheel_lock_, nullptr);
      wheel_.advance(now, wake);
    }
  }
}

Actor* Worker::search() noexcept {
  look_around();
  if (Actor* const actor = choose()) return actor;
  if (sharing_ == Sharing::solo) return nullptr;
  if (!searching_) searching_ = scheduler_.idle().start_search();
  if (!searching_) return nullptr;
  const std::size_t workers = scheduler_.worker_count();
  const std::size_t first = static_cast<std::size_t>(rng_.below(workers));
  for (std::size_t i = 0; i < workers; ++i) {
    Worker& victim = scheduler_.worker((first + i) % workers);
    if (&victim == this) continue;
    if (Actor* const actor = victim.rob(*this)) {
      ++steals_;
      return actor;
    }
  }
  if (!take_timers_of_others()) return nullptr;
  return stepped_ ? choose_shared() : choose();
}

// A worker may be stuck in what its actor does; those whose time has come on it can go on here.
bool Worker::take_timers_of_others() noexcept {
  bool taken = false;
  for (std::size_t i = 0; i < scheduler_.worker_count(); ++i) {
    Worker& other = scheduler_.worker(i);
    if (&other == this || other.wheel_.size() == 0) continue;
    if (scheduler_.idle().is_asleep(other.parker_)) continue;  // it has set its alarm
    const Nanos now = scheduler_.clock().now();
    const ObjectLock::Guard guard(other.wheel_lock_, nullptr);
    other.wheel_.advance(now, [this, &taken](TimerNode& node) {
      Actor& actor = Actor::of(node);
      if (!actor.state.wake(Sharing::shared)) return;
      enqueue_claimed(actor);
      taken = true;
    });
  }
  return taken;
}

Actor* Worker::rob(Worker& thief) noexcept {
  Actor* one = nullptr;
  const auto give = [&](Actor* actor) {
    if (one == nullptr) {
      one = actor;
    } else {
      thief.enqueue_shared(*actor);
    }
  };
  queue_.steal(RunQueue<Actor>::kCapacity / 2, give);
  if (one == nullptr && lanes_ != nullptr) lanes_->steal(RunQueue<Actor>::kCapacity / 2, give);
  if (one != nullptr) return one;
  // Who was woken last runs here next, unless who runs now does not stop: it lies there since this
  // thief looked last.
  if (lifo_.load_relaxed() == nullptr) return nullptr;
  const std::uint32_t puts = lifo_puts_.load_relaxed();  // a hint
  std::uint32_t& seen = thief.lifo_seen_[index_];
  if (std::exchange(seen, puts) != puts) return nullptr;
  return lifo_.exchange_acquire(nullptr, keep{});
}

bool Worker::step(Rng& rng) noexcept {
  const Attached attached(*this);
  look_around();
  Actor* actor = draw(rng);
  if (actor == nullptr) {
    until_look_ = 2;  // for once, `search` may choose
    actor = search();
    until_look_ = 1;
  }
  if (actor == nullptr) return false;
  resume(*actor);
  return true;
}

// Any of those that could run here: the search for schedules goes beyond what the queues' order allows.
Actor* Worker::draw(Rng& rng) noexcept {
  if (lifo_.load_relaxed() != nullptr && rng.below(2) == 0) {
    return lifo_.exchange_acquire(nullptr, keep{});
  }
  for (std::uint64_t turns = rng.below(4); turns > 0 && !list_.empty(); --turns) {
    list_.push(*list_.pop());
  }
  if (!list_.empty() && rng.below(2) == 0) return list_.pop();
  const std::size_t waiting = queue_.size_approx();
  for (std::uint64_t turns = waiting < 2 ? 0 : rng.below(waiting); turns > 0; --turns) {
    Actor* const first = queue_.pop(Sharing::shared);
    if (first == nullptr || !queue_.push(first)) break;
  }
  if (Actor* const actor = queue_.pop(Sharing::shared)) return actor;
  if (Actor* const actor = list_.pop()) return actor;
  return lifo_.exchange_acquire(nullptr, keep{});
}

bool Worker::fall_asleep() noexcept {
  scheduler_.idle().sleep(parker_, std::exchange(searching_, false));
  if (!has_news()) return true;
  searching_ = scheduler_.idle().woken(parker_);
  return false;
}
bool Worker::wake_up() noexcept {
  if (scheduler_.idle().is_asleep(parker_)) return false;
  searching_ = true;  // as who was woken is
  return true;
}
void Worker::get_up() noexcept { searching_ = scheduler_.idle().woken(parker_); }
std::optional<Nanos> Worker::next_timer() noexcept { return wheel_.next_look(); }

bool Worker::has_loot() const noexcept {
  return !queue_.was_empty() || (lanes_ != nullptr && lanes_->has_loot());
}

bool Worker::has_news() const noexcept {
  if (!inbox_.was_empty() || !scheduler_.inbox().was_empty() || scheduler_.stopping()) return true;
  if (sharing_ == Sharing::solo) return false;
  for (std::size_t i = 0; i < scheduler_.worker_count(); ++i) {
    if (scheduler_.worker(i).has_loot()) return true;
  }
  return false;
}

void Worker::sleep() noexcept {
  const Clock& clock = scheduler_.clock();
  std::optional<Nanos> look;
  if (wheel_.size() > 0) {
    if (sharing_ == Sharing::solo) {
      look = wheel_.next_look();
    } else {
      const ObjectLock::Guard guard(wheel_lock_, nullptr);
      look = wheel_.next_look();
    }
  }
  // To put stacks away is what there is time for now. Virtual time does not go on for it.
  const std::optional<Nanos> stow =
      scheduler_.stower().is_wanted() ? scheduler_.stower().look(clock.now()) : std::nullopt;
  if (stow && scheduler_.virtual_clock() == nullptr && (!look || *stow < *look)) look = stow;
  if (SettableClock* const virtual_clock = scheduler_.virtual_clock()) {
    // Nothing can run: time jumps. What plain threads are about to do does not hold it back.
    if (look) {
      if (*look > virtual_clock->now()) virtual_clock->set(*look);
      return;
    }
  }
  std::optional<Nanos> timeout;
  if (look) {
    const Nanos now = clock.now();
    if (*look <= now) return;
    timeout = *look - now;
  }
  scheduler_.look_for_quiet();
  if (!timeout || *timeout > idle_.idle_spin()) {
    if (idle_.poll(clock, [this] { return has_news(); })) return;
  }
  if (sharing_ == Sharing::shared && scheduler_.idle().somebody_works()) {
    // For those that lie in the hand of a worker that does not come to them.
    if (!timeout || *timeout > kLookForStuck) timeout = kLookForStuck;
  }
  stacks_.flush(0);
  scheduler_.stacks().trim(clock.now());
  scheduler_.idle().sleep(parker_, std::exchange(searching_, false));
  scheduler_.look_for_quiet();  // once more, now that others see that we sleep
  Ticker* const ticker = scheduler_.ticker();
  if (ticker != nullptr) ticker->idle();
  parker_.park([this] { return has_news(); }, timeout);
  if (ticker != nullptr) ticker->busy();
  searching_ = scheduler_.idle().woken(parker_);
}

// -- queueing -----------------------------------------------------------------------------------

void Worker::enqueue(Actor& actor) noexcept {
  if (sharing_ == Sharing::solo || actor.kept) {
    list_.push(actor);
  } else {
    enqueue_shared(actor);
  }
}

void Worker::enqueue_claimed(Actor& actor) noexcept {
  if (actor.kept && sharing_ == Sharing::shared && &worker_of(actor) != this) {
    worker_of(actor).inbox().put(actor);
    worker_of(actor).unpark();
    return;
  }
  enqueue(actor);
  tell_others();
}

void Worker::enqueue_shared(Actor& actor) noexcept {
  if (queue_.push(&actor)) [[likely]]
    return;
  // Full: half of it, and this one, to where all look.
  while (Actor* const oldest = queue_.pop(Sharing::shared)) {
    scheduler_.inbox().put(*oldest);
    if (queue_.size_approx() <= RunQueue<Actor>::kCapacity / 2) break;
  }
  scheduler_.inbox().put(actor);
}

void Worker::enqueue_woken(Actor& actor) noexcept {
  if (sharing_ == Sharing::solo) {
    Actor* const before = lifo_.load_relaxed();  // solo: all ours
    if (before != nullptr) list_.push(*before);
    lifo_.store_relaxed(&actor);
    return;
  }
  if (actor.kept) {
    Worker& home = worker_of(actor);
    if (&home == this) {
      list_.push(actor);
    } else {
      home.inbox().put(actor);
      home.unpark();
    }
    return;
  }
  if (migrate_) [[unlikely]] {
    send_on(actor);
    return;
  }
  run_soon(actor);
}

// It runs here next, unless a thief finds that this worker does not come to it.
void Worker::run_soon(Actor& actor) noexcept {
  // Relaxed: only we put something there; what a thief takes meanwhile does not matter.
  Actor* before = lifo_.load_relaxed();
  if (before != nullptr) before = lifo_.exchange_acquire(nullptr, keep{});
  lifo_puts_.store_relaxed(lifo_puts_.load_relaxed() + 1);  // ours; a hint for thieves
  lifo_.store_release(&actor, keep{});
  // It runs here next: that is nothing to wake another worker for, who would take it elsewhere.
  if (before == nullptr) return;
  enqueue_shared(*before);
  tell_others();
}

void Worker::send_on(Actor& actor) noexcept {
  Worker& next = scheduler_.worker((index_ + 1) % scheduler_.worker_count());
  next.inbox_.put(actor);
  next.unpark();
}

void Worker::tell_others() noexcept {
  if (sharing_ == Sharing::shared) scheduler_.idle().wake_one_if_needed();
}

// -- going over ---------------------------------------------------------------------------------

bool Worker::prepare(Actor& actor) noexcept {
  actor.here = this;
  if (actor.stack) [[likely]]
    return true;
  if (actor.stowed) {
    scheduler_.stower().unstow(actor);
    return true;
  }
  actor.stack = stacks_.take();
  if (!actor.stack) [[unlikely]]
    return false;
  if (scheduler_.stack_report().samples()) [[unlikely]] {
    forget_stack_use(actor.stack, nullptr);
    actor.measured = true;
  }
  actor.stack.record().owner = static_cast<internal::OnStack*>(&actor);
  actor.fiber.start(actor.stack.slot(), actor.stack.top(), &Worker::enter, &actor);
  return true;
}

void Worker::resume(Actor& actor) noexcept {
  if (std::exchange(searching_, false)) scheduler_.idle().stop_search();
  if (lanes_ != nullptr) [[unlikely]]
    lanes_->begin(actor, scheduler_.clock().now());
  if (!prepare(actor)) [[unlikely]] {
    actor.exit = Exit::failed("it got no stack: " + scheduler_.stacks().shortage().message);
    actor.type->drop_closure(actor);
    finish(actor, false);
    left(actor);
    return;
  }
  turn_->set_actor(&actor);
  switch_to(*carrier_, own_, actor.fiber, this);
  settle();
}

void Worker::settle() noexcept {
  const Departure departure = departure_;
  if (departure == Departure::none) return;
  departure_ = Departure::none;
  Actor& actor = *departing_;
  switch (departure) {
    case Departure::none:
      break;
    case Departure::yields:
      if (migrate_ && !actor.kept) [[unlikely]] {
        send_on(actor);
        break;
      }
      enqueue(actor);
      tell_others();
      break;
    case Departure::parks:
      if (!actor.state.park(Sharing::shared)) enqueue(actor);
      break;
    case Departure::ends:
      left(actor);
      break;
  }
}

// Who yields while nobody else can run.
void Worker::alone(Actor& self) noexcept {
  if (migrate_ && !self.kept) [[unlikely]] {
    departing_ = &self;
    departure_ = Departure::yields;
    leave(self, nullptr);
    return;
  }
  stay(self);
}

void Worker::stay(Actor& self) noexcept {
  if (stepped_ || std::exchange(back_to_run_, false)) {
    if (sharing_ == Sharing::solo) {
      list_.push(self);
    } else {
      departing_ = &self;
      departure_ = Departure::yields;
    }
    leave(self, nullptr);
    return;
  }
  // Now and then see what has become due; `choose` does so only every so often.
  if (until_look_ % 8 == 0) look_around();
  turn().begin(self.held);
}

void Worker::arm(Actor& actor, Nanos deadline) noexcept {
  actor.timer_worker = this;
  if (sharing_ == Sharing::solo) {
    wheel_.arm(actor.timer, deadline);
  } else {
    const ObjectLock::Guard guard(wheel_lock_, nullptr);
    wheel_.arm(actor.timer, deadline);
  }
}

void Worker::disarm(Actor& actor) noexcept {
  if (sharing_ == Sharing::solo) {
    if (actor.timer.armed) wheel_.cancel(actor.timer);
  } else {
    const ObjectLock::Guard guard(wheel_lock_, nullptr);
    if (actor.timer.armed) wheel_.cancel(actor.timer);
  }
}

Actor& Worker::vacant() {
  const NoPreempt whole;
  return slots_.take();
}
void Worker::give_back(Actor& actor) noexcept { slots_.give(actor); }
void Worker::start(Actor& actor) noexcept {
  count_started(actor.daemon);
  if (sharing_ == Sharing::solo) {
    list_.push(actor);
  } else if (actor.kept || migrate_) {
    enqueue(actor);
    tell_others();
  } else {
    run_soon(actor);  // its parent may be about to wait for it
  }
}

// -- beginning and ending ------------------------------------------------------------------------

void Worker::enter(void* argument, void* message) {
  static_cast<Worker*>(message)->settle();
  Actor& self = *static_cast<Actor*>(argument);
  turn().begin();
  try {
    const struct EndsLocals {
      Actor& actor;
      ~EndsLocals() {
        if (actor.locals != nullptr) LocalValues::end(actor);
      }
    } ends{self};
    self.type->run(self);
  } catch (const Cancelled& why) {
    const NoPreempt whole;
    self.exit = Exit::cancelled(why.what());
  } catch (abi::__forced_unwind&) {
    if (LEAT_MUTANT("worker.swallows_forced_unwind")) return;
    // It may not be swallowed, and cannot go on below us: this handler is never left.
    self.exit = Exit::killed("its stack was unwound by force, by pthread_exit or a cancellation");
    worker_of(self).end(self);
  } catch (...) {
    if (LEAT_MUTANT("worker.lets_exceptions_through")) throw;
    self.exit = Exit::of(std::current_exception());
  }
  worker_of(self).end(self);
}

void Worker::end(Actor& self) noexcept {
  self.held = turn().end(self.reductions);
  if (sharing_ == Sharing::shared) {
    finish(self, false);
    Actor* const next = choose();
    departing_ = &self;
    departure_ = Departure::ends;
    switch_for_good(*carrier_, self.fiber, go_on_with(next), this);
  }
  // Nobody else takes a stack or a slot from us before we have gone, so all is settled here; but for
  // the stack, on which we still are.
  const bool daemon = self.daemon;
  const bool vacant = finish(self, true);
  const Stack stack = take_stack(self);
  if (vacant) {
    turn_->set_actor(nullptr);  // what ends with it ends in nobody's name
    recycle(self);
  }
  count_ended(daemon);
  Fiber& next = go_on_with(choose());
  stacks_.give(stack);
  switch_for_good(*carrier_, self.fiber, next, this);
}

// `leaves`: its stack counts as left, too. Returns: whether its slot is vacant then.
bool Worker::finish(Actor& actor, bool leaves) noexcept {
  {
    ObjectLock::Guard guard(actor.lock, mark);
    if (actor.farewell == nullptr && actor.mailbox == nullptr && actor.bonds == nullptr)
        [[likely]] {
      actor.live = false;
      actor.ended = true;
      actor.left = leaves;
      fire_joiners(guard, actor);
      return leaves && !actor.handle;
    }
    internal::free_names(guard, actor);
  }
  finish_with_estate(actor);
  if (!leaves) return false;
  const ObjectLock::Guard guard(actor.lock, mark);
  actor.left = true;
  return !actor.handle;
}

void Worker::fire_joiners(const ObjectLock::Guard& guard, Actor& actor) noexcept {
  while (Waiter* const waiter = actor.joiners.first()) {
    if (guard.is_by_mark() && waiter->who.actor() != nullptr) [[likely]] {
      actor.joiners.remove(*waiter);
      waiter->fired = true;
      wake_solo(*waiter->who.actor());  // all who wait are ours
    } else {
      actor.joiners.fire(*waiter);
    }
  }
}

// Others are told of its end: by letters, and by exits.
void Worker::finish_with_estate(Actor& actor) noexcept {
  internal::Estate estate;
  {
    ObjectLock::Guard guard(actor.lock, mark);
    internal::free_names(guard, actor);
    actor.live = false;
    actor.ended = true;
    estate = internal::take_estate(actor);
    actor.joiners.fire_all();
  }
  if (!internal::settle_estate(actor, std::move(estate))) return;
  const ObjectLock::Guard guard(actor.lock, mark);
  actor.looked = true;
}

// The stack is nobody's from now on; it is still to be given back.
Stack Worker::take_stack(Actor& actor) noexcept {
  if (std::exchange(actor.measured, false)) [[unlikely]] {
    scheduler_.stack_report().add(actor.type->kind(), stack_used_bytes(actor.stack));
  }
  actor.stack.record().owner = nullptr;
  if (actor.stows.load_relaxed()) [[unlikely]]  // its own
    scheduler_.stower().count(-1);
  return std::exchange(actor.stack, Stack());
}

void Worker::left(Actor& actor) noexcept {
  if (actor.stack) {
    stacks_.give(take_stack(actor));
  } else if (actor.stows.load_relaxed()) [[unlikely]]  // its own
    scheduler_.stower().count(-1);
  const bool daemon = actor.daemon;
  bool vacant = false;
  {
    const ObjectLock::Guard guard(actor.lock, mark);
    actor.left = true;
    vacant = !actor.handle;
  }
  if (vacant) recycle(actor);
  count_ended(daemon);
}

void Worker::recycle(Actor& actor) noexcept {
  scheduler_.vacate(actor, mark);
  slots_.give(actor);
}

void Worker::count_started(bool daemon) noexcept {
  Atomic<std::uint64_t>& started = counts_[daemon ? 1 : 0].started;
  started.store_release(started.load_relaxed() + 1, count{});  // only we write it
}
void Worker::count_ended(bool daemon) noexcept {
  Atomic<std::uint64_t>& ended = counts_[daemon ? 1 : 0].ended;
  ended.store_release(ended.load_relaxed() + 1, count{});  // only we write it
}

std::uint64_t Worker::started(bool daemons) const noexcept {
  return counts_[0].started.load_acquire(count{}) +
         (daemons ? counts_[1].started.load_acquire(count{}) : 0);
}
std::uint64_t Worker::ended(bool daemons) const noexcept {
  return counts_[0].ended.load_acquire(count{}) +
         (daemons ? counts_[1].ended.load_acquire(count{}) : 0);
}

}  // namespace leat::actor
