// What      Shared byte buffers: `ByteBuffer` is exclusive and can be written, `Bytes` is a view that
//           is read, copied and sent to other threads. Both are a range of an allocation that they
//           keep alive by counting; splitting and joining copies nothing.
// Shape     owner (count | memory of any type) <--- [ Bytes ][ Bytes ][   ByteBuffer    ]
// Protocol  Fill the front of a ByteBuffer; `extract_to` splits the filled part off as Bytes. When
//           all Bytes are gone, `try_regenerate` gives the buffer its whole allocation back.
// Invariants
//   (1) No other view covers the range of a ByteBuffer.
//   (2) What Bytes show never changes while one of them shows it.
// Ordering  shown  from a view that goes to `try_regenerate`: what it showed was read before the
//                  memory is written again. And from each view that goes to the last one, which
//                  destroys the memory.
//           Relaxed: a count that only rises; who has a view may copy it.
// Limits    The memory must be usable from any thread, and must not move when its owner is moved.
// Cost      A copy of a view is a read-modify-write, a split as well.
// Source    Timely Dataflow's `bytes::arc`; a count of our own because `use_count` orders nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

#include <leat/base/atomic.hpp>
#include <leat/base/mutant.hpp>
#include <leat/base/type_name.hpp>
#include <leat/base/usage_error.hpp>

namespace leat::comm {

namespace internal {

/// What all views of one allocation share.
class ByteOwner {
  struct shown : Edge {};  // a view goes -> the memory is written again, or destroyed

 public:
  ByteOwner() = default;
  ByteOwner(const ByteOwner&) = delete;
  ByteOwner& operator=(const ByteOwner&) = delete;

  void keep() noexcept { views_.fetch_add_relaxed(1); }
  void let_go() noexcept {
    if (views_.fetch_sub_acq_rel(1, shown{}, shown{}) == 1) delete this;
  }
  /// Whether one view is left, whose owner asks.
  [[nodiscard]] bool has_one_view() const noexcept {
    if (LEAT_MUTANT("bytes.looks_without_order")) return views_.load_relaxed() == 1;
    return views_.load_acquire(shown{}) == 1;
  }
  [[nodiscard]] std::span<std::byte> memory() const noexcept { return memory_; }
  [[nodiscard]] TypeId type() const noexcept { return type_; }

 protected:
  virtual ~ByteOwner() = default;

  std::span<std::byte> memory_;
  TypeId type_;

 private:
  Atomic<std::uint64_t> views_{1};
};

/// One counted reference.
class OwnerRef {
 public:
  OwnerRef() = default;
  explicit OwnerRef(ByteOwner* owner) noexcept : owner_(owner) {}
  OwnerRef(const OwnerRef& other) noexcept : owner_(other.owner_) {
    if (owner_ != nullptr) owner_->keep();
  }
  OwnerRef(OwnerRef&& other) noexcept : owner_(std::exchange(other.owner_, nullptr)) {}
  OwnerRef& operator=(OwnerRef other) noexcept {
    std::swap(owner_, other.owner_);
    return *this;
  }
  ~OwnerRef() {
    if (owner_ != nullptr) owner_->let_go();
  }
  [[nodiscard]] ByteOwner* get() const noexcept { return owner_; }

 private:
  ByteOwner* owner_ = nullptr;
};

template <class Memory>
class OwnerOf final : public ByteOwner {
 public:
  explicit OwnerOf(Memory memory) : holds_(std::move(memory)) {
    memory_ = std::span<std::byte>(holds_);
    type_ = type_id<Memory>();
  }

 private:
  Memory holds_;
};

[[noreturn]] inline void refuse_split(std::size_t asked, std::size_t has) {
  throw UsageError("bytes", "to split off " + std::to_string(asked) + " bytes",
                   "a view of " + std::to_string(has), "split at most what it shows");
}

}  // namespace internal

/// A shared view of bytes that do not change. An empty one owns nothing.
class Bytes {
 public:
  Bytes() = default;
  Bytes(const Bytes&) = default;
  Bytes& operator=(const Bytes&) = default;
  Bytes(Bytes&& other) noexcept
      : owner_(std::move(other.owner_)), view_(std::exchange(other.view_, {})) {}
  Bytes& operator=(Bytes&& other) noexcept {
    owner_ = std::move(other.owner_);
    view_ = std::exchange(other.view_, {});
    return *this;
  }
  ~Bytes() = default;

  [[nodiscard]] std::span<const std::byte> view() const noexcept { return view_; }
  [[nodiscard]] std::size_t size() const noexcept { return view_.size(); }
  [[nodiscard]] bool empty() const noexcept { return view_.empty(); }

  /// Splits the first `bytes` bytes off. Copies nothing.
  ///
  /// Errors: UsageError if it shows fewer.
  [[nodiscard]] Bytes extract_to(std::size_t bytes) {
    if (bytes > view_.size()) internal::refuse_split(bytes, view_.size());
    Bytes front(owner_, view_.first(bytes));
    view_ = view_.subspan(bytes);
    return front;
  }

  /// Becomes a view of its own bytes and of those of `next`, if these follow in the same allocation.
  ///
  /// Returns: false if they do not; then neither changed. After true `next` is empty.
  [[nodiscard]] bool try_merge(Bytes& next) noexcept {
    if (owner_.get() == nullptr || owner_.get() != next.owner_.get() ||
        view_.data() + view_.size() != next.view_.data()) {
      return false;
    }
    view_ = {view_.data(), view_.size() + next.view_.size()};
    next = Bytes();
    return true;
  }

 private:
  friend class ByteBuffer;
  Bytes(internal::OwnerRef owner, std::span<const std::byte> view) noexcept
      : owner_(std::move(owner)), view_(view) {}

  internal::OwnerRef owner_;
  std::span<const std::byte> view_;
};

/// What `ByteBuffer::try_regenerate` found.
enum class Regenerated : std::uint8_t {
  reset,       // nobody shares the allocation: the buffer is all of it again
  shared,      // somebody still has a view of it; nothing changed
  other_type,  // the memory is of another type; nothing changed
};

/// Bytes that one owner writes.
class ByteBuffer {
 public:
  ByteBuffer() = default;

  /// Takes over `memory`: anything that a `std::span<std::byte>` can be made of, such as
  /// `std::vector<std::byte>`. Its bytes stay where they are when it is moved.
  template <class Memory>
    requires(!std::is_same_v<std::remove_cvref_t<Memory>, ByteBuffer> &&
             !std::is_lvalue_reference_v<Memory> &&
             std::is_constructible_v<std::span<std::byte>, Memory&>)
  explicit ByteBuffer(Memory&& memory)
      : owner_(new internal::OwnerOf<std::remove_cvref_t<Memory>>(std::move(memory))),
        view_(owner_.get()->memory()) {}
  ByteBuffer(ByteBuffer&& other) noexcept
      : owner_(std::move(other.owner_)), view_(std::exchange(other.view_, {})) {}
  ByteBuffer& operator=(ByteBuffer&& other) noexcept {
    owner_ = std::move(other.owner_);
    view_ = std::exchange(other.view_, {});
    return *this;
  }
  ~ByteBuffer() = default;

  [[nodiscard]] std::span<std::byte> view() const noexcept { return view_; }
  [[nodiscard]] std::size_t size() const noexcept { return view_.size(); }

  /// Splits the first `bytes` bytes off, to be read from now on. Copies nothing.
  ///
  /// Errors: UsageError if it has fewer.
  [[nodiscard]] Bytes extract_to(std::size_t bytes) {
    if (bytes > view_.size()) internal::refuse_split(bytes, view_.size());
    Bytes front(owner_, view_.first(bytes));
    view_ = view_.subspan(bytes);
    return front;
  }
  /// All that is left, to be read from now on.
  [[nodiscard]] Bytes freeze() && {
    Bytes all(std::move(owner_), view_);
    view_ = {};
    return all;
  }

  /// Makes the buffer all of its allocation again, if nobody else has a view of it.
  ///
  /// `Memory` is what it was made of.
  template <class Memory>
  [[nodiscard]] Regenerated try_regenerate() {
    if (owner_.get() == nullptr || owner_.get()->type() != type_id<Memory>()) {
      return Regenerated::other_type;
    }
    return try_reset() ? Regenerated::reset : Regenerated::shared;
  }
  /// The same, whatever the memory is. Returns: whether it is all of its allocation now.
  [[nodiscard]] bool try_reset() noexcept {
    if (owner_.get() == nullptr || !owner_.get()->has_one_view()) return false;
    view_ = owner_.get()->memory();
    return true;
  }
  /// Bytes of the whole allocation.
  [[nodiscard]] std::size_t allocation() const noexcept {
    return owner_.get() == nullptr ? 0 : owner_.get()->memory().size();
  }

 private:
  internal::OwnerRef owner_;
  std::span<std::byte> view_;
};

}  // namespace leat::comm
