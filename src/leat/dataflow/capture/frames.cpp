#include <leat/dataflow/capture/frames.hpp>

#include <algorithm>
#include <cstring>
#include <string_view>
#include <utility>

#include <leat/base/check.hpp>

namespace leat::dataflow {

namespace {

constexpr std::string_view kMagic = "leatevts";
constexpr std::uint32_t kVersion = 1;
constexpr std::size_t kHeaderBytes = 16;
constexpr std::size_t kLengthBytes = 4;
constexpr std::size_t kRoomBytes = std::size_t{16} << 10;

std::uint32_t u32_at(std::span<const std::byte> bytes, std::size_t at) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < 4; ++i)
    value |= std::to_integer<std::uint32_t>(bytes[at + i]) << (8 * i);
  return value;
}

void put_u32(std::span<std::byte> to, std::uint32_t value) {
  for (std::size_t i = 0; i < 4; ++i) to[i] = static_cast<std::byte>((value >> (8 * i)) & 0xffU);
}

std::string in_hex(std::byte byte) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  const auto value = std::to_integer<std::size_t>(byte);
  return std::string("0x") + kDigits[value / 16] + kDigits[value % 16];
}

}  // namespace

Error malformed(std::uint64_t byte, const std::string& asked, const std::string& found) {
  return {"event stream, byte " + std::to_string(byte) + ": asked " + asked + "; found " + found +
          "; the sender writes something else, or bytes were lost"};
}

std::span<std::byte> FrameReader::room() {
  took(std::exchange(shown_, 0));
  if (capacity_ - end_ < kRoomBytes && begin_ > 0) {
    std::memmove(buffer_.get(), buffer_.get() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
  }
  if (capacity_ - end_ < kRoomBytes) {
    const std::size_t capacity = std::max(2 * capacity_, end_ + kRoomBytes);
    auto buffer = std::make_unique_for_overwrite<std::byte[]>(capacity);
    if (end_ > 0) std::memcpy(buffer.get(), buffer_.get(), end_);
    buffer_ = std::move(buffer);
    capacity_ = capacity;
  }
  return {buffer_.get() + end_, capacity_ - end_};
}

void FrameReader::filled(std::size_t bytes) {
  LEAT_CHECK(bytes <= capacity_ - end_, "more bytes were put than there was room");
  end_ += bytes;
}

void FrameReader::relax() noexcept {
  took(std::exchange(shown_, 0));
  if (begin_ != end_) return;
  buffer_.reset();
  capacity_ = begin_ = end_ = 0;
}

void FrameReader::took(std::size_t bytes) noexcept {
  begin_ += bytes;
  at_ += bytes;
}

Next FrameReader::refuse(Error error) {
  error_ = std::move(error);
  return Next::broken;
}

Next FrameReader::short_of(const std::string& what) {
  if (!is_over_) return Next::none;
  return refuse(malformed(at_ + waiting().size(), what, "that the bytes break off"));
}

Next FrameReader::read_header() {
  const auto bytes = waiting();
  for (std::size_t i = 0; i < std::min(bytes.size(), kMagic.size()); ++i) {
    if (std::to_integer<char>(bytes[i]) == kMagic[i]) continue;
    return refuse(malformed(i, "a stream of events, which begins with \"leatevts\"",
                            "byte " + in_hex(bytes[i])));
  }
  if (bytes.size() < kHeaderBytes) return short_of("16 bytes of header");
  if (const auto version = u32_at(bytes, kMagic.size()); version != kVersion) {
    return refuse(malformed(kMagic.size(), "version 1", "version " + std::to_string(version)));
  }
  if (const auto flags = u32_at(bytes, kMagic.size() + 4); flags != 0) {
    return refuse(malformed(kMagic.size() + 4, "no flags", "flags " + std::to_string(flags)));
  }
  took(kHeaderBytes);
  has_header_ = true;
  return Next::event;
}

Next FrameReader::next(Frame& frame) {
  if (error_) return Next::broken;
  took(std::exchange(shown_, 0));
  if (!has_header_) {
    if (const auto found = read_header(); found != Next::event) return found;
  }
  const auto bytes = waiting();
  if (has_end_) {
    if (bytes.empty()) return Next::over;
    return refuse(malformed(at_, "nothing after the end", std::to_string(bytes.size()) + " bytes"));
  }
  if (bytes.size() < kLengthBytes) {
    return short_of(bytes.empty() ? "the end of the stream, or frame " + std::to_string(frames_)
                                  : "the length of frame " + std::to_string(frames_));
  }
  const std::size_t length = u32_at(bytes, 0);
  if (length == 0 || length > frame_bytes_max_) {
    return refuse(malformed(at_, "a frame of 1 to " + std::to_string(frame_bytes_max_) + " bytes",
                            "a length of " + std::to_string(length)));
  }
  if (bytes.size() == kLengthBytes) return short_of("the kind of frame " + std::to_string(frames_));
  const auto kind = std::to_integer<unsigned>(bytes[kLengthBytes]);
  if (kind < 1 || kind > 3) {
    return refuse(malformed(at_ + kLengthBytes, "a kind of frame from 1 to 3",
                            "kind " + std::to_string(kind)));
  }
  frame.kind = static_cast<FrameKind>(kind);
  if (frame.kind == FrameKind::end && length != 1) {
    return refuse(malformed(at_, "an end frame of 1 byte", std::to_string(length) + " bytes"));
  }
  if (bytes.size() - kLengthBytes < length) {
    return short_of(std::to_string(length) + " bytes of frame " + std::to_string(frames_));
  }
  ++frames_;
  if (frame.kind == FrameKind::end) {
    took(kLengthBytes + 1);
    has_end_ = true;
    return next(frame);
  }
  frame.payload = bytes.subspan(kLengthBytes + 1, length - 1);
  frame.payload_at = at_ + kLengthBytes + 1;
  shown_ = kLengthBytes + length;
  return Next::event;
}

void append_header(std::vector<std::byte>& to) {
  const auto text = std::as_bytes(std::span(kMagic));
  to.insert(to.end(), text.begin(), text.end());
  to.resize(to.size() + 8);
  put_u32(std::span(to).last(8), kVersion);
}

Result<void> append_frame(std::vector<std::byte>& to, FrameKind kind,
                          std::span<const std::byte> payload, std::size_t frame_bytes_max) {
  const std::size_t length = payload.size() + 1;
  if (length > std::min(frame_bytes_max, std::size_t{0xffff'ffff})) {
    return Error{"event stream: asked a frame of at most " + std::to_string(frame_bytes_max) +
                 " bytes; found " + std::to_string(length) +
                 "; send smaller records or batches, or raise frame_bytes_max on both sides"};
  }
  const std::size_t at = to.size();
  to.resize(at + kLengthBytes + 1);
  put_u32(std::span(to).subspan(at, kLengthBytes), static_cast<std::uint32_t>(length));
  to[at + kLengthBytes] = static_cast<std::byte>(kind);
  to.insert(to.end(), payload.begin(), payload.end());
  return {};
}

}  // namespace leat::dataflow
