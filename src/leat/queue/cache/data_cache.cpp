#include <leat/queue/cache/data_cache.hpp>

#include <leat/base/check.hpp>
#include <leat/base/usage_error.hpp>

#include <bit>
#include <string>

namespace leat::queue {
namespace {

using internal::CacheHold;
using internal::CacheSpace;
using internal::CacheWords;
using internal::kCacheGranule;
using internal::to_granules;

constexpr std::uint64_t kCapacityMax = std::uint64_t{1} << 38;  // a hold counts granules in 32 bits
constexpr std::uint32_t kHoldsMax = 4096;
constexpr std::uint64_t kDataAlign = 4096;

const char* flavour(CacheUse use) { return use == CacheUse::copies ? "copies" : "in_place"; }

// What stands before the bytes.
std::uint64_t head_bytes(std::uint64_t holds) {
  return (sizeof(CacheWords) + holds * sizeof(CacheHold) + kDataAlign - 1) / kDataAlign *
         kDataAlign;
}

// The numbers that a spec carries.
struct Numbers {
  std::uint64_t capacity;
  std::uint64_t payload_max;
  std::uint64_t writers;
  std::uint64_t readers;

  static Numbers of(const core::SegmentSpec& spec) {
    return {spec.count, spec.words[0], spec.words[1], spec.words[2]};
  }
  [[nodiscard]] std::uint64_t holds() const { return writers + readers; }
};

CacheSpace space_of(std::span<std::byte> payload, const Numbers& numbers) {
  auto* words = reinterpret_cast<CacheWords*>(payload.data());
  auto* holds = reinterpret_cast<CacheHold*>(payload.data() + sizeof(CacheWords));
  auto* bytes = reinterpret_cast<SharedWord*>(payload.data() + head_bytes(numbers.holds()));
  return {words, {holds, numbers.holds()}, bytes, numbers.capacity};
}

// Anybody may have made what is joined: its numbers are looked at as if they were options.
Result<void> check_numbers(const Numbers& numbers, CacheUse use) {
  const auto wrong = [](const std::string& what, std::uint64_t found, const std::string& range) {
    return Error{"data cache: asked for " + what + " of " + std::to_string(found) + "; it is " +
                 range};
  };
  if (numbers.capacity < kCacheGranule || numbers.capacity > kCapacityMax ||
      !std::has_single_bit(numbers.capacity)) {
    return wrong("a capacity in bytes", numbers.capacity, "64 to 2^38, a power of two");
  }
  if (numbers.payload_max == 0 || numbers.payload_max > 0xFFFF'FFC0 ||
      to_granules(numbers.payload_max) > numbers.capacity) {
    return wrong("a payload_max", numbers.payload_max,
                 "1 to the capacity of " + std::to_string(numbers.capacity) + ", and below 4 GiB");
  }
  if (numbers.writers == 0 || numbers.writers > kHoldsMax) {
    return wrong("a number of writers", numbers.writers, "1 to " + std::to_string(kHoldsMax));
  }
  if (numbers.readers > kHoldsMax || (numbers.readers == 0) != (use == CacheUse::copies)) {
    return wrong("a number of readers in place", numbers.readers,
                 "0 where readers copy, else 1 to " + std::to_string(kHoldsMax));
  }
  return {};
}

CacheUse use_of(const core::SegmentSpec& spec) {
  return spec.flavour == flavour(CacheUse::copies) ? CacheUse::copies : CacheUse::in_place;
}

// Whether a payload can be there at all; whatever `ref` says, only bytes of the cache are meant then.
bool is_possible(const PayloadRef& ref, const CacheSpace& space, std::uint32_t payload_max) {
  const std::uint64_t size = to_granules(ref.bytes);
  const std::uint64_t reserved = space.reserved();
  return ref.bytes <= payload_max && ref.position % kCacheGranule == 0 &&
         ref.position % space.capacity() + size <= space.capacity() && ref.position <= reserved &&
         size <= reserved - ref.position;
}

}  // namespace

std::uint64_t data_cache_bytes(std::uint64_t depth, std::uint64_t in_flight,
                               std::uint32_t payload_max) noexcept {
  // One more for the payload itself, and one for what is skipped at the end of a lap.
  const std::uint64_t size = to_granules(payload_max == 0 ? 1 : payload_max);
  if (depth > kCapacityMax || in_flight > kCapacityMax) return 0;
  const std::uint64_t payloads = depth + in_flight + 2;
  if (payloads > kCapacityMax / size) return 0;
  return std::bit_ceil(payloads * size);
}

// Reservation

void Reservation::check_open(const char* asked) const {
  if (hold_ != nullptr) return;
  throw UsageError("data cache", asked, "a reservation that was published",
                   "fill it before, and reserve the next");
}

void Reservation::give_up() noexcept {
  if (hold_ != nullptr) CacheSpace::give_back(*hold_);
  hold_ = nullptr;
}

void Reservation::write(std::size_t at, std::span<const std::byte> from) {
  check_open("to write");
  if (at > size_ || from.size() > size_ - at) {
    throw UsageError("data cache",
                     "to write " + std::to_string(from.size()) + " bytes at byte " +
                         std::to_string(at) + " of a reservation",
                     "that it has " + std::to_string(size_), "reserve what you write");
  }
  space_.write(position_, at, from);
}

std::span<std::byte> Reservation::bytes() {
  check_open("for the room, to fill it in place");
  if (use_ == CacheUse::copies) {
    throw UsageError("data cache", "for the room of a reservation, to fill it in place",
                     "that readers copy here, maybe out of that room",
                     "use write, or open the cache with CacheUse::in_place");
  }
  return {space_.place(position_), size_};
}

PayloadRef Reservation::publish(std::size_t used) {
  check_open("to publish");
  if (used > size_) {
    throw UsageError("data cache", "to publish " + std::to_string(used) + " bytes",
                     "a reservation of " + std::to_string(size_), "publish what was reserved");
  }
  give_up();
  return {.position = position_, .bytes = static_cast<std::uint32_t>(used)};
}

// DataCacheWriter

DataCacheWriter::~DataCacheWriter() {
  if (hold_ != nullptr) CacheSpace::vacate(*hold_);
}

std::optional<Reservation> DataCacheWriter::reserve(std::size_t bytes, Put* why) {
  Put ignored{};
  Put& put = why != nullptr ? *why : ignored;
  put = Put::ok;
  if (bytes > payload_max_) {
    put = Put::too_large;
    return std::nullopt;
  }
  if (CacheSpace::holds_any(*hold_)) {
    throw UsageError("data cache", "for a reservation", "that this writer has one already",
                     "publish or drop it before, or take another writer");
  }
  const std::uint64_t size = to_granules(bytes);
  std::uint64_t position = 0;
  if (size == 0) {
    position = space_.reserved();  // takes nothing
  } else if (sole_ && use_ == CacheUse::copies) {
    position = space_.reserve_alone(*hold_, size);
  } else if (const auto found = space_.reserve(*hold_, size, sole_)) {
    position = *found;
  } else {
    put = Put::held;
    return std::nullopt;
  }
  return Reservation(space_, hold_, use_, position, static_cast<std::uint32_t>(bytes));
}

Put DataCacheWriter::write(std::span<const std::byte> payload, PayloadRef& ref) {
  Put put{};
  if (auto room = reserve(payload.size(), &put)) {
    room->write(0, payload);
    ref = room->publish();
  }
  return put;
}

// DataCache

DataCache::DataCache(core::Segment segment, CacheSpace space) noexcept
    : segment_(std::move(segment)),
      space_(space),
      payload_max_(static_cast<std::uint32_t>(segment_.spec().words[0])),
      writers_(static_cast<std::uint32_t>(segment_.spec().words[1])),
      readers_(static_cast<std::uint32_t>(segment_.spec().words[2])),
      use_(use_of(segment_.spec())) {}

Result<DataCache> DataCache::open(const Where& where, const DataCacheOptions& options) {
  const bool makes = where.opening != Opening::join && where.opening != Opening::observe;
  if (options.capacity_bytes > kCapacityMax) {
    return Error{"data cache: asked for " + std::to_string(options.capacity_bytes) +
                 " bytes; there may be 2^38; take fewer"};
  }
  const Numbers asked{.capacity = std::bit_ceil(options.capacity_bytes),
                      .payload_max = options.payload_max,
                      .writers = options.writers,
                      .readers = options.use == CacheUse::in_place ? options.readers : 0};
  core::SegmentSpec spec{.kind = "data_cache",
                         .flavour = flavour(options.use),
                         .stride = 1,
                         .words = {asked.payload_max}};
  if (makes) {
    if (auto checked = check_numbers(asked, options.use); !checked) return checked.error();
    spec.count = asked.capacity;
    spec.payload_bytes = head_bytes(asked.holds()) + asked.capacity;
    spec.words[1] = asked.writers;
    spec.words[2] = asked.readers;
  }
  auto segment = internal::open_segment(
      where, spec,
      {.make_good = [](std::span<std::byte> payload, const core::SegmentSpec& found,
                       core::ParticipantId dead) {
        const Numbers numbers = Numbers::of(found);
        if (check_numbers(numbers, use_of(found)) &&
            payload.size() == head_bytes(numbers.holds()) + numbers.capacity) {
          space_of(payload, numbers).vacate_all_of(dead.word());
        }
        return true;
      }});
  if (!segment) return segment.error();
  const Numbers found = Numbers::of(segment->spec());
  if (auto checked = check_numbers(found, use_of(segment->spec())); !checked) {
    return Error{segment->where() + ": " + checked.error().message};
  }
  if (auto fits = internal::check_payload(*segment, head_bytes(found.holds()), 1); !fits) {
    return fits.error();
  }
  const CacheSpace space = space_of(segment->payload(), found);
  return DataCache(std::move(*segment), space);
}

Result<DataCacheWriter> DataCache::writer() {
  LEAT_CHECK(!segment_.is_observer(), "an observer writes into a data cache");
  CacheHold* const hold = space_.take_hold(segment_.self().word(), 0, writers_);
  if (hold == nullptr) {
    return Error{segment_.where() + ": asked for one more writer; found all " +
                 std::to_string(writers_) + " there; open the cache with more `writers`"};
  }
  return DataCacheWriter(space_, hold, payload_max_, use_, writers_ == 1);
}

Take DataCache::read(const PayloadRef& ref, std::span<std::byte> into) const {
  if (use_ != CacheUse::copies) {
    throw UsageError("data cache", "to copy a payload out", "that writers fill in place here",
                     "read through a DataCacheReader, or open the cache with CacheUse::copies");
  }
  if (!is_possible(ref, space_, payload_max_)) return Take::impossible;
  if (into.size() < ref.bytes) return Take::too_small;
  return space_.read(ref.position, into.first(ref.bytes)) ? Take::ok : Take::lapped;
}

Result<DataCacheReader> DataCache::reader() {
  if (use_ != CacheUse::in_place) {
    return Error{
        "data cache: asked for a reader in place; found a cache whose readers copy; use "
        "read, or open it with CacheUse::in_place"};
  }
  LEAT_CHECK(!segment_.is_observer(), "an observer reads a data cache in place");
  CacheHold* const hold = space_.take_hold(segment_.self().word(), writers_, readers_);
  if (hold == nullptr) {
    return Error{segment_.where() + ": asked for one more reader in place; found all " +
                 std::to_string(readers_) + " there; open the cache with more `readers`"};
  }
  return DataCacheReader(space_, hold, payload_max_);
}

// DataCacheReader

DataCacheReader::~DataCacheReader() {
  if (hold_ != nullptr) CacheSpace::vacate(*hold_);
}

Take DataCacheReader::hold(const PayloadRef& ref, std::span<const std::byte>& bytes) {
  if (!is_possible(ref, space_, payload_max_)) return Take::impossible;
  if (ref.bytes == 0) {
    bytes = {};
    return Take::ok;
  }
  if (!space_.say(*hold_, ref.position, to_granules(ref.bytes))) return Take::lapped;
  bytes = {space_.place(ref.position), ref.bytes};
  return Take::ok;
}

void DataCacheReader::give_back() noexcept { CacheSpace::give_back(*hold_); }

}  // namespace leat::queue
