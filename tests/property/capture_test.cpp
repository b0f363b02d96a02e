// A stream that is captured, dealt to parts, cut into pieces and replayed is the stream that it was:
// the same records at the same times, and at every moment the frontier that was written down.
#include <leat/dataflow/capture/event_bytes.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include <leat/base/hash.hpp>
#include <leat/base/rng.hpp>
#include <leat/comm/fabric.hpp>
#include <leat/dataflow.hpp>
#include <leat/progress/mutable_antichain.hpp>
#include <leat/progress/product.hpp>

#include "property.hpp"

namespace leat::dataflow {
namespace {

// Times with two parts, so that frontiers have several elements. A record has how many operators it
// may still pass in its lowest bits.
using Time = progress::Product<std::uint64_t, std::uint64_t>;
using Record = std::uint64_t;
using Batch = std::vector<Record>;
using Happened = Event<Time, Batch>;
using Seen = std::vector<std::pair<Time, Record>>;

constexpr Record kHops = 7;

// A way for bytes that moves some of them, or none, as chance says.
struct Bytes {
  std::vector<std::byte> waiting;
  Rng rng;

  explicit Bytes(std::uint64_t seed) : rng(seed) {}
};
class BytesEnd {
 public:
  explicit BytesEnd(std::shared_ptr<Bytes> bytes) : bytes_(std::move(bytes)) {}

  Io read(std::span<std::byte> into) {
    auto& waiting = bytes_->waiting;
    const std::size_t count = std::min<std::size_t>(waiting.size(), bytes_->rng.below(40));
    if (count == 0) return {IoState::none, 0};
    std::memcpy(into.data(), waiting.data(), count);
    waiting.erase(waiting.begin(), waiting.begin() + static_cast<std::ptrdiff_t>(count));
    return {IoState::some, count};
  }
  Io write(std::span<const std::byte> bytes) {
    const std::size_t count = std::min<std::size_t>(bytes.size(), bytes_->rng.below(60));
    if (count == 0) return {IoState::none, 0};
    bytes_->waiting.insert(bytes_->waiting.end(), bytes.begin(),
                           bytes.begin() + static_cast<std::ptrdiff_t>(count));
    return {IoState::some, count};
  }
  [[nodiscard]] const Error& error() const { return error_; }

 private:
  std::shared_ptr<Bytes> bytes_;
  Error error_;
};

// Either carrier; the replay looks at it again by itself.
class Source : public internal::Carries<Time, Batch> {
 public:
  template <class Reader>
  explicit Source(Reader reader) : reader_(std::move(reader)) {}

  Next next(Happened& into) {
    return std::visit([&](auto& reader) { return reader.next(into); }, reader_);
  }
  [[nodiscard]] const Error& error() const {
    return std::visit([](const auto& reader) -> const Error& { return reader.error(); }, reader_);
  }
  [[nodiscard]] std::size_t streams() const { return 1; }

 private:
  std::variant<EventLinkReader<Time, Batch>, EventReader<Time, Batch, BytesEnd>> reader_;
};

// Where a part of a captured stream is written.
class Part {
 public:
  Part(Rng& rng, std::vector<Source>& read_by) {
    if (rng.below(2) == 0) {
      auto [writer, reader] = event_link<Time, Batch>();
      link_.emplace(std::move(writer));
      read_by.emplace_back(std::move(reader));
    } else {
      bytes_ = std::make_shared<Bytes>(rng.next());
      to_.emplace(BytesEnd(bytes_));
      read_by.emplace_back(event_reader<Time, Batch>(BytesEnd(bytes_)));
    }
  }
  void push(Happened event) { link_ ? link_->push(std::move(event)) : to_->push(std::move(event)); }
  void end() { link_ ? link_->end() : to_->end(); }
  /// Returns: whether all has left, and was read.
  bool flush() { return !to_ || (to_->flush() == Flush::all && bytes_->waiting.empty()); }

 private:
  std::optional<EventLinkWriter<Time, Batch>> link_;
  std::optional<EventWriter<Time, Batch, BytesEnd>> to_;
  std::shared_ptr<Bytes> bytes_;
};

struct Workers {
  comm::Fabric fabric;
  std::vector<std::unique_ptr<Worker>> all;

  Workers(std::size_t peers, core::ProgressMode mode) : fabric(peers) {
    core::Config config;
    config.progress_mode = mode;
    for (std::size_t index = 0; index < peers; ++index)
      all.push_back(std::make_unique<Worker>(fabric.seat(index), config, nullptr));
  }
  void steps(int rounds) {
    for (; rounds > 0; --rounds) {
      for (auto& worker : all) worker->step();
    }
  }
  [[nodiscard]] bool over() const {
    return std::none_of(all.begin(), all.end(), [](auto& each) { return each->has_dataflows(); });
  }
};

// Passes records on, changed, at the same time or later, some of them in a later activation.
auto pass_on(std::string name, std::uint64_t salt) {
  return unary<Record>(pipeline, std::move(name),
                       [salt](Capability<Time>, const OperatorInfo& info) {
                         return [salt, self = info.activation,
                                 held = std::vector<std::pair<Capability<Time>, Record>>()](
                                    auto& input, auto& output) mutable {
                           for (auto& [capability, record] : held)
                             output.session(capability).give(record);
                           held.clear();
                           input.for_each([&](auto& message) {
                             for (const Record record : message.records()) {
                               if (record % (kHops + 1) == 0) continue;
                               const std::uint64_t drawn = mix64(record ^ salt);
                               const Record changed = (drawn & ~kHops) | (record % (kHops + 1) - 1);
                               Time time = message.time();
                               time.outer += drawn % 2;
                               time.inner += drawn / 2 % 2;
                               if (drawn / 4 % 3 == 0) {
                                 held.emplace_back(message.delayed(time), changed);
                               } else {
                                 output.session(message.delayed(time)).give(changed);
                               }
                             }
                           });
                           if (!held.empty()) self.activate();
                         };
                       });
}

// The workers that capture, and what goes into them.
struct Original {
  Workers workers;
  Seen seen;
  std::vector<UnorderedHandle<Time, Record>> inputs;
  std::vector<std::vector<Capability<Time>>> held;
  std::vector<EventLinkReader<Time, Batch>> captured;

  Original(std::size_t peers, core::ProgressMode mode, std::uint64_t shape)
      : workers(peers, mode), held(peers) {
    for (std::size_t index = 0; index < peers; ++index) {
      workers.all[index]->dataflow<Time>([&](auto& scope) { build(scope, index, shape); });
    }
  }
  ~Original() {
    held.clear();
    inputs.clear();
  }

  void build(Scope<Time>& scope, std::size_t index, std::uint64_t shape) {
    auto made = unordered_input<Record>(scope);
    inputs.push_back(std::move(made.handle));
    held[index].push_back(std::move(made.capability));
    auto stream = made.stream;
    Rng rng(shape);
    for (std::uint64_t stage = rng.below(4); stage > 0; --stage) {
      switch (rng.below(3)) {
        case 0:
          stream = stream | exchange([](Record record) { return record / (kHops + 1); });
          break;
        case 1:
          stream = concatenate(scope, std::vector{stream, stream | pass_on("branch", stage)});
          break;
        default: {
          const bool is_outer = rng.below(2) == 0;
          auto [handle, again] = feedback<Record>(scope, is_outer ? Time{1, 0} : Time{0, 1});
          stream = concatenate(scope, std::vector{stream, again}) | pass_on("loop", stage);
          stream | connect_loop(std::move(handle));
        }
      }
    }
    captured.push_back(stream | inspect_time([this](const Time& time, Record record) {
                         seen.emplace_back(time, record);
                       }) |
                       capture());
  }

  // Something that a program may do with what it holds on worker `index`.
  void act(std::size_t index, Rng& rng) {
    auto& mine = held[index];
    if (mine.empty()) return;
    const std::size_t which = rng.below(mine.size());
    const Time now = mine[which].time();
    const Time later{now.outer + rng.below(3), now.inner + rng.below(3)};
    switch (rng.below(5)) {
      case 0:
        mine[which].downgrade(later);
        break;
      case 1:
        if (mine.size() < 4) mine.push_back(mine[which].delayed(later));
        break;
      case 2:
        if (mine.size() > 1) mine.erase(mine.begin() + static_cast<std::ptrdiff_t>(which));
        break;
      default: {
        const auto capability = mine[which].delayed(later);
        auto session = inputs[index].session(capability);
        for (std::uint64_t left = rng.below(5); left > 0; --left) session.give(rng.next());
      }
    }
  }
};

// The workers that replay.
struct Replayed {
  Workers workers;
  Seen seen;
  std::vector<Probe<Time>> probes;

  Replayed(std::vector<std::vector<Source>> sources, core::ProgressMode mode)
      : workers(sources.size(), mode), probes(sources.size()) {
    for (std::size_t index = 0; index < sources.size(); ++index) {
      workers.all[index]->dataflow<Time>([&](auto& scope) {
        replay_into(scope, std::move(sources[index])) | exchange([](Record record) {
          return record;
        }) | inspect_time([this](const Time& time, Record record) {
          seen.emplace_back(time, record);
        }) | probe(probes[index]);
      });
    }
  }
};

// One captured stream on its way: which parts it is dealt to, and whether it was ended.
struct Dealt {
  std::vector<Part> parts;
  bool is_over = false;
};

class Deal {
 public:
  explicit Deal(std::uint64_t seed) : rng_(seed) {
    const auto mode = [&] {
      return rng_.below(2) == 0 ? core::ProgressMode::eager : core::ProgressMode::demand;
    };
    original_.emplace(1 + rng_.below(3), mode(), rng_.next());
    std::vector<std::vector<Source>> sources(1 + rng_.below(3));
    streams_.resize(original_->captured.size());
    for (auto& stream : streams_) {
      for (std::uint64_t left = 1 + rng_.below(3); left > 0; --left) {
        stream.parts.emplace_back(rng_, sources[rng_.below(sources.size())]);
        open_.update(Time{}, 1);
      }
    }
    replayed_.emplace(std::move(sources), mode());
  }

  void run() {
    int acts = 40;
    for (int left = 20'000; left > 0 && !replayed_->workers.over(); --left) {
      const std::size_t index = rng_.below(original_->captured.size());
      switch (rng_.below(5)) {
        case 0:
          if (acts-- > 0) {
            original_->act(index, rng_);
          } else {
            for (auto& held : original_->held) held.clear();
          }
          break;
        case 1:
          deal(index);
          break;
        case 2:
          original_->workers.all[index]->step();
          break;
        case 3:
          replayed_->workers.all[rng_.below(replayed_->workers.all.size())]->step();
          break;
        default:
          if (rng_.below(20) == 0) expect_frontier();
      }
      for (auto& stream : streams_) {
        for (auto& part : stream.parts) part.flush();
      }
    }
    EXPECT_TRUE(original_->workers.over());
    EXPECT_TRUE(replayed_->workers.over()) << "the replay did not end";
    for (const auto& probe : replayed_->probes) EXPECT_TRUE(probe.done());
    std::sort(original_->seen.begin(), original_->seen.end());
    std::sort(replayed_->seen.begin(), replayed_->seen.end());
    EXPECT_EQ(replayed_->seen, original_->seen);
  }

 private:
  // Deals some events of one captured stream: each part hears of progress, one of each record.
  void deal(std::size_t index) {
    auto& stream = streams_[index];
    Happened event;
    for (std::uint64_t left = rng_.below(6); left > 0 && !stream.is_over; --left) {
      const Next next = original_->captured[index].next(event);
      ASSERT_NE(next, Next::broken);
      if (next == Next::none) return;
      if (next == Next::over) {
        stream.is_over = true;
        for (auto& part : stream.parts) part.end();
        return;
      }
      if (const auto* progress = std::get_if<Progress<Time>>(&event)) {
        for (auto& part : stream.parts) {
          part.push(*progress);
          for (const auto& [time, change] : progress->changes) open_.update(time, change);
        }
        continue;
      }
      const auto& messages = std::get<Messages<Time, Batch>>(event);
      const auto middle = messages.batch.begin() +
                          static_cast<std::ptrdiff_t>(rng_.below(messages.batch.size() + 1));
      any_of(stream).push(
          Messages<Time, Batch>{messages.stamp, Batch(messages.batch.begin(), middle)});
      any_of(stream).push(
          Messages<Time, Batch>{messages.stamp, Batch(middle, messages.batch.end())});
    }
  }
  Part& any_of(Dealt& stream) { return stream.parts[rng_.below(stream.parts.size())]; }

  // When all that was dealt was read, the replay's frontier is that of all parts together.
  void expect_frontier() {
    for (int left = 10'000; left > 0; --left) {
      bool is_read = true;
      for (auto& stream : streams_) {
        for (auto& part : stream.parts) is_read = part.flush() && is_read;
      }
      replayed_->workers.steps(1);
      if (is_read) break;
    }
    replayed_->workers.steps(20);
    for (const auto& probe : replayed_->probes) EXPECT_EQ(probe.frontier(), open_.frontier());
  }

  Rng rng_;
  std::optional<Original> original_;
  std::vector<Dealt> streams_;  // of each capturing worker
  progress::MutableAntichain<Time> open_;
  std::optional<Replayed> replayed_;
};

TEST(RandomCapture, IsReplayedAsItWasForAnyWorkersPartsPiecesAndInterleaving) {
  const char* const given = std::getenv("LEAT_ROUNDS");
  const std::uint64_t rounds = given != nullptr ? std::strtoull(given, nullptr, 10) : 150;
  for (std::uint64_t round = 0; round < rounds && !HasFailure(); ++round) {
    SCOPED_TRACE("LEAT_SEED=" + std::to_string(property::seed() + round));
    Deal(property::seed() + round).run();
  }
}

}  // namespace
}  // namespace leat::dataflow
