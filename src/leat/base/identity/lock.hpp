// What      LEAT_LOCK_LAYOUT and LEAT_LOCK_SCHEMA: write down the number of a type beside it, and the
//           program no longer compiles once the type has another. So nobody changes by accident what
//           other processes read, or what lies on disks.
// Protocol  Behind LEAT_FIELDS: LEAT_LOCK_SCHEMA(Quote, 0x3b5c...). When it fails the compiler prints
//           both numbers, the found one first; a change on purpose makes a new version of the type
//           (versions.hpp), or takes over the new number.
// Source    Flux's type-hash locks.
#pragma once

#include <leat/base/identity/hash.hpp>
#include <leat/base/identity/standard.hpp>

#include <cstdint>
#include <type_traits>

namespace leat {

/// Types whose schema was locked. All versions of a type are.
template <class T>
concept SchemaLocked = requires { leat_schema_lock(std::type_identity<T>{}); };

namespace internal {

template <class T, std::uint64_t kFound, std::uint64_t kLocked>
struct IdentityIs {
  static_assert(
      kFound == kLocked,
      "the type has changed since its number was locked; of the two numbers, the first is "
      "the one it has now");
  static constexpr bool kHolds = true;
};

}  // namespace internal

}  // namespace leat

/// Fails the compile unless `layout_hash<Type>()` is `number`.
#define LEAT_LOCK_LAYOUT(Type, number) \
  static_assert(::leat::internal::IdentityIs<Type, ::leat::layout_hash<Type>(), number>::kHolds)

/// Fails the compile unless `schema_hash<Type>()` is `number`. In the type's own namespace.
#define LEAT_LOCK_SCHEMA(Type, number)                                                      \
  [[maybe_unused]] constexpr ::std::uint64_t leat_schema_lock(::std::type_identity<Type>) { \
    return number;                                                                          \
  }                                                                                         \
  static_assert(::leat::internal::IdentityIs<Type, ::leat::schema_hash<Type>(), number>::kHolds)
