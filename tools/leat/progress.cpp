#include "progress.hpp"

#include "quote.hpp"
#include "utf8.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <utility>

namespace leat::tool {
namespace {

constexpr Nanos kRedrawEvery = std::chrono::milliseconds(100);
constexpr Nanos kLineEvery = std::chrono::seconds(5);

std::string with_digits(double value, int digits, const char* unit) {
  std::array<char, 64> text{};
  const int size = std::snprintf(text.data(), text.size(), "%.*f%s", digits, value, unit);
  return {text.data(), static_cast<std::size_t>(std::max(size, 0))};
}

}  // namespace

std::string duration_text(Nanos duration) {
  const double seconds = std::chrono::duration<double>(duration).count();
  if (seconds >= 10) return with_digits(seconds, 1, " s");
  if (seconds >= 0.1) return with_digits(seconds, 2, " s");
  if (seconds >= 0.001) return with_digits(seconds * 1e3, 1, " ms");
  if (seconds >= 0.0001) return with_digits(seconds * 1e6, 0, " µs");
  return with_digits(seconds * 1e6, 2, " µs");
}

std::string scaled_text(double number) {
  if (number >= 999.95e6) return with_digits(number / 1e9, 1, " G");
  if (number >= 999.95e3) return with_digits(number / 1e6, 1, " M");
  if (number >= 999.5) return with_digits(number / 1e3, 1, " k");
  return with_digits(number, 0, "");
}

std::string progress_text(std::string_view phase, const Sample& sample, Nanos elapsed) {
  std::string out = std::string(phase) + " " +
                    with_digits(std::chrono::duration<double>(elapsed).count(), 1, " s");
  if (sample.records != 0) out += " · " + grouped(sample.records) + " records in";
  if (sample.iteration) out += " · iteration " + grouped(*sample.iteration);
  if (!sample.frontier.empty()) out += " · frontier " + sample.frontier;
  if (sample.records != 0 && elapsed > Nanos{0}) {
    const double seconds = std::chrono::duration<double>(elapsed).count();
    out += " · " + scaled_text(static_cast<double>(sample.records) / seconds) + " records/s";
  }
  return out;
}

Progress::Progress(Style style, std::function<void(std::string_view)> write, const Clock& clock)
    : style_(style), write_(std::move(write)), clock_(clock) {}

void Progress::enter(std::string_view phase) {
  const std::lock_guard lock(mutex_);
  const Nanos now = clock_.now();
  if (!phases_.empty() && !phases_.back().end) phases_.back().end = now;
  phases_.push_back({std::string(phase), now, std::nullopt});
  sample_ = {};
  if (style_.redraw) {
    draw(now);
  } else if (!drawn_at_) {
    drawn_at_ = now;  // the first line is due five seconds after the start, not at it
  }
}

void Progress::tell(Sample sample) {
  const std::lock_guard lock(mutex_);
  sample_ = std::move(sample);
}

void Progress::tick() {
  const std::lock_guard lock(mutex_);
  const Nanos now = clock_.now();
  if (drawn_at_ && now - *drawn_at_ < (style_.redraw ? kRedrawEvery : kLineEvery)) return;
  draw(now);
}

void Progress::draw(Nanos now) {
  if (stopped_ || phases_.empty()) return;
  drawn_at_ = now;
  std::string line = progress_text(phases_.back().name, sample_, now - phases_.back().begin);
  if (!style_.utf8) line = ascii_text(std::move(line));
  if (!style_.redraw) {
    write_(line + "\n");
    return;
  }
  line.resize(cut_to_columns(line, style_.columns > 1 ? style_.columns - 1 : 1).size());
  // Blanks wipe what is left of a longer line; no escape sequence is needed.
  const std::size_t columns = columns_of(line);
  const std::size_t wipe = drawn_columns_ > columns ? drawn_columns_ - columns : 0;
  write_("\r" + line + std::string(wipe, ' ') + std::string(wipe, '\b'));
  drawn_columns_ = columns;
}

void Progress::clear() {
  if (drawn_columns_ == 0) return;
  write_("\r" + std::string(drawn_columns_, ' ') + "\r");
  drawn_columns_ = 0;
}

void Progress::stop() {
  const std::lock_guard lock(mutex_);
  if (stopped_) return;
  stopped_ = true;
  clear();
  if (!phases_.empty() && !phases_.back().end) phases_.back().end = clock_.now();
}

std::string Progress::timings() const {
  const std::lock_guard lock(mutex_);
  std::string out;
  for (const Phase& phase : phases_) {
    if (!out.empty()) out += " · ";
    out += phase.name + " " + duration_text(phase.end.value_or(clock_.now()) - phase.begin);
  }
  return style_.utf8 ? out : ascii_text(std::move(out));
}

ProgressTicker::ProgressTicker(Progress& progress)
    : progress_(progress), thread_([this] {
        std::unique_lock lock(mutex_);
        while (!ended_.wait_for(lock, kRedrawEvery, [this] { return end_; })) progress_.tick();
      }) {}

ProgressTicker::~ProgressTicker() {
  {
    const std::lock_guard lock(mutex_);
    end_ = true;
  }
  ended_.notify_one();
  thread_.join();
}

}  // namespace leat::tool
