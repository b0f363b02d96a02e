// Doorbell and ReadyList: every message is surfaced, the list stays a list, blocks are freed once;
// and the tempting variants that lose messages or break the list.
#include <leat/base/mutant.hpp>
#include <leat/base/plain.hpp>
#include <leat/core/doorbell.hpp>
#include <leat/core/parker.hpp>
#include <leat/queue/mpsc.hpp>

#include "twins.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <memory>

namespace leat::core {

/// Variants of a receiver that must fail.
struct DoorbellTwin {
  /// Whoever drains resets READY.
  static void reset(Doorbell& bell) {
    using notice = Doorbell::notice;
    bell.state_.fetch_and_acq_rel(~Doorbell::kReady, notice{}, notice{});
  }

  /// Pops one bell by compare-exchange instead of taking all.
  template <class OnReady>
  static bool surface_one(ReadyList& list, OnReady&& on_ready) {
    using listed = ReadyList::listed;
    Doorbell* bell = list.head_.load_acquire(listed{});
    while (bell != nullptr) {
      Doorbell* const next = bell->next_.read();
      if (list.head_.compare_exchange_strong_acq_rel(bell, next, listed{}, listed{})) {
        reset(*bell);
        on_ready(*bell);
        return true;
      }
    }
    return false;
  }
};

namespace {

using model::expect_catches;
using model::expect_holds;
using model::expect_needs_edges;

struct Letter : queue::MpscNode {
  Plain<int> text{0};
};

/// A channel as comm has them, without the counting.
struct Channel : Doorbell {
  Channel() : Doorbell([](Doorbell*) noexcept {}) {}

  int drain() {
    int letters = 0;
    while (Letter* letter = queue.pop()) {
      model::require(letter->text.read() == 1, "the letter is whole");
      ++letters;
    }
    return letters;
  }

  queue::Mpsc<Letter> queue;
};

template <std::size_t kChannels, std::size_t kLetters>
struct Receiver {
  void send(std::size_t channel, std::size_t letter) {
    letters[letter].text.set(1);
    channels[channel].queue.push(&letters[letter]);
    static_cast<void>(announce(list, parker, channels[channel]));
  }

  void surface() {
    list.surface([this](Doorbell& bell) { received += static_cast<Channel&>(bell).drain(); });
  }

  /// What a worker does: surface, and sleep while there is nothing.
  void receive(int wanted) {
    while (received < wanted) {
      surface();
      if (received < wanted) parker.park([this] { return list.has_ready(); });
    }
  }

  std::array<Channel, kChannels> channels;
  std::array<Letter, kLetters> letters;
  ReadyList list;
  Parker parker;
  int received = 0;
};

void one_sender(model::Run& run) {
  auto receiver = std::make_shared<Receiver<1, 2>>();
  run.thread([=] {
    receiver->send(0, 0);
    receiver->send(0, 1);
  });
  run.thread([=] { receiver->receive(2); });
  run.join();
}

void two_senders_on_one_channel(model::Run& run) {
  auto receiver = std::make_shared<Receiver<1, 2>>();
  run.thread([=] { receiver->send(0, 0); });
  run.thread([=] { receiver->send(0, 1); });
  run.thread([=] { receiver->receive(2); });
  run.join();
}

void two_channels(model::Run& run) {
  auto receiver = std::make_shared<Receiver<2, 2>>();
  run.thread([=] { receiver->send(0, 0); });
  run.thread([=] { receiver->send(1, 1); });
  run.thread([=] { receiver->receive(2); });
  run.join();
}

TEST(DoorbellModel, EveryLetterOfOneSenderIsSurfaced) {
  expect_holds(one_sender, {.preemptions = 3});
}

TEST(DoorbellModel, EveryLetterOfTwoSendersIsSurfaced) {
  expect_holds(two_senders_on_one_channel, {.preemptions = 2});
  expect_holds(two_channels, {.preemptions = 1});
}

TEST(DoorbellModel, NeedsItsEdges) {
  expect_needs_edges(one_sender, {"notice", "Parker::doze", "ReadyList::doze"}, model::kStuck);
  expect_needs_edges(two_channels, {"listed"}, model::kRace);
}

TEST(DoorbellModel, ASenderThatSkipsTheReadModifyWriteLosesALetter) {
  expect_catches(one_sender, {"doorbell.skip_when_ready"}, model::kStuck);
  expect_catches(two_senders_on_one_channel, {"doorbell.skip_when_ready"}, model::kStuck);
}

TEST(DoorbellModel, NextIsReadBeforeReadyIsCleared) {
  expect_catches(one_sender, {"doorbell.next_after_clear"}, model::kRace);
}

TEST(DoorbellModel, ParkingWithoutLookingAgainLosesALetter) {
  expect_catches(one_sender, {"parker.no_recheck"}, model::kStuck);
}

// An operator also drains for reasons of its own. Draining leaves the bell alone.
void drains_for_other_reasons(model::Run& run) {
  auto receiver = std::make_shared<Receiver<2, 3>>();
  run.thread([=] {
    receiver->send(0, 0);
    receiver->send(1, 1);
    receiver->send(0, 2);
  });
  run.thread([=] {
    receiver->received += receiver->channels[0].drain();
    if (LEAT_MUTANT("test.draining_resets_ready")) DoorbellTwin::reset(receiver->channels[0]);
    receiver->receive(3);
  });
  run.join();
}

TEST(DoorbellModel, DrainingForOtherReasonsLosesNothing) {
  expect_holds(drains_for_other_reasons, {.preemptions = 1});
}

TEST(DoorbellModel, ADrainThatResetsReadyBreaksTheList) {
  expect_catches(drains_for_other_reasons, {"test.draining_resets_ready"}, model::kRace);
}

// Two threads take from one list. Taking all is safe even so; popping one by compare-exchange
// follows a next that is no longer its own, and drops what was pushed below a bell that came back
// in between.
void two_takers(model::Run& run) {
  struct State {
    Receiver<2, 0> receiver;
    Plain<int> surfaced[2];

    void take(int taker) {
      const auto on_ready = [&](Doorbell&) { ++surfaced[taker].write(); };
      if (LEAT_MUTANT("test.pop_one")) {
        DoorbellTwin::surface_one(receiver.list, on_ready);
      } else {
        receiver.list.surface(on_ready);
      }
    }
    int mark(std::size_t channel) {
      return receiver.list.mark(receiver.channels[channel]) == Mark::edge ? 1 : 0;
    }
  };
  auto state = std::make_shared<State>();
  auto pushed = std::make_shared<int>(state->mark(0));
  run.thread([=] { state->take(0); });
  run.thread([=] {
    state->take(1);
    *pushed += state->mark(1);
    *pushed += state->mark(0);
  });
  run.join();
  int surfaced = state->surfaced[0].read() + state->surfaced[1].read();
  for (int i = 0; i < 3; ++i) {
    surfaced += static_cast<int>(state->receiver.list.surface([](Doorbell&) {}));
  }
  model::require(surfaced == *pushed, "each push is surfaced once");
}

TEST(DoorbellModel, TakingAllLosesNothingEvenWithTwoTakers) { expect_holds(two_takers); }

TEST(DoorbellModel, PoppingOneByCompareExchangeReadsANextThatOthersWrite) {
  expect_catches(two_takers, {"test.pop_one"}, model::kRace);
}

// -- Closing --------------------------------------------------------------------------------------

/// A counted block: one reference for the receiving end, one for each sender.
struct Block : Doorbell {
  struct owners : Edge {};  // an owner's last use -> the block's end

  Block(std::uint32_t count, int* freed)
      : Doorbell(&Block::give_back), count_(count), freed_(freed) {}
  ~Block() {
    while (queue.pop() != nullptr) {
    }
    ++*freed_;
  }
  static void give_back(Doorbell* bell) noexcept { static_cast<Block*>(bell)->unref(); }
  void unref() noexcept {
    if (count_.fetch_sub_acq_rel(1, owners{}, owners{}) == 1) delete this;
  }
  void close_receiving_end() {
    if (!close() || LEAT_MUTANT("test.always_unref")) unref();
  }

  queue::Mpsc<Letter> queue;

 private:
  Atomic<std::uint32_t> count_;
  int* freed_;
};

template <int kSenders>
void close_under_way(model::Run& run) {
  struct State {
    std::array<Letter, kSenders> letters;
    Parker parker;
    int freed = 0;
  };
  auto state = std::make_shared<State>();
  {
    auto list = std::make_shared<ReadyList>();
    auto* block = new Block(1 + kSenders, &state->freed);
    for (std::size_t sender = 0; sender < kSenders; ++sender) {
      run.thread([=] {
        block->queue.push(&state->letters[sender]);
        static_cast<void>(announce(*list, state->parker, *block));
        block->unref();
      });
    }
    run.thread([=] {
      bool open = true;
      list->surface([&](Doorbell&) { model::require(open, "a closed bell is not surfaced"); });
      block->close_receiving_end();
      open = false;
      list->surface([&](Doorbell&) { model::require(open, "a closed bell is not surfaced"); });
    });
    run.join();
    list->~ReadyList();  // the fabric ends after all threads
    new (list.get()) ReadyList;
  }
  model::require(state->freed == 1, "the block is freed once");
}

TEST(DoorbellModel, ABlockClosedUnderWayIsFreedOnceByItsLastOwner) {
  expect_holds(close_under_way<1>, {.preemptions = 3});
  expect_holds(close_under_way<2>, {.preemptions = 2});
}

TEST(DoorbellModel, TheListOwnsTheReferenceOfABellClosedOnIt) {
  expect_catches(close_under_way<1>, {"test.always_unref"}, model::kGone);
}

}  // namespace
}  // namespace leat::core
