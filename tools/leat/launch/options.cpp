#include "launch/options.hpp"

#include "quote.hpp"

#include <charconv>
#include <optional>
#include <system_error>
#include <utility>

namespace leat::tool {
namespace {

constexpr std::size_t kProcessesMax = 1024;
constexpr std::size_t kWorkersMax = 4096;

Failure usage(std::string message) {
  return {ExitCode::usage, std::move(message) + " Try: leat launch --help"};
}

std::optional<std::size_t> number_of(std::string_view text, std::size_t most) {
  std::size_t number = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (problem != std::errc{} || end != text.data() + text.size() || number == 0 || number > most) {
    return std::nullopt;
  }
  return number;
}

}  // namespace

std::variant<RunLaunch, ShowLaunchHelp, Failure> parse_launch(
    std::span<const std::string_view> words) {
  RunLaunch run;
  while (!words.empty()) {
    const std::string_view word = words.front();
    if (word == "--help") return ShowLaunchHelp{};
    if (word == "--") words = words.subspan(1);
    if (word == "--" || !word.starts_with('-')) break;
    words = words.subspan(1);
    if (word == "--plain") {
      run.is_plain = true;
      continue;
    }
    // -n2, -n 2, --processes=2, --processes 2
    std::string_view name = word;
    std::optional<std::string_view> value;
    if (const std::size_t equals = word.find('='); word.starts_with("--") && equals != word.npos) {
      name = word.substr(0, equals);
      value = word.substr(equals + 1);
    } else if (!word.starts_with("--") && word.size() > 2) {
      name = word.substr(0, 2);
      value = word.substr(2);
    }
    const bool is_known = name == "-n" || name == "--processes" || name == "-w" ||
                          name == "--workers" || name == "--fabric";
    if (!is_known) return usage("unknown option " + quote(word) + ".");
    if (!value) {
      if (words.empty()) return usage("option " + std::string(name) + " expects a value.");
      value = words.front();
      words = words.subspan(1);
    }
    if (name == "--fabric") {
      if (*value != "shm" && *value != "tcp") {
        return usage("--fabric: expected shm or tcp, found " + quote(*value) + ".");
      }
      run.fabric = *value;
      continue;
    }
    const bool is_processes = name == "-n" || name == "--processes";
    const std::size_t most = is_processes ? kProcessesMax : kWorkersMax;
    const auto number = number_of(*value, most);
    if (!number) {
      return usage(std::string(name) + ": expected a whole number from 1 to " +
                   std::to_string(most) + ", found " + quote(*value) + ".");
    }
    (is_processes ? run.processes : run.workers) = *number;
  }
  if (words.empty()) return usage("expected a program to start, found nothing.");
  run.program.assign(words.begin(), words.end());
  return run;
}

std::string_view launch_help_text() noexcept {
  return R"(leat launch: several processes of one program on this machine, which find each other

  leat launch [-n NUM] [-w NUM] [--fabric shm|tcp] [--plain] [--] PROGRAM [WORDS...]

  -n, --processes NUM   how many (2)
  -w, --workers NUM     worker threads of each (what the program takes by itself)
      --fabric KIND     shm: they share memory (shm); tcp: sockets of this host
      --plain           print lines as they come, without the number of their process
      --help            this text

Each line that a process prints comes with its number before it. The processes learn their place from
LEAT_PROCESSES, LEAT_PROCESS, LEAT_FABRIC, LEAT_CLUSTER, LEAT_WORKERS, and with tcp LEAT_HOSTS and
LEAT_LISTEN; flags of the program override them. leat launch ends with 0 if all of them do, else with what
the first ended with that did not; the others are ended then if they do not end by themselves. Ctrl-C ends
all. Started by hand (-n, -p) processes meet over TCP instead.
)";
}

}  // namespace leat::tool
