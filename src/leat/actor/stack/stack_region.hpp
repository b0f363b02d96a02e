// What      StackRegion: address space for all stacks of the process, cut into slots that are handed
//           out and taken back. StackPool is what actors' runtimes use; this is below it.
// Protocol  `process()` reserves on first use. `take_slot` gives a slot with its guard in place, and
//           no memory behind it but for what its last user left; `release` gives the memory of idle
//           slots back to the kernel, `give_slot` the slot.
// Invariants
//   (1) Nothing is unmapped: an address of the region is never anything but a stack's.
//   (2) No system call is made under the lock.
// Limits    A guard costs no mapping where the kernel has light guards (Linux 6.13 and later).
//           Elsewhere each costs two of the process' `vm.max_map_count`; then `take_slot` stops in
//           time, and `shortage` says why.
//           Huge pages are off for the region: one would make the neighbours of a stack resident.
//           Where the kernel counts reservations as use (overcommit_memory=2), slots become
//           writable when they are first taken.
// Cost      take_slot: one lock; two system calls for a slot that was never used.
// Source    Light guards: ClickHouse and hardened_malloc. One region with masking: ours.
#pragma once

#include <leat/actor/stack/stack.hpp>
#include <leat/base/result.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>

namespace leat::actor {

/// How the low end of a slot is kept from being written.
enum class GuardKind : std::uint8_t { best, light, mprotect };

class StackRegion {
 public:
  struct Options {
    std::size_t class_bytes = std::size_t{1} << 38;  ///< of address space, for each class
    /// At the low end of each slot, in whole pages; 0: 4 KiB, and 64 KiB for slots of 256 KiB or more.
    std::size_t guard_bytes = 0;
    GuardKind guard = GuardKind::best;
    std::size_t slots_max = 0;  ///< of all classes; 0: as many as the kernel allows
  };

  /// The region that `Stack::of` knows. Reserved on first use; a process that cannot have 64 MiB of
  /// address space for stacks ends here.
  [[nodiscard]] static StackRegion& process();
  /// The same, reserved by these options if it was not reserved before: for programs that must do
  /// with less address space, or want larger guards.
  static StackRegion& process(const Options& options);

  /// A region of its own, for tests. `Stack::of` does not know it.
  [[nodiscard]] static Result<std::unique_ptr<StackRegion>> reserve(const Options& options);

  StackRegion(const StackRegion&) = delete;
  StackRegion& operator=(const StackRegion&) = delete;
  ~StackRegion();

  /// A slot with its guard; none if there are no more, see `shortage`. Threads: any.
  [[nodiscard]] Stack take_slot(StackClass c) noexcept;

  /// Takes the slot back. What memory it holds stays with it. Threads: any.
  void give_slot(Stack stack) noexcept;

  /// Gives the memory of stacks that nobody uses back to the kernel; neighbours in one call. Sorts
  /// `stacks`. Threads: any.
  void release(std::span<Stack> stacks) const noexcept;

  /// Why the last `take_slot` of this class gave nothing, and what to do.
  [[nodiscard]] Error shortage(StackClass c) const;

  [[nodiscard]] GuardKind guard_kind() const noexcept { return guard_; }
  [[nodiscard]] std::size_t guard_bytes(StackClass c) const noexcept {
    if (guard_bytes_ != 0) return guard_bytes_;
    return c < StackClass::k256KiB ? std::max(std::size_t{4096}, page_bytes_)
                                   : std::size_t{64} * 1024;
  }
  [[nodiscard]] std::size_t slots_max() const noexcept { return slots_max_; }
  /// Slots that were ever taken, of all classes. Each holds a guard.
  [[nodiscard]] std::size_t slots_made() const noexcept { return made_.load_relaxed(); }
  /// System calls made for guards and for writability, since the start.
  [[nodiscard]] std::uint64_t system_calls() const noexcept { return system_calls_.load_relaxed(); }

  /// The region's first byte, and how many there are.
  [[nodiscard]] std::uintptr_t low() const noexcept { return low_; }
  [[nodiscard]] std::size_t bytes() const noexcept { return kStackClasses * class_bytes_; }

 private:
  struct Class {
    std::mutex mutex;
    std::uint32_t fresh = 0;        // slots from here on were never taken
    std::uint32_t idle = kNone;     // the first slot that was given back
    std::uint32_t* next = nullptr;  // by slot: the one after it in that list
  };
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  StackRegion() = default;
  bool map(const Options& options) noexcept;
  [[nodiscard]] std::uint32_t slots(std::size_t c) const noexcept {
    return static_cast<std::uint32_t>(class_bytes_ >> stack_shift(static_cast<StackClass>(c)));
  }
  [[nodiscard]] bool prepare(Stack stack) noexcept;

  std::uintptr_t mapping_ = 0;
  std::size_t mapping_bytes_ = 0;
  std::uintptr_t low_ = 0;
  std::size_t class_bytes_ = 0;
  std::size_t guard_bytes_ = 0;
  std::size_t page_bytes_ = 4096;
  std::size_t slots_max_ = 0;
  GuardKind guard_ = GuardKind::mprotect;
  bool writable_on_use_ = false;
  std::size_t next_bytes_ = 0;
  Class classes_[kStackClasses];
  // Relaxed: counts for reports and for a bound that may be passed by a few.
  Atomic<std::size_t> made_{0};
  Atomic<std::uint64_t> system_calls_{0};
};

}  // namespace leat::actor
