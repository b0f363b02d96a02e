#include <leat/dataflow/container.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <leat/dataflow.hpp>
#include <leat/dataflow/container_builder.hpp>
#include <leat/dataflow/test_world.hpp>

namespace leat::dataflow {
namespace {

using test::World;

using Number = std::uint64_t;
using Numbers = std::vector<Number>;

// A container that is no vector: its own word for size, full with three.
struct Few {
  using value_type = Number;

  std::deque<Number> numbers;

  [[nodiscard]] std::size_t record_count() const { return numbers.size(); }
  [[nodiscard]] bool at_capacity() const { return numbers.size() >= 3; }
  void clear() { numbers.clear(); }
  void push_back(Number number) { numbers.push_back(number); }
  [[nodiscard]] auto begin() { return numbers.begin(); }
  [[nodiscard]] auto end() { return numbers.end(); }
  [[nodiscard]] auto begin() const { return numbers.begin(); }
  [[nodiscard]] auto end() const { return numbers.end(); }
};

// Counted, and no more: it can be carried, but not looked at or filled.
struct Opaque {
  using value_type = Number;
  std::size_t records = 0;
  [[nodiscard]] std::size_t size() const { return records; }
  void clear() { records = 0; }
};

struct Wide {
  char bytes[9000];
};
struct Empty {};

static_assert(Drainable<Numbers> && PushInto<Numbers, int> && !PushInto<Numbers, std::string>);
static_assert(Drainable<Few> && PushInto<Few, Number>);
static_assert(Container<Opaque> && !Drainable<Opaque> && !PushInto<Opaque, Number>);
static_assert(!Container<int> && !Container<Numbers&>);
static_assert(CopyableContainer<Few> && !CopyableContainer<std::vector<std::unique_ptr<int>>>);
static_assert(std::same_as<TakenOf<Numbers>, Number&&> &&
              std::same_as<ReadOf<Numbers>, const Number&>);
static_assert(std::same_as<BatchOf<Number>, Numbers> && std::same_as<BatchOf<Batched<Few>>, Few>);
static_assert(kBatchRecords<Number> == 1024 && kBatchRecords<Wide> == 1 &&
              kBatchRecords<Empty> == 8192);

TEST(Container, IsAtCapacityWith8KiBOfRecordsUnlessItSaysOtherwise) {
  EXPECT_FALSE(at_capacity(Numbers(kBatchRecords<Number> - 1)));
  EXPECT_TRUE(at_capacity(Numbers(kBatchRecords<Number>)));
  EXPECT_FALSE(at_capacity(std::vector<Wide>()));
  EXPECT_TRUE(at_capacity(std::vector<Wide>(1)));
  EXPECT_FALSE(at_capacity(Few{{1, 2}}));
  EXPECT_TRUE(at_capacity(Few{{1, 2, 3}}));
  EXPECT_EQ(record_count(Few{{1, 2}}), 2u);
}

// --- the default builder

// Knows how much memory its vectors hold.
template <class T>
struct Tracked {
  using value_type = T;
  static inline std::size_t bytes = 0;

  Tracked() = default;
  template <class U>
  explicit Tracked(const Tracked<U>&) {}
  T* allocate(std::size_t count) {
    bytes += count * sizeof(T);
    return std::allocator<T>().allocate(count);
  }
  void deallocate(T* place, std::size_t count) {
    bytes -= count * sizeof(T);
    std::allocator<T>().deallocate(place, count);
  }
  friend bool operator==(const Tracked&, const Tracked&) { return true; }
};
using TrackedNumbers = std::vector<Number, Tracked<Number>>;

static_assert(PreservesLength<CapacityBuilder<Numbers>>);
static_assert(BuilderFor<CapacityBuilder<Numbers>, Number>);
static_assert(!BuilderFor<CapacityBuilder<Numbers>, std::string>);

TEST(CapacityBuilder, GivesFullBatchesEarlyAndInOrder) {
  CapacityBuilder<Few> builder;
  std::vector<bool> told;
  for (Number i = 0; i < 8; ++i) told.push_back(builder.push(i));
  EXPECT_EQ(told, (std::vector<bool>{false, false, true, false, false, true, false, false}));
  std::vector<std::deque<Number>> batches;
  while (Few* batch = builder.extract()) batches.push_back(batch->numbers);
  EXPECT_EQ(batches, (std::vector<std::deque<Number>>{{0, 1, 2}, {3, 4, 5}}));
  while (Few* batch = builder.finish()) batches.push_back(batch->numbers);
  EXPECT_EQ(batches.back(), (std::deque<Number>{6, 7}));
  EXPECT_EQ(batches.size(), 3u);
  EXPECT_EQ(builder.finish(), nullptr);
}

TEST(CapacityBuilder, FinishesWithFullBatchesFirst) {
  CapacityBuilder<Few> builder;
  for (Number i = 0; i < 4; ++i) builder.push(i);
  std::vector<std::size_t> sizes;
  while (Few* batch = builder.finish()) sizes.push_back(record_count(*batch));
  EXPECT_EQ(sizes, (std::vector<std::size_t>{3, 1}));
}

TEST(CapacityBuilder, FillsTheMemoryThatComesBackAndRelaxesToNothing) {
  using Builder = CapacityBuilder<TrackedNumbers>;
  const std::size_t before = Tracked<Number>::bytes;
  {
    Builder builder;
    const auto fill = [&] {
      for (Number i = 0; i < 3 * kBatchRecords<Number>; ++i) {
        if (!builder.push(i)) continue;
        while (auto* batch = builder.extract()) {
          EXPECT_EQ(batch->size(), kBatchRecords<Number>);
          batch->push_back(7);  // whatever is left in it is forgotten
        }
      }
    };
    fill();
    const std::size_t steady = Tracked<Number>::bytes;
    fill();
    EXPECT_EQ(Tracked<Number>::bytes, steady);
    builder.push(Number{1});
    while (auto* batch = builder.finish()) EXPECT_EQ(*batch, TrackedNumbers{1});
    builder.relax();
    EXPECT_EQ(Tracked<Number>::bytes, before);
    builder.push(Number{2});
    EXPECT_EQ(*builder.finish(), TrackedNumbers{2});
  }
  EXPECT_EQ(Tracked<Number>::bytes, before);
}

// --- any container, through the engine

// Notes the sizes of the batches that pass, and their records.
struct Seen {
  std::vector<std::size_t> sizes;
  Numbers numbers;
  auto op() {
    return inspect_batch([this](const Number&, const Few& batch) {
      sizes.push_back(batch.record_count());
      numbers.insert(numbers.end(), batch.begin(), batch.end());
    });
  }
  [[nodiscard]] Numbers sorted() const {
    Numbers all = numbers;
    std::sort(all.begin(), all.end());
    return all;
  }
};

TEST(Container, OfAnyKindGoesThroughOperatorsScopesAndWorkers) {
  for (const std::size_t peers : {1U, 2U, 3U}) {
    World world(peers);
    std::vector<Input<Batched<Few>>> inputs(peers);
    std::vector<Seen> seen(peers);
    std::vector<Probe<>> probes(peers);
    for (std::size_t i = 0; i < peers; ++i) {
      world[i].dataflow([&](auto& scope) {
        auto numbers = scope.input(inputs[i]) |
                       unary<Batched<Few>>(pipeline, "double",
                                           [](auto, const OperatorInfo&) {
                                             return [](auto& input, auto& output) {
                                               input.for_each([&](auto& message) {
                                                 auto session = output.session(message);
                                                 for (const Number n : message.records())
                                                   session.give(2 * n);
                                               });
                                             };
                                           }) |
                       exchange([](Number n) { return n / 2; });
        auto through = scope.region("region", [&](auto& inner) {
          return numbers | enter(inner) | filter([](Number n) { return n != 10; }) | leave(scope);
        });
        auto none = through | filter([](Number) { return false; });
        through | concat(none) | probe(probes[i]) | seen[i].op();
      });
    }
    for (Number n = 0; n < 20; ++n) inputs[n % peers].send(n);
    for (auto& input : inputs) input.advance_to(1);
    world.steps(50);
    Numbers all;
    for (std::size_t i = 0; i < peers; ++i) {
      EXPECT_FALSE(probes[i].less_than(1)) << peers << " workers";
      EXPECT_LE(*std::max_element(seen[i].sizes.begin(), seen[i].sizes.end()), 3u);
      for (const Number n : seen[i].numbers) EXPECT_EQ(n / 2 % peers, i);
      all.insert(all.end(), seen[i].numbers.begin(), seen[i].numbers.end());
    }
    std::sort(all.begin(), all.end());
    Numbers wanted;
    for (Number n = 0; n < 20; ++n) {
      if (n != 5) wanted.push_back(2 * n);
    }
    EXPECT_EQ(all, wanted) << peers << " workers";
    for (auto& input : inputs) input.close();
    EXPECT_TRUE(world.ends());
  }
}

TEST(Container, OfAnyKindGoesRoundALoop) {
  World world;
  Input<Batched<Few>> input;
  Seen seen;
  world[0].dataflow([&](auto& scope) {
    auto [loop, again] = feedback<Batched<Few>>(scope, 1);
    auto countdown = scope.input(input) | concat(again) | seen.op();
    countdown | filter([](Number n) {
      return n > 0;
    }) | unary<Batched<Few>>(pipeline, "less one", [](auto, const OperatorInfo&) {
      return [](auto& numbers, auto& output) {
        numbers.for_each([&](auto& message) {
          for (Number& n : message.records()) --n;
          output.session(message).give_batch(message.records());
        });
      };
    }) | connect_loop(std::move(loop));
  });
  input.send(5);
  input.close();
  EXPECT_TRUE(world.ends());
  EXPECT_EQ(seen.sorted(), (Numbers{0, 1, 2, 3, 4, 5}));
}

TEST(Container, ThatCannotBeLookedIntoIsCarriedAndCounted) {
  World world(1);
  std::size_t seen = 0;
  world[0].dataflow([&](auto& scope) {
    auto opaque = source<Batched<Opaque>>(
        scope, "opaque", [](Capability<Number> capability, const OperatorInfo&) {
          return [capability = std::move(capability)](auto& output) mutable {
            if (!capability) return;
            output.session(capability).give_batch(Opaque{3});
            output.session(capability).give_batch(Opaque{0});  // goes nowhere
            capability.release();
          };
        });
    opaque | inspect_batch([&](const Number&, const Opaque& batch) {
      EXPECT_EQ(seen, 0u);
      seen = batch.records;
    });
  });
  EXPECT_TRUE(world.ends());
  EXPECT_EQ(seen, 3u);
}

TEST(Input, SendsABatchOfAnyContainerTogetherWithWhatWaits) {
  World world;
  Input<Batched<Few>> input;
  Seen seen;
  world[0].dataflow([&](auto& scope) { scope.input(input) | seen.op(); });
  input.send(1);
  input.send_batch(Few{{2, 3, 4}});
  world.steps();
  EXPECT_EQ(seen.sizes, (std::vector<std::size_t>{4}));
  EXPECT_EQ(seen.numbers, (Numbers{1, 2, 3, 4}));
  input.close();
  EXPECT_TRUE(world.ends());
}

// --- builders of one's own

// Gives batches of two, the larger first.
struct DescendingPairs {
  using Batch = Numbers;
  static constexpr bool preserves_length = true;

  Numbers waiting;
  Numbers out;

  bool push(Number number) {
    waiting.push_back(number);
    return waiting.size() >= 2;
  }
  Numbers* extract() { return waiting.size() >= 2 ? take(2) : nullptr; }
  Numbers* finish() {
    return waiting.empty() ? nullptr : take(std::min<std::size_t>(2, waiting.size()));
  }
  void relax() {
    waiting = Numbers();
    out = Numbers();
  }

 private:
  Numbers* take(std::size_t count) {
    const auto end = waiting.begin() + static_cast<std::ptrdiff_t>(count);
    out.assign(waiting.begin(), end);
    waiting.erase(waiting.begin(), end);
    std::sort(out.begin(), out.end(), std::greater<>());
    return &out;
  }
};

// Adds up what it is given, two by two: it gives out fewer records than it was given.
struct Sums : DescendingPairs {
  static constexpr bool preserves_length = false;
  Numbers sum;
  Numbers* extract() { return added(DescendingPairs::extract()); }
  Numbers* finish() { return added(DescendingPairs::finish()); }

 private:
  Numbers* added(const Numbers* pair) {
    if (pair == nullptr) return nullptr;
    sum.assign(1, pair->front() + (pair->size() == 2 ? pair->back() : 0));
    return &sum;
  }
};
static_assert(PreservesLength<DescendingPairs> && ContainerBuilder<Sums> && !PreservesLength<Sums>);

TEST(Exchange, SendsWhatABuilderOfOnesOwnMakes) {
  World world(2);
  std::vector<Input<Number>> inputs(2);
  std::vector<std::vector<Numbers>> batches(2);
  for (std::size_t i = 0; i < 2; ++i) {
    world[i].dataflow([&](auto& scope) {
      scope.input(inputs[i]) |
          sink(exchange_by<DescendingPairs>([](Number n) { return n; }), "batches",
               [&batches, i](auto& input) {
                 input.for_each([&](auto& message) { batches[i].push_back(message.records()); });
               });
    });
  }
  for (Number n = 0; n < 10; ++n) inputs[0].send(n);
  for (auto& input : inputs) input.close();
  EXPECT_TRUE(world.ends());
  EXPECT_EQ(batches[0], (std::vector<Numbers>{{2, 0}, {6, 4}, {8}}));
  EXPECT_EQ(batches[1], (std::vector<Numbers>{{3, 1}, {7, 5}, {9}}));
}

TEST(Session, SendsWhatABuilderOfOnesOwnMakes) {
  World world;
  std::vector<Numbers> batches;
  world[0].dataflow([&](auto& scope) {
    source<Number>(scope, "sums", [](Capability<Number> capability, const OperatorInfo&) {
      return [capability = std::move(capability), sums = Sums()](auto& output) mutable {
        if (!capability) return;
        {
          auto session = output.session(capability, sums);
          for (Number n = 1; n <= 5; ++n) session.give(n);
        }
        EXPECT_EQ(sums.out.capacity(), 0u);  // relaxed
        capability.release();
      };
    }) | inspect_batch([&](const Number&, const Numbers& batch) { batches.push_back(batch); });
  });
  EXPECT_TRUE(world.ends());
  EXPECT_EQ(batches, (std::vector<Numbers>{{3}, {7}, {5}}));
}

}  // namespace
}  // namespace leat::dataflow
