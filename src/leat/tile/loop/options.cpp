#include <leat/tile/loop/options.hpp>

#include <cstdint>
#include <limits>
#include <string>

namespace leat::tile {
namespace {

Result<void> within(const std::string& tile, const char* what, std::int64_t found, std::int64_t low,
                    std::int64_t high) {
  if (found >= low && found <= high) return {};
  return Error{"tile \"" + tile + "\": asked for " + what + " " + std::to_string(found) +
               "; found a range of " + std::to_string(low) + " to " + std::to_string(high)};
}

}  // namespace

Result<void> check_tile_options(const TileOptions& options) {
  const std::string& name = options.name;
  if (name.empty() || name.size() > 32) {
    return Error{"tile \"" + name + "\": asked for a name of " + std::to_string(name.size()) +
                 " bytes; found a range of 1 to 32"};
  }
  if (auto ok = within(name, "idle.pauses", options.idle.pauses, 0, 255); !ok) return ok;
  if (options.core) {
    if (auto ok = within(name, "core", *options.core, 0, 1 << 20); !ok) return ok;
  }
  if (options.niceness) {
    if (auto ok = within(name, "niceness", *options.niceness, os::kNicenessMin, os::kNicenessMax);
        !ok) {
      return ok;
    }
  }
  const bool is_real = options.real_time != RealTime::none;
  if (auto ok = within(name, "priority", options.priority, is_real ? 1 : 0, is_real ? 99 : 0);
      !ok) {
    return ok;
  }
  if (auto ok = within(name, "exit_code", options.exit_code, 1, 125); !ok) return ok;
  constexpr std::int64_t kForEver = std::numeric_limits<std::int64_t>::max();
  if (auto ok = within(name, "min_loop", options.min_loop.count(), 0, kForEver); !ok) return ok;
  if (options.idle.parks) {
    return within(name, "idle.park_at_most", options.idle.park_at_most.count(), 1, kForEver);
  }
  return {};
}

}  // namespace leat::tile
