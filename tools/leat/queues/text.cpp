#include "queues/text.hpp"

#include <leat/base/time/text.hpp>
#include "columns.hpp"
#include "report.hpp"

#include <array>
#include <cstdio>

namespace leat::tool {
namespace {

std::string number(const std::optional<std::uint64_t>& value) {
  return value ? std::to_string(*value) : "-";
}

std::string number(std::uint64_t value) { return std::to_string(value); }

std::string bytes_text(std::uint64_t bytes) {
  constexpr std::array<const char*, 5> kUnits{"B", "KiB", "MiB", "GiB", "TiB"};
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (value >= 1024 && unit + 1 < kUnits.size()) {
    value /= 1024;
    ++unit;
  }
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), unit == 0 || value >= 100 ? "%.0f %s" : "%.1f %s", value,
                kUnits[unit]);
  return text.data();
}

std::string rate_text(const std::optional<double>& rate) {
  if (!rate) return "-";
  std::array<char, 32> text{};
  if (*rate >= 1e6) {
    std::snprintf(text.data(), text.size(), "%.2f M/s", *rate / 1e6);
  } else if (*rate >= 1e3) {
    std::snprintf(text.data(), text.size(), "%.1f k/s", *rate / 1e3);
  } else {
    std::snprintf(text.data(), text.size(), "%.0f /s", *rate);
  }
  return text.data();
}

std::string used_text(const QueueLook& look) {
  if (!look.used || !look.segment.facts || look.segment.facts->spec.count == 0) return "-";
  return std::to_string(*look.used * 100 / look.segment.facts->spec.count) + "%";
}

std::string state_text(const QueueLook& look) {
  if (!look.trouble.empty()) return "damaged";
  if (look.living() > 0) return "in use";
  return look.dead() > 0 ? "dead" : "idle";
}

std::string name_text(const QueueLook& look) {
  return look.segment.name.space + "/" + look.segment.name.name;
}

const char* role_text(const queue::SeatState& state) {
  switch (state.role) {
    case queue::SeatRole::producer:
      return "producer";
    case queue::SeatRole::broadcast:
      return "consumer";
    case queue::SeatRole::member:
      return "member";
    case queue::SeatRole::none:
      break;
  }
  return "?";
}

const char* life_text(core::ParticipantLife life) {
  return life == core::ParticipantLife::alive ? "alive" : "dead";
}

const core::SegmentListing::Participant* owner_of(const QueueLook& look, std::uint64_t owner) {
  for (const auto& one : look.segment.participants) {
    if (one.facts.id.word() == owner) return &one;
  }
  return nullptr;
}

std::string owner_text(const QueueLook& look, std::uint64_t owner) {
  const auto* const one = owner_of(look, owner);
  if (one == nullptr) return "gone";
  return one->facts.label + " (" + std::to_string(one->facts.process.pid) + ", " +
         life_text(one->life) + ")";
}

std::string range_text(const queue::MessageRange& range) {
  const std::string first = std::to_string(range.first);
  return range.count == 1 ? first : first + " to " + std::to_string(range.first + range.count - 1);
}

/// Members of a JSON object, one after the other.
class Json {
 public:
  Json& text(const char* name, std::string_view value) { return raw(name, json_string(value)); }
  Json& number(const char* name, std::uint64_t value) { return raw(name, std::to_string(value)); }
  Json& flag(const char* name, bool value) { return raw(name, value ? "true" : "false"); }
  Json& raw(const char* name, const std::string& value) {
    body_ += (body_.empty() ? "\"" : ", \"") + std::string(name) + "\": " + value;
    return *this;
  }
  [[nodiscard]] std::string object() const { return "{" + body_ + "}"; }

 private:
  std::string body_;
};

template <class Range, class One>
std::string json_list(const Range& range, One&& one) {
  std::string text;
  for (const auto& element : range) text += (text.empty() ? "" : ", ") + one(element);
  return "[" + text + "]";
}

std::string header_json(const QueueLook& look) {
  const core::SegmentFacts& facts = *look.segment.facts;
  const core::SegmentSpec& spec = facts.spec;
  std::array<char, 20> hash{};
  std::snprintf(hash.data(), hash.size(), "%016llx",
                static_cast<unsigned long long>(spec.type.hash));
  return Json()
      .text("kind", spec.kind)
      .number("kind_version", spec.kind_version)
      .text("flavour", spec.flavour)
      .text("type", spec.type.name)
      .text("type_hash", hash.data())
      .number("type_bytes", spec.type.bytes)
      .number("stride", spec.stride)
      .number("count", spec.count)
      .number("payload_bytes", spec.payload_bytes)
      .number("participants_max", spec.participants_max)
      .number("generation", facts.generation)
      .text("made_at", to_text(WallTime{static_cast<std::int64_t>(facts.made_at_ns)}))
      .text("made_by", facts.maker_program)
      .number("made_by_pid", facts.maker.pid)
      .object();
}

}  // namespace

std::optional<double> rate_between(const QueueLook& before, const QueueLook& now) {
  if (!before.written || !now.written || *now.written < *before.written || now.at <= before.at) {
    return std::nullopt;
  }
  const double seconds = std::chrono::duration<double>(now.at - before.at).count();
  return static_cast<double>(*now.written - *before.written) / seconds;
}

const QueueLook* same_queue(std::span<const QueueLook> before, const QueueLook& now) {
  for (const QueueLook& one : before) {
    // One that was replaced meanwhile has begun anew.
    if (one.segment.name == now.segment.name && one.segment.facts && now.segment.facts &&
        one.segment.facts->made_at_ns == now.segment.facts->made_at_ns) {
      return &one;
    }
  }
  return nullptr;
}

std::string queues_table(std::span<const QueueLook> looks) {
  if (looks.empty()) return "no segments\n";
  std::vector<Row> rows{{"NAME", "KIND", "TYPE", "STATE", "COUNT", "SIZE", "USED", "WRITTEN",
                         "LOST", "ALIVE", "DEAD"}};
  for (const QueueLook& look : looks) {
    const auto* const spec = look.segment.facts ? &look.segment.facts->spec : nullptr;
    rows.push_back({name_text(look), look.kind_text(),
                    spec != nullptr ? spec->type.name.substr(0, 40) : "-", state_text(look),
                    spec != nullptr ? number(spec->count) : "-",
                    bytes_text(look.segment.file_bytes), used_text(look), number(look.written),
                    number(look.lost), number(look.living()), number(look.dead())});
  }
  return columns(rows, 4);
}

std::string queue_details(const QueueLook& look) {
  std::string text = name_text(look) + ": " + look.kind_text() + ", " + state_text(look) + "\n";
  if (!look.trouble.empty()) text += "  " + look.trouble + "\n";
  if (!look.segment.facts) return text;
  const core::SegmentFacts& facts = *look.segment.facts;
  text += "  elements      " + number(facts.spec.count) + " of " + number(facts.spec.stride) +
          " bytes: " + (facts.spec.type.name.empty() ? "bytes" : facts.spec.type.name) + "\n";
  text += "  size          " + bytes_text(look.segment.file_bytes) + "\n";
  text += "  made          " + to_text(WallTime{static_cast<std::int64_t>(facts.made_at_ns)}) +
          " by " + facts.maker_program + " (" + number(facts.maker.pid) + "), generation " +
          number(facts.generation) + "\n";
  if (look.written) {
    text += "  written       " + number(look.written) + ", used " + used_text(look) + ", lost " +
            number(look.lost) + "\n";
  }
  if (look.ring) {
    text += "  repaired      " + number(look.ring->buried) + " messages of dead producers, " +
            number(look.ring->evicted) + " consumers sent away\n";
  }
  if (!look.segment.participants.empty()) {
    std::vector<Row> rows{{"  PARTICIPANT", "PID", "LIFE", "SINCE"}};
    for (const auto& one : look.segment.participants) {
      rows.push_back({"  " + one.facts.label, number(one.facts.process.pid), life_text(one.life),
                      to_text(WallTime{static_cast<std::int64_t>(one.facts.joined_at_ns) /
                                       1'000'000'000 * 1'000'000'000})});
    }
    text += columns(rows, 1);
  }
  if (look.ring && !look.ring->seats.empty()) {
    std::vector<Row> rows{{"  END", "LABEL", "OWNER", "LAG", "LOST"}};
    for (const auto& seat : look.ring->seats) {
      std::string role = role_text(seat.state);
      if (seat.state.reliable) role += ", reliable";
      if (seat.state.status == queue::SeatStatus::evicted) role += ", sent away";
      if (seat.writing.count > 0) role += ", writing " + range_text(seat.writing);
      rows.push_back({"  " + role, seat.label, owner_text(look, seat.owner), number(seat.lag),
                      number(seat.lost)});
    }
    text += columns(rows, 3);
  }
  if (look.ring && !look.ring->groups.empty()) {
    std::vector<Row> rows{{"  GROUP", "NEXT", "DONE", "LAG", "LOST", "AGAIN", "SKIPPED"}};
    for (const auto& group : look.ring->groups) {
      rows.push_back({"  " + group.name, number(group.next), number(group.floor), number(group.lag),
                      number(group.lost), number(group.redelivered), number(group.skipped)});
    }
    text += columns(rows, 1);
  }
  return text;
}

std::string queue_json(const QueueLook& look, const QueueLook* before) {
  Json json;
  json.text("space", look.segment.name.space)
      .text("name", look.segment.name.name)
      .text("state", state_text(look))
      .number("file_bytes", look.segment.file_bytes);
  if (!look.trouble.empty()) json.text("trouble", look.trouble);
  if (look.segment.facts) json.raw("header", header_json(look));
  json.raw("participants", json_list(look.segment.participants, [](const auto& one) {
             return Json()
                 .number("place", one.facts.id.place)
                 .number("generation", one.facts.id.generation)
                 .text("label", one.facts.label)
                 .number("pid", one.facts.process.pid)
                 .number("pid_namespace", one.facts.process.pid_namespace)
                 .flag("alive", one.life == core::ParticipantLife::alive)
                 .object();
           }));
  if (look.written) {
    json.number("written", *look.written).number("used", look.used.value_or(0));
    json.number("lost", look.lost);
  }
  if (before != nullptr) {
    if (const auto rate = rate_between(*before, look)) {
      json.number("messages_per_second", static_cast<std::uint64_t>(*rate + 0.5));
    }
  }
  if (look.ring) {
    json.number("buried", look.ring->buried).number("evicted", look.ring->evicted);
    json.raw("ends", json_list(look.ring->seats, [&](const auto& seat) {
               const auto* const owner = owner_of(look, seat.owner);
               return Json()
                   .text("role", role_text(seat.state))
                   .text("label", seat.label)
                   .flag("reliable", seat.state.reliable)
                   .flag("sent_away", seat.state.status == queue::SeatStatus::evicted)
                   .raw("owner_pid",
                        owner != nullptr ? std::to_string(owner->facts.process.pid) : "null")
                   .number("lag", seat.lag)
                   .number("lost", seat.lost)
                   .number("writing_first", seat.writing.first)
                   .number("writing_count", seat.writing.count)
                   .object();
             }));
    json.raw("groups", json_list(look.ring->groups, [](const auto& group) {
               return Json()
                   .text("name", group.name)
                   .number("next", group.next)
                   .number("done", group.floor)
                   .number("lag", group.lag)
                   .number("lost", group.lost)
                   .number("redelivered", group.redelivered)
                   .number("skipped", group.skipped)
                   .object();
             }));
  }
  return json.object() + "\n";
}

std::string queues_json(std::span<const QueueLook> looks) {
  std::string text = "[";
  for (const QueueLook& look : looks) {
    std::string one = queue_json(look);
    one.pop_back();
    text += (text.size() == 1 ? "\n  " : ",\n  ") + one;
  }
  return text + (looks.empty() ? "]\n" : "\n]\n");
}

std::string watch_table(std::span<const QueueLook> before, std::span<const QueueLook> now) {
  if (now.empty()) return "no segments\n";
  std::vector<Row> rows{{"NAME", "KIND", "STATE", "USED", "RATE", "LAG", "LOST", "ALIVE", "DEAD"}};
  for (const QueueLook& look : now) {
    const QueueLook* const earlier = same_queue(before, look);
    const auto rate = earlier != nullptr ? rate_between(*earlier, look) : std::nullopt;
    rows.push_back({name_text(look), look.kind_text(), state_text(look), used_text(look),
                    rate_text(rate), number(look.used), number(look.lost), number(look.living()),
                    number(look.dead())});
    if (!look.ring) continue;
    for (const auto& seat : look.ring->seats) {
      if (seat.state.role != queue::SeatRole::broadcast) continue;
      rows.push_back({"  " + std::string(role_text(seat.state)) + " " + seat.label,
                      owner_text(look, seat.owner), "", "", "", number(seat.lag), number(seat.lost),
                      "", ""});
    }
    for (const auto& group : look.ring->groups) {
      rows.push_back(
          {"  group " + group.name, "", "", "", "", number(group.lag), number(group.lost), "", ""});
    }
  }
  return columns(rows, 3);
}

std::string message_line(std::uint64_t sequence, std::span<const std::byte> payload, bool json) {
  std::string hex;
  std::string print;
  for (const std::byte byte : payload) {
    std::array<char, 4> digits{};
    std::snprintf(digits.data(), digits.size(), "%02x", static_cast<unsigned>(byte));
    if (!json && !hex.empty()) hex += ' ';
    hex += digits.data();
    const char c = static_cast<char>(byte);
    print += c >= ' ' && c <= '~' ? c : '.';
  }
  if (json) return Json().number("sequence", sequence).text("bytes", hex).object() + "\n";
  return std::to_string(sequence) + "  " + hex + "  " + print + "\n";
}

}  // namespace leat::tool
