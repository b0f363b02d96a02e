// What      Where messages are put together, or read into, one after the other: a working buffer
//           whose filled front is given out as shared Bytes, and which is used again when nobody has
//           any of them any more.
// Shape     [ given out | valid: filled, not given out | room ]        one buffer at a time
//           in progress: buffers before it, some of whose bytes somebody still has
//           spare: buffers whose bytes nobody has
// Protocol  ensure_room(n); write into room(); make_valid(n); extract(n).
// Invariants
//   (1) What is valid is contiguous, and follows a new buffer when there is one.
//   (2) At most `spares_max` buffers are spare.
// Limits    One thread's; what it gives out may go anywhere. A message larger than a buffer makes
//           the buffers larger, by doubling, and they stay so until `shrink`.
// Cost      A new buffer copies what is valid, once. In a steady stream nothing is allocated.
// Source    Timely Dataflow's `BytesSlab`; shrinking is ours.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include <leat/comm/bytes/bytes.hpp>

namespace leat::comm {

/// Where slabs have their memory from: huge pages, pinned or mapped memory, a pool of one's own.
struct Refill {
  /// Makes a buffer of at least so many bytes, aligned to 8. Called by any thread. Empty: plain memory.
  std::function<ByteBuffer(std::size_t bytes)> make{};
  /// How many buffers that nobody uses a slab keeps. More suits bursts; each is as large as the
  /// largest message so far.
  std::size_t spares_max = 2;
};

class ByteSlab {
 public:
  /// Buffers are of `2^shift` bytes to begin with.
  explicit ByteSlab(std::uint32_t shift, Refill refill = {});

  /// Where the next bytes go. May be empty.
  [[nodiscard]] std::span<std::byte> room() const noexcept {
    return buffer_.view().subspan(valid_);
  }
  /// What was filled and not given out.
  [[nodiscard]] std::span<const std::byte> valid() const noexcept {
    return buffer_.view().first(valid_);
  }
  /// The first `bytes` bytes of the room are filled. Requires: there is so much; checked.
  void make_valid(std::size_t bytes);
  /// Gives the first `bytes` valid bytes out. Requires: there are so many; checked.
  [[nodiscard]] Bytes extract(std::size_t bytes);

  /// Makes room for at least `bytes` bytes behind the valid ones.
  void ensure_room(std::size_t bytes) {
    if (buffer_.size() - valid_ < bytes) [[unlikely]]
      renew(bytes);
  }

  /// Gives spare buffers back, and grown ones if nothing is valid.
  void shrink() noexcept;

  /// Buffers asked for so far; buffers used again; bytes copied from one into the next.
  [[nodiscard]] std::uint64_t made() const noexcept { return made_; }
  [[nodiscard]] std::uint64_t reused() const noexcept { return reused_; }
  [[nodiscard]] std::uint64_t copied_bytes() const noexcept { return copied_bytes_; }
  [[nodiscard]] std::size_t spares() const noexcept { return spare_.size(); }
  [[nodiscard]] std::size_t buffer_bytes() const noexcept { return std::size_t{1} << shift_; }

 private:
  void renew(std::size_t bytes);
  void collect();
  [[nodiscard]] ByteBuffer next_buffer();

  std::uint32_t first_shift_;
  std::uint32_t shift_;
  Refill refill_;
  ByteBuffer buffer_;
  std::size_t valid_ = 0;  // at the front of buffer_
  std::vector<ByteBuffer> in_progress_;
  std::vector<ByteBuffer> spare_;
  std::uint64_t made_ = 0;
  std::uint64_t reused_ = 0;
  std::uint64_t copied_bytes_ = 0;
};

}  // namespace leat::comm
