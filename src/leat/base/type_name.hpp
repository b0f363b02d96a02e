// What      Names, hashes and identities of types without run-time type information.
// Limits    A name is the compiler's spelling: equal for equal types under one compiler, perhaps
//           not under two. Types of two unnamed namespaces may share a name and a hash; `type_id`
//           tells them apart, but only inside one process.
// Cost      All of it is known at compile time.
#pragma once

#include <leat/base/hash.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace leat {

namespace internal {

struct RawTypeName {
  const char* text;
  unsigned long length;
};

template <class T>
constexpr RawTypeName raw_type_name() noexcept {
  return {__PRETTY_FUNCTION__, sizeof(__PRETTY_FUNCTION__) - 1};
}

// What stands before and after the type is the same for every type: measure it once.
inline constexpr std::string_view kTypeNameProbe{raw_type_name<double>().text,
                                                 raw_type_name<double>().length};
inline constexpr std::size_t kTypeNamePrefix = kTypeNameProbe.find("double");
inline constexpr std::size_t kTypeNameSuffix =
    kTypeNameProbe.size() - kTypeNamePrefix - std::string_view("double").size();
static_assert(kTypeNamePrefix != std::string_view::npos);

template <class T>
inline constexpr char type_mark = 0;

}  // namespace internal

/// The compiler's spelling of `T`, as in `std::vector<int>`.
template <class T>
[[nodiscard]] constexpr std::string_view type_name() noexcept {
  constexpr internal::RawTypeName raw = internal::raw_type_name<T>();
  return std::string_view(raw.text, raw.length)
      .substr(internal::kTypeNamePrefix,
              raw.length - internal::kTypeNamePrefix - internal::kTypeNameSuffix);
}

/// A number for `T` that other processes of the same build compute alike.
template <class T>
[[nodiscard]] constexpr std::uint64_t type_hash() noexcept {
  return fnv1a(type_name<T>());
}

/// Tells types apart inside one process. The default value is no type's.
class TypeId {
 public:
  constexpr TypeId() noexcept = default;
  explicit constexpr TypeId(const char* mark) noexcept : mark_(mark) {}

  friend constexpr bool operator==(TypeId, TypeId) noexcept = default;

 private:
  const char* mark_ = nullptr;
};

template <class T>
[[nodiscard]] constexpr TypeId type_id() noexcept {
  return TypeId{&internal::type_mark<T>};
}

}  // namespace leat
