#include <leat/actor/preempt/ticker.hpp>

#include <leat/base/check.hpp>
#include <leat/base/os/thread_name.hpp>

namespace leat::actor {

Ticker::Ticker(Nanos period) : period_(period) {
  LEAT_CHECK(period > Nanos{0}, "a ticker with a period of no time");
  thread_ = std::thread([this] { run(); });
}

Ticker::~Ticker() {
  over_.store_relaxed(true);
  parker_.unpark();
  thread_.join();
}

void Ticker::busy() noexcept {
  if (busy_.fetch_add_seq_cst(1, work{}, work{}) == 0) parker_.ring();
}

void Ticker::run() {
  os::set_thread_name("leat ticker");
  while (!over_.load_relaxed()) {
    const bool needed = busy_.load_relaxed() != 0;  // looked at again before it sleeps for long
    if (needed) {
      parker_.park([] { return false; }, period_);
      ticks_.fetch_add_relaxed(1);
    } else {
      parker_.park([this] { return over_.load_relaxed() || busy_.load_seq_cst(work{}) != 0; });
    }
  }
}

}  // namespace leat::actor
