// Values drawn at random come back from their bytes as they were; and bytes that were damaged at
// random are a value or an error, of which the value has those very bytes.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <list>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include <leat/base/codec.hpp>
#include <leat/base/rng.hpp>

#include "property.hpp"

namespace leat {
namespace {

struct Tree {
  std::string name;
  std::optional<bool> mark;
  std::vector<Tree> children;

  friend bool operator==(const Tree&, const Tree&) = default;
};
LEAT_FIELDS(Tree, name, mark, children);

/// Draws values of any type that has a codec here; `left` bounds how large they become.
class Draw {
 public:
  explicit Draw(Rng& rng) : rng_(rng) {}

  template <class T>
  T value() {
    T drawn{};
    draw(drawn);
    return drawn;
  }

 private:
  template <internal::Flat T>
  void draw(T& to) {
    // Small numbers as well as any, so that keys meet.
    const std::uint64_t bits = rng_.next() >> (rng_.below(8) * 8);
    if constexpr (std::is_floating_point_v<T>) {
      to = static_cast<T>(static_cast<std::int64_t>(bits)) / 8;
    } else {
      to = static_cast<T>(bits);
    }
  }
  void draw(bool& to) { to = rng_.below(2) == 1; }
  void draw(std::monostate&) {}
  template <class A, class B>
  void draw(std::pair<A, B>& to) {
    draw(to.first);
    draw(to.second);
  }
  template <class... Ts>
  void draw(std::tuple<Ts...>& to) {
    std::apply([this](Ts&... members) { (draw(members), ...); }, to);
  }
  template <class T, std::size_t kSize>
  void draw(std::array<T, kSize>& to) {
    for (T& element : to) draw(element);
  }
  template <class T>
  void draw(std::optional<T>& to) {
    if (rng_.below(2) == 1) draw(to.emplace());
  }
  template <class... Ts>
  void draw(std::variant<Ts...>& to) {
    const std::size_t index = rng_.below(sizeof...(Ts));
    std::size_t at = 0;
    ((at++ == index ? static_cast<void>(to = value<Ts>()) : void()), ...);
  }
  void draw(Tree& to) {
    draw(to.name);
    draw(to.mark);
    if (left_ > 0) draw(to.children);
  }
  template <class C>
    requires requires(C to) { to.insert(to.end(), std::declval<typename C::value_type>()); }
  void draw(C& to) {
    for (std::size_t elements = rng_.below(6); elements > 0 && left_ > 0; --elements) {
      --left_;
      if constexpr (requires { typename C::mapped_type; }) {
        to.insert({value<typename C::key_type>(), value<typename C::mapped_type>()});
      } else {
        to.insert(to.end(), value<typename C::value_type>());
      }
    }
  }

  Rng& rng_;
  int left_ = 200;
};

template <class T>
class CodecProperty : public testing::Test {};

template <class T>
struct Ordered {
  using Value = T;
  static constexpr bool has_one_encoding = true;
};
template <class T>
struct Unordered {
  using Value = T;
  static constexpr bool has_one_encoding = false;
};

using Types = testing::Types<
    Ordered<std::tuple<std::uint8_t, std::int64_t, double, char16_t>>,
    Ordered<std::vector<std::pair<std::uint8_t, std::vector<std::uint64_t>>>>,
    Ordered<std::tuple<std::string, std::u32string, std::vector<bool>, std::monostate>>,
    Ordered<std::list<std::array<std::optional<float>, 3>>>,
    Ordered<std::deque<std::variant<std::string, bool, std::vector<std::int16_t>>>>,
    Ordered<std::map<std::string, std::set<std::int8_t>>>,
    Ordered<std::multimap<std::uint8_t, std::multiset<std::string>>>, Ordered<Tree>,
    Unordered<std::unordered_map<std::string, std::unordered_set<std::uint16_t>>>,
    Unordered<std::unordered_multimap<bool, std::unordered_multiset<std::uint8_t>>>>;
TYPED_TEST_SUITE(CodecProperty, Types);

template <class Case>
void check(std::span<const std::byte> bytes, bool must_be_good) {
  const auto value = decode<typename Case::Value>(bytes);
  LEAT_HOLDS(value.has_value() || !must_be_good);
  if (!value) {
    LEAT_HOLDS(value.error().message.starts_with("decode, byte "));
    return;
  }
  const ByteSink again = encoded(*value);
  LEAT_HOLDS(again.size() == bytes.size());
  if (Case::has_one_encoding) {
    LEAT_HOLDS(std::equal(bytes.begin(), bytes.end(), again.bytes().begin()));
  }
}

TYPED_TEST(CodecProperty, ValuesComeBackAndDamagedBytesAreRefusedOrAreAValue) {
  Rng rng(property::seed());
  for (int round = 0; round < 200; ++round) {
    const auto value = Draw(rng).template value<typename TypeParam::Value>();
    const ByteSink sink = encoded(value);
    const auto back = decode<typename TypeParam::Value>(sink.bytes());
    LEAT_HOLDS(back.has_value());
    LEAT_HOLDS(*back == value);
    check<TypeParam>(sink.bytes(), true);

    std::vector<std::byte> damaged(sink.bytes().begin(), sink.bytes().end());
    for (int damage = 0; damage < 10 && !damaged.empty(); ++damage) {
      switch (rng.below(3)) {
        case 0:
          damaged.resize(rng.below(damaged.size() + 1));
          break;
        case 1:
          damaged[rng.below(damaged.size())] ^= static_cast<std::byte>(1 << rng.below(8));
          break;
        default:
          damaged.push_back(static_cast<std::byte>(rng.below(3)));
      }
      check<TypeParam>(damaged, false);
    }
  }
}

}  // namespace
}  // namespace leat
