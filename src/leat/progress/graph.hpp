// What      The shape of one scope: ports, the edges between operators and the links inside them.
// Shape     Both kinds of connection are one list of `Hop {from, to, summary}`: an edge goes from a
//           source to a target and leaves time alone, a link goes from an operator's target to one
//           of its sources and says by how much the operator advances times at least. `Hops` is
//           that list in compressed rows, forward (who follows) or backward (who precedes).
// Limits    A target has at most one incoming edge. Several links between the same two ports stand
//           for an antichain of summaries.
// Cost      Linear in ports and hops; nothing is quadratic in an operator's ports unless its author
//           connects all of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <leat/progress/location.hpp>
#include <leat/progress/timestamp.hpp>

namespace leat::progress {

/// One step that a time can take from port to port.
template <class Summary>
struct Hop {
  PortIndex from = 0;
  PortIndex to = 0;
  Summary summary{};
};

/// One entry of a compressed row: where the hop leads, and the number of what it does to a time.
struct Step {
  PortIndex port = 0;
  std::uint32_t summary_number = 0;  // 0: it leaves time alone

  [[nodiscard]] bool is_identity() const noexcept { return summary_number == 0; }
};

/// Hops sorted into rows by one of their ends. Most leave time alone, so what the others do to it
/// stands aside.
template <class Summary>
class Hops {
 public:
  Hops() = default;

  /// Rows by `from`: `row(p)` lists the ports that follow `p`.
  static Hops forward(std::size_t ports, std::span<const Hop<Summary>> hops) {
    return Hops(ports, hops, &Hop<Summary>::from, &Hop<Summary>::to);
  }
  /// Rows by `to`: `row(p)` lists the ports that precede `p`.
  static Hops backward(std::size_t ports, std::span<const Hop<Summary>> hops) {
    return Hops(ports, hops, &Hop<Summary>::to, &Hop<Summary>::from);
  }

  [[nodiscard, gnu::always_inline]] std::span<const Step> row(PortIndex port) const noexcept {
    return {steps_.data() + begin_[port], steps_.data() + begin_[port + 1]};
  }
  /// What a step of these rows does to a time.
  [[nodiscard]] const Summary& summary(const Step& step) const noexcept {
    return summaries_[step.summary_number];
  }

 private:
  using End = PortIndex Hop<Summary>::*;

  Hops(std::size_t ports, std::span<const Hop<Summary>> hops, End key, End other)
      : begin_(ports + 1, 0), steps_(hops.size()) {
    for (const auto& hop : hops) ++begin_[hop.*key + 1];
    for (std::size_t port = 0; port < ports; ++port) begin_[port + 1] += begin_[port];
    std::vector<std::uint32_t> next(begin_.begin(), begin_.end() - 1);
    for (const auto& hop : hops) {
      steps_[next[hop.*key]++] = {hop.*other, number_of(hop.summary)};
    }
    summaries_.shrink_to_fit();
  }

  std::uint32_t number_of(const Summary& summary) {
    if (summary == summaries_.front()) return 0;
    if (!(summary == summaries_.back())) summaries_.push_back(summary);
    return static_cast<std::uint32_t>(summaries_.size() - 1);
  }

  std::vector<std::uint32_t> begin_{0};
  std::vector<Step> steps_;
  std::vector<Summary> summaries_{Summary{}};  // by number; the first is the identity
};

/// The shape of a scope while it is being built; read by the tracker once it is sealed.
template <Timestamp T>
struct Graph {
  using Summary = SummaryOf<T>;

  std::vector<PortInfo> ports;
  std::vector<Hop<Summary>> hops;
  std::vector<PortIndex> scope_outputs;  // node 0's targets, in order of output number

  PortIndex add_port(NodeIndex node, std::uint32_t number, PortKind kind) {
    const auto index = static_cast<PortIndex>(ports.size());
    ports.push_back({node, number, kind});
    if (node == 0 && kind == PortKind::target) scope_outputs.push_back(index);
    return index;
  }
  void add_edge(PortIndex source, PortIndex target) { hops.push_back({source, target, Summary{}}); }
  void add_link(PortIndex target, PortIndex source, Summary summary) {
    hops.push_back({target, source, std::move(summary)});
  }
};

}  // namespace leat::progress
