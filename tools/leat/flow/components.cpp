#include "components.hpp"

#include <leat/base/hash.hpp>
#include "count.hpp"
#include "lookup.hpp"
#include "rows.hpp"

#include <limits>
#include <utility>
#include <vector>

namespace leat::tool::flow {
namespace {

using Label = Fact<NodeId>;

constexpr NodeId kUnlabelled = std::numeric_limits<NodeId>::max();
constexpr auto by_node = [](const Label& label) { return label.node; };

/// Whether a label is better than another: a fixed order that ids know nothing of.
bool is_better(NodeId label, NodeId than) noexcept {
  return than == kUnlabelled || mix64(label) < mix64(than);
}

/// The best label that each node of a worker was offered.
class Labels {
 public:
  explicit Labels(const Share& share) : share_(share), labels_(share.size(), kUnlabelled) {}

  /// Returns: whether it is better than what the node had.
  bool improve(const Label& offer) {
    NodeId& label = labels_[share_.row_of(offer.node)];
    if (!is_better(offer.value, label)) return false;
    label = offer.value;
    return true;
  }
  template <class Session>
  void give_all(Session& session) const {
    for (std::size_t row = 0; row < labels_.size(); ++row) {
      if (labels_[row] != kUnlabelled) session.give(Label{share_.node_of(row), labels_[row]});
    }
  }

 private:
  Share share_;
  std::vector<NodeId> labels_;
};

auto improve(const Share& share) {
  return df::unary<Label>(df::exchange_by(by_node), "improve", [share](auto, const auto&) {
    return [labels = Labels(share)](auto& offers, auto& output) mutable {
      offers.for_each([&](auto& message) {
        auto session = output.session(message);
        for (const Label& offer : message.records()) {
          if (labels.improve(offer)) session.give(offer);
        }
      });
    };
  });
}

/// Of labels that improve, each node's last.
auto settle(const Share& share) {
  return df::unary_notify<Label>(df::pipeline, "settle", [share](auto, const auto&) {
    return [labels = Labels(share), asked = false](auto& better, auto& output,
                                                   auto& notificator) mutable {
      better.for_each([&](auto& message) {
        if (!std::exchange(asked, true)) notificator.notify_at(message.retain());
        for (const Label& label : message.records()) labels.improve(label);
      });
      while (const auto complete = notificator.next(better.frontier())) {
        auto session = output.session(complete->capability);
        labels.give_all(session);
      }
    };
  });
}

/// Who is told of a node's label: the other ends of its edges.
class Neighbours {
 public:
  explicit Neighbours(const Share& share) : share_(share), rows_(share.size()) {}
  void add(const Edge& edge) { rows_.add(share_.row_of(edge.from), edge.to); }
  void seal() { rows_.seal(); }
  template <class Session>
  void answer(const Label& label, Session& session) const {
    for (const NodeId neighbour : rows_.row(share_.row_of(label.node))) {
      if (is_better(label.value, neighbour)) session.give(Label{neighbour, label.value});
    }
  }

 private:
  Share share_;
  Rows<NodeId> rows_;
};

}  // namespace

Stream<Fact<std::uint32_t>> component_sizes(Scope& scope, Stream<Edge> edges, std::size_t nodes,
                                            Meter& meter) {
  const Share share(nodes, scope);
  auto both_ways = std::move(edges) | df::flat_map<Edge>([](const Edge& edge, auto& out) {
                                        out(edge);
                                        out(Edge{edge.to, edge.from});
                                      }).named("both ways");
  auto own = own_nodes(scope, nodes) |
             df::map([](NodeId node) { return Label{node, node}; }).named("label itself");
  auto labels = scope.iterative("components", [&](LoopScope& inner) {
    auto loop = df::loop_variable<Label>(inner, Round{1});
    auto better = own | df::enter(inner) | df::concat(std::move(loop.stream)) | improve(share);
    better |
        lookup<Label>(both_ways | df::enter(inner),
                      df::exchange_by([](const Edge& edge) { return edge.from; }), df::pipeline,
                      "neighbours", Neighbours(share)) |
        metered(meter, "components") | df::connect_loop(std::move(loop.handle));
    return better | df::leave(scope);
  });
  return std::move(labels) | settle(share) |
         count_by(share, "sizes", [](const Label& label) { return label.value; });
}

}  // namespace leat::tool::flow
