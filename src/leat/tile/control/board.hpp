// What      TileBoard: the memory in which the tiles of an application, of one process or several, see
//           each other: a row for each tile, and for each channel who sleeps until it has something.
// Shape     Segment "tiles": | channels, 64 of 128 bytes | rows, 256 of 512 bytes |
//           A channel's entry is found by the hash of its name; it has a bit for each row.
// Protocol  Seat:   take a free row, or one whose owner is proven dead, by compare-exchange of its
//                   owner; write the name; begin in `boot`.
//           Sleep:  set one's bit at each channel that one consumes; say that one sleeps (bell); look
//                   once more at everything; wait. Afterwards take the bits back.
//           Wake:   publish the message loudly; look at the channel's bits; ring the bell of each.
// Invariants
//   (1) A tile's number is its row and eight bits of how often the row was taken: of those who live it
//       is unique, whoever registers at once, in whichever process.
//   (2) A message that is published is seen by the sleeper's last look, or its bit is seen by the
//       producer.
// Ordering  doze    bits and messages, all seq_cst: (2).
//           handed_on  of a row, from an owner to the next.
// Limits    256 tiles and 64 channels; who comes further is told so. Numbers come round after 256
//           takings of one row. A tile that takes a dead one's row forgets the dead one's figures.
// Cost      A producer looks at four words of one line for each message of a wakeable channel.
// Source    Ours; Flux wakes every sleeper of its own process, and no other.
#pragma once

#include <leat/base/hash.hpp>
#include <leat/base/result.hpp>
#include <leat/core/segment/segment.hpp>
#include <leat/tile/control/row.hpp>

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace leat::tile {

inline constexpr std::uint32_t kTilesMax = 256;
inline constexpr std::uint32_t kChannelsMax = 64;
inline constexpr std::size_t kTileNameMax = 32;

/// Who sleeps until a channel has something.
struct alignas(kSector) ChannelEntry {
  struct doze : Edge {};   // publish, then look who sleeps; say one sleeps, then look: seq_cst
  struct named : Edge {};  // who makes the entry -> tools: its name is written

  Atomic<std::uint64_t> key{0};  // hash of the name; 0: free
  Atomic<std::uint64_t> text_ready{0};
  Atomic<std::uint64_t> text[6] = {};
  Atomic<std::uint64_t> sleepers[kTilesMax / 64] = {};

  void say_sleeps(std::uint32_t row) noexcept {
    sleepers[row / 64].fetch_or_seq_cst(std::uint64_t{1} << (row % 64), doze{}, doze{});
  }
  void say_awake(std::uint32_t row) noexcept {
    sleepers[row / 64].fetch_and_seq_cst(~(std::uint64_t{1} << (row % 64)), doze{}, doze{});
  }
  /// Calls `wake(row)` for each that sleeps. Requires: what it waits for was published seq_cst.
  template <class Wake>
  void for_each_sleeper(Wake&& wake) const noexcept {
    for (std::uint32_t word = 0; word < kTilesMax / 64; ++word) {
      std::uint64_t bits = sleepers[word].load_seq_cst(doze{});
      while (bits != 0) [[unlikely]] {
        wake(word * 64 + static_cast<std::uint32_t>(__builtin_ctzll(bits)));
        bits &= bits - 1;
      }
    }
  }
};
static_assert(std::is_standard_layout_v<ChannelEntry> && sizeof(ChannelEntry) == 128);

/// A tile's number, as messages carry it. 0 is nobody: what came from no tile.
struct TileId {
  std::uint16_t number = 0;

  [[nodiscard]] static constexpr TileId of(std::uint32_t row, std::uint64_t generation) noexcept {
    return {static_cast<std::uint16_t>((generation & 255) << 8 | row)};
  }
  [[nodiscard]] constexpr std::uint32_t row() const noexcept { return number & 255U; }
  explicit constexpr operator bool() const noexcept { return number != 0; }
  friend constexpr bool operator==(TileId, TileId) = default;
};

class TileBoard;

/// A tile's place on a board, given up when it goes.
///
/// Threads: one at a time, but for `row`, which is any thread's as the row says.
class TileSeat {
 public:
  TileSeat() noexcept = default;
  TileSeat(TileSeat&& other) noexcept { *this = std::move(other); }
  TileSeat& operator=(TileSeat&& other) noexcept;
  ~TileSeat() { leave(); }

  explicit operator bool() const noexcept { return board_ != nullptr; }
  [[nodiscard]] TileRow& row() const noexcept;
  [[nodiscard]] std::uint32_t place() const noexcept { return place_; }
  [[nodiscard]] TileId id() const noexcept { return id_; }
  [[nodiscard]] TileBoard& board() const noexcept { return *board_; }
  void leave() noexcept;

 private:
  friend TileBoard;
  std::shared_ptr<TileBoard> board_;
  std::uint32_t place_ = 0;
  TileId id_;
};

/// What a row says of a tile, for tools.
struct TileFacts {
  TileId id;
  std::string name;
  core::ParticipantId owner;
  bool is_alive = false;
  std::uint64_t pid = 0;
  TileState state = TileState::boot;
  Command command = Command::boot;
  Nanos heartbeat{0};
  std::optional<int> core{};
  Nanos began{0};
  Nanos looked{0};
  std::uint64_t consumes = 0;
  std::uint64_t produces = 0;
  std::uint64_t passes = 0;
  std::uint64_t worked = 0;
  Nanos busy{0};
  Nanos busy_min{0};
  Nanos busy_max{0};
  std::uint64_t parks = 0;
  Nanos asleep{0};
  std::uint64_t consumed = 0;
  std::uint64_t produced = 0;
  std::uint64_t lost = 0;
  std::uint64_t backlog = 0;
  std::string backlog_channel;
  std::uint64_t backlog_slots = 0;
  std::uint64_t involuntary_switches = 0;
  std::uint64_t page_faults = 0;

  /// The part of its time that it worked: since `before`, an earlier look, or since it began.
  [[nodiscard]] double utilisation(const TileFacts* before = nullptr) const noexcept;
};

/// Threads: any.
class TileBoard : public std::enable_shared_from_this<TileBoard> {
 public:
  /// The name of a board's segment in its application's namespace.
  static constexpr const char* kSegmentName = "tiles";

  /// One in this process's own memory.
  [[nodiscard]] static std::shared_ptr<TileBoard> make_private();
  /// The one of an application, made if there is none. Errors: what Segment says.
  [[nodiscard]] static Result<std::shared_ptr<TileBoard>> open(
      const core::SegmentName& name, const core::SegmentOptions& options = {});
  /// To look only. Errors: there is none, or it is something else.
  [[nodiscard]] static Result<std::shared_ptr<TileBoard>> observe(const core::SegmentName& name);

  /// A row for a tile of this process. Errors: the name is empty or has more than 32 bytes; all rows
  /// are taken by tiles that live.
  [[nodiscard]] Result<TileSeat> seat(std::string_view name);

  /// The entry of a channel, made if there is none. Errors: the name is empty or longer than 48 bytes;
  /// there are 64 others.
  [[nodiscard]] Result<std::uint32_t> channel(std::string_view name);
  [[nodiscard]] ChannelEntry& entry(std::uint32_t index) const noexcept { return channels_[index]; }
  [[nodiscard]] std::string channel_name(std::uint32_t index) const;

  [[nodiscard]] TileRow& row(std::uint32_t place) const noexcept { return rows_[place]; }
  /// Wakes whoever sleeps until the channel has something. See ChannelEntry.
  void wake_sleepers(std::uint32_t channel) noexcept {
    channels_[channel].for_each_sleeper([this](std::uint32_t place) { rows_[place].bell.ring(); });
  }

  /// All tiles that have a row now, the dead too.
  [[nodiscard]] std::vector<TileFacts> tiles() const;
  /// Who has that number now. Nothing: nobody any more.
  [[nodiscard]] std::optional<TileFacts> find(TileId id) const;

  [[nodiscard]] core::Segment& segment() noexcept { return segment_; }

 private:
  friend TileSeat;
  explicit TileBoard(core::Segment segment) noexcept;
  [[nodiscard]] std::optional<TileFacts> facts(std::uint32_t place) const;
  [[nodiscard]] bool is_dead(std::uint64_t owner) const noexcept;

  core::Segment segment_;
  ChannelEntry* channels_;
  TileRow* rows_;
};

inline TileRow& TileSeat::row() const noexcept { return board_->row(place_); }

}  // namespace leat::tile
