// What      `schema_hash`, and how the standard library's types look in a schema: as codec/standard.hpp
//           encodes them. The two are here together, so that nobody asks for the one without the other.
//           Types that are encoded alike have one word: a vector of numbers may become a deque.
#pragma once

#include <leat/base/identity/hash.hpp>

#include <cstdint>
#include <deque>
#include <list>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <variant>
#include <vector>

namespace leat::internal {

template <class... Ts>
struct PartsOf {
  static constexpr std::uint64_t kNumber = sizeof...(Ts);
  using Parts = TypeList<Ts...>;
};

template <>
struct SchemaParts<std::string> : PartsOf<> {
  static constexpr std::string_view kWord = "text";
};
template <class T>
struct SchemaParts<std::vector<T>> : PartsOf<T> {
  static constexpr std::string_view kWord = "sequence";
};
template <class T>
struct SchemaParts<std::deque<T>> : PartsOf<T> {
  static constexpr std::string_view kWord = "sequence";
};
template <class T>
struct SchemaParts<std::list<T>> : PartsOf<T> {
  static constexpr std::string_view kWord = "sequence";
};
template <class A, class B>
struct SchemaParts<std::pair<A, B>> : PartsOf<A, B> {
  static constexpr std::string_view kWord = "tuple";
};
template <class... Ts>
struct SchemaParts<std::tuple<Ts...>> : PartsOf<Ts...> {
  static constexpr std::string_view kWord = "tuple";
};
template <>
struct SchemaParts<std::monostate> : PartsOf<> {
  static constexpr std::string_view kWord = "nothing";
};
template <class T>
struct SchemaParts<std::optional<T>> : PartsOf<T> {
  static constexpr std::string_view kWord = "optional";
};
template <class... Ts>
struct SchemaParts<std::variant<Ts...>> : PartsOf<Ts...> {
  static constexpr std::string_view kWord = "variant";
};
template <class K, class V, class C>
struct SchemaParts<std::map<K, V, C>> : PartsOf<K, V> {
  static constexpr std::string_view kWord = "map";
};
template <class K, class V, class C>
struct SchemaParts<std::multimap<K, V, C>> : PartsOf<K, V> {
  static constexpr std::string_view kWord = "multimap";
};
template <class K, class V, class H, class E>
struct SchemaParts<std::unordered_map<K, V, H, E>> : PartsOf<K, V> {
  static constexpr std::string_view kWord = "unordered map";
};
template <class K, class V, class H, class E>
struct SchemaParts<std::unordered_multimap<K, V, H, E>> : PartsOf<K, V> {
  static constexpr std::string_view kWord = "unordered multimap";
};
template <class K, class C>
struct SchemaParts<std::set<K, C>> : PartsOf<K> {
  static constexpr std::string_view kWord = "set";
};
template <class K, class C>
struct SchemaParts<std::multiset<K, C>> : PartsOf<K> {
  static constexpr std::string_view kWord = "multiset";
};
template <class K, class H, class E>
struct SchemaParts<std::unordered_set<K, H, E>> : PartsOf<K> {
  static constexpr std::string_view kWord = "unordered set";
};
template <class K, class H, class E>
struct SchemaParts<std::unordered_multiset<K, H, E>> : PartsOf<K> {
  static constexpr std::string_view kWord = "unordered multiset";
};

}  // namespace leat::internal

namespace leat {

/// The number of `T` as it is encoded: where members lie plays no part.
template <class T>
[[nodiscard]] consteval std::uint64_t schema_hash() noexcept {
  return internal::identity_hash<false, std::remove_cv_t<T>>();
}

}  // namespace leat
