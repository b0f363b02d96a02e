// What      A worker's place in a fabric: where it sleeps, where it hears of messages, where it
//           publishes progress, and where it reads what its peers published. Seats belong to the
//           fabric and outlive the worker's thread, so peers may ring one that has left; those who
//           activate from other threads may keep one longer.
// Protocol  To sleep: say so in the park mask, then look again at everything that others announce
//           (ready list, the peers' logs, stop), then wait. Peers make things visible first and
//           look for sleepers second; both with sequential consistency, so one of the two sees the
//           other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <type_traits>
#include <vector>

#include <leat/base/clock.hpp>
#include <leat/comm/wire/byte_seat.hpp>
#include <leat/core/bell.hpp>
#include <leat/core/doorbell.hpp>
#include <leat/core/park_mask.hpp>
#include <leat/core/parker.hpp>
#include <leat/queue/append_log.hpp>

namespace leat::comm {

class Fabric;
class Links;

/// What a worker's coordination cost so far. Written by its own thread.
struct SeatCounters {
  std::uint64_t notices = 0;       // edges announced to peers
  std::uint64_t wakes_sent = 0;    // system calls made to wake a peer
  std::uint64_t batches = 0;       // progress batches published or applied alone
  std::uint64_t batches_read = 0;  // progress batches read from peers
  std::uint64_t records = 0;       // records that came to operators
};

class Seat : public std::enable_shared_from_this<Seat> {
 public:
  /// `index` among the workers of all processes.
  Seat(Fabric& fabric, std::size_t index);
  Seat(const Seat&) = delete;
  Seat& operator=(const Seat&) = delete;

  [[nodiscard]] std::size_t index() const noexcept { return index_; }
  /// Workers of all processes, this one included.
  [[nodiscard]] std::size_t peers() const noexcept { return peers_; }
  /// The number of the first worker of this process; this one's place among them; how many they are.
  [[nodiscard]] std::size_t first() const noexcept { return first_; }
  [[nodiscard]] std::size_t place() const noexcept { return index_ - first_; }
  [[nodiscard]] std::size_t neighbours() const noexcept { return neighbours_; }
  [[nodiscard]] Fabric& fabric() noexcept { return fabric_; }
  [[nodiscard]] core::Parker& parker() noexcept { return parker_; }
  [[nodiscard]] core::ReadyList& ready() noexcept { return ready_; }
  [[nodiscard]] SeatCounters& counters() noexcept { return counters_; }
  /// Where messages go and come as bytes; null if none do.
  [[nodiscard]] ByteSeat* bytes() noexcept { return bytes_.get(); }

  /// Says that something is in `bell`'s channel, whose receiver is worker `to`; wakes it if it
  /// sleeps.
  void announce(std::size_t to, core::Bell& bell);
  /// The same, but counts as a notice, and looks whether the receiver sleeps, also where it was told
  /// already and has not looked yet.
  void announce_again(std::size_t to, core::Bell& bell);

  // -- Progress logs ------------------------------------------------------------------------------

  /// The log that this worker alone writes.
  [[nodiscard]] queue::AppendLog& log() noexcept { return log_; }
  /// Makes what was committed to the log known to peers that sleep. Call after `log().commit`.
  void announce_log();
  /// Calls `read(entry)`, or `read(entry, writer)`, for each entry of each peer's log that this worker
  /// has not read. What came from other processes says itself who wrote it: `writer` is `peers()`.
  ///
  /// Returns: how many there were.
  template <class Read>
  std::size_t read_logs(Read&& read) {
    std::size_t count = 0;
    std::size_t writer = first_;
    for (auto& cursor : cursors_) {
      if (writer == index_) ++writer;
      if (writer == first_ + neighbours_) writer = peers_;  // the log of what came over links
      while (const auto* entry = cursor.peek()) {
        if constexpr (std::is_invocable_v<Read&, decltype(*entry), std::size_t>) {
          read(*entry, writer);
        } else {
          read(*entry);
        }
        cursor.advance();
        ++count;
      }
      ++writer;
    }
    counters_.batches_read += count;
    return count;
  }

  // -- Links to other processes -------------------------------------------------------------------

  /// Sends off what this worker has for other processes, and takes in what has come from there, if
  /// there are any. Call once in each look for news.
  void drive() {
    if (links_ != nullptr) [[unlikely]]
      drive_links();
  }
  /// A look for news: links, bells, and what came as bytes; all but the logs. Receivers of what has
  /// come are activated.
  void look() {
    drive();
    ready_.surface(
        [](core::Doorbell& bell) { static_cast<core::Bell&>(bell).activate_listener(); });
    if (bytes_) [[unlikely]]
      bytes_->surface();
  }
  /// There is something for other processes.
  void has_unsent() noexcept { has_unsent_ = true; }

  // -- Sleeping -----------------------------------------------------------------------------------

  /// Whether a peer announced something that was not looked at. Orders against all announcements.
  [[nodiscard]] bool has_announcements() const;

  /// Sleeps until a peer announces something or `timeout` has passed.
  void park(std::optional<Nanos> timeout);

  /// Takes the seat: the worker's thread can run from now on.
  void enter();
  /// Leaves the fabric: nothing waits for this worker's reading any more.
  void leave();

 private:
  friend class Fabric;  // connects the cursors when all logs stand

  void drive_links();

  Fabric& fabric_;
  std::size_t index_;
  std::size_t peers_;
  std::size_t first_;
  std::size_t neighbours_;
  core::Parker parker_;
  core::ReadyList ready_;
  queue::AppendLog log_;
  // Into the logs of the peers of this process, then into that of the links.
  std::vector<queue::AppendLog::Cursor> cursors_;
  SeatCounters counters_;
  Links* links_ = nullptr;  // to other processes, if there are any
  bool has_unsent_ = false;
  std::unique_ptr<ByteSeat> bytes_;
};

}  // namespace leat::comm
