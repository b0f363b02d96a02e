// What      Address space by the page: reserved, made writable, guarded, emptied.
// Limits    Sizes and addresses are of whole pages. Failures that a caller can act on are return
//           values, and errno says why.
// Cost      One system call each.
#pragma once

#include <cstddef>
#include <cstdint>

namespace leat::os {

/// The bytes of a page.
[[nodiscard]] std::size_t page_bytes() noexcept;

/// Address space that is backed by memory when it is first touched, and by nothing before.
struct Reservation {
  std::byte* low = nullptr;  ///< null: there is no such room
  bool writable =
      false;  ///< false: the kernel counts writable space as memory; see `make_writable`
};
[[nodiscard]] Reservation reserve_space(std::size_t bytes) noexcept;

/// Gives the space back.
void unreserve_space(std::byte* low, std::size_t bytes) noexcept;

/// Whether it is writable now.
[[nodiscard]] bool make_writable(std::byte* low, std::size_t bytes) noexcept;

/// Keeps the kernel from backing the space by huge pages, which would make neighbours resident.
void refuse_huge_pages(std::byte* low, std::size_t bytes) noexcept;

/// Whether the kernel has guards that need no mapping of their own (Linux 6.13). Tries it on
/// [low, low + bytes), which loses its contents.
[[nodiscard]] bool has_light_guards(std::byte* low, std::size_t bytes) noexcept;

/// Makes every access to these pages a fault; false if it could not. A light guard leaves the
/// mapping whole and outlives `empty_space`; a heavy one splits it, at the cost of two mappings.
[[nodiscard]] bool install_light_guard(std::byte* low, std::size_t bytes) noexcept;
[[nodiscard]] bool install_heavy_guard(std::byte* low, std::size_t bytes) noexcept;

/// Gives the memory behind these pages back; they read as zeros. Guards within stay.
void empty_space(std::byte* low, std::size_t bytes) noexcept;

/// The first page of [low, high) that has memory behind it, or `high`. `low` is of a page's start, or
/// is taken for its page's.
[[nodiscard]] std::byte* first_resident(std::byte* low, std::byte* high) noexcept;

/// How many mappings a process may have, as `vm.max_map_count` says.
[[nodiscard]] std::size_t mappings_max() noexcept;

/// How many mappings this process has; 0 without /proc.
[[nodiscard]] std::size_t mappings_now() noexcept;

}  // namespace leat::os
