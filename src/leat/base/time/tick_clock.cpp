#include <leat/base/time/tick_clock.hpp>

#include <leat/base/os/process.hpp>

#include <chrono>
#include <new>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

namespace leat {
namespace {

constexpr std::uint64_t kPageBytes = 4096;
constexpr std::uint64_t kWriterByte = std::uint64_t{1} << 56;  // its lock: who refines
constexpr Nanos kRefineEvery = std::chrono::seconds(1);
// The rate is measured over so long: long enough against the jitter of a sample, and short enough
// to follow whoever disciplines the steady clock.
constexpr Nanos kWindow = std::chrono::seconds(16);
constexpr Nanos kTryAgainAfter = std::chrono::milliseconds(10);
constexpr Nanos kFirstWindow = std::chrono::milliseconds(10);

Nanos steady() noexcept { return RealClock().now(); }

/// Of several looks at both clocks, the one between whose ends the least time passed.
TickSample sample() noexcept {
  TickSample best;
  std::uint64_t narrowest = ~std::uint64_t{0};
  for (int i = 0; i < 8; ++i) {
    const std::uint64_t before = read_ticks();
    const Nanos time = steady();
    const std::uint64_t gap = read_ticks() - before;
    if (gap < narrowest) {
      narrowest = gap;
      best = {before + gap / 2, time.count()};
    }
  }
  return best;
}

}  // namespace

TickClock::TickClock(const std::filesystem::path& file) { open(file); }
TickClock::TickClock() { open(os::default_shared_folder() / "clock"); }
TickClock::~TickClock() = default;

void TickClock::open(const std::filesystem::path& file) {
  if (!ticks_are_steady()) return;
  const auto boot = os::this_process().boot;
  std::vector<std::string> unread;
  for (int tries = 0; tries < 3 && !file_; ++tries) {
    auto opened = os::SharedFile::open(file, os::Access::read_write);
    if (!opened) break;
    if (!opened->has_value()) {
      if (!os::make_directory(file.parent_path(), 0700, std::nullopt, false)) break;
      auto made = os::SharedFile::make_unnamed(file.parent_path(), 0600, std::nullopt);
      if (!made || !made->allocate(kPageBytes, std::nullopt, unread)) break;
      if (!made->give_name(file)) break;
      continue;  // ours, or that of another who was faster
    }
    const auto bytes = (*opened)->size();
    if (!bytes || *bytes < kPageBytes) break;
    const auto mapped = (*opened)->map(kPageBytes, {}, unread);
    if (!mapped) break;
    page_ = std::launder(reinterpret_cast<internal::TickPage*>(mapped->data()));
    file_ = *std::move(*opened);
  }
  if (!file_) return go_private();
  // The first one draws the line; who comes meanwhile waits for it.
  if (!file_->lock(kWriterByte)) {
    file_.reset();
    return go_private();
  }
  const std::uint64_t version = page_->version.load_acquire(drawn{});
  // Relaxed: nobody writes them but under the lock that is held here.
  const bool is_drawn = version != 0 && version % 2 == 0 && page_->slope.load_relaxed() != 0 &&
                        page_->boot[0].load_relaxed() == boot[0] &&
                        page_->boot[1].load_relaxed() == boot[1];
  if (!is_drawn) {
    page_->boot[0].store_relaxed(boot[0]);
    page_->boot[1].store_relaxed(boot[1]);
    draw_first();
  }
  file_->unlock(kWriterByte);
}

void TickClock::go_private() {
  own_ = std::make_unique<internal::TickPage>();
  page_ = own_.get();
  draw_first();
}

void TickClock::draw_first() const noexcept {
  const TickSample early = sample();
  while (steady() - Nanos(early.ns) < kFirstWindow) {
  }
  draw(TickLine::first(early, sample()), early);
}

void TickClock::draw(const TickLine& line, const TickSample& past) const noexcept {
  internal::TickPage& page = *page_;
  // Whoever died while drawing left it odd; then it becomes another odd number first.
  const std::uint64_t version = (page.version.load_relaxed() + 1) | 1;  // the lock's alone
  page.version.store_release(version, drawn{});
  page.at.store_release(line.at, drawn{});
  page.ns.store_release(line.ns, drawn{});
  page.slope.store_release(line.slope, drawn{});
  page.next.store_release(line.at + line.ticks_in(kRefineEvery), drawn{});
  page.past_ticks.store_release(past.ticks, drawn{});
  page.past_ns.store_release(past.ns, drawn{});
  page.version.store_release(version + 1, drawn{});
}

bool TickClock::read(TickLine& line) const noexcept {
  const internal::TickPage& page = *page_;
  for (int tries = 0; tries < 64; ++tries) {
    const std::uint64_t version = page.version.load_acquire(drawn{});
    line = {page.at.load_acquire(drawn{}), page.ns.load_acquire(drawn{}),
            page.slope.load_acquire(drawn{})};
    // Relaxed: the words were read with acquire, so this look is not older than they are.
    if (version % 2 == 0 && page.version.load_relaxed() == version) [[likely]]
      return true;
  }
  return false;
}

TickLine TickClock::line() const noexcept {
  TickLine line;
  if (read(line)) [[likely]]
    return line;
  // Somebody was stopped, or died, while drawing. Under the lock it can be told which: a living one
  // is waited for, as it holds it; a dead one's work is done anew.
  const std::lock_guard guard(writer_);
  const bool locked = has_file() && file_->lock(kWriterByte).has_value();
  while (!read(line)) draw_first();
  if (locked) file_->unlock(kWriterByte);
  return line;
}

void TickClock::refine(std::uint64_t ticks) const noexcept {
  internal::TickPage& page = *page_;
  if (ticks < try_again_.load_relaxed()) return;
  const std::unique_lock guard(writer_, std::try_to_lock);
  if (!guard) return;
  TickLine line;
  // Relaxed: only its own writer's, and a hint.
  if (read(line)) try_again_.store_relaxed(ticks + line.ticks_in(kTryAgainAfter));
  const bool shared = has_file();
  if (shared) {
    const auto locked = file_->try_lock(kWriterByte);
    if (!locked || !*locked) return;
  }
  // Again: another may just have done it. Relaxed: under the lock.
  if (ticks >= page.next.load_relaxed()) {
    TickSample past{page.past_ticks.load_relaxed(), page.past_ns.load_relaxed()};
    const TickSample now = sample();
    if (!read(line)) {
      draw_first();  // its writer died
    } else if (now.ticks > past.ticks && now.ns > past.ns) {
      line = line.refined(past, now);
      if (Nanos(now.ns - past.ns) > kWindow) past = now;
      draw(line, past);
    }
  }
  if (shared) file_->unlock(kWriterByte);
}

Nanos TickClock::now() const noexcept {
  if (page_ == nullptr) return steady();
  const std::uint64_t ticks = read_ticks();
  // Relaxed: too late or too early does no harm.
  if (ticks >= page_->next.load_relaxed()) [[unlikely]]
    refine(ticks);
  return line().time_of(ticks);
}

}  // namespace leat
