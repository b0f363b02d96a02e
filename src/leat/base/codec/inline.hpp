// What      Codecs of InlineVector and InlineString. Their bytes are those of a std::vector and a
//           std::string with the same content, so that either side may have either.
// Limits    More than there is room for, and text that is no UTF-8, are errors of the bytes.
#pragma once

#include <leat/base/codec/bytes.hpp>
#include <leat/base/codec/codec.hpp>
#include <leat/base/codec/standard.hpp>
#include <leat/base/inline_string.hpp>
#include <leat/base/inline_vector.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace leat {

template <internal::EncodablePart T, std::size_t N>
struct Codec<InlineVector<T, N>> {
  using Vector = InlineVector<T, N>;
  static constexpr std::size_t kBytesMin = sizeof(std::uint64_t);

  static void encode(ByteSink& sink, const Vector& value) {
    std::conditional_t<internal::Flat<T>, internal::SectionCodec<Vector>,
                       internal::SequenceCodec<Vector>>::encode(sink, value);
  }
  [[nodiscard]] static bool decode(ByteSource& from, Vector& to) {
    const ByteSource::Level level(from);
    std::size_t count = 0;
    if (!level || !from.read_count(count, internal::Flat<T> ? sizeof(T) : Codec<T>::kBytesMin)) {
      return false;
    }
    if (count > N) return from.fail("more elements than an inline vector has room for", count, N);
    if constexpr (internal::Flat<T> && sizeof(T) > 1) {
      if (!from.align()) return false;
    }
    to.clear();
    for (; count > 0; --count) {
      T element{};
      if (!Codec<T>::decode(from, element)) return false;
      static_cast<void>(to.try_push_back(element));  // there is room: see above
    }
    return true;
  }
};

template <std::size_t N>
struct Codec<InlineString<N>> {
  static constexpr std::size_t kBytesMin = sizeof(std::uint64_t);

  static void encode(ByteSink& sink, const InlineString<N>& value) {
    sink.write_plain(std::uint64_t{value.size()});
    sink.write(value.view().data(), value.size());
  }
  [[nodiscard]] static bool decode(ByteSource& from, InlineString<N>& to) {
    std::size_t count = 0;
    if (!from.read_count(count, 1)) return false;
    if (count > N) return from.fail("more text than an inline string has room for", count, N);
    char text[N];
    if (!from.read(text, count)) return false;
    to.clear();
    if (!to.try_append({text, count})) return from.fail("text that is no UTF-8");
    return true;
  }
};

}  // namespace leat
