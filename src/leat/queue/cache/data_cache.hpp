// What      DataCache: memory for payloads of any size, beside a queue that carries their references.
//           Writers put a payload in and send its PayloadRef; who gets that copies the payload out,
//           or reads it in place.
// Shape     cache_space.hpp has the bytes and the steps. A reference is 16 bytes:
//             | position of the payload, absolute | its bytes | 0 |
// Protocol  auto cache = DataCache::open({}, {.capacity_bytes = data_cache_bytes(1024, 4, 1500),
//                                             .payload_max = 1500});
//           auto writer = cache->writer();                                // one a thread
//           writer:  PayloadRef ref;  if (writer->write(packet, ref) == Put::ok) ring.push(ref);
//           reader:  if (cache->read(ref, buffer) == Take::ok) use(buffer first ref.bytes)
//           In place: with .use = CacheUse::in_place a writer fills its reservation where it lies, and
//           a reader (one DataCacheReader a thread) holds the payload while it reads.
// Limits    The oldest payloads are overwritten: a reader that comes late is told `lapped`. Nobody
//           holds anybody up: what a reader is at, or a writer has not published yet, is left out, lap
//           after lap. A writer who dies leaves bytes that are left out, and so does a reader who dies
//           at a payload, until the segment is reaped, as joining does.
//           A reference is checked before anything is touched: whatever it says, no byte outside the
//           cache is read. That it is of this cache, and not of another one, it does not say.
// Cost      write: one compare-exchange, one seq_cst store, and a look at each writer and reader that
//           ever was there at a time; if there can be one writer only, and readers copy, nothing but
//           the words. read by copy: no store. In place: one seq_cst store.
// Source    See cache_space.hpp.
#pragma once

#include <leat/base/result.hpp>
#include <leat/queue/cache/cache_space.hpp>
#include <leat/queue/cache/opening.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>

namespace leat::queue {

/// Where a payload is. Trivially copyable: send it through a ring. No payload at all is an optional
/// without one; a payload of 0 bytes is a payload.
struct PayloadRef {
  std::uint64_t position = 0;
  std::uint32_t bytes = 0;
  std::uint32_t unused = 0;

  friend bool operator==(const PayloadRef&, const PayloadRef&) = default;
};
static_assert(sizeof(PayloadRef) == 16);

enum class Put : std::uint8_t {
  ok,
  too_large,  ///< more than payload_max
  held,       ///< somebody is at every part that it might go to; try again
};

enum class Take : std::uint8_t {
  ok,
  lapped,      ///< overwritten before it was read
  too_small,   ///< there is no room for the copy
  impossible,  ///< no payload of this cache can be there
};

enum class CacheUse : std::uint8_t {
  copies,    ///< readers copy, and need no right to write
  in_place,  ///< readers read, and writers fill, where it lies; both take a place in the cache
};

struct DataCacheOptions {
  /// Rounded up to a power of two. See data_cache_bytes.
  std::uint64_t capacity_bytes = 1 << 20;
  /// The largest payload. 0 when joining: whatever it is.
  std::uint32_t payload_max = 0;
  CacheUse use = CacheUse::copies;
  /// Writers at the same moment.
  std::uint32_t writers = 8;
  /// Readers at the same moment, where they read in place.
  std::uint32_t readers = 32;
};

/// A capacity in which a payload is whole for as long as no more than `depth` references were sent
/// after its own, no more than `in_flight` reservations were dropped or are open, and nobody holds
/// anything. 0: more than there can be.
[[nodiscard]] std::uint64_t data_cache_bytes(std::uint64_t depth, std::uint64_t in_flight,
                                             std::uint32_t payload_max) noexcept;

/// Room that was reserved, to be filled and published. Dropped without that, it is skipped.
///
/// Requires: its writer, and the cache, outlive it. Threads: one at a time.
class Reservation {
 public:
  Reservation(Reservation&& other) noexcept
      : space_(other.space_),
        hold_(std::exchange(other.hold_, nullptr)),
        position_(other.position_),
        size_(other.size_),
        use_(other.use_) {}
  Reservation& operator=(Reservation&&) = delete;
  ~Reservation() { give_up(); }

  [[nodiscard]] std::size_t size() const noexcept { return size_; }

  /// Writes `from` at byte `at`. Errors: UsageError if that is not inside, or after `publish`.
  void write(std::size_t at, std::span<const std::byte> from);

  /// The room itself. Errors: UsageError where readers copy: they may be at it; or after `publish`.
  [[nodiscard]] std::span<std::byte> bytes();

  /// Ends it. Returns: the reference of its first `used` bytes, to be sent on. What was not filled is
  /// what was there before.
  ///
  /// Errors: UsageError if `used` is more than there is, or if it was published.
  [[nodiscard]] PayloadRef publish(std::size_t used);
  [[nodiscard]] PayloadRef publish() { return publish(size_); }

 private:
  friend class DataCacheWriter;
  Reservation(internal::CacheSpace space, internal::CacheHold* hold, CacheUse use,
              std::uint64_t position, std::uint32_t size) noexcept
      : space_(space), hold_(hold), position_(position), size_(size), use_(use) {}

  void check_open(const char* asked) const;
  void give_up() noexcept;

  internal::CacheSpace space_;
  internal::CacheHold* hold_;  // null: published
  std::uint64_t position_;
  std::uint32_t size_;
  CacheUse use_;
};

/// Puts payloads into a cache. One reservation at a time.
///
/// Requires: the cache outlives it. Threads: one at a time.
class DataCacheWriter {
 public:
  DataCacheWriter(DataCacheWriter&& other) noexcept
      : space_(other.space_),
        hold_(std::exchange(other.hold_, nullptr)),
        payload_max_(other.payload_max_),
        use_(other.use_),
        sole_(other.sole_) {}
  DataCacheWriter& operator=(DataCacheWriter&&) = delete;
  ~DataCacheWriter();

  /// Puts a copy of `payload` into the cache; `ref` is for the queue.
  ///
  /// Ordering: the payload is whole for whoever gets `ref` by something that synchronises.
  Put write(std::span<const std::byte> payload, PayloadRef& ref);

  /// Room for `bytes` bytes. Empty: as `Put` would say, in `why`. Errors: UsageError if there is a
  /// reservation already.
  [[nodiscard]] std::optional<Reservation> reserve(std::size_t bytes, Put* why = nullptr);

 private:
  friend class DataCache;
  DataCacheWriter(internal::CacheSpace space, internal::CacheHold* hold, std::uint32_t payload_max,
                  CacheUse use, bool sole) noexcept
      : space_(space), hold_(hold), payload_max_(payload_max), use_(use), sole_(sole) {}

  internal::CacheSpace space_;
  internal::CacheHold* hold_;
  std::uint32_t payload_max_;
  CacheUse use_;
  bool sole_;
};

class DataCacheReader;

/// A handle on a cache.
///
/// Threads: any, but for moving and destroying the handle.
class DataCache {
 public:
  /// Errors: what Segment says; options out of their ranges, with the range.
  [[nodiscard]] static Result<DataCache> open(const Where& where, const DataCacheOptions& options);

  /// Errors: as many as there may be are there. Requires: not an observer; checked.
  [[nodiscard]] Result<DataCacheWriter> writer();

  /// Copies a payload out. Requires: readers copy; else UsageError. `into` has no value to speak of
  /// unless `ok`.
  Take read(const PayloadRef& ref, std::span<std::byte> into) const;

  /// A reader in place. Errors: readers copy here; as many as there may be are there. Requires: not an
  /// observer; checked.
  [[nodiscard]] Result<DataCacheReader> reader();

  [[nodiscard]] std::uint64_t capacity_bytes() const noexcept { return space_.capacity(); }
  [[nodiscard]] std::uint32_t payload_max() const noexcept { return payload_max_; }
  [[nodiscard]] CacheUse use() const noexcept { return use_; }
  /// All bytes that were ever reserved, skipped ones included.
  [[nodiscard]] std::uint64_t reserved_approx() const noexcept { return space_.reserved(); }
  [[nodiscard]] const core::Segment& segment() const noexcept { return segment_; }
  [[nodiscard]] core::Segment& segment() noexcept { return segment_; }

 private:
  DataCache(core::Segment segment, internal::CacheSpace space) noexcept;

  core::Segment segment_;
  internal::CacheSpace space_;
  std::uint32_t payload_max_;
  std::uint32_t writers_;
  std::uint32_t readers_;
  CacheUse use_;
};

/// Reads payloads where they lie. One at a time.
///
/// Requires: the cache outlives it. Threads: one at a time.
class DataCacheReader {
 public:
  DataCacheReader(DataCacheReader&& other) noexcept
      : space_(other.space_),
        hold_(std::exchange(other.hold_, nullptr)),
        payload_max_(other.payload_max_) {}
  DataCacheReader& operator=(DataCacheReader&&) = delete;
  ~DataCacheReader();

  /// Calls `use(bytes)` on the payload where it lies; it stays as it is meanwhile. Returns: `ok`, or
  /// why it was not called.
  template <class Use>
  Take read(const PayloadRef& ref, const Use& use) {
    std::span<const std::byte> bytes;
    const Take take = hold(ref, bytes);
    if (take != Take::ok) return take;
    struct GiveBack {
      DataCacheReader& reader;
      ~GiveBack() { reader.give_back(); }
    } const give_back{*this};
    use(bytes);
    return take;
  }

  /// The same by hand: on `ok` the payload is in `bytes` until `give_back`, or the next one.
  Take hold(const PayloadRef& ref, std::span<const std::byte>& bytes);
  void give_back() noexcept;

 private:
  friend class DataCache;
  DataCacheReader(internal::CacheSpace space, internal::CacheHold* hold,
                  std::uint32_t payload_max) noexcept
      : space_(space), hold_(hold), payload_max_(payload_max) {}

  internal::CacheSpace space_;
  internal::CacheHold* hold_;
  std::uint32_t payload_max_;
};

}  // namespace leat::queue
