// What      Replay<S, "quotes">: a tile that produces a recorded stream into a channel again: with the
//           pauses that it had, at full speed, or a step at a time.
// Invariants
//   (1) Messages come in their order, each once, with the stamps they had: origins and publishers stay.
// Limits    Gaps of the log are counted, not filled. Of a log with other records it is told so.
// Source    Flux can load what it persisted; replaying is ours.
#pragma once

#include <leat/base/identity.hpp>
#include <leat/tile/record/log_reader.hpp>
#include <leat/tile/spine/spine_scope.hpp>

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

namespace leat::tile {

/// When the next of a recorded stream is due.
///
/// Threads: one; but `allow` is any thread's.
class ReplayPace {
  struct allowed : Edge {};  // who allows steps -> who takes them

 public:
  enum class Mode : std::uint8_t { full, original, steps };

  /// As fast as it goes.
  [[nodiscard]] static ReplayPace full() noexcept { return ReplayPace(Mode::full, 1); }
  /// With the pauses of the recording, `speed` times as fast.
  [[nodiscard]] static ReplayPace original(double speed = 1) noexcept {
    return ReplayPace(Mode::original, speed);
  }
  /// As many as were allowed.
  [[nodiscard]] static ReplayPace steps() { return ReplayPace(Mode::steps, 1); }

  /// Allows `count` further steps. Copies share them.
  void allow(std::uint64_t count) noexcept { steps_->fetch_add_release(count, allowed{}); }

  /// Whether a message of `stamp_ns` is due at `now`. The first is at once.
  [[nodiscard]] bool is_due(std::int64_t stamp_ns, Nanos now) noexcept {
    switch (mode_) {
      case Mode::full:
        return true;
      case Mode::steps:
        return taken_ < steps_->load_acquire(allowed{});
      case Mode::original:
        break;
    }
    if (!began_) {
      began_ = now;
      first_ns_ = stamp_ns;
    }
    const double gone = static_cast<double>((now - *began_).count()) * speed_;
    return gone >= static_cast<double>(stamp_ns - first_ns_);
  }
  void took() noexcept { ++taken_; }

 private:
  ReplayPace(Mode mode, double speed)
      : mode_(mode), speed_(speed), steps_(std::make_shared<Atomic<std::uint64_t>>(0)) {}

  Mode mode_;
  double speed_;
  std::shared_ptr<Atomic<std::uint64_t>> steps_;
  std::uint64_t taken_ = 0;
  std::optional<Nanos> began_;
  std::int64_t first_ns_ = 0;
};

struct ReplayOptions {
  std::filesystem::path folder{};
  ReplayPace pace = ReplayPace::full();
  /// The sequence of the first record.
  std::uint64_t from = 0;
  /// Whether the scope is to end when the log does; else the tile waits for more.
  bool stops_at_end = true;
  /// A cursor beside the log: begins behind what it says, and notes how far it came.
  std::string cursor{};
  /// Records between two notes.
  std::uint64_t commit_every = 4096;
  std::size_t messages_per_pass = 1024;
};

template <class S, ChannelName kName>
class Replay {
  using C = ChannelAt<S, internal::channel_named<S, kName>()>;
  using Record = typename C::Record;

 public:
  explicit Replay(ReplayOptions options) : options_(std::move(options)) {}

  bool try_init(Adapter<S>& tile) {
    reader_.emplace(checked(LogReader::open(options_.folder)));
    const LogHeader& header = reader_->header();
    if (header.type != layout_hash<Record>()) {
      throw UsageError("tile \"" + tile.name() + "\"",
                       "to replay " + options_.folder.string() + " into the channel \"" +
                           std::string(C::kName) + "\" of " + std::string(type_name<Record>()),
                       "records of " + std::string(header.type_name), "take another log");
    }
    std::uint64_t from = options_.from;
    if (!options_.cursor.empty()) {
      cursor_.emplace(checked(LogCursor::open(options_.folder, options_.cursor)));
      from = std::max(from, cursor_->next());
    }
    if (from > 0) check(reader_->seek(from));
    return true;
  }

  void loop(Adapter<S>& tile) {
    for (std::size_t i = 0; i < options_.messages_per_pass; ++i) {
      if (!pending_ && !read_next(tile)) return;
      if (!pace_().is_due(pending_stamp_ns_, tile.now())) return;
      if constexpr (C::kOptions.reliable) {
        if (tile.template forward<kName>(*pending_) == Sent::full) return;
      } else {
        tile.template forward<kName>(*pending_);
      }
      pending_.reset();
      pace_().took();
      if (cursor_ && ++uncommitted_ >= options_.commit_every) commit();
    }
  }

  void teardown(Adapter<S>&) {
    if (cursor_ && uncommitted_ > 0) commit();
  }

 private:
  ReplayPace& pace_() noexcept { return options_.pace; }
  // What was produced is done; what is pending is not.
  void commit() {
    uncommitted_ = 0;
    check(cursor_->commit(pending_ ? pending_sequence_ : reader_->position()));
  }
  bool read_next(Adapter<S>& tile) {
    for (;;) {
      const auto record = checked(reader_->next());
      if (!record) {
        if (options_.stops_at_end && !std::exchange(asked_, true)) {
          tile.request_stop("the recording is over");
        }
        return false;
      }
      if (record->is_gap() || record->payload.size() != sizeof(Record)) continue;
      std::memcpy(static_cast<void*>(&pending_.emplace()), record->payload.data(), sizeof(Record));
      pending_stamp_ns_ = record->stamp_ns;
      pending_sequence_ = record->sequence;
      return true;
    }
  }
  template <class T>
  static T checked(Result<T> result) {
    if (!result) throw std::runtime_error(result.error().message);
    return *std::move(result);
  }
  static void check(const Result<void>& result) {
    if (!result) throw std::runtime_error(result.error().message);
  }

  ReplayOptions options_;
  std::optional<LogReader> reader_;
  std::optional<LogCursor> cursor_;
  std::optional<Record> pending_;
  std::int64_t pending_stamp_ns_ = 0;
  std::uint64_t pending_sequence_ = 0;
  std::uint64_t uncommitted_ = 0;
  bool asked_ = false;
};

}  // namespace leat::tile
