// What      A piece of memory that processes share under a name: rings, caches and boards are laid
//           into one. It says what is in it, who made it, who takes part, and whether they live.
// Shape     header | participants | payload (header.hpp). The payload is the kind's own; it begins at
//           a multiple of 4096 bytes and is zeros when it is made.
// Protocol  A kind (a ring, say) lays itself into a segment so:
//             SegmentSpec spec{.kind = "ring", .kind_version = 1, .flavour = "mpmc",
//                              .type = ..., .stride = 64, .count = 1024,
//                              .payload_bytes = bytes_for(1024, 64), .words = {groups_max}};
//             auto segment = Segment::create_or_join(name, spec, kind, options);
//             // The found count may be larger than the one asked for: `segment->spec()` decides, and
//             // is checked against its own payload_bytes before the first access.
//             if (segment->spec().payload_bytes != bytes_for(segment->spec())) return mismatch
//             auto* head = reinterpret_cast<RingHead*>(segment->payload().data());
//           Positions in the payload are offsets from its beginning: each process has it elsewhere.
//           What a participant has in hand it notes in the payload with `self().word()`; who waits
//           for it in vain asks `life` of that id, and makes good what a dead one left (`reap`).
//           Life:  create | join | create_or_join | observe -> use -> leave; destroy, by anybody.
//           Replacing: `replace` marks the old segment retired and gives its name to a new one. Users
//           of the old one go on undisturbed, see `is_retired()`, and join again.
// Invariants
//   (1) Nobody joins a segment that is not complete, nor one that differs from what they asked.
//   (2) What a handle says of its geometry was copied when it joined and never changes.
//   (3) Of those who create or join at once, all get the same segment.
//   (4) Nothing that has a living participant is removed, unless that is asked by `Force::yes`.
// Limits    After fork the child's copy of a handle is invalid (`is_valid()`): its memory is a
//           private copy, whatever it writes there nobody sees. A participant of any pid namespace or
//           user is known by its lock, so the file system must have those: any tmpfs does.
//           What is named after a participant may be a little late: a dead one may seem alive while
//           somebody else makes good for it.
// Cost      Joining: some ten system calls, and one or two per participant. Using it: none.
//           `life`: one system call, two more and a small file if the lock is held. is_retired: a load.
// Source    The life is Firedancer's (new, join, leave, delete), liveness by lock SQLite's; ours is
//           that they come together with a type, an owner and an orderly replacement.
#pragma once

#include <leat/base/os/shared_file.hpp>
#include <leat/base/result.hpp>
#include <leat/core/segment/header.hpp>
#include <leat/core/segment/name.hpp>
#include <leat/core/segment/participants.hpp>
#include <leat/core/segment/spec.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace leat::core {

struct SegmentOptions {
  /// Of the file, as in chmod. Who may only read it observes; who may write takes part. Folders that
  /// are made on the way let the same people in.
  std::uint32_t mode = 0600;
  /// Of the file. An error if the caller is no member.
  std::optional<std::uint32_t> group{};
  /// What is refused of these becomes a warning. The NUMA node is asked when it is made.
  os::MapOptions map{};
  /// Who takes part, for people; the program's name if empty. Cut at 64 bytes.
  std::string label{};
};

/// What a kind does to its payload. Both may be empty.
struct SegmentKind {
  /// Makes zeros a payload; before anybody else can see it.
  std::function<void(std::span<std::byte> payload, const SegmentSpec& spec)> format{};
  /// Puts right what `dead` left unfinished; false: not yet. See Participants. Empty: nothing to do.
  std::function<bool(std::span<std::byte> payload, const SegmentSpec& spec, ParticipantId dead)>
      make_good{};
};

enum class Force : bool { no, yes };

/// One process's hold on a segment.
///
/// Threads: `payload`, `spec`, `facts`, `self`, `is_valid`, `is_retired`, `life` and `participants`
///          from any thread; the others one at a time, and none while it is moved or destroyed.
class Segment {
 public:
  /// Makes a segment. Errors: the name is taken; what `segment_layout` refuses; no room; no rights.
  [[nodiscard]] static Result<Segment> create(const SegmentName& name, const SegmentSpec& spec,
                                              const SegmentKind& kind = {},
                                              const SegmentOptions& options = {});

  /// Joins one that is there. Errors: none of that name; not what `asked` asks for (`check_spec`);
  /// damaged or unfinished; all places taken; no rights. Each names what was found.
  [[nodiscard]] static Result<Segment> join(const SegmentName& name, const SegmentSpec& asked,
                                            const SegmentKind& kind = {},
                                            const SegmentOptions& options = {});

  /// Joins, or makes it if there is none. What is there but does not match is an error, never
  /// replaced.
  [[nodiscard]] static Result<Segment> create_or_join(const SegmentName& name,
                                                      const SegmentSpec& spec,
                                                      const SegmentKind& kind = {},
                                                      const SegmentOptions& options = {});

  /// Makes a segment in the place of what has the name now, whatever that is; it is retired.
  [[nodiscard]] static Result<Segment> replace(const SegmentName& name, const SegmentSpec& spec,
                                               const SegmentKind& kind = {},
                                               const SegmentOptions& options = {});

  /// Joins to look only: needs no right to write and takes no place.
  [[nodiscard]] static Result<Segment> observe(const SegmentName& name, const SegmentSpec& asked,
                                               const os::MapOptions& map = {});
  /// The same, whatever is in it.
  [[nodiscard]] static Result<Segment> observe(const SegmentName& name,
                                               const os::MapOptions& map = {});

  /// Makes one in this process's own memory, without a name. Nobody joins; all else is alike.
  [[nodiscard]] static Result<Segment> make_private(const SegmentSpec& spec,
                                                    const SegmentKind& kind = {},
                                                    const SegmentOptions& options = {});

  Segment(Segment&&) noexcept;
  Segment& operator=(Segment&&) noexcept;
  /// Leaves.
  ~Segment();

  /// Gives up the place and unmaps. The segment stays.
  void leave() noexcept;

  /// Takes its name away and leaves; the memory goes with its last user.
  ///
  /// Errors: others take part, and who, unless `force`; somebody else has replaced it. Then this
  ///         handle stays as it was.
  Result<void> destroy(Force force = Force::no);

  /// The kind's own bytes. An observer must not write: its pages are read-only.
  [[nodiscard]] std::span<std::byte> payload() const noexcept;
  [[nodiscard]] const SegmentSpec& spec() const noexcept;
  [[nodiscard]] const SegmentFacts& facts() const noexcept;
  /// For messages: the file, or "private memory".
  [[nodiscard]] const std::string& where() const noexcept;
  /// What was asked in the options and not done.
  [[nodiscard]] const std::vector<std::string>& warnings() const noexcept;

  [[nodiscard]] bool is_observer() const noexcept;
  [[nodiscard]] bool is_private() const noexcept;
  /// False after leave, and in a forked child: the payload is then not what others see.
  [[nodiscard]] bool is_valid() const noexcept;
  /// Whether the name stands for another segment by now, or for none. Ordering: what whoever retired
  /// it did before is visible.
  [[nodiscard]] bool is_retired() const noexcept;

  /// The caller's own id; nobody for an observer.
  [[nodiscard]] ParticipantId self() const noexcept;
  [[nodiscard]] ParticipantLife life(ParticipantId id) const noexcept;
  /// All who have a place now, the dead too.
  [[nodiscard]] std::vector<ParticipantFacts> participants() const;

  /// Frees the places of the dead, after `make_good` of each (see SegmentKind); joining does so too.
  ///
  /// Returns: how many were freed.
  std::uint32_t reap();
  /// The same for one. Returns: whether it is `gone` now.
  bool reap(ParticipantId dead);

 private:
  struct Body;
  class Steps;
  friend Result<void> destroy_segment(const SegmentName& name, Force force);

  explicit Segment(std::unique_ptr<Body> body) noexcept;

  std::unique_ptr<Body> body_;
};

/// Removes a segment by name. Errors: there is none; participants live, and who, unless `force`; it
/// is no segment, unless `force`.
Result<void> destroy_segment(const SegmentName& name, Force force = Force::no);

}  // namespace leat::core
