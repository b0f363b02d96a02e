#include "options.hpp"

#include "flow_graph.hpp"
#include "quote.hpp"

#include <charconv>
#include <cstdint>
#include <system_error>

namespace leat::tool {
namespace {

constexpr std::size_t kWorkersMax = 1024;
constexpr std::string_view kTryRunHelp = " Try: leat run --help";

Failure usage(std::string message) { return {ExitCode::usage, std::move(message)}; }

std::optional<std::uint64_t> number_in(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return value;
}

/// The words of `leat run packages`, taken one after the other.
class RunParser {
 public:
  explicit RunParser(std::span<const std::string_view> words) : words_(words) {}

  std::variant<Command, Failure> parse() {
    while (!words_.empty() && !failure_) {
      const std::string_view word = take();
      if (word == "--") {
        if (!words_.empty()) fail_on_word(words_.front());
        break;
      }
      if (!word.starts_with('-') || word == "-") {
        fail_on_word(word);
      } else if (word == "--help") {
        return Command{ShowHelp{.of_run = true}};
      } else {
        option(word);
      }
    }
    if (!failure_ && run_.why && !run_.without.empty()) {
      failure_ = usage("--why and --without ask different questions: give one of them." +
                       std::string(kTryRunHelp));
    }
    if (failure_) return *std::move(failure_);
    return Command{std::move(run_)};
  }

 private:
  std::string_view take() {
    const std::string_view word = words_.front();
    words_ = words_.subspan(1);
    return word;
  }

  void fail_on_word(std::string_view word) {
    failure_ = usage("unexpected word " + quote(word) + " after \"leat run packages\"." +
                     std::string(kTryRunHelp));
  }

  void option(std::string_view word) {
    std::string_view name = word;
    if (word.starts_with("--")) {
      if (const std::size_t equals = word.find('='); equals != std::string_view::npos) {
        name = word.substr(0, equals);
        attached_ = word.substr(equals + 1);
      }
    } else if (word.size() > 2) {  // -w4
      name = word.substr(0, 2);
      attached_ = word.substr(2);
    }
    if (name == "--top") {
      if (const auto value = number(name, 1, UINT32_MAX)) run_.top = *value;
    } else if (name == "--workers" || name == "--threads" || name == "-w") {
      if (const auto value = number(name, 1, kWorkersMax)) run_.workers = *value;
    } else if (name == "--idle-spin") {
      if (const auto value = number(name, 0, 60'000'000)) {
        run_.idle_spin = std::chrono::microseconds(*value);
      }
    } else if (name == "--format") {
      format(name);
    } else if (name == "--input") {
      if (const auto file = value(name, "a file, or - for standard input")) {
        run_.input = std::string(*file);
      }
    } else if (name == "--graph") {
      graph(name);
    } else if (name == "--without") {
      without(name);
    } else if (name == "--why") {
      why(name);
    } else {
      failure_ = usage("unknown option " + quote(name) + "." + std::string(kTryRunHelp));
    }
    if (attached_ && !failure_) {
      failure_ = usage("option " + std::string(name) + " takes no value after \"=\"." +
                       std::string(kTryRunHelp));
    }
    attached_.reset();
  }

  /// The value of an option: what stands behind "=", else the next word, whatever it begins with.
  std::optional<std::string_view> value(std::string_view name, std::string_view expected) {
    if (attached_) return std::exchange(attached_, std::nullopt);
    if (!words_.empty()) return take();
    failure_ = usage("option " + std::string(name) + " expects " + std::string(expected) +
                     ", found nothing." + std::string(kTryRunHelp));
    return std::nullopt;
  }

  void expected(std::string_view name, std::string_view what, std::string_view found) {
    failure_ = usage("option " + std::string(name) + " expects " + std::string(what) + ", found " +
                     quote(found) + "." + std::string(kTryRunHelp));
  }

  std::optional<std::size_t> number(std::string_view name, std::uint64_t least,
                                    std::uint64_t most) {
    const std::string range =
        "a number from " + std::to_string(least) + " to " + std::to_string(most);
    const auto text = value(name, range);
    if (!text) return std::nullopt;
    const auto found = number_in(*text);
    if (found && *found >= least && *found <= most) return *found;
    expected(name, range, *text);
    return std::nullopt;
  }

  void format(std::string_view name) {
    constexpr std::string_view kFormats = "table, json or csv";
    const auto text = value(name, kFormats);
    if (!text) return;
    if (*text == "table") {
      run_.format = Format::table;
    } else if (*text == "json") {
      run_.format = Format::json;
    } else if (*text == "csv") {
      run_.format = Format::csv;
    } else {
      expected(name, kFormats, *text);
    }
  }

  void graph(std::string_view name) {
    constexpr std::string_view kFile = "a file name that ends in .dot, .gv or .svg";
    const auto file = value(name, kFile);
    if (!file) return;
    if (!is_flow_graph_file(*file)) return expected(name, kFile, *file);
    run_.graph = std::string(*file);
  }

  /// Takes all words up to the next option.
  void without(std::string_view name) {
    if (attached_)
      run_.without.emplace_back(*std::exchange(attached_, std::nullopt));
    else if (const auto first = value(name, "a package"))
      run_.without.emplace_back(*first);
    if (failure_) return;
    if (run_.without.back().empty() || run_.without.back().front() == '-') {
      return expected(name, "a package", run_.without.back());
    }
    while (!words_.empty() && !words_.front().starts_with('-')) run_.without.emplace_back(take());
  }

  void why(std::string_view name) {
    constexpr std::string_view kTwo =
        "two packages, the one that breaks and the one it breaks without";
    const auto package = value(name, kTwo);
    if (!package) return;
    if (words_.empty() || words_.front().starts_with('-') || package->starts_with('-')) {
      return expected(name, kTwo, *package);
    }
    run_.why = {std::string(*package), std::string(take())};
  }

  std::span<const std::string_view> words_;
  RunPackages run_;
  std::optional<std::string_view> attached_;  // the part of a word behind "="
  std::optional<Failure> failure_;
};

}  // namespace

std::variant<Command, Failure> parse_command(std::span<const std::string_view> words) {
  if (words.empty()) {
    return usage("expected a command, found nothing. Try: leat run packages, or leat --help");
  }
  const std::string_view first = words.front();
  if (first == "--help" || first == "help") return Command{ShowHelp{}};
  if (first == "--version") return Command{ShowVersion{}};
  if (first.starts_with('-')) {
    return usage("unknown option " + quote(first) + ". Try: leat --help");
  }
  if (first != "run") {
    return usage("unknown command " + quote(first) + ". Try: leat run packages, or leat --help");
  }
  words = words.subspan(1);
  if (words.empty()) {
    return usage("run expects the name of a job, found nothing. Try: leat run packages");
  }
  if (words.front() == "--help") return Command{ShowHelp{.of_run = true}};
  if (words.front() != "packages") {
    return usage("unknown job " + quote(words.front()) + ". Try: leat run packages");
  }
  return RunParser(words.subspan(1)).parse();
}

std::string_view help_text() noexcept {
  return R"(leat: dataflows, queues and actors over one coordination core

Usage:
  leat run packages [option...]   rank the packages of this machine by what breaks without them
  leat run --help                 all options of that
  leat queues [command...]        look at the rings that processes share on this machine
  leat queues --help              all commands of that
  leat tiles [command...]         look at tiles: who is slow, who is stuck; --help
  leat record APP/NAME --into DIR write a channel down as it comes; --help
  leat replay DIR                 read what was recorded, or play it back; --help
  leat launch [option...] PROGRAM start several processes of a program that share a dataflow
  leat launch --help              all options of that
  leat --version
  leat --help

Exit codes: 0 done, 1 the machine said no, 2 usage, 5 input that makes no sense, 130 interrupted
)";
}

std::string_view run_help_text() noexcept {
  return R"(leat run packages: rank the packages of this machine by what breaks without them

Usage: leat run packages [option...]

Reads apt's package index, else dpkg's status file, else a small sample that comes with leat. The
ranking goes to standard output, progress and figures to standard error.

Questions (without any: the ranking)
  --without PKG...       what could not be installed without PKG, by distance; further packages are
                         answered from the running dataflow, each with its time
  --why PKG ROOT         one chain of reasons why PKG breaks without ROOT

Input and output
  --input FILE           rank the nodes of an edge list instead: a line "FROM TO" says that FROM needs
                         TO; - is standard input; .gz, .xz and .lz4 are understood
  --top N                rows of the ranking (default 20)
  --format FORMAT        table, json or csv (default table)
  --graph FILE           also write the dataflow as a picture: .dot, .gv or .svg

Workers
  -w N, --workers N, --threads N
                         worker threads (default: as many as there are CPUs to run on); of several
                         processes ("leat launch -n 2 -- leat run packages"), of each: they share the
                         work, and the first one prints what came of it
  --idle-spin MICROS     how long an idle worker polls before it sleeps; 0: not at all (default 10)

  --help                 this text

Colours and unicode follow the terminal and the locale; NO_COLOR is respected.
Exit codes: 0 done, 1 the machine said no, 2 usage, 5 input that makes no sense, 130 interrupted
)";
}

}  // namespace leat::tool
