#include <leat/actor/supervise/shutdown.hpp>

#include <leat/actor/mailbox/receive.hpp>
#include <leat/actor/scheduler/scheduler.hpp>
#include <leat/actor/self.hpp>
#include <leat/actor/supervise/bonds.hpp>
#include <leat/actor/supervise/here.hpp>
#include <leat/actor/supervise/links.hpp>
#include <leat/base/usage_error.hpp>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace leat::actor {
namespace {

struct Living {
  Pid pid;
  Pid parent;
  std::uint64_t place = 0;
  bool daemon = false;
  bool supervises = false;
};

class Shutdown {
 public:
  explicit Shutdown(const ShutdownOptions& options)
      : options_(options), self_(internal::actor_here("shut_down_others")) {
    const Nanos least = std::min({options.drain, options.grace, options.each, options.patience});
    if (least < Nanos{0}) {
      throw UsageError("shut_down", "times from 0", std::to_string(least.count()) + " ns",
                       "leave them out for 0 s, 5 s, 1 s and 1 s");
    }
  }

  ShutdownReport run() {
    const CancelShield whole;
    await_all(deadline_after(options_.drain), false);
    const Nanos deadline = deadline_after(options_.grace);
    while (now_here() < deadline && tell_next(deadline)) {
    }
    ShutdownReport report;
    report.told = told_.size();
    for (const Living& one : living()) report.killed += kill(one.pid) ? 1 : 0;
    if (report.killed > 0) await_all(deadline_after(options_.patience), true);
    report.stragglers = stragglers();
    return report;
  }

 private:
  // In the order in which they are told.
  std::vector<Living> living() const {
    std::vector<Living> all;
    self_.scheduler->slots().for_each([&](Actor& actor) {
      const ObjectLock::Guard guard(actor.lock);
      if (!actor.live || &actor == &self_) return;
      all.push_back({actor.pid(), actor.parent, actor.place, actor.daemon,
                     actor.bonds != nullptr && actor.bonds->supervises});
    });
    std::ranges::sort(all, [](const Living& a, const Living& b) {
      if (a.daemon != b.daemon) return b.daemon;
      // Without a place first, the others from the last on.
      if (a.place == b.place) return a.pid < b.pid;
      return a.place == 0 || (b.place != 0 && a.place > b.place);
    });
    return all;
  }

  // Tells those that were not told yet, and are nobody's affair. If all were, waits for one of those that
  // still live. Returns: whether somebody lives.
  bool tell_next(Nanos deadline) {
    const std::vector<Living> all = living();
    if (all.empty()) return false;
    std::unordered_set<Pid> supervisors;
    for (const Living& one : all) {
      if (one.supervises) supervisors.insert(one.pid);
    }
    bool news = false;
    Watches nameless;
    bool daemons = false;
    for (const Living& one : all) {
      if (supervisors.contains(one.parent)) continue;
      if (!nameless.empty() && (one.place != 0 || one.daemon != daemons)) {
        await(nameless, deadline);
      }
      if (now_here() >= deadline) return true;
      if (!told_.insert(one.pid).second) continue;
      news = true;
      daemons = one.daemon;
      watch(nameless, one.pid);
      (void)send_exit(one.pid, Exit::shutdown("all are shut down"));
      if (one.place != 0) await(nameless, deadline);
    }
    await(nameless, deadline);
    if (!news) {
      Watches first;
      watch(first, all.front().pid);
      await(first, deadline);
    }
    return true;
  }

  using Watches = std::unordered_map<std::uint64_t, Monitor>;

  static void watch(Watches& watches, Pid pid) {
    Monitor one = monitor(pid);
    const std::uint64_t id = one.id();
    watches.emplace(id, std::move(one));
  }

  void await(Watches& watches, Nanos deadline) {
    await_until(watches, std::min(deadline, deadline_after(options_.each)));
  }
  // Until all have ended, or it is time. Nobody is watched afterwards.
  static void await_until(Watches& watches, Nanos deadline) {
    bool in_time = true;
    while (in_time && !watches.empty()) {
      receive(when<Down>([&](const Down& down) { return watches.contains(down.monitor); },
                         [&](const Down& down) { watches.erase(down.monitor); }),
              at(deadline, [&] { in_time = false; }));
    }
    watches.clear();
  }

  void await_all(Nanos deadline, bool daemons) {
    while (now_here() < deadline) {
      Watches watches;
      for (const Living& one : living()) {
        if (daemons || !one.daemon) watch(watches, one.pid);
      }
      if (watches.empty()) return;
      await_until(watches, deadline);
    }
  }

  Census stragglers() const {
    const std::vector<Living> left = living();
    if (left.empty()) return {};
    Census census = take_census(Detail::calls);
    std::erase_if(census, [&](const ActorReport& actor) { return actor.pid == self_.pid(); });
    return census;
  }

  const ShutdownOptions& options_;
  Actor& self_;
  std::unordered_set<Pid> told_;
};

}  // namespace

ShutdownReport shut_down_others(const ShutdownOptions& options) { return Shutdown(options).run(); }

std::string ShutdownReport::text() const {
  return "told " + std::to_string(told) + " to end, killed " + std::to_string(killed) + ", " +
         std::to_string(stragglers.size()) + (stragglers.size() == 1 ? " goes on\n" : " go on\n") +
         tree_text(stragglers);
}

}  // namespace leat::actor
