#include <leat/base/os/address_space.hpp>

#include <sys/mman.h>
#include <unistd.h>

#include <fstream>
#include <limits>
#include <string>

namespace leat::os {
namespace {

// Newer than the C library's headers.
constexpr int kGuardInstall = 102;
constexpr int kGuardRemove = 103;

}  // namespace

std::size_t page_bytes() noexcept {
  static const auto bytes = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  return bytes;
}

Reservation reserve_space(std::size_t bytes) noexcept {
  const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
  void* memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, flags, -1, 0);
  const bool writable = memory != MAP_FAILED;
  if (!writable) memory = ::mmap(nullptr, bytes, PROT_NONE, flags, -1, 0);
  if (memory == MAP_FAILED) return {};
  return {static_cast<std::byte*>(memory), writable};
}

void unreserve_space(std::byte* low, std::size_t bytes) noexcept { ::munmap(low, bytes); }

bool make_writable(std::byte* low, std::size_t bytes) noexcept {
  return ::mprotect(low, bytes, PROT_READ | PROT_WRITE) == 0;
}

void refuse_huge_pages(std::byte* low, std::size_t bytes) noexcept {
  ::madvise(low, bytes, MADV_NOHUGEPAGE);
}

bool has_light_guards(std::byte* low, std::size_t bytes) noexcept {
  // Asked of the kernel, not of its version: vendors take features back to old ones.
  if (::madvise(low, bytes, kGuardInstall) != 0) return false;
  ::madvise(low, bytes, kGuardRemove);
  return true;
}

bool install_light_guard(std::byte* low, std::size_t bytes) noexcept {
  return ::madvise(low, bytes, kGuardInstall) == 0;
}

bool install_heavy_guard(std::byte* low, std::size_t bytes) noexcept {
  return ::mprotect(low, bytes, PROT_NONE) == 0;
}

void empty_space(std::byte* low, std::size_t bytes) noexcept {
  ::madvise(low, bytes, MADV_DONTNEED);
}

std::byte* first_resident(std::byte* low, std::byte* high) noexcept {
  const std::size_t page = page_bytes();
  const auto at = reinterpret_cast<std::uintptr_t>(low) & ~(page - 1);
  auto* from = reinterpret_cast<std::byte*>(at);
  unsigned char resident[64];
  while (from < high) {
    const std::size_t left = (static_cast<std::size_t>(high - from) + page - 1) / page;
    const std::size_t pages = left < sizeof resident ? left : sizeof resident;
    if (::mincore(from, pages * page, resident) != 0) return high;
    for (std::size_t i = 0; i < pages; ++i) {
      if ((resident[i] & 1U) != 0) return from + i * page;
    }
    from += pages * page;
  }
  return high;
}

std::size_t mappings_max() noexcept {
  std::ifstream file("/proc/sys/vm/max_map_count");
  std::size_t count = 0;
  return file >> count ? count : 65'530;  // the kernel's default
}

std::size_t mappings_now() noexcept {
  std::ifstream file("/proc/self/maps");
  std::size_t lines = 0;
  while (file.ignore(std::numeric_limits<std::streamsize>::max(), '\n')) ++lines;
  return lines;
}

}  // namespace leat::os
