// What      What the headers of the model build call: the few functions through which Atomic,
// Plain,
//           spin_pause, futexes and LEAT_MUTANT reach the model checker. Outside an exploration
//           they do nothing, and the callers act on the real machine.
// Limits    For base's own headers. A model test includes base/model/explore.hpp.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace leat::model::internal {

class Engine;

/// The exploration that the calling code runs in; null outside.
extern constinit thread_local Engine* engine;

/// True while the calling code runs in an exploration.
[[nodiscard]] inline bool active() noexcept { return engine != nullptr; }

/// The bytes of a value of at most 16 bytes, the rest zero.
struct Word {
  std::uint64_t low = 0;
  std::uint64_t high = 0;
  friend constexpr bool operator==(const Word&, const Word&) noexcept = default;
};

/// What an operation asks of the memory; relaxed when all are false. seq_cst comes with its half.
struct Order {
  bool acquire = false;
  bool release = false;
  bool seq_cst = false;
};
inline constexpr Order kRelaxed{};
inline constexpr Order kAcquire{.acquire = true};
inline constexpr Order kRelease{.release = true};
inline constexpr Order kAcqRel{.acquire = true, .release = true};
inline constexpr Order kSeqCstLoad{.acquire = true, .seq_cst = true};
inline constexpr Order kSeqCstStore{.release = true, .seq_cst = true};
inline constexpr Order kSeqCst{.acquire = true, .release = true, .seq_cst = true};

/// One edge, and whether the exploration that looked last weakens it.
struct EdgeTag {
  std::string_view name;
  std::uint64_t exploration = 0;
  bool weak_acquire = false;
  bool weak_release = false;
};

/// The edges of one operation; null where it has none.
struct Edges {
  EdgeTag* acquire = nullptr;
  EdgeTag* release = nullptr;
};

/// What a read-modify-write makes of the value it reads; nothing if it only looks (a failed
/// compare).
struct Change {
  std::optional<Word> (*make)(const void* context, Word before);
  const void* context;
};

struct Modified {
  Word before;
  Word newest;  // of all values in modification order: what memory holds
  bool changed;
};

// Atomic. `raw` is what the memory at `address` holds: the newest value in modification order.
void atomic_created(const void* address, Word value) noexcept;
void atomic_destroyed(const void* address) noexcept;
[[nodiscard]] Word atomic_load(const void* address, Word raw, Order order, Edges edges) noexcept;
[[nodiscard]] Word atomic_store(const void* address, Word raw, Word value, Order order,
                                Edges edges) noexcept;  // returns the newest value
[[nodiscard]] Modified atomic_modify(const void* address, Word raw, Change change, bool weak,
                                     Order order, Edges edges) noexcept;
void atomic_fence(Order order, Edges edges) noexcept;

// Plain.
void plain_created(const void* address) noexcept;
void plain_read(const void* address) noexcept;
void plain_write(const void* address) noexcept;

// The rest.
void spin_pause() noexcept;
bool futex_wait(const void* address, std::uint32_t expected,
                bool timed) noexcept;                 // false: outside
int futex_wake(const void* address, int n) noexcept;  // -1: outside
[[nodiscard]] bool mutated(std::string_view name) noexcept;

/// An address that stands for the calling model thread; null outside.
[[nodiscard]] const void* thread_mark() noexcept;

}  // namespace leat::model::internal
