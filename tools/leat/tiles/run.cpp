#include "tiles/run.hpp"

#include <leat/base/time/text.hpp>
#include <leat/core/segment/listing.hpp>
#include <leat/tile/metrics/timers.hpp>
#include "columns.hpp"
#include "report.hpp"

#include <array>
#include <cstdio>

namespace leat::tool {
namespace {

using tile::TileFacts;

ExitCode failed(TilesWorld& world, const Error& error) {
  world.err("leat: " + error.message + "\n");
  return ExitCode::runtime;
}

std::string percent(double part) {
  std::array<char, 16> text{};
  std::snprintf(text.data(), text.size(), "%.1f%%", part * 100);
  return text.data();
}

std::string decimal(double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.6g", value);
  return text.data();
}

std::string state_text(const TileFacts& facts) {
  return facts.is_alive ? tile::name_of(facts.state) : "dead";
}

// With what it was told, while it is about to end.
std::string state_column(const TileFacts& facts) {
  const bool lives = facts.is_alive && facts.state < tile::TileState::halt;
  const bool is_ending = lives && facts.command > tile::Command::run;
  return state_text(facts) + (is_ending ? "/" + std::string(tile::name_of(facts.command)) : "");
}

const TileLook* same_tile(const std::vector<TileLook>& before, const TileLook& now) noexcept {
  for (const TileLook& one : before) {
    if (one.app == now.app && one.facts.id == now.facts.id && one.facts.owner == now.facts.owner) {
      return &one;
    }
  }
  return nullptr;
}

/// Where the segments are, and which applications have one of that kind.
Result<std::vector<core::SegmentName>> segments_of_kind(const RunTiles& options,
                                                        const std::string& kind) {
  const auto base = options.base.empty() ? core::default_segment_base() : options.base;
  const auto listings = core::list_segments(base, options.app);
  if (!listings) return listings.error();
  std::vector<core::SegmentName> names;
  for (const core::SegmentListing& one : *listings) {
    if (!one.facts || one.facts->spec.kind != kind) continue;
    core::SegmentName name = one.name;
    name.base = base;
    names.push_back(std::move(name));
  }
  if (names.empty() && options.app) {
    return Error{"asked for the application \"" + *options.app + "\" in " + base.string() +
                 "; found no " + kind + " of that name; see leat queues"};
  }
  return names;
}

std::string slow_text(const TileLook& slow) {
  const TileFacts& facts = slow.facts;
  std::string text = "slow consumer: " + slow.app + "/" + facts.name;
  if (!facts.backlog_channel.empty()) {
    text += ", " + std::to_string(facts.backlog) + " of " + std::to_string(facts.backlog_slots) +
            " behind in \"" + facts.backlog_channel + "\"";
  }
  if (facts.lost > 0) text += ", " + std::to_string(facts.lost) + " lost";
  return text + "\n";
}

std::string tiles_table(const std::vector<TileLook>& looks, const std::vector<TileLook>& before) {
  if (looks.empty()) return "no tiles\n";
  std::vector<Row> rows{{"TILE", "PID", "STATE", "CPU", "HEARTBEAT", "BUSY", "PASSES", "CONSUMED",
                         "PRODUCED", "BACKLOG", "LOST", "PREEMPTED"}};
  for (const TileLook& look : looks) {
    const TileFacts& facts = look.facts;
    const TileLook* const earlier = same_tile(before, look);
    const auto since = [&](std::uint64_t TileFacts::* figure) {
      return std::to_string(facts.*figure - (earlier != nullptr ? earlier->facts.*figure : 0));
    };
    rows.push_back({look.app + "/" + facts.name, std::to_string(facts.pid), state_column(facts),
                    facts.core ? std::to_string(*facts.core) : "-",
                    facts.heartbeat == Nanos{0} ? "-" : short_text(look.heartbeat_age()),
                    percent(facts.utilisation(earlier != nullptr ? &earlier->facts : nullptr)),
                    since(&TileFacts::passes), since(&TileFacts::consumed),
                    since(&TileFacts::produced), std::to_string(facts.backlog),
                    since(&TileFacts::lost), since(&TileFacts::involuntary_switches)});
  }
  std::string text = columns(rows, 3);
  if (const TileLook* const slow = slowest(looks, before)) text += slow_text(*slow);
  return text;
}

class Json {
 public:
  Json& text(const char* name, std::string_view value) { return raw(name, json_string(value)); }
  Json& number(const char* name, std::uint64_t value) { return raw(name, std::to_string(value)); }
  Json& number(const char* name, std::int64_t value) { return raw(name, std::to_string(value)); }
  Json& flag(const char* name, bool value) { return raw(name, value ? "true" : "false"); }
  Json& raw(const char* name, const std::string& value) {
    body_ += (body_.empty() ? "\"" : ", \"") + std::string(name) + "\": " + value;
    return *this;
  }
  [[nodiscard]] std::string object() const { return "{" + body_ + "}"; }

 private:
  std::string body_;
};

std::string tile_json(const TileLook& look, const TileLook* before, bool slow) {
  const TileFacts& facts = look.facts;
  Json json;
  json.text("app", look.app)
      .text("tile", facts.name)
      .number("id", std::uint64_t{facts.id.number})
      .number("pid", facts.pid)
      .text("state", state_text(facts))
      .text("command", tile::name_of(facts.command))
      .raw("cpu", facts.core ? std::to_string(*facts.core) : "null")
      .number("heartbeat_age_ns", look.heartbeat_age().count())
      .raw("utilisation", decimal(facts.utilisation(before != nullptr ? &before->facts : nullptr)))
      .number("passes", facts.passes)
      .number("worked_passes", facts.worked)
      .number("busy_ns", facts.busy.count())
      .number("busy_max_ns", facts.busy_max.count())
      .number("parks", facts.parks)
      .number("asleep_ns", facts.asleep.count())
      .number("consumed", facts.consumed)
      .number("produced", facts.produced)
      .number("lost", facts.lost)
      .number("backlog", facts.backlog)
      .text("backlog_channel", facts.backlog_channel)
      .number("involuntary_switches", facts.involuntary_switches)
      .number("page_faults", facts.page_faults)
      .flag("slow", slow);
  return json.object();
}

ExitCode show(const RunTiles& options, TilesWorld& world) {
  const bool watches = options.action == RunTiles::Action::watch;
  std::vector<TileLook> before;
  for (std::uint64_t i = 0; !watches || !options.count || i < *options.count; ++i) {
    if (i > 0) {
      world.wait(options.interval);
      if (world.is_stopped()) break;
    }
    auto looks = look_at_tiles(options, world.clock.now());
    if (!looks) return failed(world, looks.error());
    if (options.json) {
      const TileLook* const slow = slowest(*looks, before);
      std::string text;
      for (const TileLook& look : *looks) {
        const std::string one = tile_json(look, same_tile(before, look), &look == slow);
        text += watches ? one + "\n" : (text.empty() ? "\n  " : ",\n  ") + one;
      }
      if (!watches) text = "[" + text + (looks->empty() ? "]\n" : "\n]\n");
      world.out(text);
    } else {
      world.out((i > 0 ? "\n" : "") + tiles_table(*looks, before));
    }
    before = *std::move(looks);
    if (!watches) break;
  }
  return ExitCode::ok;
}

ExitCode timers(const RunTiles& options, TilesWorld& world) {
  const auto names = segments_of_kind(options, tile::TimerBook::kKind);
  if (!names) return failed(world, names.error());
  std::vector<Row> rows{{"TILE", "MESSAGE", "", "COUNT", "MEAN", "P50", "P99", "P99.9", "MAX"}};
  std::string json;
  for (const core::SegmentName& name : *names) {
    const auto book = tile::TimerBook::observe(name);
    if (!book) continue;  // it has gone since we looked
    for (const tile::TimerFacts& timer : book->timers()) {
      const auto add = [&](const char* what, const tile::HistogramCopy& found) {
        if (found.count() == 0) return;
        const Nanos p50 = found.quantile(0.5);
        const Nanos p99 = found.quantile(0.99);
        const Nanos p999 = found.quantile(0.999);
        rows.push_back(
            {name.space + "/" + timer.tile, timer.name, what, std::to_string(found.count()),
             short_text(Nanos(static_cast<std::int64_t>(found.mean_ns()))), short_text(p50),
             short_text(p99), short_text(p999), short_text(found.max())});
        json += (json.empty() ? "\n  " : ",\n  ") + Json()
                                                        .text("app", name.space)
                                                        .text("tile", timer.tile)
                                                        .text("message", timer.name)
                                                        .text("what", what)
                                                        .number("count", found.count())
                                                        .raw("mean_ns", decimal(found.mean_ns()))
                                                        .number("p50_ns", p50.count())
                                                        .number("p99_ns", p99.count())
                                                        .number("p999_ns", p999.count())
                                                        .number("max_ns", found.max().count())
                                                        .object();
      };
      add("latency", timer.latency);
      add("processing", timer.processing);
    }
  }
  if (options.json) {
    world.out("[" + json + (json.empty() ? "]\n" : "\n]\n"));
  } else {
    world.out(rows.size() == 1 ? "no timers\n" : columns(rows, 3));
  }
  return ExitCode::ok;
}

ExitCode halt(const RunTiles& options, TilesWorld& world) {
  const auto names = segments_of_kind(options, "tiles");
  if (!names) return failed(world, names.error());
  std::vector<std::string> told;
  for (const core::SegmentName& name : *names) {
    auto board = tile::TileBoard::open(name);
    if (!board) return failed(world, board.error());
    for (const TileFacts& facts : (*board)->tiles()) {
      if (!facts.is_alive || (options.tile && facts.name != *options.tile)) continue;
      (*board)->row(facts.id.row()).tell(tile::Command::halt);
      told.push_back(facts.name);
    }
  }
  if (told.empty()) {
    return failed(world,
                  {"asked to end " + options.tile.value_or("the tiles") + " of \"" + *options.app +
                   "\"; found no tile of that name that lives; see leat tiles"});
  }
  std::string text;
  for (const std::string& name : told) {
    text += options.json ? (text.empty() ? "" : ", ") + json_string(name)
                         : "told " + name + " to end\n";
  }
  world.out(options.json ? "{\"told\": [" + text + "]}\n" : text);
  return ExitCode::ok;
}

}  // namespace

Result<std::vector<TileLook>> look_at_tiles(const RunTiles& options, Nanos now) {
  const auto names = segments_of_kind(options, "tiles");
  if (!names) return names.error();
  std::vector<TileLook> looks;
  for (const core::SegmentName& name : *names) {
    const auto board = tile::TileBoard::observe(name);
    if (!board) continue;  // it has gone since we looked
    for (TileFacts& facts : (*board)->tiles()) looks.push_back({name.space, std::move(facts), now});
  }
  return looks;
}

const TileLook* slowest(const std::vector<TileLook>& looks,
                        const std::vector<TileLook>& before) noexcept {
  const TileLook* worst = nullptr;
  double most = 0;
  for (const TileLook& look : looks) {
    const TileFacts& facts = look.facts;
    if (!facts.is_alive) continue;
    const TileLook* const earlier = same_tile(before, look);
    const std::uint64_t lost = facts.lost - (earlier != nullptr ? earlier->facts.lost : 0);
    double behind = facts.backlog_slots == 0 ? 0
                                             : static_cast<double>(facts.backlog) /
                                                   static_cast<double>(facts.backlog_slots);
    // Who loses is slower than who is only behind; a quarter of a channel is not worth naming.
    if (lost > 0) behind += 1;
    if (behind < 0.25 || behind <= most) continue;
    most = behind;
    worst = &look;
  }
  return worst;
}

ExitCode run_tiles(const RunTiles& options, TilesWorld& world) {
  switch (options.action) {
    case RunTiles::Action::list:
    case RunTiles::Action::watch:
      return show(options, world);
    case RunTiles::Action::timers:
      return timers(options, world);
    case RunTiles::Action::halt:
      return halt(options, world);
  }
  return ExitCode::usage;
}

}  // namespace leat::tool
