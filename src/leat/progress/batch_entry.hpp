// What      A batch of progress as it stands in a worker's log: what one scope's operators did on
//           one worker. And the same as it comes from another process, as bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include <leat/base/codec/codec.hpp>
#include <leat/progress/location.hpp>
#include <leat/queue/append_log.hpp>

namespace leat::progress {

/// By how much the count at a port and time changed.
template <class T>
struct LoggedChange {
  T time;
  std::int64_t delta;
  PortIndex port;
};

/// A batch that another process wrote: nobody vouches for its bytes.
struct WireBatch {
  std::uint64_t writer = 0;     // which worker
  std::uint64_t type_hash = 0;  // of the changes
  std::uint32_t count = 0;      // of changes
  std::span<const std::byte> bytes;
};

/// The changes of a log entry. Requires: its scope's times are `T`; checked.
template <class T>
[[nodiscard]] std::span<const LoggedChange<T>> batch_of(const queue::EntryHeader& entry) {
  return entry.records<LoggedChange<T>>();
}

}  // namespace leat::progress

/// A time, a count and a port.
template <class T>
  requires leat::Encodable<T>
struct leat::Codec<leat::progress::LoggedChange<T>> {
  static constexpr std::size_t kBytesMin = Codec<T>::kBytesMin + 12;
  static void encode(ByteSink& sink, const progress::LoggedChange<T>& change) {
    Codec<T>::encode(sink, change.time);
    sink.write_plain(change.delta);
    sink.write_plain(change.port);
  }
  [[nodiscard]] static bool decode(ByteSource& from, progress::LoggedChange<T>& to) {
    return Codec<T>::decode(from, to.time) && from.read_plain(to.delta) && from.read_plain(to.port);
  }
};
