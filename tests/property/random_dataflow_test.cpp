// Random dataflows, compared with a direct evaluation: graphs with loops and a nested scope,
// records that move on in time, operators that hold capabilities for a while, one to four workers
// stepped in random order on one thread, in both progress modes.
//
// Three things must hold for each: the records that come out, with their times, are those of the
// evaluation (nothing lost, nothing twice); no operator ever sees a time that its frontier had
// passed (safe); and the dataflow ends within a bound of steps once its input is closed (live).
#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

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

// How one node is fed. Nodes of the nested scope come between the outer nodes and the sink.
struct Edge {
  std::size_t from;
  std::size_t to;
  bool loop;  // against the order of construction: through a feedback
};

struct Plan {
  std::size_t outer = 0;   // nodes 0 .. outer-1 in the root scope; node 0 is the input
  std::size_t nested = 0;  // nodes outer .. outer+nested-1 in an iterative scope
  std::vector<Edge> edges;
  std::vector<std::size_t> into_nested;  // outer nodes that enter at the first nested node
  std::vector<std::pair<std::uint64_t, Token>> input;
  std::uint64_t holds = 0;  // salt for how long operators hold what they got

  [[nodiscard]] std::size_t sink() const { return outer + nested; }
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
    for (std::size_t to = plan.outer + 1; to < plan.sink(); ++to) {
      plan.edges.push_back({plan.outer + rng.below(to - plan.outer), to, false});
    }
    for (std::uint64_t loops = rng.below(2) + 1; loops > 0; --loops) {
      const std::size_t to = plan.outer + rng.below(plan.nested);
      plan.edges.push_back({to + rng.below(plan.sink() - to), to, true});
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
}

// What goes wrong is noted here rather than thrown: operators must not end the run.
struct Findings {
  Seen seen;
  std::string broken;
};

template <class T>
T shifted(const T& time, const Token& token) {
  if constexpr (std::is_same_v<T, std::uint64_t>) {
    return time + shift_of(token);
  } else {
    return T{time.outer, time.inner + shift_of(token)};
  }
}

// The operator of every node: holds what it gets for some runs, then passes it on.
template <class T>
auto node_operator(const Plan& plan, std::size_t node, Findings& findings, std::size_t worker) {
  return [&plan, &findings, node, worker](Capability<T>, const OperatorInfo& info) {
    struct Held {
      Capability<T> capability;
      Token token;
      std::uint64_t runs;
    };
    return [&plan, &findings, node, worker, activation = info.activation,
            held = std::vector<Held>(),
            promised = std::vector<T>{progress::TimestampTraits<T>::minimum()}](
               auto& input, auto& output) mutable {
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
          if (token.hops == 0) continue;
          const std::uint64_t runs = mix64(token.id ^ plan.holds ^ worker) % 4;
          held.push_back({message.delayed(shifted(time, token)), token, runs});
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
    const auto route = [](const Token& token) { return token.id; };
    const std::string name = "node " + std::to_string(node);
    streams[node] = node % 2 == 0 ? all | unary_frontier<Token>(pipeline, name, make)
                                  : all | unary_frontier<Token>(exchange_by(route), name, make);
  }
  for (auto& loop : open) *streams[loop.from] | connect_loop(std::move(loop.handle));
}

struct World {
  const Plan& plan;
  core::Config config;
  comm::Fabric fabric;
  Findings findings;
  std::vector<std::unique_ptr<Worker>> workers;
  std::vector<Input<Token>> inputs;

  World(const Plan& p, std::size_t peers, core::ProgressMode mode)
      : plan(p), fabric(peers), inputs(peers) {
    config.progress_mode = mode;
    for (std::size_t index = 0; index < peers; ++index) {
      workers.push_back(std::make_unique<Worker>(fabric.seat(index), config, nullptr));
    }
  }
  ~World() {
    inputs.clear();
    workers.clear();
  }

  void build(std::size_t index) {
    workers[index]->dataflow([&](auto& scope) {
      using Time = std::uint64_t;
      std::vector<std::optional<StreamOf<Time, Token>>> streams(plan.sink());
      streams[0] = scope.input(inputs[index]);
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
          build_nodes<Inner>(inner, plan, plan.outer, plan.sink(), nodes, Inner{0, 1}, entered,
                             findings);
          std::vector<StreamOf<Time, Token>> leaving;
          for (std::size_t node = plan.outer; node < plan.sink(); ++node)
            leaving.push_back(*nodes[node] | leave(scope));
          return leaving;
        });
        for (auto& stream : left) to_sink.push_back(std::move(stream));
      }
      concatenate(scope, std::move(to_sink)) |
          exchange([](const Token& token) { return token.id / 7; }) |
          inspect_time([this](Time time, const Token& token) {
            findings.seen.emplace_back(time, token.id);
          });
    });
  }
};

// Builds and runs `plan` on `peers` workers, whose steps and inputs are interleaved at random.
void run(const Plan& plan, std::size_t peers, core::ProgressMode mode, Rng& rng,
         Findings& findings) {
  World world(plan, peers, mode);
  std::vector<bool> built(peers, false);
  std::size_t fed = 0;
  std::size_t unbuilt = peers;
  std::size_t open_inputs = peers;
  for (std::uint64_t steps_left = 200'000; steps_left > 0; --steps_left) {
    const std::size_t index = rng.below(peers);
    if (!built[index]) {  // late: its peers' batches and records wait for it
      if (rng.below(3) != 0) continue;
      world.build(index);
      built[index] = true;
      --unbuilt;
      continue;
    }
    auto& input = world.inputs[index];
    if (unbuilt == 0 && rng.below(2) == 0 && open_inputs > 0) {
      // Tokens are dealt to the workers in turn; each moves its own input on as it likes.
      if (fed < plan.input.size()) {
        const auto& [time, token] = plan.input[fed++];
        input.advance_to(std::max(input.time(), time));
        if (input.time() == time) {
          input.send(token);
        } else {
          --fed;  // this worker is past that time: another must send it
          for (auto& other : world.inputs) {
            if (other.time() <= time) {
              other.advance_to(time);
              other.send(plan.input[fed++].second);
              break;
            }
          }
        }
      } else {
        for (auto& each : world.inputs) each.close();
        open_inputs = 0;
      }
    }
    world.workers[index]->step();
    const bool over =
        open_inputs == 0 && std::none_of(world.workers.begin(), world.workers.end(),
                                         [](auto& worker) { return worker->has_dataflows(); });
    if (over) {
      findings = std::move(world.findings);
      return;
    }
  }
  world.findings.broken = "did not end";
  findings = std::move(world.findings);
}

void compare(std::uint64_t rounds) {
  for (std::uint64_t round = 0; round < rounds; ++round) {
    Rng rng(property::seed() + round);
    const Plan plan = draw_plan(rng);
    Seen expected;
    for (const auto& [time, token] : plan.input) evaluate(plan, 0, time, token, expected);
    std::sort(expected.begin(), expected.end());
    for (const auto mode : {core::ProgressMode::eager, core::ProgressMode::demand}) {
      for (std::size_t peers = 1; peers <= 4; ++peers) {
        Findings findings;
        run(plan, peers, mode, rng, findings);
        std::sort(findings.seen.begin(), findings.seen.end());
        ASSERT_EQ(findings.broken, "")
            << "LEAT_SEED=" << property::seed() + round << ", " << peers << " workers, "
            << (mode == core::ProgressMode::eager ? "eager" : "demand");
        ASSERT_EQ(findings.seen, expected)
            << "LEAT_SEED=" << property::seed() + round << ", " << peers << " workers";
      }
    }
  }
}

TEST(RandomDataflow, EqualsItsEvaluationForAnyWorkersModeAndInterleaving) {
  const char* const rounds = std::getenv("LEAT_ROUNDS");
  compare(rounds != nullptr ? std::strtoull(rounds, nullptr, 10) : 60);
}

}  // namespace
}  // namespace leat::dataflow
