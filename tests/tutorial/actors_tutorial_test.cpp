// What docs/tutorial-actors.md shows: each piece between marks is quoted there, and each runs here.
#include <leat/actor.hpp>

#include <gtest/gtest.h>

#include <array>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using namespace leat::actor;
using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(ActorTutorial, First) {
  int seen = 0;
  // [first]
  Runtime runtime(Config::exact(2));  // two threads
  runtime.run([&] {
    JoinHandle<int> answer = spawn([] { return 6 * 7; });
    seen = answer.join();  // others run meanwhile
  });
  // [/first]
  EXPECT_EQ(seen, 42);
}

TEST(ActorTutorial, Channels) {
  int sum = 0;
  Runtime runtime;
  runtime.run([&] {
    // [channels]
    auto [sender, receiver] = channel<int>();
    auto adder = spawn([from = std::move(receiver)]() mutable {
      int total = 0;
      while (std::optional<int> number = from.receive()) total += *number;
      return total;  // the last sender is gone
    });
    for (int i = 1; i <= 10; ++i) (void)sender.send(i);
    sender.close();
    sum = adder.join();
    // [/channels]
  });
  EXPECT_EQ(sum, 55);
}

// [messages]
struct Deposit {
  int amount = 0;
};
struct Balance {
  using Reply = int;  // it is a question, and this is its answer
};

void account() {
  int balance = 0;
  for (;;) {
    receive(on<Deposit>([&](Deposit deposit) { balance += deposit.amount; }),
            on<Call<Balance>>([&](Call<Balance> call) { (void)call.reply(balance); }));
  }
}
// [/messages]

TEST(ActorTutorial, Messages) {
  Runtime runtime;
  runtime.run([] {
    // [ask]
    auto anna = spawn(account);
    (void)send(anna.pid(), Deposit{30});
    (void)send(anna.pid(), Deposit{12});
    const Asked<int> balance = ask(anna.pid(), Balance{}, seconds(1));
    // [/ask]
    EXPECT_EQ(balance.value, 42);
    const Pid pid = anna.pid();
    anna.cancel();
    (void)anna.join_result();
    EXPECT_EQ(ask(pid, Balance{}).state, AskState::no_actor);
  });
}

TEST(ActorTutorial, Failures) {
  std::string why;
  Runtime runtime;
  runtime.run([&] {
    // [failures]
    auto fails = spawn([] { throw std::runtime_error("no such file"); });
    Monitor watch = monitor(fails.pid());
    const Down down = receive<Down>();
    why = down.exit.text();
    // [/failures]
    (void)fails.join_result();
  });
  EXPECT_EQ(why, "std::runtime_error: no such file");
}

TEST(ActorTutorial, Supervisor) {
  Runtime runtime(Config::virtual_time());
  int starts = 0;
  runtime.run([&] {
    // [supervisor]
    SupervisorOptions options;
    options.strategy = Strategy::one_for_one;
    options.intensity = 3;  // restarts within 5 seconds; one more ends the supervisor
    const auto tree =
        Supervisor::start(options, {{.name = "worker",
                                     .run =
                                         [&] {
                                           register_name("worker");
                                           ++starts;
                                           if (starts < 3) throw std::runtime_error("not yet");
                                           receive<Deposit>();  // works from the third time on
                                         },
                                     .restart = Restart::transient}});
    while (send("worker", Deposit{1}) != Sent::ok) sleep_for(milliseconds(1));
    // [/supervisor]
    while (starts < 3) sleep_for(milliseconds(1));
    (void)tree.stop();
  });
  EXPECT_EQ(starts, 3);
}

// [server]
struct Add {
  int by = 0;
};
struct Get {
  using Reply = int;
};

class Counter : public Server<Counter> {
 public:
  using Takes = Messages<Add, Get>;
  void handle(Add add) { count_ += add.by; }
  int handle(Get) { return count_; }

 private:
  int count_ = 0;
};
// [/server]

TEST(ActorTutorial, Server) {
  Runtime runtime;
  runtime.run([] {
    // [start]
    auto counter = start_server<Counter>();
    (void)counter.ref.send(Add{2});
    const auto count = counter.ref.ask(Get{});  // counter.ref.send(Deposit{1}) does not compile
    // [/start]
    EXPECT_EQ(count.value, 2);
    counter.handle.cancel();
  });
}

TEST(ActorTutorial, Io) {
  std::string heard;
  Runtime runtime;
  runtime.run([&] {
    // [io]
    auto door = Listener::open("127.0.0.1", 0);
    if (!door) throw std::runtime_error(door.error().message);
    auto server = spawn([&] {
      auto client = door->accept();  // waits; the thread does not
      if (client) (void)client->write_all("hello\n");
    });
    auto stream = Stream::connect("127.0.0.1", door->port());
    std::array<std::byte, 100> buffer;
    const Transfer got = stream->read(buffer, deadline_after(seconds(5)));
    // [/io]
    heard.assign(reinterpret_cast<const char*>(buffer.data()), got.count);
    server.join();
  });
  EXPECT_EQ(heard, "hello\n");
}

TEST(ActorTutorial, Looking) {
  std::string text;
  Runtime runtime;
  runtime.run([&] {
    auto sleeper = spawn({.name = "sleeper"}, [] { sleep_for(seconds(1000)); });
    yield_now();
    // [look]
    const Census census = take_census();
    text = tree_text(census);
    for (const Stuck& stuck : find_stuck(census)) text += stuck.text;  // nobody, here
    // [/look]
    sleeper.cancel();
    (void)sleeper.join_result();
  });
  EXPECT_NE(text.find("\"sleeper\": sleeps"), std::string::npos) << text;
}

TEST(ActorTutorial, Ending) {
  std::string text;
  Runtime runtime(Config::virtual_time());
  runtime.run([&] {
    spawn({.name = "service"}, [] { sleep_for(seconds(1000)); }).detach();
    yield_now();
    // [shutdown]
    const ShutdownReport report = shut_down_others({.drain = seconds(1), .grace = seconds(10)});
    text = report.text();
    // [/shutdown]
  });
  EXPECT_EQ(text, "told 1 to end, killed 0, 0 go on\n");
}

TEST(ActorTutorial, Simulation) {
  // [simulate]
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    const SimulationReport report = simulate({.seed = seed, .cancels = 100}, [] {
      auto anna = spawn(account);
      (void)send(anna.pid(), Deposit{1});
      const auto balance = ask(anna.pid(), Balance{});
      if (balance && *balance.value != 1) throw std::logic_error("money was lost");
      anna.cancel();
    });
    ASSERT_TRUE(report.ok) << report.failure;  // names the seed that shows it again
  }
  // [/simulate]
}

}  // namespace
