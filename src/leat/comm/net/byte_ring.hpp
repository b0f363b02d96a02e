// What      A ring of bytes from one process to another, in memory that both have mapped: a stream, as a
//           socket is, without the kernel.
// Shape     0    u64  tail: bytes ever written; the writer's line
//           128  u64  head: bytes ever read; the reader's line
//           256  u32  sleeps: the reader is about to sleep
//           384  u32  wants_room: the writer is about to sleep, and has something that did not fit
//           512  the bytes, a power of two of them
// Protocol  Writer: copy in, store tail; then, if `sleeps` is set, take it back and wake the reader.
//           Reader: copy out, store head; then, if `wants_room` is set, the same the other way.
//           To sleep: set the flag, look at the other's count again, and sleep only if it has not
//           moved. How somebody is woken is the business of who has the ring (shared_transport.hpp).
// Invariants
//   (1) head <= tail <= head + size. A peer whose counts say otherwise is broken, and is told so of.
//   (2) The bytes in [head, tail) are the reader's, all others the writer's.
//   (3) Who sleeps with its flag set is woken by the next bytes, or the next room.
// Ordering  filled  tail: the bytes are there before they are read.
//           freed   head: they were read before they are written over.
//           Both, and the flags, are seq_cst: "store the count, load the flag" against "store the flag,
//           load the count".
// Limits    One writer and one reader at a time. A writer killed between copy and store has written
//           nothing; the reader sees frames cut off, never a torn byte.
// Cost      A write or read is a copy, two loads and a store of shared lines.
// Source    Lamport's ring, over bytes; counts that do not wrap.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <span>

#include <leat/base/atomic.hpp>
#include <leat/base/mutant.hpp>

namespace leat::comm {

/// What stands before the bytes. All zeros is an empty ring.
struct ByteRingHeader {
  alignas(128) Atomic<std::uint64_t> tail{0};
  alignas(128) Atomic<std::uint64_t> head{0};
  alignas(128) Atomic<std::uint32_t> sleeps{0};
  alignas(128) Atomic<std::uint32_t> wants_room{0};
};
static_assert(sizeof(ByteRingHeader) == 512);

namespace internal {
struct filled : Edge {};  // writer's tail -> reader: the bytes are there; and against `sleeps`
struct freed : Edge {
};  // reader's head -> writer: they may be written over; and against `wants_room`
}  // namespace internal

/// Bytes of memory for a ring of `size` bytes.
[[nodiscard]] constexpr std::size_t ring_footprint(std::size_t size) noexcept {
  return sizeof(ByteRingHeader) + size;
}

class ByteRingWriter {
  using filled = internal::filled;
  using freed = internal::freed;

 public:
  /// `memory` is zeros, or a ring, of `ring_footprint` of a power of two.
  explicit ByteRingWriter(std::span<std::byte> memory) noexcept
      : header_(reinterpret_cast<ByteRingHeader*>(memory.data())),
        bytes_(memory.subspan(sizeof(ByteRingHeader))),
        tail_(header_->tail.load_relaxed()) {}  // our own

  /// Writes the parts one after the other, as far as there is room. Returns: how many bytes.
  std::size_t write(std::span<const std::span<const std::byte>> parts) noexcept {
    std::size_t room = bytes_.size() - used();
    std::uint64_t at = tail_;
    for (const auto part : parts) {
      const std::size_t count = std::min(part.size(), room);
      copy_in(at, part.first(count));
      at += count;
      room -= count;
      if (count != part.size()) break;
    }
    const auto written = static_cast<std::size_t>(at - tail_);
    if (written == 0) return 0;
    tail_ = at;
    header_->tail.store_seq_cst(tail_, filled{});
    return written;
  }
  /// Whether the reader is to be woken now. Ask after each write; after true it has been asked.
  [[nodiscard]] bool must_wake() noexcept {
    return header_->sleeps.load_seq_cst(filled{}) != 0 && header_->sleeps.exchange_relaxed(0) != 0;
  }
  /// Says that this side sleeps until there is room. Returns: false if there is some already.
  [[nodiscard]] bool may_sleep_for_room() noexcept {
    header_->wants_room.store_seq_cst(1, freed{});
    if (used() == bytes_.size()) return true;
    header_->wants_room.store_relaxed(0);  // a flag that stays is one wake-up too many
    return false;
  }

 private:
  [[nodiscard]] std::size_t used() const noexcept {
    const std::uint64_t used = tail_ - header_->head.load_seq_cst(freed{});
    return used > bytes_.size() ? bytes_.size() : static_cast<std::size_t>(used);
  }
  void copy_in(std::uint64_t at, std::span<const std::byte> from) noexcept {
    if (from.empty()) return;
    const auto place = static_cast<std::size_t>(at & (bytes_.size() - 1));
    const std::size_t first = std::min(from.size(), bytes_.size() - place);
    std::memcpy(bytes_.data() + place, from.data(), first);
    std::memcpy(bytes_.data(), from.data() + first, from.size() - first);
  }

  ByteRingHeader* header_;
  std::span<std::byte> bytes_;
  std::uint64_t tail_;  // our copy: what the peer's memory says does not matter
};

class ByteRingReader {
  using filled = internal::filled;
  using freed = internal::freed;

 public:
  explicit ByteRingReader(std::span<std::byte> memory) noexcept
      : header_(reinterpret_cast<ByteRingHeader*>(memory.data())),
        bytes_(memory.subspan(sizeof(ByteRingHeader))),
        head_(header_->head.load_relaxed()) {}  // our own

  /// Copies out what is there. Returns: how many bytes; more than `into` has if the ring is broken.
  std::size_t read(std::span<std::byte> into) noexcept {
    const std::uint64_t ready = header_->tail.load_seq_cst(filled{}) - head_;
    if (ready == 0) return 0;
    if (ready > bytes_.size()) return into.size() + 1;
    const std::size_t count = std::min(static_cast<std::size_t>(ready), into.size());
    const auto place = static_cast<std::size_t>(head_ & (bytes_.size() - 1));
    const std::size_t first = std::min(count, bytes_.size() - place);
    std::memcpy(into.data(), bytes_.data() + place, first);
    std::memcpy(into.data() + first, bytes_.data(), count - first);
    head_ += count;
    header_->head.store_seq_cst(head_, freed{});
    return count;
  }
  /// Whether the writer is to be woken now. Ask after each read.
  [[nodiscard]] bool must_wake() noexcept {
    return header_->wants_room.load_seq_cst(freed{}) != 0 &&
           header_->wants_room.exchange_relaxed(0) != 0;
  }
  /// Says that this side sleeps until something comes. Returns: false if something is there.
  [[nodiscard]] bool may_sleep() noexcept {
    header_->sleeps.store_seq_cst(1, filled{});
    if (LEAT_MUTANT("byte_ring.sleeps_without_a_look")) return true;
    if (header_->tail.load_seq_cst(filled{}) == head_) return true;
    header_->sleeps.store_relaxed(0);  // a flag that stays is one wake-up too many
    return false;
  }
  void awake() noexcept { header_->sleeps.store_relaxed(0); }  // the same

 private:
  ByteRingHeader* header_;
  std::span<std::byte> bytes_;
  std::uint64_t head_;
};

}  // namespace leat::comm
