#include <leat/core/options.hpp>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <fstream>
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
  fabric,
  cluster,
  secret,
  insecure,
  connect,
  silence,
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
    {"--fabric", Flag::fabric, true},
    {"--cluster", Flag::cluster, true},
    {"--secret-file", Flag::secret, true},
    {"--insecure", Flag::insecure, false},
    {"--connect-timeout", Flag::connect, true},
    {"--peer-timeout", Flag::silence, true},
    {"--help", Flag::help, false},
};
constexpr std::size_t kFlags = static_cast<std::size_t>(Flag::help) + 1;

// In the order of FabricKind.
constexpr std::string_view kFabrics[] = {"auto", "tcp", "shm"};

// In the order of NotifyRule.
constexpr std::string_view kNotifyRules[] = {"edge", "per_message", "first_then_trailing",
                                             "on_done"};

// Worker threads beyond this are a slip of the finger, not a plan.
constexpr std::uint64_t kWorkersMax = 4096;
constexpr std::uint64_t kProcessesMax = 65536;
constexpr std::uint64_t kSpinMicrosMax = 1'000'000'000;
constexpr std::uint64_t kConnectSecondsMax = 1'000'000;
constexpr std::uint64_t kSilenceMillisMax = 1'000'000'000;

constexpr std::string_view kUsage =
    R"(  -w, --workers, --threads NUM   worker threads (1)
      --idle-spin MICROS         how long an idle worker polls before it sleeps; 0: not at all (10)
      --progress-mode MODE       eager or demand (demand)
      --notify RULE              edge, per_message, first_then_trailing or on_done (edge): when workers
                                 tell each other of messages; for measurements
      --name-holders             keep book of which worker holds what, to say where a run is stuck
  -z, --zerocopy                 carry messages between the workers of a process as bytes, too
  -n, --processes NUM            processes (1); started by hand they meet over TCP, under
                                 `leat launch` in shared memory
  -p, --process IDX              which of them this one is (0)
      --fabric KIND              tcp, shm (processes of one host) or auto (auto, which is tcp)
  -h, --hostfile FILE            their addresses, one per line: name:port, [IPv6]:port or unix:/path
                                 (localhost:2101, localhost:2102, ...)
      --cluster WORD             processes that say another word are strangers (leat)
      --secret-file FILE         what all processes know and nobody else; needed to listen on addresses
                                 that others can reach, unless
      --insecure                 says that everybody there is a friend
      --connect-timeout SECONDS  how long to wait for the other processes (300)
      --peer-timeout MILLIS      how long a process may be silent before it counts as lost (10000)
  -r, --report                   say how connecting goes
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
  Parser(std::span<const std::string_view> words, const Environment& environment)
      : words_(words), environment_(environment) {}

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
    if (Result<void> taken = take_environment(); !taken) return std::move(taken).error();
    if (Result<void> agreed = check_processes(); !agreed) return std::move(agreed).error();
    if (Result<void> read = read_hosts(); !read) return std::move(read).error();
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
        network().processes = std::max<std::uint64_t>(1, *number);  // 0 has always meant 1
        return {};
      }
      case Flag::process: {
        const auto number = whole_number(name.spelling, value, 0, kProcessesMax - 1);
        if (!number) return number.error();
        network().process = *number;
        return {};
      }
      case Flag::hostfile:
        if (value.empty()) return expected(name.spelling, "the name of a file", value);
        hostfile_ = value;
        return {};
      case Flag::fabric: {
        const auto* const kind = std::find(std::begin(kFabrics), std::end(kFabrics), value);
        if (kind == std::end(kFabrics)) return expected(name.spelling, "auto, tcp or shm", value);
        network().fabric = static_cast<FabricKind>(kind - std::begin(kFabrics));
        return {};
      }
      case Flag::cluster:
        if (value.empty() || value.size() > kClusterBytesMax) {
          return expected(name.spelling,
                          "a word of 1 to " + std::to_string(kClusterBytesMax) + " bytes", value);
        }
        network().cluster = value;
        return {};
      case Flag::secret:
        if (value.empty()) return expected(name.spelling, "the name of a file", value);
        network().secret_file = value;
        return {};
      case Flag::insecure:
        network().insecure = true;
        return {};
      case Flag::connect: {
        const auto number = whole_number(name.spelling, value, 1, kConnectSecondsMax);
        if (!number) return number.error();
        network().connect_timeout = std::chrono::seconds(*number);
        return {};
      }
      case Flag::silence: {
        const auto number = whole_number(name.spelling, value, 100, kSilenceMillisMax);
        if (!number) return number.error();
        network().peer_timeout = std::chrono::milliseconds(*number);
        return {};
      }
      case Flag::report:
        out_.config.report = true;
        return {};
      case Flag::holders:
        out_.config.name_holders = true;
        return {};
      case Flag::zerocopy:
        out_.config.zerocopy = true;
        return {};
      case Flag::help:
        break;  // asks_for_help saw it
    }
    return {};
  }

  // What no flag said, the environment may say.
  Result<void> take_environment() {
    if (!environment_) return {};
    struct Variable {
      const char* name;
      Flag flag;
    };
    constexpr Variable kVariables[] = {
        {"LEAT_WORKERS", Flag::workers}, {"LEAT_PROCESSES", Flag::processes},
        {"LEAT_PROCESS", Flag::process}, {"LEAT_FABRIC", Flag::fabric},
        {"LEAT_CLUSTER", Flag::cluster}, {"LEAT_SECRET_FILE", Flag::secret}};
    for (const auto& [name, flag] : kVariables) {
      const char* const value = environment_(name);
      if (value == nullptr || !spelt(flag).empty()) continue;
      if (Result<void> taken = apply({name, flag, true}, value); !taken) return taken;
    }
    if (!spelt(Flag::processes).empty() || !spelt(Flag::hostfile).empty()) return {};
    if (const char* const value = environment_("LEAT_LISTEN")) {
      const auto number = whole_number("LEAT_LISTEN", value, 0, 1'000'000);
      if (!number) return number.error();
      network().listener = static_cast<int>(*number);
    }
    if (const char* const value = environment_("LEAT_HOSTS")) {
      std::string_view left = value;
      while (!left.empty()) {
        const std::size_t comma = std::min(left.find(','), left.size());
        network().hosts.emplace_back(left.substr(0, comma));
        left.remove_prefix(std::min(comma + 1, left.size()));
      }
    }
    return {};
  }

  Result<void> check_processes() {
    if (network().process < network().processes) return {};
    const std::string_view flag = spelt(Flag::process);
    return expected(flag.empty() ? "LEAT_PROCESS" : flag,
                    "a number below that of processes, " + std::to_string(network().processes),
                    std::to_string(network().process));
  }

  // One address per line, of the first lines as many as there are processes.
  Result<void> read_hosts() {
    const std::size_t processes = network().processes;
    if (processes == 1) return {};
    if (!hostfile_.empty()) {
      const std::string_view flag = spelt(Flag::hostfile);
      std::ifstream file{std::string(hostfile_)};
      if (!file) return expected(flag, "a file that can be read", hostfile_);
      network().hosts.clear();
      for (std::string line; network().hosts.size() < processes && std::getline(file, line);) {
        if (line.find_first_not_of(" \t\r") == std::string::npos) {
          return Error{std::string(flag) + ": expected an address in line " +
                       std::to_string(network().hosts.size() + 1) + " of " + quoted(hostfile_) +
                       ", found an empty line"};
        }
        network().hosts.push_back(line);
      }
    }
    if (network().hosts.empty() || network().hosts.size() == processes) return {};
    return Error{(hostfile_.empty()
                      ? std::string("LEAT_HOSTS")
                      : std::string(spelt(Flag::hostfile)) + ": " + quoted(hostfile_)) +
                 ": expected an address for each of " + std::to_string(processes) +
                 " processes, found " + std::to_string(network().hosts.size())};
  }

  [[nodiscard]] Network& network() noexcept { return out_.config.network; }
  // How a flag was spelt, if it was there.
  [[nodiscard]] std::string_view spelt(Flag flag) const noexcept {
    return seen_[static_cast<std::size_t>(flag)];
  }

  static constexpr std::size_t kClusterBytesMax = 64;

  std::span<const std::string_view> words_;
  std::size_t next_ = 0;
  ParsedArgs out_;
  std::string_view seen_[kFlags];  // how each flag was spelt where it was seen
  std::string_view hostfile_;
  const Environment& environment_;
};

}  // namespace

Result<ParsedArgs> parse_args(std::span<const std::string_view> words,
                              const Environment& environment) {
  return Parser(words, environment).run();
}

Result<ParsedArgs> parse_args(int argc, const char* const* argv) {
  const std::vector<std::string_view> words(argv + std::min(argc, 1), argv + argc);
  return parse_args(words, [](const char* name) -> const char* { return std::getenv(name); });
}

std::string_view usage() noexcept { return kUsage; }

}  // namespace leat::core
