#include <leat/progress/watch/logged_graph.hpp>

#include <algorithm>
#include <tuple>
#include <utility>

namespace leat::progress {

void LoggedGraph::add(const WorkerEvent& event) {
  if (const auto* node = std::get_if<OperatesEvent>(&event)) {
    nodes_[node->id] = *node;
  } else if (const auto* channel = std::get_if<ChannelsEvent>(&event)) {
    channels_[channel->id] = *channel;
  }
}

Sketch LoggedGraph::sketch(std::uint32_t dataflow) const {
  Sketch sketch;
  for (const auto& [id, node] : nodes_) {
    if (node.address.front() == dataflow)
      sketch.nodes.push_back({node.address, node.name, node.is_scope});
  }
  for (const auto& [id, channel] : channels_) {
    if (channel.edge.scope.front() == dataflow) sketch.edges.push_back(channel.edge);
  }
  return sorted(std::move(sketch));
}

const OperatesEvent* LoggedGraph::node(std::uint64_t id) const {
  const auto at = nodes_.find(id);
  return at == nodes_.end() ? nullptr : &at->second;
}

const ChannelsEvent* LoggedGraph::channel(std::uint64_t id) const {
  const auto at = channels_.find(id);
  return at == channels_.end() ? nullptr : &at->second;
}

Sketch sorted(Sketch sketch) {
  std::sort(sketch.nodes.begin(), sketch.nodes.end(),
            [](const auto& a, const auto& b) { return a.address < b.address; });
  const auto place = [](const Sketch::Edge& edge) {
    return std::tie(edge.scope, edge.to, edge.input, edge.from, edge.output);
  };
  std::sort(sketch.edges.begin(), sketch.edges.end(),
            [&](const auto& a, const auto& b) { return place(a) < place(b); });
  return sketch;
}

}  // namespace leat::progress
