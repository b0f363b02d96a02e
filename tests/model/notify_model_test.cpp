// Notifier: under every rule a receiver that goes to sleep in the middle of a burst hears of all of
// it; a sender that never ends its burst strands messages under some rules, and not under ours.
#include <leat/comm/channel.hpp>
#include <leat/comm/fabric.hpp>

#include "twins.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <optional>

namespace leat::comm {
namespace {

using core::NotifyRule;
using model::expect_catches;
using model::expect_fails;
using model::expect_holds;

struct Workers {
  explicit Workers(NotifyRule rule) : fabric(2, rule) {}

  Fabric fabric;
  Fabric::Ends<int> first = fabric.channel<int>(fabric.seat(0), 0, {}, {});
  Fabric::Ends<int> second = fabric.channel<int>(fabric.seat(1), 0, {}, {});
};

/// One sends two messages; the other sleeps whenever it knows of nothing, until it has both.
model::Body burst(NotifyRule rule, bool ends) {
  return [=](model::Run& run) {
    auto workers = std::make_shared<Workers>(rule);
    run.thread([=] {
      for (int message : {1, 2}) workers->first.sender.send(1, message);
      if (ends) workers->first.sender.done();
    });
    run.thread([=] {
      Seat& seat = workers->fabric.seat(1);
      seat.enter();
      for (int heard = 0; heard < 2;) {
        const int before = heard;
        int message = 0;
        seat.ready().surface([&](core::Doorbell&) {
          while (workers->second.receiver.receive(message)) ++heard;
        });
        if (heard == before) seat.park(std::nullopt);
      }
      seat.leave();
    });
    run.join();
  };
}

TEST(NotifyModel, EveryRuleBringsABurstThatEnds) {
  for (const auto rule : {NotifyRule::edge, NotifyRule::per_message,
                          NotifyRule::first_then_trailing, NotifyRule::on_done}) {
    expect_holds(burst(rule, true), {.preemptions = 2});
  }
}

TEST(NotifyModel, EdgeAndPerMessageNeedNoEndOfTheBurst) {
  expect_holds(burst(NotifyRule::edge, false), {.preemptions = 2});
  expect_holds(burst(NotifyRule::per_message, false), {.preemptions = 2});
}

TEST(NotifyModel, ABurstThatNeverEndsStrandsMessagesUnderTheOthers) {
  for (const auto rule : {NotifyRule::first_then_trailing, NotifyRule::on_done}) {
    expect_fails("a burst without an end", burst(rule, false), {.preemptions = 2}, model::kStuck);
  }
}

TEST(NotifyModel, AnnouncingTheFirstOnlyStrandsTheRest) {
  expect_catches(burst(NotifyRule::first_then_trailing, true), {"notify.first_only"},
                 model::kStuck);
}

}  // namespace
}  // namespace leat::comm
