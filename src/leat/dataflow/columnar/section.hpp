// What      Growing memory of one column: bytes one after the other.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <span>
#include <utility>

namespace leat::dataflow {

class Section {
 public:
  Section() = default;
  Section(const Section& other) { assign(other.bytes()); }
  Section(Section&& other) noexcept
      : memory_(std::move(other.memory_)),
        size_(std::exchange(other.size_, 0)),
        capacity_(std::exchange(other.capacity_, 0)) {}
  Section& operator=(const Section& other) {
    if (this != &other) assign(other.bytes());
    return *this;
  }
  Section& operator=(Section&& other) noexcept {
    memory_ = std::move(other.memory_);
    size_ = std::exchange(other.size_, 0);
    capacity_ = std::exchange(other.capacity_, 0);
    return *this;
  }

  [[nodiscard]] std::span<const std::byte> bytes() const noexcept { return {memory_.get(), size_}; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }

  void append(const void* from, std::size_t bytes) {
    if (bytes > capacity_ - size_) [[unlikely]]
      grow(bytes);
    if (bytes != 0) std::memcpy(memory_.get() + size_, from, bytes);
    size_ += bytes;
  }
  /// Replaces all bytes.
  void assign(std::span<const std::byte> bytes) {
    size_ = 0;
    append(bytes.data(), bytes.size());
  }
  /// Forgets all bytes but the first ones, and keeps the memory.
  void truncate(std::size_t bytes) noexcept { size_ = std::min(size_, bytes); }

 private:
  void grow(std::size_t bytes) {
    const std::size_t capacity = std::max({std::size_t{64}, 2 * capacity_, size_ + bytes});
    auto memory = std::make_unique_for_overwrite<std::byte[]>(capacity);
    if (size_ != 0) std::memcpy(memory.get(), memory_.get(), size_);
    memory_ = std::move(memory);
    capacity_ = capacity;
  }

  std::unique_ptr<std::byte[]> memory_;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

}  // namespace leat::dataflow
