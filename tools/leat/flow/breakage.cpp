#include "breakage.hpp"

#include "flat_table.hpp"
#include "lookup.hpp"
#include "rows.hpp"

#include <map>
#include <utility>
#include <vector>

namespace leat::tool::flow {
namespace {

constexpr auto by_node = [](const Loss& loss) { return loss.node; };

/// What a worker knows of removals: who of its nodes is gone, and what the others lost.
class Losses {
 public:
  /// Forgets all that was before `time`.
  void at(Time time) {
    if (std::exchange(time_, time) == time) return;
    gone_ = {};
    lost_ = {};
  }

  /// Returns: whether the node goes by this loss.
  bool take(const Loss& loss) {
    if (loss.of > 1 && ++lost_.find_or_insert(loss.removal, loss.clause).first < loss.of) {
      return false;
    }
    return gone_.find_or_insert(loss.removal, loss.node).second;
  }

 private:
  Time time_ = 0;
  FlatTable<Nothing> gone_;        // by removal and node
  FlatTable<std::uint32_t> lost_;  // alternatives that are gone, by removal and clause
};

/// Losses to who goes by them, as they come.
auto lose() {
  return df::unary<Gone>(df::exchange_by(by_node), "lose", [](auto, const auto&) {
    return [losses = Losses()](auto& input, auto& output) mutable {
      input.for_each([&](auto& message) {
        losses.at(message.time().outer);
        auto session = output.session(message);
        for (const Loss& loss : message.records()) {
          if (losses.take(loss)) session.give(Gone{loss.removal, loss.node});
        }
      });
    };
  });
}

/// The same, a round at a time.
auto lose_by_round() {
  return df::unary_notify<Gone>(df::exchange_by(by_node), "lose", [](auto, const auto&) {
    return [losses = Losses(), waiting = std::map<LoopTime, std::vector<Loss>>()](
               auto& input, auto& output, auto& notificator) mutable {
      input.for_each([&](auto& message) {
        auto& now = waiting[message.time()];
        if (now.empty()) notificator.notify_at(message.retain());
        now.insert(now.end(), message.records().begin(), message.records().end());
      });
      while (const auto complete = notificator.next(input.frontier())) {
        losses.at(complete->time().outer);
        auto session = output.session(complete->capability);
        for (const Loss& loss : waiting[complete->time()]) {
          if (losses.take(loss)) session.give(Gone{loss.removal, loss.node});
        }
        waiting.erase(complete->time());
      }
    };
  });
}

/// The clauses that name a worker's nodes.
class Watchers {
 public:
  explicit Watchers(const Share& share) : share_(share), rows_(share.size()) {}
  void add(const Watch& watch) {
    rows_.add(share_.row_of(watch.alternative), {watch.owner, watch.clause, watch.of});
  }
  void seal() { rows_.seal(); }
  template <class Session>
  void answer(const Gone& gone, Session& session) const {
    for (const auto& [owner, clause, of] : rows_.row(share_.row_of(gone.node))) {
      session.give(Loss{gone.removal, owner, clause, of});
    }
  }

 private:
  struct Watcher {
    NodeId owner;
    ClauseId clause;
    std::uint32_t of;
  };

  Share share_;
  Rows<Watcher> rows_;
};

/// The loop; `finish(gone)` makes of its inner stream what leaves it.
template <class Lose, class Finish>
auto loop(Scope& scope, Stream<Watch> watches, Stream<Loss> removals, std::size_t nodes,
          Meter& meter, const std::string& name, Lose lose, Finish finish) {
  return scope.iterative(name, [&](LoopScope& inner) {
    auto loop = df::loop_variable<Loss>(inner, Round{1});
    auto gone = std::move(removals) | df::enter(inner) | df::concat(std::move(loop.stream)) |
                std::move(lose);
    gone |
        lookup<Loss>(std::move(watches) | df::enter(inner),
                     df::exchange_by([](const Watch& watch) { return watch.alternative; }),
                     df::pipeline, "spread", Watchers(Share(nodes, inner))) |
        metered(meter, name) | df::connect_loop(std::move(loop.handle));
    return finish(gone) | df::leave(scope);
  });
}

}  // namespace

Stream<Gone> breakage(Scope& scope, Stream<Watch> watches, Stream<Loss> removals, std::size_t nodes,
                      Meter& meter, const std::string& name) {
  return loop(scope, std::move(watches), std::move(removals), nodes, meter, name, lose(),
              [](const LoopStream<Gone>& gone) { return gone; });
}

Stream<GoneInRound> breakage_by_round(Scope& scope, Stream<Watch> watches, Stream<Loss> removals,
                                      std::size_t nodes, Meter& meter, const std::string& name) {
  const auto with_round = [](const LoopStream<Gone>& gone) {
    return gone | df::unary<GoneInRound>(df::pipeline, "note round", [](auto, const auto&) {
             return [](auto& input, auto& output) {
               input.for_each([&](auto& message) {
                 auto session = output.session(message);
                 const auto round = static_cast<std::uint32_t>(message.time().inner);
                 for (const Gone& record : message.records())
                   session.give(GoneInRound{record, round});
               });
             };
           });
  };
  return loop(scope, std::move(watches), std::move(removals), nodes, meter, name, lose_by_round(),
              with_round);
}

}  // namespace leat::tool::flow
