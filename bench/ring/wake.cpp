// How soon does somebody run who slept until there was a message, and what does sleeping cost?
#include "../support/pin.hpp"
#include "../support/sample.hpp"
#include "../support/suite.hpp"

#include <leat/base/atomic.hpp>
#include <leat/base/os/cpu_time.hpp>
#include <leat/base/os/futex.hpp>
#include <leat/core/segment/segment.hpp>
#include <leat/queue/ring/in_segment.hpp>
#include <leat/queue/ring/ready.hpp>

#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <thread>
#include <utility>

namespace leat::bench {
namespace {

namespace q = leat::queue;

/// When it was sent, by the clock that all processes of a machine share.
struct Note {
  std::uint64_t number = 0;
  std::int64_t sent_ns = 0;
};

constexpr Nanos kPatience = std::chrono::seconds(60);
constexpr q::Waiting kAtOnce{.looks = 0, .yields = 0, .sleeps = true, .sleep_at_most = kPatience};

core::SegmentName name_of(const char* what) {
  return {.name = std::string("bench-wake-") + what + "-" + std::to_string(::getpid())};
}

/// The segments for either direction; gone at the end.
class Names {
 public:
  Names() : there(name_of("there")), back(name_of("back")) {}
  ~Names() {
    static_cast<void>(core::destroy_segment(there, core::Force::yes));
    static_cast<void>(core::destroy_segment(back, core::Force::yes));
  }
  Names(const Names&) = delete;
  Names& operator=(const Names&) = delete;

  const core::SegmentName there;
  const core::SegmentName back;
};

class ByRing {
 public:
  explicit ByRing(const core::SegmentName& name)
      : ring_(q::create_or_join_ring<Note>(name, {.slots = 4, .wakeable = true}).value()) {}
  void hear() { consumer_.emplace(ring_.consumer().value()); }
  void speak() { producer_.emplace(ring_.single_producer().value()); }
  bool send(const Note& note) { return producer_->try_push(note) == q::Push::ok; }
  bool await(Note& note) { return consumer_->pop(note, kPatience, kAtOnce) == q::Pull::ok; }

 private:
  q::Ring<Note> ring_;
  std::optional<q::SingleProducer<Note>> producer_;
  std::optional<q::BroadcastConsumer<Note>> consumer_;
};

class BySpsc {
 public:
  explicit BySpsc(const core::SegmentName& name)
      : ring_(q::create_or_join_spsc<Note>(name, {.slots = 4, .wakeable = true}).value()) {}
  void hear() { consumer_.emplace(ring_.consumer().value()); }
  void speak() { producer_.emplace(ring_.producer().value()); }
  bool send(const Note& note) { return producer_->try_push(note) == q::Push::ok; }
  bool await(Note& note) { return consumer_->pop(note, kPatience, kAtOnce) == q::Pull::ok; }

 private:
  q::SpscRing<Note> ring_;
  std::optional<q::SpscProducer<Note>> producer_;
  std::optional<q::SpscConsumer<Note>> consumer_;
};

/// A loop that waits for descriptors.
class ByDescriptor {
 public:
  explicit ByDescriptor(const core::SegmentName& name)
      : ring_(q::create_or_join_ring<Note>(name, {.slots = 4, .wakeable = true}).value()) {}
  void hear() {
    consumer_.emplace(ring_.consumer().value());
    ready_.emplace(q::RingReady::of(*consumer_).value());
  }
  void speak() { producer_.emplace(ring_.single_producer().value()); }
  bool send(const Note& note) { return producer_->try_push(note) == q::Push::ok; }
  bool await(Note& note) {
    while (consumer_->try_pop(note) != q::Pull::ok) {
      if (!ready_->arm(*consumer_)) continue;
      pollfd what{.fd = ready_->descriptor(), .events = POLLIN, .revents = 0};
      if (::poll(&what, 1, 60'000) != 1) return false;
    }
    return true;
  }

 private:
  q::Ring<Note> ring_;
  std::optional<q::SingleProducer<Note>> producer_;
  std::optional<q::BroadcastConsumer<Note>> consumer_;
  std::optional<q::RingReady> ready_;
};

/// The yardstick: a word in shared memory, and nothing around the two system calls.
class ByFutex {
  struct sent : Edge {};
  struct Words {
    Atomic<std::uint32_t> count{0};
    Atomic<std::uint64_t> number{0};
    Atomic<std::int64_t> sent_ns{0};
  };

 public:
  explicit ByFutex(const core::SegmentName& name)
      : segment_(core::Segment::create_or_join(name, {.kind = "futex-bench",
                                                      .stride = sizeof(Words),
                                                      .count = 1,
                                                      .payload_bytes = sizeof(Words)})
                     .value()),
        words_(reinterpret_cast<Words*>(segment_.payload().data())) {}
  void hear() {}
  void speak() {}
  bool send(const Note& note) {
    words_->number.store_relaxed(note.number);  // `count` orders it, as the next
    words_->sent_ns.store_relaxed(note.sent_ns);
    words_->count.store_release(static_cast<std::uint32_t>(note.number) + 1, sent{});
    os::futex_wake(words_->count, 1, os::FutexScope::shared);
    return true;
  }
  bool await(Note& note) {
    while (words_->count.load_acquire(sent{}) == seen_) {
      os::futex_wait(words_->count, seen_, kPatience, os::FutexScope::shared);
    }
    seen_ = words_->count.load_acquire(sent{});
    note = {words_->number.load_relaxed(), words_->sent_ns.load_relaxed()};
    return true;
  }

 private:
  core::Segment segment_;
  Words* words_;
  std::uint32_t seen_ = 0;
};

Note note(std::uint64_t number) { return {number, RealClock().now().count()}; }

/// Two processes, each on a core, tell each other of each message: the distribution is of the times
/// from before the other's push to after our pop.
template <class By>
Sample wakes(std::uint64_t iterations) {
  const Names names;
  By there(names.there);
  By back(names.back);
  back.hear();
  int ready[2] = {};
  require(::pipe(ready) == 0, "no pipe is left");
  const pid_t child = ::fork();
  if (child == 0) {
    pin_by_index(1);
    By hears(names.there);
    By answers(names.back);
    hears.hear();
    answers.speak();
    bool right = ::write(ready[1], "r", 1) == 1;
    Note got;
    for (std::uint64_t i = 0; i < iterations && right; ++i) {
      right = hears.await(got) && got.number == i && answers.send(note(i));
    }
    ::_exit(right ? 0 : 1);
  }
  char word = 0;
  require(::read(ready[0], &word, 1) == 1, "the other process did not begin");
  ::close(ready[0]);
  ::close(ready[1]);
  there.speak();
  Histogram latencies;
  bool right = true;
  Lap lap;
  // On a thread of its own: who is pinned has children, and yardsticks, on the same core.
  std::thread asks([&] {
    pin_by_index(0);
    const Stopwatch watch;
    for (std::uint64_t i = 0; i < iterations && right; ++i) {
      Note got;
      right = there.send(note(i)) && back.await(got) && got.number == i;
      latencies.record(static_cast<std::uint64_t>(RealClock().now().count() - got.sent_ns));
    }
    lap = watch.stop();
  });
  asks.join();
  int status = 1;
  ::waitpid(child, &status, 0);
  require(right && status == 0, "a message was lost, or nobody was woken for it");
  Sample sample(lap, iterations);
  sample.add_distribution(latencies);
  return sample;
}

/// Waits asleep for messages that never come, a tenth of a second an iteration.
Sample idle_parked(std::uint64_t iterations) {
  auto ring = q::Ring<Note>::make({.wakeable = true}).value();
  auto consumer = ring.consumer().value();
  const auto time = static_cast<std::int64_t>(iterations) * std::chrono::milliseconds(100);
  Note got;
  const Stopwatch watch;
  const q::Pull pulled = consumer.pop(got, time, {.looks = 0, .yields = 0, .sleeps = true});
  const Lap lap = watch.stop();
  require(pulled == q::Pull::empty, "a message came out of nowhere");
  Sample sample(lap, iterations);
  sample.add("cpu_share", "1",
             static_cast<double>(lap.cpu.count()) / static_cast<double>(lap.wall().count()));
  return sample;
}

template <class By>
void add(Suite& suite, const std::string& name) {
  suite.run({.params = {{"queue", name}, {"kind", "wake_process"}},
             .iterations = 20'000,
             .tiny_iterations = 50},
            wakes<By>);
}

}  // namespace
}  // namespace leat::bench

int main(int argc, char** argv) {
  using namespace leat::bench;
  Suite suite("ring_wake", argc, argv);
  add<ByFutex>(suite, "futex");
  add<ByRing>(suite, "leat::queue::Ring");
  add<BySpsc>(suite, "leat::queue::SpscRing");
  add<ByDescriptor>(suite, "leat::queue::Ring+descriptor");
  suite.run({.params = {{"queue", "leat::queue::Ring"}, {"kind", "idle_parked"}},
             .iterations = 20,
             .tiny_iterations = 1},
            idle_parked);
  return suite.finish();
}
