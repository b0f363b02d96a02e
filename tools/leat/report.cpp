#include "report.hpp"

#include "definitions.hpp"
#include "progress.hpp"
#include "quote.hpp"
#include "utf8.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <utility>

namespace leat::tool {
namespace {

constexpr std::size_t kBarColumns = 20;
constexpr std::size_t kTextColumns = 100;

std::string padded_left(std::string text, std::size_t columns) {
  const std::size_t have = columns_of(text);
  if (have < columns) text.insert(0, columns - have, ' ');
  return text;
}

std::string padded_right(std::string text, std::size_t columns) {
  const std::size_t have = columns_of(text);
  if (have < columns) text.append(columns - have, ' ');
  return text;
}

std::string styled(const char* style, std::string text, const Look& look) {
  return look.color ? "\x1b[" + std::string(style) + "m" + std::move(text) + "\x1b[0m" : text;
}

std::string bold(std::string text, const Look& look) { return styled("1", std::move(text), look); }
std::string cyan(std::string text, const Look& look) { return styled("36", std::move(text), look); }

/// Whole parts in groups of three: "62 460.328".
std::string grouped_parts_per_million(std::uint64_t page_rank) {
  const std::string text = parts_per_million(page_rank);
  return grouped(page_rank / kRankPartPerMillion) + text.substr(text.find('.'));
}

std::string microseconds(Nanos duration) {
  std::array<char, 64> text{};
  const int size = std::snprintf(text.data(), text.size(), "%.1f",
                                 std::chrono::duration<double, std::micro>(duration).count());
  return {text.data(), static_cast<std::size_t>(std::max(size, 0))};
}

std::string heading(const Loaded& loaded) {
  const DependencyGraph& graph = loaded.graph;
  std::string out = loaded.subject.source + ": " + counted(graph.nodes(), loaded.subject.noun);
  if (loaded.subject.is_edge_list) return out + ", " + counted(graph.edges(), "edge");
  return out + " in " + counted(loaded.subject.stanzas, "stanza") + ", " +
         counted(graph.edges(), "edge") + ", " + counted(graph.clauses(), "clause");
}

std::string ranking_table(const Loaded& loaded, const Computed& computed, const Look& look) {
  const DependencyGraph& graph = loaded.graph;
  const std::string noun(loaded.subject.noun);
  std::string out = heading(loaded) + "\n" + counted(computed.components, "component") +
                    ", the largest of " + counted(computed.largest_component, noun) +
                    "; PageRank after " + counted(computed.page_rank_rounds, "round") + "\n\n";

  std::size_t name_columns = noun.size();
  std::uint64_t breaks_max = 0;
  for (const RankedNode& row : computed.ranking) {
    name_columns = std::max(name_columns, columns_of(graph.name(row.node)));
    breaks_max = std::max<std::uint64_t>(breaks_max, row.breaks);
  }
  out += bold("rank  " + padded_right(noun, name_columns) + "   breaks  " +
                  std::string(kBarColumns, ' ') + "  reaches  PageRank, ppm",
              look) +
         "\n";
  std::size_t rank = 0;
  for (const RankedNode& row : computed.ranking) {
    out += padded_left(std::to_string(++rank), 4) + "  " +
           padded_right(std::string(graph.name(row.node)), name_columns) + "  " +
           padded_left(grouped(row.breaks), 7) + "  " +
           cyan(bar(row.breaks, breaks_max, kBarColumns, look.utf8), look) + "  " +
           padded_left(grouped(row.reaches), 7) + "  " +
           padded_left(grouped_parts_per_million(row.page_rank), 13) + "\n";
  }
  out += "\nbreaks: " + noun + "s that could not be " +
         (loaded.subject.is_edge_list ? "there" : "installed") +
         " without it; reaches: those that name it, however far away\n";
  if (loaded.subject.is_edge_list && graph.nodes() > kEdgeListCandidates) {
    out += "ranked: the " + grouped(std::max(kEdgeListCandidates, computed.ranking.size())) +
           " first by PageRank\n";
  }
  return out;
}

std::string ranking_json(const Loaded& loaded, const Computed& computed) {
  const DependencyGraph& graph = loaded.graph;
  std::string out = "{\n  \"source\": " + json_string(loaded.subject.source) + ",\n  \"" +
                    std::string(loaded.subject.noun) + "s\": " + std::to_string(graph.nodes()) +
                    ",\n";
  if (!loaded.subject.is_edge_list) {
    out += "  \"stanzas\": " + std::to_string(loaded.subject.stanzas) +
           ",\n  \"clauses\": " + std::to_string(graph.clauses()) + ",\n";
  }
  out += "  \"edges\": " + std::to_string(graph.edges()) +
         ",\n  \"components\": " + std::to_string(computed.components) +
         ",\n  \"largest_component\": " + std::to_string(computed.largest_component) +
         ",\n  \"page_rank_rounds\": " + std::to_string(computed.page_rank_rounds) +
         ",\n  \"ranking\": [";
  std::size_t rank = 0;
  for (const RankedNode& row : computed.ranking) {
    out += rank == 0 ? "\n" : ",\n";
    out += "    {\"rank\": " + std::to_string(++rank) + ", \"" + std::string(loaded.subject.noun) +
           "\": " + json_string(graph.name(row.node)) +
           ", \"breaks\": " + std::to_string(row.breaks) +
           ", \"reaches\": " + std::to_string(row.reaches) +
           ", \"page_rank_ppm\": " + parts_per_million(row.page_rank) + "}";
  }
  return out + "\n  ]\n}\n";
}

std::string ranking_csv(const Loaded& loaded, const Computed& computed) {
  std::string out = "rank," + std::string(loaded.subject.noun) + ",breaks,reaches,page_rank_ppm\n";
  std::size_t rank = 0;
  for (const RankedNode& row : computed.ranking) {
    out += std::to_string(++rank) + "," + csv_field(loaded.graph.name(row.node)) + "," +
           std::to_string(row.breaks) + "," + std::to_string(row.reaches) + "," +
           parts_per_million(row.page_rank) + "\n";
  }
  return out;
}

/// The runs of equal distance in what broke.
std::vector<std::span<const Breakage>> by_distance(const Answer& answer) {
  std::vector<std::span<const Breakage>> groups;
  std::span<const Breakage> rest = answer.broken;
  while (!rest.empty()) {
    const auto end = std::ranges::find_if(rest, [&rest](const Breakage& breakage) {
      return breakage.distance != rest.front().distance;
    });
    const auto size = static_cast<std::size_t>(end - rest.begin());
    groups.push_back(rest.first(size));
    rest = rest.subspan(size);
  }
  return groups;
}

/// As many names as fit on a line, and how many there are besides.
std::string names_that_fit(const DependencyGraph& graph, std::span<const Breakage> group,
                           std::size_t columns) {
  std::string out;
  for (std::size_t i = 0; i < group.size(); ++i) {
    const std::string_view name = graph.name(group[i].node);
    const std::size_t left = group.size() - i;
    const std::string more = " and " + grouped(left) + " more";
    const std::string next = (i == 0 ? "" : ", ") + std::string(name);
    const bool is_last = left == 1;
    const std::size_t tail = is_last ? 0 : (" and " + grouped(left - 1) + " more").size();
    if (i != 0 && out.size() + next.size() + tail > columns) return out + more;
    out += next;
  }
  return out;
}

std::string answers_table(const Loaded& loaded, std::span<const Answer> answers, const Look& look) {
  const DependencyGraph& graph = loaded.graph;
  const std::string_view verb =
      loaded.subject.is_edge_list ? " could not be there" : " could not be installed";
  std::string out;
  for (const Answer& answer : answers) {
    if (!out.empty()) out += '\n';
    out += bold("Without " + std::string(graph.name(answer.removed)), look) + ", " +
           counted(answer.broken.size(), loaded.subject.noun) + " of " +
           grouped(graph.nodes() - 1) + std::string(verb) + " (" +
           (look.utf8 ? duration_text(answer.latency) : ascii_text(duration_text(answer.latency))) +
           ")\n";
    for (const std::span<const Breakage> group : by_distance(answer)) {
      const std::string left = "  distance " +
                               padded_left(std::to_string(group.front().distance), 2) +
                               padded_left(grouped(group.size()), 8) + "  ";
      out += left + names_that_fit(graph, group, kTextColumns - left.size()) + "\n";
    }
  }
  return out;
}

std::string answers_json(const Loaded& loaded, std::span<const Answer> answers) {
  const DependencyGraph& graph = loaded.graph;
  std::string out = "{\n  \"without\": [";
  bool first_answer = true;
  for (const Answer& answer : answers) {
    out += first_answer ? "\n" : ",\n";
    first_answer = false;
    out += "    {\"" + std::string(loaded.subject.noun) +
           "\": " + json_string(graph.name(answer.removed)) +
           ", \"breaks\": " + std::to_string(answer.broken.size()) +
           ", \"microseconds\": " + microseconds(answer.latency) + ", \"by_distance\": [";
    bool first_group = true;
    for (const std::span<const Breakage> group : by_distance(answer)) {
      out += first_group ? "\n      [" : ",\n      [";
      first_group = false;
      for (std::size_t i = 0; i < group.size(); ++i) {
        out += (i == 0 ? "" : ", ") + json_string(graph.name(group[i].node));
      }
      out += "]";
    }
    out += "]}";
  }
  return out + "\n  ]\n}\n";
}

std::string answers_csv(const Loaded& loaded, std::span<const Answer> answers) {
  std::string out = "without,distance," + std::string(loaded.subject.noun) + "\n";
  for (const Answer& answer : answers) {
    for (const Breakage& breakage : answer.broken) {
      out += csv_field(loaded.graph.name(answer.removed)) + "," +
             std::to_string(breakage.distance) + "," + csv_field(loaded.graph.name(breakage.node)) +
             "\n";
    }
  }
  return out;
}

std::string alternatives_text(const DependencyGraph& graph, ClauseId clause) {
  std::string out;
  for (const NodeId alternative : graph.alternatives(clause)) {
    if (!out.empty()) out += " | ";
    out += graph.name(alternative);
  }
  return out;
}

std::string why_table(const Loaded& loaded, NodeId package, NodeId root,
                      std::span<const Reason> chain, const Look& look) {
  const DependencyGraph& graph = loaded.graph;
  const std::string name(graph.name(package));
  const std::string root_name(graph.name(root));
  if (chain.empty()) {
    return package == root ? name + " is what was removed\n"
                           : name + " does not break without " + root_name + "\n";
  }
  std::string out = bold(name, look) + " breaks without " + root_name + ":\n";
  for (const Reason& reason : chain) {
    out += "  " + std::string(graph.name(reason.node)) + " needs " +
           alternatives_text(graph, reason.clause);
    if (graph.alternatives(reason.clause).size() > 1) {
      out += "; the last to go is " + std::string(graph.name(reason.via));
    }
    out += "\n";
  }
  return out;
}

std::string why_json(const Loaded& loaded, NodeId package, NodeId root,
                     std::span<const Reason> chain) {
  const DependencyGraph& graph = loaded.graph;
  std::string out = "{\n  \"why\": " + json_string(graph.name(package)) +
                    ",\n  \"without\": " + json_string(graph.name(root)) +
                    ",\n  \"breaks\": " + (chain.empty() ? "false" : "true") + ",\n  \"chain\": [";
  bool first = true;
  for (const Reason& reason : chain) {
    out += first ? "\n" : ",\n";
    first = false;
    out += "    {\"" + std::string(loaded.subject.noun) +
           "\": " + json_string(graph.name(reason.node)) + ", \"needs_one_of\": [";
    bool first_alternative = true;
    for (const NodeId alternative : graph.alternatives(reason.clause)) {
      if (!first_alternative) out += ", ";
      first_alternative = false;
      out += json_string(graph.name(alternative));
    }
    out += "], \"last_to_go\": " + json_string(graph.name(reason.via)) + "}";
  }
  return out + (chain.empty() ? "]\n}\n" : "\n  ]\n}\n");
}

std::string why_csv(const Loaded& loaded, std::span<const Reason> chain) {
  std::string out = std::string(loaded.subject.noun) + ",needs_one_of,last_to_go\n";
  for (const Reason& reason : chain) {
    out += csv_field(loaded.graph.name(reason.node)) + "," +
           csv_field(alternatives_text(loaded.graph, reason.clause)) + "," +
           csv_field(loaded.graph.name(reason.via)) + "\n";
  }
  return out;
}

}  // namespace

std::string bar(std::uint64_t part, std::uint64_t whole, std::size_t width, bool utf8) {
  constexpr std::array<const char*, 8> kEighths{"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  if (whole == 0) return std::string(width, ' ');
  const std::uint64_t steps = utf8 ? width * 8 : width;
  std::uint64_t filled = part * steps / whole;
  if (filled == 0 && part != 0) filled = 1;
  std::string out;
  if (utf8) {
    for (std::uint64_t i = 0; i < filled / 8; ++i) out += "█";
    out += kEighths[filled % 8];
  } else {
    out.append(filled, '#');
  }
  return padded_right(std::move(out), width);
}

std::string parts_per_million(std::uint64_t page_rank) {
  constexpr std::uint64_t kThousandth = kRankPartPerMillion / 1000;
  std::string digits = std::to_string(page_rank % kRankPartPerMillion / kThousandth);
  digits.insert(0, 3 - digits.size(), '0');
  return std::to_string(page_rank / kRankPartPerMillion) + "." + digits;
}

std::string json_string(std::string_view text) {
  constexpr char kHex[] = "0123456789abcdef";
  std::string out = "\"";
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    const auto byte = static_cast<unsigned char>(text.front());
    if (length == 0) {
      out += "\\ufffd";
    } else if (byte < 0x20) {
      out += "\\u00";
      out += kHex[byte >> 4U];
      out += kHex[byte & 0xfU];
    } else {
      if (byte == '"' || byte == '\\') out += '\\';
      out += text.substr(0, length);
    }
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return out + "\"";
}

std::string csv_field(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  return out + "\"";
}

std::string ranking_text(Format format, const Loaded& loaded, const Computed& computed,
                         const Look& look) {
  switch (format) {
    case Format::json:
      return ranking_json(loaded, computed);
    case Format::csv:
      return ranking_csv(loaded, computed);
    case Format::table:
      break;
  }
  return ranking_table(loaded, computed, look);
}

std::string answers_text(Format format, const Loaded& loaded, std::span<const Answer> answers,
                         const Look& look) {
  switch (format) {
    case Format::json:
      return answers_json(loaded, answers);
    case Format::csv:
      return answers_csv(loaded, answers);
    case Format::table:
      break;
  }
  return answers_table(loaded, answers, look);
}

std::string why_text(Format format, const Loaded& loaded, NodeId package, NodeId root,
                     std::span<const Reason> chain, const Look& look) {
  switch (format) {
    case Format::json:
      return why_json(loaded, package, root, chain);
    case Format::csv:
      return why_csv(loaded, chain);
    case Format::table:
      break;
  }
  return why_table(loaded, package, root, chain, look);
}

std::string figures_text(const RunFigures& figures, std::uint64_t peak_memory_bytes,
                         const Look& look) {
  constexpr std::uint64_t kMebibyte = std::uint64_t{1} << 20U;
  const double seconds = std::chrono::duration<double>(figures.elapsed).count();
  std::string out = counted(figures.workers, "worker");
  if (figures.processes > 1) out += " in " + grouped(figures.processes) + " processes";
  out += " · " + counted(figures.rounds, "round");
  if (figures.rounds != 0) {
    out += " · " + duration_text(figures.elapsed / static_cast<std::int64_t>(figures.rounds)) +
           " per round";
  }
  out += " · " + counted(figures.wake_ups, "wake-up");
  if (seconds > 0) {
    out += " · " + scaled_text(static_cast<double>(figures.records) / seconds) + " records/s";
  }
  out += " · peak memory " + grouped((peak_memory_bytes + kMebibyte - 1) / kMebibyte) + " MiB\n";
  return look.utf8 ? out : ascii_text(std::move(out));
}

}  // namespace leat::tool
