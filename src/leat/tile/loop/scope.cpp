#include <leat/tile/loop/scope.hpp>

#include <leat/base/os/interrupt.hpp>
#include <leat/base/os/thread_name.hpp>
#include <leat/base/time/text.hpp>
#include <leat/base/usage_error.hpp>
#include <leat/tile/control/stop_order.hpp>

#include <algorithm>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <optional>
#include <thread>

namespace leat::tile {
namespace {

// The watchdog looks so often by itself; what happens wakes it at once.
constexpr auto kLookEvery = std::chrono::milliseconds(20);
constexpr auto kLookWhenQuiet = std::chrono::milliseconds(100);

std::string text_of(const StuckTile& tile) {
  return "leat: tile \"" + tile.name + "\" has been in one pass for " + short_text(tile.since) +
         " (after some " + std::to_string(tile.passes) + " passes)";
}

void say(const std::string& text) {
  std::fprintf(stderr, "%s\n", text.c_str());
  std::fflush(stderr);
}

}  // namespace

class TileScope::Body final : public TileDesk {
 public:
  explicit Body(ScopeOptions options) : options_(std::move(options)) {
    if (options_.clock == nullptr) {
      own_clock_ = std::make_unique<TickClock>();
      options_.clock = own_clock_.get();
    }
    if (!options_.board) options_.board = TileBoard::make_private();
  }

  void add(std::unique_ptr<TileBody> body, TileOptions options) {
    const std::string who = "tile scope";
    const std::string asked = "to add the tile \"" + options.name + "\"";
    if (began_) throw UsageError(who, asked, "that it has begun", "add all tiles before");
    if (auto fine = check_tile_options(options); !fine) {
      throw UsageError(who, asked, fine.error().message, "put it into its range");
    }
    if (options.on_caller) {
      for (const auto& tile : tiles_) {
        if (!tile->options().on_caller) continue;
        throw UsageError(who, asked + " on the caller's thread",
                         "\"" + tile->name() + "\" there already", "let one of them have its own");
      }
    }
    auto seat = options_.board->seat(options.name);
    if (!seat) throw UsageError(who, asked, seat.error().message, "make room first");
    tiles_.push_back(std::make_unique<TileLoop>(std::move(body), std::move(options),
                                                std::move(*seat), *this, *options_.clock));
  }

  void start(bool has_caller) {
    if (tiles_.empty()) throw UsageError("tile scope", "to begin", "no tiles", "add one");
    if (began_) throw UsageError("tile scope", "to begin", "that it has begun", "make another");
    for (const auto& tile : tiles_) {
      if (has_caller || !tile->options().on_caller) continue;
      throw UsageError("tile scope", "to start beside its caller",
                       "the tile \"" + tile->name() + "\" that wants the caller's thread",
                       "call run");
    }
    began_ = true;
    if (options_.handle_signals) {
      // Before any thread is started, so that all of them leave the signals to it.
      signals_.emplace(
          [this](int signal) {
            {
              const std::lock_guard lock(mutex_);
              if (!stop_) signal_ = signal;
            }
            request_stop(os::signal_name(signal), "a signal asked for the end");
          },
          os::WatchQuit::yes);
    }
    watchdog_ = std::thread([this] { watch(); });
    for (const auto& tile : tiles_) {
      if (!tile->options().on_caller) threads_.emplace_back([&tile] { tile->run(); });
    }
  }

  void run_callers_tile() {
    for (const auto& tile : tiles_) {
      if (!tile->options().on_caller) continue;
      const std::string before = os::thread_name();
      tile->run();
      os::set_thread_name(before);
    }
  }

  ScopeOutcome wait() {
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
    if (watchdog_.joinable()) watchdog_.join();
    signals_.reset();
    ScopeOutcome outcome;
    const std::lock_guard lock(mutex_);
    if (stop_) {
      outcome.stopped_by = stop_->who;
      outcome.why = stop_->why;
    }
    outcome.signal = signal_;
    outcome.failures = failures_;
    outcome.killed = killed_;
    outcome.drained = drained_;
    for (const auto& tile : tiles_) {
      outcome.warnings.insert(outcome.warnings.end(), tile->warnings().begin(),
                              tile->warnings().end());
    }
    return outcome;
  }

  [[nodiscard]] bool runs() const noexcept { return began_ && watchdog_.joinable(); }

  void request_stop(const std::string& who, const std::string& why) override {
    {
      const std::lock_guard lock(mutex_);
      if (!stop_) stop_ = Stop{who, why};
      news_ = true;
    }
    changed_.notify_all();
  }

  void tile_moved() noexcept override {
    {
      const std::lock_guard lock(mutex_);
      news_ = true;
    }
    changed_.notify_all();
  }

  [[nodiscard]] TileBoard& board() noexcept { return *options_.board; }
  [[nodiscard]] const Clock& clock() const noexcept { return *options_.clock; }

 private:
  struct Stop {
    std::string who;
    std::string why;
  };

  void watch() {
    os::set_thread_name("leat:tiles");
    bool went = false;
    for (;;) {
      bool stopping = false;
      {
        std::unique_lock lock(mutex_);
        const auto every = went && !stop_ ? kLookWhenQuiet : kLookEvery;
        changed_.wait_for(lock, every, [this] { return news_; });
        news_ = false;
        stopping = stop_.has_value();
      }
      note_failures();
      if (std::all_of(tiles_.begin(), tiles_.end(), [](auto& t) { return t->has_ended(); })) return;
      if (!went && !stopping &&
          std::all_of(tiles_.begin(), tiles_.end(), [](auto& t) { return t->is_ready(); })) {
        for (const auto& tile : tiles_) tile->row().tell(Command::run);
        went = true;
      }
      look_for_the_stuck();
      if (stopping) end_in_order();
    }
  }

  void note_failures() {
    for (const auto& tile : tiles_) {
      if (!tile->has_ended() || tile->failure() == nullptr || noted_[tile.get()]) continue;
      noted_[tile.get()] = true;
      const TileFailure& failure = *tile->failure();
      {
        const std::lock_guard lock(mutex_);
        failures_.push_back(failure);
      }
      if (options_.on_failure) {
        options_.on_failure(failure);
      } else {
        say("leat: tile \"" + failure.tile + "\" failed in " + failure.where + ": " + failure.what);
      }
      request_stop("tile \"" + failure.tile + "\"", "it failed: " + failure.what);
    }
  }

  void look_for_the_stuck() {
    for (const auto& tile : tiles_) {
      const Nanos allowed = tile->options().stuck_after.value_or(options_.stuck_after);
      if (allowed <= Nanos{0} || tile->has_ended()) continue;
      if (!tile->row().is_stuck(allowed, [this] { return options_.clock->now(); })) continue;
      const Nanos last = tile->row().heartbeat();
      if (const auto told = told_.find(tile.get()); told != told_.end() && told->second == last) {
        continue;
      }
      told_[tile.get()] = last;
      const StuckTile stuck = stuck_tile(*tile);
      if (options_.on_stuck) {
        options_.on_stuck(stuck);
      } else {
        say(text_of(stuck));
      }
    }
  }

  [[nodiscard]] StuckTile stuck_tile(const TileLoop& tile) const {
    return {tile.name(), options_.clock->now() - tile.row().heartbeat(), tile.row().now_in(),
            tile.row().passes.get()};
  }

  // Tells those to drain whose turn it is.
  void end_in_order() {
    const Nanos now = options_.clock->now();
    if (!stop_since_) stop_since_ = now;
    bool failed = false;
    {
      const std::lock_guard lock(mutex_);
      failed = !failures_.empty();
    }
    const bool late = now - *stop_since_ >= options_.drain_at_most;
    if (failed || late) {
      for (const auto& tile : tiles_) {
        if (!tile->has_ended() && tile->row().is_told() < Command::halt) {
          drained_ = false;
          tile->row().tell(Command::halt);
        }
      }
      if (now - *stop_since_ >= options_.drain_at_most + options_.grace) kill_the_stuck();
      return;
    }
    std::vector<EndingTile> tiles;
    for (const auto& tile : tiles_) {
      tiles.push_back({&tile->row(), tile->is_ready(), tile->has_ended()});
    }
    const bool is_patient = now - *stop_since_ < options_.drain_at_most / 2;
    order_.step(tiles, is_patient ? Patience::some : Patience::none);
  }

  void kill_the_stuck() {
    if (killed_once_) return;
    killed_once_ = true;
    std::vector<StuckTile> stuck;
    for (const auto& tile : tiles_) {
      if (!tile->has_ended()) stuck.push_back(stuck_tile(*tile));
    }
    {
      const std::lock_guard lock(mutex_);
      killed_ = stuck;
    }
    if (options_.on_kill) {
      options_.on_kill(stuck);
      return;
    }
    for (const StuckTile& tile : stuck) {
      say(text_of(tile) + " and does not end; the process does, with " +
          std::to_string(kStuckExitCode));
    }
    std::_Exit(kStuckExitCode);
  }

  ScopeOptions options_;
  std::unique_ptr<TickClock> own_clock_;
  std::vector<std::unique_ptr<TileLoop>> tiles_;
  std::vector<std::thread> threads_;
  std::thread watchdog_;
  std::optional<os::InterruptWatcher> signals_;
  bool began_ = false;

  std::mutex mutex_;  // guards the next ones
  std::condition_variable changed_;
  bool news_ = false;
  std::optional<Stop> stop_;
  int signal_ = 0;
  std::vector<TileFailure> failures_;
  std::vector<StuckTile> killed_;

  // The watchdog's own.
  std::optional<Nanos> stop_since_;
  StopOrder order_;
  std::map<const TileLoop*, Nanos> told_;
  std::map<const TileLoop*, bool> noted_;
  bool killed_once_ = false;
  bool drained_ = true;  // read when the watchdog has ended
};

TileScope::TileScope(ScopeOptions options) : body_(std::make_unique<Body>(std::move(options))) {}

TileScope::~TileScope() {
  if (!body_->runs()) return;
  body_->request_stop("the scope", "it is destroyed");
  static_cast<void>(body_->wait());
}

void TileScope::add_body(std::unique_ptr<TileBody> body, TileOptions options) {
  body_->add(std::move(body), std::move(options));
}

ScopeOutcome TileScope::run() {
  body_->start(true);
  body_->run_callers_tile();
  return body_->wait();
}

void TileScope::start() { body_->start(false); }

ScopeOutcome TileScope::wait() { return body_->wait(); }

void TileScope::request_stop(const std::string& who, const std::string& why) {
  body_->request_stop(who, why);
}

TileBoard& TileScope::board() noexcept { return body_->board(); }

const Clock& TileScope::clock() const noexcept { return body_->clock(); }

}  // namespace leat::tile
