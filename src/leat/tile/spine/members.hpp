// What      The channels of a spine, as a tuple: a spine is a plain struct whose members are channels,
//           and nothing else.
// Limits    At most 16 members, all of them channels; no bases, no constructors.
// Source    Counting members by what an aggregate can be made of: Boost.PFR.
#pragma once

#include <leat/base/fields.hpp>
#include <leat/tile/spine/channel.hpp>

#include <array>
#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

namespace leat::tile {

namespace internal {

inline constexpr std::size_t kMembersMax = 16;

template <class S, std::size_t kCount = kMembersMax + 1>
consteval std::size_t count_members() {
  if constexpr (kCount == 0) {
    return 0;
  } else if constexpr (leat::internal::can_be_made_of<S>(std::make_index_sequence<kCount>())) {
    return kCount;
  } else {
    return count_members<S, kCount - 1>();
  }
}

template <class S>
constexpr auto tie_members(S& s) {
  static_assert(std::is_aggregate_v<S>, "spine: a plain struct of channels, without constructors");
  constexpr std::size_t kCount = count_members<S>();
  static_assert(kCount > 0, "spine: a struct of at least one channel");
  static_assert(kCount <= kMembersMax, "spine: at most 16 channels");
  if constexpr (kCount == 1) {
    auto& [a] = s;
    return std::tie(a);
  } else if constexpr (kCount == 2) {
    auto& [a, b] = s;
    return std::tie(a, b);
  } else if constexpr (kCount == 3) {
    auto& [a, b, c] = s;
    return std::tie(a, b, c);
  } else if constexpr (kCount == 4) {
    auto& [a, b, c, d] = s;
    return std::tie(a, b, c, d);
  } else if constexpr (kCount == 5) {
    auto& [a, b, c, d, e] = s;
    return std::tie(a, b, c, d, e);
  } else if constexpr (kCount == 6) {
    auto& [a, b, c, d, e, f] = s;
    return std::tie(a, b, c, d, e, f);
  } else if constexpr (kCount == 7) {
    auto& [a, b, c, d, e, f, g] = s;
    return std::tie(a, b, c, d, e, f, g);
  } else if constexpr (kCount == 8) {
    auto& [a, b, c, d, e, f, g, h] = s;
    return std::tie(a, b, c, d, e, f, g, h);
  } else if constexpr (kCount == 9) {
    auto& [a, b, c, d, e, f, g, h, i] = s;
    return std::tie(a, b, c, d, e, f, g, h, i);
  } else if constexpr (kCount == 10) {
    auto& [a, b, c, d, e, f, g, h, i, j] = s;
    return std::tie(a, b, c, d, e, f, g, h, i, j);
  } else if constexpr (kCount == 11) {
    auto& [a, b, c, d, e, f, g, h, i, j, k] = s;
    return std::tie(a, b, c, d, e, f, g, h, i, j, k);
  } else if constexpr (kCount == 12) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l] = s;
    return std::tie(a, b, c, d, e, f, g, h, i, j, k, l);
  } else if constexpr (kCount == 13) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m] = s;
    return std::tie(a, b, c, d, e, f, g, h, i, j, k, l, m);
  } else if constexpr (kCount == 14) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n] = s;
    return std::tie(a, b, c, d, e, f, g, h, i, j, k, l, m, n);
  } else if constexpr (kCount == 15) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o] = s;
    return std::tie(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o);
  } else if constexpr (kCount == 16) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p] = s;
    return std::tie(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p);
  }
}

}  // namespace internal

/// The types of the channels of `S`, in their order, as references.
template <class S>
using ChannelRefs = decltype(internal::tie_members(std::declval<S&>()));

template <class S>
inline constexpr std::size_t kChannels = std::tuple_size_v<ChannelRefs<S>>;

template <class S, std::size_t kIndex>
using ChannelAt = std::remove_reference_t<std::tuple_element_t<kIndex, ChannelRefs<S>>>;

/// Calls `f(channel)` for each, in their order.
template <class S, class F>
constexpr void for_each_channel(S& s, F&& f) {
  std::apply([&](auto&... channel) { (f(channel), ...); }, internal::tie_members(s));
}

namespace internal {

template <class S, std::size_t... kIndices>
consteval bool all_are_channels(std::index_sequence<kIndices...>) {
  return (IsChannel<ChannelAt<S, kIndices>> && ...);
}

template <class S, std::size_t... kIndices>
consteval bool names_differ(std::index_sequence<kIndices...>) {
  const std::array<std::string_view, sizeof...(kIndices)> names{ChannelAt<S, kIndices>::kName...};
  for (std::size_t i = 0; i < names.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (names[i] == names[j]) return false;
    }
  }
  return true;
}

/// Instantiated once for each spine: says what is wrong with it.
template <class S>
struct CheckedSpine {
  using Indices = std::make_index_sequence<kChannels<S>>;
  static_assert(all_are_channels<S>(Indices{}), "spine: each member is a Channel");
  static_assert(names_differ<S>(Indices{}), "spine: two channels have one name");
  static constexpr bool kHolds = true;
};

template <class S, ChannelName kName, std::size_t... kIndices>
consteval std::size_t place_of_name(std::index_sequence<kIndices...>) {
  std::size_t place = sizeof...(kIndices);
  ((ChannelAt<S, kIndices>::kName == kName.view() ? place = kIndices : 0), ...);
  return place;
}

template <class S, class T, std::size_t... kIndices>
consteval std::size_t count_of_type(std::index_sequence<kIndices...>) {
  return (std::size_t{std::is_same_v<typename ChannelAt<S, kIndices>::Message, T>} + ...);
}
template <class S, class T, std::size_t... kIndices>
consteval std::size_t place_of_type(std::index_sequence<kIndices...>) {
  std::size_t place = sizeof...(kIndices);
  ((std::is_same_v<typename ChannelAt<S, kIndices>::Message, T> ? place = kIndices : 0), ...);
  return place;
}

/// Where the channel of that name stands.
template <class S, ChannelName kName>
consteval std::size_t channel_named() {
  static_assert(CheckedSpine<S>::kHolds);
  constexpr std::size_t kPlace = place_of_name<S, kName>(std::make_index_sequence<kChannels<S>>());
  static_assert(kPlace < kChannels<S>, "spine: it has no channel of that name");
  return kPlace;
}

/// Where the one channel that carries `T` stands.
template <class S, class T>
consteval std::size_t channel_carrying() {
  static_assert(CheckedSpine<S>::kHolds);
  constexpr auto kIndices = std::make_index_sequence<kChannels<S>>();
  static_assert(count_of_type<S, T>(kIndices) > 0,
                "spine: no channel carries messages of that type");
  static_assert(count_of_type<S, T>(kIndices) < 2,
                "spine: several channels carry messages of that type: say the name of one");
  return place_of_type<S, T>(kIndices);
}

}  // namespace internal

}  // namespace leat::tile
