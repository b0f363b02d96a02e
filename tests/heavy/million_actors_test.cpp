// A million actors that live at the same time: each is started, gets a message, and is joined.
#include <leat/actor.hpp>

#include <leat/actor/stack/stack_region.hpp>
#include <leat/base/os/address_space.hpp>
#include <leat/base/os/memory.hpp>
#include <leat/base/sanitizers.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <utility>
#include <vector>

namespace leat::actor {
namespace {

// LEAT_ACTORS says how many: ./dev test --full sets it to a million.
std::uint64_t actors() {
  const char* const text = std::getenv("LEAT_ACTORS");
  const std::uint64_t wanted = text == nullptr ? 10'000 : std::strtoull(text, nullptr, 10);
  if (LEAT_TSAN || LEAT_ASAN)
    return std::min<std::uint64_t>(wanted, 5'000);  // which keep more of each
  return std::min<std::uint64_t>(wanted, StackRegion::process().slots_max());
}

class Million : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Threads, Million, testing::Values(0, 2));

TEST_P(Million, AreStartedToldSomethingPutAwayAndJoined) {
  const std::uint64_t n = actors();
  Config config = GetParam() == 0 ? Config::current_thread()
                                  : Config::exact(static_cast<std::size_t>(GetParam()));
  Runtime runtime(config.stack(StackClass::k16KiB).stow_after(std::chrono::hours(1)));
  const std::uint64_t sum = runtime.run([n] {
    const std::uint64_t before = os::current_rss_bytes();
    std::vector<Sender<std::uint64_t>> senders;
    std::vector<JoinHandle<std::uint64_t>> handles;
    senders.reserve(n);
    handles.reserve(n);
    for (std::uint64_t i = 0; i < n; ++i) {
      auto [sender, receiver] = channel<std::uint64_t>();
      senders.push_back(std::move(sender));
      handles.push_back(spawn({.stows = true}, [in = std::move(receiver)]() mutable {
        std::uint64_t mine = 0;
        while (const auto message = in.receive()) mine += *message;
        return mine;
      }));
      if (i % 100 == 99) yield_now();
    }
    yield_now();
    const std::uint64_t hot = os::current_rss_bytes() - before;
    EXPECT_LT(os::mappings_now(),
              1000U + (StackRegion::process().guard_kind() == GuardKind::light ? 0 : 2 * n));
    const std::size_t stowed = stow_idle_actors();
    const std::uint64_t now = os::current_rss_bytes();
    const std::uint64_t away = now > before ? now - before : 0;
    testing::Test::RecordProperty("bytes_per_actor", static_cast<int>(hot / n));
    testing::Test::RecordProperty("bytes_per_stowed_actor", static_cast<int>(away / n));
    std::printf("%zu actors: %zu bytes each; %zu of them put away: %zu bytes each\n",
                static_cast<std::size_t>(n), static_cast<std::size_t>(hot / n), stowed,
                static_cast<std::size_t>(away / n));
    for (std::uint64_t i = 0; i < n; ++i) {
      EXPECT_EQ(senders[i].send(i), Sent::ok);
      senders[i].close();
      if (i % 100 == 99) yield_now();
    }
    std::uint64_t all = 0;
    for (auto& handle : handles) all += handle.join();
    return all;
  });
  EXPECT_EQ(sum, n * (n - 1) / 2);
}

}  // namespace
}  // namespace leat::actor
