// What      Messages of a given size that know their number, and where tiles of a benchmark run.
#pragma once

#include <leat/base/fields.hpp>
#include <leat/base/os/affinity.hpp>
#include <leat/tile/loop/scope.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <tuple>
#include <type_traits>

namespace leat::bench {

template <std::size_t kBytes>
struct Message {
  std::uint64_t sequence = 0;
  std::array<std::uint64_t, kBytes / 8 - 1> rest{};
};
template <std::size_t kBytes>
constexpr auto leat_fields(std::type_identity<Message<kBytes>>) {
  return std::tuple{Field{"sequence", &Message<kBytes>::sequence},
                    Field{"rest", &Message<kBytes>::rest}};
}

/// Whose tiles are never stuck, and have a minute to end.
inline tile::ScopeOptions patient() {
  tile::ScopeOptions options;
  options.stuck_after = Nanos{0};
  options.drain_at_most = std::chrono::seconds(60);
  return options;
}

/// The `index`th tile, on a core of its own if there are so many; else they take turns.
inline tile::TileOptions on_core(const std::string& name, std::size_t index, std::size_t tiles,
                                 unsigned pauses = 0) {
  const auto cpus = os::cpus_allowed();
  tile::TileOptions options;
  options.name = name;
  options.core = cpus[index % cpus.size()];
  options.idle = {.pauses = pauses, .yields = cpus.size() < tiles};
  return options;
}

}  // namespace leat::bench
