// What      `Codec<T>`: how a value becomes bytes, and how bytes that nobody vouches for become a
//           value or an Error. Specialised here for numbers and for aggregates named with
//           LEAT_FIELDS, in standard.hpp for the types of the standard library, and by authors for
//           their own.
// Shape     Little-endian, no tags and no names: both sides must agree on the type.
//             number, enum, byte          its sizeof(T) bytes
//             bool                        1 byte, 0 or 1
//             kPlainBytes<T>              its sizeof(T) bytes, as in memory
//             duration                    its count
//             LEAT_FIELDS(T, a, b, ...)   a, then b, ...; one byte 0 if there are none
//             string, vector, deque, list,
//             InlineString, InlineVector  u64 count, then the elements one after the other; numbers
//                                         and kPlainBytes larger than a byte as one section, which
//                                         starts at a multiple of 8 bytes, after zeros
//             array<T, N>                 N elements
//             pair, tuple                 the members; one byte 0 if there are none
//             monostate                   1 byte, 0
//             optional                    1 byte, 0 or 1; then the value if 1
//             variant                     1 byte, the index; then that alternative
//             map, set, multi...          u64 count, then the elements in ascending order
//             unordered_...               u64 count, then the elements in any order
//           Multiples are of the position in the sink or view.
// Invariants
//   (1) `decode` of what `encode` made is an equal value, and ends where `encode` ended.
//   (2) Any bytes decode to a value or to an Error that says what was found and where.
//   (3) Values without unordered parts have one encoding: decode, then encode, is the same bytes.
//   (4) Every value takes at least one byte, and at least `kBytesMin` of its type: so a count that is
//       not refused is at most the bytes that are left, and what is allocated is at most
//       sizeof(T) / kBytesMin of them.
// Limits    Values nested more than `kCodecDepth` deep are refused on both sides. An enum may have
//           any value of its underlying type. Who sends unordered containers chooses how their keys
//           collide. Texts are bytes: nothing asks whether they are UTF-8.
// Source    Ours.
#pragma once

#include <bit>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>

#include <leat/base/codec/bytes.hpp>
#include <leat/base/fields.hpp>
#include <leat/base/result.hpp>

namespace leat {

static_assert(std::endian::native == std::endian::little,
              "codecs copy numbers as they stand, and they are little-endian in bytes");

/// How `T` becomes bytes. A specialisation has
///   static constexpr std::size_t kBytesMin;                    of any value; at least 1
///   static void encode(ByteSink& sink, const T& value);
///   static bool decode(ByteSource& from, T& to);               false: `from.fail(...)` was called
/// where `to` is any value of the type, to be replaced; after false it is unspecified.
template <class T>
struct Codec;

/// True for a trivially copyable class whose bytes may go as they are: specialise it. The author
/// vouches that the class has no padding, no pointers, and no bytes that must not be (a bool is one).
template <class T>
inline constexpr bool kPlainBytes = false;

template <class T>
concept Encodable = requires(ByteSink& sink, ByteSource& from, const T& value, T& to) {
  { Codec<T>::kBytesMin } -> std::convertible_to<std::size_t>;
  Codec<T>::encode(sink, value);
  { Codec<T>::decode(from, to) } -> std::same_as<bool>;
};

namespace internal {

template <class T>
constexpr bool is_flat() {
  if constexpr (std::is_enum_v<T>) {
    // Only an enum with a fixed underlying type has all of that type's values.
    return requires { T{std::underlying_type_t<T>{}}; } && is_flat<std::underlying_type_t<T>>();
  } else if constexpr (std::is_arithmetic_v<T>) {
    return !std::is_same_v<T, bool> && !std::is_same_v<T, long double>;
  } else {
    static_assert(!kPlainBytes<T> || std::is_trivially_copyable_v<T>,
                  "kPlainBytes: the type is not trivially copyable");
    return kPlainBytes<T>;
  }
}

/// Types whose bytes are their encoding, whatever they are.
template <class T>
concept Flat = is_flat<std::remove_cv_t<T>>();

/// What may be inside another value. Members of aggregates are looked at when they are coded, so
/// that a type may hold vectors of itself.
template <class T>
concept EncodablePart = HasFields<T> || Encodable<T>;

}  // namespace internal

template <internal::Flat T>
struct Codec<T> {
  static constexpr std::size_t kBytesMin = sizeof(T);
  static void encode(ByteSink& sink, const T& value) { sink.write_plain(value); }
  [[nodiscard]] static bool decode(ByteSource& from, T& to) { return from.read_plain(to); }
};

template <>
struct Codec<bool> {
  static constexpr std::size_t kBytesMin = 1;
  static void encode(ByteSink& sink, bool value) {
    sink.write_plain(static_cast<std::uint8_t>(value));
  }
  [[nodiscard]] static bool decode(ByteSource& from, bool& to) {
    std::uint8_t byte = 0;
    if (!from.read_plain(byte)) return false;
    if (byte > 1) return from.fail("a bool is neither 0 nor 1", byte, 1);
    to = byte == 1;
    return true;
  }
};

template <class Rep, class Period>
  requires Encodable<Rep>
struct Codec<std::chrono::duration<Rep, Period>> {
  using Duration = std::chrono::duration<Rep, Period>;
  static constexpr std::size_t kBytesMin = Codec<Rep>::kBytesMin;
  static void encode(ByteSink& sink, const Duration& value) {
    Codec<Rep>::encode(sink, value.count());
  }
  [[nodiscard]] static bool decode(ByteSource& from, Duration& to) {
    Rep count{};
    if (!Codec<Rep>::decode(from, count)) return false;
    to = Duration(count);
    return true;
  }
};

namespace internal {

/// What stands for a value without parts, since every value takes a byte.
inline void encode_nothing(ByteSink& sink) { sink.write_plain(std::uint8_t{0}); }
[[nodiscard]] inline bool decode_nothing(ByteSource& from) {
  std::uint8_t byte = 0;
  if (!from.read_plain(byte)) return false;
  return byte == 0 || from.fail("an empty value is not 0", byte, 0);
}

template <class... Ts>
inline constexpr std::size_t kSumOfMin =
    sizeof...(Ts) == 0 ? 1 : (std::size_t{0} + ... + Codec<Ts>::kBytesMin);

template <class T, std::size_t... kIndices>
constexpr std::size_t fields_bytes_min(std::index_sequence<kIndices...>) {
  static_assert((EncodablePart<FieldType<T, kIndices>> && ...),
                "LEAT_FIELDS: a member has no Codec of its type");
  return kSumOfMin<FieldType<T, kIndices>...>;
}

}  // namespace internal

template <HasFields T>
  requires(!internal::Flat<T>)
struct Codec<T> {
  static constexpr std::size_t kBytesMin =
      internal::fields_bytes_min<T>(std::make_index_sequence<kFields<T>>());
  static void encode(ByteSink& sink, const T& value) {
    if constexpr (kFields<T> == 0) internal::encode_nothing(sink);
    for_each_field(
        value, [&]<class Member>(const Member& member) { Codec<Member>::encode(sink, member); });
  }
  [[nodiscard]] static bool decode(ByteSource& from, T& to) {
    bool good = kFields<T> > 0 || internal::decode_nothing(from);
    for_each_field(to, [&]<class Member>(Member& member) {
      good = good && Codec<Member>::decode(from, member);
    });
    return good;
  }
};

/// Appends `value` to `sink`.
template <class T>
void encode(ByteSink& sink, const T& value) {
  static_assert(Encodable<T>,
                "encode: the type has no Codec; name its members with LEAT_FIELDS, or specialise "
                "leat::Codec");
  Codec<T>::encode(sink, value);
}

/// The bytes of `value`.
template <class T>
[[nodiscard]] ByteSink encoded(const T& value) {
  ByteSink sink;
  encode(sink, value);
  return sink;
}

/// Reads one value from where `from` is; more may follow.
template <class T>
[[nodiscard]] Result<T> decode_next(ByteSource& from) {
  static_assert(Encodable<T>,
                "decode: the type has no Codec; name its members with LEAT_FIELDS, or specialise "
                "leat::Codec");
  static_assert(std::default_initializable<T>, "decode: the type is filled in after it was made");
  T value{};
  if (!Codec<T>::decode(from, value)) return from.error();
  return value;
}

/// The value that all of `bytes` are.
///
/// Errors: what was found instead, and at which byte.
template <class T>
[[nodiscard]] Result<T> decode(std::span<const std::byte> bytes) {
  ByteSource from(bytes);
  Result<T> value = decode_next<T>(from);
  if (value && from.left() != 0) {
    from.fail("the value ends before the bytes do", from.left(), 0);
    return from.error();
  }
  return value;
}

}  // namespace leat
