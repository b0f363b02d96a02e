// A board of last values in shared memory: any number of processes write the price of an instrument,
// any number look, at what is newest and at nothing else. Nobody waits for anybody.
//
//   last_value_board write PLACE SYMBOL [PRICES]     writes the prices 1 to PRICES (100000) at PLACE
//   last_value_board show                            prints what is there now
//   last_value_board watch PRICES                    looks until each place that is taken says PRICES
//   last_value_board remove
//
// There are 8 places, 0 to 7. After `write 2 LEAT 500`, `show` prints:
//   2: LEAT 500 (written 500 times)

#include <leat/base/fields.hpp>
#include <leat/base/inline_string.hpp>
#include <leat/core/segment/segment.hpp>
#include <leat/queue/cache/seqlock_array.hpp>

#include "arguments.hpp"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <thread>

namespace q = leat::queue;

namespace {

struct Price {
  leat::InlineString<12> symbol;
  std::uint64_t price = 0;
};
LEAT_FIELDS(Price, symbol, price);

const leat::core::SegmentName kName{.name = "board"};
constexpr std::size_t kPlaces = 8;

int fail(const std::string& why) {
  std::fprintf(stderr, "last_value_board: %s\n", why.c_str());
  return 1;
}

q::SeqlockArray<Price> open_board(q::Opening opening) {
  return q::SeqlockArray<Price>::open({.name = kName, .opening = opening}, kPlaces).value();
}

int write(std::size_t place, std::string_view symbol, std::uint64_t prices) {
  auto board = open_board(q::Opening::create_or_join);
  auto text = leat::InlineString<12>::from(symbol);
  if (!text) return fail(text.error().message);
  for (std::uint64_t price = 1; price <= prices; ++price) {
    switch (board.write(place, {.symbol = *text, .price = price})) {
      case q::Write::ok:
        break;
      case q::Write::busy:
        return fail("another process writes at this place");
      case q::Write::out_of_range:
        return fail("there are places 0 to 7");
    }
  }
  return 0;
}

int show() {
  const auto board = open_board(q::Opening::observe);
  for (std::size_t place = 0; place < board.size(); ++place) {
    Price price;
    std::uint64_t version = 0;
    if (board.read(place, price, &version) != q::Look::ok) continue;
    std::printf("%zu: %s %llu (written %llu times)\n", place, price.symbol.str().c_str(),
                static_cast<unsigned long long>(price.price),
                static_cast<unsigned long long>(version));
  }
  return 0;
}

int watch(std::uint64_t prices) {
  const auto board = open_board(q::Opening::create_or_join);
  q::SeqlockArrayWatch changes(board);
  std::uint64_t last[kPlaces] = {};
  std::uint64_t visits = 0;
  std::uint64_t back = 0;
  for (bool done = false; !done;) {
    visits += changes.visit([&](std::size_t place, q::Look, const Price& price, std::uint64_t) {
      if (price.price < last[place]) ++back;
      last[place] = price.price;
    });
    std::uint64_t taken = 0;
    std::uint64_t finished = 0;
    for (const std::uint64_t price : last) {
      taken += price > 0;
      finished += price == prices;
    }
    done = taken > 0 && taken == finished;
    if (!done) std::this_thread::yield();
  }
  if (visits == 0 || back > 0) return fail("a price went back");
  std::printf("saw the last price of all\n");
  return 0;
}

int remove() {
  if (auto gone = leat::core::destroy_segment(kName); !gone) return fail(gone.error().message);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view role = word(argc, argv, 1);
  if (role == "write") {
    const auto place = as_number(word(argc, argv, 2));
    const std::string_view symbol = word(argc, argv, 3);
    if (!place || symbol.empty()) return fail("expected: write PLACE SYMBOL [PRICES]");
    return write(*place, symbol, number(argc, argv, 4, "PRICES", 100'000));
  }
  if (role == "show") return show();
  if (role == "watch") return watch(number(argc, argv, 2, "PRICES", 100'000));
  if (role == "remove") return remove();
  return fail("expected \"write\", \"show\", \"watch\" or \"remove\" first");
}
