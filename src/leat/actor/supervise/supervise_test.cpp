#include <leat/actor/supervise/supervisor.hpp>

#include <leat/actor/mailbox/ask.hpp>
#include <leat/actor/mailbox/receive.hpp>
#include <leat/actor/runtime.hpp>
#include <leat/actor/self.hpp>
#include <leat/actor/signals.hpp>
#include <leat/actor/sim/simulation.hpp>
#include <leat/actor/supervise/links.hpp>
#include <leat/actor/supervise/names.hpp>
#include <leat/actor/sync/mutex.hpp>
#include <leat/base/usage_error.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <vector>

namespace leat::actor {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;

struct Ping {
  int number = 0;
};
struct Pong {
  int number = 0;
};
struct Order {
  int number = 0;
  bool wanted = false;
};
struct Get {
  using Reply = int;
  int number = 0;
};
struct Stop {};

std::uint64_t schedules(std::uint64_t usual) {
  const char* const text = std::getenv("LEAT_SCHEDULES");
  return text == nullptr ? usual : std::strtoull(text, nullptr, 10);
}

// Waits for ever.
void idle() { sleep_for(hours(1000)); }

// Runs it on the virtual clock, on two threads, and in drawn schedules.
template <class Program>
void everywhere(Program program, unsigned delays = 0) {
  const auto quiet = [](Pid, std::string_view, const Exit&) {};
  {
    Runtime runtime(Config::virtual_time().on_lost_failure(quiet));
    runtime.run(program);
  }
  {
    Runtime runtime(Config::exact(2).on_lost_failure(quiet));
    runtime.run(program);
  }
  for (std::uint64_t seed = 1; seed <= schedules(20); ++seed) {
    const SimulationReport report =
        simulate({.seed = seed, .workers = 1 + seed % 3, .delays = delays}, program);
    ASSERT_TRUE(report.ok) << report.failure;
  }
}

// -- the mailbox ----------------------------------------------------------------------------------

TEST(Mailbox, TheOldestThatFitsIsTakenAndTheRestStays) {
  everywhere([] {
    for (int i = 0; i < 3; ++i) {
      EXPECT_EQ(send(self(), Ping{i}), Sent::ok);
      EXPECT_EQ(send(self(), Pong{i}), Sent::ok);
      EXPECT_EQ(send(self(), Order{i, i == 1}), Sent::ok);
    }
    EXPECT_EQ(mailbox_size(), 9U);
    EXPECT_EQ(receive<Pong>().number, 0);
    std::vector<std::string> seen;
    const auto any = [&] {
      receive(on<Ping>([&](Ping p) { seen.push_back("ping" + std::to_string(p.number)); }),
              when<Order>([](const Order& o) { return o.wanted; },
                          [&](Order o) { seen.push_back("order" + std::to_string(o.number)); }),
              at(now_here(), [&] { seen.push_back("none"); }));
    };
    for (int i = 0; i < 5; ++i) any();
    EXPECT_EQ(seen, (std::vector<std::string>{"ping0", "ping1", "order1", "ping2", "none"}));
    EXPECT_EQ(receive<Order>().number, 0);
    EXPECT_EQ(receive<Order>().number, 2);
    EXPECT_EQ(receive<Pong>().number, 1);
    std::string_view type;
    receive(otherwise([&](std::string_view t) { type = t; }));
    EXPECT_NE(type.find("Pong"), std::string_view::npos);
    EXPECT_EQ(mailbox_size(), 0U);
    EXPECT_FALSE(receive_until<Ping>(now_here()));
    EXPECT_FALSE(receive_for<Ping>(milliseconds(1)));
  });
}

TEST(Mailbox, APredicateThatThrowsTakesNothing) {
  everywhere([] {
    (void)send(self(), Ping{1});
    EXPECT_THROW(receive(when<Ping>([](const Ping&) -> bool { throw 1; }, [](Ping) {})), int);
    EXPECT_EQ(receive<Ping>().number, 1);
  });
}

TEST(Mailbox, WhatIsUrgentOvertakesAMillionAndOneSendersOrderStays) {
  Runtime runtime;
  runtime.run([] {
    for (int i = 0; i < 100'000; ++i) (void)send(self(), Ping{i});
    (void)send_urgent(self(), Ping{-1});
    (void)send_urgent(self(), Ping{-2});
    (void)send(self(), Pong{7});
    EXPECT_EQ(receive<Ping>().number, -1);
    EXPECT_EQ(receive<Ping>().number, -2);
    EXPECT_EQ(receive<Pong>().number, 7);  // without a look at the others
    for (int i = 0; i < 100'000; ++i) ASSERT_EQ(receive<Ping>().number, i);
  });
}

TEST(Mailbox, ABoundDropsMessagesAndNeverSignals) {
  everywhere([] {
    for (const OnFull on_full : {OnFull::fail, OnFull::drop_new, OnFull::drop_old}) {
      spawn([on_full] {
        bound_mailbox({.messages = 2, .on_full = on_full});
        EXPECT_EQ(send(self(), Ping{0}), Sent::ok);
        EXPECT_EQ(send(self(), Ping{1}), Sent::ok);
        const Sent third = send(self(), Ping{2});
        EXPECT_EQ(third, on_full == OnFull::fail       ? Sent::full
                         : on_full == OnFull::drop_new ? Sent::dropped
                                                       : Sent::ok);
        std::vector<Monitor> watches;
        for (int i = 0; i < 5; ++i) watches.push_back(monitor(Pid(1000, 1)));
        for (int i = 0; i < 5; ++i) EXPECT_EQ(receive<Down>().exit.kind(), ExitKind::no_actor);
        EXPECT_EQ(receive<Ping>().number, on_full == OnFull::drop_old ? 1 : 0);
        EXPECT_EQ(mailbox_size(), 1U);
        EXPECT_EQ(mailbox_dropped(), on_full == OnFull::fail ? 0U : 1U);
      }).join();
    }
  });
}

TEST(Mailbox, ASenderWaitsForRoomAndHearsThatNobodyIsThere) {
  everywhere([] {
    auto receiver = spawn([] {
      bound_mailbox({.messages = 1});
      receive<Stop>();
      int sum = 0;
      for (int i = 0; i < 10; ++i) sum += receive<Ping>().number;
      return sum;
    });
    const Pid pid = receiver.pid();
    yield_now();
    EXPECT_EQ(send(pid, Stop{}), Sent::ok);
    for (int i = 0; i < 10; ++i) EXPECT_EQ(send(pid, Ping{i}), Sent::ok);
    EXPECT_EQ(receiver.join(), 45);
    EXPECT_EQ(send(pid, Ping{1}), Sent::closed);
  });
}

TEST(Mailbox, WhoSendsToOneThatHasTooManyIsSlowedDown) {
  constexpr std::size_t kMost = 20;
  const auto program = [] {
    std::size_t longest = 0;
    auto receiver = spawn([&longest] {
      int left = 3 * 500;
      for (; left > 0; --left) {
        (void)receive<Ping>();
        longest = std::max(longest, mailbox_size());
        yield_now();
      }
    });
    std::vector<JoinHandle<void>> senders;
    for (int i = 0; i < 3; ++i) {
      senders.push_back(spawn([to = receiver.pid()] {
        for (int n = 0; n < 500; ++n) EXPECT_EQ(send(to, Ping{n}), Sent::ok);
      }));
    }
    for (auto& sender : senders) sender.join();
    receiver.join();
    return longest;
  };
  // Time stands while the receiver can run: each sender is at most one message beyond.
  Runtime runtime(Config::virtual_time().slow_senders_above(kMost));
  EXPECT_LE(runtime.run(program), kMost + 3);
  Runtime unslowed(Config::virtual_time());
  EXPECT_GT(unslowed.run(program), 10 * kMost);
  Runtime threads(Config::exact(2).slow_senders_above(kMost));
  (void)threads.run(program);  // all arrive
}

TEST(Mailbox, WhoIsSlowedDownIsNotHeldForEver) {
  Runtime runtime(Config::virtual_time().slow_senders_above(10));
  runtime.run([] {
    // Its receiver does not read: the more there are, the longer each pause.
    auto sleeper = spawn(idle);
    const Nanos begin = now_here();
    for (int i = 0; i < 40; ++i) EXPECT_EQ(send(sleeper.pid(), Ping{i}), Sent::ok);
    const Nanos pauses = now_here() - begin;
    EXPECT_GE(pauses, milliseconds(30));
    EXPECT_LE(pauses, milliseconds(200));
    EXPECT_EQ(try_send(sleeper.pid(), Ping{40}), Sent::ok);
    EXPECT_EQ(now_here() - begin, pauses);
    // Who is cancelled in a pause has sent its message.
    auto sends = spawn([to = sleeper.pid()] {
      EXPECT_EQ(send(to, Ping{41}), Sent::ok);
      yield_now();
      ADD_FAILURE() << "it was cancelled";
    });
    yield_now();
    sends.cancel();
    EXPECT_EQ(sends.join_result().exit.kind(), ExitKind::cancelled);
    sleeper.cancel();
    (void)sleeper.join_result();
  });
  // A circle in which everybody sends before it reads, and one that waits for an answer meanwhile.
  Runtime circle(Config::exact(2).slow_senders_above(10));
  circle.run([] {
    std::vector<JoinHandle<void>> members;
    for (int i = 0; i < 3; ++i) {
      members.push_back(spawn([] {
        const Pid next = receive<Pid>();
        for (int n = 0; n < 60; ++n) (void)send(next, Ping{n});
        for (int n = 0; n < 60; ++n) EXPECT_EQ(receive<Ping>().number, n);
      }));
    }
    for (std::size_t i = 0; i < 3; ++i) {
      (void)send(members[i].pid(), members[(i + 1) % 3].pid());
    }
    for (auto& member : members) member.join();
  });
}

TEST(Mailbox, DeadLettersAreToldAndCounted) {
  std::vector<std::string> told;
  Runtime runtime(Config::current_thread().on_dead_letter(
      [&](Pid, std::string_view type) { told.emplace_back(type); }));
  Pid gone;
  runtime.run([&] {
    auto other = spawn([] { receive<Stop>(); });
    gone = other.pid();
    (void)send(gone, Ping{1});
    (void)send(gone, Stop{});
    other.join();
    EXPECT_EQ(send(gone, Pong{2}), Sent::closed);
    EXPECT_EQ(send(Pid(), Pong{2}), Sent::closed);
    EXPECT_EQ(send("nobody", Pong{2}), Sent::closed);
  });
  ASSERT_EQ(told.size(), 4U);
  EXPECT_NE(told[0].find("Ping"), std::string::npos);
  EXPECT_NE(told[1].find("Pong"), std::string::npos);
  EXPECT_EQ(send(runtime, gone, Ping{3}), Sent::closed);
  EXPECT_EQ(dead_letters(runtime), 5U);
}

TEST(Mailbox, PlainThreadsAreToldWhatToUse) {
  EXPECT_THROW((void)send(Pid(), Ping{1}), UsageError);
  EXPECT_THROW((void)receive<Ping>(), UsageError);
  EXPECT_THROW(link(Pid()), UsageError);
  EXPECT_THROW((void)whereis("x"), UsageError);
  Runtime runtime;
  auto waits = runtime.spawn([] { return receive<Ping>().number; });
  EXPECT_EQ(send(runtime, waits.pid(), Ping{4}), Sent::ok);
  runtime.run([] {});
  EXPECT_EQ(waits.join(), 4);
  runtime.run([] { EXPECT_THROW(bound_mailbox({.messages = 0}), UsageError); });
}

// -- questions ------------------------------------------------------------------------------------

TEST(Ask, AnAnswerComesOnceAndALateOneNowhere) {
  everywhere([] {
    auto server = spawn([] {
      std::optional<ReplyTo<int>> kept;
      for (;;) {
        bool over = false;
        receive(on<Call<Get>>([&](Call<Get> call) {
                  if (call.question.number == 1) {
                    EXPECT_EQ(call.reply(10), Sent::ok);
                    EXPECT_EQ(call.reply(11), Sent::closed);
                  } else if (call.question.number == 2) {
                    kept = std::move(call.reply);  // for later
                  }  // 3: dropped
                }),
                on<Stop>([&](Stop) { over = true; }));
        if (over) break;
      }
      EXPECT_FALSE(kept->is_awaited());
      EXPECT_EQ((*kept)(20), Sent::closed);
    });
    const Pid pid = server.pid();
    for (int i = 0; i < 1000; ++i) (void)send(self(), Ping{i});
    EXPECT_EQ(*ask(pid, Get{1}), 10);
    EXPECT_EQ(ask(pid, Get{2}, milliseconds(3)).state, AskState::timed_out);
    EXPECT_EQ(ask(pid, Get{3}).state, AskState::no_answer);
    Answer<int> later = request(pid, Get{1});
    std::optional<int> got;
    select(on(later, [&](std::optional<int> a) { got = a; }));
    EXPECT_EQ(got, 10);
    (void)send(pid, Stop{});
    server.join();
    EXPECT_EQ(ask(pid, Get{1}).state, AskState::no_actor);
    EXPECT_EQ(mailbox_size(), 1000U);
    const Ref<Get, Ping> typed(self());
    EXPECT_EQ(typed.send(Ping{1}), Sent::ok);
  });
}

TEST(Ask, WhoDiesInTheMiddleOfACallIsHeardOf) {
  everywhere([] {
    auto server =
        spawn([] { receive(on<Call<Get>>([](Call<Get>) { throw std::runtime_error("no"); })); });
    EXPECT_EQ(ask(server.pid(), Get{1}).state, AskState::no_answer);
    (void)server.join_result();
  });
}

// -- monitors and links ---------------------------------------------------------------------------

TEST(Monitor, TellsOnceHoweverTheActorEnds) {
  everywhere([] {
    std::map<std::string, ExitKind> ends{{"std::runtime_error: x", ExitKind::failed},
                                         {"value", ExitKind::failed},
                                         {"normal", ExitKind::normal},
                                         {"it was cancelled", ExitKind::cancelled},
                                         {"it was killed", ExitKind::killed},
                                         {"bye", ExitKind::shutdown}};
    auto fails = spawn([] { throw std::runtime_error("x"); });
    auto value = spawn([] { return Exit::failed("value"); });
    auto normal = spawn([] {});
    auto cancelled = spawn(idle);
    auto killed = spawn([] {
      trap_exit(true);
      idle();
    });
    auto shut = spawn(idle);
    std::vector<Monitor> watches;
    for (const Pid pid :
         {fails.pid(), value.pid(), normal.pid(), cancelled.pid(), killed.pid(), shut.pid()}) {
      watches.push_back(monitor(pid));
    }
    cancel(cancelled.pid());
    EXPECT_TRUE(kill(killed.pid()));
    EXPECT_TRUE(send_exit(shut.pid(), Exit::shutdown("bye")));
    send_exit(shut.pid(), Exit::shutdown("too late"));
    for (int i = 0; i < 6; ++i) {
      const Down down = receive<Down>();
      const auto found = ends.find(down.exit.text());
      ASSERT_NE(found, ends.end()) << down.exit.text();
      EXPECT_EQ(found->second, down.exit.kind());
      ends.erase(found);
    }
    EXPECT_FALSE(receive_until<Down>(now_here()));
    (void)fails.join_result();
    (void)value.join_result();
    (void)killed.join_result();
    EXPECT_EQ(shut.join_result().exit.kind(), ExitKind::shutdown);
  });
}

TEST(Monitor, OfWhoHasEndedIsToldAtOnce) {
  everywhere([] {
    auto ended = spawn([] { return Exit::failed("known"); });
    while (!ended.is_done()) yield_now();
    {
      Monitor watch = monitor(ended.pid());  // nobody took its exit yet
      EXPECT_EQ(receive<Down>().exit.text(), "known");
    }
    const Pid pid = ended.pid();
    (void)ended.join_result();
    Monitor watch = monitor(pid);
    const Down down = receive<Down>();
    EXPECT_EQ(down.exit.kind(), ExitKind::no_actor);
    EXPECT_EQ(down.pid, pid);
    EXPECT_EQ(down.monitor, watch.id());
  });
}

TEST(Monitor, LetGoOfItTellsNothing) {
  everywhere([] {
    auto lives = spawn(idle);
    auto watch = monitor(lives.pid());
    auto other = monitor(lives.pid());
    EXPECT_TRUE(watch.demonitor());
    EXPECT_FALSE(watch.demonitor());
    kill(lives.pid());
    (void)lives.join_result();
    EXPECT_EQ(receive<Down>().monitor, other.id());
    EXPECT_FALSE(receive_until<Down>(now_here()));
    auto ended = spawn([] {});
    auto late = monitor(ended.pid());
    ended.join();
    while (mailbox_size() == 0 && !receive_until<Pong>(now_here())) {
      if (late.demonitor()) break;  // its Down may lie there already: it is taken back
    }
    yield_now();
    EXPECT_FALSE(receive_until<Down>(now_here()));
  });
}

TEST(Monitor, ComesBehindWhatWasSentBefore) {
  everywhere([] {
    const Pid main = self();
    auto child = spawn([main] {
      for (int i = 0; i < 3; ++i) (void)send(main, Ping{i});
    });
    auto watch = monitor(child.pid());
    std::string order;
    for (int i = 0; i < 4; ++i) {
      receive(on<Ping>([&](Ping) { order += 'p'; }), on<Down>([&](const Down&) { order += 'd'; }));
    }
    EXPECT_EQ(order, "pppd");
    child.join();
  });
}

TEST(Link, OneFailsAndTheOtherEndsForTheSameReason) {
  everywhere([] {
    auto both = spawn([] {
      auto child = spawn_linked([] { throw std::runtime_error("why"); });
      idle();
    });
    EXPECT_EQ(both.join_result().exit.text(), "std::runtime_error: why");
    auto normal = spawn([] {
      spawn_linked([] {}).join();
      yield_now();
      return 7;
    });
    EXPECT_EQ(normal.join(), 7);
  });
}

TEST(Link, ARingEndsAsOne) {
  everywhere([] {
    std::vector<Pid> pids;
    std::vector<JoinHandle<void>> handles;
    for (int i = 0; i < 5; ++i) {
      handles.push_back(spawn([] {
        for (;;) receive(on<Pid>([](Pid other) { link(other); }), on<Stop>([](Stop) { throw 1; }));
      }));
      pids.push_back(handles.back().pid());
    }
    for (std::size_t i = 0; i < 5; ++i) (void)send(pids[i], pids[(i + 1) % 5]);
    for (std::size_t i = 0; i < 5; ++i) {
      if (i == 3) (void)send(pids[i], Stop{});
    }
    for (auto& handle : handles) EXPECT_EQ(handle.join_result().exit.text(), "int: 1");
  });
}

TEST(Link, WhoTrapsExitsGetsThemAsLetters) {
  everywhere([] {
    auto parent = spawn([] {
      EXPECT_FALSE(trap_exit(true));
      auto child = spawn_linked([] { return Exit::failed("f"); });
      const auto signal = receive<ExitSignal>();
      EXPECT_EQ(signal.from, child.pid());
      EXPECT_EQ(signal.exit.text(), "f");
      (void)child.join_result();
      spawn_linked([] {}).join();
      EXPECT_TRUE(receive<ExitSignal>().exit.ok());
      link(Pid(1234, 5));
      EXPECT_EQ(receive<ExitSignal>().exit.kind(), ExitKind::no_actor);
      send_exit(self(), Exit::normal());
      EXPECT_TRUE(receive<ExitSignal>().exit.ok());
      EXPECT_TRUE(trap_exit(false));
      send_exit(self(), Exit::normal());  // ignored
      yield_now();
      send_exit(self(), Exit::failed("own"));
      yield_now();
      ADD_FAILURE() << "it was to end";
    });
    EXPECT_EQ(parent.join_result().exit.text(), "own");
  });
}

TEST(Link, AnUnlinkHoldsAtOnce) {
  everywhere([] {
    auto survivor = spawn([] {
      auto child = spawn_linked(idle);
      unlink(child.pid());
      kill(child.pid());
      (void)child.join_result();
      yield_now();
      trap_exit(true);
      auto second = spawn_linked([] { throw 1; });
      const Pid pid = second.pid();
      (void)second.join_result();
      yield_now();
      unlink(pid);  // also what lies in the mailbox already
      EXPECT_FALSE(receive_until<ExitSignal>(now_here()));
      return 1;
    });
    EXPECT_EQ(survivor.join(), 1);
  });
}

TEST(Follow, AChildEndsWithItsParentAndNotTheOtherWayRound) {
  everywhere([] {
    Pid child;
    auto parent = spawn([&child] {
      const Pid own = self();
      spawn({.parent = own, .follows = true}, [] { throw 1; }).detach();
      EXPECT_EQ(next_signal().exit.text(), "int: 1");
      auto handle = spawn({.parent = own, .follows = true}, idle);
      child = handle.pid();
    });
    parent.join();
    auto watch = monitor(child);
    const ExitKind kind = receive<Down>().exit.kind();
    EXPECT_TRUE(kind == ExitKind::shutdown || kind == ExitKind::no_actor) << name_of(kind);
  });
}

// -- names ----------------------------------------------------------------------------------------

TEST(Names, ANameIsOnesUntilItEnds) {
  everywhere([] {
    auto first = spawn([] {
      EXPECT_TRUE(register_name("log"));
      EXPECT_FALSE(register_name("log"));
      EXPECT_TRUE(register_name("second"));
      receive<Stop>();
    });
    while (!whereis("second")) yield_now();
    EXPECT_EQ(whereis("log"), first.pid());
    EXPECT_EQ(registered_names().size(), 2U);
    EXPECT_TRUE(unregister_name("second"));
    EXPECT_FALSE(unregister_name("second"));
    EXPECT_FALSE(register_name("log"));
    auto watch = monitor(first.pid());
    EXPECT_EQ(send("log", Stop{}), Sent::ok);
    (void)receive<Down>();
    EXPECT_FALSE(whereis("log"));
    first.join();
    EXPECT_FALSE(whereis("log"));
    EXPECT_TRUE(register_name("log"));
    EXPECT_FALSE(register_name("other", first.pid()));
    EXPECT_FALSE(whereis("other"));
    unregister_name("log");
  });
}

// -- supervisors ----------------------------------------------------------------------------------

// What happened, told by the children: "+a" it started, "-a" it ended.
struct Log {
  Mutex mutex;
  std::vector<std::string> lines;
  void add(std::string line) {
    const CancelShield whole;
    const std::lock_guard lock(mutex);
    lines.push_back(std::move(line));
  }
  std::string all() {
    const std::lock_guard lock(mutex);
    std::string text;
    for (const std::string& line : lines) text += (text.empty() ? "" : " ") + line;
    return text;
  }
  // Waits until so much has happened.
  std::string after(std::size_t count) {
    for (;;) {
      {
        const std::lock_guard lock(mutex);
        if (lines.size() >= count) break;
      }
      sleep_for(milliseconds(1));
    }
    return all();
  }
};
using LogPtr = std::shared_ptr<Log>;

struct Fail {};
struct Leave {};

// Says that it starts and ends; fails or leaves when it is told to.
ChildSpec child_of(const LogPtr& log, const std::string& name,
                   Restart restart = Restart::permanent) {
  ChildSpec spec;
  spec.name = name;
  spec.restart = restart;
  spec.run = [log, name] {
    const struct Says {
      const LogPtr& log;
      const std::string& name;
      ~Says() { log->add("-" + name); }
    } says{log, name};
    log->add("+" + name);
    receive(on<Fail>([](Fail) { throw std::runtime_error("failed"); }), on<Leave>([](Leave) {}));
  };
  return spec;
}

SupervisorOptions options_of(Strategy strategy, unsigned intensity = 5) {
  SupervisorOptions options;
  options.strategy = strategy;
  options.intensity = intensity;
  return options;
}

void poke(const Supervisor& tree, const std::string& name, bool fail) {
  const Pid pid = tree.child(name);
  ASSERT_TRUE(pid);
  if (fail) {
    (void)send(pid, Fail{});
  } else {
    (void)send(pid, Leave{});
  }
}

// On several workers children that are started one after the other may say so in another order.
template <class Program>
void in_order(Program program) {
  Runtime runtime(
      Config::virtual_time().on_lost_failure([](Pid, std::string_view, const Exit&) {}));
  runtime.run(program);
}

TEST(Supervisor, OneForOneStartsTheFailedOneOnly) {
  in_order([] {
    auto log = std::make_shared<Log>();
    auto tree = Supervisor::start(options_of(Strategy::one_for_one),
                                  {child_of(log, "a"), child_of(log, "b"), child_of(log, "c")});
    EXPECT_EQ(log->after(3), "+a +b +c");
    const Pid before = tree.child("b");
    poke(tree, "b", true);
    EXPECT_EQ(log->after(5), "+a +b +c -b +b");
    EXPECT_NE(tree.child("b"), before);
    EXPECT_EQ(tree.stop().kind(), ExitKind::shutdown);
    EXPECT_EQ(log->all(), "+a +b +c -b +b -c -b -a");
    EXPECT_EQ(tree.stop().kind(), ExitKind::no_actor);
    EXPECT_FALSE(tree.start_child(child_of(log, "d")));
  });
}

TEST(Supervisor, OneForAllStopsInReverseAndStartsInOrder) {
  in_order([] {
    auto log = std::make_shared<Log>();
    auto tree = Supervisor::start(options_of(Strategy::one_for_all),
                                  {child_of(log, "a"), child_of(log, "b"), child_of(log, "c"),
                                   child_of(log, "t", Restart::temporary)});
    EXPECT_EQ(log->after(4), "+a +b +c +t");
    poke(tree, "b", true);
    EXPECT_EQ(log->after(11), "+a +b +c +t -b -t -c -a +a +b +c");
    EXPECT_EQ(tree.count().specs, 3U);
    (void)tree.stop();
    EXPECT_EQ(log->all(), "+a +b +c +t -b -t -c -a +a +b +c -c -b -a");
  });
}

TEST(Supervisor, RestForOneStopsThoseThatCameAfter) {
  in_order([] {
    auto log = std::make_shared<Log>();
    auto tree = Supervisor::start(
        options_of(Strategy::rest_for_one),
        {child_of(log, "a"), child_of(log, "b"), child_of(log, "c"), child_of(log, "d")});
    EXPECT_EQ(log->after(4), "+a +b +c +d");
    poke(tree, "b", true);
    EXPECT_EQ(log->after(10), "+a +b +c +d -b -d -c +b +c +d");
    (void)tree.stop();
  });
}

TEST(Supervisor, HoldsItsStrategyInEachSchedule) {
  // As sets: who was started and ended how often.
  const auto counts = [](Strategy strategy) {
    everywhere([strategy] {
      auto log = std::make_shared<Log>();
      auto tree = Supervisor::start(options_of(strategy),
                                    {child_of(log, "a"), child_of(log, "b"), child_of(log, "c")});
      (void)log->after(3);
      poke(tree, "b", true);
      const std::size_t stopped = strategy == Strategy::one_for_one    ? 1
                                  : strategy == Strategy::rest_for_one ? 2
                                                                       : 3;
      (void)log->after(3 + 2 * stopped);
      EXPECT_EQ(tree.count().active, 3U);
      (void)tree.stop();
      std::map<std::string, int> seen;
      for (const std::string& line : log->lines) ++seen[line];
      EXPECT_EQ(log->lines.size(), 6 + 2 * stopped);
      for (const char* const name : {"a", "b", "c"}) {
        EXPECT_EQ(seen["+" + std::string(name)], seen["-" + std::string(name)]) << name;
      }
      // The last three stopped are in the reverse order of starting.
      const auto n = log->lines.size();
      EXPECT_EQ(log->lines[n - 3] + log->lines[n - 2] + log->lines[n - 1], "-c-b-a");
    });
  };
  counts(Strategy::one_for_one);
  counts(Strategy::one_for_all);
  counts(Strategy::rest_for_one);
}

TEST(Supervisor, RestartsByTypeOfChild) {
  in_order([] {
    auto log = std::make_shared<Log>();
    auto tree = Supervisor::start(options_of(Strategy::one_for_one, 10),
                                  {child_of(log, "p"), child_of(log, "r", Restart::transient),
                                   child_of(log, "t", Restart::temporary)});
    (void)log->after(3);
    poke(tree, "p", false);
    EXPECT_EQ(log->after(5), "+p +r +t -p +p");
    poke(tree, "r", true);
    EXPECT_EQ(log->after(7), "+p +r +t -p +p -r +r");
    poke(tree, "r", false);
    EXPECT_EQ(log->after(8), "+p +r +t -p +p -r +r -r");
    poke(tree, "t", true);
    (void)log->after(9);
    sleep_for(seconds(1));
    EXPECT_EQ(log->all(), "+p +r +t -p +p -r +r -r -t");
    const ChildCounts counts = tree.count();
    EXPECT_EQ(counts.specs, 2U);  // the temporary one is forgotten
    EXPECT_EQ(counts.active, 1U);
    const auto reports = tree.children();
    ASSERT_EQ(reports.size(), 2U);
    EXPECT_EQ(reports[0].name, "p");
    EXPECT_EQ(reports[0].restarts, 1U);
    EXPECT_FALSE(reports[1].pid);
    // What has ended for good can be started, or forgotten.
    EXPECT_TRUE(tree.restart_child("r"));
    EXPECT_FALSE(tree.restart_child("r"));
    EXPECT_FALSE(tree.forget_child("r"));
    EXPECT_TRUE(tree.stop_child("r"));
    EXPECT_TRUE(tree.forget_child("r"));
    EXPECT_FALSE(tree.forget_child("r"));
    EXPECT_EQ(tree.count().specs, 1U);
    (void)tree.stop();
  });
}

TEST(Supervisor, TooManyFailuresWithinThePeriodEndIt) {
  std::vector<std::string> told;
  Runtime runtime(
      Config::virtual_time().on_lost_failure([&](Pid, std::string_view name, const Exit& exit) {
        told.push_back(std::string(name) + ": " + exit.text());
      }));
  runtime.run([] {
    auto log = std::make_shared<Log>();
    SupervisorOptions options = options_of(Strategy::one_for_one, 2);
    options.period = seconds(5);
    auto tree = Supervisor::start(options, {child_of(log, "a"), child_of(log, "b")});
    const auto fail = [&] {
      const Pid before = tree.child("a");
      poke(tree, "a", true);
      while (tree.child("a") == before) sleep_for(milliseconds(1));
    };
    // Two within the period, again and again, are no harm.
    for (int round = 0; round < 3; ++round) {
      fail();
      fail();
      sleep_for(seconds(6));
    }
    fail();
    fail();
    const Nanos third = now_here();
    poke(tree, "a", true);
    const Exit exit = tree.wait();
    EXPECT_LE(now_here() - third, milliseconds(100));
    EXPECT_EQ(exit.kind(), ExitKind::shutdown);
    EXPECT_NE(exit.text().find("too often"), std::string::npos);
    EXPECT_NE(exit.text().find("std::runtime_error: failed"), std::string::npos);
    EXPECT_EQ(log->lines.back(), "-b");
  });
  ASSERT_EQ(told.size(), 1U);
  EXPECT_NE(told[0].find("too often"), std::string::npos);
}

TEST(Supervisor, FailuresOfASupervisorAreItsOwnSupervisorsAffair) {
  in_order([] {
    auto log = std::make_shared<Log>();
    SupervisorOptions inner = options_of(Strategy::one_for_one, 1);
    inner.name = "inner";
    auto tree =
        Supervisor::start(options_of(Strategy::one_for_all),
                          {child_of(log, "top"), supervisor_child(inner, {child_of(log, "leaf")})});
    (void)log->after(2);
    const Supervisor below(tree.child("inner"));
    poke(below, "leaf", true);
    EXPECT_EQ(log->after(4), "+top +leaf -leaf +leaf");
    poke(below, "leaf", true);
    // The inner one gives up; all of the outer one's are started anew.
    EXPECT_EQ(log->after(8), "+top +leaf -leaf +leaf -leaf -top +top +leaf");
    EXPECT_EQ(tree.count().supervisors, 1U);
    (void)tree.stop();
    EXPECT_EQ(log->all().substr(log->all().size() - 10), "-leaf -top");
  });
}

TEST(Supervisor, WaitsLongerAfterEachFailure) {
  in_order([] {
    auto log = std::make_shared<Log>();
    ChildSpec spec = child_of(log, "a");
    spec.backoff = {
        .first = milliseconds(100), .factor = 2, .most = milliseconds(350), .jitter = 0};
    auto tree = Supervisor::start(options_of(Strategy::one_for_one, 100), {spec});
    std::vector<Nanos> pauses;
    for (int i = 0; i < 4; ++i) {
      while (!tree.child("a")) sleep_for(milliseconds(1));
      poke(tree, "a", true);
      while (tree.child("a")) yield_now();
      const Nanos failed = now_here();
      EXPECT_TRUE(tree.children()[0].waits_for_restart);
      while (!tree.child("a")) sleep_for(milliseconds(1));
      pauses.push_back((now_here() - failed) / 1'000'000 / 10);
    }
    EXPECT_EQ(pauses, (std::vector<Nanos>{Nanos{10}, Nanos{20}, Nanos{35}, Nanos{35}}));
    sleep_for(seconds(1));  // it lived long enough: the next pause is the first again
    poke(tree, "a", true);
    while (tree.child("a")) yield_now();
    const Nanos failed = now_here();
    while (!tree.child("a")) sleep_for(milliseconds(1));
    EXPECT_LT(now_here() - failed, milliseconds(120));
    // One that waits for its restart can be stopped, and does not come back.
    poke(tree, "a", true);
    while (tree.child("a")) yield_now();
    EXPECT_TRUE(tree.stop_child("a"));
    sleep_for(seconds(2));
    EXPECT_FALSE(tree.child("a"));
    (void)tree.stop();
  });
}

TEST(Supervisor, GraceThenKillThenItIsLeftBehind) {
  in_order([] {
    auto log = std::make_shared<Log>();
    std::vector<std::string> stragglers;
    SupervisorOptions options = options_of(Strategy::one_for_one);
    options.patience = milliseconds(300);
    options.on_straggler = [&](Pid, std::string_view name) { stragglers.emplace_back(name); };
    ChildSpec polite = child_of(log, "polite");
    ChildSpec traps;
    traps.name = "traps";
    traps.grace = milliseconds(200);
    traps.run = [] {
      trap_exit(true);
      idle();
    };
    ChildSpec brutal = traps;
    brutal.name = "brutal";
    brutal.grace = Nanos{0};
    ChildSpec stuck;
    stuck.name = "stuck";
    stuck.grace = milliseconds(100);
    const Nanos begin = now_here();
    stuck.run = [begin] {
      const CancelShield never;
      sleep_until(begin + seconds(3));
    };
    auto tree = Supervisor::start(options, {polite, traps, brutal, stuck});
    (void)log->after(1);
    const Nanos before = now_here();
    EXPECT_EQ(tree.stop().kind(), ExitKind::shutdown);
    const Nanos took = now_here() - before;
    EXPECT_GE(took, milliseconds(600));  // stuck: 100 and 300; traps: 200
    EXPECT_LE(took, milliseconds(650));
    EXPECT_EQ(stragglers, std::vector<std::string>{"stuck"});
    EXPECT_EQ(log->lines.back(), "-polite");
  });
}

TEST(Supervisor, EndsWhenItsSignificantChildrenHaveEnded) {
  for (const AutoShutdown kind : {AutoShutdown::any_significant, AutoShutdown::all_significant}) {
    in_order([kind] {
      auto log = std::make_shared<Log>();
      ChildSpec one = child_of(log, "one", Restart::transient);
      ChildSpec two = child_of(log, "two", Restart::transient);
      one.significant = two.significant = true;
      SupervisorOptions options = options_of(Strategy::one_for_one);
      options.auto_shutdown = kind;
      auto tree = Supervisor::start(options, {child_of(log, "other"), one, two});
      (void)log->after(3);
      poke(tree, "two", false);
      if (kind == AutoShutdown::all_significant) {
        sleep_for(seconds(1));
        EXPECT_EQ(tree.count().active, 2U);
        poke(tree, "one", false);
      }
      EXPECT_EQ(tree.wait().kind(), ExitKind::shutdown);
      EXPECT_EQ(log->lines.back(), "-other");
    });
  }
}

TEST(Supervisor, ChildrenComeAndGoWhileItRuns) {
  everywhere([] {
    auto tree = Supervisor::start({});
    std::vector<Pid> pids;
    for (int i = 0; i < 50; ++i) {
      const Result<Pid> pid = tree.start_child({.run = idle, .restart = Restart::temporary});
      ASSERT_TRUE(pid);
      pids.push_back(*pid);
    }
    EXPECT_EQ(tree.count().active, 50U);
    EXPECT_TRUE(tree.stop_child(pids[7]));
    EXPECT_FALSE(tree.stop_child(pids[7]));
    EXPECT_EQ(tree.count().specs, 49U);
    kill(pids[8]);
    while (tree.count().specs == 49U) yield_now();
    (void)tree.stop();
    for (const Pid pid : pids) {
      auto watch = monitor(pid);
      const ExitKind kind = receive<Down>().exit.kind();
      EXPECT_EQ(kind, ExitKind::no_actor) << name_of(kind);
    }
  });
}

TEST(Supervisor, EndsItsChildrenHoweverItEnds) {
  everywhere([] {
    for (const int how : {0, 1, 2}) {
      auto log = std::make_shared<Log>();
      auto owner = spawn([&, log] {
        auto tree = Supervisor::start({child_of(log, "a"), child_of(log, "b")});
        (void)log->after(2);
        if (how == 0) return;  // its parent ends
        if (how == 1) kill(tree.pid());
        if (how == 2) cancel(tree.pid());
        (void)tree.wait();
      });
      (void)owner.join_result();
      (void)log->after(4);
      EXPECT_EQ(log->lines[2], "-b");
      EXPECT_EQ(log->lines[3], "-a");
    }
  });
}

TEST(Supervisor, RefusesWhatMakesNoSense) {
  in_order([] {
    const auto message = [](const std::vector<ChildSpec>& children,
                            SupervisorOptions options = {}) {
      try {
        (void)Supervisor::start(options, children);
      } catch (const UsageError& e) {
        return std::string(e.what());
      }
      return std::string();
    };
    EXPECT_NE(message({{.name = "x"}}).find("a function to run"), std::string::npos);
    EXPECT_NE(
        message({{.name = "x", .run = idle}, {.name = "x", .run = idle}}).find("has it already"),
        std::string::npos);
    EXPECT_NE(message({{.name = "x", .run = idle, .significant = true}}).find("permanent"),
              std::string::npos);
    EXPECT_NE(message({{.name = "x", .run = idle, .grace = Nanos{-1}}}).find("grace"),
              std::string::npos);
    SupervisorOptions options;
    options.period = Nanos{0};
    EXPECT_NE(message({}, options).find("period"), std::string::npos);
    auto tree = Supervisor::start({{.name = "x", .run = idle}});
    const Result<Pid> twice = tree.start_child({.name = "x", .run = idle});
    ASSERT_FALSE(twice);
    EXPECT_NE(twice.error().message.find("has it already"), std::string::npos);
    EXPECT_FALSE(tree.stop_child("nobody"));
    EXPECT_FALSE(tree.restart_child("nobody"));
  });
}

TEST(Supervisor, UnderFaultsNothingIsLeftAndNobodyIsStartedTwice) {
  std::uint64_t faults = 0;
  for (std::uint64_t seed = 1; seed <= schedules(300); ++seed) {
    auto alive = std::make_shared<std::map<std::string, int>>();
    const SimulationReport report =
        simulate({.seed = seed, .workers = 1 + seed % 3, .cancels = 300, .delays = 200}, [alive] {
          const auto child = [&](const std::string& name, Restart restart) {
            ChildSpec spec;
            spec.name = name;
            spec.restart = restart;
            spec.run = [alive, name] {
              const struct Lives {
                int& count;
                ~Lives() { --count; }
              } lives{(*alive)[name]};
              if (++lives.count != 1) throw std::logic_error("two of " + name);
              for (int i = 0; i < 5; ++i) sleep_for(milliseconds(1));
              if (name == "fails") throw std::runtime_error("it fails");
              idle();
            };
            return spec;
          };
          try {
            SupervisorOptions options = options_of(static_cast<Strategy>(alive.use_count() % 3), 3);
            options.period = milliseconds(40);
            auto tree = Supervisor::start(
                options, {child("a", Restart::permanent), child("fails", Restart::transient),
                          child("b", Restart::temporary)});
            sleep_for(milliseconds(30));
            (void)tree.stop();
          } catch (const UsageError&) {
            throw;
          } catch (const std::exception&) {  // the supervisor did not get going
          }
        });
    ASSERT_TRUE(report.ok) << report.failure;
    for (const auto& [name, count] : *alive) ASSERT_EQ(count, 0) << name << ", seed " << seed;
    faults += report.cancelled;
  }
  EXPECT_GT(faults, 0U);
}

}  // namespace
}  // namespace leat::actor
