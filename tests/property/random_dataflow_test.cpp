// Random dataflows, compared with a direct evaluation: graphs with loops and scopes in scopes,
// records that move on in time, delays, operators that hold capabilities and messages for a while,
// random fuel and weights, one to four workers in both progress modes: stepped in random order on
// one thread, and on threads of their own.
//
// Three things must hold for each: the records that come out, with their times, are those of the
// evaluation (nothing lost, nothing twice); no operator ever sees a time that its frontier had
// passed (safe); and the dataflow ends within a bound of steps once its input is closed (live).
// A dataflow that is cancelled at a random point ends everywhere, says nothing that the evaluation
// does not, nothing after all have agreed, and leaves another one beside it whole. An exception at a
// random point ends all workers and is the ending of the one it came out of.
//
// LEAT_SECONDS=n runs for n seconds in all, LEAT_ROUNDS=n draws n plans per test; a failure names
// the LEAT_SEED that begins with its plan.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <leat/base/clock.hpp>
#include <leat/base/hash.hpp>
#include <leat/base/rng.hpp>
#include <leat/dataflow.hpp>

#include "property.hpp"

namespace leat::dataflow {
namespace {

struct Token {
  std::uint64_t id = 0;
  std::uint32_t hops = 0;  // how many operators it may still pass
};

using Seen = std::vector<std::pair<std::uint64_t, std::uint64_t>>;  // (time, id) at the sink

// How one node is fed. Nodes of the nested scope come between the outer nodes and the sink, those of
// the scope inside it last.
struct Edge {
  std::size_t from;
  std::size_t to;
  bool loop;  // against the order of construction: through a feedback
};

struct Plan {
  std::size_t outer = 0;   // nodes 0 .. outer-1 in the root scope; node 0 is the input
  std::size_t nested = 0;  // nodes outer .. outer+nested-1 in an iterative scope
  std::size_t deep = 0;    // nodes outer+nested .. sink-1 in an iterative scope in that
  std::vector<Edge> edges;
  std::vector<std::size_t> into_nested;  // outer nodes that enter at the first nested node
  std::vector<std::size_t> into_deep;    // nested nodes that enter at the first deep node
  std::vector<std::pair<std::uint64_t, Token>> input;
  std::uint64_t holds = 0;  // salt for what nodes do with what they got: how long they hold it, ...

  [[nodiscard]] std::size_t inside() const { return outer + nested; }
  [[nodiscard]] std::size_t sink() const { return outer + nested + deep; }
  [[nodiscard]] bool is_delay(std::size_t node) const { return mix64(holds + node) % 4 == 0; }
};

Plan draw_plan(Rng& rng) {
  Plan plan;
  plan.outer = 1 + rng.below(4);
  plan.nested = rng.below(3);
  plan.holds = rng.next();
  for (std::size_t to = 1; to < plan.outer; ++to) {
    plan.edges.push_back({rng.below(to), to, false});
    if (rng.below(2) == 0) plan.edges.push_back({rng.below(to), to, false});
  }
  if (plan.outer > 1) {
    for (std::uint64_t loops = rng.below(3); loops > 0; --loops) {
      const std::size_t to = 1 + rng.below(plan.outer - 1);
      plan.edges.push_back({to + rng.below(plan.outer - to), to, true});
    }
  }
  if (plan.nested > 0) {
    plan.into_nested.push_back(rng.below(plan.outer));
    if (rng.below(2) == 0) plan.into_nested.push_back(rng.below(plan.outer));
    plan.deep = rng.below(3);
    // The edges of a scope's nodes [first, end), which has a loop at least.
    const auto draw_scope = [&](std::size_t first, std::size_t end) {
      for (std::size_t to = first + 1; to < end; ++to) {
        plan.edges.push_back({first + rng.below(to - first), to, false});
      }
      for (std::uint64_t loops = rng.below(2) + 1; loops > 0; --loops) {
        const std::size_t to = first + rng.below(end - first);
        plan.edges.push_back({to + rng.below(end - to), to, true});
      }
    };
    draw_scope(plan.outer, plan.inside());
    if (plan.deep > 0) {
      draw_scope(plan.inside(), plan.sink());
      plan.into_deep.push_back(plan.outer + rng.below(plan.nested));
    }
  }
  std::uint64_t time = 0;
  for (std::uint64_t records = 1 + rng.below(12); records > 0; --records) {
    time += rng.below(3);
    plan.input.push_back({time, {rng.next(), static_cast<std::uint32_t>(rng.below(6))}});
  }
  return plan;
}

// What every node does with a token that it got at `time`: passes it on, changed, at the same time
// or later.
std::uint64_t shift_of(const Token& token) { return token.id % 3 == 0 ? 1 : 0; }
Token changed(const Token& token, std::size_t node) {
  return {mix64(token.id + node), token.hops - 1};
}

// The evaluation: follows each token along each edge.
void evaluate(const Plan& plan, std::size_t node, std::uint64_t time, const Token& token,
              Seen& seen) {
  Token out = token;
  if (node != 0) {
    if (token.hops == 0) return;
    time += node < plan.outer ? shift_of(token) : 0;  // inside, only rounds pass
    out = changed(token, node);
  }
  seen.emplace_back(time, out.id);  // every node's output also goes to the sink
  for (const Edge& edge : plan.edges) {
    if (edge.from == node)
      evaluate(plan, edge.to, time + (edge.loop && node < plan.outer ? 1 : 0), out, seen);
  }
  for (const std::size_t from : plan.into_nested) {
    if (from == node) evaluate(plan, plan.outer, time, out, seen);
  }
  for (const std::size_t from : plan.into_deep) {
    if (from == node) evaluate(plan, plan.inside(), time, out, seen);
  }
}

Seen evaluated(const Plan& plan) {
  Seen seen;
  for (const auto& [time, token] : plan.input) evaluate(plan, 0, time, token, seen);
  std::sort(seen.begin(), seen.end());
  return seen;
}

struct Boom {
  std::uint64_t number;
};

// What one worker saw. What goes wrong is noted here rather than thrown: operators must not end the
// run, but for the exception that is to be thrown when the fuse has burnt down.
struct Findings {
  Seen seen;
  std::string broken;
  std::uint64_t fuse = 0;  // 0: it does not burn
  std::uint64_t payload = 0;

  void burn() {
    if (fuse != 0 && --fuse == 0) throw Boom{payload};
  }
};

template <class T>
T shifted(const T& time, const Token& token) {
  if constexpr (std::is_same_v<T, std::uint64_t>) {
    return time + shift_of(token);
  } else {
    return T{time.outer, time.inner + shift_of(token)};
  }
}

// The operator of most nodes: holds what it gets for some runs, then passes it on. Some keep the
// capability that they begin with for a while, and some messages.
template <class T>
auto node_operator(const Plan& plan, std::size_t node, Findings& findings, std::size_t worker) {
  return [&plan, &findings, node, worker](Capability<T> initial, const OperatorInfo& info) {
    struct Held {
      Capability<T> capability;
      Token token;
      std::uint64_t runs;
    };
    findings.burn();
    const std::uint64_t salt = mix64(plan.holds + 31 * node + worker);
    return [&plan, &findings, node, worker, activation = info.activation,
            initial = std::move(initial), runs_left = salt % 5, keeps = salt / 8 % 3 == 0,
            kept = std::vector<Received<T, std::vector<Token>>>(), held = std::vector<Held>(),
            promised = std::vector<T>{progress::TimestampTraits<T>::minimum()}](
               auto& input, auto& output) mutable {
      findings.burn();
      if (runs_left > 0) {
        --runs_left;
        activation.activate();
      } else {
        initial.release();
      }
      kept.clear();
      input.for_each([&](auto& message) {
        const T& time = message.time();
        const bool possible = std::any_of(promised.begin(), promised.end(), [&](const T& least) {
          return progress::less_equal(least, time);
        });
        if (!possible)
          findings.broken = "node " + std::to_string(node) + " got a time that was over";
        if (!input.frontier().less_equal(time))
          findings.broken = "the frontier passed a message in its queue";
        for (const Token& token : message.records()) {
          findings.burn();
          if (token.hops == 0) continue;
          const std::uint64_t runs = mix64(token.id ^ plan.holds ^ worker) % 4;
          held.push_back({message.delayed(shifted(time, token)), token, runs});
        }
        if (keeps) {
          kept.push_back(std::move(message));
          activation.activate();
        }
      });
      for (std::size_t i = 0; i < held.size();) {
        if (held[i].runs > 0) {
          --held[i].runs;
          ++i;
          continue;
        }
        output.session(held[i].capability).give(changed(held[i].token, node));
        held.erase(held.begin() + static_cast<std::ptrdiff_t>(i));
      }
      if (!held.empty()) activation.activate();
      const auto frontier = input.frontier();
      promised.assign(frontier.begin(), frontier.end());
    };
  };
}

// Builds the nodes [first, last) in `scope` on top of the streams of earlier ones.
template <class T>
void build_nodes(Scope<T>& scope, const Plan& plan, std::size_t first, std::size_t last,
                 std::vector<std::optional<StreamOf<T, Token>>>& streams,
                 progress::SummaryOf<T> round, std::optional<StreamOf<T, Token>> entered,
                 Findings& findings) {
  struct Open {
    std::size_t from;
    FeedbackHandle<T, std::vector<Token>> handle;
  };
  std::vector<Open> open;
  for (std::size_t node = first; node < last; ++node) {
    std::vector<StreamOf<T, Token>> inputs;
    if (node == first && entered) inputs.push_back(*entered);
    for (const Edge& edge : plan.edges) {
      if (edge.to != node) continue;
      if (!edge.loop) {
        inputs.push_back(*streams[edge.from]);
      } else {
        auto [handle, stream] = feedback<Token>(scope, round);
        inputs.push_back(stream);
        open.push_back({edge.from, std::move(handle)});
      }
    }
    auto all = concatenate(scope, std::move(inputs));
    auto make = node_operator<T>(plan, node, findings, scope.index());
    const auto route = [&findings](const Token& token) {
      findings.burn();
      return token.id;
    };
    const std::string name = "node " + std::to_string(node);
    if (plan.is_delay(node)) {
      streams[node] = all | filter([](const Token& token) { return token.hops != 0; }) |
                      delay([&findings](const Token& token, const T& time) {
                        findings.burn();
                        return shifted(time, token);
                      }).named(name) |
                      map([node](const Token& token) { return changed(token, node); });
    } else {
      streams[node] = node % 2 == 0 ? all | unary_frontier<Token>(pipeline, name, make)
                                    : all | unary_frontier<Token>(exchange_by(route), name, make);
    }
  }
  for (auto& loop : open) *streams[loop.from] | connect_loop(std::move(loop.handle));
}

// Builds the whole on one worker; what comes out goes to `findings`, and so does what goes wrong.
void build(const Plan& plan, Worker& worker, Input<Token>& input, Findings& findings,
           DataflowOptions options = {}) {
  using Time = std::uint64_t;
  worker.dataflow(std::move(options), [&](auto& scope) {
    std::vector<std::optional<StreamOf<Time, Token>>> streams(plan.sink());
    streams[0] = scope.input(input);
    build_nodes<Time>(scope, plan, 1, plan.outer, streams, 1, std::nullopt, findings);
    std::vector<StreamOf<Time, Token>> to_sink;
    for (std::size_t node = 0; node < plan.outer; ++node) to_sink.push_back(*streams[node]);
    if (plan.nested > 0) {
      auto left = scope.iterative("nested", [&](auto& inner) {
        using Inner = typename std::decay_t<decltype(inner)>::Time;
        std::vector<StreamOf<Time, Token>> entering;
        for (const std::size_t from : plan.into_nested) entering.push_back(*streams[from]);
        auto entered = concatenate(scope, std::move(entering)) | enter(inner);
        std::vector<std::optional<StreamOf<Inner, Token>>> nodes(plan.sink());
        build_nodes<Inner>(inner, plan, plan.outer, plan.inside(), nodes, {{}, 1}, entered,
                           findings);
        std::vector<StreamOf<Time, Token>> leaving;
        for (std::size_t node = plan.outer; node < plan.inside(); ++node)
          leaving.push_back(*nodes[node] | leave(scope));
        if (plan.deep > 0) {
          auto out = inner.iterative("deep", [&](auto& deep) {
            using Deep = typename std::decay_t<decltype(deep)>::Time;
            std::vector<std::optional<StreamOf<Deep, Token>>> inmost(plan.sink());
            build_nodes<Deep>(deep, plan, plan.inside(), plan.sink(), inmost, {{}, 1},
                              *nodes[plan.into_deep.front()] | enter(deep), findings);
            std::vector<StreamOf<Inner, Token>> outward;
            for (std::size_t node = plan.inside(); node < plan.sink(); ++node)
              outward.push_back(*inmost[node] | leave(inner));
            return outward;
          });
          for (auto& stream : out) leaving.push_back(stream | leave(scope));
        }
        return leaving;
      });
      for (auto& stream : left) to_sink.push_back(std::move(stream));
    }
    concatenate(scope, std::move(to_sink)) |
        exchange([](const Token& token) { return token.id / 7; }) |
        inspect_time([&findings](Time time, const Token& token) {
          findings.burn();
          findings.seen.emplace_back(time, token.id);
        });
  });
}

// All that the workers saw; the first thing that was broken.
Findings joined(std::vector<Findings> parts) {
  Findings all;
  for (auto& part : parts) {
    all.seen.insert(all.seen.end(), part.seen.begin(), part.seen.end());
    if (all.broken.empty()) all.broken = part.broken;
  }
  std::sort(all.seen.begin(), all.seen.end());
  return all;
}

core::Config draw_config(Rng& rng, std::size_t peers, core::ProgressMode mode) {
  core::Config config;
  config.workers = peers;
  config.progress_mode = mode;
  if (rng.below(2) == 0) config.records_per_activation = 1 + rng.below(20);
  if (rng.below(2) == 0) config.records_per_turn = 1 + rng.below(200);
  config.validate_progress = rng.below(2) == 0;
  return config;
}

// Some dataflows of one plan on workers that are stepped by hand.
struct World {
  const Plan& plan;
  std::size_t peers;
  comm::Fabric fabric;
  std::vector<std::unique_ptr<Worker>> workers;
  struct Flow {
    std::vector<Findings> findings;
    std::vector<Input<Token>> inputs;
    std::size_t fed = 0;
    bool closed = false;
  };
  std::vector<Flow> flows;
  std::vector<bool> built;
  std::size_t unbuilt;

  World(const Plan& p, std::size_t n, std::size_t dataflows, core::ProgressMode mode, Rng& rng)
      : plan(p), peers(n), fabric(n), built(n, false), unbuilt(n) {
    const auto config = draw_config(rng, n, mode);
    for (std::size_t index = 0; index < n; ++index) {
      workers.push_back(std::make_unique<Worker>(fabric.seat(index), config, nullptr));
    }
    for (std::size_t i = 0; i < dataflows; ++i) {
      flows.push_back({std::vector<Findings>(n), std::vector<Input<Token>>(n), 0, false});
    }
  }
  ~World() {
    for (auto& flow : flows) flow.inputs.clear();
    workers.clear();
  }

  // Some worker builds, or feeds something, or neither; then it steps. Returns: which.
  std::size_t act(Rng& rng) {
    const std::size_t index = rng.below(peers);
    if (!built[index]) {  // late: its peers' batches and records wait for it
      if (rng.below(3) != 0) return index;
      built[index] = true;
      --unbuilt;
      for (auto& flow : flows) {
        build(plan, *workers[index], flow.inputs[index], flow.findings[index],
              {.weight = static_cast<std::uint32_t>(1 + rng.below(3))});
      }
      return index;
    }
    for (auto& flow : flows) {
      if (unbuilt == 0 && rng.below(2) == 0 && !flow.closed) feed(flow, index);
    }
    workers[index]->step();
    return index;
  }

  // Tokens are dealt to the workers in turn; each moves its own input on as it likes.
  void feed(Flow& flow, std::size_t index) {
    if (flow.fed == plan.input.size()) {
      for (auto& each : flow.inputs) each.close();
      flow.closed = true;
      return;
    }
    const auto& [time, token] = plan.input[flow.fed++];
    auto& input = flow.inputs[index];
    input.advance_to(std::max(input.time(), time));
    if (input.time() == time) return input.send(token);
    for (auto& other : flow.inputs) {  // this worker is past that time: another must send it
      if (other.time() > time) continue;
      other.advance_to(time);
      return other.send(token);
    }
  }

  [[nodiscard]] bool over() const {
    return unbuilt == 0 &&
           std::all_of(flows.begin(), flows.end(), [](auto& flow) { return flow.closed; }) &&
           std::none_of(workers.begin(), workers.end(),
                        [](auto& worker) { return worker->has_dataflows(); });
  }
};

constexpr std::uint64_t kSteps = 400'000;

// Draws plans for as long as it was told to, and tries each with one to four workers in both modes.
template <class Try>
void for_all(std::uint64_t rounds_usual, const Try& attempt) {
  const char* const seconds = std::getenv("LEAT_SECONDS");
  const char* const given = std::getenv("LEAT_ROUNDS");
  constexpr int kTests = 4;  // share the seconds
  const RealClock clock;
  const Nanos end =
      clock.now() +
      std::chrono::milliseconds(
          seconds != nullptr ? std::strtoll(seconds, nullptr, 10) * 1000 / kTests : 0);
  const std::uint64_t rounds = given != nullptr ? std::strtoull(given, nullptr, 10) : rounds_usual;
  for (std::uint64_t round = 0; round < rounds || clock.now() < end; ++round) {
    Rng rng(property::seed() + round);
    const Plan plan = draw_plan(rng);
    for (const auto mode : {core::ProgressMode::eager, core::ProgressMode::demand}) {
      for (std::size_t peers = 1; peers <= 4; ++peers) {
        SCOPED_TRACE("LEAT_SEED=" + std::to_string(property::seed() + round) + ", " +
                     std::to_string(peers) + " workers, " +
                     (mode == core::ProgressMode::eager ? "eager" : "demand"));
        attempt(plan, peers, mode, rng);
        if (::testing::Test::HasFailure()) return;
      }
    }
  }
}

TEST(RandomDataflow, EqualsItsEvaluationForAnyWorkersModeAndInterleaving) {
  for_all(40, [](const Plan& plan, std::size_t peers, core::ProgressMode mode, Rng& rng) {
    World world(plan, peers, 1, mode, rng);
    for (std::uint64_t steps = 0; !world.over(); ++steps) {
      ASSERT_LT(steps, kSteps) << "it does not end";
      world.act(rng);
    }
    const Findings found = joined(std::move(world.flows[0].findings));
    EXPECT_EQ(found.broken, "");
    EXPECT_EQ(found.seen, evaluated(plan));
  });
}

TEST(RandomDataflow, ThatIsCancelledEndsEverywhereAndLeavesAnotherWhole) {
  for_all(25, [](const Plan& plan, std::size_t peers, core::ProgressMode mode, Rng& rng) {
    World world(plan, peers, 2, mode, rng);
    const std::uint64_t point = rng.below(150);
    std::size_t canceller = peers;
    std::optional<std::size_t> said;  // when all had agreed
    for (std::uint64_t steps = 0; !world.over(); ++steps) {
      ASSERT_LT(steps, kSteps) << "it does not end";
      const std::size_t index = world.act(rng);
      if (steps >= point && canceller == peers && world.built[index]) {
        canceller = index;
        world.workers[index]->cancel(0);
      }
      if (canceller != peers && !said &&
          world.workers[canceller]->state(0) == DataflowState::cancelled) {
        said = joined(world.flows[0].findings).seen.size();
      }
    }
    const Seen expected = evaluated(plan);
    const Findings doomed = joined(std::move(world.flows[0].findings));
    const Findings whole = joined(std::move(world.flows[1].findings));
    EXPECT_EQ(doomed.broken, "");
    EXPECT_EQ(whole.broken, "");
    EXPECT_EQ(whole.seen, expected);
    EXPECT_TRUE(
        std::includes(expected.begin(), expected.end(), doomed.seen.begin(), doomed.seen.end()));
    EXPECT_EQ(doomed.seen.size(), said.value_or(doomed.seen.size()));
  });
}

TEST(RandomDataflow, AnExceptionAnywhereEndsAllAndIsTheEndingOfItsWorker) {
  for_all(15, [](const Plan& plan, std::size_t peers, core::ProgressMode mode, Rng& rng) {
    const std::size_t victim = rng.below(peers);
    const std::uint64_t fuse = 1 + rng.below(60);
    const std::uint64_t payload = rng.next();
    const bool is_caught = rng.below(2) == 0;
    std::vector<Findings> findings(peers);
    bool is_built = false;  // by the victim
    findings[victim].fuse = fuse;
    findings[victim].payload = payload;
    const auto outcome = execute(draw_config(rng, peers, mode), [&](Worker& worker) {
      Input<Token> input;
      const auto work = [&] {
        build(plan, worker, input, findings[worker.index()]);
        if (worker.index() == victim) is_built = true;
        for (std::size_t i = worker.index(); i < plan.input.size(); i += peers) {
          input.advance_to(plan.input[i].first);
          input.send(plan.input[i].second);
          worker.step();
        }
        input.close();
        while (worker.step_or_park()) {
        }
      };
      if (!is_caught) return work();
      try {
        work();
      } catch (const Boom&) {
      }
    });
    if (findings[victim].fuse != 0) {  // it was over before
      EXPECT_TRUE(outcome.ok());
      const Findings found = joined(std::move(findings));
      EXPECT_EQ(found.broken, "");
      EXPECT_EQ(found.seen, evaluated(plan));
      return;
    }
    if (peers == 1 && is_caught && !is_built) {  // nobody built it: that is the program's affair
      EXPECT_TRUE(outcome.ok());
      return;
    }
    for (std::size_t index = 0; index < peers; ++index) {
      const auto& ending = outcome.ending(index);
      if (index != victim) {
        EXPECT_TRUE(ending.stopped || ending.error == nullptr) << comm::message_of(ending.error);
        continue;
      }
      ASSERT_NE(ending.error, nullptr);
      EXPECT_FALSE(ending.stopped);
      try {
        std::rethrow_exception(ending.error);
      } catch (const Boom& boom) {
        EXPECT_EQ(boom.number, payload);
      }
    }
  });
}

TEST(RandomDataflow, OnThreadsEqualsItsEvaluationAlsoBesideOneThatIsCancelled) {
  for_all(15, [](const Plan& plan, std::size_t peers, core::ProgressMode mode, Rng& rng) {
    const std::size_t canceller = rng.below(peers);
    const std::uint64_t point = rng.below(20);
    std::vector<Findings> findings(peers);
    std::vector<Findings> doomed(peers);
    const auto outcome = execute(draw_config(rng, peers, mode), [&](Worker& worker) {
      const std::size_t index = worker.index();
      Input<Token> input;
      Input<Token> in_vain;
      build(plan, worker, in_vain, doomed[index]);
      build(plan, worker, input, findings[index]);
      auto step = [&, steps = std::uint64_t{0}]() mutable {
        if (index == canceller && steps++ == point) worker.cancel(0);
        return worker.step();
      };
      for (std::size_t i = index; i < plan.input.size(); i += peers) {
        for (auto* each : {&input, &in_vain}) {
          each->advance_to(plan.input[i].first);
          each->send(plan.input[i].second);
        }
        step();
      }
      input.close();
      in_vain.close();
      for (std::uint64_t i = 0; i <= point && step(); ++i) {
      }
      while (worker.step_or_park()) {
      }
    });
    EXPECT_TRUE(outcome.ok());
    const Seen expected = evaluated(plan);
    const Findings found = joined(std::move(findings));
    EXPECT_EQ(found.broken, "");
    EXPECT_EQ(found.seen, expected);
    const Findings part = joined(std::move(doomed));
    EXPECT_EQ(part.broken, "");
    EXPECT_TRUE(
        std::includes(expected.begin(), expected.end(), part.seen.begin(), part.seen.end()));
  });
}

}  // namespace
}  // namespace leat::dataflow
