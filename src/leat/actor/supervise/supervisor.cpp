#include <leat/actor/supervise/supervisor.hpp>

#include <leat/actor/mailbox/ask.hpp>
#include <leat/actor/mailbox/receive.hpp>
#include <leat/actor/scheduler/actor.hpp>
#include <leat/actor/self.hpp>
#include <leat/actor/supervise/here.hpp>
#include <leat/actor/supervise/links.hpp>
#include <leat/base/function.hpp>
#include <leat/base/rng.hpp>
#include <leat/base/usage_error.hpp>

#include <cstdio>
#include <deque>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <unordered_map>

namespace leat::actor {
namespace {

class Loop;

// What a supervisor is asked: done by itself, on its own stack.
struct Order {
  Function<void(Loop&)> run;
};

struct Child {
  ChildSpec spec;
  Pid pid = {};         // none: it does not run
  bool ended = false;   // that was heard while another's end was awaited
  bool wanted = false;  // it is to be started when a pause is over, or others were stopped
  bool paused = false;  // it is in `pauses_`, at `due`
  Nanos due{0};
  Nanos started{0};
  Nanos pause{0};  // before the last restart
  std::uint64_t restarts = 0;
};
using Children = std::list<Child>;
using Place = Children::iterator;

Error no_child(std::string_view what, std::string_view name) {
  return {"supervisor: asked to " + std::string(what) + " \"" + std::string(name) +
          "\"; found no child of that name; see Supervisor::children()"};
}

void tell_standard_error(Pid pid, std::string_view name) {
  std::fprintf(
      stderr,
      "leat: actor %u.%u \"%.*s\" was killed by its supervisor, and goes on: it never waits, "
      "or swallows that it is to end\n",
      pid.slot(), pid.generation(), static_cast<int>(name.size()), name.data());
}

class Loop {
 public:
  explicit Loop(const SupervisorOptions& options) : options_(options), rng_(options.seed) {
    if (options_.period <= Nanos{0} || options_.patience < Nanos{0}) {
      throw UsageError("supervisor \"" + options_.name + "\"",
                       "a period above 0 and a patience from 0",
                       std::to_string(options_.period.count()) + " ns and " +
                           std::to_string(options_.patience.count()) + " ns",
                       "leave them out for 5 s and 1 s");
    }
  }

  // Throws what is wrong with a child's description.
  void check(const ChildSpec& spec) const {
    if (!spec.run) throw wrong(spec, "a function to run", "none", "set ChildSpec::run");
    if (spec.grace < Nanos{0}) {
      throw wrong(spec, "a grace from 0", std::to_string(spec.grace.count()) + " ns",
                  "give 0 to have it killed at once");
    }
    if (spec.significant && spec.restart == Restart::permanent) {
      throw wrong(spec, "a significant child", "a permanent one, which never ends for good",
                  "make it transient or temporary");
    }
    if (!spec.name.empty() && names_.contains(spec.name)) {
      throw wrong(spec, "a child of that name", "one that has it already", "choose another name");
    }
  }

  // `started` is called when all are.
  Exit run(const std::vector<ChildSpec>& specs, const std::function<void()>& started) {
    trap_exit(true);
    internal::say_that_it_supervises();
    try {
      for (const ChildSpec& spec : specs) {
        check(spec);
        start(add(spec));
      }
      if (started) started();
      while (!over_) step();
    } catch (...) {
      stop_all();
      throw;
    }
    stop_all();
    return exit_;
  }

  // -- what it is asked
  // -----------------------------------------------------------------------------

  Result<Pid> start_child(const ChildSpec& spec) {
    try {
      check(spec);
    } catch (const UsageError& e) {
      return Error{e.what()};
    }
    const Place child = add(spec);
    start(child);
    return child->pid;
  }

  Result<void> stop_child(Place child) {
    cancel_pause(*child);
    stop(*child);
    if (child->spec.restart == Restart::temporary || child->spec.name.empty()) remove(child);
    return {};
  }
  Result<void> stop_child(std::string_view name) {
    const auto found = names_.find(name);
    if (found == names_.end()) return no_child("stop", name);
    return stop_child(found->second);
  }
  Result<void> stop_child(Pid pid) {
    const auto found = pids_.find(pid);
    if (found == pids_.end()) {
      return Error{
          "supervisor: asked to stop a child; found none with that Pid; it may have ended"};
    }
    return stop_child(found->second);
  }

  Result<Pid> restart_child(std::string_view name) {
    const auto found = names_.find(name);
    if (found == names_.end()) return no_child("restart", name);
    if (found->second->pid) {
      return Error{"supervisor: asked to restart \"" + std::string(name) +
                   "\"; found that it runs; stop it first"};
    }
    cancel_pause(*found->second);
    start(found->second);
    return found->second->pid;
  }

  Result<void> forget_child(std::string_view name) {
    const auto found = names_.find(name);
    if (found == names_.end()) return no_child("forget", name);
    if (found->second->pid) {
      return Error{"supervisor: asked to forget \"" + std::string(name) +
                   "\"; found that it runs; stop it first"};
    }
    cancel_pause(*found->second);
    remove(found->second);
    return {};
  }

  std::vector<ChildReport> reports() const {
    std::vector<ChildReport> reports;
    reports.reserve(children_.size());
    for (const Child& child : children_) {
      reports.push_back({child.spec.name, child.pid, child.spec.restart, child.spec.is_supervisor,
                         child.paused, child.restarts});
    }
    return reports;
  }

  ChildCounts count() const {
    ChildCounts counts{children_.size(), pids_.size(), 0, 0};
    for (const Child& child : children_) {
      ++(child.spec.is_supervisor ? counts.supervisors : counts.workers);
    }
    return counts;
  }

  Pid child(std::string_view name) const {
    const auto found = names_.find(name);
    return found == names_.end() ? Pid() : found->second->pid;
  }

 private:
  UsageError wrong(const ChildSpec& spec, const std::string& asked, const std::string& found,
                   const std::string& next) const {
    return {"supervisor \"" + options_.name + "\", child \"" + spec.name + "\"", asked, found,
            next};
  }

  void step() {
    receive(on<Signal>([this](const Signal& signal) { ended(signal); }),
            on<ExitSignal>([this](const ExitSignal& signal) {
              // Who started it has ended, or somebody wants it to end; others do not concern it.
              if (signal.from == parent_ || signal.exit.kind() == ExitKind::shutdown) {
                end(signal.exit.ok() ? Exit::shutdown("its parent has ended") : signal.exit);
              }
            }),
            on<Order>([this](Order order) { order.run(*this); }),
            at(pauses_.empty() ? kNever : pauses_.begin()->first, [this] { start_due(); }));
    // What was heard while something else was awaited.
    while (!late_.empty() && !over_) {
      const Signal signal = std::move(late_.front());
      late_.pop_front();
      ended(signal);
    }
  }

  void end(Exit exit) {
    over_ = true;
    exit_ = std::move(exit);
  }

  // -- one child's life
  // -----------------------------------------------------------------------------

  Place add(const ChildSpec& spec) {
    const Place child = children_.insert(children_.end(), Child{.spec = spec});
    if (!spec.name.empty()) names_.emplace(spec.name, child);
    if (spec.significant) ++significant_;
    return child;
  }

  void remove(Place child) {
    if (!child->spec.name.empty()) names_.erase(names_.find(child->spec.name));
    if (child->spec.significant) --significant_;
    children_.erase(child);
  }

  void start(Place child) {
    child->wanted = false;
    child->started = now_here();
    auto handle = spawn(
        {.name = child->spec.name, .parent = self(), .follows = true, .pinned = child->spec.pinned},
        [run = child->spec.run]() mutable { return run(); });
    child->pid = handle.pid();
    handle.detach();
    pids_.emplace(child->pid, child);
  }

  void gone(Child& child) {
    pids_.erase(child.pid);
    child.pid = Pid();
    child.ended = false;
  }

  // Asks it to end, and waits until it has; kills it if it takes too long.
  void stop(Child& child) {
    if (!child.pid) return;
    const Nanos grace = child.spec.grace;
    if (!child.ended && grace > Nanos{0}) {
      send_exit(child.pid, Exit::shutdown("its supervisor ends it"));
      await(child, grace == kNever ? kNever : deadline_after(grace));
    }
    if (!child.ended) {
      kill(child.pid);
      await(child, deadline_after(options_.patience));
    }
    if (!child.ended) tell_straggler(child);
    gone(child);
  }

  void tell_straggler(const Child& child) {
    if (options_.on_straggler) {
      options_.on_straggler(child.pid, child.spec.name);
    } else {
      tell_standard_error(child.pid, child.spec.name);
    }
  }

  // Waits for a child's end; takes note of others'.
  void await(const Child& child, Nanos deadline) {
    const CancelShield whole;  // a supervisor that is cancelled ends its children all the same
    while (!child.ended) {
      std::optional<Signal> signal = receive_until<Signal>(deadline);
      if (!signal) return;
      const auto found = pids_.find(signal->child);
      if (found == pids_.end()) continue;  // one that was left behind
      found->second->ended = true;
      if (&*found->second != &child) late_.push_back(*std::move(signal));
    }
  }

  void stop_all() {
    const CancelShield whole;
    for (auto child = children_.rbegin(); child != children_.rend(); ++child) stop(*child);
  }

  // -- ends and restarts
  // ----------------------------------------------------------------------------

  void ended(const Signal& signal) {
    const auto found = pids_.find(signal.child);
    if (found != pids_.end()) handle_end(found->second, signal.exit);
  }

  void handle_end(Place child, const Exit& exit) {
    gone(*child);
    const ExitKind kind = exit.kind();
    const bool well = kind == ExitKind::normal || kind == ExitKind::shutdown;
    const Restart restart = child->spec.restart;
    if (restart == Restart::permanent || (restart == Restart::transient && !well)) {
      restart_with(child, exit);
      return;
    }
    if (child->spec.significant) significant_ended();
    if (restart == Restart::temporary || child->spec.name.empty()) remove(child);
  }

  void significant_ended() {
    ++significant_gone_;
    const bool all = significant_gone_ >= significant_;
    if (options_.auto_shutdown == AutoShutdown::any_significant ||
        (options_.auto_shutdown == AutoShutdown::all_significant && all)) {
      end(Exit::shutdown("its significant children have ended"));
    }
  }

  void restart_with(Place child, const Exit& exit) {
    const Nanos now = now_here();
    restarts_.push_back(now);
    while (now - restarts_.front() > options_.period) restarts_.pop_front();
    if (restarts_.size() > options_.intensity) {
      Exit why = Exit::shutdown("its children failed too often, the last one, \"" +
                                child->spec.name + "\", by: " + exit.text());
      internal::tell_failure(why);
      end(std::move(why));
      return;
    }
    ++child->restarts;
    child->wanted = true;
    if (options_.strategy != Strategy::one_for_one) stop_others(child);
    const Nanos pause = next_pause(*child, now);
    if (pause == Nanos{0}) {
      start_wanted(child);
      return;
    }
    child->paused = true;
    child->due = now + pause;
    pauses_.emplace(child->due, child);
  }

  // Those that are started again with `failed`, the last first. Temporary ones are forgotten.
  void stop_others(Place failed) {
    const bool all = options_.strategy == Strategy::one_for_all;
    for (Place at = children_.end(); at != children_.begin();) {
      --at;
      if (at == failed) {
        if (!all) return;
        continue;
      }
      cancel_pause(*at);
      if (!at->pid) continue;
      stop(*at);
      at->wanted = at->spec.restart != Restart::temporary;
      if (!at->wanted) {
        const Place next = std::next(at);
        remove(at);
        at = next;
      }
    }
  }

  // The child that failed, and those that were stopped for it, in the order of starting.
  void start_wanted(Place failed) {
    if (options_.strategy == Strategy::one_for_one) {
      start(failed);
      return;
    }
    Place at = options_.strategy == Strategy::one_for_all ? children_.begin() : failed;
    for (; at != children_.end(); ++at) {
      if (at->wanted && !at->paused) start(at);
    }
  }

  void start_due() {
    const Nanos now = now_here();
    while (!pauses_.empty() && pauses_.begin()->first <= now) {
      const Place child = pauses_.begin()->second;
      pauses_.erase(pauses_.begin());
      child->paused = false;
      start_wanted(child);
    }
  }

  // Whether it is wanted stays as it is.
  void cancel_pause(Child& child) {
    if (!std::exchange(child.paused, false)) return;
    for (auto [at, end] = pauses_.equal_range(child.due); at != end; ++at) {
      if (&*at->second != &child) continue;
      pauses_.erase(at);
      return;
    }
  }

  Nanos next_pause(Child& child, Nanos now) {
    const Backoff& backoff = child.spec.backoff;
    if (backoff.first <= Nanos{0}) return Nanos{0};
    Nanos pause = backoff.first;
    if (child.pause > Nanos{0} && now - child.started < backoff.most) {
      const double longer = static_cast<double>(child.pause.count()) * backoff.factor;
      pause = longer < static_cast<double>(backoff.most.count())
                  ? Nanos{static_cast<Nanos::rep>(longer)}
                  : backoff.most;
    }
    child.pause = pause;
    if (backoff.jitter > 0) {
      const double part = static_cast<double>(rng_.below(1'000'000)) / 1e6 * backoff.jitter;
      pause -= Nanos{static_cast<Nanos::rep>(static_cast<double>(pause.count()) * part)};
    }
    return pause;
  }

  const SupervisorOptions options_;
  const Pid parent_ = internal::actor_here("supervise").parent;
  Rng rng_;
  Children children_;  // in the order of starting
  std::map<std::string, Place, std::less<>> names_;
  std::unordered_map<Pid, Place> pids_;  // those that run
  std::multimap<Nanos, Place> pauses_;   // those that are started when their pause is over
  std::deque<Signal> late_;
  std::deque<Nanos> restarts_;  // within the period
  std::size_t significant_ = 0;
  std::size_t significant_gone_ = 0;
  bool over_ = false;
  Exit exit_;
};

// Has the supervisor do something, and waits for what comes of it. Nothing: it has ended.
template <class R, class F>
std::optional<R> ordered(Pid supervisor, F f) {
  auto pair = oneshot<R>();
  (void)send(supervisor, Order{[call = std::move(f), promise = std::move(pair.promise)](
                                   Loop& loop) mutable { (void)promise.send(call(loop)); }});
  return pair.answer.receive();
}

Error ended_error() {
  return {"supervisor: asked something of one that has ended; found nobody; start another"};
}
template <class R>
Result<R> or_error(std::optional<Result<R>> answer) {
  if (answer) return *std::move(answer);
  return ended_error();
}

}  // namespace

Exit supervise(const SupervisorOptions& options, const std::vector<ChildSpec>& children) {
  return Loop(options).run(children, {});
}

ChildSpec supervisor_child(const SupervisorOptions& options, std::vector<ChildSpec> children) {
  ChildSpec spec;
  spec.name = options.name;
  spec.run = [options, children = std::move(children)] { return supervise(options, children); };
  spec.grace = kNever;
  spec.is_supervisor = true;
  return spec;
}

Supervisor Supervisor::start(const SupervisorOptions& options, std::vector<ChildSpec> children) {
  auto pair = oneshot<Done>();
  const Pid starter = internal::actor_here("Supervisor::start").pid();
  auto handle = spawn({.name = options.name, .parent = starter, .follows = true},
                      [options, specs = std::move(children),
                       promise = std::make_shared<Promise<Done>>(std::move(pair.promise))] {
                        Loop loop(options);
                        return loop.run(specs, [&] { (void)promise->send(Done{}); });
                      });
  const Supervisor made(handle.pid());
  if (!pair.answer.receive()) {
    Joined<void> joined = handle.join_result();
    if (!joined.ok()) joined.exit.raise();
  }
  handle.detach();
  return made;
}
Supervisor Supervisor::start(std::vector<ChildSpec> children) {
  return start(SupervisorOptions{}, std::move(children));
}

Result<Pid> Supervisor::start_child(ChildSpec spec) const {
  return or_error(ordered<Result<Pid>>(
      pid_, [spec = std::move(spec)](Loop& loop) { return loop.start_child(spec); }));
}
Result<void> Supervisor::stop_child(std::string_view name) const {
  return or_error(ordered<Result<void>>(
      pid_, [name = std::string(name)](Loop& loop) { return loop.stop_child(name); }));
}
Result<void> Supervisor::stop_child(Pid pid) const {
  return or_error(ordered<Result<void>>(pid_, [pid](Loop& loop) { return loop.stop_child(pid); }));
}
Result<Pid> Supervisor::restart_child(std::string_view name) const {
  return or_error(ordered<Result<Pid>>(
      pid_, [name = std::string(name)](Loop& loop) { return loop.restart_child(name); }));
}
Result<void> Supervisor::forget_child(std::string_view name) const {
  return or_error(ordered<Result<void>>(
      pid_, [name = std::string(name)](Loop& loop) { return loop.forget_child(name); }));
}
std::vector<ChildReport> Supervisor::children() const {
  return ordered<std::vector<ChildReport>>(pid_, [](Loop& loop) { return loop.reports(); })
      .value_or(std::vector<ChildReport>());
}
ChildCounts Supervisor::count() const {
  return ordered<ChildCounts>(pid_, [](Loop& loop) { return loop.count(); })
      .value_or(ChildCounts());
}
Pid Supervisor::child(std::string_view name) const {
  return ordered<Pid>(pid_, [name = std::string(name)](Loop& loop) { return loop.child(name); })
      .value_or(Pid());
}

Exit Supervisor::wait() const { return await_end_of(monitor(pid_)); }

Exit Supervisor::stop() const {
  Monitor watch = monitor(pid_);
  send_exit(pid_, Exit::shutdown("it was stopped"));
  return await_end_of(watch);
}

}  // namespace leat::actor
