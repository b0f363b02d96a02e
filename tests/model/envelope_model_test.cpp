// EnvelopePool: an envelope is its sender's again only when the receiver is done with it, and none is
// lost or handed out twice however many receivers give back at once.
#include <leat/base/plain.hpp>
#include <leat/base/spin_pause.hpp>
#include <leat/comm/envelope.hpp>
#include <leat/queue/mpsc.hpp>

#include "twins.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <set>

namespace leat::comm {
namespace {

using model::expect_holds;
using model::expect_needs_edges;

struct Letter {
  Plain<int> text{0};
};

// The way of a channel: the sender takes, writes and pushes; the receiver pops, reads, empties and
// gives back. The second letter may go in the envelope of the first.
template <int kLetters>
void there_and_back(model::Run& run) {
  struct State {
    EnvelopePool<Letter> pool;
    queue::Mpsc<Envelope<Letter>> queue;
  };
  auto state = std::make_shared<State>();
  run.thread([=] {
    for (int i = 1; i <= kLetters; ++i) {
      Envelope<Letter>* const envelope = state->pool.take();
      model::require(envelope->message.text.read() == 0, "an envelope is taken empty");
      envelope->message.text.set(i);
      state->queue.push(envelope);
    }
  });
  run.thread([=] {
    for (int i = 1; i <= kLetters; ++i) {
      Envelope<Letter>* envelope = state->queue.pop();
      for (; envelope == nullptr; envelope = state->queue.pop()) spin_pause();
      model::require(envelope->message.text.read() == i, "the letters come in order");
      envelope->message.text.set(0);
      envelope->pool->give_back(envelope);
    }
  });
  run.join();
}

TEST(EnvelopeModel, AnEnvelopeComesBackEmptiedAndIsFilledAgain) {
  expect_holds(there_and_back<2>, {.preemptions = 3});
  expect_holds(there_and_back<3>, {.preemptions = 1});
}

TEST(EnvelopeModel, GivingBackNeedsBothHalvesOfReturned) {
  expect_needs_edges(there_and_back<2>, {"returned/acquire", "returned/release"}, model::kRace);
}

// Two receivers give back to one pool while its sender takes.
void two_receivers(model::Run& run) {
  struct State {
    EnvelopePool<Letter> pool;
    std::set<Envelope<Letter>*> taken;
  };
  auto state = std::make_shared<State>();
  Envelope<Letter>* const first = state->pool.take();
  Envelope<Letter>* const second = state->pool.take();
  for (Envelope<Letter>* envelope : {first, second}) {
    run.thread([=] {
      envelope->message.text.set(0);
      envelope->pool->give_back(envelope);
    });
  }
  run.thread([=] {
    Envelope<Letter>* const envelope = state->pool.take();
    envelope->message.text.set(1);
    state->taken.insert(envelope);
  });
  run.join();
  // Two were out; if the third was one of them, the other is in the pool, else both are.
  const bool reused = state->taken.contains(first) || state->taken.contains(second);
  for (int left = reused ? 1 : 2; left > 0; --left) {
    Envelope<Letter>* const envelope = state->pool.take();
    model::require(envelope == first || envelope == second, "what was given back is in the pool");
    model::require(state->taken.insert(envelope).second, "and is handed out once");
  }
  for (Envelope<Letter>* envelope : state->taken) state->pool.give_back(envelope);
}

TEST(EnvelopeModel, NothingIsLostWhenTwoGiveBackAtOnce) {
  expect_holds(two_receivers, {.preemptions = 3});
}

TEST(EnvelopeModel, ASecondReceiversReturnCarriesTheFirstOnesToo) {
  expect_needs_edges(two_receivers, {"returned/acquire", "returned/release"}, model::kRace);
}

}  // namespace
}  // namespace leat::comm
