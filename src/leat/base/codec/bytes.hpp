// What      The two ends that codecs work on: a sink that bytes are appended to, and a source that
//           reads a bounded view of bytes and never past it.
// Invariants
//   (1) A source that failed stays failed, with what it was asked for first, and where.
//   (2) Positions count from the start of the sink or view; `align` pads with zeros to a multiple of
//       8 of them. A sink's memory starts at such a multiple.
// Cost      A write or read is a compare and a copy. A sink keeps its memory when it is cleared.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

#include <leat/base/result.hpp>
#include <leat/base/usage_error.hpp>

namespace leat {

/// What aligned sections start at a multiple of.
inline constexpr std::size_t kSectionAlign = 8;

/// How deep values may hold values that hold values: a vector of vectors is two deep.
inline constexpr std::uint32_t kCodecDepth = 100;

/// Bytes being put together.
class ByteSink {
 public:
  ByteSink() = default;
  ByteSink(ByteSink&& other) noexcept
      : memory_(std::move(other.memory_)),
        size_(std::exchange(other.size_, 0)),
        capacity_(std::exchange(other.capacity_, 0)),
        depth_(std::exchange(other.depth_, 0)) {}
  ByteSink& operator=(ByteSink&& other) noexcept {
    memory_ = std::move(other.memory_);
    size_ = std::exchange(other.size_, 0);
    capacity_ = std::exchange(other.capacity_, 0);
    depth_ = std::exchange(other.depth_, 0);
    return *this;
  }

  void write(const void* from, std::size_t bytes) {
    if (bytes != 0) std::memcpy(extend(bytes), from, bytes);
  }
  /// Writes the bytes of a value as they stand in memory.
  template <class T>
  void write_plain(const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    std::memcpy(extend(sizeof(T)), &value, sizeof(T));
  }
  /// Appends `bytes` bytes for the caller to fill; valid until the next call.
  [[nodiscard]] std::byte* extend(std::size_t bytes) {
    if (bytes > capacity_ - size_) [[unlikely]]
      grow(bytes);
    std::byte* const at = memory_.get() + size_;
    size_ += bytes;
    return at;
  }
  /// Pads with zeros to the next multiple of `kSectionAlign`.
  void align() {
    const std::size_t padding = -size_ % kSectionAlign;
    if (padding != 0) std::memset(extend(padding), 0, padding);
  }

  /// Everything so far; valid until the next write.
  [[nodiscard]] std::span<const std::byte> bytes() const noexcept { return {memory_.get(), size_}; }
  /// The same, to fill in what was not known before, such as a length.
  [[nodiscard]] std::span<std::byte> bytes() noexcept { return {memory_.get(), size_}; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }

  /// Forgets the bytes and keeps the memory.
  void clear() noexcept { size_ = 0; }

  /// One level of a value that holds values, while it lives.
  ///
  /// Errors: `UsageError` beyond `kCodecDepth`, since such bytes would not be decoded.
  class Level {
   public:
    explicit Level(ByteSink& sink) : sink_(sink) {
      if (sink_.depth_ == kCodecDepth) [[unlikely]]
        throw UsageError("encode",
                         "a value nested at most " + std::to_string(kCodecDepth) + " deep",
                         "a deeper one", "keep links between values in a flat table");
      ++sink_.depth_;
    }
    Level(const Level&) = delete;
    Level& operator=(const Level&) = delete;
    ~Level() { --sink_.depth_; }

   private:
    ByteSink& sink_;
  };

 private:
  void grow(std::size_t bytes) {
    std::size_t capacity = capacity_ < 64 ? 64 : 2 * capacity_;
    if (capacity - size_ < bytes) capacity = size_ + bytes;
    auto memory = std::make_unique_for_overwrite<std::byte[]>(capacity);
    if (size_ != 0) std::memcpy(memory.get(), memory_.get(), size_);
    memory_ = std::move(memory);
    capacity_ = capacity;
  }

  std::unique_ptr<std::byte[]> memory_;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
  std::uint32_t depth_ = 0;
};

/// Bytes being read. Reading returns false once something was not as it must be; `error()` says
/// what.
class ByteSource {
 public:
  /// Reads `bytes`, which must outlive the source.
  explicit ByteSource(std::span<const std::byte> bytes) noexcept : bytes_(bytes) {}

  [[nodiscard]] std::size_t offset() const noexcept { return offset_; }
  [[nodiscard]] std::size_t left() const noexcept { return bytes_.size() - offset_; }

  [[nodiscard]] bool read(void* to, std::size_t bytes) noexcept {
    const std::byte* const from = take(bytes);
    if (from == nullptr) return false;
    if (bytes != 0) std::memcpy(to, from, bytes);
    return true;
  }
  /// Reads the bytes of a value as they stand in memory.
  template <class T>
  [[nodiscard]] bool read_plain(T& to) noexcept {
    static_assert(std::is_trivially_copyable_v<T>);
    return read(&to, sizeof(T));
  }
  /// The next `bytes` bytes, where they are; null if there are not so many.
  [[nodiscard]] const std::byte* take(std::size_t bytes) noexcept {
    static constexpr std::byte kNothing{};
    if (bytes > left() || failed()) [[unlikely]] {
      fail("more bytes are asked for than are left", bytes, left());
      return nullptr;
    }
    const std::byte* const at = bytes_.data() != nullptr ? bytes_.data() + offset_ : &kNothing;
    offset_ += bytes;
    return at;
  }
  /// Passes the padding that `ByteSink::align` wrote; it must be zeros.
  [[nodiscard]] bool align() noexcept {
    const std::size_t padding = -offset_ % kSectionAlign;
    const std::byte* const zeros = take(padding);
    if (zeros == nullptr) return false;
    for (std::size_t i = 0; i < padding; ++i) {
      if (zeros[i] != std::byte{0}) return fail("padding is not zero");
    }
    return true;
  }
  /// Reads a count of things that take at least `each` bytes, and refuses one that cannot be true.
  ///
  /// So no more is ever allocated than the input could fill. Requires: `each` is not 0.
  [[nodiscard]] bool read_count(std::size_t& count, std::size_t each) noexcept {
    std::uint64_t told = 0;
    if (!read_plain(told)) return false;
    if (told > left() / each) {
      return fail("more elements are counted than bytes are left for", told, left() / each);
    }
    count = static_cast<std::size_t>(told);
    return true;
  }

  /// Says what is wrong with the bytes; the first word counts. `what` must be a literal.
  ///
  /// Returns: false, so that a decoder says `return from.fail("...")`.
  bool fail(const char* what) noexcept { return fail(what, 0, 0); }
  bool fail(const char* what, std::uint64_t found, std::uint64_t at_most) noexcept {
    if (failed()) return false;
    what_ = what;
    failed_at_ = offset_;
    found_ = found;
    at_most_ = at_most;
    return false;
  }
  [[nodiscard]] bool failed() const noexcept { return what_ != nullptr; }
  /// Requires: `failed()`.
  [[nodiscard]] Error error() const {
    std::string text = "decode, byte " + std::to_string(failed_at_) + " of " +
                       std::to_string(bytes_.size()) + ": " + (failed() ? what_ : "nothing failed");
    if (found_ != at_most_) {
      text += " (" + std::to_string(found_) + ", at most " + std::to_string(at_most_) + ")";
    }
    return Error{std::move(text)};
  }

  /// One level of a value that holds values, while it lives. False beyond `kCodecDepth`.
  class Level {
   public:
    explicit Level(ByteSource& source) noexcept : source_(source) { ++source_.depth_; }
    Level(const Level&) = delete;
    Level& operator=(const Level&) = delete;
    ~Level() { --source_.depth_; }
    [[nodiscard]] explicit operator bool() const noexcept {
      return source_.depth_ <= kCodecDepth || source_.fail("values are nested too deep");
    }

   private:
    ByteSource& source_;
  };

 private:
  std::span<const std::byte> bytes_;
  std::size_t offset_ = 0;
  const char* what_ = nullptr;
  std::size_t failed_at_ = 0;
  std::uint64_t found_ = 0;
  std::uint64_t at_most_ = 0;
  std::uint32_t depth_ = 0;
};

}  // namespace leat
