// What      Carries events as bytes, through whatever moves bytes: a socket, a file, a pipe, memory.
// Protocol  `event_writer<T, C>(out)` and `event_reader<T, C>(in)`; the frames are those of
//           frames.hpp, what is in them is written by `Codec`. Both sides must name the same types.
// Invariants  (1) Neither side waits: what the way out has no room for is kept and offered again by
//             `flush`; a frame that has not come whole is waited for without standing still.
// Limits    What is kept is unbounded. A stream of other types with the same shape of bytes is not
//           noticed: a stream carries no names.
// Source    Timely Dataflow's `EventWriter` and `EventReader`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <leat/base/byte_io.hpp>
#include <leat/base/check.hpp>
#include <leat/base/codec.hpp>
#include <leat/base/function.hpp>
#include <leat/base/small_vector.hpp>
#include <leat/dataflow/capture/event.hpp>
#include <leat/dataflow/capture/frames.hpp>
#include <leat/progress/order.hpp>

namespace leat::dataflow {

/// At how many times one message may be on its way as bytes. One unless a capability set sent it.
inline constexpr std::size_t kStampTimesMax = 1024;

/// Writes a stream of events to `Bytes`, which it owns.
template <class T, Container C, BytesOut Bytes>
class EventWriter : public internal::Carries<T, C> {
  static_assert(Encodable<T>, "event_writer: the times have no Codec");
  static_assert(Encodable<C>, "event_writer: the batches have no Codec");

 public:
  explicit EventWriter(Bytes bytes, std::size_t frame_bytes_max = kFrameBytesMax)
      : bytes_(std::move(bytes)), frame_bytes_max_(frame_bytes_max) {
    append_header(waiting_);
  }

  /// Requires: the stream was not ended; so for `end`.
  void push(dataflow::Event<T, C> event) {
    LEAT_CHECK(!is_ended_, "a stream of events goes on after its end");
    payload_.clear();
    if (const auto* progress = std::get_if<Progress<T>>(&event)) {
      Codec<std::vector<std::pair<T, std::int64_t>>>::encode(payload_, progress->changes);
      append(FrameKind::progress);
    } else {
      const auto& messages = std::get<Messages<T, C>>(event);
      const auto times = messages.stamp.times();
      if (times.size() > kStampTimesMax) {
        error_ = Error{"event stream: asked a message at " + std::to_string(times.size()) +
                       " times; found that " + std::to_string(kStampTimesMax) +
                       " is the limit; send with fewer capabilities at once"};
      }
      Codec<std::uint64_t>::encode(payload_, times.size());
      for (const T& time : times) Codec<T>::encode(payload_, time);
      Codec<C>::encode(payload_, messages.batch);
      append(FrameKind::messages);
    }
  }
  void end() {
    LEAT_CHECK(!is_ended_, "a stream of events ends twice");
    is_ended_ = true;
    payload_.clear();
    append(FrameKind::end);
  }

  /// Offers what waits to the bytes. When all has left, no memory is held.
  [[nodiscard]] Flush flush() {
    while (!error_ && sent_ < waiting_.size()) {
      const Io io = bytes_.write(std::span(waiting_).subspan(sent_));
      if (io.state == IoState::none) return Flush::some;
      if (io.state != IoState::some) {
        error_ = bytes_.error();
        break;
      }
      sent_ += io.bytes;
    }
    waiting_ = {};
    payload_ = {};
    sent_ = 0;
    return error_ ? Flush::broken : Flush::all;
  }
  /// Requires: `flush` found it broken.
  [[nodiscard]] const Error& error() const { return *error_; }

  [[nodiscard]] Bytes& bytes() noexcept { return bytes_; }

 private:
  void append(FrameKind kind) {
    if (error_) return;
    if (auto done = append_frame(waiting_, kind, payload_.bytes(), frame_bytes_max_); !done)
      error_ = std::move(done).error();
  }

  Bytes bytes_;
  std::size_t frame_bytes_max_;
  std::vector<std::byte> waiting_;
  std::size_t sent_ = 0;  // of waiting_
  ByteSink payload_;      // of one frame
  bool is_ended_ = false;
  std::optional<Error> error_;
};

/// Reads a stream of events from `Bytes`, which it owns.
template <class T, Container C, BytesIn Bytes>
class EventReader : public internal::Carries<T, C> {
  static_assert(Encodable<T>, "event_reader: the times have no Codec");
  static_assert(Encodable<C>, "event_reader: the batches have no Codec");

 public:
  explicit EventReader(Bytes bytes, std::size_t frame_bytes_max = kFrameBytesMax)
      : bytes_(std::move(bytes)), frames_(frame_bytes_max) {}

  /// Takes the next event; reads until there is one, or no bytes now. Never waits.
  [[nodiscard]] Next next(dataflow::Event<T, C>& into) {
    if (error_) return Next::broken;
    for (;;) {
      Frame frame;
      switch (frames_.next(frame)) {
        case Next::event:
          return decode(frame, into);
        case Next::over:
          frames_.relax();
          return Next::over;
        case Next::broken:
          return refuse(frames_.error());
        case Next::none:
          break;
      }
      const Io io = bytes_.read(frames_.room());
      switch (io.state) {
        case IoState::some:
          frames_.filled(io.bytes);
          break;
        case IoState::none:
          frames_.relax();
          return Next::none;
        case IoState::over:
          frames_.no_more();
          break;
        case IoState::broken:
          return refuse(bytes_.error());
      }
    }
  }
  /// Requires: `next` found it broken.
  [[nodiscard]] const Error& error() const { return *error_; }
  [[nodiscard]] std::size_t streams() const noexcept { return 1; }

  /// Has `wake` called when there is something after `next` found none, if the bytes can do so.
  void wake_by(Function<void()> wake)
    requires requires(Bytes& bytes) { bytes.wake_by(std::move(wake)); }
  {
    bytes_.wake_by(std::move(wake));
  }

  [[nodiscard]] Bytes& bytes() noexcept { return bytes_; }

 private:
  Next refuse(Error error) {
    error_ = std::move(error);
    return Next::broken;
  }

  Next decode(const Frame& frame, dataflow::Event<T, C>& into) {
    ByteSource from(frame.payload);
    bool good = false;
    if (frame.kind == FrameKind::progress) {
      auto& progress = into.template emplace<Progress<T>>();
      good = Codec<std::vector<std::pair<T, std::int64_t>>>::decode(from, progress.changes);
    } else {
      auto& messages = into.template emplace<Messages<T, C>>();
      good = decode_stamp(from, messages.stamp) && Codec<C>::decode(from, messages.batch);
    }
    if (good && from.left() != 0) good = from.fail("bytes are left in the frame", from.left(), 0);
    if (good) return Next::event;
    return refuse({"event stream, frame at byte " + std::to_string(frame.payload_at) + ": " +
                   from.error().message + "; the sender writes other types, or bytes were lost"});
  }
  static bool decode_stamp(ByteSource& from, Stamp<T>& stamp) {
    std::size_t many = 0;
    if (!from.read_count(many, Codec<T>::kBytesMin)) return false;
    if (many == 0) return from.fail("records without a time");
    if (many > kStampTimesMax) return from.fail("records at too many times", many, kStampTimesMax);
    SmallVector<T, 1> times;
    for (std::size_t i = 0; i < many; ++i) {
      T time{};
      if (!Codec<T>::decode(from, time)) return false;
      for (const T& other : times) {
        if (progress::less_equal(other, time) || progress::less_equal(time, other))
          return from.fail("records at times of which one is before another");
      }
      times.push_back(std::move(time));
    }
    stamp = Stamp<T>(std::span<const T>(times.data(), times.size()));
    return true;
  }

  Bytes bytes_;
  FrameReader frames_;
  std::optional<Error> error_;
};

/// Writes events as bytes to `bytes`.
template <class T, Container C, BytesOut Bytes>
[[nodiscard]] EventWriter<T, C, Bytes> event_writer(Bytes bytes,
                                                    std::size_t frame_bytes_max = kFrameBytesMax) {
  return EventWriter<T, C, Bytes>(std::move(bytes), frame_bytes_max);
}
/// Reads events that come as bytes from `bytes`.
template <class T, Container C, BytesIn Bytes>
[[nodiscard]] EventReader<T, C, Bytes> event_reader(Bytes bytes,
                                                    std::size_t frame_bytes_max = kFrameBytesMax) {
  return EventReader<T, C, Bytes>(std::move(bytes), frame_bytes_max);
}

}  // namespace leat::dataflow
