// What      TickClock: the steady clock for the price of reading the processor's counter, alike in
//           all processes that share one line.
// Shape     The line (tick_line.hpp) lies in a page: of a file that processes share, or private.
// Protocol  now: read the counter, read the line, multiply. About once a second whoever comes first
//           takes a sample of the steady clock and refines the line; the others go on with the old.
// Invariants
//   (1) Processes of one file read times by one line, and so do all threads of each.
//   (2) A line is read whole, or the reader keeps to the last one that it read whole.
// Ordering  drawn  from who refines to who reads: the line's words. Each is read with acquire, so
//                  that a reader who has seen a word of a later line also sees that it changed.
//           Relaxed: the moment to try again, which orders nothing.
// Limits    Where the counter is no clock (`ticks_are_steady`) or the file cannot be had, it does
//           without: `uses_ticks`, `is_shared`. In the first second after the very first use of a
//           file the rate is known to some millionths only. A time that another core reads at nearly
//           the same moment may be some nanoseconds earlier. A forked child goes on with a line
//           of its own.
// Cost      now: the counter, five loads of one line, a multiplication; once a second two system
//           calls. Making one: 10 ms for the first process, later ones nothing.
// Source    Flux's quanta-calibrated ticks, per process there; the kernel's vDSO page.
#pragma once

#include <leat/base/atomic.hpp>
#include <leat/base/cache_line.hpp>
#include <leat/base/clock.hpp>
#include <leat/base/os/shared_file.hpp>
#include <leat/base/time/tick_line.hpp>
#include <leat/base/time/ticks.hpp>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>

namespace leat {

namespace internal {

/// A line as it lies in memory that processes share.
struct alignas(kSector) TickPage {
  Atomic<std::uint64_t> version{0};  // odd: being written; 0: never was
  Atomic<std::uint64_t> at{0};
  Atomic<std::int64_t> ns{0};
  Atomic<std::uint64_t> slope{0};
  Atomic<std::uint64_t> next{0};  // when to refine it: of ticks
  Atomic<std::uint64_t> past_ticks{0};
  Atomic<std::int64_t> past_ns{0};
  Atomic<std::uint64_t> boot[2] = {};  // of which these are the ticks
};
static_assert(sizeof(TickPage) == kSector);

}  // namespace internal

/// Any thread may read it at any moment.
class TickClock final : public Clock {
  struct drawn : Edge {};  // who refines -> who reads: the words of the line

 public:
  /// Shares its line with whoever names the same file, which is made if it is not there.
  explicit TickClock(const std::filesystem::path& file);
  /// Shares it with all of this user that use this: a file in `os::default_shared_folder()`.
  TickClock();
  ~TickClock() override;
  TickClock(const TickClock&) = delete;
  TickClock& operator=(const TickClock&) = delete;

  [[nodiscard]] Nanos now() const noexcept override;

  /// The time at which the counter stood at `ticks`. Requires: `uses_ticks()`.
  [[nodiscard]] Nanos time_of(std::uint64_t ticks) const noexcept { return line().time_of(ticks); }

  [[nodiscard]] bool uses_ticks() const noexcept { return page_ != nullptr; }
  [[nodiscard]] bool is_shared() const noexcept { return has_file(); }
  /// The line of this moment. Requires: `uses_ticks()`.
  [[nodiscard]] TickLine line() const noexcept;

 private:
  void open(const std::filesystem::path& file);
  /// Whether the file is there and this is not a forked child.
  [[nodiscard]] bool has_file() const noexcept { return file_ && file_->is_valid(); }
  void go_private();
  void draw_first() const noexcept;
  void refine(std::uint64_t ticks) const noexcept;
  void draw(const TickLine& line, const TickSample& past) const noexcept;
  /// Returns: false if it is being drawn, and that takes long.
  [[nodiscard]] bool read(TickLine& line) const noexcept;

  internal::TickPage* page_ = nullptr;
  std::optional<os::SharedFile> file_;
  std::unique_ptr<internal::TickPage> own_;
  mutable std::mutex writer_;  // among threads; among processes it is a lock of the file
  mutable Atomic<std::uint64_t> try_again_{0};
};

}  // namespace leat
