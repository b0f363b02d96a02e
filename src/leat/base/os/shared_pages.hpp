// What      Memory without a name that processes share by handing a descriptor of it on: it goes with
//           the last of them, however they end.
// Source    memfd_create(2), with seals: nobody can cut it short.
#pragma once

#include <leat/base/os/descriptor.hpp>
#include <leat/base/result.hpp>

#include <cstddef>
#include <span>

namespace leat::os {

class SharedPages {
 public:
  SharedPages() = default;
  /// Makes `bytes` bytes of zeros.
  [[nodiscard]] static Result<SharedPages> make(std::size_t bytes);
  /// Maps what another process made. Errors: it is not of `bytes` bytes, or could be cut short.
  [[nodiscard]] static Result<SharedPages> of(Descriptor descriptor, std::size_t bytes);

  SharedPages(SharedPages&& other) noexcept;
  SharedPages& operator=(SharedPages&& other) noexcept;
  ~SharedPages();

  [[nodiscard]] std::span<std::byte> memory() const noexcept { return memory_; }
  [[nodiscard]] int descriptor() const noexcept { return descriptor_.number(); }

 private:
  SharedPages(Descriptor descriptor, std::span<std::byte> memory) noexcept;
  static Result<SharedPages> map(Descriptor descriptor, std::size_t bytes);

  Descriptor descriptor_;
  std::span<std::byte> memory_;
};

}  // namespace leat::os
