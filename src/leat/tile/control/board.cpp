#include <leat/tile/control/board.hpp>

#include <leat/base/check.hpp>

#include <algorithm>
#include <cstring>
#include <utility>

namespace leat::tile {
namespace {

struct handed_on : Edge {
};  // owner of a row -> the next: nothing of the former is written any more

constexpr std::size_t kChannelBytes = sizeof(ChannelEntry) * kChannelsMax;

core::SegmentSpec board_spec() {
  core::SegmentSpec spec;
  spec.kind = "tiles";
  spec.kind_version = 2;
  spec.stride = sizeof(TileRow);
  spec.count = kTilesMax;
  spec.payload_bytes = kChannelBytes + sizeof(TileRow) * kTilesMax;
  spec.words[0] = kChannelsMax;
  return spec;
}

template <std::size_t kWords>
void write_text(Atomic<std::uint64_t> (&words)[kWords], std::string_view text) noexcept {
  for (std::size_t i = 0; i < kWords; ++i) {
    std::uint64_t word = 0;
    if (const std::size_t at = i * 8; at < text.size()) {
      std::memcpy(&word, text.data() + at, std::min<std::size_t>(8, text.size() - at));
    }
    words[i].store_relaxed(word);  // whoever says that the text is there releases it
  }
}

template <std::size_t kWords>
std::string read_text(const Atomic<std::uint64_t> (&words)[kWords]) {
  std::array<char, kWords * 8> text{};
  for (std::size_t i = 0; i < kWords; ++i) {
    const std::uint64_t word = words[i].load_relaxed();  // behind the edge that says it is there
    std::memcpy(text.data() + i * 8, &word, 8);
  }
  return std::string(text.begin(), std::find(text.begin(), text.end(), '\0'));
}

}  // namespace

TileBoard::TileBoard(core::Segment segment) noexcept
    : segment_(std::move(segment)),
      channels_(reinterpret_cast<ChannelEntry*>(segment_.payload().data())),
      rows_(reinterpret_cast<TileRow*>(segment_.payload().data() + kChannelBytes)) {}

std::shared_ptr<TileBoard> TileBoard::make_private() {
  return std::shared_ptr<TileBoard>(
      new TileBoard(core::Segment::make_private(board_spec()).value()));
}

Result<std::shared_ptr<TileBoard>> TileBoard::open(const core::SegmentName& name,
                                                   const core::SegmentOptions& options) {
  auto segment = core::Segment::create_or_join(name, board_spec(), {}, options);
  if (!segment) return segment.error();
  return std::shared_ptr<TileBoard>(new TileBoard(*std::move(segment)));
}

Result<std::shared_ptr<TileBoard>> TileBoard::observe(const core::SegmentName& name) {
  auto segment = core::Segment::observe(name, board_spec());
  if (!segment) return segment.error();
  return std::shared_ptr<TileBoard>(new TileBoard(*std::move(segment)));
}

bool TileBoard::is_dead(std::uint64_t owner) const noexcept {
  const auto id = core::ParticipantId::of(owner);
  return id != segment_.self() && segment_.life(id) != core::ParticipantLife::alive;
}

Result<TileSeat> TileBoard::seat(std::string_view name) {
  if (name.empty() || name.size() > kTileNameMax) {
    return Error{"tile \"" + std::string(name) + "\": asked for a row of that name; found " +
                 std::to_string(name.size()) + " bytes; take 1 to 32"};
  }
  const std::uint64_t self = segment_.self().word();
  // Free rows first, so that what the dead left can be looked at for as long as possible.
  for (const bool of_the_dead : {false, true}) {
    for (std::uint32_t place = 0; place < kTilesMax; ++place) {
      TileRow& row = rows_[place];
      std::uint64_t owner = row.owner.load_acquire(handed_on{});
      if (of_the_dead ? owner == 0 || !is_dead(owner) : owner != 0) continue;
      if (!row.owner.compare_exchange_strong_acq_rel(owner, self, handed_on{}, handed_on{})) {
        continue;
      }
      // Number 0 is nobody's: row 0 leaves out each 256th taking.
      std::uint64_t generation = row.generation.load_relaxed() + 1;  // owners alone store it
      if (place == 0 && (generation & 255) == 0) ++generation;
      row.generation.store_relaxed(generation);
      write_text(row.name, name);
      for (TileFigure* figure = &row.core; figure <= &row.produces; ++figure) figure->set(0);
      for (TileFigure* figure = &row.passes; figure <= &row.page_faults; ++figure) figure->set(0);
      row.command.store_seq_cst(0, TileRow::told{});
      row.asked.store_seq_cst(0, TileRow::asks{});
      row.give({});
      row.beat(Nanos{0});
      row.enter(TileState::boot);
      row.named.store_release(generation, TileRow::seated{});
      TileSeat seat;
      seat.board_ = shared_from_this();
      seat.place_ = place;
      seat.id_ = TileId::of(place, generation);
      return seat;
    }
  }
  return Error{"tile \"" + std::string(name) + "\": asked for a row on the board " +
               segment_.where() + "; found all 256 taken by tiles that live; end some"};
}

Result<std::uint32_t> TileBoard::channel(std::string_view name) {
  if (name.empty() || name.size() > sizeof(ChannelEntry::text)) {
    return Error{"channel \"" + std::string(name) + "\": asked for an entry of that name; found " +
                 std::to_string(name.size()) + " bytes; take 1 to 48"};
  }
  const std::uint64_t key = fnv1a(name) | 1;
  for (std::uint32_t i = 0; i < kChannelsMax; ++i) {
    const std::uint32_t index = static_cast<std::uint32_t>(key >> 1) % kChannelsMax;
    ChannelEntry& entry = channels_[(index + i) % kChannelsMax];
    std::uint64_t found = 0;
    if (entry.key.compare_exchange_strong_acq_rel(found, key, ChannelEntry::named{},
                                                  ChannelEntry::named{})) {
      write_text(entry.text, name);
      entry.text_ready.store_release(1, ChannelEntry::named{});
      return (index + i) % kChannelsMax;
    }
    if (found == key) return (index + i) % kChannelsMax;
  }
  return Error{"channel \"" + std::string(name) + "\": asked for an entry on the board " +
               segment_.where() + "; found 64 other channels; name fewer"};
}

std::string TileBoard::channel_name(std::uint32_t index) const {
  const ChannelEntry& entry = channels_[index % kChannelsMax];
  if (entry.text_ready.load_acquire(ChannelEntry::named{}) == 0) return "";
  return read_text(entry.text);
}

std::optional<TileFacts> TileBoard::facts(std::uint32_t place) const {
  const TileRow& row = rows_[place];
  const std::uint64_t owner = row.owner.load_acquire(handed_on{});
  if (owner == 0) return std::nullopt;
  const std::uint64_t generation = row.named.load_acquire(TileRow::seated{});
  // Relaxed: only to see that a row is just being taken, or was in between.
  if (generation != row.generation.load_relaxed()) return std::nullopt;
  TileFacts facts;
  facts.id = TileId::of(place, generation);
  facts.name = read_text(row.name);
  facts.owner = core::ParticipantId::of(owner);
  facts.is_alive = !is_dead(owner);
  facts.state = row.now_in();
  facts.command = row.is_told();
  facts.heartbeat = row.heartbeat();
  if (const std::uint64_t cpu = row.core.get(); cpu != 0) facts.core = static_cast<int>(cpu - 1);
  const auto time = [](const TileFigure& figure) {
    return Nanos(static_cast<std::int64_t>(figure.get()));
  };
  facts.began = time(row.began_ns);
  facts.looked = time(row.looked_ns);
  facts.consumes = row.consumes.get();
  facts.produces = row.produces.get();
  facts.passes = row.passes.get();
  facts.worked = row.worked.get();
  facts.busy = time(row.busy_ns);
  facts.busy_min = time(row.busy_min_ns);
  facts.busy_max = time(row.busy_max_ns);
  facts.parks = row.parks.get();
  facts.asleep = time(row.asleep_ns);
  facts.consumed = row.consumed.get();
  facts.produced = row.produced.get();
  facts.lost = row.lost.get();
  facts.backlog = row.backlog.get();
  if (const std::uint64_t channel = row.backlog_channel.get(); channel != 0) {
    facts.backlog_channel = channel_name(static_cast<std::uint32_t>(channel - 1));
  }
  facts.backlog_slots = row.backlog_slots.get();
  facts.involuntary_switches = row.involuntary_switches.get();
  facts.page_faults = row.page_faults.get();
  if (row.generation.load_relaxed() != generation) return std::nullopt;  // as above
  return facts;
}

std::vector<TileFacts> TileBoard::tiles() const {
  std::vector<TileFacts> all;
  const auto participants = segment_.participants();
  for (std::uint32_t place = 0; place < kTilesMax; ++place) {
    auto found = facts(place);
    if (!found) continue;
    for (const core::ParticipantFacts& one : participants) {
      if (one.id == found->owner) found->pid = one.process.pid;
    }
    all.push_back(*std::move(found));
  }
  return all;
}

std::optional<TileFacts> TileBoard::find(TileId id) const {
  if (!id) return std::nullopt;
  auto found = facts(id.row());
  if (found && found->id != id) found.reset();
  return found;
}

double TileFacts::utilisation(const TileFacts* before) const noexcept {
  const Nanos from = before != nullptr ? before->looked : began;
  const Nanos worked_in = busy - (before != nullptr ? before->busy : Nanos{0});
  if (looked <= from) return 0;
  return static_cast<double>(worked_in.count()) / static_cast<double>((looked - from).count());
}

TileSeat& TileSeat::operator=(TileSeat&& other) noexcept {
  if (this != &other) {
    leave();
    board_ = std::move(other.board_);
    place_ = other.place_;
    id_ = other.id_;
  }
  return *this;
}

void TileSeat::leave() noexcept {
  if (board_ == nullptr) return;
  board_->row(place_).owner.store_release(0, handed_on{});
  board_.reset();
}

}  // namespace leat::tile
