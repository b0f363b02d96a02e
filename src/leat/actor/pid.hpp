// What      Pid: names one actor, for ever. 32 bits say in which slot it lives, 32 which tenant of
//           the slot it is.
// Invariants  (1) No two actors of a runtime have the same Pid, until a slot had 2^32 tenants.
//             (2) A Pid of an actor that has ended names nobody: never the slot's next tenant.
// Limits    A Pid means something to its own runtime only.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>

namespace leat::actor {

/// Names one actor. The default value names none; `Pid::root()` is who has no parent.
class Pid {
 public:
  constexpr Pid() noexcept = default;
  constexpr Pid(std::uint32_t slot, std::uint32_t generation) noexcept
      : word_((std::uint64_t{generation} << 32) | slot) {}

  /// The supervisor of actors that nobody else supervises: a name without an actor.
  [[nodiscard]] static constexpr Pid root() noexcept { return {kRootSlot, kRootGeneration}; }

  [[nodiscard]] constexpr std::uint32_t slot() const noexcept {
    return static_cast<std::uint32_t>(word_);
  }
  /// From 1 for actors.
  [[nodiscard]] constexpr std::uint32_t generation() const noexcept {
    return static_cast<std::uint32_t>(word_ >> 32);
  }
  [[nodiscard]] constexpr std::uint64_t word() const noexcept { return word_; }

  /// Whether it names anybody, be it the root.
  explicit constexpr operator bool() const noexcept { return word_ != 0; }

  friend constexpr auto operator<=>(Pid, Pid) noexcept = default;

 private:
  static constexpr std::uint32_t kRootSlot = 0xffff'ffff;
  static constexpr std::uint32_t kRootGeneration = 0xffff'ffff;

  std::uint64_t word_ = 0;
};

}  // namespace leat::actor

template <>
struct std::hash<leat::actor::Pid> {
  std::size_t operator()(leat::actor::Pid pid) const noexcept {
    return std::hash<std::uint64_t>()(pid.word());
  }
};
