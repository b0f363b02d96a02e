#include "queues/options.hpp"

#include <leat/base/time/text.hpp>
#include "quote.hpp"

#include <charconv>
#include <system_error>
#include <utility>

namespace leat::tool {
namespace {

constexpr std::string_view kTryHelp = " Try: leat queues --help";

Failure usage(std::string message) {
  return {ExitCode::usage, std::move(message) + std::string(kTryHelp)};
}

using Action = RunQueues::Action;

std::optional<Action> action_called(std::string_view word) {
  if (word == "list") return Action::list;
  if (word == "inspect") return Action::inspect;
  if (word == "watch") return Action::watch;
  if (word == "tail") return Action::tail;
  if (word == "clean") return Action::clean;
  return std::nullopt;
}

class QueuesParser {
 public:
  explicit QueuesParser(std::span<const std::string_view> words) : words_(words) {}

  std::variant<RunQueues, ShowQueuesHelp, Failure> parse() {
    if (!words_.empty() && !words_.front().starts_with('-')) {
      const std::string_view word = take();
      const auto action = action_called(word);
      if (!action) {
        return usage("unknown command " + quote(word) +
                     " after \"leat queues\": expected list, inspect, watch, tail or clean.");
      }
      run_.action = *action;
    }
    while (!words_.empty() && !failure_) {
      const std::string_view word = take();
      if (word == "--help") return ShowQueuesHelp{};
      if (word.starts_with('-')) {
        option(word);
      } else {
        name(word);
      }
    }
    if (!failure_) check();
    if (failure_) return *std::move(failure_);
    return run_;
  }

 private:
  std::string_view take() {
    const std::string_view word = words_.front();
    words_ = words_.subspan(1);
    return word;
  }

  void name(std::string_view word) {
    if (run_.name) {
      failure_ = usage("unexpected word " + quote(word) + ": one segment was named already.");
      return;
    }
    if (const std::size_t slash = word.find('/'); slash != std::string_view::npos) {
      run_.space = std::string(word.substr(0, slash));
      word = word.substr(slash + 1);
    }
    run_.name = std::string(word);
  }

  void option(std::string_view word) {
    std::string_view name = word;
    std::optional<std::string_view> attached;
    if (const std::size_t equals = word.find('='); equals != std::string_view::npos) {
      name = word.substr(0, equals);
      attached = word.substr(equals + 1);
    }
    const auto value = [&](const char* expected) -> std::optional<std::string_view> {
      if (attached) return std::exchange(attached, std::nullopt);
      if (!words_.empty()) return take();
      failure_ = usage("option " + std::string(name) + " expects " + expected + ", found nothing.");
      return std::nullopt;
    };
    if (name == "--json") {
      run_.json = true;
    } else if (name == "--force") {
      run_.force = true;
    } else if (name == "--base") {
      if (const auto folder = value("a folder")) run_.base = std::string(*folder);
    } else if (name == "--space") {
      if (const auto space = value("a namespace")) run_.space = std::string(*space);
    } else if (name == "--interval") {
      if (const auto text = value("a time, as in 500ms")) interval(*text);
    } else if (name == "--count") {
      if (const auto text = value("a number from 1 on")) count(*text);
    } else if (name == "--from") {
      if (const auto text = value("oldest or latest")) from(*text);
    } else {
      failure_ = usage("unknown option " + quote(name) + ".");
    }
    if (attached && !failure_) {
      failure_ = usage("option " + std::string(name) + " takes no value.");
    }
  }

  void interval(std::string_view text) {
    const auto time = parse_duration(text);
    if (time && *time >= std::chrono::milliseconds(1)) {
      run_.interval = *time;
    } else {
      failure_ = usage("option --interval expects a time of 1ms or more, as in 500ms, found " +
                       quote(text) + ".");
    }
  }

  void count(std::string_view text) {
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error == std::errc() && end == text.data() + text.size() && number > 0) {
      run_.count = number;
    } else {
      failure_ = usage("option --count expects a number from 1 on, found " + quote(text) + ".");
    }
  }

  void from(std::string_view text) {
    if (text == "oldest" || text == "latest") {
      run_.from_oldest = text == "oldest";
    } else {
      failure_ = usage("option --from expects oldest or latest, found " + quote(text) + ".");
    }
  }

  void check() {
    const bool needs_name = run_.action == Action::inspect || run_.action == Action::tail;
    if (needs_name && !run_.name) {
      failure_ =
          usage(std::string("leat queues ") + (run_.action == Action::tail ? "tail" : "inspect") +
                " expects the name of a segment, found nothing.");
    } else if (run_.force && run_.action != Action::clean) {
      failure_ = usage("option --force is for leat queues clean.");
    } else if (run_.from_oldest && run_.action != Action::tail) {
      failure_ = usage("option --from is for leat queues tail.");
    }
  }

  std::span<const std::string_view> words_;
  RunQueues run_;
  std::optional<Failure> failure_;
};

}  // namespace

core::SegmentName RunQueues::segment() const {
  return {name.value_or(""), space.value_or("default"), base};
}

std::variant<RunQueues, ShowQueuesHelp, Failure> parse_queues(
    std::span<const std::string_view> words) {
  return QueuesParser(words).parse();
}

std::string_view queues_help_text() noexcept {
  return R"(leat queues: look at the rings and other segments that processes share on this machine

Usage:
  leat queues [list]           all segments: what they hold, who takes part, who died
  leat queues inspect NAME     one of them: its header, participants, ends and groups
  leat queues watch [NAME]     again and again: how full, how fast, who lags, what was lost
  leat queues tail NAME        the messages of a ring as they come, as bytes
  leat queues clean [NAME]     remove what nobody uses; what is in use is refused

NAME is the name of a segment, or SPACE/NAME.

  --space SPACE      only segments of that namespace (default: all; of a NAME: default)
  --base DIR         where they are (default: $LEAT_SEGMENTS, else /dev/shm/leat-<user id>)
  --json             for programs: one value; with watch and tail one a line
  --interval TIME    between looks, as in 500ms (default 1s)
  --count N          end after N looks, or N messages
  --from WHERE       tail: oldest or latest (default latest)
  --force            clean: remove what is in use, too, and what is damaged
  --help             this text

Exit codes: 0 done, 1 the machine said no or somebody lives, 2 usage
)";
}

}  // namespace leat::tool
