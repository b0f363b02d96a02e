// The record of the newest value: copies come whole and never older than what was seen before, no
// write is lost among writers, and a writer who dies at any step is in nobody's way.
#include <leat/queue/cache/last_value.hpp>

#include "twins.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace leat::queue {
namespace {

struct Pair {
  std::uint64_t first;
  std::uint64_t second;
};

using Record = internal::LastValue<Pair>;

constexpr internal::WriterPatience kPatience{.give_up = 1'000, .ask_for_life = 1};

struct World {
  struct death : Edge {};  // the dead -> who is told of it, by the kernel

  Record record;
  Atomic<bool> first_died{false};

  bool write(std::uint64_t self, std::uint64_t value) {
    auto hold = record.hold(
        self, [&](std::uint64_t id) { return id == 1 && first_died.load_acquire(death{}); },
        kPatience);
    if (!hold) return false;
    hold.write({value, ~value});
    return true;
  }
};

void look(const World& world, std::uint64_t highest, int times) {
  std::uint64_t seen = 0;
  for (int i = 0; i < times; ++i) {
    Pair pair{};
    std::uint64_t version = 0;
    const Look found = world.record.read(&pair, &version);
    if (found == Look::busy) continue;
    model::require(version >= seen, "the version goes back");
    model::require(version <= highest, "a version that nobody wrote");
    model::require((found == Look::none) == (version == 0), "nothing at version 0, and only there");
    seen = version;
    if (found == Look::ok) model::require(pair.second == ~pair.first, "a torn copy");
  }
}

// One writer who writes its own version three times, and a reader.
void read_versions(model::Run& run) {
  auto world = std::make_shared<World>();
  run.thread([=] {
    for (std::uint64_t value = 1; value <= 3; ++value) {
      model::require(world->write(1, value), "nobody else writes");
    }
  });
  run.thread([=] {
    Pair pair{};
    std::uint64_t version = 0;
    if (world->record.read(&pair, &version) != Look::ok) return;
    model::require(pair.second == ~pair.first, "a torn copy");
    model::require(pair.first == version, "a torn copy: its version is another");
  });
  run.join();
}

void write_both(model::Run& run) {
  auto world = std::make_shared<World>();
  for (std::uint64_t self = 1; self <= 2; ++self) {
    run.thread([=] { model::require(world->write(self, 10 * self), "the other one ends"); });
  }
  run.thread([=] { look(*world, 2, 1); });
  run.join();
  Pair pair{};
  std::uint64_t version = 0;
  model::require(world->record.read(&pair, &version) == Look::ok && version == 2,
                 "a write is lost");
}

// The first writer dies behind one of its steps, the second one takes over.
template <int kStep>
void die(model::Run& run) {
  auto world = std::make_shared<World>();
  model::require(world->write(3, 5), "the first value");
  run.thread([=] {
    auto hold = world->record.hold(1, [](std::uint64_t) { return false; }, kPatience);
    if (!hold) return;
    if (kStep >= 1) hold.begin();
    if (kStep >= 2) hold.fill({7, ~std::uint64_t{7}});
    if (kStep >= 3) hold.end(false);
    hold.die();
    world->first_died.store_release(true, World::death{});
  });
  run.thread([=] { model::require(world->write(2, 9), "the dead one is in the way"); });
  run.thread([=] { look(*world, 3, 1); });
  run.join();
  Pair pair{};
  std::uint64_t version = 0;
  model::require(world->record.read(&pair, &version) == Look::ok, "a dead writer blocks a reader");
  model::require(pair.second == ~pair.first && pair.first != 5, "a torn copy, or an old one");
  if (kStep == 3) model::require(version == 3, "a version is given twice");
}

TEST(LastValueModel, CopiesAreWholeAndOfTheirVersion) {
  model::expect_holds(read_versions, {.preemptions = 3});
}

TEST(LastValueModel, CopiesAreWholeWithoutFences) {
  model::expect_holds(read_versions, {.preemptions = 3, .mutants = {"word_copy.fence_free"}});
}

TEST(LastValueModel, NoWriteOfTwoWritersIsLost) { model::expect_holds(write_both); }

TEST(LastValueModel, AWriterMayDieAtEveryStep) {
  model::expect_holds(die<0>);
  model::expect_holds(die<1>);
  model::expect_holds(die<2>);
  model::expect_holds(die<3>);
}

TEST(LastValueModel, NeedsItsEdges) {
  model::expect_needs_edges(read_versions,
                            {"published", "overwrite", "overwrite/acquire", "overwrite/release"},
                            "torn", {.preemptions = 3});
  model::expect_needs_edges(read_versions, {"overwrite", "overwrite/acquire", "overwrite/release"},
                            "torn", {.preemptions = 3, .mutants = {"word_copy.fence_free"}});
  model::expect_needs_edges(write_both, {"handed_on"}, "torn");
}

TEST(LastValueModel, ItsMutantsAreCaught) {
  model::expect_catches(read_versions, {"last_value.no_second_look", "last_value.same_copy"},
                        "torn", {.preemptions = 3});
  // What the kernel says of a death brings what the dead one did.
  model::expect_needs_edges(die<3>, {"death"}, "torn");
}

// More than can be looked at whole: three writers, two readers, some writes each.
void crowd(model::Run& run) {
  auto world = std::make_shared<World>();
  for (std::uint64_t self = 2; self <= 4; ++self) {
    run.thread([=] {
      for (std::uint64_t i = 0; i < 4; ++i) {
        model::require(world->write(self, 10 * self + i), "the others end");
      }
    });
  }
  for (int reader = 0; reader < 2; ++reader) run.thread([=] { look(*world, 12, 3); });
  run.join();
  model::require(world->record.version() == 12, "a write is lost");
}

TEST(LastValueModel, HoldsInASampleOfACrowd) {
  model::expect_holds(crowd, {.sampling = {.executions = 3'000, .depth = 4, .surprises = 3}});
}

TEST(LastValueModel, TheSampleCatchesWhatTheSearchDoes) {
  const model::Options options{.sampling = {.executions = 50'000, .depth = 4, .surprises = 3}};
  model::expect_needs_edges(crowd, {"published"}, "torn", options);
  model::expect_catches(crowd, {"last_value.no_second_look"}, "torn", options);
}

}  // namespace
}  // namespace leat::queue
