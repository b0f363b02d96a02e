// What do tiles cost and give that run: pauses of who polls, parking, recording, and how long does a message
// take through three of them at a given rate?
//
// `drain`: two send as fast as they go, one polls. `sparse`: a message every 10 us, from the moment it was
// due. `pipeline`: the same through three tiles. `parked`: twenty that sleep. `wake`: two that wake each
// other, beside two threads and a futex. `append`: a log alone. `record`: a tile that records a message
// each microsecond; `--case tile/kind=record --iterations 60000000` is a minute of it, into
// LEAT_BENCH_FOLDER if that is set.
#include "../support/pin.hpp"
#include "../support/sample.hpp"
#include "../support/suite.hpp"
#include "messages.hpp"

#include <leat/base/os/cpu_time.hpp>
#include <leat/base/os/futex.hpp>
#include <leat/tile/record/log_reader.hpp>
#include <leat/tile/record/log_writer.hpp>
#include <leat/tile/record/recorder.hpp>
#include <leat/tile/spine/spine_scope.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

namespace leat::bench {
namespace {

using tile::Adapter;

template <std::size_t kBytes>
struct Lines {
  tile::Channel<"a", Message<kBytes>, {.size = 1024, .reliable = true}> a;
  tile::Channel<"b", Message<kBytes>, {.size = 1024, .reliable = true}> b;
};
template <std::size_t kBytes>
using On = Adapter<Lines<kBytes>>;

/// When the next message is due. A message that is late keeps its moment: whoever waits for it counts from
/// there.
class Schedule {
 public:
  explicit Schedule(Nanos every) : every_(every) {}
  [[nodiscard]] bool is_due(Nanos now) noexcept {
    if (next_ == Nanos{0}) next_ = now + every_;
    return now >= next_;
  }
  [[nodiscard]] Nanos moment() const noexcept { return next_; }
  void sent() noexcept { next_ += every_; }

 private:
  Nanos every_;
  Nanos next_{0};
};

/// Sends as fast as it goes, or on schedule.
template <std::size_t kBytes, tile::ChannelName kTo>
struct Source {
  std::uint64_t messages;
  std::optional<Schedule> schedule{};
  std::uint64_t sent = 0;

  void loop(On<kBytes>& tile) {
    if (sent == messages || (schedule && !schedule->is_due(tile.now()))) return;
    const Nanos origin = schedule ? schedule->moment() : tile.pass_began();
    const Message<kBytes> message{.sequence = sent};
    if (tile.template produce_from<kTo>(origin, message) == tile::Sent::full) return;
    if (schedule) schedule->sent();
    ++sent;
  }
};

template <std::size_t kBytes>
struct Sink {
  std::uint64_t messages;
  Lap* lap;
  Histogram* since_origin;  // null: nobody asks
  std::uint64_t got = 0;
  std::optional<Stopwatch> watch{};

  bool try_init(On<kBytes>& tile) {
    tile.template subscribe<"b">({.reliable = true});
    return true;
  }
  void loop(On<kBytes>& tile) {
    tile.template consume<"b">([&](const tile::Envelope<Message<kBytes>>& message) {
      if (got == 0) watch.emplace();
      if (since_origin != nullptr) {
        const Nanos took = tile.now() - message.stamp.origin();
        since_origin->record(static_cast<std::uint64_t>(std::max(Nanos{0}, took).count()));
      }
      if (++got == messages) {
        *lap = watch->stop();
        tile.request_stop("all came");
      }
    });
  }
};

template <std::size_t kBytes>
struct Middle {
  std::optional<tile::Envelope<Message<kBytes>>> pending{};

  bool try_init(On<kBytes>& tile) {
    tile.template subscribe<"a">({.reliable = true});
    return true;
  }
  void loop(On<kBytes>& tile) {
    for (int i = 0; i < 256; ++i) {
      if (pending && tile.template produce_from<"b">(pending->stamp.origin(), pending->message) ==
                         tile::Sent::full) {
        return;
      }
      pending.reset();
      const bool came = tile.template consume_one<"a">(
          [&](const tile::Envelope<Message<kBytes>>& message) { pending = message; });
      if (!came) return;
    }
  }
  [[nodiscard]] std::size_t backlog() const { return pending ? 1 : 0; }
};

template <std::size_t kBytes>
tile::SpineScope<Lines<kBytes>> scope_of_lines() {
  return tile::SpineScope<Lines<kBytes>>(
      tile::Spine<Lines<kBytes>>::open({.shared = false}).value(), patient());
}

template <class S>
void run_to_the_end(tile::SpineScope<S>& scope) {
  const tile::ScopeOutcome outcome = scope.run();
  require(outcome.failures.empty() && outcome.drained, "a tile failed, or was not done");
}

// -- Pauses ---------------------------------------------------------------------------------------

/// Two sources, as fast as they go; the sink has a core of its own, and does not leave it.
template <std::size_t kBytes>
Sample drain(std::uint64_t iterations, unsigned pauses) {
  auto scope = scope_of_lines<kBytes>();
  Lap lap;
  const std::uint64_t each = std::max<std::uint64_t>(1, iterations / 2);
  scope.add(Source<kBytes, "b">{each}, on_core("p0", 1, 3), false);
  scope.add(Source<kBytes, "b">{each}, on_core("p1", 2 % os::cpus_allowed().size() == 0 ? 1 : 2, 3),
            false);
  scope.add(Sink<kBytes>{2 * each, &lap, nullptr}, on_core("sink", 0, 2, pauses), false);
  run_to_the_end(scope);
  return Sample(lap, 2 * each);
}

Sample sparse(std::uint64_t iterations, unsigned pauses) {
  auto scope = scope_of_lines<64>();
  Lap lap;
  Histogram latency;
  scope.add(Source<64, "b">{iterations, Schedule(Nanos{10'000})}, on_core("source", 1, 2), false);
  scope.add(Sink<64>{iterations, &lap, &latency}, on_core("sink", 0, 2, pauses), false);
  run_to_the_end(scope);
  Sample sample(lap, iterations);
  sample.add_distribution(latency);
  return sample;
}

// -- Through three tiles --------------------------------------------------------------------------

Sample pipeline(std::uint64_t iterations, Nanos every) {
  auto scope = scope_of_lines<64>();
  Lap lap;
  Histogram latency;
  scope.add(Source<64, "a">{iterations, Schedule(every)}, on_core("source", 0, 3));
  scope.add(Middle<64>{}, on_core("middle", 1, 3));
  scope.add(Sink<64>{iterations, &lap, &latency}, on_core("sink", 2, 3));
  run_to_the_end(scope);
  Sample sample(lap, iterations);
  sample.add_distribution(latency);
  return sample;
}

// -- Sleep ----------------------------------------------------------------------------------------

struct Bells {
  tile::Channel<"there", Message<16>,
                {.size = 64, .flavour = tile::Flavour::one, .reliable = true, .wakeable = true}>
      there;
  tile::Channel<"back", Message<16>,
                {.size = 64, .flavour = tile::Flavour::one, .reliable = true, .wakeable = true}>
      back;
};

template <tile::ChannelName kTo>
void ring(Adapter<Bells>& tile, const Message<16>& message) {
  require(tile.produce<kTo>(message) == tile::Sent::yes, "there was no room");
}

struct Sleeper {
  void loop(Adapter<Bells>& tile) {
    tile.consume<"there">([](const Message<16>&) {});
  }
};

/// Twenty tiles that sleep: CPU time of the process, in parts of one CPU.
Sample parked(std::uint64_t milliseconds) {
  const auto spine = tile::Spine<Bells>::open({.shared = false}).value();
  tile::SpineScope<Bells> scope(spine, patient());
  for (int i = 0; i < 20; ++i) {
    tile::TileOptions options;
    options.name = "sleeper" + std::to_string(i);
    options.idle = {.parks = true};
    scope.add(Sleeper{}, options);
  }
  scope.start();
  const auto all_are_parked = [&] {
    const auto tiles = spine.board()->tiles();
    return std::all_of(tiles.begin(), tiles.end(), [](const tile::TileFacts& one) {
      return one.state == tile::TileState::parked;
    });
  };
  while (!all_are_parked()) std::this_thread::yield();
  const RealClock clock;
  const Nanos began = clock.now();
  const Nanos cpu = os::process_cpu();
  std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
  const double part = static_cast<double>((os::process_cpu() - cpu).count()) /
                      static_cast<double>((clock.now() - began).count());
  scope.request_stop("bench", "measured");
  require(scope.wait().failures.empty(), "a tile failed");
  Sample sample;
  sample.add("cpu_share", "CPUs", part);
  return sample;
}

struct Server {
  std::uint64_t rounds;
  Lap* lap;
  std::uint64_t got = 0;
  std::optional<Stopwatch> watch{};

  bool try_init(Adapter<Bells>& tile) {
    tile.subscribe<"back">({.reliable = true});
    return true;
  }
  void loop(Adapter<Bells>& tile) {
    if (!watch) {
      watch.emplace();
      ring<"there">(tile, {});
    }
    tile.consume<"back">([&](const Message<16>&) {
      if (++got == rounds) {
        *lap = watch->stop();
        tile.request_stop("done");
      } else {
        ring<"there">(tile, {});
      }
    });
  }
};

struct Echo {
  bool try_init(Adapter<Bells>& tile) {
    tile.subscribe<"there">({.reliable = true});
    return true;
  }
  void loop(Adapter<Bells>& tile) {
    tile.consume<"there">([&](const Message<16>& message) { ring<"back">(tile, message); });
  }
};

/// Two tiles that wake each other, each asleep while it waits. An iteration is one wake.
Sample wake_tiles(std::uint64_t wakes) {
  tile::SpineScope<Bells> scope(tile::Spine<Bells>::open({.shared = false}).value(), patient());
  Lap lap;
  const std::uint64_t rounds = (wakes + 1) / 2;
  auto server = on_core("server", 0, 2);
  auto echo = on_core("echo", 1, 2);
  server.idle = echo.idle = {.parks = true, .looks_before_park = 0};
  scope.add(Server{rounds, &lap}, server, false);
  scope.add(Echo{}, echo, false);
  run_to_the_end(scope);
  return Sample(lap, 2 * rounds);
}

/// The yardstick: two words, and nothing around the two system calls.
class Futex {
  struct rung : Edge {};  // who counts up -> who sleeps

 public:
  void ring() {
    count_.fetch_add_release(1, rung{});
    os::futex_wake(count_, 1, os::FutexScope::shared);
  }
  void await() {
    while (count_.load_acquire(rung{}) == seen_) {
      os::futex_wait(count_, seen_, std::nullopt, os::FutexScope::shared);
    }
    ++seen_;
  }

 private:
  Atomic<std::uint32_t> count_{0};
  std::uint32_t seen_ = 0;
};

Sample wake_futex(std::uint64_t wakes) {
  Futex there;
  Futex back;
  const std::uint64_t rounds = (wakes + 1) / 2;
  std::thread echo([&] {
    pin_by_index(1);
    for (std::uint64_t i = 0; i < rounds; ++i) {
      there.await();
      back.ring();
    }
  });
  Lap lap;
  std::thread server([&] {
    pin_by_index(0);
    const Stopwatch watch;
    for (std::uint64_t i = 0; i < rounds; ++i) {
      there.ring();
      back.await();
    }
    lap = watch.stop();
  });
  server.join();
  echo.join();
  return Sample(lap, 2 * rounds);
}

// -- Recording ------------------------------------------------------------------------------------

/// A folder of its own, gone at the end.
class Folder {
 public:
  Folder() {
    const char* const asked = std::getenv("LEAT_BENCH_FOLDER");
    const std::filesystem::path where =
        asked != nullptr ? std::filesystem::path(asked) : std::filesystem::temp_directory_path();
    std::string pattern = where / "leat-bench-XXXXXX";
    require(::mkdtemp(pattern.data()) != nullptr, "no folder to record into");
    path_ = pattern;
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }

 private:
  std::filesystem::path path_;
};

constexpr std::uint64_t kKeptBytes = std::uint64_t{1} << 30;

/// Records of 64 bytes, as fast as they go into a log.
Sample append(std::uint64_t iterations) {
  const Folder folder;
  tile::LogOptions options;
  options.folder = folder.path();
  options.sync = tile::SyncPolicy::none;
  options.keep_bytes = kKeptBytes;
  auto writer = tile::LogWriter::open(options).value();
  const Message<64> message;
  const auto bytes = std::as_bytes(std::span(&message, 1));
  const Stopwatch watch;
  for (std::uint64_t i = 0; i < iterations; ++i) {
    require(writer.append(static_cast<std::int64_t>(i), 1, bytes).has_value(), "not recorded");
  }
  require(writer.flush().has_value(), "not recorded");
  return Sample(watch.stop(), iterations);
}

struct Recorded {
  tile::Channel<"quotes", Message<64>, {.size = 65'536, .persist = true}> quotes;
};

/// Sends all that is due, whatever becomes of it.
struct Paced {
  std::uint64_t messages;
  Schedule schedule;
  std::uint64_t sent = 0;

  void loop(Adapter<Recorded>& tile) {
    const Nanos now = tile.now();
    for (; sent < messages && schedule.is_due(now); ++sent) {
      tile.produce<"quotes">({.sequence = sent});
      schedule.sent();
    }
    if (sent == messages) tile.request_stop("all is sent");
  }
};

/// A recorder that takes the time of its own thread.
struct Timed {
  tile::Recorder<Recorded, "quotes"> recorder;
  Nanos* cpu;
  Nanos began{0};

  bool try_init(Adapter<Recorded>& tile) {
    began = os::thread_cpu();
    return recorder.try_init(tile);
  }
  void loop(Adapter<Recorded>& tile) { recorder.loop(tile); }
  void teardown(Adapter<Recorded>& tile) {
    recorder.teardown(tile);
    *cpu = os::thread_cpu() - began;
  }
};

Sample record(std::uint64_t iterations) {
  const Folder folder;
  tile::SpineScope<Recorded> scope(tile::Spine<Recorded>::open({.shared = false}).value(),
                                   patient());
  tile::RecorderOptions options;
  options.log.folder = folder.path();
  options.log.keep_bytes = kKeptBytes;
  Nanos cpu{0};
  auto recorder = on_core("recorder", 0, 2);
  recorder.idle = {.yields = true};
  scope.add(Timed{tile::Recorder<Recorded, "quotes">(options), &cpu}, recorder, false);
  scope.add(Paced{iterations, Schedule(Nanos{1000})}, on_core("source", 1, 2), false);
  const Stopwatch watch;
  run_to_the_end(scope);
  Lap lap = watch.stop();
  lap.cpu = cpu;

  // What is kept ends with the last message, and has no hole.
  std::uint64_t missing = 0;
  std::uint64_t whole = 0;
  std::uint64_t last = 0;
  std::uint64_t bytes = 0;
  auto reader = tile::LogReader::open(folder.path()).value();
  while (const auto one = reader.next().value()) {
    missing += one->missing;
    if (one->is_gap()) continue;
    ++whole;
    bytes += one->payload.size();
    last = one->sequence;
  }
  require(missing > 0 || last + 1 == iterations, "the record does not end with the last message");
  Sample sample(lap, iterations);
  sample.add("missing", "messages", static_cast<double>(missing));
  sample.add("payload_bytes_per_second", "B/s",
             static_cast<double>(bytes) / static_cast<double>(whole) *
                 static_cast<double>(iterations) * 1e9 / static_cast<double>(lap.wall().count()));
  return sample;
}

void add_pauses(Suite& suite) {
  for (const unsigned pauses : {0U, 1U, 16U, 32U}) {
    const auto params = [&](const char* kind, std::int64_t bytes) {
      return Params{
          {"kind", kind}, {"payload_bytes", bytes}, {"pauses", static_cast<std::int64_t>(pauses)}};
    };
    suite.run({.params = params("drain", 64), .iterations = 1'000'000, .tiny_iterations = 200},
              [=](std::uint64_t n) { return drain<64>(n, pauses); });
    suite.run({.params = params("drain", 256), .iterations = 1'000'000, .tiny_iterations = 200},
              [=](std::uint64_t n) { return drain<256>(n, pauses); });
    suite.run({.params = params("sparse", 64), .iterations = 50'000, .tiny_iterations = 50},
              [=](std::uint64_t n) { return sparse(n, pauses); });
  }
}

}  // namespace
}  // namespace leat::bench

int main(int argc, char** argv) {
  using namespace leat::bench;
  Suite suite("tile", argc, argv);
  add_pauses(suite);
  for (const std::int64_t rate : {10'000, 100'000, 500'000}) {
    suite.run({.params = {{"kind", "pipeline"}, {"per_second", rate}},
               .iterations = static_cast<std::uint64_t>(rate),
               .tiny_iterations = 50},
              [=](std::uint64_t n) { return pipeline(n, leat::Nanos{1'000'000'000 / rate}); });
  }
  suite.run({.params = {{"kind", "parked"}}, .iterations = 2000, .tiny_iterations = 20}, parked);
  suite.run({.params = {{"kind", "wake"}, {"what", "futex"}},
             .iterations = 100'000,
             .tiny_iterations = 50},
            wake_futex);
  suite.run({.params = {{"kind", "wake"}, {"what", "tiles"}},
             .iterations = 100'000,
             .tiny_iterations = 50},
            wake_tiles);
  suite.run({.params = {{"kind", "append"}}, .iterations = 2'000'000, .tiny_iterations = 1000},
            append);
  suite.run({.params = {{"kind", "record"}}, .iterations = 2'000'000, .tiny_iterations = 1000},
            record);
  return suite.finish();
}
