// A slab's cell: what a handle names is that object, whole, or nothing; also when it is overwritten,
// erased, or when whoever puts dies.
#include <leat/queue/cache/slab.hpp>

#include "twins.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>

namespace leat::queue::internal {
namespace {

struct sent : Edge {};   // who puts -> who gets: the handle
struct death : Edge {};  // the dead -> who is told of it, by the kernel

struct Object {
  std::uint64_t number;
  std::uint64_t proof;
};

struct World {
  SlabCell<Object> cell;
  Atomic<std::uint64_t> handle{0};  // generation * 16 + the object's number
  Atomic<bool> first_died{false};

  bool put(std::uint64_t self, std::uint64_t number) {
    if (!cell.take(self,
                   [&](std::uint64_t id) { return id == 1 && first_died.load_acquire(death{}); })) {
      return false;
    }
    const std::uint64_t generation = cell.begin();
    cell.fill({number, ~number}, generation);
    cell.give_back();
    handle.store_release(generation * 16 + number, sent{});
    return true;
  }
  void get() const {
    const std::uint64_t named = handle.load_acquire(sent{});
    Object object{};
    if (named == 0 || !cell.get(named / 16, &object)) return;
    model::require(object.proof == ~object.number, "a torn object");
    model::require(object.number == named % 16, "another object");
  }
};

void overwrite_while_read(model::Run& run) {
  auto world = std::make_shared<World>();
  run.thread([=] {
    model::require(world->put(1, 4), "nobody else is at it");
    model::require(world->put(1, 5), "nobody else is at it");
  });
  run.thread([=] { world->get(); });
  run.join();
}

void two_put(model::Run& run) {
  auto world = std::make_shared<World>();
  for (std::uint64_t self = 2; self <= 3; ++self) {
    run.thread([=] { static_cast<void>(world->put(self, self)); });
  }
  run.thread([=] { world->get(); });
  run.join();
  const std::uint64_t generation = world->cell.was_there();
  model::require(generation == 1 || generation == 2, "one was put, or both");
  Object object{};
  model::require(world->cell.get(generation, &object) && object.proof == ~object.number,
                 "a torn object");
}

void erase_while_overwritten(model::Run& run) {
  auto world = std::make_shared<World>();
  model::require(world->put(2, 2), "nobody else is at it");
  auto erased = std::make_shared<int>(0);
  for (int i = 0; i < 2; ++i) run.thread([=] { *erased += world->cell.erase(1) ? 1 : 0; });
  run.thread([=] { static_cast<void>(world->put(3, 3)); });
  run.join();
  model::require(*erased <= 1, "erased twice");
  model::require(world->cell.was_there() == 2, "another object was erased");
}

template <int kStep>
void die(model::Run& run) {
  auto world = std::make_shared<World>();
  run.thread([=] {
    if (!world->cell.take(1, [](std::uint64_t) { return false; })) return;
    const std::uint64_t generation = kStep >= 1 ? world->cell.begin() : 0;
    if (kStep >= 2) world->cell.fill({1, ~std::uint64_t{1}}, generation);
    world->first_died.store_release(true, death{});
  });
  run.thread([=] { static_cast<void>(world->put(2, 2)); });
  run.thread([=] { world->get(); });
  run.join();
  model::require(world->put(3, 3), "the dead one is in the way");
  world->get();
}

// One pins what the other overwrites, as Slab::put and Slab::pin do it.
template <int kPuts>
void overwrite_while_pinned(model::Run& run) {
  struct Pinned {
    SlabCell<Object> cell;
    Atomic<std::uint64_t> used{0};
    SlabPinPlace places[1];
    SlabPins pins{&used, places};
  };
  auto world = std::make_shared<Pinned>();
  const auto put = [](Pinned& at, std::uint64_t number) {
    model::require(at.cell.take(2, [](std::uint64_t) { return false; }), "nobody else is at it");
    const std::uint64_t generation = at.cell.begin_at_gate();
    if (at.pins.is_pinned(0)) {
      at.cell.leave_free(generation);
    } else {
      at.cell.fill({number, ~number}, generation);
    }
    at.cell.give_back();
  };
  put(*world, 1);
  run.thread([=] {
    for (std::uint64_t n = 2; n < 2 + kPuts; ++n) put(*world, n);
  });
  run.thread([=] {
    SlabPinPlace* const place = world->pins.take(3);
    model::require(place != nullptr, "a place is free");
    SlabPins::say(*place, 0);
    if (world->cell.is_there(1)) {
      static_cast<void>(world->cell.was_there());  // a step, behind which the other may go on
      const Object* const there = world->cell.place();
      model::require(there->number == 1 && there->proof == ~std::uint64_t{1}, "another object");
    }
    SlabPins::vacate(*place);
  });
  run.join();
}

TEST(SlabModel, APinnedObjectIsNotOverwritten) {
  model::expect_holds(overwrite_while_pinned<1>);
  model::expect_holds(overwrite_while_pinned<2>, {.preemptions = 2});
  model::expect_needs_edges(overwrite_while_pinned<1>, {"slab_gate"}, "object");
  model::expect_catches(overwrite_while_pinned<1>, {"slab.put_over_pins"}, "object");
}

TEST(SlabModel, AHandleNamesItsObjectOrNothing) {
  model::expect_holds(overwrite_while_read, {.preemptions = 3});
  model::expect_holds(overwrite_while_read,
                      {.preemptions = 3, .mutants = {"word_copy.fence_free"}});
  model::expect_holds(two_put);
  model::expect_holds(erase_while_overwritten);
}

TEST(SlabModel, WhoeverPutsMayDieAtEveryStep) {
  model::expect_holds(die<0>);
  model::expect_holds(die<1>);
  model::expect_holds(die<2>);
}

TEST(SlabModel, NeedsItsEdges) {
  model::expect_needs_edges(overwrite_while_read,
                            {"overwrite", "overwrite/acquire", "overwrite/release"}, "object",
                            {.preemptions = 3});
  model::expect_needs_edges(two_put, {"handed_on"}, "object");
}

TEST(SlabModel, ItsMutantsAreCaught) {
  model::expect_catches(overwrite_while_read, {"slab.no_second_look", "slab.same_generation"},
                        "object", {.preemptions = 3});
}

}  // namespace
}  // namespace leat::queue::internal
