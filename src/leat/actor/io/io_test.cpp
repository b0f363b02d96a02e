#include <leat/actor/io/stream.hpp>

#include <leat/actor/io/blocking.hpp>
#include <leat/actor/io/process.hpp>
#include <leat/actor/mailbox/receive.hpp>
#include <leat/actor/runtime.hpp>
#include <leat/actor/scope.hpp>
#include <leat/actor/self.hpp>
#include <leat/base/usage_error.hpp>

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace leat::actor {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

std::string read_to_end(Stream& from) {
  std::string text;
  std::array<std::byte, 1000> buffer;
  for (;;) {
    const Transfer got = from.read(buffer);
    if (!got.ok() || got.count == 0) return text;
    text.append(reinterpret_cast<const char*>(buffer.data()), got.count);
  }
}

void echo(Stream peer) {
  std::array<std::byte, 512> buffer;
  for (;;) {
    const Transfer got = peer.read(buffer);
    if (!got.ok() || got.count == 0) return;
    if (!peer.write_all(std::span(buffer).first(got.count)).ok()) return;
  }
}

class Io : public testing::TestWithParam<int> {
 protected:
  Runtime runtime{GetParam() == 0 ? Config::current_thread()
                                  : Config::exact(static_cast<std::size_t>(GetParam()))};
};
INSTANTIATE_TEST_SUITE_P(Threads, Io, testing::Values(0, 1, 2));

TEST_P(Io, APipeCarriesMoreThanItHoldsInOrder) {
  runtime.run([] {
    auto ends = pipe_pair();
    ASSERT_TRUE(ends);
    auto& [out, in] = *ends;
    std::string text(1'000'000, 'x');
    for (std::size_t i = 0; i < text.size(); ++i) text[i] = static_cast<char>('a' + i % 23);
    auto writer = spawn([inlet = std::move(in), &text]() mutable {
      const Transfer put = inlet.write_all(text);  // far more than fits: it waits in between
      EXPECT_TRUE(put.ok());
      EXPECT_EQ(put.count, text.size());
    });
    EXPECT_EQ(read_to_end(out), text);
    writer.join();
  });
}

TEST_P(Io, AHundredConnectionsTalkToOneListener) {
  runtime.run([] {
    auto door = Listener::open("127.0.0.1", 0);
    ASSERT_TRUE(door) << door.error().message;
    const std::uint16_t port = door->port();
    auto server = spawn([&door] {
      for (;;) {
        Result<Stream> peer = door->accept();
        ASSERT_TRUE(peer);
        spawn([peer = std::move(*peer)]() mutable { echo(std::move(peer)); }).detach();
      }
    });
    std::vector<JoinHandle<void>> clients;
    for (int i = 0; i < 100; ++i) {
      clients.push_back(spawn([i, port] {
        auto stream = Stream::connect("127.0.0.1", port);
        ASSERT_TRUE(stream) << stream.error().message;
        EXPECT_EQ(stream->peer().port(), port);
        for (int round = 0; round < 5; ++round) {
          const std::string text =
              "client " + std::to_string(i) + " round " + std::to_string(round);
          ASSERT_TRUE(stream->write_all(text).ok());
          std::string back(text.size(), '\0');
          const Transfer got = stream->read_all(std::as_writable_bytes(std::span(back)));
          ASSERT_TRUE(got.ok());
          EXPECT_EQ(back, text);
        }
        stream->end_writing();
        EXPECT_EQ(read_to_end(*stream), "");
      }));
    }
    for (auto& client : clients) client.join();
    server.cancel();
    EXPECT_EQ(server.join_result().exit.kind(), ExitKind::cancelled);
  });
}

TEST_P(Io, WhoWaitsIsCancelledAndItsBufferIsItsOwn) {
  runtime.run([] {
    auto ends = stream_pair();
    ASSERT_TRUE(ends);
    auto waits = spawn([&] {
      std::array<std::byte, 64> buffer{};
      (void)ends->first.read(buffer);
    });
    yield_now();
    waits.cancel();
    EXPECT_EQ(waits.join_result().exit.kind(), ExitKind::cancelled);
    // What comes afterwards is the next one's, whole.
    ASSERT_TRUE(ends->second.write_all("hello").ok());
    ends->second.close();
    EXPECT_EQ(read_to_end(ends->first), "hello");
  });
}

TEST_P(Io, ADeadlineEndsAWaitAndNothingElse) {
  runtime.run([] {
    auto ends = stream_pair();
    ASSERT_TRUE(ends);
    std::array<std::byte, 8> buffer{};
    const Nanos deadline = deadline_after(milliseconds(5));
    EXPECT_EQ(ends->first.read(buffer, deadline).error, ETIMEDOUT);
    EXPECT_GE(now_here(), deadline);
    ASSERT_TRUE(ends->second.write_all("x").ok());
    EXPECT_EQ(ends->first.read(buffer).count, 1U);
    auto door = Listener::open("127.0.0.1", 0);
    ASSERT_TRUE(door);
    const auto nobody = door->accept(deadline_after(milliseconds(1)));
    ASSERT_FALSE(nobody);
    EXPECT_NE(nobody.error().message.find("call again"), std::string::npos);
  });
}

TEST_P(Io, APeerThatIsGoneIsAnErrorAndNoSignal) {
  runtime.run([] {
    auto ends = stream_pair();
    ASSERT_TRUE(ends);
    ends->second.close();
    const std::string much(1'000'000, 'x');
    const Transfer put = ends->first.write_all(much);
    EXPECT_TRUE(put.error == EPIPE || put.error == ECONNRESET) << os::error_text(put.error);
    EXPECT_LT(put.count, much.size());
    EXPECT_EQ(ends->second.write_all("x").error, EBADF);
    auto pipe = pipe_pair();
    ASSERT_TRUE(pipe);
    pipe->first.close();
    EXPECT_EQ(pipe->second.write_all("x").error, EPIPE);
  });
}

TEST_P(Io, NobodyListensIsSaid) {
  runtime.run([] {
    std::uint16_t port = 0;
    {
      auto door = Listener::open("127.0.0.1", 0);
      ASSERT_TRUE(door);
      port = door->port();
      const auto twice = Listener::open("127.0.0.1", port);
      ASSERT_FALSE(twice);
      EXPECT_NE(twice.error().message.find("nobody uses"), std::string::npos);
    }
    const auto stream = Stream::connect("127.0.0.1", port);
    ASSERT_FALSE(stream);
    EXPECT_NE(stream.error().message.find("listens there first"), std::string::npos);
    EXPECT_FALSE(Stream::connect("no such name.invalid", 1));
    EXPECT_FALSE(Listener::open("three", 1));
  });
}

TEST_P(Io, DatagramsAndUnixSockets) {
  runtime.run([] {
    auto one = Datagrams::open("127.0.0.1", 0);
    auto two = Datagrams::open("127.0.0.1", 0);
    ASSERT_TRUE(one && two);
    auto answers = spawn([&] {
      std::array<std::byte, 100> buffer;
      Address from;
      const Transfer got = two->receive_from(buffer, from);
      (void)two->send_to(std::span(buffer).first(got.count), from);
    });
    ASSERT_TRUE(one->send_to(std::as_bytes(std::span("ping", 4)), two->address()).ok());
    std::array<std::byte, 100> buffer;
    Address from;
    EXPECT_EQ(one->receive_from(buffer, from).count, 4U);
    EXPECT_EQ(from, two->address());
    answers.join();

    const std::string path = "leat_io_test." + std::to_string(::getpid());
    auto door = Listener::open_path(path);
    ASSERT_TRUE(door) << door.error().message;
    auto server = spawn([&] { echo(std::move(*door->accept())); });
    auto stream = Stream::connect_path(path);
    ASSERT_TRUE(stream);
    ASSERT_TRUE(stream->write_all("over a path").ok());
    stream->end_writing();
    EXPECT_EQ(read_to_end(*stream), "over a path");
    server.join();
    std::filesystem::remove(path);
    EXPECT_FALSE(Stream::connect_path(std::string(200, 'x')));
  });
}

TEST_P(Io, ACallThatBlocksKeepsNobody) {
  runtime.run([] {
    // 64 calls that wait for each other: they all run at a time, and timers go on.
    auto ends = os::make_pipe();
    ASSERT_TRUE(ends);
    std::mutex mutex;
    std::condition_variable all;
    int inside = 0;
    Scope scope;
    for (int i = 0; i < 64; ++i) {
      scope.spawn([&] {
        const int place = blocking([&] {
          std::unique_lock lock(mutex);
          const int mine = ++inside;
          all.notify_all();
          all.wait(lock, [&] { return inside >= 65; });
          return mine;
        });
        EXPECT_GE(place, 1);
      });
    }
    for (int i = 0; i < 3; ++i) sleep_for(milliseconds(1));
    bool complete = false;
    while (!complete) {
      sleep_for(milliseconds(1));
      const std::lock_guard lock(mutex);
      complete = inside == 64;
    }
    {
      const std::lock_guard lock(mutex);
      inside = 65;
    }
    all.notify_all();
    scope.join();
    EXPECT_THROW(blocking([] { throw std::runtime_error("there"); }), std::runtime_error);
  });
  EXPECT_EQ(blocking([] { return 3; }), 3);  // a plain thread calls it itself
}

TEST_P(Io, FilesAreReadAndWrittenAtTheirPlaces) {
  runtime.run([] {
    const std::string path = "leat_file_test." + std::to_string(::getpid());
    auto file = File::open(path, File::Mode::create);
    ASSERT_TRUE(file) << file.error().message;
    EXPECT_EQ(file->write_at(std::as_bytes(std::span("0123456789", 10)), 5).count, 10U);
    std::array<char, 100> text{};
    EXPECT_EQ(file->read_at(std::as_writable_bytes(std::span(text)), 8).count, 7U);
    EXPECT_EQ(std::string(text.data(), 7), "3456789");
    std::filesystem::remove(path);
    const auto missing = File::open(path);
    ASSERT_FALSE(missing);
    EXPECT_NE(missing.error().message.find(path), std::string::npos);
  });
}

TEST_P(Io, ProgramsAreFedReadAndWaitedFor) {
  runtime.run([] {
    auto sort = Process::start({"sort", "-n"});
    ASSERT_TRUE(sort) << sort.error().message;
    EXPECT_FALSE(sort->wait(now_here()));
    ASSERT_TRUE(sort->input().write_all("3\n10\n2\n").ok());
    sort->input().close();
    EXPECT_EQ(read_to_end(sort->output()), "2\n3\n10\n");
    EXPECT_EQ(sort->wait()->code, 0);
    EXPECT_EQ(sort->wait()->code, 0);
    auto fails = Process::start({"sh", "-c", "exit 7"});
    ASSERT_TRUE(fails);
    EXPECT_EQ(fails->wait()->code, 7);
    auto sleeps = Process::start({"sleep", "1000"});
    ASSERT_TRUE(sleeps);
    sleeps->signal(SIGTERM);
    EXPECT_EQ(sleeps->wait()->signal, SIGTERM);
    {
      auto dropped = Process::start({"sleep", "1000"});
    }
    EXPECT_FALSE(Process::start({"/no/such/program"}));
    EXPECT_FALSE(Process::start({}));
  });
}

TEST(IoOnce, SignalsComeAsSomethingToWaitFor) {
  Runtime runtime;  // in this thread, in which they are blocked
  runtime.run([] {
    auto watch = SignalWatch::open({SIGUSR1, SIGUSR2});
    ASSERT_TRUE(watch);
    EXPECT_EQ(watch->next(now_here()), 0);
    ::kill(::getpid(), SIGUSR2);
    EXPECT_EQ(watch->next(), SIGUSR2);
  });
}

TEST(IoOnce, ADescriptorTooManyIsAnErrorOfTheServerAlone) {
  Runtime runtime;
  runtime.run([] {
    auto door = Listener::open("127.0.0.1", 0);
    ASSERT_TRUE(door);
    auto first = Stream::connect("127.0.0.1", door->port());
    ASSERT_TRUE(first);
    rlimit before{};
    ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
    rlimit low = before;
    low.rlim_cur = static_cast<rlim_t>(first->descriptor()) + 1;
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &low), 0);
    const auto refused = door->accept();
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().message.find("close some descriptors"), std::string::npos);
    auto peer = door->accept();  // it still waits there
    ASSERT_TRUE(peer);
    ASSERT_TRUE(first->write_all("x").ok());
    std::array<std::byte, 8> buffer;
    EXPECT_EQ(peer->read(buffer).count, 1U);
  });
}

TEST(IoOnce, NotOnPlainThreadsNorWithVirtualTime) {
  EXPECT_THROW((void)pipe_pair(), UsageError);
  Runtime runtime(Config::virtual_time());
  runtime.run([] {
    EXPECT_THROW((void)pipe_pair(), UsageError);
    EXPECT_EQ(blocking([] { return 4; }), 4);
  });
}

TEST(IoOnce, AddressesAreSaidAndRead) {
  EXPECT_EQ(Address::parse("127.0.0.1", 80)->text(), "127.0.0.1:80");
  EXPECT_EQ(Address::parse("::1", 80)->text(), "[::1]:80");
  EXPECT_EQ(Address::path("/run/x")->text(), "/run/x");
  EXPECT_FALSE(Address::parse("localhost", 80));
  EXPECT_FALSE(Address::path(""));
  EXPECT_EQ(Address().text(), "nowhere");
  const auto found = os::look_up("127.0.0.1", 7);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->front().port(), 7);
}

}  // namespace
}  // namespace leat::actor
