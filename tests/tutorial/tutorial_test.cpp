// What docs/tutorial-dataflow.md shows: each piece between marks is quoted there, and each runs here.
#include <leat/dataflow.hpp>

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace df = leat::dataflow;

namespace {

using Numbers = std::vector<std::uint64_t>;
using Word = std::string;
using Count = std::pair<Word, std::int64_t>;

TEST(Tutorial, FirstDataflow) {
  Numbers seen;
  // [first]
  df::example([&](auto& scope) {
    df::to_stream(scope, Numbers{1, 2, 3, 4}) |
        df::filter([](std::uint64_t n) { return n % 2 == 0; }) |
        df::map([](std::uint64_t n) { return n * n; }) |
        df::inspect([&](std::uint64_t n) { seen.push_back(n); });
  });
  // [/first]
  EXPECT_EQ(seen, (Numbers{4, 16}));
}

TEST(Tutorial, TimesAreSaidByTheProgram) {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> seen;
  // [times]
  df::execute_directly([&](df::Worker& worker) {
    df::Input<std::uint64_t> input;
    df::Probe<> probe;
    worker.dataflow([&](auto& scope) {
      scope.input(input) | df::inspect_time([&](std::uint64_t time, std::uint64_t n) {
        seen.emplace_back(time, n);
      }) | df::probe(probe);
    });
    for (std::uint64_t day = 0; day < 3; ++day) {
      input.send(10 * day);       // at time `day`
      input.advance_to(day + 1);  // nothing more comes at `day`
      worker.step_or_park_while([&] { return probe.less_than(day + 1); });
      // Here everything of `day` has come through, on all workers.
    }
  });
  // [/times]
  EXPECT_EQ(seen, (std::vector<std::pair<std::uint64_t, std::uint64_t>>{{0, 0}, {1, 10}, {2, 20}}));
}

TEST(Tutorial, SplittingAndJoining) {
  Numbers small;
  Numbers all;
  // [split]
  df::example([&](auto& scope) {
    const auto numbers = df::to_stream(scope, Numbers{1, 20, 3, 40});
    auto [large, few] = numbers | df::branch([](std::uint64_t, std::uint64_t n) { return n < 10; });
    few | df::inspect([&](std::uint64_t n) { small.push_back(n); });
    few | df::concat(large) | df::inspect([&](std::uint64_t n) { all.push_back(n); });
  });
  // [/split]
  std::sort(all.begin(), all.end());
  EXPECT_EQ(small, (Numbers{1, 3}));
  EXPECT_EQ(all, (Numbers{1, 3, 20, 40}));
}

TEST(Tutorial, AnOperatorThatAnswersAtOnce) {
  Numbers seen;
  // [distinct]
  df::example([&](auto& scope) {
    df::to_stream(scope, Numbers{1, 2, 1, 3, 2}) |
        df::unary<std::uint64_t>(
            df::exchange_by([](std::uint64_t n) { return n; }), "distinct",
            [](auto /*capability*/, const auto& /*info*/) {
              return [known = std::set<std::uint64_t>()](auto& input, auto& output) mutable {
                input.for_each([&](auto& message) {
                  auto session = output.session(message);  // at the message's time
                  for (const auto n : message.records()) {
                    if (known.insert(n).second) session.give(n);
                  }
                });
              };
            }) |
        df::inspect([&](std::uint64_t n) { seen.push_back(n); });
  });
  // [/distinct]
  EXPECT_EQ(seen, (Numbers{1, 2, 3}));
}

TEST(Tutorial, AnOperatorThatWaitsForCompleteTimes) {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> largest;
  df::execute_directly([&](df::Worker& worker) {
    df::Input<std::uint64_t> source;
    worker.dataflow([&](auto& scope) {
      const auto numbers = scope.input(source);
      // [notify]
      const auto maxima =
          numbers | df::unary_notify<std::uint64_t>(
                        df::exchange_by([](std::uint64_t) { return 0; }), "largest",
                        [](auto /*capability*/, const auto& /*info*/) {
                          return [best = std::map<std::uint64_t, std::uint64_t>()](
                                     auto& input, auto& output, auto& notificator) mutable {
                            input.for_each([&](auto& message) {
                              const auto [at, is_new] = best.try_emplace(message.time(), 0);
                              if (is_new) notificator.notify_at(message.retain());
                              for (const auto n : message.records())
                                at->second = std::max(at->second, n);
                            });
                            while (auto done = notificator.next(input.frontier())) {
                              output.session(done->capability).give(best[done->time()]);
                              best.erase(done->time());
                            }
                          };
                        });
      // [/notify]
      maxima | df::inspect_time(
                   [&](std::uint64_t time, std::uint64_t n) { largest.emplace_back(time, n); });
    });
    for (const std::uint64_t n : Numbers{3, 9, 4}) source.send(n);
    source.advance_to(1);
    source.send(2);
  });
  EXPECT_EQ(largest, (std::vector<std::pair<std::uint64_t, std::uint64_t>>{{0, 9}, {1, 2}}));
}

TEST(Tutorial, AnOperatorOfSeveralOutputs) {
  Numbers evens;
  Numbers odds;
  df::execute_directly([&](df::Worker& worker) {
    worker.dataflow([&](auto& scope) {
      const auto numbers = df::to_stream(scope, Numbers{1, 2, 3});
      // [builder]
      df::OperatorBuilder<std::uint64_t> builder(scope.state(), "even or odd");
      auto input = builder.new_input(numbers, df::pipeline);
      auto [even_port, even] = builder.template new_output<Numbers>();
      auto [odd_port, odd] = builder.template new_output<Numbers>();
      builder.build([&](auto /*capabilities, one per output*/) {
        return [input = std::move(input), to_even = std::move(even_port),
                to_odd = std::move(odd_port)]() mutable {
          input.for_each([&](auto& message) {
            auto evens_out = to_even.session(message);
            auto odds_out = to_odd.session(message);
            for (const auto n : message.records()) (n % 2 == 0 ? evens_out : odds_out).give(n);
          });
        };
      });
      // [/builder]
      even | df::inspect([&](std::uint64_t n) { evens.push_back(n); });
      odd | df::inspect([&](std::uint64_t n) { odds.push_back(n); });
    });
  });
  EXPECT_EQ(evens, (Numbers{2}));
  EXPECT_EQ(odds, (Numbers{1, 3}));
}

// --- word count, in three steps

template <class Build>
std::vector<Count> counted(Build build, const std::vector<std::vector<Count>>& rounds) {
  std::vector<Count> seen;
  df::execute_directly([&](df::Worker& worker) {
    df::Input<Count> input;
    df::Probe<> probe;
    worker.dataflow([&](auto& scope) {
      build(scope.input(input)) | df::inspect([&](const Count& count) { seen.push_back(count); }) |
          df::probe(probe);
    });
    for (const auto& changes : rounds) {
      for (const auto& change : changes) input.send(change);
      input.advance_to(input.time() + 1);
      worker.step_or_park_while([&] { return probe.less_than(input.time()); });
      std::sort(seen.begin(), seen.end());
    }
  });
  return seen;
}

TEST(Tutorial, WordCountPerTime) {
  const auto build = [](auto changes) {
    // [count-per-time]
    return changes | df::aggregate<std::int64_t>(
                         [](const Word&, std::int64_t change, std::int64_t& sum) { sum += change; },
                         [](const Word& word, std::int64_t sum) { return Count(word, sum); });
    // [/count-per-time]
  };
  EXPECT_EQ(counted(build, {{{"be", 1}, {"to", 1}, {"be", 1}}, {{"be", 1}}}),
            (std::vector<Count>{{"be", 1}, {"be", 2}, {"to", 1}}));
}

TEST(Tutorial, WordCountAcrossTimes) {
  const auto build = [](auto changes) {
    // [count-across-times]
    return changes | df::state_machine<std::int64_t, Count>(
                         [](const Word& word, std::int64_t change, std::int64_t& sum) {
                           sum += change;
                           return df::Transition<Count>{sum == 0, {Count(word, sum)}};
                         });
    // [/count-across-times]
  };
  EXPECT_EQ(counted(build, {{{"be", 1}, {"to", 1}}, {{"be", 1}, {"to", -1}}}),
            (std::vector<Count>{{"be", 1}, {"be", 2}, {"to", 0}, {"to", 1}}));
}

TEST(Tutorial, WordCountWithRetractions) {
  using Change = std::pair<Count, int>;  // a count that holds from now on (+1), or no longer (-1)
  std::map<Count, int> table;
  const auto build = [&](auto changes) {
    // [count-retracted]
    return changes | df::state_machine<std::int64_t, Change>(
                         [](const Word& word, std::int64_t change, std::int64_t& sum) {
                           df::Transition<Change> step;
                           if (sum != 0) step.emit.push_back({Count(word, sum), -1});
                           sum += change;
                           if (sum != 0) step.emit.push_back({Count(word, sum), +1});
                           step.remove = sum == 0;
                           return step;
                         });
    // [/count-retracted]
  };
  const auto keep = [&](auto changes) {
    return build(std::move(changes)) | df::map([&](const Change& change) {
             if ((table[change.first] += change.second) == 0) table.erase(change.first);
             return change.first;
           });
  };
  counted(keep, {{{"be", 1}, {"to", 1}}, {{"be", 1}, {"to", -1}}});
  EXPECT_EQ(table, (std::map<Count, int>{{{"be", 2}, 1}}));
}

// --- loops

TEST(Tutorial, ReachableNodes) {
  using Edge = std::pair<std::uint64_t, std::uint64_t>;
  const std::vector<Edge> graph{{0, 1}, {1, 2}, {2, 0}, {3, 4}};
  std::set<std::uint64_t> reached;
  df::example([&](auto& scope) {
    // [loop]
    const auto roots = df::to_stream(scope, Numbers{0});
    const auto found = scope.iterative("reach", [&](auto& inner) {
      auto [loop, again] = df::loop_variable<std::uint64_t>(inner, 1);  // one round later
      auto visited = roots | df::enter(inner) | df::concat(again) |
                     df::exchange([](std::uint64_t node) { return node; }) |
                     df::filter([known = std::set<std::uint64_t>()](std::uint64_t node) mutable {
                       return known.insert(node).second;  // the loop ends when nothing is new
                     });
      visited | df::flat_map([&](std::uint64_t node) {
        Numbers next;
        for (const auto& [from, to] : graph) {
          if (from == node) next.push_back(to);
        }
        return next;
      }) | df::connect_loop(std::move(loop));
      return visited | df::leave(scope);
    });
    // [/loop]
    found | df::inspect([&](std::uint64_t node) { reached.insert(node); });
  });
  EXPECT_EQ(reached, (std::set<std::uint64_t>{0, 1, 2}));
}

TEST(Tutorial, MutualRecursion) {
  Numbers ends;
  df::example([&](auto& scope) {
    const auto numbers = df::to_stream(scope, Numbers{5, 8});
    // [mutual]
    const auto ones = scope.iterative("collatz", [&](auto& inner) {
      auto [odd_loop, odds] = df::loop_variable<std::uint64_t>(inner, 1);
      auto [even_loop, evens] = df::loop_variable<std::uint64_t>(inner, 1);
      const auto all = numbers | df::enter(inner) |
                       df::concat(odds | df::map([](auto n) { return 3 * n + 1; })) |
                       df::concat(evens | df::map([](auto n) { return n / 2; }));
      auto [more, done] = all | df::branch([](const auto&, auto n) { return n == 1; });
      auto [even, odd] = more | df::branch([](const auto&, auto n) { return n % 2 == 1; });
      odd | df::connect_loop(std::move(odd_loop));
      even | df::connect_loop(std::move(even_loop));
      return done | df::leave(scope);
    });
    // [/mutual]
    ones | df::inspect([&](std::uint64_t n) { ends.push_back(n); });
  });
  EXPECT_EQ(ends, (Numbers{1, 1}));
}

TEST(Tutorial, NewDataflowsWhileOthersRun) {
  std::vector<std::size_t> installed;
  Numbers late;
  df::execute_directly([&](df::Worker& worker) {
    // [extend]
    df::Input<std::uint64_t> input;
    worker.dataflow_named("first", [&](auto& scope) { scope.input(input); });
    input.send(1);
    input.advance_to(1);
    worker.step();
    worker.dataflow_named("second", [&](auto& scope) {  // hears what is sent from now on
      scope.input(input) | df::inspect([&](std::uint64_t n) { late.push_back(n); });
    });
    input.send(2);
    installed.push_back(worker.installed_dataflows().size());
    // [/extend]
  });
  EXPECT_EQ(late, (Numbers{2}));
  EXPECT_EQ(installed, (std::vector<std::size_t>{2}));
}

TEST(Tutorial, RecordsFromAThreadOutside) {
  std::vector<int> seen;
  std::thread outside;
  df::execute_directly([&](df::Worker& worker) {
    // [outside]
    struct Mail {
      std::mutex mutex;
      std::vector<int> letters;
      bool is_last = false;
    };
    auto mail = std::make_shared<Mail>();
    worker.dataflow([&](auto& scope) {
      df::source<int>(scope, "mail", [&](auto capability, const df::OperatorInfo& info) {
        outside = std::thread([mail, bell = info.activation.remote()] {
          for (const int letter : {1, 2, 3}) {
            const std::lock_guard lock(mail->mutex);
            mail->letters.push_back(letter);
            mail->is_last = letter == 3;
            if (!bell.activate()) return;  // nobody is there any more
          }
        });
        return [mail, capability = std::move(capability)](auto& output) mutable {
          if (!capability) return;
          const std::lock_guard lock(mail->mutex);
          output.session(capability).give_all(std::exchange(mail->letters, {}));
          if (mail->is_last) capability.release();
        };
      }) | df::inspect([&](int letter) { seen.push_back(letter); });
    });
    // [/outside]
  });
  outside.join();
  EXPECT_EQ(seen, (std::vector<int>{1, 2, 3}));
}

TEST(Tutorial, WhatIsRefusedSaysWhy) {
  std::string said;
  // [refused]
  try {
    df::example([](auto& scope) {
      auto [loop, again] = df::feedback<int>(scope, 1, "again");
      again | df::filter([](int n) { return n > 0; });  // and nothing closes the loop
    });
  } catch (const leat::UsageError& error) {
    said = error.what();  // operator "again" (tutorial_test.cpp:...): ... call connect_loop ...
  }
  // [/refused]
  EXPECT_NE(said.find("\"again\""), std::string::npos);
  EXPECT_NE(said.find("connect_loop"), std::string::npos);
}

}  // namespace
