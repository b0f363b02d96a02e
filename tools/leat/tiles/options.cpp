#include "tiles/options.hpp"

#include <leat/base/time/text.hpp>
#include "quote.hpp"

#include <charconv>
#include <cstdlib>
#include <functional>
#include <system_error>
#include <utility>

namespace leat::tool {
namespace {

constexpr std::string_view kTilesHelp = R"(leat tiles: look at the tiles that run on this machine

Usage:
  leat tiles [list] [APP]        all tiles: state, last sign of life, utilisation, backlog, loss
  leat tiles watch [APP]         again and again, with what happened in between
  leat tiles timers [APP]        how long messages took, and their handling: percentiles of all
  leat tiles halt APP [TILE]     tell a tile, or all of an application, to end

APP is the namespace of an application: the name that its spine was opened with.

  --base DIR         where they are (default: $LEAT_SEGMENTS, else /dev/shm/leat-<user id>)
  --json             for programs: one value; with watch one a line
  --interval TIME    between looks, as in 500ms (default 1s)
  --count N          watch: end after N looks
  --help             this text

Exit codes: 0 done, 1 the machine said no or there is no such tile, 2 usage
)";

constexpr std::string_view kRecordHelp =
    R"(leat record: write the messages of a ring down as they come

Usage:
  leat record APP/NAME --into FOLDER

NAME is a channel of the application APP (or any ring of the namespace APP). Ends at Ctrl-C, and as told.

  --into FOLDER      the log; it is made, or gone on with
  --from WHERE       oldest or latest (default latest)
  --reliable         producers wait for us; the ring must be reliable
  --count N          end after N messages
  --idle TIME        end when nothing came for so long
  --sync WHEN        none, each, or a time (default 1s)
  --segment-bytes N  of a file of the log (default 67108864)
  --keep-bytes N     remove the oldest files beyond so many bytes (default 0: keep all)
  --base DIR         where the ring is (default: $LEAT_SEGMENTS, else /dev/shm/leat-<user id>)
  --json             for programs: one line at the end
  --help             this text

Exit codes: 0 done, 1 the machine said no, 2 usage
)";

constexpr std::string_view kReplayHelp =
    R"(leat replay: read a recorded log, or play it back into a ring

Usage:
  leat replay FOLDER                   print its records
  leat replay FOLDER --info            print what it holds
  leat replay FOLDER --into APP/NAME   produce them into a channel

  --pace HOW         full, original, or steps: one for each line of standard input (default full)
  --speed X          original, X times as fast (default 1)
  --from SEQUENCE    begin with that record (default: the first that is there)
  --count N          end after N records
  --base DIR         where the ring is (default: $LEAT_SEGMENTS, else /dev/shm/leat-<user id>)
  --json             for programs: one record a line
  --help             this text

Exit codes: 0 done, 1 the machine said no, 2 usage
)";

/// The words of one command: `--name value`, `--name=value`, and others.
class Words {
 public:
  Words(std::span<const std::string_view> words, std::string command)
      : words_(words), command_(std::move(command)) {}

  /// Calls `option(name)` or `other(word)` for each; false if --help is among them.
  bool read(const std::function<bool(std::string_view)>& option,
            const std::function<void(std::string_view)>& other) {
    while (!words_.empty() && !failure_) {
      const std::string_view word = take();
      if (word == "--help") return false;
      if (!word.starts_with('-')) {
        other(word);
        continue;
      }
      std::string_view name = word;
      attached_.reset();
      if (const std::size_t equals = word.find('='); equals != std::string_view::npos) {
        name = word.substr(0, equals);
        attached_ = word.substr(equals + 1);
      }
      name_ = std::string(name);
      if (!option(name) && !failure_) fail("unknown option " + quote(name) + ".");
      if (attached_ && !failure_) fail("option " + name_ + " takes no value.");
    }
    return true;
  }

  void fail(const std::string& message) {
    if (!failure_) {
      failure_ = Failure{ExitCode::usage, message + " Try: leat " + command_ + " --help"};
    }
  }
  [[nodiscard]] const std::optional<Failure>& failure() const noexcept { return failure_; }

  std::optional<std::string_view> value(const char* expected) {
    if (attached_) return std::exchange(attached_, std::nullopt);
    if (!words_.empty()) return take();
    fail("option " + name_ + " expects " + expected + ", found nothing.");
    return std::nullopt;
  }
  template <class T>
  bool number(T& to, std::uint64_t low) {
    const std::string expected = "a number from " + std::to_string(low) + " on";
    const auto text = value(expected.c_str());
    if (!text) return true;
    std::uint64_t found = 0;
    const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), found);
    if (error == std::errc() && end == text->data() + text->size() && found >= low) {
      to = found;
    } else {
      fail("option " + name_ + " expects " + expected + ", found " + quote(*text) + ".");
    }
    return true;
  }
  template <class T>
  bool time(T& to) {
    const auto text = value("a time, as in 500ms");
    if (!text) return true;
    const auto found = parse_duration(*text);
    if (found && *found > Nanos{0}) {
      to = *found;
    } else {
      fail("option " + name_ + " expects a time, as in 500ms, found " + quote(*text) + ".");
    }
    return true;
  }
  template <class T>
  bool text(T& to, const char* expected) {
    if (const auto found = value(expected)) to = T(std::string(*found));
    return true;
  }
  template <class Take>
  bool one_of(std::initializer_list<std::pair<std::string_view, int>> choices, Take&& take_it) {
    std::string names;
    for (const auto& [name, number] : choices) {
      static_cast<void>(number);
      names += (names.empty() ? "" : " or ") + std::string(name);
    }
    const auto text = value(names.c_str());
    if (!text) return true;
    for (const auto& [name, number] : choices) {
      if (*text == name) return take_it(number), true;
    }
    fail("option " + name_ + " expects " + names + ", found " + quote(*text) + ".");
    return true;
  }

 private:
  std::string_view take() {
    const std::string_view word = words_.front();
    words_ = words_.subspan(1);
    return word;
  }

  std::span<const std::string_view> words_;
  std::string command_;
  std::string name_;
  std::optional<std::string_view> attached_;
  std::optional<Failure> failure_;
};

/// "app/name"; a bare name of a channel is looked for under `channel.`, too, when it is opened.
std::optional<core::SegmentName> ring_called(std::string_view word) {
  const std::size_t slash = word.find('/');
  if (slash == std::string_view::npos || slash == 0 || slash + 1 == word.size()) {
    return std::nullopt;
  }
  core::SegmentName name;
  name.space = std::string(word.substr(0, slash));
  name.name = std::string(word.substr(slash + 1));
  return name;
}

}  // namespace

std::variant<RunTiles, ShowTileHelp, Failure> parse_tiles(std::span<const std::string_view> all) {
  RunTiles run;
  using Action = RunTiles::Action;
  if (!all.empty() && !all.front().starts_with('-')) {
    const std::string_view word = all.front();
    bool known = true;
    if (word == "list") {
      run.action = Action::list;
    } else if (word == "watch") {
      run.action = Action::watch;
    } else if (word == "timers") {
      run.action = Action::timers;
    } else if (word == "halt") {
      run.action = Action::halt;
    } else {
      known = false;  // the name of an application
    }
    if (known) all = all.subspan(1);
  }
  Words words(all, "tiles");
  const bool runs = words.read(
      [&](std::string_view name) {
        if (name == "--json") return run.json = true;
        if (name == "--base") return words.text(run.base, "a folder");
        if (name == "--interval") return words.time(run.interval);
        if (name == "--count") return words.number(run.count, 1);
        return false;
      },
      [&](std::string_view word) {
        if (!run.app) {
          run.app = std::string(word);
        } else if (!run.tile && run.action == Action::halt) {
          run.tile = std::string(word);
        } else {
          words.fail("unexpected word " + quote(word) + ".");
        }
      });
  if (!runs) return ShowTileHelp{kTilesHelp};
  if (run.action == Action::halt && !run.app) {
    words.fail("leat tiles halt expects an application, found nothing.");
  }
  if (words.failure()) return *words.failure();
  return run;
}

std::variant<RunRecord, ShowTileHelp, Failure> parse_record(std::span<const std::string_view> all) {
  RunRecord run;
  Words words(all, "record");
  bool named = false;
  std::filesystem::path base;
  const bool runs = words.read(
      [&](std::string_view name) {
        if (name == "--json") return run.json = true;
        if (name == "--reliable") return run.reliable = true;
        if (name == "--into") return words.text(run.folder, "a folder");
        if (name == "--base") return words.text(base, "a folder");
        if (name == "--count") return words.number(run.count, 1);
        if (name == "--idle") return words.time(run.idle);
        if (name == "--segment-bytes") return words.number(run.segment_bytes, 4096);
        if (name == "--keep-bytes") return words.number(run.keep_bytes, 0);
        if (name == "--sync") {
          words.text(run.sync, "none, each, or a time");
          if (run.sync != "none" && run.sync != "each" && !parse_duration(run.sync)) {
            words.fail("option --sync expects none, each, or a time, found " + quote(run.sync) +
                       ".");
          }
          return true;
        }
        if (name == "--from") {
          return words.one_of({{"oldest", 1}, {"latest", 0}},
                              [&](int found) { run.from_oldest = found == 1; });
        }
        return false;
      },
      [&](std::string_view word) {
        const auto ring = ring_called(word);
        if (named || !ring) {
          words.fail("leat record expects one APP/NAME, found " + quote(word) + ".");
          return;
        }
        run.ring = *ring;
        named = true;
      });
  if (!runs) return ShowTileHelp{kRecordHelp};
  if (!named) words.fail("leat record expects an APP/NAME, found nothing.");
  if (run.folder.empty()) words.fail("leat record expects --into FOLDER, found nothing.");
  if (words.failure()) return *words.failure();
  run.ring.base = base;
  return run;
}

std::variant<RunReplay, ShowTileHelp, Failure> parse_replay(std::span<const std::string_view> all) {
  RunReplay run;
  Words words(all, "replay");
  std::filesystem::path base;
  const bool runs = words.read(
      [&](std::string_view name) {
        if (name == "--json") return run.json = true;
        if (name == "--info") return run.info = true;
        if (name == "--base") return words.text(base, "a folder");
        if (name == "--from") return words.number(run.from, 0);
        if (name == "--count") return words.number(run.count, 1);
        if (name == "--into") {
          const auto text = words.value("an APP/NAME");
          if (text && !(run.into = ring_called(*text))) {
            words.fail("option --into expects an APP/NAME, found " + quote(*text) + ".");
          }
          return true;
        }
        if (name == "--pace") {
          return words.one_of({{"full", 1}, {"original", 0}, {"steps", 2}},
                              [&](int found) { run.pace = static_cast<RunReplay::Pace>(found); });
        }
        if (name == "--speed") {
          const auto text = words.value("a number above 0");
          if (text) run.speed = std::strtod(std::string(*text).c_str(), nullptr);
          if (text && !(run.speed > 0)) {
            words.fail("option --speed expects a number above 0, found " + quote(*text) + ".");
          }
          return true;
        }
        return false;
      },
      [&](std::string_view word) {
        if (!run.folder.empty()) {
          words.fail("unexpected word " + quote(word) + ": one folder was named already.");
        } else {
          run.folder = std::string(word);
        }
      });
  if (!runs) return ShowTileHelp{kReplayHelp};
  if (run.folder.empty()) words.fail("leat replay expects a folder, found nothing.");
  if (words.failure()) return *words.failure();
  if (run.into) run.into->base = base;
  return run;
}

}  // namespace leat::tool
