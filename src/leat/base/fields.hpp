// What      LEAT_FIELDS(Type, a, b, c): names the members of an aggregate, once, for all that wants
//           to go through them: codecs, columns, reports.
// Protocol  Write it at namespace scope, in the type's own namespace and right after the type; then
//           `for_each_field(value, f)` calls `f(member)` for each, in the order of the list.
// Limits    Members must be public. A class template says the same by hand, with a function template
//           `leat_fields(std::type_identity<Type<...>>)` that returns a tuple of `Field`s.
// Source    Ours, until C++ has reflection.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

namespace leat {

/// One member of a type: its name, and where it is.
template <class Owner, class Member>
struct Field {
  using Type = Member;

  std::string_view name;
  Member Owner::* place;
};

template <class Owner, class Member>
Field(const char*, Member Owner::*) -> Field<Owner, Member>;

/// Types whose members were named.
template <class T>
concept HasFields = requires { leat_fields(std::type_identity<T>{}); };

/// A tuple of the `Field`s of `T`.
template <HasFields T>
[[nodiscard]] constexpr auto fields_of() {
  return leat_fields(std::type_identity<T>{});
}

template <HasFields T>
inline constexpr std::size_t kFields = std::tuple_size_v<decltype(fields_of<T>())>;

/// The type of member `kIndex` in the list.
template <HasFields T, std::size_t kIndex>
using FieldType = typename std::tuple_element_t<kIndex, decltype(fields_of<T>())>::Type;

/// Calls `f(member)` for each member of `value`.
template <class T, class F>
  requires HasFields<std::remove_cv_t<T>>
constexpr void for_each_field(T& value, F&& f) {
  std::apply([&](const auto&... field) { (f(value.*field.place), ...); },
             fields_of<std::remove_cv_t<T>>());
}

namespace internal {

// Stands for a member of any type where an aggregate is made.
template <class Owner>
struct AnyMember {
  template <class Member>
    requires(!std::is_same_v<std::remove_cvref_t<Member>, Owner>)
  operator Member() const noexcept {
    __builtin_unreachable();  // never called: only asked whether it would do
  }
};

template <class T, std::size_t... kIndices>
constexpr bool can_be_made_of(std::index_sequence<kIndices...>) {
  return requires { T{(static_cast<void>(kIndices), AnyMember<T>{})...}; };
}

// A member that is not in the list would silently stay behind.
template <class T, std::size_t kNamed>
inline constexpr bool kNamesAllMembers =
    !std::is_aggregate_v<T> || !can_be_made_of<T>(std::make_index_sequence<kNamed + 1>());

}  // namespace internal

}  // namespace leat

#define LEAT_INTERNAL_PARENS ()
#define LEAT_INTERNAL_SCAN1(...) __VA_ARGS__
#define LEAT_INTERNAL_SCAN4(...)           \
  LEAT_INTERNAL_SCAN1(LEAT_INTERNAL_SCAN1( \
      LEAT_INTERNAL_SCAN1(LEAT_INTERNAL_SCAN1(LEAT_INTERNAL_SCAN1(__VA_ARGS__)))))
#define LEAT_INTERNAL_SCAN16(...)          \
  LEAT_INTERNAL_SCAN4(LEAT_INTERNAL_SCAN4( \
      LEAT_INTERNAL_SCAN4(LEAT_INTERNAL_SCAN4(LEAT_INTERNAL_SCAN4(__VA_ARGS__)))))
#define LEAT_INTERNAL_FIELDS_AGAIN() LEAT_INTERNAL_FIELDS_REST
#define LEAT_INTERNAL_OFFSETS_AGAIN() LEAT_INTERNAL_OFFSETS_REST
#define LEAT_INTERNAL_OFFSETS_REST(Type, member, ...) \
  ::std::size_t{offsetof(Type, member)} __VA_OPT__(   \
      , LEAT_INTERNAL_OFFSETS_AGAIN LEAT_INTERNAL_PARENS(Type, __VA_ARGS__))
#define LEAT_INTERNAL_FIELDS_REST(Type, member, ...) \
  ::leat::Field{#member, &Type::member} __VA_OPT__(  \
      , LEAT_INTERNAL_FIELDS_AGAIN LEAT_INTERNAL_PARENS(Type, __VA_ARGS__))

/// Names the members of the aggregate `Type`: all of them, which is checked.
// The offsets are a template, so that they are asked only of types whose offsets are looked at: the
// standard leaves those of others open, and compilers warn.
#define LEAT_FIELDS(Type, ...)                                                                 \
  [[maybe_unused]] constexpr auto leat_fields(::std::type_identity<Type>) {                    \
    return ::std::tuple{                                                                       \
        __VA_OPT__(LEAT_INTERNAL_SCAN16(LEAT_INTERNAL_FIELDS_REST(Type, __VA_ARGS__)))};       \
  }                                                                                            \
  template <::std::same_as<Type> LeatOwner>                                                    \
  [[maybe_unused]] constexpr auto leat_field_offsets(::std::type_identity<LeatOwner>) {        \
    return ::std::array<::std::size_t, ::leat::kFields<Type>>{                                 \
        __VA_OPT__(LEAT_INTERNAL_SCAN16(LEAT_INTERNAL_OFFSETS_REST(LeatOwner, __VA_ARGS__)))}; \
  }                                                                                            \
  static_assert(::leat::internal::kNamesAllMembers<Type, ::leat::kFields<Type>>,               \
                "LEAT_FIELDS: " #Type " has more members than are named")
