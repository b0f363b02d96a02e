// The lock-free parts of the byte path: memory of shared bytes is written again only when nobody reads
// it; whoever leaves word at the turn has it answered; a ring in shared memory brings its bytes, and
// wakes whoever sleeps.
#include <leat/base/plain.hpp>
#include <leat/base/spin_pause.hpp>
#include <leat/comm/bytes/bytes.hpp>
#include <leat/comm/net/byte_ring.hpp>
#include <leat/comm/net/turn.hpp>
#include <leat/core/parker.hpp>

#include "twins.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <memory>
#include <span>

namespace leat::comm {
namespace {

using model::expect_catches;
using model::expect_holds;
using model::expect_needs_edges;

// -- Bytes ----------------------------------------------------------------------------------------

// Memory whose bytes stand for one word that the model watches.
struct Watched {
  std::shared_ptr<Plain<int>> word = std::make_shared<Plain<int>>(1);
  std::shared_ptr<std::array<std::byte, 8>> memory = std::make_shared<std::array<std::byte, 8>>();
  operator std::span<std::byte>() const noexcept { return *memory; }
};

void written_again(model::Run& run) {
  struct State {
    Watched watched;
    ByteBuffer buffer{Watched(watched)};
    Bytes bytes = buffer.extract_to(8);
  };
  auto state = std::make_shared<State>();
  run.thread([=] {
    model::require(state->watched.word->read() == 1, "what is shown stays as it is");
    state->bytes = Bytes();
  });
  run.thread([=] {
    if (state->buffer.try_reset()) state->watched.word->set(2);
  });
  run.join();
}

TEST(BytesModel, MemoryIsWrittenAgainOnlyWhenNobodyReadsIt) {
  expect_holds(written_again, {.preemptions = 3});
  expect_needs_edges(written_again, {"shown/release"}, model::kRace);
  expect_catches(written_again, {"bytes.looks_without_order"}, model::kRace);
}

// -- Turn -----------------------------------------------------------------------------------------

// Two have something to do, each for itself; whoever passes does what is there. Nothing may be left.
void passes(model::Run& run) {
  struct State {
    Turn turn;
    Atomic<int> work[2];
    Plain<int> at_it{0};
    int done = 0;
  };
  auto state = std::make_shared<State>();
  for (std::size_t i = 0; i < 2; ++i) {
    run.thread([=] {
      state->work[i].store_relaxed(1);  // the word orders it
      state->turn.take(true, [&] {
        state->at_it.set(state->at_it.read() + 1);
        for (auto& one : state->work) {
          if (one.load_relaxed() == 1) {
            one.store_relaxed(0);
            ++state->done;
          }
        }
      });
    });
  }
  run.join();
  model::require(state->done == 2, "what somebody left word of is done");
}

TEST(TurnModel, WhatIsLeftWordOfIsDoneByWhoeverPasses) {
  expect_holds(passes, {.preemptions = 2});
  expect_catches(passes, {"turn.looks_for_no_word", "turn.word_is_a_store"},
                 "what somebody left word of is done", {.preemptions = 2});
}

// -- The ring -------------------------------------------------------------------------------------

struct RingState {
  alignas(128) std::array<std::byte, ring_footprint(8)> memory{};
  ByteRingHeader* header = ::new (static_cast<void*>(memory.data())) ByteRingHeader;
  ByteRingWriter writer{memory};
  ByteRingReader reader{memory};
  core::Parker bed;  // where the reader sleeps
};

// The reader sleeps between two bytes; the writer wakes it if it must.
void sleeping(model::Run& run) {
  auto state = std::make_shared<RingState>();
  run.thread([=] {
    const std::byte one{1};
    const std::span<const std::byte> part(&one, 1);
    for (int i = 0; i < 2; ++i) {
      model::require(state->writer.write(std::span(&part, 1)) == 1, "there is room");
      if (state->writer.must_wake()) state->bed.unpark();
    }
  });
  run.thread([=] {
    std::array<std::byte, 2> into;
    for (std::size_t read = 0; read < 2;) {
      read += state->reader.read(into);
      if (read < 2 && state->reader.may_sleep()) state->bed.park([] { return false; });
      state->reader.awake();
    }
  });
  run.join();
}

TEST(ByteRingModel, WhoeverSleepsIsWokenByTheNextBytes) {
  expect_holds(sleeping, {.preemptions = 2});
  expect_catches(sleeping, {"byte_ring.sleeps_without_a_look"}, model::kStuck, {.preemptions = 2});
}

}  // namespace
}  // namespace leat::comm
