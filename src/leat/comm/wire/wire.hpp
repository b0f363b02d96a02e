// What      How messages of a channel become bytes and come back: what a channel asks of its type of
//           messages where bytes carry them. A type without a codec travels between threads only.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include <leat/base/codec.hpp>
#include <leat/base/type_name.hpp>
#include <leat/comm/wire/record_types.hpp>

namespace leat::comm {

/// To be specialised by who has messages that can be emptied and filled again.
template <class M>
struct Wire {
  static constexpr bool kCan = Encodable<M>;
  /// What processes must encode alike.
  using Types = RecordTypes<M>;
  static void encode(ByteSink& sink, const M& message) { Codec<M>::encode(sink, message); }
  [[nodiscard]] static bool decode(ByteSource& from, M& into) {
    return Codec<M>::decode(from, into);
  }
  /// Leaves an empty message, which may keep its memory.
  static void empty(M& message) { message = M{}; }
};

/// Throws UsageError: bytes are to carry messages that have no codec.
[[noreturn]] void refuse_uncodable(const std::string& who, std::string_view type);

/// Throws CommError: a message is not what its channel carries.
[[noreturn]] void refuse_message(std::uint32_t source, std::uint64_t channel, const Error& error);

/// Turns the bytes of one message back. All of them must be it.
template <class M>
void decode_message(std::span<const std::byte> payload, std::uint32_t source, std::uint64_t channel,
                    M& into) {
  ByteSource from(payload);
  bool good = Wire<M>::decode(from, into);
  if (good && from.left() != 0) good = from.fail("bytes are left", from.left(), 0);
  if (!good) [[unlikely]]
    refuse_message(source, channel, from.error());
}

}  // namespace leat::comm
