// What      A number for a type that changes when the type does: `layout_hash` for records that lie in
//           memory which processes share, `schema_hash` (standard.hpp) for records that were encoded.
//           Segments compare the one before anybody looks into them; stored records begin with the
//           other (versions.hpp).
// Shape     What goes into the number:
//             number             its kind (signed, unsigned, floating, bool, byte) and size
//             enum               name, underlying type; enumerators, if LEAT_ENUMERATORS named them
//             LEAT_FIELDS(T...)  name; of each member: name and number; for the layout also sizeof,
//                                alignof and each member's offset
//             array, duration    what they are of, how many or which unit
//             other classes      layout: name, sizeof, alignof; no member is seen, so name them
//                                schema: of the standard library, what they hold (standard.hpp); with
//                                a Codec of the author's own, the name
// Limits    A name is the compiler's, with its namespaces: for plain classes that is the same with
//           every compiler; for templates and unnamed namespaces say the name by `kIdentityAs`.
//           Not against an adversary.
// Cost      All of it is known at compile time.
// Source    Flux's type-hash, which does the same with a macro of Rust.
#pragma once

#include <leat/base/fields.hpp>
#include <leat/base/hash.hpp>
#include <leat/base/type_name.hpp>

#include <array>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

namespace leat {

/// What the number of a type is made of in place of what the compiler says.
struct IdentityAs {
  std::string_view name{};  // in place of the compiler's: a type that was renamed keeps its number
  bool nameless = false;    // no name at all: any type of the same members is the same
  std::uint64_t hash = 0;   // this number, whatever the type is
};

/// Specialise it before the first use: `template <> inline constexpr leat::IdentityAs
/// leat::kIdentityAs<Quote>{.name = "market::Quote"};`
template <class T>
inline constexpr IdentityAs kIdentityAs{};

/// One enumerator: its name and its value.
struct Enumerator {
  std::string_view name;
  std::int64_t value;
};

/// Enums whose enumerators were named.
template <class T>
concept HasEnumerators =
    std::is_enum_v<T> && requires { leat_enumerators(std::type_identity<T>{}); };

namespace internal {

template <class... Ts>
struct TypeList {};

/// How a template of the standard library looks in a schema: specialised in standard.hpp with
/// `kWord`, `kNumber` and `Parts`.
template <class T>
struct SchemaParts;

template <class T>
concept HasSchemaParts = requires { SchemaParts<T>::kWord; };

constexpr std::uint64_t hash_word(std::uint64_t seed, std::string_view word) noexcept {
  return hash_combine(seed, fnv1a(word));
}

template <class T>
constexpr std::uint64_t hash_name(std::uint64_t seed) noexcept {
  if constexpr (kIdentityAs<T>.nameless) {
    return seed;
  } else if constexpr (!kIdentityAs<T>.name.empty()) {
    return hash_word(seed, kIdentityAs<T>.name);
  } else {
    return hash_word(seed, type_name<T>());
  }
}

template <class T, class... Above>
constexpr std::size_t place_among() noexcept {
  std::size_t place = 0;
  static_cast<void>(((std::same_as<T, Above> || (++place, false)) || ...));
  return place;
}

template <bool kLayout, class T, class... Above>
constexpr std::uint64_t identity_hash() noexcept;

template <bool kLayout, class T, class... Above, std::size_t... kIndices>
constexpr std::uint64_t hash_fields(std::uint64_t seed, std::index_sequence<kIndices...>) noexcept {
  [[maybe_unused]] const auto fields = fields_of<T>();
  ((seed = hash_word(seed, std::get<kIndices>(fields).name),
    seed = hash_combine(seed, identity_hash<kLayout, FieldType<T, kIndices>, T, Above...>())),
   ...);
  if constexpr (kLayout && requires { leat_field_offsets(std::type_identity<T>{}); }) {
    static_assert(std::is_standard_layout_v<T>,
                  "layout_hash: where the members of this type lie is not laid down");
    for (const std::size_t offset : leat_field_offsets(std::type_identity<T>{})) {
      seed = hash_combine(seed, offset);
    }
  }
  return seed;
}

template <bool kLayout, class T, class... Above, class... Parts>
constexpr std::uint64_t hash_parts(std::uint64_t seed, TypeList<Parts...>) noexcept {
  ((seed = hash_combine(seed, identity_hash<kLayout, Parts, T, Above...>())), ...);
  return seed;
}

template <class T>
constexpr std::uint64_t hash_number(std::uint64_t seed) noexcept {
  if constexpr (std::is_same_v<T, bool>) {
    seed = hash_word(seed, "bool");
  } else if constexpr (std::is_floating_point_v<T>) {
    seed = hash_word(seed, "floating");
  } else if constexpr (std::is_same_v<T, char>) {
    seed = hash_word(seed, "char");  // its sign differs between machines
  } else {
    seed = hash_word(seed, std::is_signed_v<T> ? "signed" : "unsigned");
  }
  return hash_combine(seed, sizeof(T));
}

template <class T>
inline constexpr bool kIsArray = std::is_bounded_array_v<T>;
template <class T, std::size_t kCount>
inline constexpr bool kIsArray<std::array<T, kCount>> = true;
template <class T>
inline constexpr bool kIsDuration = false;
template <class Rep, class Period>
inline constexpr bool kIsDuration<std::chrono::duration<Rep, Period>> = true;

// `Above`: the types that this one is a part of. One that holds itself, in a list of children, is
// known by how far up it stands.
template <bool kLayout, class T, class... Above>
constexpr std::uint64_t identity_hash() noexcept {
  static_assert(!std::is_pointer_v<T> && !std::is_member_pointer_v<T> && !std::is_reference_v<T>,
                "a pointer means nothing to another process");
  std::uint64_t seed = kLayout ? 1 : 2;
  if constexpr (kIdentityAs<T>.hash != 0) {
    return kIdentityAs<T>.hash;
  } else if constexpr ((std::same_as<T, Above> || ...)) {
    return hash_combine(hash_word(seed, "again"), place_among<T, Above...>());
  } else if constexpr (std::is_same_v<T, std::byte>) {
    return hash_word(seed, "byte");
  } else if constexpr (std::is_arithmetic_v<T>) {
    return hash_number<T>(seed);
  } else if constexpr (std::is_enum_v<T>) {
    seed = hash_number<std::underlying_type_t<T>>(hash_name<T>(hash_word(seed, "enum")));
    if constexpr (HasEnumerators<T>) {
      for (const Enumerator& one : leat_enumerators(std::type_identity<T>{})) {
        seed = hash_combine(hash_word(seed, one.name), static_cast<std::uint64_t>(one.value));
      }
    }
    return seed;
  } else if constexpr (kIsArray<T>) {
    using Element = std::remove_cvref_t<decltype(std::declval<T&>()[0])>;
    seed = hash_combine(hash_word(seed, "array"), sizeof(T) / sizeof(Element));
    return hash_combine(seed, identity_hash<kLayout, Element, T, Above...>());
  } else if constexpr (kIsDuration<T>) {
    seed = hash_combine(hash_word(seed, "duration"), identity_hash<kLayout, typename T::rep>());
    return hash_combine(hash_combine(seed, static_cast<std::uint64_t>(T::period::num)),
                        static_cast<std::uint64_t>(T::period::den));
  } else {
    static_assert(!kLayout || std::is_trivially_copyable_v<T>,
                  "layout_hash: what processes share in memory is trivially copyable");
    if constexpr (kLayout) seed = hash_combine(hash_combine(seed, sizeof(T)), alignof(T));
    if constexpr (HasFields<T>) {
      seed = hash_combine(hash_name<T>(hash_word(seed, "fields")), kFields<T>);
      return hash_fields<kLayout, T, Above...>(seed, std::make_index_sequence<kFields<T>>());
    } else if constexpr (!kLayout && HasSchemaParts<T>) {
      seed = hash_combine(hash_word(seed, SchemaParts<T>::kWord), SchemaParts<T>::kNumber);
      return hash_parts<kLayout, T, Above...>(seed, typename SchemaParts<T>::Parts{});
    } else {
      return hash_name<T>(hash_word(seed, "class"));
    }
  }
}

}  // namespace internal

/// The number of `T` as it lies in memory.
///
/// Requires: trivially copyable, no pointers among the members that were named.
template <class T>
[[nodiscard]] consteval std::uint64_t layout_hash() noexcept {
  return internal::identity_hash<true, std::remove_cv_t<T>>();
}

}  // namespace leat

#define LEAT_INTERNAL_ENUMERATORS_AGAIN() LEAT_INTERNAL_ENUMERATORS_REST
#define LEAT_INTERNAL_ENUMERATORS_REST(Type, one, ...)                         \
  ::leat::Enumerator{#one, static_cast<::std::int64_t>(Type::one)} __VA_OPT__( \
      , LEAT_INTERNAL_ENUMERATORS_AGAIN LEAT_INTERNAL_PARENS(Type, __VA_ARGS__))

/// Names enumerators of `Type`, so that its number changes with their names and values. At namespace
/// scope, in the enum's own namespace and right after it.
#define LEAT_ENUMERATORS(Type, ...)                                                               \
  [[maybe_unused]] constexpr auto leat_enumerators(::std::type_identity<Type>) {                  \
    return ::std::array{LEAT_INTERNAL_SCAN16(LEAT_INTERNAL_ENUMERATORS_REST(Type, __VA_ARGS__))}; \
  }                                                                                               \
  static_assert(true)
