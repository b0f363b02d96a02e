// What      The links of a process to all others, and whoever looks after them: frames out, frames in,
//           who is alive, and the end.
// Shape     worker k ---outbox[p]---.                                  .--> lane of worker j
//           worker k ---its log-----+--> pending[p] ==> transport ==>--+--> log of the links
//           this process ---control-'                                  '--> the fabric
// Protocol  `drive` is one pass over all of it: read the workers' logs and outboxes, write, read,
//           deliver. Whoever has the turn does it; who comes while another has it says that there is
//           more and goes on. Awake workers drive in each look for news, so data and progress of a
//           step leave in one write. A thread of the links' own drives while all workers sleep or are
//           long in a step: it sleeps until something comes, or looks every other millisecond.
//           The end: all that waits is written, then a frame that says so; the other side reads up to
//           it. A link that ends without it was cut.
// Invariants
//   (1) Of each worker, its peers in other processes see a prefix of its batches in order, each whole.
//   (2) Nothing that came before a pass which follows `drive(true)` of a thread stays unwritten for
//       lack of somebody who drives.
//   (3) All that comes is looked at before it is believed: kind, length, check, source, targets,
//       sequence. What is wrong ends the link, with the byte where it stands.
//   (4) A peer that is lost is told to the callback, to all workers here and to all processes left.
// Ordering  closing  who ends -> the thread: all workers have left, and what they wrote is seen.
//           Passes are ordered by turn.hpp. Relaxed: how many workers are awake, and the count of
//           passes; the thread looks again soon. Whether control frames wait: under their mutex.
// Limits    Unbounded, as channels are. A link writes at most 64 extents at once.
// Cost      A pass: a read and at most a write for each link, a load for each worker's log, and a
//           mutex for each outbox.
// Source    Timely Dataflow has two threads for each peer; ours is one for all, which mostly sleeps.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <leat/base/atomic.hpp>
#include <leat/base/cache_line.hpp>
#include <leat/base/clock.hpp>
#include <leat/base/codec/bytes.hpp>
#include <leat/base/os/descriptor_wait.hpp>
#include <leat/comm/bytes/byte_queue.hpp>
#include <leat/comm/bytes/slab.hpp>
#include <leat/comm/net/transport.hpp>
#include <leat/comm/net/turn.hpp>
#include <leat/comm/wire/frame.hpp>
#include <leat/core/network.hpp>
#include <leat/core/parker.hpp>
#include <leat/core/stop.hpp>
#include <leat/queue/append_log.hpp>

namespace leat::comm {

class Fabric;

/// The connection to one process.
struct Connection {
  std::size_t process = 0;
  std::string name;  // as a person would say it: "process 1 (localhost:2102)"
  std::unique_ptr<Transport> transport;
};

struct LinkOptions {
  Nanos peer_timeout = std::chrono::seconds(10);
  std::uint64_t message_bytes_max = kPayloadBytesMax;
  bool checks_bytes = true;
  Refill refill{};
  std::function<void(const core::NetworkEvent&)> log{};
  std::function<void(std::size_t process, const std::string& why)> on_peer_lost{};
};

/// What links did so far.
struct LinkCounters {
  std::uint64_t passes = 0;
  std::uint64_t writes = 0;  // calls that wrote something
  std::uint64_t frames_received = 0;
  std::uint64_t bytes_sent = 0;
  std::uint64_t bytes_received = 0;
};

/// What an entry in the log of the links is made of: see docs/protocols/frames.md, progress.
struct WireWord {
  std::uint64_t word;
};

class Links {
 public:
  /// `connections`: one for each other process.
  Links(Fabric& fabric, std::vector<Connection> connections, LinkOptions options,
        const Clock& clock);
  Links(const Links&) = delete;
  Links& operator=(const Links&) = delete;
  ~Links();

  // -- The fabric's -------------------------------------------------------------------------------

  [[nodiscard]] queue::AppendLog::Cursor cursor(std::size_t place) { return log_.cursor(place); }
  void start();
  /// Ends all links in order, after the workers have left. Returns: why one did not, if so.
  std::optional<core::StopReason> finish();

  void tell_made(std::size_t worker, std::uint64_t id, std::uint64_t hash, const std::string& text);
  /// `error` is null if it stands.
  void tell_built(std::size_t worker, std::uint64_t id, const std::string& where,
                  const std::string* error);
  void tell_left(std::uint64_t next_id);
  void tell_failed(const std::string& who, const std::string& why);

  // -- Workers' -----------------------------------------------------------------------------------

  /// A pass, if nobody else is at one. `has_more`: the caller has put something where it is sent
  /// from. Threads: any.
  void drive(bool has_more) {
    turn_.take(has_more, [this] { pass(); });
  }
  void worker_sleeps() noexcept;
  void worker_wakes() noexcept { awake_.fetch_add_relaxed(1); }

  [[nodiscard]] const LinkCounters& counters() const noexcept { return counters_; }

 private:
  struct closing : Edge {};  // finish -> the thread: the workers have left

  enum class State : std::uint8_t { open, ended, lost };

  struct Link {
    explicit Link(Connection connection_in, const Refill& refill)
        : connection(std::move(connection_in)), incoming(kIncomingShift, refill) {}

    Connection connection;
    State state = State::open;
    std::deque<Bytes> pending;
    bool end_sent = false;  // its end frame is in pending, or written
    bool flushed = false;   // all of pending is written, and the writing end closed
    bool ended = false;     // the peer's end frame has come
    bool waits_for_room = false;
    bool is_watched = true;  // by the poller
    ByteSlab incoming;
    std::uint64_t position = 0;            // which byte of the stream `incoming` begins with
    std::vector<std::uint64_t> sequences;  // the last of each of the peer's workers, then of itself
    std::uint64_t bytes_in = 0;
    std::uint64_t bytes_out = 0;
    std::uint64_t seen_in = 0;  // bytes_in when the clock was looked at last
    std::uint64_t seen_out = 0;
    Nanos heard{0};
    Nanos said{0};
  };

  static constexpr std::uint32_t kIncomingShift = 18;

  void pass();
  void collect_progress();
  void collect(Link& link);
  void flush(Link& link);
  void receive(Link& link);
  bool take_frames(Link& link);
  bool take_progress(Link& link, std::span<const std::byte> payload);
  bool take_control(Link& link, const FrameHeader& header, std::span<const std::byte> payload);
  void deliver(const Bytes& frames, std::size_t lower, std::size_t upper);
  bool break_off(Link& link, const std::string& how);
  void lose(Link& link, const std::string& how);
  void end_of(Link& link);
  void tick();
  void collect_controls();
  void control(FrameKind kind, std::uint64_t channel, ByteSink payload);
  void send_to_all(const Bytes& frame);
  void enqueue(Link& link, Bytes frames);
  [[nodiscard]] Bytes own_frame(FrameKind kind, std::uint64_t channel,
                                std::span<const std::byte> payload);
  void run();
  void wait();
  [[nodiscard]] bool is_over() const noexcept;
  void note(core::NetworkEvent::Kind kind, const Link* link, const std::string& text = {}) const;
  void note(core::NetworkEvent::Kind kind, const Link& link, const FrameHeader& header) const;

  Fabric& fabric_;
  LinkOptions options_;
  const Clock& clock_;
  Nanos tick_every_;

  // Of whoever has the turn.
  std::vector<std::unique_ptr<Link>> links_;
  std::vector<queue::AppendLog::Cursor> cursors_;  // into the logs of the workers here
  queue::AppendLog log_;                           // what came from other processes
  bool has_appended_ = false;
  ByteSink batches_;
  ByteSlab slab_;
  std::uint64_t sequence_ = 0;
  std::vector<Bytes> drained_;
  LinkCounters counters_;
  bool is_ending_ = false;                // workers have left: the end frame follows what waits
  std::optional<core::StopReason> lost_;  // the first loss

  struct Control {
    FrameKind kind;
    std::uint64_t channel;
    ByteSink payload;
  };
  std::mutex control_mutex_;
  std::vector<Control> controls_;          // guarded by control_mutex_
  Atomic<std::uint32_t> has_controls_{0};  // a hint; who has left one has the turn taken after it

  Turn turn_;
  alignas(kCacheLine) Atomic<std::uint32_t> awake_{0};
  Atomic<std::uint64_t> passes_{0};
  Atomic<std::uint32_t> ending_{0};  // finish() was called
  core::Parker thread_parker_;
  os::DescriptorWait poller_;
  std::thread thread_;
};

}  // namespace leat::comm
