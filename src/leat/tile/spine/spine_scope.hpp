// What      SpineScope<S>: a TileScope whose tiles see a spine. Each gets an Adapter of its own; what a
//           configuration says of a tile goes over what the program says.
// Shape     SpineScope<Market> scope(spine, {.handle_signals = true});
//           scope.add(Trader{}, {.name = "trader", .core = 2});
//           return scope.run().exit_code();
//           A tile that holds messages itself, because they found no room, has a member `backlog()` that
//           counts them: it does not end before they are gone, or the time for that is over.
#pragma once

#include <leat/tile/loop/scope.hpp>
#include <leat/tile/spine/adapter.hpp>

#include <memory>
#include <set>
#include <string>
#include <utility>

namespace leat::tile {

namespace internal {

template <class S, class Tile>
class SpineTile final : public TileBody {
 public:
  SpineTile(Spine<S> spine, Tile tile, AdapterOptions options)
      : adapter_(std::move(spine), options), tile_(std::move(tile)) {}

  void attach(TileContext& context) override { adapter_.attach(context); }
  void detach() noexcept override { adapter_.detach(); }
  bool try_init(TileContext&) override {
    if constexpr (requires { tile_.try_init(adapter_); }) {
      return tile_.try_init(adapter_);
    } else {
      return true;
    }
  }
  void pass(TileContext&) override {
    adapter_.begin_pass();
    tile_.loop(adapter_);
  }
  void teardown(TileContext&) override {
    if constexpr (requires { tile_.teardown(adapter_); }) {
      adapter_.begin_pass();
      tile_.teardown(adapter_);
    }
  }
  TileProgress progress() noexcept override {
    TileProgress progress = adapter_.progress();
    if constexpr (requires { std::uint64_t{tile_.backlog()}; }) progress.held = tile_.backlog();
    return progress;
  }
  void publish(TileRow& row) noexcept override { adapter_.publish(row); }
  void before_sleep() noexcept override { adapter_.before_sleep(); }
  bool has_news() noexcept override { return adapter_.has_news(); }
  void after_sleep() noexcept override { adapter_.after_sleep(); }

 private:
  Adapter<S> adapter_;
  Tile tile_;
};

}  // namespace internal

/// Threads: as TileScope.
template <class S>
class SpineScope {
 public:
  explicit SpineScope(Spine<S> spine, ScopeOptions options = {})
      : spine_(std::move(spine)), scope_(of_spine(spine_, std::move(options))) {}

  /// Adds a tile with `loop(Adapter<S>&)`. Errors: as TileScope.
  template <class Tile>
  void add(Tile tile, TileOptions options = {}, bool timers = true) {
    static_assert(
        requires(Tile& t, Adapter<S>& a) { t.loop(a); },
        "a tile of a spine has a member function loop(Adapter<S>&)");
    if (options.name.empty()) options.name = default_tile_name<Tile>();
    const auto& tiles = spine_.options().config.tiles;
    if (const auto it = tiles.find(options.name); it != tiles.end()) it->second.apply(options);
    names_.insert(options.name);
    const AdapterOptions adapter{.timers = timers, .parks = options.idle.parks};
    scope_.add_body(
        std::make_unique<internal::SpineTile<S, Tile>>(spine_, std::move(tile), adapter),
        std::move(options));
  }

  /// Errors: as TileScope; UsageError if the configuration names a tile that is not here.
  ScopeOutcome run() {
    check_names();
    return scope_.run();
  }
  void start() {
    check_names();
    scope_.start();
  }
  ScopeOutcome wait() { return scope_.wait(); }
  void request_stop(const std::string& who, const std::string& why) {
    scope_.request_stop(who, why);
  }
  [[nodiscard]] TileScope& scope() noexcept { return scope_; }
  [[nodiscard]] const Spine<S>& spine() const noexcept { return spine_; }

 private:
  static ScopeOptions of_spine(const Spine<S>& spine, ScopeOptions options) {
    options.board = spine.board();
    options.clock = &spine.clock();
    return options;
  }
  void check_names() const {
    for (const auto& [name, config] : spine_.options().config.tiles) {
      static_cast<void>(config);
      if (names_.contains(name)) continue;
      throw UsageError("configuration", "for the tile \"" + name + "\"",
                       "no tile of that name in the scope", "name one that is there");
    }
  }

  Spine<S> spine_;
  std::set<std::string> names_;
  TileScope scope_;
};

}  // namespace leat::tile
