// What      SharedValue<T>: one value that processes share: typed, there from the beginning, read
//           whole, and changed by one writer at a time.
// Shape     One record of last_value.hpp.
// Limits    As SeqlockArray. `update` holds other writers off while its function runs: keep it short.
// Source    Flux's ShmemData, which has no lock, no type and no beginning.
#pragma once

#include <leat/base/check.hpp>
#include <leat/base/result.hpp>
#include <leat/queue/cache/last_value.hpp>
#include <leat/queue/cache/opening.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

namespace leat::queue {

/// A handle on a value.
///
/// Threads: any, but for moving and destroying the handle.
template <WordCopyable T>
class SharedValue {
  using Record = internal::LastValue<T>;

 public:
  /// Opens a value. Whoever makes it gives it `initial`, before anybody else sees it; whoever finds
  /// it there leaves it as it is.
  [[nodiscard]] static Result<SharedValue> open(const Where& where, const T& initial) {
    constexpr std::uint64_t kBytes = internal::kLastValueStride<T>;
    auto segment = internal::open_segment(
        where,
        {.kind = "shared_value",
         .type = core::segment_type<T>(),
         .stride = kBytes,
         .count = 1,
         .payload_bytes = kBytes},
        {.format = [&](std::span<std::byte> payload, const core::SegmentSpec&) {
          reinterpret_cast<Record*>(payload.data())->initialise(initial);
        }});
    if (!segment) return segment.error();
    if (auto fits = internal::check_payload(*segment, 0, kBytes); !fits) return fits.error();
    return SharedValue(std::move(*segment));
  }

  /// Reads the value, and which it is: 1 is the initial one. Returns: `ok`, or `busy`.
  Look read(T& into, std::uint64_t* version = nullptr) const noexcept {
    std::uint64_t found = 0;
    const Look look = record_->read(&into, &found);
    if (version != nullptr) *version = found;
    return look;
  }

  [[nodiscard]] std::uint64_t version() const noexcept { return record_->version(); }

  /// Replaces the value. Requires: not an observer; checked.
  Write write(const T& value) noexcept {
    return with_hold([&](auto& hold) { hold.write(value); });
  }

  /// Replaces the value by `change(value)`, with nobody in between. If that throws, nothing changes.
  template <class Change>
  Write update(const Change& change) {
    return with_hold([&](auto& hold) {
      PrivateCopy<T> present;
      hold.read(present.place());
      hold.write(change(present.value()));
    });
  }

  [[nodiscard]] const core::Segment& segment() const noexcept { return segment_; }
  [[nodiscard]] core::Segment& segment() noexcept { return segment_; }

 private:
  explicit SharedValue(core::Segment segment) noexcept
      : segment_(std::move(segment)),
        record_(reinterpret_cast<Record*>(segment_.payload().data())) {}

  template <class Act>
  Write with_hold(const Act& act) {
    LEAT_CHECK(!segment_.is_observer(), "an observer writes a shared value");
    auto hold = record_->hold(segment_.self().word(),
                              [this](std::uint64_t id) { return internal::is_dead(segment_, id); });
    if (!hold) return Write::busy;
    act(hold);
    return Write::ok;
  }

  core::Segment segment_;
  Record* record_;
};

}  // namespace leat::queue
