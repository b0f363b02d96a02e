// Two processes share a ring: one feeds quotes into it, the other reads them, and none is lost, because
// the feed waits when the reader is slow.
//
//   shared_ring feed [QUOTES]       in one terminal
//   shared_ring read [QUOTES]       in another; either may come first
//
// QUOTES is 100000 unless told otherwise, the same for both. They meet in shared memory under the name
// "quotes". Prints, when all is done:
//   fed 100000 quotes
//   read 100000 quotes, the last one LEAT at 100099

#include <leat/base/fields.hpp>
#include <leat/base/inline_string.hpp>
#include <leat/core/segment/segment.hpp>
#include <leat/queue/ring/in_segment.hpp>

#include "arguments.hpp"

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <thread>

namespace q = leat::queue;

namespace {

// [quote]
// What lies in the ring: bytes that mean the same in both processes.
struct Quote {
  std::uint64_t number = 0;
  std::uint64_t price = 0;
  leat::InlineString<12> symbol;
};
LEAT_FIELDS(Quote, number, price, symbol);
// [/quote]

const leat::core::SegmentName kName{.name = "quotes"};
constexpr auto kPatience = std::chrono::seconds(60);

int fail(const std::string& why) {
  std::fprintf(stderr, "shared_ring: %s\n", why.c_str());
  return 1;
}

q::Ring<Quote> open_ring() {
  return q::create_or_join_ring<Quote>(kName, {.slots = 1024, .reliable = true, .wakeable = true})
      .value();
}

bool has_reader(const q::Ring<Quote>& ring) {
  for (const auto& seat : ring.report().seats) {
    if (seat.state.role == q::SeatRole::broadcast) return true;
  }
  return false;
}

int feed(std::uint64_t quotes) {
  {
    auto ring = open_ring();
    auto producer = ring.single_producer("feed");
    if (!producer) return fail(producer.error().message);
    while (!has_reader(ring)) std::this_thread::yield();
    for (std::uint64_t i = 0; i < quotes; ++i) {
      const Quote quote{.number = i, .price = 100 + i, .symbol = leat::InlineString<12>("LEAT")};
      if (producer->push(quote, kPatience, q::OnSlow::give_up, q::Waiting::yielding()) !=
          q::Push::ok) {
        return fail("the reader has stopped reading");
      }
    }
    while (has_reader(ring)) {  // it leaves when it has read all; or it died, and is cleared away
      ring.repair();
      std::this_thread::yield();
    }
    std::printf("fed %llu quotes\n", static_cast<unsigned long long>(quotes));
  }
  // The memory outlives those who share it, until somebody takes its name away.
  const auto gone = leat::core::destroy_segment(kName, leat::core::Force::yes);
  return gone ? 0 : fail(gone.error().message);
}

int read(std::uint64_t quotes) {
  auto ring = open_ring();
  auto consumer = ring.consumer({.label = "read", .reliable = true});
  if (!consumer) return fail(consumer.error().message);
  Quote quote;
  for (std::uint64_t i = 0; i < quotes; ++i) {
    if (consumer->pop(quote, kPatience, q::Waiting::sleeping()) != q::Pull::ok) {
      return fail("the feed has stopped, or a quote is lost");
    }
    if (quote.number != i) return fail("a quote is missing");
  }
  std::printf("read %llu quotes, the last one %s at %llu\n",
              static_cast<unsigned long long>(quotes), quote.symbol.str().c_str(),
              static_cast<unsigned long long>(quote.price));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view role = word(argc, argv, 1);
  const std::uint64_t quotes = number(argc, argv, 2, "QUOTES", 100'000);
  if (role == "feed") return feed(quotes);
  if (role == "read") return read(quotes);
  return fail("expected \"feed\" or \"read\" first");
}
