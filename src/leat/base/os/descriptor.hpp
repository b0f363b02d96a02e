// What      A descriptor of the kernel, closed at the end of its owner.
#pragma once

#include <utility>

namespace leat::os {

class Descriptor {
 public:
  Descriptor() = default;
  /// Takes over `number`; negative is none.
  explicit Descriptor(int number) noexcept : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~Descriptor();

  [[nodiscard]] int number() const noexcept { return number_; }
  explicit operator bool() const noexcept { return number_ >= 0; }

  /// Closes it now. Calls nothing that a forked child may not call.
  void close() noexcept;

 private:
  int number_ = -1;
};

}  // namespace leat::os
