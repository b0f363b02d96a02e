// The bytes of a data cache: a copy that is said to be whole is of one payload; what is leased is not
// written. Every execution of two writers and a reader over a cache of one or two payloads.
#include <leat/base/plain.hpp>
#include <leat/queue/cache/cache_space.hpp>

#include "twins.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>

namespace leat::queue::internal {
namespace {

struct sent : Edge {};  // writer -> reader, of the queue beside the cache

// Room for one payload of two words of which something is told.
struct Copies {
  CacheWords words;
  std::array<CacheHold, 2> holds{};
  std::array<SharedWord, 8> bytes{};
  Atomic<std::uint64_t> queue{0};  // position + 1 of the newest
  CacheSpace space{&words, holds, bytes.data(), 64};

  void write_at(std::uint64_t position, std::uint64_t value) {
    const std::array<std::uint64_t, 2> payload{value, ~value};
    space.write(position, 0, std::as_bytes(std::span(payload)));
    queue.store_release(position + 1, sent{});
  }
  void read() const {
    const std::uint64_t found = queue.load_acquire(sent{});
    if (found == 0) return;
    std::array<std::uint64_t, 2> payload{};
    if (!space.read(found - 1, std::as_writable_bytes(std::span(payload)))) return;
    model::require(payload[1] == ~payload[0], "a torn copy is said to be whole");
  }
};

void copy_while_lapped(model::Run& run) {
  auto world = std::make_shared<Copies>();
  run.thread([=] {
    for (std::uint64_t value = 1; value <= 2; ++value) {
      world->write_at(world->space.reserve_alone(world->holds[0], 64), value);
      CacheSpace::give_back(world->holds[0]);
    }
  });
  run.thread([=] { world->read(); });
  run.join();
}

// Both have one place to write to: who comes late must not write over the other's payload.
void copy_among_two_writers(model::Run& run) {
  auto world = std::make_shared<Copies>();
  for (std::uint64_t self = 1; self <= 2; ++self) {
    run.thread([=] {
      CacheHold* const hold = world->space.take_hold(self, 0, 2);
      if (const auto position = world->space.reserve(*hold, 64, false)) {
        world->write_at(*position, self);
      }
      CacheSpace::vacate(*hold);
    });
  }
  run.join();
  world->read();
}

void copy_among_two_writers_meanwhile(model::Run& run) {
  auto world = std::make_shared<Copies>();
  for (std::uint64_t self = 1; self <= 2; ++self) {
    CacheHold* const hold = world->space.take_hold(self, 0, 2);
    run.thread([=] {
      if (const auto position = world->space.reserve(*hold, 64, false)) {
        world->write_at(*position, self);
        CacheSpace::give_back(*hold);
      }
    });
  }
  run.thread([=] { world->read(); });
  run.join();
}

// Two payloads, filled and read in place.
struct InPlace {
  CacheWords words;
  std::array<CacheHold, 2> holds{};
  std::array<SharedWord, 16> bytes{};
  std::array<Plain<std::uint64_t>, 2> payloads{};
  Atomic<std::uint64_t> queue{0};
  CacheSpace space{&words, holds, bytes.data(), 128};

  bool write(CacheHold& hold, std::uint64_t value, bool sole) {
    const auto position = space.reserve(hold, 64, sole);
    if (!position) return false;
    payloads[*position / 64 % 2].set(value * 1'000 + *position);
    CacheSpace::give_back(hold);
    queue.store_release(*position + 1, sent{});
    return true;
  }
  void read(CacheHold& hold) {
    const std::uint64_t found = queue.load_acquire(sent{});
    if (found == 0) return;
    const std::uint64_t position = found - 1;
    if (!space.say(hold, position, 64)) return;
    model::require(payloads[position / 64 % 2].read() % 1'000 == position, "another payload");
    CacheSpace::give_back(hold);
  }
};

void read_in_place_while_lapped(model::Run& run) {
  auto world = std::make_shared<InPlace>();
  run.thread([=] {
    CacheHold* const hold = world->space.take_hold(1, 0, 1);
    for (std::uint64_t value = 1; value <= 3; ++value) {
      model::require(world->write(*hold, value, true), "one of two is always free");
    }
  });
  run.thread([=] {
    CacheHold* const hold = world->space.take_hold(2, 1, 1);
    world->read(*hold);
    world->read(*hold);
    CacheSpace::vacate(*hold);
  });
  run.join();
}

void fill_in_place_together(model::Run& run) {
  auto world = std::make_shared<InPlace>();
  for (std::uint64_t self = 1; self <= 2; ++self) {
    run.thread([=] {
      CacheHold* const hold = world->space.take_hold(self, 0, 2);
      for (std::uint64_t i = 0; i < self; ++i) static_cast<void>(world->write(*hold, self, false));
    });
  }
  run.join();
}

// Two readers, one after the other, with one hold between them.
void hand_a_hold_on(model::Run& run) {
  auto world = std::make_shared<InPlace>();
  auto notes = std::make_shared<Plain<int>>(0);  // of whoever has the hold
  for (std::uint64_t self = 1; self <= 2; ++self) {
    run.thread([=] {
      CacheHold* const hold = world->space.take_hold(self, 1, 1);
      if (hold == nullptr) return;
      notes->set(static_cast<int>(self));
      CacheSpace::vacate(*hold);
    });
  }
  run.join();
  model::require(world->holds[1].owner.load_relaxed() == 0, "the hold is free");
}

TEST(CacheSpaceModel, CopiesSaidToBeWholeAre) {
  model::expect_holds(copy_while_lapped, {.preemptions = 3});
  model::expect_holds(copy_among_two_writers);
  model::expect_holds(copy_among_two_writers_meanwhile);
}

TEST(CacheSpaceModel, CopiesSaidToBeWholeAreWithoutFences) {
  model::expect_holds(copy_while_lapped, {.preemptions = 3, .mutants = {"word_copy.fence_free"}});
}

TEST(CacheSpaceModel, WhatIsReadInPlaceIsNotWritten) {
  model::expect_holds(read_in_place_while_lapped);
}

TEST(CacheSpaceModel, TwoWritersAreNeverAtTheSameBytes) {
  model::expect_holds(fill_in_place_together);
}

TEST(CacheSpaceModel, AHoldIsHandedOnEmpty) { model::expect_holds(hand_a_hold_on); }

TEST(CacheSpaceModel, NeedsItsEdges) {
  model::expect_needs_edges(copy_while_lapped,
                            {"overwrite", "overwrite/acquire", "overwrite/release"}, "torn",
                            {.preemptions = 3});
  model::expect_needs_edges(read_in_place_while_lapped, {"gate", "given_back"}, model::kRace);
  model::expect_needs_edges(fill_in_place_together, {"gate", "given_back"}, model::kRace);
  model::expect_needs_edges(hand_a_hold_on, {"vacated"}, model::kRace);
}

TEST(CacheSpaceModel, ItsMutantsAreCaught) {
  model::expect_catches(copy_while_lapped, {"cache_space.look_first"}, "torn", {.preemptions = 3});
  model::expect_catches(copy_among_two_writers, {"cache_space.writes_lapped"}, "torn",
                        {.preemptions = 3});
  model::expect_catches(read_in_place_while_lapped, {"cache_space.holds_first"}, model::kRace);
}

}  // namespace
}  // namespace leat::queue::internal
