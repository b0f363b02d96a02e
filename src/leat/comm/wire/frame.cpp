#include <leat/comm/wire/frame.hpp>

#include <array>
#include <cstring>
#include <utility>

#include <leat/base/check.hpp>
#include <leat/base/hash.hpp>

namespace leat::comm {

namespace {

template <class T>
void put(std::byte* at, T value) noexcept {
  std::memcpy(at, &value, sizeof value);
}
template <class T>
T get(const std::byte* at) noexcept {
  T value{};
  std::memcpy(&value, at, sizeof value);
  return value;
}

constexpr std::uint8_t kChecked = 1;
constexpr std::size_t kCheckAt = 48;

std::uint64_t check_of(std::span<const std::byte> frame) noexcept {
  return words_hash(frame.subspan(kFrameHeaderBytes), words_hash(frame.first(kCheckAt), 0));
}

FrameRead refuse(std::string& wrong, std::string what) {
  wrong = std::move(what);
  return FrameRead::refused;
}

}  // namespace

std::uint64_t words_hash(std::span<const std::byte> words, std::uint64_t seed) noexcept {
  // Four lanes, since a multiplication waits for the one before it.
  std::array<std::uint64_t, 4> lanes{seed ^ 0x9e3779b97f4a7c15U, seed ^ 0xbf58476d1ce4e5b9U,
                                     seed ^ 0x94d049bb133111ebU, seed ^ 0x2545f4914f6cdd1dU};
  const std::byte* at = words.data();
  std::size_t left = words.size() / 8;
  const auto add = [&](std::uint64_t& lane, std::uint64_t word) {
    lane = (lane ^ word) * 0x9fb21c651e98df25U;
    lane ^= lane >> 32;
  };
  for (; left >= 4; left -= 4, at += 32) {
    for (std::size_t i = 0; i < 4; ++i) add(lanes[i], get<std::uint64_t>(at + 8 * i));
  }
  for (std::size_t i = 0; i < left; ++i) add(lanes[i], get<std::uint64_t>(at + 8 * i));
  std::uint64_t hash = words.size();
  for (const std::uint64_t lane : lanes) hash = hash_combine(hash, lane);
  return hash;
}

void finish_frame(std::span<std::byte> frame, const FrameHeader& header) {
  LEAT_CHECK(frame.size() == header.frame_bytes(), "a frame of another size than its header says");
  std::byte* const at = frame.data();
  put(at, kFrameMagic);
  put(at + 4, static_cast<std::uint8_t>(header.kind));
  put(at + 5, header.is_checked ? kChecked : std::uint8_t{0});
  put(at + 6, std::uint16_t{0});
  put(at + 8, header.source);
  put(at + 12, header.target_lower);
  put(at + 16, header.target_upper);
  put(at + 20, std::uint32_t{0});
  put(at + 24, header.channel);
  put(at + 32, header.payload_bytes);
  put(at + 40, header.sequence);
  const auto end = static_cast<std::size_t>(kFrameHeaderBytes + header.payload_bytes);
  if (frame.size() != end) std::memset(at + end, 0, frame.size() - end);
  put(at + kCheckAt, header.is_checked ? check_of(frame) : std::uint64_t{0});
}

FrameHeader header_of(std::span<const std::byte> frame) noexcept {
  const std::byte* const at = frame.data();
  FrameHeader header;
  header.kind = static_cast<FrameKind>(get<std::uint8_t>(at + 4));
  header.is_checked = (get<std::uint8_t>(at + 5) & kChecked) != 0;
  header.source = get<std::uint32_t>(at + 8);
  header.target_lower = get<std::uint32_t>(at + 12);
  header.target_upper = get<std::uint32_t>(at + 16);
  header.channel = get<std::uint64_t>(at + 24);
  header.payload_bytes = get<std::uint64_t>(at + 32);
  header.sequence = get<std::uint64_t>(at + 40);
  header.check = get<std::uint64_t>(at + kCheckAt);
  return header;
}

FrameRead read_frame(std::span<const std::byte> bytes, const FrameLimits& limits,
                     FrameHeader& header, std::string& wrong) {
  // What is wrong with the first bytes is said when they are there, not when a header would be.
  if (bytes.size() >= sizeof kFrameMagic && get<std::uint32_t>(bytes.data()) != kFrameMagic) {
    return refuse(wrong, "a frame begins with \"LFR1\"; these bytes do not");
  }
  if (bytes.size() < kFrameHeaderBytes) return FrameRead::partial;
  const std::byte* const at = bytes.data();
  const auto kind = get<std::uint8_t>(at + 4);
  if (kind < static_cast<std::uint8_t>(FrameKind::data) ||
      kind > static_cast<std::uint8_t>(FrameKind::end)) {
    return refuse(wrong, "a frame of the unknown kind " + std::to_string(kind));
  }
  const auto flags = get<std::uint8_t>(at + 5);
  if ((flags & ~kChecked) != 0 || get<std::uint16_t>(at + 6) != 0 ||
      get<std::uint32_t>(at + 20) != 0) {
    return refuse(wrong, "a frame with something in fields that must be 0");
  }
  header = header_of(bytes);
  if (header.target_lower > header.target_upper) {
    return refuse(wrong, "a frame for workers " + std::to_string(header.target_lower) + " to " +
                             std::to_string(header.target_upper));
  }
  if (header.payload_bytes > limits.payload_bytes_max) {
    return refuse(wrong, "a frame of " + std::to_string(header.payload_bytes) + " bytes; at most " +
                             std::to_string(limits.payload_bytes_max) + " are taken");
  }
  if (bytes.size() < header.frame_bytes()) return FrameRead::header;
  const auto frame = bytes.first(static_cast<std::size_t>(header.frame_bytes()));
  if (header.is_checked ? check_of(frame) != header.check : header.check != 0) {
    return refuse(wrong, "a frame whose check is not that of its bytes: they were changed");
  }
  for (std::size_t i = kFrameHeaderBytes + static_cast<std::size_t>(header.payload_bytes);
       i < frame.size(); ++i) {
    if (frame[i] != std::byte{0}) return refuse(wrong, "a frame whose padding is not zero");
  }
  return FrameRead::whole;
}

}  // namespace leat::comm
