// Random programs of actors that link, watch, trap, fail, exit and kill, held against a sequential oracle: after
// each step who lives is the same, and what each living actor was told is the same, as a set. A program that
// differs is made smaller before it is shown.
#include "property.hpp"

#include <leat/actor/mailbox/post.hpp>
#include <leat/actor/mailbox/receive.hpp>
#include <leat/actor/runtime.hpp>
#include <leat/actor/self.hpp>
#include <leat/actor/sim/simulation.hpp>
#include <leat/actor/supervise/links.hpp>
#include <leat/base/rng.hpp>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>
#include <memory>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace leat::actor {
namespace {

constexpr std::size_t kActors = 5;

enum class Verb : unsigned char {
  link,
  unlink,
  watch,
  unwatch,
  trap,
  untrap,
  fail,
  end,
  exit,
  kill
};
constexpr std::array<const char*, 10> kVerbs = {"link",   "unlink", "watch", "unwatch", "trap",
                                                "untrap", "fail",   "end",   "exit",    "kill"};

struct Step {
  Verb verb;
  std::size_t who;
  std::size_t whom;
};
using Steps = std::vector<Step>;

std::string text_of(const Steps& steps) {
  std::ostringstream text;
  for (const Step& step : steps) {
    text << kVerbs[static_cast<std::size_t>(step.verb)] << ' ' << step.who << ' ' << step.whom
         << '\n';
  }
  return text.str();
}

// What is seen after a step: of who lives, all that it was told so far.
using Seen = std::map<std::size_t, std::multiset<std::string>>;

// -- the oracle -----------------------------------------------------------------------------------

class Oracle {
 public:
  Oracle() {
    for (std::size_t i = 0; i < kActors; ++i) alive_.insert(i);
  }

  Seen after(const Step& step) {
    const std::size_t who = step.who;
    const std::size_t whom = step.whom;
    if (step.verb == Verb::exit) {
      if (alive_.contains(who) && alive_.contains(whom)) give(whom, who, "asked");
    } else if (step.verb == Verb::kill) {
      if (alive_.contains(who) && alive_.contains(whom)) end(whom, "it was killed");
    } else if (alive_.contains(who)) {
      act(step);
    }
    Seen seen;
    for (const std::size_t i : alive_) seen[i] = told_[i];
    return seen;
  }

 private:
  void act(const Step& step) {
    const std::size_t who = step.who;
    const std::size_t whom = step.whom;
    switch (step.verb) {
      case Verb::link:
        if (who == whom) break;
        if (!alive_.contains(whom)) {
          give(who, whom, ended_.at(whom));  // it is known: its handle is kept
        } else {
          links_.insert(std::minmax(who, whom));
        }
        break;
      case Verb::unlink:
        links_.erase(std::minmax(who, whom));
        break;
      case Verb::watch:
        if (!alive_.contains(whom)) {
          told_[who].insert("down " + std::to_string(whom) + ": " + ended_.at(whom));
        } else {
          ++watches_[{who, whom}];
        }
        break;
      case Verb::unwatch:
        watches_.erase({who, whom});
        break;
      case Verb::trap:
        traps_.insert(who);
        break;
      case Verb::untrap:
        traps_.erase(who);
        break;
      case Verb::fail:
        end(who, "failed");
        break;
      case Verb::end:
        end(who, "normal");
        break;
      default:
        break;
    }
  }

  void give(std::size_t to, std::size_t from, const std::string& why) {
    if (!alive_.contains(to)) return;
    if (traps_.contains(to)) {
      told_[to].insert("exit " + std::to_string(from) + ": " + why);
    } else if (why != "normal") {
      end(to, why);
    }
  }

  void end(std::size_t who, const std::string& why) {
    alive_.erase(who);
    ended_[who] = why;
    for (std::size_t other = 0; other < kActors; ++other) {
      if (links_.erase(std::minmax(who, other)) > 0) give(other, who, why);
    }
    for (std::size_t by = 0; by < kActors; ++by) {
      const auto watch = watches_.find({by, who});
      if (watch == watches_.end()) continue;
      for (int i = 0; i < watch->second; ++i) {
        told_[by].insert("down " + std::to_string(who) + ": " + why);
      }
      watches_.erase(watch);
    }
  }

  std::set<std::size_t> alive_;
  std::map<std::size_t, std::string> ended_;
  std::set<std::pair<std::size_t, std::size_t>> links_;
  std::map<std::pair<std::size_t, std::size_t>, int> watches_;
  std::set<std::size_t> traps_;
  std::map<std::size_t, std::multiset<std::string>> told_;
};

// -- ours -----------------------------------------------------------------------------------------

struct World {
  std::vector<Pid> pids;
  std::map<std::size_t, std::multiset<std::string>> told;

  std::string name_of(Pid pid) const {
    for (std::size_t i = 0; i < pids.size(); ++i) {
      if (pids[i] == pid) return std::to_string(i);
    }
    return "?";
  }
};

void puppet(const std::shared_ptr<World>& world, std::size_t self) {
  std::multimap<std::size_t, Monitor> watches;
  for (;;) {
    bool ends = false;
    receive(
        on<Step>([&](Step step) {
          const Pid whom = world->pids[step.whom];
          switch (step.verb) {
            case Verb::link:
              return link(whom);
            case Verb::unlink:
              return unlink(whom);
            case Verb::watch:
              watches.emplace(step.whom, monitor(whom));
              return;
            case Verb::unwatch:
              watches.erase(step.whom);
              return;
            case Verb::trap:
            case Verb::untrap:
              (void)trap_exit(step.verb == Verb::trap);
              return;
            case Verb::fail:
              throw Failure("failed");
            case Verb::end:
              ends = true;
              return;
            case Verb::exit:
              send_exit(whom, Exit::failed("asked"));
              return;
            case Verb::kill:
              kill(whom);
              return;
          }
        }),
        on<Down>([&](const Down& down) {
          world->told[self].insert("down " + world->name_of(down.pid) + ": " + down.exit.text());
        }),
        on<ExitSignal>([&](const ExitSignal& signal) {
          world->told[self].insert("exit " + world->name_of(signal.from) + ": " +
                                   signal.exit.text());
        }));
    if (ends) return;
  }
}

// A failure by an exception is told with its type.
std::string plain(std::string told) {
  const std::string type = "leat::actor::Failure: ";
  const auto at = told.find(type);
  return at == std::string::npos ? told : told.erase(at, type.size());
}

// Their ends are looked at in the end, so that nobody tells of failures.
struct Puppets {
  std::vector<JoinHandle<void>> handles;

  ~Puppets() {
    for (auto& handle : handles) (void)kill(handle.pid());
    for (auto& handle : handles) (void)handle.join_result();
  }
};

// Throws, with the step, if what is seen differs.
void hold(const Steps& steps) {
  auto world = std::make_shared<World>();
  Puppets puppets;
  for (std::size_t i = 0; i < kActors; ++i) {
    puppets.handles.push_back(spawn([world, i] { puppet(world, i); }));
    world->pids.push_back(puppets.handles.back().pid());
  }
  Oracle oracle;
  for (std::size_t at = 0; at < steps.size(); ++at) {
    (void)send(world->pids[steps[at].who], steps[at]);
    sleep_for(std::chrono::milliseconds(1));  // all that follows from it has happened
    const Seen expected = oracle.after(steps[at]);
    for (std::size_t i = 0; i < kActors; ++i) {
      const bool lives = send(world->pids[i], 0) == Sent::ok;  // lies there unread
      const auto wanted = expected.find(i);
      if (lives != (wanted != expected.end())) {
        throw std::runtime_error("step " + std::to_string(at) + ": " + std::to_string(i) +
                                 (lives ? " lives" : " has ended"));
      }
      if (!lives) continue;
      std::multiset<std::string> told;
      for (const std::string& line : world->told[i]) told.insert(plain(line));
      if (told == wanted->second) continue;
      std::string text = "step " + std::to_string(at) + ": " + std::to_string(i) + " was told";
      for (const std::string& line : told) text += " [" + line + "]";
      throw std::runtime_error(text);
    }
  }
}

std::string difference(const Steps& steps, std::uint64_t seed) {
  const SimulationReport report =
      simulate({.seed = seed, .workers = 1 + seed % 3}, [&steps] { hold(steps); });
  return report.ok ? std::string() : report.failure;
}

Steps draw(Rng& rng) {
  Steps steps(4 + rng.below(24));
  for (Step& step : steps) {
    step = {static_cast<Verb>(rng.below(kVerbs.size())),
            static_cast<std::size_t>(rng.below(kActors)),
            static_cast<std::size_t>(rng.below(kActors))};
    // Ends are rarer, or soon nobody is left.
    if (step.verb >= Verb::fail && rng.below(3) != 0) step.verb = Verb::link;
  }
  return steps;
}

// Leaves out what the difference does not need.
Steps smaller(Steps steps, std::uint64_t seed) {
  for (std::size_t at = 0; at < steps.size();) {
    Steps fewer = steps;
    fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(at));
    if (difference(fewer, seed).empty()) {
      ++at;
    } else {
      steps = std::move(fewer);
    }
  }
  return steps;
}

TEST(SupervisionProperty, IsWhatTheOracleSays) {
  const char* const text = std::getenv("LEAT_PROGRAMS");
  const std::uint64_t programs = text == nullptr ? 300 : std::strtoull(text, nullptr, 10);
  Rng rng(property::seed());
  for (std::uint64_t i = 0; i < programs; ++i) {
    const Steps steps = draw(rng);
    const std::string found = difference(steps, i + 1);
    if (found.empty()) continue;
    const Steps least = smaller(steps, i + 1);
    FAIL() << difference(least, i + 1) << "\n"
           << text_of(least) << "LEAT_SEED=" << property::seed();
  }
}

TEST(SupervisionProperty, TheOracleIsNotBlind) {
  // A program whose two sides differ by one link is seen to differ.
  Oracle one;
  Oracle other;
  (void)one.after({Verb::link, 0, 1});
  (void)one.after({Verb::trap, 1, 0});
  (void)other.after({Verb::trap, 1, 0});
  EXPECT_NE(one.after({Verb::fail, 0, 0}), other.after({Verb::fail, 0, 0}));
}

}  // namespace
}  // namespace leat::actor
