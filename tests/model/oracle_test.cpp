// Random small programs: the outcomes that the model checker finds are those of the axioms. The
// oracle here knows nothing of views, schedules or promises. It lists every candidate execution
// (which store each load reads, which order the stores of a word have) and keeps those that the
// sentences of the C++20 standard allow, written down as relations between events.

#include <leat/base/model/explore.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <leat/base/atomic.hpp>
#include <leat/base/rng.hpp>

namespace leat {
namespace {

struct edge : Edge {};  // every synchronising pair here

constexpr int kWords = 2;

struct Step {
  enum class Kind { load, store, exchange, fence };
  Kind kind;
  int word;
  bool acquire;
  bool release;
  bool seq_cst;
  int value;  // of stores and exchanges; each value is stored once
};
using Program = std::vector<std::vector<Step>>;

std::string show(const Program& program) {
  std::string text;
  for (const auto& thread : program) {
    for (const Step& step : thread) {
      const char* order = step.seq_cst                   ? "sc"
                          : step.acquire && step.release ? "acq_rel"
                          : step.acquire                 ? "acq"
                          : step.release                 ? "rel"
                                                         : "rlx";
      const std::string word(1, static_cast<char>('x' + step.word));
      switch (step.kind) {
        case Step::Kind::load:
          text += "load(" + word + ", " + order + "); ";
          break;
        case Step::Kind::store:
          text += "store(" + word + ", " + std::to_string(step.value) + ", " + order + "); ";
          break;
        case Step::Kind::exchange:
          text += "exchange(" + word + ", " + std::to_string(step.value) + ", " + order + "); ";
          break;
        case Step::Kind::fence:
          text += std::string("fence(") + order + "); ";
          break;
      }
    }
    text += "|| ";
  }
  return text;
}

Step random_fence(Rng& rng) {
  const auto strength = rng.below(5);
  Step step{};
  step.kind = Step::Kind::fence;
  step.seq_cst = strength >= 3;
  step.acquire = strength != 1;
  step.release = strength != 0;
  return step;
}

Program random_program(Rng& rng, bool from_the_future, bool fences) {
  // Fences and promises together make many executions: three threads would be too many.
  Program program(2 + (from_the_future && fences ? 0 : rng.below(2)));
  int value = 0;
  const std::size_t steps_max = program.size() == 2 ? 3 : 2;
  for (auto& thread : program) {
    const std::size_t steps = 1 + rng.below(steps_max);
    for (std::size_t i = 0; i < steps; ++i) {
      const auto pick = rng.below(5);
      Step step{};
      step.kind = pick < 2 ? Step::Kind::load : pick < 4 ? Step::Kind::store : Step::Kind::exchange;
      step.word = static_cast<int>(rng.below(kWords));
      // What a fence can order is best seen of accesses that order little themselves.
      const auto drawn = rng.below(fences ? 6 : 3);
      const auto strength = drawn < 3 ? drawn : 0;
      step.seq_cst = strength == 2;
      const bool ordered = strength >= 1;
      if (step.kind == Step::Kind::exchange && strength == 1) {
        const auto half = rng.below(3);
        step.acquire = half != 1;
        step.release = half != 0;
      } else {
        step.acquire = ordered && step.kind != Step::Kind::store;
        step.release = ordered && step.kind != Step::Kind::load;
      }
      if (step.kind != Step::Kind::load) step.value = ++value;
      thread.push_back(step);
      if (fences && i + 1 < steps && rng.below(4) != 0) thread.push_back(random_fence(rng));
    }
  }
  return program;
}

// The outcome of an execution: what each load and exchange read, and what the words hold at the
// end.
std::string outcome(const std::vector<int>& read, const std::vector<int>& last) {
  std::string text;
  for (const int value : read) text += std::to_string(value) + " ";
  text += "|";
  for (const int value : last) text += " " + std::to_string(value);
  return text;
}

// The oracle.

constexpr std::size_t kEventsMax = 16;

struct Relation {
  std::array<std::array<bool, kEventsMax>, kEventsMax> has{};
  std::size_t size;

  explicit Relation(std::size_t events) : size(events) {}
  void close() {
    for (std::size_t k = 0; k < size; ++k) {
      for (std::size_t i = 0; i < size; ++i) {
        if (!has[i][k]) continue;
        for (std::size_t j = 0; j < size; ++j) has[i][j] = has[i][j] || has[k][j];
      }
    }
  }
  [[nodiscard]] bool cyclic() const {
    for (std::size_t i = 0; i < size; ++i) {
      if (has[i][i]) return true;
    }
    return false;
  }
};

class Oracle {
 public:
  Oracle(const Program& program, bool from_the_future) : from_the_future_(from_the_future) {
    for (int word = 0; word < kWords; ++word) {
      events_.push_back({{Step::Kind::store, word, false, false, false, 0}, -1});
    }
    for (std::size_t t = 0; t < program.size(); ++t) {
      for (const Step& step : program[t]) events_.push_back({step, static_cast<int>(t)});
    }
    source_.assign(events_.size(), 0);
    modification_.resize(kWords);
    for (std::size_t e = 0; e < events_.size(); ++e) {
      if (writes(e)) modification_[word(e)].push_back(e);  // the initial store is the first
    }
  }

  std::set<std::string> outcomes() {
    order_word(0);
    return found_;
  }

 private:
  struct Event {
    Step step;
    int thread;  // -1: before all
  };

  bool fences(std::size_t e) const { return events_[e].step.kind == Step::Kind::fence; }
  bool writes(std::size_t e) const {
    return modifies(e) || events_[e].step.kind == Step::Kind::store;
  }
  bool reads(std::size_t e) const {
    return modifies(e) || events_[e].step.kind == Step::Kind::load;
  }
  bool modifies(std::size_t e) const { return events_[e].step.kind == Step::Kind::exchange; }
  std::size_t word(std::size_t e) const { return static_cast<std::size_t>(events_[e].step.word); }

  void order_word(std::size_t w) {
    if (w == kWords) return read_event(0);
    auto& order = modification_[w];
    std::sort(order.begin() + 1, order.end());
    do order_word(w + 1);
    while (std::next_permutation(order.begin() + 1, order.end()));
  }

  void read_event(std::size_t e) {
    if (e == events_.size()) return check();
    if (!reads(e)) return read_event(e + 1);
    const auto& order = modification_[word(e)];
    for (std::size_t i = 0; i < order.size(); ++i) {
      // A read-modify-write reads the store right before it.
      if (modifies(e) && (i + 1 == order.size() || order[i + 1] != e)) continue;
      source_[e] = order[i];
      read_event(e + 1);
    }
  }

  void check() {
    const std::size_t n = events_.size();
    std::vector<std::size_t> position(n);
    for (const auto& order : modification_) {
      for (std::size_t i = 0; i < order.size(); ++i) position[order[i]] = i;
    }

    Relation before(n);  // sequenced before; what stands before all threads is before all
    for (std::size_t a = 0; a < n; ++a) {
      for (std::size_t b = 0; b < n; ++b) {
        before.has[a][b] =
            (events_[a].thread == -1 && events_[b].thread != -1) ||
            (a < b && events_[a].thread != -1 && events_[a].thread == events_[b].thread);
      }
    }

    // Synchronises with: a load that acquires and reads from the release sequence of a release. In
    // place of the load, an acquire fence behind it; in place of the release, a release fence before
    // a store whose release sequence is read, or would be if it released.
    const auto releases = [&](std::size_t w, const auto& then) {
      if (events_[w].step.release) then(w);
      for (std::size_t f = 0; f < n; ++f) {
        if (fences(f) && events_[f].step.release && before.has[f][w]) then(f);
      }
    };
    const auto acquires = [&](std::size_t r, const auto& then) {
      if (events_[r].step.acquire) then(r);
      for (std::size_t f = 0; f < n; ++f) {
        if (fences(f) && events_[f].step.acquire && before.has[r][f]) then(f);
      }
    };
    Relation synchronises(n);
    Relation follows = before;  // sequenced before, or reads from
    for (std::size_t r = 0; r < n; ++r) {
      if (!reads(r)) continue;
      follows.has[source_[r]][r] = true;
      std::size_t w = source_[r];
      for (;;) {
        releases(w, [&](std::size_t from) {
          acquires(r, [&](std::size_t to) { synchronises.has[from][to] = true; });
        });
        if (!modifies(w)) break;
        w = source_[w];
      }
    }
    if (!from_the_future_) {
      follows.close();
      if (follows.cyclic()) return;
    }

    Relation happens = before;
    for (std::size_t a = 0; a < n; ++a) {
      for (std::size_t b = 0; b < n; ++b) {
        happens.has[a][b] = happens.has[a][b] || synchronises.has[a][b];
      }
    }
    happens.close();
    if (happens.cyclic()) return;

    // Coherence-ordered before: reads from, modification order, reads before, and what they
    // compose.
    Relation coherence(n);
    for (std::size_t a = 0; a < n; ++a) {
      for (std::size_t b = 0; b < n; ++b) {
        if (a == b || fences(a) || fences(b) || word(a) != word(b)) continue;
        const bool reads_from = writes(a) && reads(b) && source_[b] == a;
        const bool modification = writes(a) && writes(b) && position[a] < position[b];
        const bool reads_before = reads(a) && writes(b) && position[source_[a]] < position[b];
        coherence.has[a][b] = reads_from || modification || reads_before;
      }
    }
    coherence.close();
    for (std::size_t a = 0; a < n; ++a) {
      for (std::size_t b = 0; b < n; ++b) {
        if (happens.has[a][b] && coherence.has[b][a]) return;
      }
    }

    // Strongly happens before, and the total order S.
    Relation strongly = before;
    for (std::size_t a = 0; a < n; ++a) {
      for (std::size_t b = 0; b < n; ++b) {
        if (synchronises.has[a][b] && events_[a].step.seq_cst && events_[b].step.seq_cst) {
          strongly.has[a][b] = true;
        }
        for (std::size_t c = 0; c < n; ++c) {
          for (std::size_t d = 0; d < n; ++d) {
            if (before.has[a][c] && happens.has[c][d] && before.has[d][b])
              strongly.has[a][b] = true;
          }
        }
      }
    }
    strongly.close();
    Relation total(n);
    for (std::size_t a = 0; a < n; ++a) {
      for (std::size_t b = 0; b < n; ++b) {
        if (events_[a].step.seq_cst && events_[b].step.seq_cst && strongly.has[a][b]) {
          total.has[a][b] = true;
        }
        if (!coherence.has[a][b]) continue;
        // From a, or a fence that happens before it, to b, or a fence that it happens before.
        for (std::size_t from = 0; from < n; ++from) {
          if (!events_[from].step.seq_cst) continue;
          if (from != a && !(fences(from) && happens.has[from][a])) continue;
          for (std::size_t to = 0; to < n; ++to) {
            if (!events_[to].step.seq_cst) continue;
            if (to == b || (fences(to) && happens.has[b][to])) total.has[from][to] = true;
          }
        }
      }
    }
    total.close();
    if (total.cyclic()) return;

    std::vector<int> read;
    for (std::size_t e = 0; e < n; ++e) {
      if (reads(e)) read.push_back(events_[source_[e]].step.value);
    }
    std::vector<int> last;
    for (const auto& order : modification_) last.push_back(events_[order.back()].step.value);
    found_.insert(outcome(read, last));
  }

  bool from_the_future_;
  std::vector<Event> events_;
  std::vector<std::size_t> source_;                     // the store that each load reads
  std::vector<std::vector<std::size_t>> modification_;  // the order of each word's stores
  std::set<std::string> found_;
};

// The checker.

int run_step(Atomic<int>& word, const Step& step) {
  switch (step.kind) {
    case Step::Kind::load:
      return step.seq_cst   ? word.load_seq_cst(edge{})
             : step.acquire ? word.load_acquire(edge{})
                            : word.load_relaxed();
    case Step::Kind::store:
      if (step.seq_cst) {
        word.store_seq_cst(step.value, edge{});
      } else if (step.release) {
        word.store_release(step.value, edge{});
      } else {
        word.store_relaxed(step.value);
      }
      return 0;
    case Step::Kind::exchange:
      return step.seq_cst                   ? word.exchange_seq_cst(step.value, edge{}, edge{})
             : step.acquire && step.release ? word.exchange_acq_rel(step.value, edge{}, edge{})
             : step.acquire                 ? word.exchange_acquire(step.value, edge{})
             : step.release                 ? word.exchange_release(step.value, edge{})
                                            : word.exchange_relaxed(step.value);
    case Step::Kind::fence:
      if (step.seq_cst) {
        fence_seq_cst(edge{}, edge{});
      } else if (step.acquire && step.release) {
        fence_acq_rel(edge{}, edge{});
      } else if (step.acquire) {
        fence_acquire(edge{});
      } else {
        fence_release(edge{});
      }
      return 0;
  }
  return 0;
}

std::set<std::string> checked(const Program& program, int promises) {
  struct World {
    std::array<Atomic<int>, kWords> words{};
    std::vector<std::vector<int>> read;
  };
  const model::Options options{
      .preemptions = model::kUnbounded, .promises = promises, .stale_repeats = 100};
  const model::Result result = model::explore(options, [&](model::Run& run) {
    auto world = std::make_shared<World>();
    world->read.resize(program.size());
    for (std::size_t t = 0; t < program.size(); ++t) {
      run.thread([&program, world, t] {
        for (const Step& step : program[t]) {
          const int value = run_step(world->words[static_cast<std::size_t>(step.word)], step);
          if (step.kind == Step::Kind::load || step.kind == Step::Kind::exchange) {
            world->read[t].push_back(value);
          }
        }
      });
    }
    run.join();
    std::vector<int> read;
    for (const auto& each : world->read) read.insert(read.end(), each.begin(), each.end());
    std::vector<int> last;
    for (const auto& word : world->words) last.push_back(word.load_relaxed());
    run.outcome(outcome(read, last));
  });
  EXPECT_TRUE(result.ok) << result.failure;
  EXPECT_TRUE(result.complete);
  std::set<std::string> found;
  for (const auto& [text, count] : result.outcomes) found.insert(text);
  return found;
}

std::string difference(const std::set<std::string>& from, const std::set<std::string>& what) {
  std::string text;
  for (const std::string& each : from) {
    if (!what.contains(each)) text += "[" + each + "] ";
  }
  return text;
}

void compare(std::uint64_t seed, int programs, bool from_the_future, bool fences) {
  Rng rng(seed);
  for (int i = 0; i < programs; ++i) {
    const Program program = random_program(rng, from_the_future, fences);
    const auto allowed = Oracle(program, from_the_future).outcomes();
    const auto found = checked(program, from_the_future ? 3 : 0);
    ASSERT_EQ(difference(allowed, found), "") << "missed, program " << i << ": " << show(program);
    ASSERT_EQ(difference(found, allowed), "") << "made up, program " << i << ": " << show(program);
  }
}

// LEAT_ORACLE_SEED and LEAT_ORACLE_PROGRAMS look elsewhere, and further.
std::uint64_t setting(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

TEST(Oracle, AgreesOnWhatLoadsMayReadOfStoresMade) {
  compare(setting("LEAT_ORACLE_SEED", 1), static_cast<int>(setting("LEAT_ORACLE_PROGRAMS", 400)),
          false, false);
}

TEST(Oracle, AgreesOnWhatLoadsMayReadOfStoresYetToCome) {
  compare(setting("LEAT_ORACLE_SEED", 2), static_cast<int>(setting("LEAT_ORACLE_PROGRAMS", 100)),
          true, false);
}

TEST(Oracle, AgreesOnFences) {
  compare(setting("LEAT_ORACLE_SEED", 3), static_cast<int>(setting("LEAT_ORACLE_PROGRAMS", 400)),
          false, true);
}

TEST(Oracle, AgreesOnFencesAndStoresYetToCome) {
  compare(setting("LEAT_ORACLE_SEED", 4), static_cast<int>(setting("LEAT_ORACLE_PROGRAMS", 60)),
          true, true);
}

}  // namespace
}  // namespace leat
