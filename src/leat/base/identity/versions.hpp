// What      Records that outlive the program which wrote them: `Versions<QuoteV1, QuoteV2, Quote>`
//           reads what any of these wrote as the newest of them.
// Protocol  Each version is a type of its own, with LEAT_FIELDS and LEAT_LOCK_SCHEMA. Between each two
//           neighbours stands a function in the namespace of the older one:
//             Quote upgrade(QuoteV2&& old);
//           `carry_fields(old, to)` there moves what has kept its name and type; the rest is code.
// Shape     A record: 8 bytes schema_hash of its version, then the version's encoding (codec.hpp).
// Source    Flux's versioned types, which generate the versions; here they are written out.
#pragma once

#include <leat/base/codec/codec.hpp>
#include <leat/base/fields.hpp>
#include <leat/base/identity/hash.hpp>
#include <leat/base/identity/lock.hpp>
#include <leat/base/identity/standard.hpp>
#include <leat/base/result.hpp>
#include <leat/base/type_name.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

namespace leat {

namespace internal {

/// Where `To` has a member of the name and type of member `kIndex` of `From`; kFields<To> if nowhere.
template <class From, class To, std::size_t kIndex>
constexpr std::size_t same_member() noexcept {
  std::size_t found = kFields<To>;
  const auto looked_for = std::get<kIndex>(fields_of<From>());
  [&]<std::size_t... kPlaces>(std::index_sequence<kPlaces...>) {
    ((std::get<kPlaces>(fields_of<To>()).name == looked_for.name &&
              std::same_as<FieldType<To, kPlaces>, FieldType<From, kIndex>>
          ? static_cast<void>(found = kPlaces)
          : static_cast<void>(0)),
     ...);
  }(std::make_index_sequence<kFields<To>>());
  return found;
}

template <std::size_t kIndex, class From, class To>
constexpr void carry_field(From& from, To& to) {
  constexpr std::size_t kPlace = same_member<From, To, kIndex>();
  if constexpr (kPlace < kFields<To>) {
    to.*std::get<kPlace>(fields_of<To>()).place =
        std::move(from.*std::get<kIndex>(fields_of<From>()).place);
  }
}

}  // namespace internal

/// Moves each member of `from` into the member of `to` that has its name and type, if there is one.
template <HasFields From, HasFields To>
  requires(!std::is_const_v<From>)
constexpr void carry_fields(From& from, To& to) {
  [&]<std::size_t... kIndices>(std::index_sequence<kIndices...>) {
    (internal::carry_field<kIndices>(from, to), ...);
  }(std::make_index_sequence<kFields<From>>());
}

/// The versions of one type, from the oldest to the newest.
template <class... Vs>
class Versions {
  static constexpr std::size_t kCount = sizeof...(Vs);
  template <std::size_t kIndex>
  using At = std::tuple_element_t<kIndex, std::tuple<Vs...>>;

 public:
  static_assert(kCount > 0, "Versions: name at least one");
  static_assert((SchemaLocked<Vs> && ...),
                "Versions: each version is locked, with LEAT_LOCK_SCHEMA");

  using Newest = At<kCount - 1>;

  /// The numbers of the versions, oldest first.
  static constexpr std::array<std::uint64_t, kCount> kSchemas{schema_hash<Vs>()...};

  /// Appends `value` as a record of the newest version.
  static void encode(ByteSink& sink, const Newest& value) {
    sink.write_plain(kSchemas.back());
    leat::encode(sink, value);
  }

  /// Reads one record of any version; more may follow.
  ///
  /// Errors: a version that is none of these, and which are; what the codec finds.
  [[nodiscard]] static Result<Newest> decode_next(ByteSource& from) {
    std::uint64_t schema = 0;
    if (!from.read_plain(schema)) return from.error();
    return read<0>(schema,
                   [&]<class V>(std::type_identity<V>) { return leat::decode_next<V>(from); });
  }

  /// Reads the record that all of `bytes` are.
  [[nodiscard]] static Result<Newest> decode(std::span<const std::byte> bytes) {
    ByteSource from(bytes);
    Result<Newest> value = decode_next(from);
    if (value && from.left() != 0) {
      from.fail("the record ends before the bytes do", from.left(), 0);
      return from.error();
    }
    return value;
  }

  /// What a record that lay in memory with `layout_hash` `layout` is now.
  ///
  /// Errors: a layout that is none of these; another number of bytes than it has.
  [[nodiscard]] static Result<Newest> from_memory(std::uint64_t layout,
                                                  std::span<const std::byte> bytes)
    requires(std::is_trivially_copyable_v<Vs> && ...)
  {
    return read_memory<0>(layout, bytes);
  }

 private:
  template <std::size_t kIndex>
  static Newest upgraded(At<kIndex>&& value) {
    if constexpr (kIndex + 1 == kCount) {
      return std::move(value);
    } else {
      static_assert(
          requires {
            { upgrade(std::move(value)) } -> std::same_as<At<kIndex + 1>>;
          }, "Versions: between two versions stands a function, Newer upgrade(Older&& old)");
      return upgraded<kIndex + 1>(upgrade(std::move(value)));
    }
  }

  template <std::size_t kIndex, class Read>
  static Result<Newest> read(std::uint64_t schema, Read&& read_as) {
    if constexpr (kIndex == kCount) {
      return unknown(schema, kSchemas);
    } else {
      if (schema != kSchemas[kIndex]) return read<kIndex + 1>(schema, read_as);
      auto value = read_as(std::type_identity<At<kIndex>>{});
      if (!value) return std::move(value).error();
      return upgraded<kIndex>(std::move(value).value());
    }
  }

  template <std::size_t kIndex>
  static Result<Newest> read_memory(std::uint64_t layout, std::span<const std::byte> bytes) {
    if constexpr (kIndex == kCount) {
      return unknown(layout, std::array<std::uint64_t, kCount>{layout_hash<Vs>()...});
    } else {
      using V = At<kIndex>;
      if (layout != layout_hash<V>()) return read_memory<kIndex + 1>(layout, bytes);
      if (bytes.size() != sizeof(V)) {
        return Error{"a record: asked " + std::to_string(sizeof(V)) + " bytes of " +
                     std::string(type_name<V>()) + "; found " + std::to_string(bytes.size()) +
                     "; give all bytes of one record"};
      }
      V value;
      std::memcpy(&value, bytes.data(), sizeof value);
      return upgraded<kIndex>(std::move(value));
    }
  }

  static Error unknown(std::uint64_t found, const std::array<std::uint64_t, kCount>& known) {
    const auto hex = [](std::uint64_t number) {
      std::array<char, 20> text{};
      std::snprintf(text.data(), text.size(), "0x%016llx", static_cast<unsigned long long>(number));
      return std::string(text.data());
    };
    std::string all;
    for (const std::uint64_t one : known) all += (all.empty() ? "" : ", ") + hex(one);
    return {"a record: asked a version of " + std::string(type_name<Newest>()) + ", one of " + all +
            "; found " + hex(found) +
            "; read it with the program that wrote it, or add its version"};
  }
};

}  // namespace leat
