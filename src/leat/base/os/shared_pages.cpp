#include <leat/base/os/shared_pages.hpp>

#include <leat/base/os/error_text.hpp>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <utility>

namespace leat::os {

namespace {
constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_GROW;

Error failed(const char* what, std::size_t bytes) {
  return {"shared memory: " + std::string(what) + " " + std::to_string(bytes) +
          " bytes: " + error_text(errno)};
}
}  // namespace

SharedPages::SharedPages(Descriptor descriptor, std::span<std::byte> memory) noexcept
    : descriptor_(std::move(descriptor)), memory_(memory) {}
SharedPages::SharedPages(SharedPages&& other) noexcept
    : descriptor_(std::move(other.descriptor_)), memory_(std::exchange(other.memory_, {})) {}
SharedPages& SharedPages::operator=(SharedPages&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  std::swap(memory_, other.memory_);
  return *this;
}
SharedPages::~SharedPages() {
  if (!memory_.empty()) ::munmap(memory_.data(), memory_.size());
}

Result<SharedPages> SharedPages::make(std::size_t bytes) {
  Descriptor made(::memfd_create("leat", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  // Allocated now, so that a host without memory says so here and kills nobody later.
  if (!made || ::ftruncate(made.number(), static_cast<off_t>(bytes)) != 0 ||
      ::fallocate(made.number(), 0, 0, static_cast<off_t>(bytes)) != 0 ||
      ::fcntl(made.number(), F_ADD_SEALS, kSeals) != 0) {
    return failed("cannot make", bytes);
  }
  return map(std::move(made), bytes);
}

Result<SharedPages> SharedPages::of(Descriptor descriptor, std::size_t bytes) {
  struct stat about{};
  const int seals = ::fcntl(descriptor.number(), F_GET_SEALS);
  if (::fstat(descriptor.number(), &about) != 0 || seals < 0)
    return failed("cannot look at", bytes);
  if (static_cast<std::size_t>(about.st_size) != bytes || (seals & kSeals) != kSeals) {
    return Error{"shared memory: expected " + std::to_string(bytes) +
                 " bytes that nobody can cut short, found " + std::to_string(about.st_size)};
  }
  return map(std::move(descriptor), bytes);
}

Result<SharedPages> SharedPages::map(Descriptor descriptor, std::size_t bytes) {
  void* const at =
      ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor.number(), 0);
  if (at == MAP_FAILED) return failed("cannot map", bytes);
  return SharedPages(std::move(descriptor), {static_cast<std::byte*>(at), bytes});
}

}  // namespace leat::os
