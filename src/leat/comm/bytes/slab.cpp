#include <leat/comm/bytes/slab.hpp>

#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <utility>

#include <leat/base/check.hpp>

namespace leat::comm {

namespace {

// Words, so that the memory is aligned as sections want it.
struct PlainMemory {
  explicit PlainMemory(std::size_t bytes)
      : words(std::make_unique_for_overwrite<std::uint64_t[]>((bytes + 7) / 8)), size(bytes) {}
  operator std::span<std::byte>() const noexcept {
    return {reinterpret_cast<std::byte*>(words.get()), size};
  }

  std::unique_ptr<std::uint64_t[]> words;
  std::size_t size;
};

}  // namespace

ByteSlab::ByteSlab(std::uint32_t shift, Refill refill)
    : first_shift_(shift), shift_(shift), refill_(std::move(refill)) {
  LEAT_CHECK(shift >= 3 && shift < 48, "a slab's buffers have 2^3 to 2^47 bytes at first");
}

void ByteSlab::make_valid(std::size_t bytes) {
  LEAT_CHECK(bytes <= buffer_.size() - valid_, "more bytes are valid than there was room for");
  valid_ += bytes;
}

Bytes ByteSlab::extract(std::size_t bytes) {
  LEAT_CHECK(bytes <= valid_, "more bytes are given out than are valid");
  valid_ -= bytes;
  return buffer_.extract_to(bytes);
}

void ByteSlab::renew(std::size_t bytes) {
  const std::size_t wanted = valid_ + bytes;
  if (wanted > buffer_bytes()) {
    while (wanted > buffer_bytes()) ++shift_;
    spare_.clear();
    // Their bytes live on with whoever has them; the buffers are of no use any more.
    in_progress_.clear();
  }
  collect();
  ByteBuffer next = next_buffer();
  if (valid_ != 0) std::memcpy(next.view().data(), buffer_.view().data(), valid_);
  copied_bytes_ += valid_;
  ByteBuffer old = std::exchange(buffer_, std::move(next));
  if (old.allocation() >= buffer_bytes()) in_progress_.push_back(std::move(old));
}

// Moves the buffers that nobody has bytes of to the spare ones.
void ByteSlab::collect() {
  std::erase_if(in_progress_, [this](ByteBuffer& buffer) {
    if (!buffer.try_reset()) return false;
    // One more than the limit may be handed on at once by `next_buffer`.
    if (spare_.size() <= refill_.spares_max) spare_.push_back(std::move(buffer));
    return true;
  });
}

ByteBuffer ByteSlab::next_buffer() {
  if (!spare_.empty()) {
    ByteBuffer buffer = std::move(spare_.back());
    spare_.pop_back();
    ++reused_;
    return buffer;
  }
  ++made_;
  ByteBuffer buffer =
      refill_.make ? refill_.make(buffer_bytes()) : ByteBuffer(PlainMemory(buffer_bytes()));
  if (buffer.size() < buffer_bytes() ||
      reinterpret_cast<std::uintptr_t>(buffer.view().data()) % 8 != 0) {
    throw UsageError("refill", std::to_string(buffer_bytes()) + " bytes at a multiple of 8",
                     std::to_string(buffer.size()) + " bytes, or at another place",
                     "make what is asked for, or more");
  }
  return buffer;
}

void ByteSlab::shrink() noexcept {
  spare_.clear();
  std::erase_if(in_progress_, [](ByteBuffer& buffer) { return buffer.try_reset(); });
  if (valid_ != 0 || shift_ == first_shift_) return;
  shift_ = first_shift_;
  buffer_ = ByteBuffer();
  in_progress_.clear();
}

}  // namespace leat::comm
