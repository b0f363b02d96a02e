// What      Random scopes: nodes with inputs and outputs, links inside nodes, edges between them.
//           Cycles occur; on each of them time advances, unless it is asked that it need not.
// Shape     Node 0 is the scope's boundary: its sources are the scope's inputs, its targets the
//           scope's outputs. A target has at most one incoming edge.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <leat/base/rng.hpp>
#include <leat/progress/graph.hpp>
#include <leat/progress/product.hpp>
#include <leat/progress/timestamp.hpp>

namespace leat::property {

template <class T>
struct DrawSummary {
  static T draw(Rng& rng, bool advances) {
    return static_cast<T>(rng.below(3) + (advances ? 1U : 0U));
  }
};
template <class A, class B>
struct DrawSummary<progress::Product<A, B>> {
  static progress::Product<A, B> draw(Rng& rng, bool advances) {
    progress::Product<A, B> summary{static_cast<A>(rng.below(2)), static_cast<B>(rng.below(3))};
    if (advances && summary == progress::Product<A, B>{}) {
      (rng.below(2) == 0 ? summary.outer : summary.inner) = 1;
    }
    return summary;
  }
};

template <progress::Timestamp T>
struct Shape {
  using Summary = progress::SummaryOf<T>;
  struct Link {
    std::uint32_t input;
    std::uint32_t output;
    Summary summary;
  };
  struct Node {
    std::uint32_t targets = 0;
    std::uint32_t sources = 0;
    std::vector<Link> links;
  };
  struct Edge {
    std::uint32_t from;
    std::uint32_t output;
    std::uint32_t to;
    std::uint32_t input;
  };

  std::vector<Node> nodes;
  std::vector<Edge> edges;
};

struct DrawOptions {
  std::uint64_t nodes_max = 5;
  std::uint64_t scope_inputs_max = 0;
  std::uint64_t scope_outputs_max = 0;
  bool scope_ports_exact = false;  // as many as that, not up to that
  bool cycles_advance = true;
};

template <progress::Timestamp T>
Shape<T> draw_shape(Rng& rng, const DrawOptions& options) {
  using Shape = Shape<T>;
  Shape shape;
  shape.nodes.resize(2 + rng.below(options.nodes_max));
  const auto count = static_cast<std::uint32_t>(shape.nodes.size());
  const auto scope_ports = [&](std::uint64_t max) {
    return static_cast<std::uint32_t>(options.scope_ports_exact ? max : rng.below(max + 1));
  };
  shape.nodes[0].sources = scope_ports(options.scope_inputs_max);
  shape.nodes[0].targets = scope_ports(options.scope_outputs_max);
  std::vector<std::pair<std::uint32_t, std::uint32_t>> sources;
  for (std::uint32_t node = 0; node < count; ++node) {
    if (node != 0) {
      shape.nodes[node].targets = static_cast<std::uint32_t>(rng.below(3));
      shape.nodes[node].sources = static_cast<std::uint32_t>(rng.below(3));
    }
    for (std::uint32_t i = 0; i < shape.nodes[node].sources; ++i) sources.emplace_back(node, i);
  }
  std::vector<bool> advances(count, false);
  for (std::uint32_t node = 0; node < count && !sources.empty(); ++node) {
    for (std::uint32_t input = 0; input < shape.nodes[node].targets; ++input) {
      if (rng.below(6) == 0) continue;
      const auto [from, output] = sources[rng.below(sources.size())];
      if (node != 0 && from >= node) advances[node] = options.cycles_advance;  // against the order
      shape.edges.push_back({from, output, node, input});
    }
  }
  for (std::uint32_t node = 1; node < count; ++node) {
    for (std::uint32_t input = 0; input < shape.nodes[node].targets; ++input) {
      for (std::uint32_t output = 0; output < shape.nodes[node].sources; ++output) {
        const std::uint64_t links = rng.below(6);  // none, one or two
        for (std::uint64_t n = links == 0 ? 0 : links == 1 ? 2 : 1; n > 0; --n) {
          const auto summary = DrawSummary<typename Shape::Summary>::draw(rng, advances[node]);
          shape.nodes[node].links.push_back({input, output, summary});
        }
      }
    }
  }
  return shape;
}

/// The graph of a shape, and which port is which.
template <progress::Timestamp T>
struct Drawn {
  explicit Drawn(const Shape<T>& shape) : targets(shape.nodes.size()), sources(shape.nodes.size()) {
    for (std::uint32_t node = 0; node < shape.nodes.size(); ++node) {
      for (std::uint32_t i = 0; i < shape.nodes[node].targets; ++i) {
        targets[node].push_back(graph.add_port(node, i, progress::PortKind::target));
      }
      for (std::uint32_t i = 0; i < shape.nodes[node].sources; ++i) {
        sources[node].push_back(graph.add_port(node, i, progress::PortKind::source));
      }
      for (const auto& link : shape.nodes[node].links) {
        graph.add_link(targets[node][link.input], sources[node][link.output], link.summary);
      }
    }
    for (const auto& edge : shape.edges) {
      graph.add_edge(sources[edge.from][edge.output], targets[edge.to][edge.input]);
    }
  }

  progress::Graph<T> graph;
  std::vector<std::vector<progress::PortIndex>> targets;
  std::vector<std::vector<progress::PortIndex>> sources;
};

}  // namespace leat::property
