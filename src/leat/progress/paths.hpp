// What      Questions about a scope's shape, asked once when it is sealed: what do paths to the
//           scope's outputs do to a time, is there a cycle without a hop that advances time, and in
//           which order are ports best settled?
// Cost      Path summaries: one visit per (port, output, summary that is not dominated). Cycles:
//           linear. Neither recurses, so the depth of a graph is not limited by the stack.
// Source    Timely Dataflow's `summarize_outputs` and `is_acyclic`; ours over flat ports.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include <leat/progress/graph.hpp>
#include <leat/progress/order.hpp>
#include <leat/progress/timestamp.hpp>

namespace leat::progress {

/// One way from a port to a scope output, and what it does to a time at least.
template <class Summary>
struct PathToOutput {
  std::uint32_t output = 0;
  Summary summary{};
};

/// For every port the minimal summaries of its paths to the scope's outputs.
///
/// Shape: `result.size() == graph.ports.size()`; a port from which no output can be reached has an
/// empty row.
template <Timestamp T>
std::vector<std::vector<PathToOutput<SummaryOf<T>>>> paths_to_outputs(
    const Graph<T>& graph, const Hops<SummaryOf<T>>& backward) {
  using Summary = SummaryOf<T>;
  std::vector<std::vector<PathToOutput<Summary>>> rows(graph.ports.size());
  struct Item {
    PortIndex port;
    PathToOutput<Summary> path;
  };
  // Adds a path unless one already there advances time no more; drops those it makes superfluous.
  const auto insert = [&](PortIndex port, const PathToOutput<Summary>& path) {
    auto& row = rows[port];
    for (const auto& old : row) {
      if (old.output == path.output && less_equal(old.summary, path.summary)) return false;
    }
    std::erase_if(row, [&](const PathToOutput<Summary>& old) {
      return old.output == path.output && less_equal(path.summary, old.summary);
    });
    row.push_back(path);
    return true;
  };
  std::vector<Item> work;
  for (std::uint32_t output = 0; output < graph.scope_outputs.size(); ++output) {
    const PathToOutput<Summary> end{output, Summary{}};
    insert(graph.scope_outputs[output], end);
    work.push_back({graph.scope_outputs[output], end});
  }
  while (!work.empty()) {
    const Item item = std::move(work.back());
    work.pop_back();
    for (const auto& step : backward.row(item.port)) {
      auto summary = PathSummary<T>::followed_by(backward.summary(step), item.path.summary);
      if (!summary) continue;  // the path cannot be taken by any time
      PathToOutput<Summary> path{item.path.output, std::move(*summary)};
      if (insert(step.port, path)) work.push_back({step.port, std::move(path)});
    }
  }
  return rows;
}

/// Whether a time may go along the hop and be no later.
template <class Summary>
[[nodiscard]] bool stalls(const Hops<Summary>& hops, const Step& step) {
  return step.is_identity() || less_equal(hops.summary(step), Summary{});
}

/// The ports of a graph in an order, of which the first `acyclic` are on no cycle and behind none.
struct SettlingOrder {
  std::vector<PortIndex> ports;
  std::size_t acyclic = 0;
};

/// All ports, each before those that follow it by a hop, as far as cycles allow: where they do not,
/// only a hop that advances time leads back.
///
/// Requires: there is no stalled cycle.
template <Timestamp T>
SettlingOrder settling_order(const Graph<T>& graph, const Hops<SummaryOf<T>>& forward) {
  const std::size_t ports = graph.ports.size();
  std::vector<std::uint32_t> entering(ports, 0);
  std::vector<std::uint32_t> stalled(ports, 0);  // of those, the hops that do not advance time
  for (PortIndex port = 0; port < ports; ++port) {
    for (const auto& step : forward.row(port)) {
      ++entering[step.port];
      if (stalls(forward, step)) ++stalled[step.port];
    }
  }
  std::vector<PortIndex> order;
  order.reserve(ports);
  std::vector<bool> is_placed(ports, false);
  std::vector<PortIndex> unstalled;  // what only hops that advance time still lead to, or nothing
  const auto place = [&](PortIndex port) {
    if (is_placed[port]) return;
    is_placed[port] = true;
    order.push_back(port);
  };
  for (PortIndex port = 0; port < ports; ++port) {
    if (stalled[port] == 0) unstalled.push_back(port);
    if (entering[port] == 0) place(port);
  }
  std::size_t followed = 0;
  std::size_t acyclic = ports;
  for (std::size_t next = 0; order.size() < ports || followed < order.size();) {
    if (followed == order.size()) {  // all that is left is on a cycle, or behind one
      acyclic = std::min(acyclic, followed);
      place(unstalled[next++]);
      continue;
    }
    for (const auto& step : forward.row(order[followed++])) {
      if (stalls(forward, step) && --stalled[step.port] == 0) unstalled.push_back(step.port);
      if (--entering[step.port] == 0) place(step.port);
    }
  }
  return {std::move(order), acyclic};
}

/// A cycle along which no hop advances time, as the ports on it in order; empty if there is none.
template <Timestamp T>
std::vector<PortIndex> stalled_cycle(const Graph<T>& graph, const Hops<SummaryOf<T>>& forward) {
  using Summary = SummaryOf<T>;
  // Kahn: take away ports that no stalled hop enters, as long as there are any; what is left has a
  // cycle.
  std::vector<std::uint32_t> entering(graph.ports.size(), 0);
  for (PortIndex port = 0; port < graph.ports.size(); ++port) {
    for (const auto& step : forward.row(port)) entering[step.port] += stalls(forward, step) ? 1 : 0;
  }
  std::vector<PortIndex> free_ports;
  for (PortIndex port = 0; port < graph.ports.size(); ++port) {
    if (entering[port] == 0) free_ports.push_back(port);
  }
  std::size_t taken = 0;
  while (!free_ports.empty()) {
    const PortIndex port = free_ports.back();
    free_ports.pop_back();
    ++taken;
    for (const auto& step : forward.row(port)) {
      if (stalls(forward, step) && --entering[step.port] == 0) free_ports.push_back(step.port);
    }
  }
  if (taken == graph.ports.size()) return {};
  // Every port left is entered by a stalled hop from a port left: walk backward until one repeats.
  const auto backward = Hops<Summary>::backward(graph.ports.size(), graph.hops);
  std::vector<std::uint32_t> seen_at(graph.ports.size(), 0);
  std::vector<PortIndex> walk;
  PortIndex at = 0;
  while (entering[at] == 0) ++at;
  while (seen_at[at] == 0) {
    walk.push_back(at);
    seen_at[at] = static_cast<std::uint32_t>(walk.size());
    for (const auto& step : backward.row(at)) {
      if (stalls(backward, step) && entering[step.port] != 0) {
        at = step.port;
        break;
      }
    }
  }
  std::vector<PortIndex> cycle(walk.begin() + (seen_at[at] - 1), walk.end());
  std::reverse(cycle.begin(), cycle.end());
  return cycle;
}

}  // namespace leat::progress
