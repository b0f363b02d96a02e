#include <leat/base/model/engine.hpp>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <iostream>

#include <leat/base/check.hpp>

namespace leat::model::internal {

constinit thread_local Engine* engine = nullptr;

namespace {

std::uint64_t explorations = 0;  // explorations run in one thread at a time

// `leat::Ring<int>::publish` -> `publish`.
std::string_view unqualified(std::string_view name) {
  int depth = 0;
  for (std::size_t i = name.size(); i > 1; --i) {
    const char c = name[i - 1];
    if (c == '>' || c == ')') ++depth;
    if (c == '<' || c == '(') --depth;
    if (depth == 0 && c == ':' && name[i - 2] == ':') return name.substr(i);
  }
  return name;
}

bool names(std::string_view wanted, std::string_view full) {
  if (wanted == full || wanted == unqualified(full)) return true;
  return full.ends_with(wanted) && full.substr(0, full.size() - wanted.size()).ends_with("::");
}

std::string number(const Word& word) {
  std::string text = word.low > 9'999 ? "0x" : "";
  char digits[24];
  const auto end = std::to_chars(digits, digits + sizeof digits, word.low, text.empty() ? 10 : 16);
  text.append(digits, end.ptr);
  return text;
}

// A failed LEAT_CHECK or a wild pointer in the code under test is a failed execution like any
// other.
class CrashHandlers {
 public:
  CrashHandlers() {
    struct sigaction action = {};
    action.sa_handler = [](int signal) {
      if (engine != nullptr) engine->crashed(signal);
      std::signal(signal, SIG_DFL);
      std::raise(signal);
    };
    action.sa_flags = SA_NODEFER;  // we leave the handler for good, by another stack
    for (std::size_t i = 0; i < kSignals.size(); ++i) ::sigaction(kSignals[i], &action, &old_[i]);
  }
  ~CrashHandlers() {
    for (std::size_t i = 0; i < kSignals.size(); ++i) ::sigaction(kSignals[i], &old_[i], nullptr);
  }
  CrashHandlers(const CrashHandlers&) = delete;
  CrashHandlers& operator=(const CrashHandlers&) = delete;

 private:
  static constexpr std::array kSignals{SIGABRT, SIGSEGV, SIGBUS, SIGFPE};
  std::array<struct sigaction, kSignals.size()> old_{};
};

}  // namespace

Engine::Engine(const Options& options, const std::function<void(Run&)>& body)
    : options_(options),
      body_(body),
      exploration_(++explorations),
      rng_(options.sampling.seed),
      edges_found_(options.weaken.size()),
      mutants_found_(options.mutants.size()) {
  LEAT_CHECK(engine == nullptr, "an exploration inside an exploration");
}

Engine::~Engine() = default;

// The search.

Result Engine::explore() {
  const CrashHandlers handlers;
  if (samples()) return sample();
  // With promises: search with what was stored in the search before, until that is all there is.
  for (;;) {
    std::vector<std::vector<Memory::Future>> stored;
    choices_.clear();
    result_.outcomes.clear();
    bool more = true;
    while (more && result_.executions < options_.executions_max) {
      choices_.rewind();
      execute();
      ++result_.executions;
      if (end_ == End::failed) {
        describe_failure();
        return result_;
      }
      if (end_ == End::finished) {
        for (std::string& each : outcomes_) ++result_.outcomes[std::move(each)];
        memory_.add_stored(stored);
      }
      more = choices_.advance();
    }
    result_.complete = !more;
    if (more || options_.promises == 0 || stored == memory_.futures) break;
    memory_.futures = std::move(stored);
  }
  return nothing_found();
}

// Priorities as in "A randomized scheduler with probabilistic guarantees of finding bugs".
Result Engine::sample() {
  while (result_.executions < options_.sampling.executions) {
    choices_.clear();
    draw_points();
    execute();
    ++result_.executions;
    if (end_ == End::failed) {
      describe_failure();
      return result_;
    }
    steps_most_ = std::max(steps_most_, steps_);
    outcomes_most_ = std::max(outcomes_most_, outcomes_met_);
    if (end_ != End::finished) continue;
    for (std::string& each : outcomes_) ++result_.outcomes[std::move(each)];
    if (options_.promises > 0) memory_.add_stored(memory_.futures);
  }
  return nothing_found();
}

void Engine::draw_points() {
  changes_.clear();
  surprises_.clear();
  const auto draw = [this](std::vector<int>& into, int n, int most) {
    for (int i = 0; i < n && most > 0; ++i) {
      into.push_back(1 + static_cast<int>(rng_.below(static_cast<std::uint64_t>(most))));
    }
  };
  draw(changes_, options_.sampling.depth - 1, steps_most_);
  draw(surprises_, options_.sampling.surprises, outcomes_most_);
}

Result Engine::nothing_found() {
  result_.ok = true;
  for (std::size_t i = 0; i < edges_found_.size(); ++i) {
    if (!edges_found_[i])
      result_.failure += "no operation has the edge " + options_.weaken[i] + "\n";
  }
  for (std::size_t i = 0; i < mutants_found_.size(); ++i) {
    if (!mutants_found_[i])
      result_.failure += "nothing asks for the mutant " + options_.mutants[i] + "\n";
  }
  return result_;
}

Result Engine::replay(std::string_view schedule) {
  const CrashHandlers handlers;
  const auto mark = schedule.find('!');
  const bool understood =
      choices_.set_schedule(schedule.substr(0, mark)) &&
      (mark == std::string_view::npos || set_futures(schedule.substr(mark + 1)));
  if (!understood) {
    result_.failure = "not a schedule: " + std::string(schedule);
    return result_;
  }
  describe_failure();
  result_.executions = 1;
  result_.ok = end_ == End::finished;
  return result_;
}

// Runs the present path once more, and writes down what happens.
void Engine::describe_failure() {
  const std::string first = failure_;
  choices_.rewind();
  tracing_ = true;
  steps_text_.clear();
  execute();
  tracing_ = false;
  result_.ok = false;
  result_.schedule = choices_.schedule() + futures_text();
  result_.failure = failure_.empty() ? first : failure_;
  if (!first.empty() && first != failure_) {
    result_.failure +=
        "\n(the first time it said: " + first + "; the test does not do the same thing each time)";
  }
  if (end_ == End::finished) result_.failure += "no failure";
  if (end_ == End::discarded) result_.failure += "not a possible execution: a promise was not kept";
  result_.failure += "\nschedule: " + result_.schedule + "   (LEAT_MODEL_REPLAY)";
  result_.failure += "\nexecutions before it: " + std::to_string(result_.executions) + "\n";
  for (const std::string& step : steps_text_) result_.failure += "  " + step + "\n";
}

void Engine::execute() {
  memory_.reset(options_.stale_repeats, options_.promises);
  for (int t = 0; t < threads_used_; ++t) {
    thread(t).state = State::unused;
    thread(t).body = nullptr;
  }
  threads_used_ = 1;
  thread(0).state = State::ready;
  thread(0).pauses = 0;
  current_ = 0;
  chosen_ = true;
  preemptions_ = 0;
  spurious_failures_ = 0;
  spurious_wakeups_ = 0;
  steps_ = 0;
  outcomes_met_ = 0;
  lowest_ = 0;
  sleeps_ = 0;
  time_passed_ = false;
  end_ = End::running;
  failure_.clear();
  outcomes_.clear();
  thread(0).fiber.start(&enter_main, this);
  engine = this;
  Fiber::switch_to(host_, thread(0).fiber);
  engine = nullptr;
}

void Engine::enter_main(void* self) {
  auto* me = static_cast<Engine*>(self);
  try {
    Run run(*me);
    me->body_(run);
  } catch (const std::exception& error) {
    me->fail_hard(std::string("the body threw: ") + error.what());
  } catch (...) {
    me->fail_hard("the body threw");
  }
  for (int t = 1; t < me->threads_used_; ++t) {
    if (!me->thread(t).joined) me->fail_hard("the body ended without join");
  }
  me->leave(me->memory_.promises_open() > 0 ? End::discarded
            : me->failure_.empty()          ? End::finished
                                            : End::failed);
}

void Engine::enter_thread(void* self) {
  auto* me = static_cast<Engine*>(self);
  me->run_thread(me->current_);
}

void Engine::run_thread(int t) {
  try {
    thread(t).body();
  } catch (const std::exception& error) {
    fail_hard("T" + std::to_string(t) + " threw: " + error.what());
  } catch (...) {
    fail_hard("T" + std::to_string(t) + " threw");
  }
  thread(t).state = State::done;
  wrote();
  bool all = true;
  for (int other = 1; other < threads_used_; ++other) {
    all = all && thread(other).state == State::done;
  }
  if (all) thread(0).state = State::ready;
  hand_over();
  LEAT_CHECK(false, "a model thread that has ended was resumed");
}

int Engine::add_thread(std::function<void()> body) {
  LEAT_CHECK(current_ == 0, "only the body adds threads");
  LEAT_CHECK(threads_used_ < kThreadsMax, "too many model threads");
  const int t = threads_used_++;
  Thread& added = thread(t);
  added.state = State::added;
  added.joined = false;
  added.pauses = 0;
  added.body = std::move(body);
  return t;
}

void Engine::join_threads() {
  LEAT_CHECK(current_ == 0, "only the body joins threads");
  bool any = false;
  for (int t = 1; t < threads_used_; ++t) {
    if (thread(t).state != State::added) continue;
    thread(t).state = State::ready;
    thread(t).priority = 1 + static_cast<std::int64_t>(rng_.next() >> 2);
    thread(t).fiber.start(&enter_thread, this);
    memory_.start_thread(t, 0);
    any = true;
  }
  if (any) {
    thread(0).state = State::joining;
    hand_over();
  }
  for (int t = 1; t < threads_used_; ++t) {
    if (thread(t).joined) continue;
    thread(t).joined = true;
    memory_.join_thread(0, t);
  }
  chosen_ = true;  // alone again
}

// Scheduling.

int Engine::choose(int count, int fresh) {
  const int taken = choices_.choose(count, fresh);
  if (taken < 0)
    fail_hard("the schedule does not fit: the test does not do the same thing each time");
  return taken;
}

// Which of an operation's `count` outcomes.
int Engine::choose_outcome(int count) {
  if (count == 1) return 0;
  ++outcomes_met_;
  int fresh = 0;
  if (std::find(surprises_.begin(), surprises_.end(), outcomes_met_) != surprises_.end()) {
    fresh = 1 + static_cast<int>(rng_.below(static_cast<std::uint64_t>(count) - 1));
  }
  return choose(count, fresh);
}

// Which of the threads should go on in a sample; the first otherwise.
int Engine::highest(const Threads& threads, int count) {
  if (!samples()) return 0;
  const auto lower = [this](int a, int b) { return thread(a).priority < thread(b).priority; };
  return static_cast<int>(std::max_element(threads.begin(), threads.begin() + count, lower) -
                          threads.begin());
}

void Engine::turn() {
  if (++steps_ > options_.steps_max) {
    fail_hard("no end after " + std::to_string(options_.steps_max) +
              " steps: a livelock, or a loop that waits without spin_pause");
  }
  if (samples()) {
    if (std::find(changes_.begin(), changes_.end(), steps_) != changes_.end()) {
      thread(current_).priority = --lowest_;
    }
  } else if (chosen_ || preemptions_ >= options_.preemptions) {
    chosen_ = false;
    return;
  }
  Threads next{current_};
  int count = 1;
  for (int t = 0; t < threads_used_; ++t) {
    if (t != current_ && thread(t).state == State::ready && !worn(thread(t))) {
      next[static_cast<std::size_t>(count++)] = t;
    }
  }
  const int taken = choose(count, highest(next, count));
  if (taken == 0) return;
  ++preemptions_;
  switch_to(next[static_cast<std::size_t>(taken)]);
  chosen_ = false;
}

// The running thread cannot, or would rather not, go on.
void Engine::hand_over() {
  Threads next{};
  int count = 0;
  const auto add = [&](int t) { next[static_cast<std::size_t>(count++)] = t; };
  for (int t = 0; t < threads_used_; ++t) {
    if (thread(t).state == State::ready && !worn(thread(t))) add(t);
  }
  bool timeout = false;
  const auto add_timeouts = [&] {
    for (int t = 0; t < threads_used_; ++t) {
      if (thread(t).state == State::sleeping && thread(t).timed) add(t);
    }
    timeout = count > 0;
  };
  const auto add_worn = [&] {
    for (int i = 1; i <= threads_used_ && count == 0; ++i) {
      const int t = (current_ + i) % threads_used_;
      if (thread(t).state == State::ready) add(t);
    }
  };
  if (count == 0) {
    // Time passes. Threads that have paused too often go on, in turn, and timeouts run out: by
    // turns again, for each may be what the other waits for.
    time_passed_ = !time_passed_;
    if (time_passed_) add_worn();
    if (count == 0) add_timeouts();
    if (count == 0) add_worn();
  }
  if (count == 0) {
    std::string what = "deadlock:";
    for (int t = 0; t < threads_used_; ++t) {
      if (thread(t).state != State::sleeping) continue;
      what += " T" + std::to_string(t) + " sleeps on " + show(thread(t).futex) +
              " (= " + number(memory_.newest(thread(t).futex)) + ")";
    }
    fail_hard(what);
  }
  const int t = next[static_cast<std::size_t>(choose(count, highest(next, count)))];
  if (timeout) thread(t).state = State::ready;
  switch_to(t);
}

void Engine::switch_to(int t) {
  chosen_ = true;
  if (t == current_) return;
  const int from = current_;
  current_ = t;
  Fiber::switch_to(thread(from).fiber, thread(t).fiber);
}

// Somebody may have been waiting for this.
void Engine::wrote() {
  for (int t = 0; t < threads_used_; ++t) {
    if (t != current_) thread(t).pauses = 0;
  }
}

void Engine::pause() {
  ++thread(current_).pauses;
  thread(current_).priority = --lowest_;  // in a sample: the others first
  if (++steps_ > options_.steps_max) {
    fail_hard("no end after " + std::to_string(options_.steps_max) + " steps: a livelock");
  }
  hand_over();
}

void Engine::leave(End end) {
  end_ = end;
  Fiber::switch_to(thread(current_).fiber, host_);
  std::abort();
}

// Failures.

void Engine::fail(const std::string& what) {
  if (failure_.empty()) failure_ = what;
  if (tracing_) steps_text_.push_back("T" + std::to_string(current_) + " fails: " + what);
  // With a promise open this execution may yet turn out to be impossible.
  if (memory_.promises_open() == 0) leave(End::failed);
}

void Engine::fail_hard(const std::string& what) {
  fail(what);
  leave(End::discarded);
}

void Engine::crashed(int signal) {
  fail_hard(std::string("T") + std::to_string(current_) +
            (signal == SIGABRT ? " aborted" : " crashed, signal " + std::to_string(signal)));
}

void Engine::require(bool condition, std::string_view what) {
  if (!condition) fail("T" + std::to_string(current_) + ": " + std::string(what));
}

// Operations.

void Engine::look_up(EdgeTag& tag) {
  if (tag.exploration == exploration_) return;
  tag.exploration = exploration_;
  tag.weak_acquire = false;
  tag.weak_release = false;
  for (std::size_t i = 0; i < options_.weaken.size(); ++i) {
    std::string_view wanted = options_.weaken[i];
    bool acquire = true;
    bool release = true;
    if (const auto slash = wanted.rfind('/'); slash != std::string_view::npos) {
      acquire = wanted.substr(slash) == "/acquire";
      release = wanted.substr(slash) == "/release";
      wanted = wanted.substr(0, slash);
    }
    if (!names(wanted, tag.name)) continue;
    edges_found_[i] = true;
    tag.weak_acquire |= acquire;
    tag.weak_release |= release;
  }
}

Order Engine::weakened(Order order, Edges edges) {
  if (edges.acquire != nullptr) {
    look_up(*edges.acquire);
    if (edges.acquire->weak_acquire) order.acquire = order.seq_cst = false;
  }
  if (edges.release != nullptr) {
    look_up(*edges.release);
    if (edges.release->weak_release) order.release = order.seq_cst = false;
  }
  return order;
}

void Engine::touch(int location) {
  if (const auto wrong = memory_.touch(current_, location)) {
    fail(show(location) + ": " + *wrong);
  }
}

const Place& Engine::pick() {
  return places_[static_cast<std::size_t>(choose_outcome(static_cast<int>(places_.size())))];
}

void Engine::created(const void* address, const Word& value) {
  memory_.create(current_, address, value);
}

void Engine::destroyed(const void* address) {
  if (const auto wrong = memory_.destroy(current_, address)) {
    fail(show(memory_.find(address)) + ": " + *wrong);
  }
}

Word Engine::load(const void* address, const Word& raw, Order order, Edges edges) {
  turn();
  order = weakened(order, edges);
  const int location = memory_.location(address, raw);
  touch(location);
  memory_.load_places(current_, location, order, places_);
  const Place place = pick();
  const Word value = memory_.load(current_, location, order, place);
  if (memory_.sc_full()) fail_hard("too many seq_cst operations in one execution");
  if (tracing_) {
    const auto behind =
        memory_.at(location).order.size() - 1 - static_cast<std::size_t>(place.position);
    trace(location, "load", order, edges,
          "= " + number(value) +
              (place.kind == Place::Kind::promise ? "  from a store yet to come"
               : behind > 0                       ? "  stale by " + std::to_string(behind)
                                                  : ""));
  }
  return value;
}

Word Engine::store(const void* address, const Word& raw, const Word& value, Order order,
                   Edges edges) {
  turn();
  order = weakened(order, edges);
  const int location = memory_.location(address, raw);
  touch(location);
  memory_.store_places(current_, location, value, order, places_);
  const Place place = pick();
  const auto end = static_cast<int>(memory_.at(location).order.size());
  memory_.store(current_, location, value, order, place);
  if (memory_.sc_full()) fail_hard("too many seq_cst operations in one execution");
  wrote();
  if (tracing_) {
    trace(
        location, "store", order, edges,
        "<- " + number(value) +
            (place.kind == Place::Kind::fulfil ? "  as promised"
             : place.position < end ? "  before " + std::to_string(end - place.position) + " others"
                                    : ""));
  }
  return memory_.newest(location);
}

Modified Engine::modify(const void* address, const Word& raw, const Change& change, bool weak,
                        Order order, Edges edges) {
  turn();
  order = weakened(order, edges);
  const int location = memory_.location(address, raw);
  touch(location);
  const bool may_fail = weak && spurious_failures_ < options_.spurious_failures;
  memory_.modify_places(current_, location, change, may_fail, order, places_);
  const Place place = pick();
  if (place.kind == Place::Kind::spurious) ++spurious_failures_;
  const Modified result = memory_.modify(current_, location, change, order, place);
  if (memory_.sc_full()) fail_hard("too many seq_cst operations in one execution");
  if (result.changed) wrote();
  if (tracing_) {
    trace(location, "modify", order, edges,
          number(result.before) +
              (result.changed ? " -> " + number(*change.make(change.context, result.before))
               : place.kind == Place::Kind::spurious ? "  fails for no reason"
                                                     : "  fails"));
  }
  return result;
}

void Engine::fence(Order order, Edges edges) {
  // No turn: what a fence does is its own thread's affair, and S follows from the accesses, so it
  // matters not when the others make their steps.
  order = weakened(order, edges);
  memory_.fence(current_, order);
  if (memory_.sc_full()) fail_hard("too many seq_cst operations in one execution");
  if (tracing_) trace(-1, "fence", order, edges, "");
}

void Engine::futex_wait(const void* address, std::uint32_t expected, bool timed) {
  turn();
  const auto raw = static_cast<const std::atomic<std::uint32_t>*>(address)->load();
  const int location = memory_.location(address, {raw, 0});
  touch(location);
  if (memory_.newest(location).low != expected) {
    memory_.looked_at_newest(current_, location);
    if (tracing_)
      trace(location, "futex_wait", {}, {}, "finds " + number(memory_.newest(location)));
    return;
  }
  if (spurious_wakeups_ < options_.spurious_wakeups && choose_outcome(2) == 1) {
    ++spurious_wakeups_;
    if (tracing_)
      trace(location, "futex_wait", {}, {}, timed ? "times out" : "returns for no reason");
    return;
  }
  Thread& me = thread(current_);
  me.state = State::sleeping;
  me.futex = location;
  me.timed = timed;
  me.asleep = ++sleeps_;
  if (tracing_) trace(location, "futex_wait", {}, {}, "sleeps");
  const int self = current_;
  hand_over();
  if (tracing_) trace(location, "futex_wait", {}, {}, thread(self).timed ? "returns" : "is woken");
}

int Engine::futex_wake(const void* address, int n) {
  turn();
  const auto raw = static_cast<const std::atomic<std::uint32_t>*>(address)->load();
  const int location = memory_.location(address, {raw, 0});
  touch(location);
  int woken = 0;
  while (woken < n) {
    int first = kNobody;  // the one that has slept longest
    for (int t = 0; t < threads_used_; ++t) {
      if (thread(t).state != State::sleeping || thread(t).futex != location) continue;
      if (first == kNobody || thread(t).asleep < thread(first).asleep) first = t;
    }
    if (first == kNobody) break;
    thread(first).state = State::ready;
    ++woken;
  }
  if (woken > 0) wrote();
  if (tracing_) trace(location, "futex_wake", {}, {}, "wakes " + std::to_string(woken));
  return woken;
}

bool Engine::mutated(std::string_view name) {
  for (std::size_t i = 0; i < options_.mutants.size(); ++i) {
    if (options_.mutants[i] == name) {
      mutants_found_[i] = true;
      return true;
    }
  }
  return false;
}

// Words.

void Engine::name(const void* object, std::string name) {
  const int location = memory_.find(object);
  if (location >= 0) memory_.at(location).name = std::move(name);
}

std::string Engine::show(int location) {
  const std::string& name = memory_.at(location).name;
  return name.empty() ? "#" + std::to_string(location) : name;
}

void Engine::trace(int location, std::string_view what, Order order, Edges edges,
                   const std::string& more) {
  std::string line = "T" + std::to_string(current_) + " ";
  if (location >= 0) line += show(location) + " ";
  line += what;
  if (order.seq_cst) {
    line += " seq_cst";
  } else if (order.acquire && order.release) {
    line += " acq_rel";
  } else if (order.acquire) {
    line += " acquire";
  } else if (order.release) {
    line += " release";
  } else if (!what.starts_with("futex")) {
    line += " relaxed";
  }
  std::string arriving = edges.acquire ? std::string(unqualified(edges.acquire->name)) : "";
  const std::string leaving = edges.release ? std::string(unqualified(edges.release->name)) : "";
  if (!arriving.empty() && !leaving.empty() && leaving != arriving) arriving += ", ";
  if (leaving != arriving) arriving += leaving;
  const bool weak = (edges.acquire != nullptr && edges.acquire->weak_acquire) ||
                    (edges.release != nullptr && edges.release->weak_release);
  if (!arriving.empty()) line += " (" + arriving + (weak ? ", weakened)" : ")");
  steps_text_.push_back(line + "  " + more);
}

// "!0:5,1;6,3/2:..." : location 0 saw 5 from thread 0, 6 from threads 0 and 1.
std::string Engine::futures_text() const {
  if (options_.promises == 0 || memory_.futures.empty()) return "";
  std::string text = "!";
  for (const auto& location : memory_.futures) {
    for (const Memory::Future& each : location) {
      text += std::to_string(each.value.low) + "," + std::to_string(each.value.high) + "," +
              std::to_string(each.writers) + ";";
    }
    text += "/";
  }
  return text;
}

bool Engine::set_futures(std::string_view text) {
  memory_.futures.clear();
  memory_.futures.emplace_back();
  const auto take = [&text](auto& value, char end) {
    const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const auto used = static_cast<std::size_t>(stop - text.data());
    if (error != std::errc() || used == text.size() || *stop != end) return false;
    text.remove_prefix(used + 1);
    return true;
  };
  while (!text.empty()) {
    if (text.front() == '/') {
      text.remove_prefix(1);
      memory_.futures.emplace_back();
      continue;
    }
    Memory::Future future{};
    if (!take(future.value.low, ',') || !take(future.value.high, ',') ||
        !take(future.writers, ';')) {
      return false;
    }
    memory_.futures.back().push_back(future);
  }
  return true;
}

// The hooks.

void atomic_created(const void* address, Word value) noexcept { engine->created(address, value); }
void atomic_destroyed(const void* address) noexcept { engine->destroyed(address); }
Word atomic_load(const void* address, Word raw, Order order, Edges edges) noexcept {
  return engine->load(address, raw, order, edges);
}
Word atomic_store(const void* address, Word raw, Word value, Order order, Edges edges) noexcept {
  return engine->store(address, raw, value, order, edges);
}
Modified atomic_modify(const void* address, Word raw, Change change, bool weak, Order order,
                       Edges edges) noexcept {
  return engine->modify(address, raw, change, weak, order, edges);
}
void atomic_fence(Order order, Edges edges) noexcept { engine->fence(order, edges); }
void plain_created(const void* address) noexcept {
  if (engine != nullptr) engine->plain_created(address);
}
void plain_read(const void* address) noexcept {
  if (engine != nullptr) engine->plain_read(address);
}
void plain_write(const void* address) noexcept {
  if (engine != nullptr) engine->plain_write(address);
}
void spin_pause() noexcept {
  if (engine != nullptr) engine->pause();
}
bool futex_wait(const void* address, std::uint32_t expected, bool timed) noexcept {
  if (engine == nullptr) return false;
  engine->futex_wait(address, expected, timed);
  return true;
}
int futex_wake(const void* address, int n) noexcept {
  return engine == nullptr ? -1 : engine->futex_wake(address, n);
}
bool mutated(std::string_view name) noexcept { return engine != nullptr && engine->mutated(name); }
const void* thread_mark() noexcept { return engine == nullptr ? nullptr : engine->thread_mark(); }

}  // namespace leat::model::internal

namespace leat::model {

int Run::thread(std::function<void()> body) { return engine_.add_thread(std::move(body)); }
void Run::join() { engine_.join_threads(); }
void Run::outcome(std::string what) { engine_.add_outcome(std::move(what)); }
void Run::name(const void* object, std::string name) { engine_.name(object, std::move(name)); }

Result explore(const Options& options, const std::function<void(Run&)>& body) {
  if (const char* schedule = std::getenv("LEAT_MODEL_REPLAY"); schedule != nullptr) {
    Result result = replay(options, schedule, body);
    std::cerr << result.failure;
    return result;
  }
  if (options.sampling.executions > 0) {
    Options sampled = options;
    const auto take = [](const char* name, std::uint64_t& into) {
      if (const char* text = std::getenv(name); text != nullptr) {
        into = std::strtoull(text, nullptr, 10);
      }
    };
    take("LEAT_MODEL_SEED", sampled.sampling.seed);
    take("LEAT_MODEL_EXECUTIONS", sampled.sampling.executions);
    return internal::Engine(sampled, body).explore();
  }
  return internal::Engine(options, body).explore();
}

Result replay(const Options& options, std::string_view schedule,
              const std::function<void(Run&)>& body) {
  return internal::Engine(options, body).replay(schedule);
}

void require(bool condition, std::string_view what) {
  LEAT_CHECK(internal::engine != nullptr, "model::require outside an exploration");
  internal::engine->require(condition, what);
}

int self() noexcept { return internal::engine == nullptr ? -1 : internal::engine->current(); }

}  // namespace leat::model
