// What      Whatever bytes stand in the header of a ring's segment, it is refused with a message, or
//           its shape fits into the file; and whatever bytes stand in a ring's memory, who only looks
//           at it touches nothing else, and comes to an end.
// Shape     first byte: 0 the header as it lies there, 1 the header under a good checksum, 2 the ring's
//           memory. Then the bytes: over the header from the place that the next two say; or the memory,
//           again and again.

#include <leat/base/check.hpp>
#include <leat/core/segment/header.hpp>
#include <leat/queue/ring/in_segment.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <span>
#include <vector>

namespace {

using namespace leat;
using Bytes = std::span<const std::uint8_t>;
using Record = std::array<std::uint64_t, 3>;

core::SegmentFacts good_facts() {
  const auto shape = queue::Ring<Record>::shape_of({.slots = 8, .seats = 3, .groups = 1});
  core::SegmentFacts facts;
  facts.spec = queue::internal::ring_spec(*shape, core::segment_type<Record>());
  facts.layout = *core::segment_layout(facts.spec);
  facts.name = "ring";
  facts.generation = 1;
  return facts;
}

void check(std::span<const std::byte> head, std::uint64_t file_bytes) {
  const auto facts = core::check_header("fuzz", head, file_bytes);
  if (!facts) {
    LEAT_CHECK(!facts.error().message.empty(), "an error without a message");
    return;
  }
  const auto shape = queue::internal::ring_shape_in("fuzz", facts->spec);
  if (!shape) {
    LEAT_CHECK(!shape.error().message.empty(), "an error without a message");
    return;
  }
  LEAT_CHECK(facts->layout.payload_offset + queue::ring_layout(*shape).total <= file_bytes,
             "a ring that reaches beyond its file");
}

void look_at_header(Bytes bytes) {
  alignas(core::SegmentHeader) std::array<std::byte, sizeof(core::SegmentHeader)> head{};
  const core::SegmentFacts facts = good_facts();
  auto& header = *new (head.data()) core::SegmentHeader{};
  core::write_header(header, facts);
  header.state.store_relaxed(static_cast<std::uint32_t>(core::SegmentState::ready));
  if (bytes.size() > 2) {
    const std::size_t at = (bytes[0] + 256U * bytes[1]) % head.size();
    const Bytes over = bytes.subspan(2).first(std::min(bytes.size() - 2, head.size() - at));
    std::memcpy(head.data() + at, over.data(), over.size());
  }
  check(head, facts.layout.total_bytes);
  check(std::span(head).first(std::min(head.size(), bytes.size())), facts.layout.total_bytes);
}

// Numbers that a header with a good checksum may have.
void look_at_numbers(Bytes bytes) {
  core::SegmentFacts facts = good_facts();
  const auto number = [&](std::uint64_t usual) {
    if (bytes.size() < 9) return usual;
    const bool changes = bytes[0] % 2 != 0;
    std::uint64_t value = 0;
    std::memcpy(&value, bytes.data() + 1, 8);
    bytes = bytes.subspan(9);
    return changes ? value : usual;
  };
  facts.spec.count = number(facts.spec.count);
  facts.spec.stride = number(facts.spec.stride);
  facts.spec.type.bytes = number(facts.spec.type.bytes);
  facts.spec.payload_bytes = number(facts.spec.payload_bytes);
  for (std::uint64_t& word : facts.spec.words) word = number(word);
  const auto layout = core::segment_layout(facts.spec);
  if (!layout) return;  // nobody can write that down
  facts.layout = *layout;
  alignas(core::SegmentHeader) std::array<std::byte, sizeof(core::SegmentHeader)> head{};
  auto& header = *new (head.data()) core::SegmentHeader{};
  core::write_header(header, facts);
  header.state.store_relaxed(static_cast<std::uint32_t>(core::SegmentState::ready));
  check(head, number(facts.layout.total_bytes));
}

void look_at_memory(Bytes bytes) {
  if (bytes.empty()) return;
  for (const auto kind : {queue::RingKind::single_producer, queue::RingKind::many_producers}) {
    const auto shape =
        *queue::Ring<Record>::shape_of({.kind = kind, .slots = 8, .seats = 3, .groups = 1});
    const std::size_t total = queue::ring_layout(shape).total;
    struct Free {
      void operator()(std::byte* at) const {
        ::operator delete[](at, std::align_val_t{queue::kRingAlign});
      }
    };
    const std::unique_ptr<std::byte[], Free> memory(new (std::align_val_t{queue::kRingAlign})
                                                        std::byte[total]);
    for (std::size_t i = 0; i < total; ++i) {
      memory[i] = static_cast<std::byte>(bytes[i % bytes.size()]);
    }
    auto core = std::make_shared<queue::RingCore>(memory.get(), shape, queue::private_ring_peers(),
                                                  nullptr);
    core->observe_only();
    queue::Ring<Record> ring(core);
    for (const auto& seat : ring.report().seats) {
      LEAT_CHECK(seat.writing.count <= shape.slots, "more is being written than there is room for");
    }
    LEAT_CHECK(core->headroom() <= shape.slots, "more room than there is");
    auto consumer = ring.consumer({.start = queue::StartAt::oldest()});
    LEAT_CHECK(consumer.has_value(), "an observer was refused");
    Record record;
    for (int looks = 0; looks < 50; ++looks) static_cast<void>(consumer->try_pop(record));
    static_cast<void>(consumer->pop_last(record));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const Bytes bytes(data + 1, size - 1);
  switch (data[0] % 3) {
    case 0:
      look_at_header(bytes);
      break;
    case 1:
      look_at_numbers(bytes);
      break;
    default:
      look_at_memory(bytes);
      break;
  }
  return 0;
}
