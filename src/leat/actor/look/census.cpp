#include <leat/actor/look/census.hpp>

#include <leat/actor/fiber/calls.hpp>
#include <leat/actor/look/stall.hpp>
#include <leat/actor/mailbox/mailbox.hpp>
#include <leat/actor/runtime.hpp>
#include <leat/actor/scheduler/scheduler.hpp>
#include <leat/actor/supervise/bonds.hpp>
#include <leat/actor/supervise/here.hpp>
#include <leat/base/os/thread_sample.hpp>

#include <algorithm>
#include <array>
#include <span>
#include <unordered_map>
#include <utility>

namespace leat::actor {
namespace {

Pid pid_of(std::uint64_t word) noexcept {
  return {static_cast<std::uint32_t>(word), static_cast<std::uint32_t>(word >> 32)};
}

std::string text_of(Pid pid) {
  if (pid == Pid::root()) return "root";
  return std::to_string(pid.slot()) + "." + std::to_string(pid.generation());
}

// With its lock held.
ActorReport report_of(Actor& actor) {
  ActorReport report;
  report.pid = actor.pid();
  report.parent = actor.parent;
  report.name = actor.name;
  report.daemon = actor.daemon;
  // Relaxed: each was so at some moment.
  const std::uint32_t waits_for = actor.waits_for.load_relaxed();
  report.waits_for = {static_cast<WaitKind>(waits_for % Actor::kTimed),
                      actor.waits_on.load_relaxed()};
  // One that was never run lies in some queue, whatever its state says.
  report.waits = actor.state.was_parked() && report.waits_for.kind != WaitKind::nothing;
  report.timed = report.waits && (waits_for & Actor::kTimed) != 0;
  report.reductions = actor.reductions.load_relaxed();
  report.is_told_to_end = actor.orders.load_relaxed() != 0;
  if (report.waits) {
    switch (report.waits_for.kind) {
      case WaitKind::end_of_actor:
      case WaitKind::room:
      case WaitKind::mutex:
        report.waits_on = pid_of(report.waits_for.on);
        break;
      case WaitKind::answer:
        report.waits_on = pid_of(actor.asks.load_relaxed());
        break;
      default:
        break;
    }
  }
  if (actor.mailbox != nullptr) {
    report.messages = actor.mailbox->messages();
    report.signals = actor.mailbox->size() - report.messages;
  }
  if (actor.bonds != nullptr) {
    report.links = actor.bonds->links.size();
    report.traps_exits = actor.bonds->traps;
    report.supervises = actor.bonds->supervises;
    report.registered = actor.bonds->names;
  }
  return report;
}

Census census_of(Scheduler& scheduler) {
  Census census;
  scheduler.slots().for_each([&](Actor& actor) {
    const ObjectLock::Guard guard(actor.lock);
    if (actor.live) census.push_back(report_of(actor));
  });
  return census;
}

// -- calls ----------------------------------------------------------------------------------------

using Calls = std::array<void*, 40>;

// Of one that waits, which is held meanwhile as if it were about to be run. Returns: how many.
std::size_t calls_of_waiting(Scheduler& scheduler, Actor& actor, Pid pid, Calls& calls) {
  const NoPreempt whole;
  if (!actor.state.claim(scheduler.sharing(), false)) return 0;
  std::size_t count = 0;
  // Who is claimed lives, and what it says is so.
  if (actor.pid() == pid && actor.stack) count = calls_of(actor.fiber.context(), calls);
  scheduler.let_go_of_claimed(actor);
  return count;
}

// Names are looked up once for each address: many wait at the same place.
class CallNames {
 public:
  std::vector<std::string> operator()(std::span<void* const> calls) {
    std::vector<std::string> names;
    names.reserve(calls.size());
    for (void* const call : calls) {
      std::string& name = names_[call];
      if (name.empty()) {
        std::vector<std::string> found = os::names_of_calls(std::span(&call, 1));
        name = found.empty() ? "?" : std::move(found.front());
      }
      names.push_back(name);
    }
    return names;
  }

 private:
  std::unordered_map<void*, std::string> names_;
};

void add_calls(Scheduler& scheduler, Census& census) {
  CallNames names;
  std::unordered_map<Pid, std::vector<std::string>> running;
  Worker* const here = this_worker();
  for (std::size_t i = 0; i < scheduler.worker_count(); ++i) {
    Worker& worker = scheduler.worker(i);
    WorkerSample sample;
    if (&worker == here || !sample_worker(worker, sample) || !sample.pid) continue;
    running[sample.pid] = names(std::span(sample.calls.data(), sample.call_count));
  }
  Calls calls;
  const Pid self = this_actor() != nullptr ? this_actor()->pid() : Pid();
  for (ActorReport& report : census) {
    if (const auto found = running.find(report.pid); found != running.end()) {
      report.calls = std::move(found->second);
      continue;
    }
    const std::size_t count =
        report.pid == self ? os::calls_here(calls)
                           : calls_of_waiting(scheduler, *scheduler.slots().find(report.pid.slot()),
                                              report.pid, calls);
    report.calls = names(std::span(calls.data(), count));
  }
}

Census census_of(Scheduler& scheduler, Detail detail) {
  Census census = census_of(scheduler);
  if (detail == Detail::calls) add_calls(scheduler, census);
  return census;
}

// -- texts ----------------------------------------------------------------------------------------

std::string waits_text(const ActorReport& actor) {
  const std::string whom = actor.waits_on ? " of " + text_of(actor.waits_on) : std::string();
  switch (actor.waits_for.kind) {
    case WaitKind::nothing:
    case WaitKind::something:
      break;
    case WaitKind::time:
      return "sleeps";
    case WaitKind::end_of_actor:
      return "waits for the end" + whom;
    case WaitKind::letter:
      return "waits for a message to it";
    case WaitKind::message:
      return "waits for a message on a channel";
    case WaitKind::room:
      return actor.waits_on ? "waits for room in the mailbox" + whom
                            : "waits for room in a channel";
    case WaitKind::answer:
      return "waits for an answer" + whom;
    case WaitKind::selection:
      return "waits for one of several things";
    case WaitKind::mutex:
      return actor.waits_on ? "waits for a mutex that " + text_of(actor.waits_on) + " holds"
                            : "waits for a mutex that a plain thread holds";
    case WaitKind::readiness:
      return "waits for descriptor " + std::to_string(actor.waits_for.on);
  }
  return "waits";
}

void put_quoted(std::string& text, const std::string& word) {
  text += '"';
  for (const char c : word) {
    if (c == '"' || c == '\\') {
      text += '\\';
      text += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      constexpr char kDigits[] = "0123456789abcdef";
      text += "\\u00";
      text += kDigits[(c >> 4) & 15];
      text += kDigits[c & 15];
    } else {
      text += c;
    }
  }
  text += '"';
}

// Who is whose child: by place in the census, in its order. Who has no parent there is a root.
struct Tree {
  explicit Tree(const Census& census) : children(census.size()) {
    std::unordered_map<Pid, std::size_t> places;
    places.reserve(census.size());
    for (std::size_t i = 0; i < census.size(); ++i) places.emplace(census[i].pid, i);
    for (std::size_t i = 0; i < census.size(); ++i) {
      const auto parent = places.find(census[i].parent);
      (parent == places.end() ? roots : children[parent->second]).push_back(i);
    }
  }

  // Calls `enter(place, depth)` and `leave(place, depth)`; a tree may be deeper than a stack.
  template <class Enter, class Leave>
  void walk(Enter enter, Leave leave) const {
    struct Step {
      std::size_t place;
      std::size_t depth;
      std::size_t next;
    };
    for (const std::size_t root : roots) {
      std::vector<Step> path{{root, 0, 0}};
      enter(root, std::size_t{0}, root == roots.front());
      while (!path.empty()) {
        Step& top = path.back();
        if (top.next == children[top.place].size()) {
          leave(top.place);
          path.pop_back();
          continue;
        }
        const std::size_t child = children[top.place][top.next++];
        const std::size_t depth = top.depth + 1;
        enter(child, depth, top.next == 1);
        path.push_back({child, depth, 0});
      }
    }
  }

  std::vector<std::size_t> roots;
  std::vector<std::vector<std::size_t>> children;
};

}  // namespace

Census take_census(Detail detail) {
  return census_of(internal::scheduler_here("take_census"), detail);
}

Census take_census(Runtime& runtime, Detail detail) {
  // Of a worker that is alone only its own thread may hold an actor.
  const bool by_worker = detail == Detail::calls && runtime.config().threads() == 1;
  if (!by_worker) return census_of(runtime.scheduler(), detail);
  Census census =
      runtime.spawn({.name = "census", .daemon = true}, [] { return take_census(Detail::calls); })
          .join();
  std::erase_if(census, [](const ActorReport& actor) { return actor.name == "census"; });
  return census;
}

std::string describe(const ActorReport& actor) {
  std::string text = text_of(actor.pid);
  if (!actor.name.empty()) text += " \"" + actor.name + "\"";
  for (const std::string& name : actor.registered) text += " (" + name + ")";
  text += ": ";
  text += actor.waits ? waits_text(actor) : "runs";
  if (actor.timed && actor.waits_for.kind != WaitKind::time) text += ", for a time";
  if (actor.is_told_to_end) text += ", is told to end";
  if (actor.messages > 0) text += ", " + std::to_string(actor.messages) + " messages";
  if (actor.signals > 0) text += ", " + std::to_string(actor.signals) + " signals";
  if (actor.links > 0) text += ", " + std::to_string(actor.links) + " links";
  return text + ", " + std::to_string(actor.reductions) + " reductions";
}

std::string tree_text(const Census& census) {
  std::string text;
  Tree(census).walk(
      [&](std::size_t place, std::size_t depth, bool /*first*/) {
        text.append(2 * depth, ' ');
        text += describe(census[place]);
        text += '\n';
        for (const std::string& call : census[place].calls) {
          text.append(2 * depth + 4, ' ');
          text += call;
          text += '\n';
        }
      },
      [](std::size_t) {});
  return text;
}

std::string tree_json(const Census& census) {
  std::string text = "[";
  Tree(census).walk(
      [&](std::size_t place, std::size_t /*depth*/, bool first) {
        const ActorReport& actor = census[place];
        text += first ? "\n{" : ",\n{";
        text += "\"pid\":\"" + text_of(actor.pid) + "\",\"name\":";
        put_quoted(text, actor.name);
        text += ",\"state\":";
        put_quoted(text, actor.waits ? waits_text(actor) : "runs");
        text += ",\"messages\":" + std::to_string(actor.messages) +
                ",\"signals\":" + std::to_string(actor.signals) +
                ",\"links\":" + std::to_string(actor.links) +
                ",\"reductions\":" + std::to_string(actor.reductions) + ",\"calls\":[";
        for (const std::string& call : actor.calls) {
          if (&call != &actor.calls.front()) text += ',';
          put_quoted(text, call);
        }
        text += "],\"children\":[";
      },
      [&](std::size_t) { text += "]}"; });
  return text + "\n]\n";
}

std::vector<Stuck> find_stuck(const Census& census) {
  std::unordered_map<Pid, std::size_t> places;
  for (std::size_t i = 0; i < census.size(); ++i) places.emplace(census[i].pid, i);
  const auto next = [&](std::size_t place) {
    const ActorReport& actor = census[place];
    if (!actor.waits || actor.timed || actor.is_told_to_end) return census.size();
    const auto found = places.find(actor.waits_on);
    return found == places.end() ? census.size() : found->second;
  };
  std::vector<Stuck> all;
  std::vector<std::size_t> seen_in(census.size(), 0);  // the walk that came here first, from 1
  std::vector<bool> in_circle(census.size(), false);
  for (std::size_t start = 0; start < census.size(); ++start) {
    std::size_t at = start;
    while (at < census.size() && seen_in[at] == 0) {
      seen_in[at] = start + 1;
      at = next(at);
    }
    if (at == census.size() || seen_in[at] != start + 1) continue;
    Stuck circle{Stuck::Kind::deadlock, {}, "deadlock: "};
    for (std::size_t member = at; !in_circle[member]; member = next(member)) {
      in_circle[member] = true;
      circle.text += (circle.actors.empty() ? "" : "; ") + describe(census[member]);
      circle.actors.push_back(census[member].pid);
    }
    all.push_back(std::move(circle));
  }
  const bool something_moves =
      std::any_of(census.begin(), census.end(), [](const ActorReport& actor) {
        return !actor.waits || actor.timed || actor.is_told_to_end ||
               actor.waits_for.kind == WaitKind::time ||
               actor.waits_for.kind == WaitKind::readiness;
      });
  if (something_moves) return all;
  for (std::size_t i = 0; i < census.size(); ++i) {
    if (in_circle[i]) continue;
    all.push_back({Stuck::Kind::leak,
                   {census[i].pid},
                   "nothing can wake it but a plain thread: " + describe(census[i])});
  }
  return all;
}

}  // namespace leat::actor
