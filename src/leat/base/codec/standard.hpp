// What      Codecs of the standard library's types: texts, sequences, pairs and tuples, optional and
//           variant, maps and sets. What their bytes are stands in codec.hpp.
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <iterator>
#include <list>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <type_traits>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <variant>
#include <vector>

#include <leat/base/codec/codec.hpp>

namespace leat {

namespace internal {

/// A sequence whose elements lie one after the other and are their own bytes.
template <class C>
struct SectionCodec {
  using Element = typename C::value_type;
  static constexpr std::size_t kBytesMin = sizeof(std::uint64_t);

  static void encode(ByteSink& sink, const C& value) {
    sink.write_plain(std::uint64_t{value.size()});
    if constexpr (sizeof(Element) > 1) sink.align();
    sink.write(value.data(), value.size() * sizeof(Element));
  }
  [[nodiscard]] static bool decode(ByteSource& from, C& to) {
    std::size_t count = 0;
    if (!from.read_count(count, sizeof(Element))) return false;
    if constexpr (sizeof(Element) > 1) {
      if (!from.align()) return false;
    }
    if (count > from.left() / sizeof(Element)) return from.fail("a section is cut off");
    to.resize(count);
    return from.read(to.data(), count * sizeof(Element));
  }
};

template <class C>
struct SequenceCodec {
  using Element = typename C::value_type;
  static constexpr std::size_t kBytesMin = sizeof(std::uint64_t);

  static void encode(ByteSink& sink, const C& value) {
    const ByteSink::Level level(sink);
    sink.write_plain(std::uint64_t{value.size()});
    for (const Element& element : value) Codec<Element>::encode(sink, element);
  }
  [[nodiscard]] static bool decode(ByteSource& from, C& to) {
    static_assert(std::default_initializable<Element>,
                  "decode: elements are filled in after they were made");
    const ByteSource::Level level(from);
    std::size_t count = 0;
    if (!level || !from.read_count(count, Codec<Element>::kBytesMin)) return false;
    to.clear();
    if constexpr (requires { to.reserve(count); }) {
      to.reserve(std::min(count, from.left() / sizeof(Element) + 1));
    }
    for (; count > 0; --count) {
      Element element{};
      if (!Codec<Element>::decode(from, element)) return false;
      to.push_back(std::move(element));
    }
    return true;
  }
};

enum class Keys { ascending, not_descending, different, any };

template <class C, Keys kKeys>
struct AssociativeCodec {
  using Key = typename C::key_type;
  static constexpr std::size_t kBytesMin = sizeof(std::uint64_t);
  static constexpr bool kIsMap = requires { typename C::mapped_type; };

  static void encode(ByteSink& sink, const C& value) {
    const ByteSink::Level level(sink);
    sink.write_plain(std::uint64_t{value.size()});
    for (const auto& element : value) {
      if constexpr (kIsMap) {
        Codec<Key>::encode(sink, element.first);
        Codec<typename C::mapped_type>::encode(sink, element.second);
      } else {
        Codec<Key>::encode(sink, element);
      }
    }
  }
  [[nodiscard]] static bool decode(ByteSource& from, C& to) {
    static_assert(std::default_initializable<Key>,
                  "decode: keys are filled in after they were made");
    const ByteSource::Level level(from);
    std::size_t count = 0;
    if (!level || !from.read_count(count, element_bytes_min())) return false;
    to.clear();
    for (; count > 0; --count) {
      Key key{};
      if (!Codec<Key>::decode(from, key)) return false;
      if (!has_its_place(to, key)) return from.fail("keys are not in order, or stand twice");
      if constexpr (kIsMap) {
        typename C::mapped_type mapped{};
        if (!Codec<typename C::mapped_type>::decode(from, mapped)) return false;
        to.emplace_hint(to.end(), std::move(key), std::move(mapped));
      } else {
        to.emplace_hint(to.end(), std::move(key));
      }
    }
    return true;
  }

 private:
  static constexpr std::size_t element_bytes_min() {
    if constexpr (kIsMap) {
      return Codec<Key>::kBytesMin + Codec<typename C::mapped_type>::kBytesMin;
    } else {
      return Codec<Key>::kBytesMin;
    }
  }
  static bool has_its_place(const C& so_far, const Key& key) {
    if constexpr (kKeys == Keys::any) {
      return true;
    } else if constexpr (kKeys == Keys::different) {
      return so_far.find(key) == so_far.end();
    } else {
      if (so_far.empty()) return true;
      const auto& last = key_of(*std::prev(so_far.end()));
      return kKeys == Keys::ascending ? so_far.key_comp()(last, key)
                                      : !so_far.key_comp()(key, last);
    }
  }
  static const Key& key_of(const typename C::value_type& element) {
    if constexpr (kIsMap) {
      return element.first;
    } else {
      return element;
    }
  }
};

}  // namespace internal

template <internal::Flat Char, class Traits, class Alloc>
struct Codec<std::basic_string<Char, Traits, Alloc>>
    : internal::SectionCodec<std::basic_string<Char, Traits, Alloc>> {};

template <internal::EncodablePart T, class Alloc>
struct Codec<std::vector<T, Alloc>>
    : std::conditional_t<internal::Flat<T>, internal::SectionCodec<std::vector<T, Alloc>>,
                         internal::SequenceCodec<std::vector<T, Alloc>>> {};
template <class Alloc>
struct Codec<std::vector<bool, Alloc>> : internal::SequenceCodec<std::vector<bool, Alloc>> {};
template <internal::EncodablePart T, class Alloc>
struct Codec<std::deque<T, Alloc>> : internal::SequenceCodec<std::deque<T, Alloc>> {};
template <internal::EncodablePart T, class Alloc>
struct Codec<std::list<T, Alloc>> : internal::SequenceCodec<std::list<T, Alloc>> {};

template <internal::EncodablePart T, std::size_t kSize>
struct Codec<std::array<T, kSize>> {
  static constexpr std::size_t kBytesMin = kSize == 0 ? 1 : kSize * Codec<T>::kBytesMin;
  static void encode(ByteSink& sink, const std::array<T, kSize>& value) {
    if constexpr (kSize == 0) internal::encode_nothing(sink);
    for (const T& element : value) Codec<T>::encode(sink, element);
  }
  [[nodiscard]] static bool decode(ByteSource& from, std::array<T, kSize>& to) {
    if constexpr (kSize == 0) return internal::decode_nothing(from);
    for (T& element : to) {
      if (!Codec<T>::decode(from, element)) return false;
    }
    return true;
  }
};

template <internal::EncodablePart... Ts>
struct Codec<std::tuple<Ts...>> {
  static constexpr std::size_t kBytesMin = internal::kSumOfMin<Ts...>;
  static void encode(ByteSink& sink, const std::tuple<Ts...>& value) {
    if constexpr (sizeof...(Ts) == 0) internal::encode_nothing(sink);
    std::apply([&](const Ts&... member) { (Codec<Ts>::encode(sink, member), ...); }, value);
  }
  [[nodiscard]] static bool decode(ByteSource& from, std::tuple<Ts...>& to) {
    if constexpr (sizeof...(Ts) == 0) return internal::decode_nothing(from);
    return std::apply([&](Ts&... member) { return (Codec<Ts>::decode(from, member) && ...); }, to);
  }
};

template <internal::EncodablePart A, internal::EncodablePart B>
struct Codec<std::pair<A, B>> {
  static constexpr std::size_t kBytesMin = internal::kSumOfMin<A, B>;
  static void encode(ByteSink& sink, const std::pair<A, B>& value) {
    Codec<A>::encode(sink, value.first);
    Codec<B>::encode(sink, value.second);
  }
  [[nodiscard]] static bool decode(ByteSource& from, std::pair<A, B>& to) {
    return Codec<A>::decode(from, to.first) && Codec<B>::decode(from, to.second);
  }
};

template <>
struct Codec<std::monostate> {
  static constexpr std::size_t kBytesMin = 1;
  static void encode(ByteSink& sink, std::monostate) { internal::encode_nothing(sink); }
  [[nodiscard]] static bool decode(ByteSource& from, std::monostate&) {
    return internal::decode_nothing(from);
  }
};

template <internal::EncodablePart T>
struct Codec<std::optional<T>> {
  static constexpr std::size_t kBytesMin = 1;
  static void encode(ByteSink& sink, const std::optional<T>& value) {
    const ByteSink::Level level(sink);
    Codec<bool>::encode(sink, value.has_value());
    if (value) Codec<T>::encode(sink, *value);
  }
  [[nodiscard]] static bool decode(ByteSource& from, std::optional<T>& to) {
    const ByteSource::Level level(from);
    bool has_value = false;
    if (!level || !Codec<bool>::decode(from, has_value)) return false;
    to.reset();
    return !has_value || Codec<T>::decode(from, to.emplace());
  }
};

template <internal::EncodablePart... Ts>
struct Codec<std::variant<Ts...>> {
  static_assert(sizeof...(Ts) <= 255, "codec: a variant has at most 255 alternatives");
  static constexpr std::size_t kBytesMin = 1 + std::min({Codec<Ts>::kBytesMin...});

  /// Errors: `std::bad_variant_access` if the variant lost its value.
  static void encode(ByteSink& sink, const std::variant<Ts...>& value) {
    const ByteSink::Level level(sink);
    std::visit(
        [&]<class T>(const T& held) {
          sink.write_plain(static_cast<std::uint8_t>(value.index()));
          Codec<T>::encode(sink, held);
        },
        value);
  }
  [[nodiscard]] static bool decode(ByteSource& from, std::variant<Ts...>& to) {
    const ByteSource::Level level(from);
    std::uint8_t index = 0;
    if (!level || !from.read_plain(index)) return false;
    if (index >= sizeof...(Ts)) {
      return from.fail("a variant has no such alternative", index, sizeof...(Ts) - 1);
    }
    return decode_held(from, to, index, std::index_sequence_for<Ts...>());
  }

 private:
  template <std::size_t... kIndices>
  static bool decode_held(ByteSource& from, std::variant<Ts...>& to, std::size_t index,
                          std::index_sequence<kIndices...>) {
    bool good = false;
    static_cast<void>(((index == kIndices &&
                        (good = Codec<Ts>::decode(from, to.template emplace<kIndices>()), true)) ||
                       ...));
    return good;
  }
};

template <internal::EncodablePart K, internal::EncodablePart V, class Less, class Alloc>
struct Codec<std::map<K, V, Less, Alloc>>
    : internal::AssociativeCodec<std::map<K, V, Less, Alloc>, internal::Keys::ascending> {};
template <internal::EncodablePart K, internal::EncodablePart V, class Less, class Alloc>
struct Codec<std::multimap<K, V, Less, Alloc>>
    : internal::AssociativeCodec<std::multimap<K, V, Less, Alloc>, internal::Keys::not_descending> {
};
template <internal::EncodablePart K, class Less, class Alloc>
struct Codec<std::set<K, Less, Alloc>>
    : internal::AssociativeCodec<std::set<K, Less, Alloc>, internal::Keys::ascending> {};
template <internal::EncodablePart K, class Less, class Alloc>
struct Codec<std::multiset<K, Less, Alloc>>
    : internal::AssociativeCodec<std::multiset<K, Less, Alloc>, internal::Keys::not_descending> {};
template <internal::EncodablePart K, internal::EncodablePart V, class Hash, class Equal,
          class Alloc>
struct Codec<std::unordered_map<K, V, Hash, Equal, Alloc>>
    : internal::AssociativeCodec<std::unordered_map<K, V, Hash, Equal, Alloc>,
                                 internal::Keys::different> {};
template <internal::EncodablePart K, internal::EncodablePart V, class Hash, class Equal,
          class Alloc>
struct Codec<std::unordered_multimap<K, V, Hash, Equal, Alloc>>
    : internal::AssociativeCodec<std::unordered_multimap<K, V, Hash, Equal, Alloc>,
                                 internal::Keys::any> {};
template <internal::EncodablePart K, class Hash, class Equal, class Alloc>
struct Codec<std::unordered_set<K, Hash, Equal, Alloc>>
    : internal::AssociativeCodec<std::unordered_set<K, Hash, Equal, Alloc>,
                                 internal::Keys::different> {};
template <internal::EncodablePart K, class Hash, class Equal, class Alloc>
struct Codec<std::unordered_multiset<K, Hash, Equal, Alloc>>
    : internal::AssociativeCodec<std::unordered_multiset<K, Hash, Equal, Alloc>,
                                 internal::Keys::any> {};

}  // namespace leat
