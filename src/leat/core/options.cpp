#include <leat/core/options.hpp>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <optional>
#include <system_error>
#include <utility>

namespace leat::core {
namespace {

enum class Flag {
  workers,
  processes,
  process,
  hostfile,
  report,
  zerocopy,
  mode,
  spin,
  notify,
  holders,
  help
};

struct FlagName {
  std::string_view spelling;  // with its hyphens
  Flag flag;
  bool has_value;
};

constexpr FlagName kFlagNames[] = {
    {"-w", Flag::workers, true},
    {"--workers", Flag::workers, true},
    {"--threads", Flag::workers, true},
    {"-n", Flag::processes, true},
    {"--processes", Flag::processes, true},
    {"-p", Flag::process, true},
    {"--process", Flag::process, true},
    {"-h", Flag::hostfile, true},
    {"--hostfile", Flag::hostfile, true},
    {"-r", Flag::report, false},
    {"--report", Flag::report, false},
    {"-z", Flag::zerocopy, false},
    {"--zerocopy", Flag::zerocopy, false},
    {"--progress-mode", Flag::mode, true},
    {"--idle-spin", Flag::spin, true},
    {"--notify", Flag::notify, true},
    {"--name-holders", Flag::holders, false},
    {"--help", Flag::help, false},
};
constexpr std::size_t kFlags = static_cast<std::size_t>(Flag::help) + 1;

// In the order of NotifyRule.
constexpr std::string_view kNotifyRules[] = {"edge", "per_message", "first_then_trailing",
                                             "on_done"};

// Worker threads beyond this are a slip of the finger, not a plan.
constexpr std::uint64_t kWorkersMax = 4096;
constexpr std::uint64_t kProcessesMax = 65536;
constexpr std::uint64_t kSpinMicrosMax = 1'000'000'000;

constexpr std::string_view kUsage =
    R"(  -w, --workers, --threads NUM   worker threads (1)
      --idle-spin MICROS         how long an idle worker polls before it sleeps; 0: not at all (10)
      --progress-mode MODE       eager or demand (demand)
      --notify RULE              edge, per_message, first_then_trailing or on_done (edge): when workers
                                 tell each other of messages; for measurements
      --name-holders             keep book of which worker holds what, to say where a run is stuck
  -n, --processes NUM            processes (1); more than one is not built yet
  -p, --process IDX              which of them this one is (0)
  -h, --hostfile FILE            their addresses, one per line; with one process it is not read
  -r, --report                   say how connecting goes
  -z, --zerocopy                 serialized queues inside the process; not built yet
      --help                     this text; -h is the host file
)";

const FlagName* find_flag(std::string_view spelling) noexcept {
  const auto* it = std::find_if(std::begin(kFlagNames), std::end(kFlagNames),
                                [&](const FlagName& name) { return name.spelling == spelling; });
  return it == std::end(kFlagNames) ? nullptr : it;
}

std::string quoted(std::string_view text) { return '"' + std::string(text) + '"'; }

Error expected(std::string_view flag, std::string_view what, std::string_view found) {
  return Error{std::string(flag) + ": expected " + std::string(what) + ", found " + quoted(found)};
}

Error unknown_flag(std::string_view word) {
  return Error{"unknown flag " + quoted(word) +
               ": expected one of those that --help lists, or -- before words that begin with a "
               "hyphen"};
}

Error not_built(std::string_view flag, std::string_view what) {
  return Error{std::string(flag) + ": not built yet: " + std::string(what)};
}

Result<std::uint64_t> whole_number(std::string_view flag, std::string_view text, std::uint64_t low,
                                   std::uint64_t high) {
  std::uint64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [stopped, problem] = std::from_chars(text.data(), end, number);
  if (problem != std::errc{} || stopped != end || number < low || number > high) {
    return expected(
        flag, "a whole number from " + std::to_string(low) + " to " + std::to_string(high), text);
  }
  return number;
}

// What the flags said, before it is known how they agree.
class Parser {
 public:
  explicit Parser(std::span<const std::string_view> words) : words_(words) {}

  Result<ParsedArgs> run() {
    if (asks_for_help()) {
      out_.help = true;
      return std::move(out_);
    }
    while (next_ < words_.size()) {
      const std::string_view word = words_[next_++];
      if (word == "--") {
        out_.free.insert(out_.free.end(), words_.begin() + static_cast<std::ptrdiff_t>(next_),
                         words_.end());
        break;
      }
      Result<void> taken;
      if (word.starts_with("--")) {
        taken = take_long(word);
      } else if (word.size() > 1 && word.front() == '-') {
        taken = take_short(word);
      } else {
        out_.free.emplace_back(word);  // "-" alone is a word: by habit it means standard input
      }
      if (!taken) return std::move(taken).error();
    }
    if (Result<void> agreed = check_processes(); !agreed) return std::move(agreed).error();
    return std::move(out_);
  }

 private:
  bool asks_for_help() const {
    const auto end = std::find(words_.begin(), words_.end(), "--");
    return std::find(words_.begin(), end, "--help") != end;
  }

  Result<void> take_long(std::string_view word) {
    const std::size_t equals = word.find('=');
    const std::string_view spelling = word.substr(0, equals);
    const FlagName* const name = find_flag(spelling);
    if (name == nullptr) return unknown_flag(spelling);
    if (equals == std::string_view::npos) return take(*name, std::nullopt);
    if (!name->has_value) return expected(spelling, "no value", word.substr(equals + 1));
    return take(*name, word.substr(equals + 1));
  }

  // -rw2 is -r -w 2: flags without a value may share a hyphen, and the last may bring its value.
  Result<void> take_short(std::string_view word) {
    for (std::size_t i = 1; i < word.size(); ++i) {
      const char spelling[] = {'-', word[i]};
      const FlagName* const name = find_flag({spelling, 2});
      if (name == nullptr) return unknown_flag(word);
      const std::string_view rest = word.substr(i + 1);
      if (name->has_value) {
        return take(*name, rest.empty() ? std::nullopt : std::optional(rest));
      }
      if (Result<void> taken = take(*name, std::nullopt); !taken) return taken;
    }
    return {};
  }

  Result<void> take(const FlagName& name, std::optional<std::string_view> value) {
    std::string_view& seen = seen_[static_cast<std::size_t>(name.flag)];
    if (!seen.empty()) {
      return Error{std::string(name.spelling) + ": expected once, found again" +
                   (seen == name.spelling ? std::string() : " after " + std::string(seen))};
    }
    seen = name.spelling;
    if (name.has_value && !value) {
      if (next_ == words_.size()) {
        return Error{std::string(name.spelling) +
                     ": expected a value, found the end of the command line"};
      }
      value = words_[next_++];
    }
    return apply(name, value.value_or(std::string_view{}));
  }

  Result<void> apply(const FlagName& name, std::string_view value) {
    switch (name.flag) {
      case Flag::workers: {
        const auto number = whole_number(name.spelling, value, 1, kWorkersMax);
        if (!number) return number.error();
        out_.config.workers = *number;
        return {};
      }
      case Flag::spin: {
        const auto number = whole_number(name.spelling, value, 0, kSpinMicrosMax);
        if (!number) return number.error();
        out_.config.idle_spin = std::chrono::microseconds(*number);
        return {};
      }
      case Flag::mode:
        if (value != "eager" && value != "demand") {
          return expected(name.spelling, "eager or demand", value);
        }
        out_.config.progress_mode = value == "eager" ? ProgressMode::eager : ProgressMode::demand;
        return {};
      case Flag::notify: {
        const auto* const rule = std::find(std::begin(kNotifyRules), std::end(kNotifyRules), value);
        if (rule == std::end(kNotifyRules)) {
          return expected(name.spelling, "edge, per_message, first_then_trailing or on_done",
                          value);
        }
        out_.config.notify = static_cast<NotifyRule>(rule - std::begin(kNotifyRules));
        return {};
      }
      case Flag::processes: {
        const auto number = whole_number(name.spelling, value, 0, kProcessesMax);
        if (!number) return number.error();
        processes_ = std::max<std::uint64_t>(1, *number);  // 0 has always meant 1
        return {};
      }
      case Flag::process: {
        const auto number = whole_number(name.spelling, value, 0, kProcessesMax - 1);
        if (!number) return number.error();
        process_ = *number;
        return {};
      }
      case Flag::hostfile:
        if (value.empty()) return expected(name.spelling, "the name of a file", value);
        return {};
      case Flag::report:
        out_.config.report = true;
        return {};
      case Flag::holders:
        out_.config.name_holders = true;
        return {};
      case Flag::zerocopy:
        return not_built(name.spelling, "serialized queues; leave the flag out");
      case Flag::help:
        break;  // asks_for_help saw it
    }
    return {};
  }

  Result<void> check_processes() const {
    const std::string_view process_flag = seen_[static_cast<std::size_t>(Flag::process)];
    if (process_ >= processes_) {
      return expected(process_flag,
                      "a number below that of processes, " + std::to_string(processes_),
                      std::to_string(process_));
    }
    if (processes_ > 1) {
      return not_built(seen_[static_cast<std::size_t>(Flag::processes)],
                       "expected 1 process, found \"" + std::to_string(processes_) +
                           "\"; take more workers instead, with -w");
    }
    return {};
  }

  std::span<const std::string_view> words_;
  std::size_t next_ = 0;
  ParsedArgs out_;
  std::string_view seen_[kFlags];  // how each flag was spelt where it was seen
  std::uint64_t processes_ = 1;
  std::uint64_t process_ = 0;
};

}  // namespace

Result<ParsedArgs> parse_args(std::span<const std::string_view> words) {
  return Parser(words).run();
}

Result<ParsedArgs> parse_args(int argc, const char* const* argv) {
  const std::vector<std::string_view> words(argv + std::min(argc, 1), argv + argc);
  return parse_args(words);
}

std::string_view usage() noexcept { return kUsage; }

}  // namespace leat::core
