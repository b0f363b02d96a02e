// What does a hop from one tile to the next cost beside the bare ring: envelope, dispatch, counts; and
// the timers?
//
// `one_thread`: one thread sends and takes, so that nothing but the instructions is measured.
// `there_and_back`: two that poll send one message to and fro: a hop is half of a round.
// `stream`: one sends, one takes, as fast as it goes.
#include "../support/pin.hpp"
#include "../support/sample.hpp"
#include "../support/suite.hpp"
#include "messages.hpp"

#include <leat/queue/ring/ring.hpp>
#include <leat/tile/spine/spine_scope.hpp>

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <utility>

namespace leat::bench {
namespace {

using tile::Adapter;

constexpr std::uint64_t kSlots = 1024;

template <std::size_t kBytes>
struct Line {
  tile::Channel<"there", Message<kBytes>,
                {.size = kSlots, .flavour = tile::Flavour::one, .reliable = true}>
      there;
  tile::Channel<"back", Message<kBytes>,
                {.size = kSlots, .flavour = tile::Flavour::one, .reliable = true}>
      back;
};

template <std::size_t kBytes>
using Hop = Adapter<Line<kBytes>>;

/// Sends what has room for certain.
template <tile::ChannelName kTo, std::size_t kBytes>
void send(Hop<kBytes>& tile, const Message<kBytes>& message) {
  require(tile.template produce<kTo>(message) == tile::Sent::yes, "there was no room");
}

/// Two bare rings, as the channels are.
template <std::size_t kBytes>
struct BareLine {
  using Ring = queue::Ring<Message<kBytes>>;
  Ring there = Ring::make({.slots = kSlots, .reliable = true}).value();
  Ring back = Ring::make({.slots = kSlots, .reliable = true}).value();
};

/// Calls both, each in a thread on a core of its own, and takes the lap of the first.
template <class First, class Second>
Lap side_by_side(First&& first, Second&& second) {
  Lap lap;
  std::thread one([&] {
    pin_by_index(0);
    const Stopwatch watch;
    first();
    lap = watch.stop();
  });
  std::thread other([&] {
    pin_by_index(1);
    second();
  });
  one.join();
  other.join();
  return lap;
}

// -- One thread -----------------------------------------------------------------------------------

template <std::size_t kBytes>
struct Alone {
  std::uint64_t iterations;
  std::uint64_t batch;
  Lap* lap;
  std::uint64_t* wrong;
  bool is_done = false;

  bool try_init(Hop<kBytes>& tile) {
    tile.template subscribe<"there">({.reliable = true});
    return true;
  }
  void loop(Hop<kBytes>& tile) {
    if (std::exchange(is_done, true)) return;
    Message<kBytes> message;
    std::uint64_t expected = 0;
    const Stopwatch watch;
    for (std::uint64_t i = 0; i < iterations; i += batch) {
      for (std::uint64_t k = 0; k < batch; ++k) {
        message.sequence = i + k;
        *wrong += tile.template produce<"there">(message) != tile::Sent::yes;
      }
      tile.template consume_n<"there">(
          batch, [&](const Message<kBytes>& got) { *wrong += got.sequence != expected++; });
    }
    *lap = watch.stop();
    tile.request_stop("done");
  }
};

template <std::size_t kBytes>
Sample one_thread(std::uint64_t iterations, std::uint64_t batch, bool timers) {
  tile::SpineScope<Line<kBytes>> scope(tile::Spine<Line<kBytes>>::open({.shared = false}).value(),
                                       patient());
  Lap lap;
  std::uint64_t wrong = 0;
  tile::TileOptions here;
  here.name = "hop";
  here.on_caller = true;
  scope.add(Alone<kBytes>{iterations, batch, &lap, &wrong}, here, timers);
  require(scope.run().failures.empty() && wrong == 0, "a message was lost or changed");
  return Sample(lap, iterations);
}

template <std::size_t kBytes>
Sample one_thread_bare(std::uint64_t iterations, std::uint64_t batch) {
  BareLine<kBytes> line;
  auto producer = line.there.single_producer().value();
  auto consumer = line.there.consumer({.reliable = true}).value();
  Message<kBytes> message;
  std::uint64_t expected = 0;
  std::uint64_t wrong = 0;
  const Stopwatch watch;
  for (std::uint64_t i = 0; i < iterations; i += batch) {
    for (std::uint64_t k = 0; k < batch; ++k) {
      message.sequence = i + k;
      wrong += producer.try_push(message) != queue::Push::ok;
    }
    consumer.consume(batch,
                     [&](const Message<kBytes>& got) { wrong += got.sequence != expected++; });
  }
  const Lap lap = watch.stop();
  require(wrong == 0, "a message was lost or changed");
  return Sample(lap, iterations);
}

// -- There and back -------------------------------------------------------------------------------

template <std::size_t kBytes>
struct Server {
  std::uint64_t rounds;
  Lap* lap;
  std::uint64_t next = 0;
  std::optional<Stopwatch> watch{};

  bool try_init(Hop<kBytes>& tile) {
    tile.template subscribe<"back">({.reliable = true});
    return true;
  }
  void loop(Hop<kBytes>& tile) {
    if (!watch) {
      watch.emplace();
      send<"there", kBytes>(tile, Message<kBytes>{.sequence = next});
    }
    tile.template consume_one<"back">([&](const Message<kBytes>& got) {
      require(got.sequence == next, "a message was lost or changed");
      if (++next == rounds) {
        *lap = watch->stop();
        tile.request_stop("done");
      } else {
        send<"there", kBytes>(tile, Message<kBytes>{.sequence = next});
      }
    });
  }
};

template <std::size_t kBytes>
struct Echo {
  bool try_init(Hop<kBytes>& tile) {
    tile.template subscribe<"there">({.reliable = true});
    return true;
  }
  void loop(Hop<kBytes>& tile) {
    tile.template consume_one<"there">(
        [&](const Message<kBytes>& got) { send<"back", kBytes>(tile, got); });
  }
};

template <std::size_t kBytes>
Sample there_and_back(std::uint64_t hops, bool timers) {
  tile::SpineScope<Line<kBytes>> scope(tile::Spine<Line<kBytes>>::open({.shared = false}).value(),
                                       patient());
  Lap lap;
  const std::uint64_t rounds = (hops + 1) / 2;
  scope.add(Server<kBytes>{rounds, &lap}, on_core("server", 0, 2), timers);
  scope.add(Echo<kBytes>{}, on_core("echo", 1, 2), timers);
  require(scope.run().failures.empty(), "a tile failed");
  return Sample(lap, rounds * 2);
}

template <std::size_t kBytes>
Sample there_and_back_bare(std::uint64_t hops) {
  BareLine<kBytes> line;
  const std::uint64_t rounds = (hops + 1) / 2;
  const bool yields = os::cpus_allowed().size() < 2;
  auto there = line.there.single_producer().value();
  auto back = line.back.single_producer().value();
  auto heard_there = line.there.consumer({.reliable = true}).value();
  auto heard_back = line.back.consumer({.reliable = true}).value();
  const auto await = [&](auto& consumer, auto&& act) {
    while (consumer.consume(1, act).messages == 0) {
      if (yields) std::this_thread::yield();
    }
  };
  std::uint64_t wrong = 0;
  const Lap lap = side_by_side(
      [&] {
        for (std::uint64_t i = 0; i < rounds; ++i) {
          wrong += there.try_push(Message<kBytes>{.sequence = i}) != queue::Push::ok;
          await(heard_back, [&](const Message<kBytes>& got) { wrong += got.sequence != i; });
        }
      },
      [&] {
        for (std::uint64_t i = 0; i < rounds; ++i) {
          await(heard_there,
                [&](const Message<kBytes>& got) { static_cast<void>(back.try_push(got)); });
        }
      });
  require(wrong == 0, "a message was lost or changed");
  return Sample(lap, rounds * 2);
}

// -- A stream -------------------------------------------------------------------------------------

template <std::size_t kBytes>
struct Source {
  std::uint64_t messages;
  std::uint64_t sent = 0;

  void loop(Hop<kBytes>& tile) {
    for (int i = 0; i < 64 && sent < messages; ++i) {
      if (tile.template produce<"there">(Message<kBytes>{.sequence = sent}) == tile::Sent::full) {
        return;
      }
      ++sent;
    }
  }
};

template <std::size_t kBytes>
struct Sink {
  std::uint64_t messages;
  Lap* lap;
  std::uint64_t got = 0;
  std::optional<Stopwatch> watch{};

  bool try_init(Hop<kBytes>& tile) {
    tile.template subscribe<"there">({.reliable = true});
    return true;
  }
  void loop(Hop<kBytes>& tile) {
    if (!watch) watch.emplace();
    tile.template consume_n<"there">(64, [&](const Message<kBytes>& message) {
      require(message.sequence == got++, "a message was lost or changed");
      if (got == messages) {
        *lap = watch->stop();
        tile.request_stop("all came");
      }
    });
  }
};

template <std::size_t kBytes>
Sample stream(std::uint64_t messages, bool timers) {
  tile::SpineScope<Line<kBytes>> scope(tile::Spine<Line<kBytes>>::open({.shared = false}).value(),
                                       patient());
  Lap lap;
  scope.add(Source<kBytes>{messages}, on_core("source", 1, 2), timers);
  scope.add(Sink<kBytes>{messages, &lap}, on_core("sink", 0, 2), timers);
  require(scope.run().failures.empty(), "a tile failed");
  return Sample(lap, messages);
}

template <std::size_t kBytes>
Sample stream_bare(std::uint64_t messages) {
  BareLine<kBytes> line;
  auto producer = line.there.single_producer().value();
  auto consumer = line.there.consumer({.reliable = true}).value();
  const bool yields = os::cpus_allowed().size() < 2;
  std::uint64_t wrong = 0;
  const Lap lap = side_by_side(
      [&] {
        std::uint64_t got = 0;
        while (got < messages) {
          const auto taken = consumer.consume(
              64, [&](const Message<kBytes>& message) { wrong += message.sequence != got++; });
          if (taken.messages == 0 && yields) std::this_thread::yield();
        }
      },
      [&] {
        for (std::uint64_t sent = 0; sent < messages;) {
          if (producer.try_push(Message<kBytes>{.sequence = sent}) == queue::Push::ok) {
            ++sent;
          } else if (yields) {
            std::this_thread::yield();
          }
        }
      });
  require(wrong == 0, "a message was lost or changed");
  return Sample(lap, messages);
}

// -- Cases ----------------------------------------------------------------------------------------

using Measure = std::function<Sample(std::uint64_t)>;

template <std::size_t kBytes>
void add(Suite& suite) {
  constexpr auto kPayload = static_cast<std::int64_t>(kBytes);
  const auto run = [&](const char* kind, const std::array<std::pair<const char*, Measure>, 3>& all,
                       std::optional<std::uint64_t> batch) {
    for (const auto& [what, measure] : all) {
      Params params{{"kind", kind}, {"what", what}, {"payload_bytes", kPayload}};
      if (batch) params.push_back({"batch", static_cast<std::int64_t>(*batch)});
      suite.run({.params = params,
                 .iterations = 1'000'000,
                 .tiny_iterations = 640,
                 .countable = batch.has_value()},
                measure);
    }
  };
  for (const std::uint64_t batch : {std::uint64_t{1}, std::uint64_t{64}}) {
    run("one_thread",
        {{{"ring", [=](std::uint64_t n) { return one_thread_bare<kBytes>(n, batch); }},
          {"hop", [=](std::uint64_t n) { return one_thread<kBytes>(n, batch, false); }},
          {"hop+timers", [=](std::uint64_t n) { return one_thread<kBytes>(n, batch, true); }}}},
        batch);
  }
  run("there_and_back",
      {{{"ring", [](std::uint64_t n) { return there_and_back_bare<kBytes>(n); }},
        {"hop", [](std::uint64_t n) { return there_and_back<kBytes>(n, false); }},
        {"hop+timers", [](std::uint64_t n) { return there_and_back<kBytes>(n, true); }}}},
      std::nullopt);
  run("stream",
      {{{"ring", [](std::uint64_t n) { return stream_bare<kBytes>(n); }},
        {"hop", [](std::uint64_t n) { return stream<kBytes>(n, false); }},
        {"hop+timers", [](std::uint64_t n) { return stream<kBytes>(n, true); }}}},
      std::nullopt);
}

}  // namespace
}  // namespace leat::bench

int main(int argc, char** argv) {
  using namespace leat::bench;
  Suite suite("tile_hop", argc, argv);
  add<64>(suite);
  add<256>(suite);
  return suite.finish();
}
