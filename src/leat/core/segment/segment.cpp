#include <leat/core/segment/segment.hpp>

#include <leat/base/check.hpp>
#include <leat/base/os/process.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>
#include <utility>

namespace leat::core {
namespace {

// Bytes of the file that are locked lie far behind its end: the gate, then one for each place.
//   gate   shared by whoever joins while it does; alone by whoever takes the name away.
constexpr std::uint64_t kGateByte = std::uint64_t{1} << 56;
constexpr std::uint64_t kPlaceByte = kGateByte + 1;

// How often a name may change hands while we look at it before we call that an error.
constexpr int kTriesMax = 1000;

std::uint64_t wall_ns() {
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                        std::chrono::system_clock::now().time_since_epoch())
                                        .count());
}

/// Locks of places: bytes of the file, or nothing where memory is private.
class PlaceLocks {
 public:
  explicit PlaceLocks(const os::SharedFile* file) noexcept : file_(file) {}

  [[nodiscard]] bool try_lock(std::uint32_t place) const noexcept {
    if (file_ == nullptr) return true;
    const auto taken = file_->try_lock(kPlaceByte + place);
    return taken.has_value() && *taken;
  }
  void unlock(std::uint32_t place) const noexcept {
    if (file_ != nullptr) file_->unlock(kPlaceByte + place);
  }
  [[nodiscard]] bool is_held_by_another(std::uint32_t place) const noexcept {
    return file_ != nullptr && file_->is_locked_by_another(kPlaceByte + place);
  }

 private:
  const os::SharedFile* file_;
};

using Table = Participants<PlaceLocks>;

struct FreePages {
  std::size_t bytes;
  void operator()(std::byte* pages) const noexcept {
    ::operator delete(pages, bytes, std::align_val_t(kSegmentPage));
  }
};
using OwnPages = std::unique_ptr<std::byte[], FreePages>;

OwnPages make_own_pages(std::size_t bytes) {
  auto* const pages =
      static_cast<std::byte*>(::operator new(bytes, std::align_val_t(kSegmentPage)));
  std::memset(pages, 0, bytes);
  return OwnPages(pages, FreePages{bytes});
}

Table table_in(std::span<std::byte> mapped, const SegmentFacts& facts, const os::SharedFile* file) {
  auto* const entries = std::launder(
      reinterpret_cast<ParticipantEntry*>(mapped.data() + facts.layout.participants_offset));
  return Table({entries, facts.spec.participants_max}, PlaceLocks(file));
}

SegmentHeader& header_in(std::span<std::byte> mapped) {
  return *std::launder(reinterpret_cast<SegmentHeader*>(mapped.data()));
}

SegmentState state_in(std::span<std::byte> mapped) {
  return static_cast<SegmentState>(header_in(mapped).state.load_acquire(retired{}));
}

/// What is in `file`, from one look at its first bytes.
Result<SegmentFacts> facts_of(const os::SharedFile& file, const std::string& where) {
  alignas(SegmentHeader) std::array<std::byte, sizeof(SegmentHeader)> head{};
  const auto bytes = file.size();
  if (!bytes) return bytes.error();
  const auto read = file.read_head(head);
  if (!read) return read.error();
  return check_header(where, std::span(head).first(*read), *bytes);
}

std::string participants_text(const std::vector<ParticipantFacts>& participants) {
  std::string text;
  for (const ParticipantFacts& one : participants) {
    if (!text.empty()) text += ", ";
    text += one.label + " (pid " + std::to_string(one.process.pid) + ")";
  }
  return text;
}

/// Who of `table` lives, but for `self`.
std::vector<ParticipantFacts> living(const Table& table, ParticipantId self) {
  std::vector<ParticipantFacts> found;
  for (std::uint32_t place = 0; place < table.places(); ++place) {
    auto facts = table.facts(place);
    if (facts && facts->id != self && table.life(facts->id, self) == ParticipantLife::alive) {
      found.push_back(*std::move(facts));
    }
  }
  return found;
}

Error in_use(const std::string& where, const std::vector<ParticipantFacts>& participants) {
  return {
      where + ": asked to remove it; found in use by " +
      (participants.empty() ? "a process that is just joining" : participants_text(participants)) +
      "; end them first, or force it"};
}

Error no_such(const std::string& where) {
  return {where +
          ": asked to join it; found no segment of that name; make it first, or look "
          "whether namespace and base folder are the maker's"};
}

Error restless(const std::string& where) {
  return {where + ": asked for the segment of that name; found another one at each of " +
          std::to_string(kTriesMax) + " looks; find out who keeps replacing it"};
}

Error after_fork(const std::string& where) {
  return {where +
          ": asked something of a segment that was left, or of a parent process before "
          "fork; found an invalid handle; join it in this process"};
}

// Folders let the same people in as the segment does, who also make and replace segments there.
std::uint32_t folder_mode(std::uint32_t mode) {
  std::uint32_t folder = 0700;
  if ((mode & 0060) != 0) folder |= (mode & 0020) != 0 ? 0070 : 0050;
  if ((mode & 0006) != 0) folder |= (mode & 0002) != 0 ? 0007 : 0005;
  return folder;
}

/// Whether anybody holds the lock of any place: all that can be asked of a damaged segment.
bool anybody_holds_a_place(const os::SharedFile& file) {
  for (std::uint32_t place = 0; place < kParticipantsMax; ++place) {
    if (file.is_locked_by_another(kPlaceByte + place)) return true;
  }
  return false;
}

/// Tells the users of a segment that its name is about to be another's, or nobody's. Whoever dies
/// between this and that leaves it to the next who comes to that name.
void retire(os::SharedFile& file) {
  std::vector<std::string> unread;
  if (file.mapped().empty()) {
    const auto mapped = file.map(sizeof(SegmentHeader), {}, unread);
    if (!mapped) return;  // nobody can have mapped it either
  }
  header_in(file.mapped())
      .state.store_release(static_cast<std::uint32_t>(SegmentState::retired), retired{});
}

}  // namespace

struct Segment::Body {
  std::optional<os::SharedFile> file;  // none: private, in `own`
  OwnPages own{nullptr, FreePages{0}};
  std::span<std::byte> mapped;
  SegmentFacts facts;
  SegmentKind kind;
  std::filesystem::path path;
  std::string where;
  std::vector<std::string> warnings;
  ParticipantId self{};
  bool is_observer = false;
  bool has_left = false;
  std::mutex mutex;  // of what writes into the table

  [[nodiscard]] bool is_valid() const noexcept { return !has_left && (!file || file->is_valid()); }
  [[nodiscard]] Table table() const { return table_in(mapped, facts, file ? &*file : nullptr); }
  [[nodiscard]] std::span<std::byte> payload() const noexcept {
    return mapped.subspan(facts.layout.payload_offset, facts.spec.payload_bytes);
  }
  bool make_good(ParticipantId dead) {
    return !kind.make_good || kind.make_good(payload(), facts.spec, dead);
  }

  ~Body() { leave(); }

  void leave() noexcept {
    if (std::exchange(has_left, true)) return;
    // In a forked child the place is the parent's.
    if (self && (!file || file->is_valid())) table().leave(self);
  }
};

/// How segments come about.
class Segment::Steps {
 public:
  /// A segment that is whole, has its maker as first participant, and no name yet.
  static Result<std::unique_ptr<Body>> make(const SegmentName& name, const SegmentSpec& spec,
                                            std::uint64_t generation, const SegmentKind& kind,
                                            const SegmentOptions& options) {
    const auto path = segment_path(name);
    if (!path) return path.error();
    auto body = std::make_unique<Body>();
    body->path = *path;
    body->where = path->string();
    if (auto planned = plan(*body, spec, generation, name.name, kind); !planned) {
      return std::move(planned).error();
    }
    const bool own_base = name.base.empty() && std::getenv("LEAT_SEGMENTS") == nullptr;
    const std::uint32_t rights = folder_mode(options.mode);
    const std::filesystem::path space = path->parent_path();
    if (auto made = os::make_directory(space.parent_path(), rights, options.group, own_base); !made)
      return std::move(made).error();
    if (auto made = os::make_directory(space, rights, options.group, own_base); !made) {
      return std::move(made).error();
    }
    auto file = os::SharedFile::make_unnamed(space, options.mode, options.group);
    if (!file) return std::move(file).error();
    body->file = std::move(*file);
    const std::uint64_t bytes = body->facts.layout.total_bytes;
    if (auto done = body->file->allocate(bytes, options.map.numa_node, body->warnings); !done) {
      return std::move(done).error();
    }
    if (auto mapped = map(*body, options.map); !mapped) return std::move(mapped).error();
    fill_in(*body, options);
    if (!body->self) {
      return Error{body->where +
                   ": asked to take the first place in a new segment; found that its "
                   "bytes cannot be locked; segments need a file system with locks "
                   "of open files, such as /dev/shm"};
    }
    return body;
  }

  static Result<std::unique_ptr<Body>> make_private(const SegmentSpec& spec,
                                                    const SegmentKind& kind,
                                                    const SegmentOptions& options) {
    auto body = std::make_unique<Body>();
    body->where = "private memory";
    if (auto planned = plan(*body, spec, 1, "private", kind); !planned) {
      return std::move(planned).error();
    }
    const std::uint64_t bytes = body->facts.layout.total_bytes;
    body->own = make_own_pages(bytes);
    body->mapped = {body->own.get(), bytes};
    fill_in(*body, options);
    return body;
  }

  /// What joining found: the segment, or that there is none.
  using Found = Result<std::unique_ptr<Body>>;  // null: none of that name

  static Found find(const SegmentName& name, const SegmentSpec* asked, const SegmentKind& kind,
                    const SegmentOptions& options, bool as_observer) {
    const auto path = segment_path(name);
    if (!path) return path.error();
    for (int tries = 0; tries < kTriesMax; ++tries) {
      auto opened =
          os::SharedFile::open(*path, as_observer ? os::Access::read_only : os::Access::read_write);
      if (!opened) return std::move(opened).error();
      if (!opened->has_value()) return std::unique_ptr<Body>();
      auto body = std::make_unique<Body>();
      body->path = *path;
      body->where = path->string();
      body->kind = kind;
      body->is_observer = as_observer;
      body->file = std::move(**opened);
      auto joined = join_opened(*body, asked, options);
      if (!joined) return std::move(joined).error();
      if (*joined) return body;
    }
    return restless(path->string());
  }

  /// What has a name that is to be taken away; its gate is locked.
  struct Old {
    os::SharedFile file;
    Result<SegmentFacts> facts;

    /// Says so to its users, if it can be a segment.
    void retire_it() {
      if (facts) retire(file);
    }
  };

  /// Calls `take` with what has the name, if nobody lives there or `force`; with null if nothing has.
  template <class Take>
  static Result<void> take_name(const std::filesystem::path& path, Force force, Take take) {
    const std::string where = path.string();
    for (int tries = 0; tries < kTriesMax; ++tries) {
      auto opened = os::SharedFile::open(path, os::Access::read_write);
      if (!opened) return std::move(opened).error();
      if (!opened->has_value()) return take(static_cast<Old*>(nullptr));
      os::SharedFile& file = **opened;
      if (auto alone = file.lock(kGateByte); !alone) return alone;
      if (!file.has_name(path)) continue;
      auto facts = facts_of(file, where);
      Old old{std::move(file), std::move(facts)};
      if (force == Force::no) {
        if (auto free = nobody_lives(old, where); !free) return free;
      }
      return take(&old);
    }
    return restless(where);
  }

 private:
  static Result<void> plan(Body& body, const SegmentSpec& spec, std::uint64_t generation,
                           const std::string& name, const SegmentKind& kind) {
    const auto layout = segment_layout(spec);
    if (!layout) return layout.error();
    body.kind = kind;
    body.facts = {.spec = spec,
                  .layout = *layout,
                  .name = name,
                  .maker = os::this_process(),
                  .maker_program = os::program_name(),
                  .made_at_ns = wall_ns(),
                  .generation = generation,
                  .state = SegmentState::ready};
    return {};
  }

  static Result<void> map(Body& body, const os::MapOptions& options) {
    auto mapped = body.file->map(body.facts.layout.total_bytes, options, body.warnings);
    if (!mapped) return std::move(mapped).error();
    body.mapped = *mapped;
    return {};
  }

  static void fill_in(Body& body, const SegmentOptions& options) {
    SegmentHeader& header = *new (body.mapped.data()) SegmentHeader{};
    auto* const entries = reinterpret_cast<ParticipantEntry*>(
        body.mapped.data() + body.facts.layout.participants_offset);
    for (std::uint32_t i = 0; i < body.facts.spec.participants_max; ++i) {
      new (entries + i) ParticipantEntry{};
    }
    write_header(header, body.facts);
    if (body.kind.format) body.kind.format(body.payload(), body.facts.spec);
    take_place(body, options);
    header.state.store_release(static_cast<std::uint32_t>(SegmentState::ready), retired{});
  }

  static void take_place(Body& body, const SegmentOptions& options) {
    body.self = body.table().join(
        os::this_process(), options.label.empty() ? os::program_name() : options.label, wall_ns());
  }

  /// Returns: false if the name was taken from this file before we had it: look again.
  static Result<bool> join_opened(Body& body, const SegmentSpec* asked,
                                  const SegmentOptions& options) {
    const os::SharedFile& file = *body.file;
    if (auto in = file.lock_shared(kGateByte); !in) return std::move(in).error();
    if (!file.has_name(body.path)) return false;
    auto facts = facts_of(file, body.where);
    if (!facts) return std::move(facts).error();
    if (facts->state == SegmentState::retired) {
      // Somebody died between retiring it and taking its name away; what is left to do is that.
      if (body.is_observer) return no_such(body.where);
      file.unlock(kGateByte);
      if (auto done = take_name(body.path, Force::yes,
                                [&](Old* old) {
                                  return old != nullptr && old->file.identity() == file.identity()
                                             ? old->file.remove_name(body.path)
                                             : Result<void>();
                                });
          !done) {
        return std::move(done).error();
      }
      return false;
    }
    if (asked != nullptr) {
      if (auto same = check_spec(body.where, *asked, facts->spec); !same) {
        return std::move(same).error();
      }
    }
    body.facts = std::move(facts).value();
    if (auto mapped = map(body, options.map); !mapped) return std::move(mapped).error();
    if (!body.is_observer) {
      Table table = body.table();
      table.reap({}, [&](ParticipantId dead) { return body.make_good(dead); });
      take_place(body, options);
      if (!body.self) {
        return Error{body.where + ": asked a place among its participants; found all " +
                     std::to_string(table.places()) + " taken, by " +
                     participants_text(living(table, {})) +
                     "; end some, or make it for more participants"};
      }
    }
    file.unlock(kGateByte);
    return true;
  }

  static Result<void> nobody_lives(Old& old, const std::string& where) {
    if (!old.facts) {
      if (anybody_holds_a_place(old.file)) return in_use(where, {});
      return Error{old.facts.error().message + ", or force it"};
    }
    std::vector<std::string> unread;
    const auto mapped = old.file.map(old.facts->layout.total_bytes, {}, unread);
    if (!mapped) return mapped.error();
    const auto alive = living(table_in(*mapped, *old.facts, &old.file), {});
    if (!alive.empty()) return in_use(where, alive);
    return {};
  }
};

Segment::Segment(std::unique_ptr<Body> body) noexcept : body_(std::move(body)) {}
Segment::Segment(Segment&&) noexcept = default;
Segment& Segment::operator=(Segment&&) noexcept = default;
Segment::~Segment() = default;

Result<Segment> Segment::create(const SegmentName& name, const SegmentSpec& spec,
                                const SegmentKind& kind, const SegmentOptions& options) {
  const auto path = segment_path(name);
  if (!path) return path.error();
  const Error taken{path->string() +
                    ": asked to make a segment of that name; found one there; join "
                    "it, choose another name, or replace it on purpose"};
  std::error_code unreadable;
  if (std::filesystem::exists(*path, unreadable)) return taken;  // before memory is allocated
  auto made = Steps::make(name, spec, 1, kind, options);
  if (!made) return std::move(made).error();
  const auto named = (**made).file->give_name(*path);
  if (!named) return named.error();
  if (!*named) return taken;
  return Segment(std::move(made).value());
}

Result<Segment> Segment::join(const SegmentName& name, const SegmentSpec& asked,
                              const SegmentKind& kind, const SegmentOptions& options) {
  auto found = Steps::find(name, &asked, kind, options, false);
  if (!found) return std::move(found).error();
  if (*found == nullptr) return no_such(segment_path(name)->string());
  return Segment(std::move(found).value());
}

Result<Segment> Segment::create_or_join(const SegmentName& name, const SegmentSpec& spec,
                                        const SegmentKind& kind, const SegmentOptions& options) {
  for (int tries = 0; tries < kTriesMax; ++tries) {
    auto found = Steps::find(name, &spec, kind, options, false);
    if (!found) return std::move(found).error();
    if (*found != nullptr) return Segment(std::move(found).value());
    auto made = Steps::make(name, spec, 1, kind, options);
    if (!made) return std::move(made).error();
    const auto named = (*made)->file->give_name((*made)->path);
    if (!named) return named.error();
    if (*named) return Segment(std::move(made).value());
  }
  return restless(segment_path(name)->string());
}

Result<Segment> Segment::replace(const SegmentName& name, const SegmentSpec& spec,
                                 const SegmentKind& kind, const SegmentOptions& options) {
  const auto path = segment_path(name);
  if (!path) return path.error();
  std::optional<Result<std::unique_ptr<Body>>> made;
  const auto took = Steps::take_name(*path, Force::yes, [&](Steps::Old* old) {
    const std::uint64_t generation = old != nullptr && old->facts ? old->facts->generation : 0;
    made.emplace(Steps::make(name, spec, generation + 1, kind, options));
    if (!*made) return Result<void>((*made).error());
    const os::SharedFile& file = *(**made)->file;
    if (old != nullptr) {
      old->retire_it();
      return file.take_over_name(*path);
    }
    const auto named = file.give_name(*path);
    if (!named) return Result<void>(named.error());
    return *named ? Result<void>() : Result<void>(restless(path->string()));
  });
  if (!took) return took.error();
  return Segment(std::move(*made).value());
}

Result<Segment> Segment::observe(const SegmentName& name, const SegmentSpec& asked,
                                 const os::MapOptions& map) {
  auto found = Steps::find(name, &asked, {}, {.map = map}, true);
  if (!found) return std::move(found).error();
  if (*found == nullptr) return no_such(segment_path(name)->string());
  return Segment(std::move(found).value());
}

Result<Segment> Segment::observe(const SegmentName& name, const os::MapOptions& map) {
  auto found = Steps::find(name, nullptr, {}, {.map = map}, true);
  if (!found) return std::move(found).error();
  if (*found == nullptr) return no_such(segment_path(name)->string());
  return Segment(std::move(found).value());
}

Result<Segment> Segment::make_private(const SegmentSpec& spec, const SegmentKind& kind,
                                      const SegmentOptions& options) {
  auto made = Steps::make_private(spec, kind, options);
  if (!made) return std::move(made).error();
  return Segment(std::move(made).value());
}

void Segment::leave() noexcept {
  if (body_ == nullptr) return;
  const std::lock_guard lock(body_->mutex);
  body_->leave();
  body_->file.reset();
}

Result<void> Segment::destroy(Force force) {
  if (!is_valid()) return after_fork(body_ != nullptr ? body_->where : "segment");
  const auto renamed = [&] {
    return Result<void>(Error{body_->where + ": asked to remove this segment; found that its name "
                                             "is another's, or gone; leave it"});
  };
  if (is_private()) {
    leave();
    return {};
  }
  if (is_observer()) {
    auto removed = Steps::take_name(body_->path, force, [&](Steps::Old* old) {
      if (old == nullptr || old->file.identity() != body_->file->identity()) return renamed();
      old->retire_it();
      return old->file.remove_name(body_->path);
    });
    if (removed) leave();
    return removed;
  }
  {
    const std::lock_guard lock(body_->mutex);
    os::SharedFile& file = *body_->file;
    if (auto alone = file.lock(kGateByte); !alone) return alone;
    const auto give_back = [&](Error error) {
      file.unlock(kGateByte);
      return Result<void>(std::move(error));
    };
    if (!file.has_name(body_->path)) return give_back(renamed().error());
    if (force == Force::no) {
      const auto alive = living(body_->table(), body_->self);
      if (!alive.empty()) return give_back(in_use(body_->where, alive));
    }
    retire(file);
    if (auto removed = file.remove_name(body_->path); !removed) {
      return give_back(std::move(removed).error());
    }
  }
  leave();
  return {};
}

std::span<std::byte> Segment::payload() const noexcept { return body_->payload(); }
const SegmentSpec& Segment::spec() const noexcept { return body_->facts.spec; }
const SegmentFacts& Segment::facts() const noexcept { return body_->facts; }
const std::string& Segment::where() const noexcept { return body_->where; }
const std::vector<std::string>& Segment::warnings() const noexcept { return body_->warnings; }

bool Segment::is_observer() const noexcept { return body_->is_observer; }
bool Segment::is_private() const noexcept { return body_->own != nullptr; }
bool Segment::is_valid() const noexcept { return body_ != nullptr && body_->is_valid(); }
bool Segment::is_retired() const noexcept {
  return body_->has_left || state_in(body_->mapped) == SegmentState::retired;
}

ParticipantId Segment::self() const noexcept { return body_->self; }

ParticipantLife Segment::life(ParticipantId id) const noexcept {
  if (body_->has_left) return ParticipantLife::gone;
  return body_->table().life(id, body_->self);
}

std::vector<ParticipantFacts> Segment::participants() const {
  std::vector<ParticipantFacts> all;
  if (body_->has_left) return all;
  const Table table = body_->table();
  for (std::uint32_t place = 0; place < table.places(); ++place) {
    if (auto facts = table.facts(place)) all.push_back(*std::move(facts));
  }
  return all;
}

std::uint32_t Segment::reap() {
  const std::lock_guard lock(body_->mutex);
  if (body_->is_observer || !body_->is_valid()) return 0;
  return body_->table().reap(body_->self,
                             [this](ParticipantId dead) { return body_->make_good(dead); });
}

bool Segment::reap(ParticipantId dead) {
  const std::lock_guard lock(body_->mutex);
  if (body_->is_observer || !body_->is_valid() || dead == body_->self) return false;
  Table table = body_->table();
  if (!dead || dead.place >= table.places()) return true;
  table.reap_place(dead.place, body_->self,
                   [&](ParticipantId found) { return found == dead && body_->make_good(found); });
  return table.life(dead, body_->self) == ParticipantLife::gone;
}

Result<void> destroy_segment(const SegmentName& name, Force force) {
  const auto path = segment_path(name);
  if (!path) return path.error();
  return Segment::Steps::take_name(*path, force, [&](Segment::Steps::Old* old) {
    if (old == nullptr) return Result<void>(no_such(path->string()));
    old->retire_it();
    return old->file.remove_name(*path);
  });
}

}  // namespace leat::core
