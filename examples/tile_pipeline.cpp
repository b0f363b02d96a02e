// Three tiles in a row: visits are parsed from lines of text, each is given its country by the range that
// its address is in, and visits are counted by country. The first channel is recorded on the way; then the
// recording is played into the same tiles again, and must give the same counts.
//
//   tile_pipeline all [VISITS] [RANGES]     all of it in this process
//   tile_pipeline front [VISITS] [RANGES]   the first two tiles, in one terminal
//   tile_pipeline back                      the last one, in another; either may come first
//
// VISITS is 100000 unless told otherwise. RANGES is a file with lines "first,last,country" of addresses as
// numbers: /usr/share/tor/geoip of the Debian package tor-geoipdb, if it is there; else, and for the word
// "sample", a few ranges that are part of the program. `all sample` prints, of 20000 visits:
//   20000 visits: AA 4966, BB 5033, CC 5005, ?? 4996
//   aggregate: 20000 timed
//   recorded 20000, replayed the same
// While it runs, `leat tiles` shows the tiles, and `leat tiles timers` how long messages take.

#include <leat/base/fields.hpp>
#include <leat/base/hash.hpp>
#include <leat/base/inline_string.hpp>
#include <leat/tile.hpp>

#include "arguments.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace t = leat::tile;

namespace {

// [spine]
struct Visit {
  std::uint32_t address = 0;
  std::uint32_t is_last = 0;
};
LEAT_FIELDS(Visit, address, is_last);

struct Located {
  leat::InlineString<4> country;
  std::uint32_t is_last = 0;
};
LEAT_FIELDS(Located, country, is_last);

struct Pipeline {
  t::Channel<"visits", Visit, {.size = 4096, .persist = true, .reliable = true, .wakeable = true}>
      visits;
  t::Channel<"located", Located, {.size = 4096, .reliable = true, .wakeable = true}> located;
};
using Tile = t::Adapter<Pipeline>;
// [/spine]

constexpr int kMessagesPerPass = 256;

/// Lines as a server would write them: "10.20.30.40 GET /".
std::string line(std::uint64_t number) {
  const std::uint64_t random = leat::mix64(number + 1);
  std::string text;
  for (int part = 3; part >= 0; --part) {
    text += std::to_string(random >> (8 * part) & 255) + (part > 0 ? "." : " GET /");
  }
  return text;
}

/// The address that a line begins with.
std::uint32_t parse(std::string_view text) {
  std::uint32_t address = 0;
  const char* at = text.data();
  for (int part = 0; part < 4; ++part) {
    unsigned byte = 0;
    at = std::from_chars(at, text.data() + text.size(), byte).ptr + 1;
    address = address << 8 | (byte & 255);
  }
  return address;
}

// [parse]
/// Sends visits until all are sent, then one that says so, and asks for the end.
class Parse {
 public:
  Parse(std::uint64_t visits, bool waits_for_peer) : visits_(visits), waits_(waits_for_peer) {}

  // Called again and again until it is true: here until the other process reads.
  bool try_init(Tile& tile) {
    if (!waits_) return true;
    for (const t::TileFacts& other : tile.spine().board()->tiles()) {
      if (other.name == "aggregate" && other.is_alive && other.state >= t::TileState::run) {
        return true;
      }
    }
    return false;
  }

  void loop(Tile& tile) {
    for (int i = 0; i < kMessagesPerPass && sent_ <= visits_; ++i) {
      const bool is_last = sent_ == visits_;
      const Visit visit{is_last ? 0 : parse(line(sent_)), is_last ? 1U : 0U};
      if (tile.produce<"visits">(visit) == t::Sent::full) return;
      if (++sent_ > visits_) tile.request_stop("all visits are sent");
    }
  }

 private:
  std::uint64_t visits_;
  bool waits_;
  std::uint64_t sent_ = 0;
};
// [/parse]

struct Range {
  std::uint32_t first = 0;
  std::uint32_t last = 0;
  leat::InlineString<4> country;
};

std::vector<Range> read_ranges(std::string_view asked) {
  const std::filesystem::path installed = "/usr/share/tor/geoip";
  std::vector<Range> ranges;
  if (asked != "sample") {
    std::ifstream file(asked.empty() ? installed : std::filesystem::path(asked));
    std::string text;
    while (std::getline(file, text)) {
      Range range;
      const char* const end = text.data() + text.size();
      const auto first = std::from_chars(text.data(), end, range.first);
      if (first.ec != std::errc{} || first.ptr == end) continue;
      const auto last = std::from_chars(first.ptr + 1, end, range.last);
      if (last.ec != std::errc{} || end - last.ptr < 2) continue;
      range.country = leat::InlineString<4>::truncated({last.ptr + 1, end});
      ranges.push_back(range);
    }
  }
  if (ranges.empty()) {
    for (std::uint32_t quarter = 0; quarter < 3; ++quarter) {
      const std::string name(2, static_cast<char>('A' + quarter));
      ranges.push_back({quarter << 30, (quarter << 30) + 0x3fff'ffff, leat::InlineString<4>(name)});
    }
  }
  std::sort(ranges.begin(), ranges.end(),
            [](const Range& a, const Range& b) { return a.first < b.first; });
  return ranges;
}

// [enrich]
/// Gives each visit its country. A message that finds no room waits here for the next pass.
class Enrich {
 public:
  explicit Enrich(std::vector<Range> ranges) : ranges_(std::move(ranges)) {}

  bool try_init(Tile& tile) {
    tile.subscribe<"visits">({.reliable = true});
    return true;
  }

  void loop(Tile& tile) {
    for (int i = 0; i < kMessagesPerPass; ++i) {
      if (pending_ && tile.produce_from(origin_, *pending_) == t::Sent::full) return;
      pending_.reset();
      const bool took = tile.consume_one<"visits">([&](const Visit& visit) {
        pending_ = Located{country_of(visit.address), visit.is_last};
        origin_ = tile.origin();
      });
      if (!took) return;
    }
  }

  // What it holds itself: a tile that drains ends when nothing is left, here neither.
  [[nodiscard]] std::size_t backlog() const { return pending_ ? 1 : 0; }

 private:
  [[nodiscard]] leat::InlineString<4> country_of(std::uint32_t address) const {
    const auto behind =
        std::upper_bound(ranges_.begin(), ranges_.end(), address,
                         [](std::uint32_t a, const Range& range) { return a < range.first; });
    if (behind == ranges_.begin() || (behind - 1)->last < address) return unknown_;
    return (behind - 1)->country;
  }

  std::vector<Range> ranges_;
  const leat::InlineString<4> unknown_{"??"};
  std::optional<Located> pending_;
  leat::Nanos origin_{0};
};
// [/enrich]

/// What came out, for `main`.
struct Result {
  std::map<std::string, std::uint64_t> visits;
  std::uint64_t total = 0;
  std::string timed;
};

class Aggregate {
 public:
  explicit Aggregate(Result& result) : result_(&result) {}

  bool try_init(Tile& tile) {
    tile.subscribe<"located">({.reliable = true});
    return true;
  }
  void loop(Tile& tile) {
    tile.consume<"located">([&](const Located& located) {
      if (located.is_last != 0) {
        tile.request_stop("the last visit came");
        return;
      }
      ++result_->visits[located.country.str()];
      ++result_->total;
    });
  }
  void teardown(Tile& tile) {
    for (const t::TimerFacts& timer : tile.timers()) {
      if (timer.name == "located") {
        result_->timed =
            std::to_string(timer.latency.count() - 1);  // less the one that is no visit
      }
    }
  }

 private:
  Result* result_;
};

t::TileOptions named(const char* name) {
  // More tiles than this machine may have CPUs: they sleep when there is nothing to do.
  return {.name = name, .idle = {.parks = true}};
}

t::ScopeOptions scope_options() {
  t::ScopeOptions options;
  options.handle_signals = true;
  options.drain_at_most = std::chrono::seconds(60);
  options.stuck_after = std::chrono::seconds(30);  // on a machine that is busy with other things
  return options;
}

std::string text_of(const Result& result) {
  std::vector<std::pair<std::string, std::uint64_t>> most(result.visits.begin(),
                                                          result.visits.end());
  // By name, those from nowhere last.
  std::sort(most.begin(), most.end(), [](const auto& a, const auto& b) {
    return std::pair(a.first == "??", a.first) < std::pair(b.first == "??", b.first);
  });
  if (most.size() > 6) {
    std::sort(most.begin(), most.end(),
              [](const auto& a, const auto& b) { return a.second > b.second; });
    most.resize(6);
  }
  std::string text = std::to_string(result.total) + " visits:";
  for (const auto& [country, count] : most) {
    text += (text.back() == ':' ? " " : ", ") + country + " " + std::to_string(count);
  }
  return text;
}

// [record]
Result run_recorded(std::uint64_t visits, std::vector<Range> ranges,
                    const std::filesystem::path& folder) {
  Result result;
  auto spine = t::Spine<Pipeline>::open({.shared = false}).value();
  t::SpineScope<Pipeline> scope(spine, scope_options());
  scope.add(Parse(visits, false), named("parse"));
  scope.add(Enrich(std::move(ranges)), named("enrich"));
  scope.add(Aggregate(result), named("aggregate"));
  t::RecorderOptions recorder;
  recorder.log.folder = folder;
  recorder.reliable_reader = true;  // nothing is overwritten before it was recorded
  t::add_recorders(scope, recorder, named("recorder"));
  if (const int code = scope.run().exit_code(); code != 0) std::exit(code);
  return result;
}

Result run_replayed(std::vector<Range> ranges, const std::filesystem::path& folder) {
  Result result;
  auto spine = t::Spine<Pipeline>::open({.shared = false}).value();
  t::SpineScope<Pipeline> scope(spine, scope_options());
  scope.add(t::Replay<Pipeline, "visits">({.folder = folder / "visits"}), named("replay"));
  scope.add(Enrich(std::move(ranges)), named("enrich"));
  scope.add(Aggregate(result), named("aggregate"));
  if (const int code = scope.run().exit_code(); code != 0) std::exit(code);
  return result;
}
// [/record]

int all(std::uint64_t visits, std::string_view ranges_file) {
  const std::vector<Range> ranges = read_ranges(ranges_file);
  std::string folder = (std::filesystem::temp_directory_path() / "leat-pipeline-XXXXXX").string();
  if (::mkdtemp(folder.data()) == nullptr) return 1;
  const Result first = run_recorded(visits, ranges, folder);
  std::printf("%s\n", text_of(first).c_str());
  std::printf("aggregate: %s timed\n", first.timed.c_str());
  const Result again = run_replayed(ranges, folder);
  const bool equal = again.visits == first.visits && again.total == first.total;
  std::printf("recorded %llu, replayed %s\n", static_cast<unsigned long long>(first.total),
              equal ? "the same" : "something else");
  std::filesystem::remove_all(folder);
  return equal ? 0 : 1;
}

const t::SpineOptions kShared{.app = "pipeline"};

int front(std::uint64_t visits, std::string_view ranges_file) {
  t::SpineScope<Pipeline> scope(t::Spine<Pipeline>::open(kShared).value(), scope_options());
  scope.add(Enrich(read_ranges(ranges_file)), named("enrich"));
  scope.add(Parse(visits, true), named("parse"));
  const int code = scope.run().exit_code();
  if (code == 0) std::printf("sent %llu visits\n", static_cast<unsigned long long>(visits));
  return code;
}

int back() {
  Result result;
  {
    t::SpineScope<Pipeline> scope(t::Spine<Pipeline>::open(kShared).value(), scope_options());
    scope.add(Aggregate(result), named("aggregate"));
    if (const int code = scope.run().exit_code(); code != 0) return code;
  }
  std::printf("%s\n", text_of(result).c_str());
  // The channels outlive those who share them, until somebody takes their names away.
  const auto gone = t::Spine<Pipeline>::remove(kShared, leat::core::Force::yes);
  return gone ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view role = word(argc, argv, 1);
  if (role == "back") return back();
  const bool has_number = as_number(word(argc, argv, 2)).has_value();
  const std::uint64_t visits = has_number ? number(argc, argv, 2, "VISITS", 0) : 100'000;
  const std::string_view ranges = word(argc, argv, has_number ? 3 : 2);
  if (role == "all") return all(visits, ranges);
  if (role == "front") return front(visits, ranges);
  std::fprintf(stderr, "tile_pipeline: expected all, front or back first\n");
  return 2;
}
