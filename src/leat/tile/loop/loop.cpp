#include <leat/tile/loop/loop.hpp>

#include <leat/base/os/affinity.hpp>
#include <leat/base/os/thread_name.hpp>
#include <leat/base/spin_pause.hpp>

#include <algorithm>
#include <chrono>
#include <stdexcept>
#include <thread>
#include <utility>

namespace leat::tile {
namespace {

constexpr std::uint64_t kPassesPerLook = 64;
constexpr Nanos kTroublesEvery = std::chrono::milliseconds(100);
constexpr Nanos kInitEvery = std::chrono::milliseconds(1);
// The longest sleep before a tile looks by itself, where a clock may be settable.
constexpr Nanos kNap = std::chrono::milliseconds(20);

std::uint64_t count_of(Nanos time) noexcept { return static_cast<std::uint64_t>(time.count()); }

}  // namespace

TileLoop::TileLoop(std::unique_ptr<TileBody> body, TileOptions options, TileSeat seat,
                   TileDesk& desk, const Clock& clock)
    : body_(std::move(body)),
      options_(std::move(options)),
      context_(options_.name, std::move(seat), desk, clock),
      desk_(&desk) {}

TileLoop::~TileLoop() = default;

template <class Act>
void TileLoop::guarded(const char* where, Act&& act) {
  try {
    act();
  } catch (const std::exception& thrown) {
    fail(where, std::current_exception(), thrown.what());
  } catch (...) {
    fail(where, std::current_exception(), "something that is no std::exception");
  }
}

void TileLoop::run() noexcept {
  bool initialised = false;
  guarded("placement", [&] { place_thread(); });
  if (!failure_) guarded("try_init", [&] { initialised = init(); });
  if (!failure_ && initialised) guarded("loop", [&] { passes(); });
  if (!failure_) guarded("teardown", [&] { body_->teardown(context_); });
  body_->detach();
  context_.time_.refresh();
  const Nanos now = context_.now();
  publish(now);
  row().beat(now);
  row().enter(failure_ ? TileState::fail : TileState::halt);
  move_to(kEnded);
}

void TileLoop::move_to(std::uint32_t stage) noexcept {
  stage_.store_release(stage, moved{});
  desk_->tile_moved();
}

void TileLoop::fail(const char* where, std::exception_ptr thrown, const std::string& what) {
  if (failure_) return;
  failure_ = std::make_unique<TileFailure>(
      TileFailure{options_.name, where, what, std::move(thrown), options_.exit_code});
}

void TileLoop::place_thread() {
  os::set_thread_name(options_.name);
  if (options_.core) {
    const auto pinned = os::pin_this_thread(*options_.core);
    take_placement(pinned);
    if (pinned) row().core.set(static_cast<std::uint64_t>(*options_.core) + 1);
  }
  if (options_.niceness) take_placement(os::set_thread_niceness(*options_.niceness));
  if (options_.real_time != RealTime::none) {
    take_placement(os::set_thread_real_time(options_.real_time, options_.priority));
  }
}

void TileLoop::take_placement(const Result<void>& done) {
  if (done) return;
  const std::string text = "tile \"" + options_.name + "\": " + done.error().message;
  if (options_.strict_placement) throw std::runtime_error(text);
  warnings_.push_back(text);
}

bool TileLoop::init() {
  const Nanos began = context_.now();
  row().began_ns.set(count_of(began));
  row().beat(began);
  body_->attach(context_);
  while (!body_->try_init(context_)) {
    row().beat(context_.now());
    if (context_.is_ending()) return false;
    row().bell.sleep([this] { return context_.is_ending(); }, kInitEvery);
  }
  move_to(kReady);
  return wait_for_go();
}

bool TileLoop::wait_for_go() {
  while (row().is_told() == Command::boot) {
    row().bell.sleep([this] { return row().is_told() != Command::boot; },
                     options_.idle.park_at_most);
  }
  return row().is_told() != Command::halt;
}

void TileLoop::passes() {
  context_.time_.refresh();
  Nanos began = context_.now();
  row().began_ns.set(count_of(began));
  row().unpark(began);
  for (;;) {
    if (options_.idle.parks) calls_ = row().calls_so_far();
    context_.pass_began_ = began;
    context_.did_work_ = false;
    body_->pass(context_);
    Nanos ended = context_.now();
    account(began, ended);
    row().beat(ended);
    const Command told = row().is_told();
    bool may_rest = told == Command::run;
    if (told > Command::run) [[unlikely]] {
      if (told == Command::halt) return;
      const bool is_done = body_->progress().is_done();
      if (told == Command::drain && is_done) return;
      if (told == Command::settle) answer_look();
      may_rest = told == Command::settle && is_done;
    }
    if (may_rest && options_.min_loop > Nanos{0}) {
      sleep_until(began + options_.min_loop, told);
      ended = context_.now();
    } else if (!context_.did_work_) {
      if (may_rest) idle(told);
      if (told != Command::run) std::this_thread::yield();  // others have to come to their answers
      if (told != Command::run || options_.idle.parks || options_.idle.yields ||
          options_.idle.pauses > 0) {
        ended = context_.now();
      }
    }
    context_.time_.refresh();
    began = ended;
  }
}

void TileLoop::answer_look() {
  if (answers_.answer(row(), [this] { return body_->progress(); })) desk_->tile_moved();
}

void TileLoop::account(Nanos began, Nanos ended) noexcept {
  ++passes_;
  const bool was_idle = idle_passes_ > 0;
  if (context_.did_work_) {
    const Nanos took = ended - began;
    ++worked_;
    busy_ += took;
    busy_min_ = std::min(busy_min_, took);
    busy_max_ = std::max(busy_max_, took);
    idle_passes_ = 0;
  } else {
    ++idle_passes_;
  }
  const bool turned = was_idle != (idle_passes_ > 0);
  if (turned || passes_ % kPassesPerLook == 0) publish(ended);
}

void TileLoop::publish(Nanos now) noexcept {
  TileRow& row = this->row();
  row.passes.set(passes_);
  row.worked.set(worked_);
  row.busy_ns.set(count_of(busy_));
  if (worked_ > 0) row.busy_min_ns.set(count_of(busy_min_));
  row.busy_max_ns.set(count_of(busy_max_));
  row.parks.set(parks_);
  row.asleep_ns.set(count_of(asleep_));
  body_->publish(row);
  if (now - troubles_at_ >= kTroublesEvery) {
    troubles_at_ = now;
    const os::ThreadTroubles troubles = os::thread_troubles();
    row.involuntary_switches.set(troubles.involuntary_switches);
    row.page_faults.set(troubles.page_faults);
  }
  row.looked_ns.set(count_of(now));
}

// A tile that waits for its next period is parked as far as the watchdog is concerned.
void TileLoop::sleep_until(Nanos deadline, Command told) {
  Nanos now = context_.now();
  if (now >= deadline) return;
  const Nanos from = now;
  publish(now);
  row().enter(TileState::parked);
  while (now < deadline && told == row().is_told()) {
    row().bell.sleep([&] { return row().is_told() != told || is_asked(told); },
                     std::min(deadline - now, kNap));
    if (told == Command::settle) {
      if (!body_->progress().is_done()) break;
      answer_look();
    }
    context_.time_.refresh();
    now = context_.now();
  }
  asleep_ += now - from;
  row().unpark(now);
}

void TileLoop::idle(Command told) {
  const IdleOptions& idle = options_.idle;
  if (idle.parks && idle_passes_ > idle.looks_before_park) {
    park(told);
    return;
  }
  for (unsigned i = 0; i < idle.pauses; ++i) spin_pause();
  if (idle.yields) std::this_thread::yield();
}

bool TileLoop::is_asked(Command told) const noexcept {
  return told == Command::settle && !answers_.has_answered(row().is_asked());
}

void TileLoop::park(Command told) {
  const Nanos from = context_.now();
  ++parks_;
  publish(from);
  row().enter(TileState::parked);
  body_->before_sleep();
  row().bell.sleep(
      [this, told] {
        return row().is_told() != told || is_asked(told) || row().calls_so_far() != calls_ ||
               body_->has_news();
      },
      options_.idle.park_at_most);
  body_->after_sleep();
  context_.time_.refresh();
  const Nanos now = context_.now();
  asleep_ += now - from;
  idle_passes_ = 0;
  row().unpark(now);
}

}  // namespace leat::tile
