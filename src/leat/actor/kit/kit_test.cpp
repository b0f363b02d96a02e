#include <leat/actor/kit/server.hpp>

#include <leat/actor/kit/event_hub.hpp>
#include <leat/actor/kit/state_machine.hpp>
#include <leat/actor/runtime.hpp>
#include <leat/actor/sim/simulation.hpp>
#include <leat/actor/supervise/keyed.hpp>
#include <leat/actor/supervise/links.hpp>
#include <leat/actor/supervise/names.hpp>

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace leat::actor {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// On the virtual clock, and in drawn schedules.
template <class Program>
void in_each(Program program) {
  Runtime runtime(
      Config::virtual_time().on_lost_failure([](Pid, std::string_view, const Exit&) {}));
  runtime.run(program);
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const SimulationReport report = simulate({.seed = seed, .workers = 1 + seed % 3}, program);
    ASSERT_TRUE(report.ok) << report.failure;
  }
}

struct Add {
  int by = 0;
};
struct Get {
  using Reply = int;
};
struct GetLater {
  using Reply = int;
};
struct Quit {
  using Reply = Done;
};
struct Break {
  using Reply = Done;
};
struct Unknown {};

struct Trace {
  std::vector<std::string> lines;
};

class Counter : public Server<Counter> {
 public:
  using Takes = Messages<Add, Get, GetLater, Quit, Break>;

  explicit Counter(std::shared_ptr<Trace> trace = std::make_shared<Trace>()) : trace_(trace) {}

  void init() { trace_->lines.emplace_back("init"); }
  void handle(Add add) {
    count_ += add.by;
    if (waits_) (void)(*std::exchange(waits_, std::nullopt))(count_);
    timeout_after(milliseconds(10));
  }
  int handle(Get) { return count_; }
  void handle(GetLater, ReplyTo<int> reply) { waits_ = std::move(reply); }
  Done handle(Quit) {
    stop(Exit::shutdown("asked to"));
    return {};
  }
  Done handle(Break) { throw std::runtime_error("broken"); }
  void handle(Down) { trace_->lines.emplace_back("down"); }
  void timeout() { trace_->lines.emplace_back("timeout"); }
  void terminate(const Exit& exit) { trace_->lines.push_back(exit.text()); }

 private:
  std::shared_ptr<Trace> trace_;
  int count_ = 0;
  std::optional<ReplyTo<int>> waits_;
};

TEST(Server, AnswersIsToldAndWaitsForTimeouts) {
  in_each([] {
    auto trace = std::make_shared<Trace>();
    auto server = start_server<Counter>(SpawnOptions{.name = "counter"}, trace);
    EXPECT_EQ(server.ref.send(Add{2}), Sent::ok);
    EXPECT_EQ(*server.ref.ask(Get{}), 2);
    auto later = spawn([ref = server.ref] { return *ref.ask(GetLater{}); });
    sleep_for(milliseconds(5));  // not long enough for its timeout, which the question ended
    EXPECT_EQ(server.ref.send(Add{3}), Sent::ok);
    EXPECT_EQ(later.join(), 5);
    sleep_for(milliseconds(20));
    EXPECT_EQ(trace->lines, (std::vector<std::string>{"init", "timeout"}));
    EXPECT_EQ(send(server.ref.pid(), Unknown{}), Sent::ok);
    EXPECT_TRUE(server.ref.ask(Quit{}));
    EXPECT_EQ(server.handle.join_result().exit.text(), "asked to");
    EXPECT_EQ(trace->lines.back(), "asked to");
    EXPECT_EQ(server.ref.ask(Get{}).state, AskState::no_actor);
  });
}

struct Watch {
  Pid pid;
};

// Lets go of a monitor while its Down is in hand, and of one whose Down still lies in the mailbox.
class Watcher : public Server<Watcher> {
 public:
  using Takes = Messages<Watch, Get>;

  void handle(Watch watch) { watches_.emplace(watch.pid, monitor(watch.pid)); }
  int handle(Get) { return ended_; }
  void handle(Down down) {
    ++ended_;
    watches_.erase(down.pid);
    if (ended_ == 2) watches_.clear();
  }

 private:
  std::map<Pid, Monitor> watches_;
  int ended_ = 0;
};

TEST(Server, MayLetGoOfAMonitorWhileItIsTold) {
  in_each([] {
    auto watcher = start_server<Watcher>();
    std::vector<JoinHandle<void>> handles;
    for (int i = 0; i < 4; ++i) {
      handles.push_back(spawn([] { sleep_for(milliseconds(2)); }));
      (void)watcher.ref.send(Watch{handles.back().pid()});
    }
    for (auto& handle : handles) handle.join();
    while (*watcher.ref.ask(Get{}) < 2) yield_now();
    sleep_for(milliseconds(5));
    EXPECT_EQ(*watcher.ref.ask(Get{}), 2);
    watcher.handle.cancel();
    (void)watcher.handle.join_result();
  });
}

TEST(Server, WhoBreaksItHearsThatThereIsNoAnswerAndItIsStartedAnew) {
  in_each([] {
    auto trace = std::make_shared<Trace>();
    auto tree = Supervisor::start({server_child<Counter>("counter", trace)});
    const auto pid = [] {
      Pid found;
      while (!(found = whereis("counter"))) yield_now();
      return found;
    };
    const Pid before = pid();
    (void)send(before, Add{7});
    EXPECT_EQ(*ask(before, Get{}), 7);
    EXPECT_EQ(ask(before, Break{}).state, AskState::no_answer);
    while (whereis("counter") == before) yield_now();
    EXPECT_EQ(*ask(pid(), Get{}), 0);  // with a new state
    EXPECT_EQ(trace->lines[1], "std::runtime_error: broken");
    (void)tree.stop();
    EXPECT_EQ(trace->lines.back(), "it was cancelled");
  });
}

enum class Door { closed, open, locked };
struct Push {
  int number = 0;
};
struct Unlock {};
struct Where {
  using Reply = Door;
};

class Machine : public StateMachine<Machine, Door> {
 public:
  using Takes = Messages<Push, Unlock, Where>;

  explicit Machine(std::shared_ptr<Trace> trace) : StateMachine(Door::locked), trace_(trace) {}

  void handle(const Push& push) {
    if (state() == Door::locked) {
      postpone();
      return;
    }
    trace_->lines.push_back("push" + std::to_string(push.number));
    go_to(Door::open);
    state_timeout(seconds(1));
  }
  void handle(Unlock) { go_to(Door::closed); }
  Door handle(Where) { return state(); }
  void state_timeout_over() { go_to(Door::closed); }
  void enter(Door from) {
    trace_->lines.push_back(std::to_string(static_cast<int>(from)) + ">" +
                            std::to_string(static_cast<int>(state())));
  }

 private:
  std::shared_ptr<Trace> trace_;
};

TEST(StateMachine, PutsOffWhatDoesNotSuitAndLeavesAStateInTime) {
  in_each([] {
    auto trace = std::make_shared<Trace>();
    auto door = start_server<Machine>(SpawnOptions{}, trace);
    (void)door.ref.send(Push{1});
    (void)door.ref.send(Push{2});
    EXPECT_EQ(*door.ref.ask(Where{}), Door::locked);
    (void)door.ref.send(Unlock{});
    (void)door.ref.send(Push{3});
    EXPECT_EQ(*door.ref.ask(Where{}), Door::open);
    EXPECT_EQ(trace->lines, (std::vector<std::string>{"2>0", "push1", "0>1", "push2", "push3"}));
    sleep_for(milliseconds(900));
    (void)door.ref.send(Push{4});  // to the same state, which begins anew
    sleep_for(milliseconds(900));
    EXPECT_EQ(*door.ref.ask(Where{}), Door::open);
    sleep_for(milliseconds(200));
    EXPECT_EQ(*door.ref.ask(Where{}), Door::closed);
    EXPECT_EQ(trace->lines.back(), "1>0");
    door.handle.cancel();
    (void)door.handle.join_result();
  });
}

TEST(EventHub, TellsAllAndDropsWhoThrows) {
  in_each([] {
    const EventHub<int> hub;
    auto seen = std::make_shared<std::vector<int>>();
    const auto first = hub.add([seen](const int& event) { seen->push_back(event); });
    (void)hub.add([](const int& event) {
      if (event == 2) throw std::runtime_error("no twos");
    });
    EXPECT_EQ(hub.notify_and_wait(1), 2U);
    EXPECT_EQ(hub.notify_and_wait(2), 1U);
    EXPECT_EQ(hub.notify(3), Sent::ok);
    EXPECT_EQ(hub.notify_and_wait(4), 1U);
    EXPECT_EQ(*seen, (std::vector<int>{1, 2, 3, 4}));
    EXPECT_TRUE(hub.remove(first));
    EXPECT_FALSE(hub.remove(first));
    EXPECT_EQ(hub.notify_and_wait(5), 0U);
  });
}

TEST(KeyedActors, OneForAKeyWhichEndsWhenItIsIdle) {
  in_each([] {
    auto alive = std::make_shared<std::map<std::string, int>>();
    auto sums = std::make_shared<std::map<std::string, int>>();
    {
      KeyedActors<std::string, int> accounts(
          [alive, sums](const std::string& key, KeyedReceiver<int>& amounts) {
            if (++(*alive)[key] != 1) throw std::logic_error("two of a key");
            while (auto amount = amounts.receive()) (*sums)[key] += *amount;
            --(*alive)[key];
          },
          {.idle_after = milliseconds(3), .name = "account"});
      for (int round = 0; round < 20; ++round) {
        accounts.send("anna", round);
        accounts.send(round % 2 == 0 ? "ben" : "carl", 1);
        sleep_for(milliseconds(round % 7));
      }
      EXPECT_LE(accounts.size_approx(), 3U);
      sleep_for(milliseconds(20));
      EXPECT_EQ(accounts.size_approx(), 0U);
      accounts.send("anna", 1000);
    }
    EXPECT_EQ((*sums)["ben"], 10);
    EXPECT_EQ((*sums)["carl"], 10);
    EXPECT_TRUE((*sums)["anna"] == 190 || (*sums)["anna"] == 1190);
  });
}

}  // namespace
}  // namespace leat::actor
