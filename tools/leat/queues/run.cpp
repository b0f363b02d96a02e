#include "queues/run.hpp"

#include <leat/base/word_copy.hpp>
#include <leat/core/segment/segment.hpp>
#include <leat/queue/ring/in_segment.hpp>
#include "queues/look.hpp"
#include "queues/text.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace leat::tool {
namespace {

ExitCode failed(QueuesWorld& world, const Error& error) {
  world.err("leat: " + error.message + "\n");
  return ExitCode::runtime;
}

ExitCode list(const RunQueues& options, QueuesWorld& world) {
  const auto looks = look_at_queues(options, world.clock.now());
  if (!looks) return failed(world, looks.error());
  world.out(options.json ? queues_json(*looks) : queues_table(*looks));
  return ExitCode::ok;
}

ExitCode inspect(const RunQueues& options, QueuesWorld& world) {
  const auto looks = look_at_queues(options, world.clock.now());
  if (!looks) return failed(world, looks.error());
  world.out(options.json ? queue_json(looks->front()) : queue_details(looks->front()));
  return ExitCode::ok;
}

ExitCode watch(const RunQueues& options, QueuesWorld& world) {
  std::vector<QueueLook> before;
  for (std::uint64_t i = 0; !options.count || i < *options.count; ++i) {
    if (i > 0) world.wait(options.interval);
    auto looks = look_at_queues(options, world.clock.now());
    if (!looks) return failed(world, looks.error());
    std::string text;
    if (options.json) {
      for (const QueueLook& look : *looks) text += queue_json(look, same_queue(before, look));
    } else {
      text = (i > 0 ? "\n" : "") + watch_table(before, *looks);
    }
    world.out(text);
    before = *std::move(looks);
  }
  return ExitCode::ok;
}

/// Reads messages of a ring of whatever type, without a seat in it.
class Tail {
 public:
  Tail(std::shared_ptr<queue::RingCore> ring, bool from_oldest)
      : ring_(std::move(ring)), payload_(ring_->shape().payload_bytes) {
    const std::uint64_t frontier = ring_->frontier();
    next_ = from_oldest ? ring_->oldest(frontier) : frontier;
  }

  enum class Found : std::uint8_t { nothing, message, lost };

  /// Takes the next message, or passes over what is gone.
  Found take() {
    const queue::RingStamp& stamp = ring_->stamp(next_);
    const std::uint64_t seen = stamp.look();
    const std::uint64_t published = queue::stamp::published(next_);
    if (seen < published) return Found::nothing;
    if (seen == published) {
      copy(reinterpret_cast<const std::byte*>(&stamp));
      if (stamp.look_again() == published) return Found::message;
    }
    // A tombstone, or overwritten.
    const std::uint64_t frontier = ring_->frontier();
    const std::uint64_t to =
        seen == queue::stamp::tombstone(next_)
            ? next_ + 1
            : std::max(next_ + 1, std::min(frontier, ring_->oldest(frontier) + 1));
    lost_ = to - next_;
    next_ = to;
    return Found::lost;
  }

  [[nodiscard]] std::uint64_t sequence() const noexcept { return next_; }
  [[nodiscard]] std::span<const std::byte> payload() const noexcept { return payload_; }
  [[nodiscard]] std::uint64_t lost() const noexcept { return lost_; }
  void go_on() noexcept { ++next_; }

 private:
  struct overwrite : Edge {};  // as RingSlot's: who sees a later word sees its stamp

  void copy(const std::byte* slot) {
    const auto* const words = reinterpret_cast<const SharedWord*>(slot + sizeof(queue::RingStamp));
    for (std::size_t at = 0; at < payload_.size(); at += kWordBytes) {
      std::uint64_t word = 0;
      read_words(words + at / kWordBytes, &word, overwrite{});
      std::memcpy(payload_.data() + at, &word, std::min(kWordBytes, payload_.size() - at));
    }
  }

  std::shared_ptr<queue::RingCore> ring_;
  std::vector<std::byte> payload_;
  std::uint64_t next_ = 0;
  std::uint64_t lost_ = 0;
};

ExitCode tail(const RunQueues& options, QueuesWorld& world) {
  auto segment = core::Segment::observe(options.segment());
  if (!segment) return failed(world, segment.error());
  if (segment->spec().kind != "ring") {
    return failed(world,
                  {segment->where() + ": asked to follow its messages; found the kind \"" +
                   segment->spec().kind + "\"; only rings of stamped slots can be followed"});
  }
  auto ring = queue::inspect_ring(std::move(*segment));
  if (!ring) return failed(world, ring.error());
  Tail reader(*std::move(ring), options.from_oldest);
  std::uint64_t shown = 0;
  while (!options.count || shown < *options.count) {
    switch (reader.take()) {
      case Tail::Found::message:
        world.out(message_line(reader.sequence(), reader.payload(), options.json));
        reader.go_on();
        ++shown;
        break;
      case Tail::Found::lost:
        world.err("leat: " + std::to_string(reader.lost()) + " messages were gone before " +
                  std::to_string(reader.sequence()) + "\n");
        break;
      case Tail::Found::nothing:
        world.wait(options.interval);
        break;
    }
  }
  return ExitCode::ok;
}

ExitCode clean(const RunQueues& options, QueuesWorld& world) {
  const auto looks = look_at_queues(options, world.clock.now());
  if (!looks) return failed(world, looks.error());
  const core::Force force = options.force ? core::Force::yes : core::Force::no;
  std::string removed;
  std::string kept;
  ExitCode code = ExitCode::ok;
  for (const QueueLook& look : *looks) {
    const core::SegmentName& name = look.segment.name;
    const std::string full = name.space + "/" + name.name;
    if (const auto gone = core::destroy_segment(name, force); gone) {
      removed += options.json ? (removed.empty() ? "" : ", ") + ("\"" + full + "\"")
                              : "removed " + full + "\n";
    } else {
      kept += options.json ? (kept.empty() ? "" : ", ") + ("\"" + full + "\"") : "";
      world.err("leat: kept " + full + ": " + gone.error().message + "\n");
      // Who asks for one wants that one gone; who asks for all wants what is dead gone.
      if (options.name || !look.trouble.empty()) code = ExitCode::runtime;
    }
  }
  if (options.json) {
    world.out("{\"removed\": [" + removed + "], \"kept\": [" + kept + "]}\n");
  } else {
    world.out(removed.empty() ? "nothing to remove\n" : removed);
  }
  return code;
}

}  // namespace

ExitCode run_queues(const RunQueues& options, QueuesWorld& world) {
  switch (options.action) {
    case RunQueues::Action::list:
      return list(options, world);
    case RunQueues::Action::inspect:
      return inspect(options, world);
    case RunQueues::Action::watch:
      return watch(options, world);
    case RunQueues::Action::tail:
      return tail(options, world);
    case RunQueues::Action::clean:
      return clean(options, world);
  }
  return ExitCode::usage;
}

}  // namespace leat::tool
