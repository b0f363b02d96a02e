#include <leat/comm/net/links.hpp>

#include <leat/base/os/socket.hpp>
#include <leat/comm/fabric.hpp>
#include <leat/comm/net/shared_transport.hpp>
#include <leat/comm/spawn.hpp>
#include <leat/comm/wire/comm_error.hpp>
#include <leat/core/worker.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace leat::comm {
namespace {

using Texts = std::vector<std::string>;

/// A transport that lets the test see and change what goes by, and end it.
class Bent final : public Transport {
 public:
  Bent(os::Socket socket, std::size_t* cut) : inner_(std::move(socket)), cut_(cut) {}

  Io read(std::span<std::byte> into) override { return inner_.read(into.first(1)); }
  Io write(std::span<const std::span<const std::byte>> parts) override {
    if (cut_ == nullptr) return inner_.write(parts);
    if (*cut_ == 0) {
      inner_.finish_writing();
      std::size_t all = 0;
      for (const auto part : parts) all += part.size();
      return {IoState::some, all};  // into the void
    }
    const auto first = parts.front().first(std::min(parts.front().size(), *cut_));
    const Io io = inner_.write(std::span(&first, 1));
    if (io.state == IoState::some) *cut_ -= io.bytes;
    return io;
  }
  const Error& error() const noexcept override { return inner_.error(); }
  void finish_writing() noexcept override { inner_.finish_writing(); }
  int descriptor() const noexcept override { return inner_.descriptor(); }

 private:
  SocketTransport inner_;
  std::size_t* cut_;
};

enum class Way { sockets, shared, bytewise };

/// Two fabrics, each of which takes the other for another process.
struct TwoFabrics {
  explicit TwoFabrics(Way way, std::size_t workers = 2, LinkOptions options = {},
                      std::size_t* cut = nullptr) {
    auto sockets = os::socket_pair();
    EXPECT_TRUE(sockets.has_value());
    std::unique_ptr<Transport> ends[2];
    if (way == Way::shared) {
      auto made = SharedTransport::make(std::move(sockets->first));
      EXPECT_TRUE(made.has_value());
      os::Descriptor memory;
      while (sockets->second.receive_descriptor(memory).state == IoState::none) {
      }
      auto joined = SharedTransport::join(std::move(sockets->second), std::move(memory));
      EXPECT_TRUE(joined.has_value());
      ends[0] = std::move(*made);
      ends[1] = std::move(*joined);
    } else if (way == Way::bytewise) {
      ends[0] = std::make_unique<Bent>(std::move(sockets->first), cut);
      ends[1] = std::make_unique<Bent>(std::move(sockets->second), nullptr);
    } else {
      ends[0] = std::make_unique<SocketTransport>(std::move(sockets->first));
      ends[1] = std::make_unique<SocketTransport>(std::move(sockets->second));
    }
    for (std::size_t process = 0; process < 2; ++process) {
      FabricOptions shape;
      shape.workers = workers;
      shape.processes = 2;
      shape.process = process;
      shape.checks_bytes = way != Way::shared;
      fabrics[process] = std::make_unique<Fabric>(shape);
      std::vector<Connection> connections;
      connections.push_back(
          {1 - process, "process " + std::to_string(1 - process), std::move(ends[process])});
      LinkOptions own = options;
      own.checks_bytes = shape.checks_bytes;
      fabrics[process]->connect(std::make_unique<Links>(*fabrics[process], std::move(connections),
                                                        std::move(own), clock));
    }
  }

  /// Runs `body(seat)` on all workers of both.
  std::vector<Ending> run(const std::function<void(Seat&)>& body) {
    std::vector<Ending> endings[2];
    std::vector<std::thread> threads;
    for (std::size_t process = 0; process < 2; ++process) {
      threads.emplace_back([&, process] {
        endings[process] =
            run_workers(*fabrics[process], [&](Seat& seat, std::string&) { body(seat); });
      });
    }
    for (auto& thread : threads) thread.join();
    endings[0].insert(endings[0].end(), endings[1].begin(), endings[1].end());
    return endings[0];
  }

  RealClock clock;
  std::unique_ptr<Fabric> fabrics[2];
};

// One look for news, as a worker's loop takes it.
void look(Seat& seat) {
  if (seat.fabric().stop().requested()) throw core::Stopped(*seat.fabric().stop().reason());
  seat.look();
}
void look_or_sleep(Seat& seat) {
  look(seat);
  seat.park(std::nullopt);
}

bool all_good(const std::vector<Ending>& endings) {
  for (const Ending& ending : endings) {
    if (ending.error) ADD_FAILURE() << message_of(ending.error);
  }
  return true;
}

// Each worker sends `count` numbered texts to each, and waits for those of all.
void exchange_texts(Seat& seat, std::size_t count, bool sleeps) {
  auto ends = seat.fabric().channel<Texts>(seat, 3, {1, "texts"}, {});
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t to = 0; to < seat.peers(); ++to) {
      Texts texts{std::to_string(seat.index()), std::to_string(i)};
      ends.sender.send(to, texts);
    }
  }
  std::vector<std::size_t> seen(seat.peers(), 0);
  for (std::size_t left = count * seat.peers(); left > 0;) {
    Texts texts;
    std::size_t from = 0;
    if (!ends.receiver.receive(texts, from)) {
      look(seat);
      if (sleeps && !ends.receiver.was_pending()) seat.park(std::nullopt);
      continue;
    }
    if (texts != Texts{std::to_string(from), std::to_string(seen[from]++)}) {
      throw std::runtime_error("texts came wrong or out of order");
    }
    --left;
  }
}

TEST(Links, BringMessagesOfAllWorkersToAllInOrderOverEveryTransport) {
  for (const Way way : {Way::sockets, Way::shared, Way::bytewise}) {
    for (const bool sleeps : {false, true}) {
      TwoFabrics pair(way);
      const std::size_t count = way == Way::bytewise ? 10 : 200;
      EXPECT_TRUE(all_good(pair.run([&](Seat& seat) { exchange_texts(seat, count, sleeps); })));
    }
  }
}

TEST(Links, BringMoreThanAnyBufferHolds) {
  for (const Way way : {Way::sockets, Way::shared}) {
    TwoFabrics pair(way, 1);
    EXPECT_TRUE(all_good(pair.run([&](Seat& seat) {
      auto ends = seat.fabric().channel<Texts>(seat, 3, {1, "texts"}, {});
      const Texts large{std::string(5'000'000, static_cast<char>('a' + seat.index()))};
      Texts texts = large;
      ends.sender.send(1 - seat.index(), texts);
      while (!ends.receiver.receive(texts)) {
        look(seat);
        if (!ends.receiver.was_pending()) seat.park(std::nullopt);
      }
      if (texts.front().size() != large.front().size() || texts == large) {
        throw std::runtime_error("it came wrong");
      }
    })));
  }
}

TEST(Links, BringProgressOfEachWorkerInOrder) {
  for (const Way way : {Way::sockets, Way::shared}) {
    TwoFabrics pair(way);
    constexpr std::uint64_t kEntries = 300;
    EXPECT_TRUE(all_good(pair.run([&](Seat& seat) {
      std::uint64_t sent = 0;
      std::uint64_t read_here = 0;
      std::vector<std::uint64_t> read(seat.peers(), 0);
      const auto is_done = [&] {
        std::uint64_t there = 0;
        for (const std::uint64_t one : read) there += one;
        return there == 2 * kEntries && read_here == kEntries;
      };
      while (sent < kEntries || !is_done()) {
        if (sent < kEntries) {
          seat.log().append<std::uint64_t>(7, std::span<const std::uint64_t>(&sent, 1));
          seat.announce_log();
          ++sent;
        }
        look(seat);
        seat.read_logs([&](const queue::EntryHeader& entry, std::size_t writer) {
          if (writer != seat.peers()) {
            if (entry.records<std::uint64_t>().front() != read_here++) {
              throw std::runtime_error("a peer of this process is out of order");
            }
            return;
          }
          const auto words = entry.records<WireWord>();
          // Writer, scope, type, count and bytes, the record.
          if (entry.tag != 7 || words.size() != 5 || words[4].word != read.at(words[0].word)++) {
            throw std::runtime_error("a peer of the other process is out of order");
          }
        });
        if (sent == kEntries && !is_done()) seat.park(std::nullopt);
      }
    })));
  }
}

TEST(Links, RefuseAnotherGraphByBothSidesWords) {
  TwoFabrics pair(Way::sockets, 1);
  const auto endings = pair.run([&](Seat& seat) {
    const std::string text = "graph " + std::to_string(seat.index());
    seat.fabric().agree(seat, 5, {seat.index(), text});
    for (;;) look_or_sleep(seat);
  });
  for (const Ending& ending : endings) {
    ASSERT_TRUE(ending.error);
    const std::string what = message_of(ending.error);
    EXPECT_NE(what.find("graph 0"), std::string::npos) << what;
    EXPECT_NE(what.find("graph 1"), std::string::npos) << what;
  }
}

TEST(Links, AWorkersExceptionEndsTheOtherProcessWithItsWords) {
  for (const Way way : {Way::sockets, Way::shared}) {
    TwoFabrics pair(way);
    const auto endings = pair.run([&](Seat& seat) {
      if (seat.index() == 3) throw std::runtime_error("out of luck");
      for (;;) look_or_sleep(seat);
    });
    EXPECT_EQ(message_of(endings[3].error), "out of luck");
    EXPECT_TRUE(endings[2].stopped);
    for (const std::size_t there : {0U, 1U}) {
      const std::string what = message_of(endings[there].error);
      EXPECT_FALSE(endings[there].stopped);
      EXPECT_NE(what.find("process 1, worker 3: out of luck"), std::string::npos) << what;
    }
  }
}

TEST(Links, AConnectionThatIsCutAnywhereIsALostPeerAndNeverAnEnd) {
  for (std::size_t at = 0; at < 700; at += 23) {
    std::size_t cut = at;
    std::atomic<int> told{0};
    LinkOptions options;
    options.on_peer_lost = [&](std::size_t, const std::string&) { ++told; };
    TwoFabrics pair(Way::bytewise, 1, options, &cut);
    const auto endings = pair.run([&](Seat& seat) {
      auto ends = seat.fabric().channel<Texts>(seat, 3, {1, "texts"}, {});
      for (int sent = 0;; ++sent) {
        Texts texts{"something to be cut"};
        if (sent < 20) ends.sender.send(1 - seat.index(), texts);
        while (ends.receiver.receive(texts)) {
        }
        look(seat);
      }
    });
    const std::string what = message_of(endings[1].error);
    EXPECT_TRUE(what.starts_with("leat communication error: lost process 0: ")) << at << what;
    EXPECT_GE(told.load(), 1);
  }
}

TEST(Links, APeerThatIsSilentForTooLongIsLost) {
  auto sockets = os::socket_pair();
  ASSERT_TRUE(sockets.has_value());
  RealClock clock;
  Fabric fabric(FabricOptions{.workers = 2, .processes = 2, .process = 0});
  std::vector<Connection> connections;
  connections.push_back(
      {1, "process 1", std::make_unique<SocketTransport>(std::move(sockets->first))});
  LinkOptions options;
  options.peer_timeout = std::chrono::milliseconds(30);
  fabric.connect(std::make_unique<Links>(fabric, std::move(connections), options, clock));
  const auto endings = run_workers(fabric, [](Seat& seat, std::string&) {
    for (;;) look_or_sleep(seat);
  });
  for (const Ending& ending : endings) {
    EXPECT_NE(message_of(ending.error).find("lost process 1: it was silent for"), std::string::npos)
        << message_of(ending.error);
  }
}

TEST(Links, TellWhoListensOfLinksAndFrames) {
  std::mutex mutex;
  std::vector<core::NetworkEvent> events;
  LinkOptions options;
  options.log = [&](const core::NetworkEvent& event) {
    const std::lock_guard lock(mutex);
    events.push_back(event);
  };
  {
    TwoFabrics pair(Way::sockets, 1, options);
    EXPECT_TRUE(all_good(pair.run([&](Seat& seat) { exchange_texts(seat, 3, true); })));
  }
  const auto count = [&](core::NetworkEvent::Kind kind) {
    std::size_t found = 0;
    for (const auto& event : events) found += event.kind == kind ? 1 : 0;
    return found;
  };
  using Kind = core::NetworkEvent::Kind;
  EXPECT_EQ(count(Kind::thread_started), 2U);
  EXPECT_EQ(count(Kind::thread_ended), 2U);
  EXPECT_EQ(count(Kind::link_started), 2U);
  EXPECT_EQ(count(Kind::link_ended), 2U);
  EXPECT_EQ(count(Kind::link_lost), 0U);
  EXPECT_GE(count(Kind::frame_received), 6U);
  EXPECT_EQ(count(Kind::frame_received), count(Kind::frame_sent));
}

}  // namespace
}  // namespace leat::comm
