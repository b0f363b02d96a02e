// What      A scope as a child of another: carries frontiers inward and reports outward, between
//           the two scopes' times.
// Invariants
//   (1) Reports change the parent's tracker while the parent runs its children, so the parent
//       propagates them together (subgraph.hpp, invariant 2).
//   (2) A record that leaves is reported as produced and never as a held capability as well.
// Source    The outer half of Timely Dataflow's `Subgraph`.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include <leat/progress/mutable_antichain.hpp>
#include <leat/progress/subgraph.hpp>
#include <leat/progress/timestamp.hpp>

namespace leat::progress {

template <Timestamp Outer, Timestamp Inner>
class NestedScope final : public Operate<Outer>, private Boundary<Inner> {
 public:
  /// Makes a child scope of `parent`, in a place of its own.
  NestedScope(Subgraph<Outer>& parent, ScopeId id, const NodeName& name)
      : parent_(parent),
        node_(parent.add_node(name)),
        inner_(std::make_unique<Subgraph<Inner>>(parent.plane(), id, name,
                                                 parent.activation_of(node_))) {
    inner_->set_place(parent.place_of(node_));
  }

  [[nodiscard]] Subgraph<Inner>& inner() noexcept { return *inner_; }

  /// An input of the scope: the parent's target that receives, and the inner source that emits.
  struct Entrance {
    PortIndex outer_target;
    PortIndex inner_source;
  };
  Entrance add_input() {
    inputs_.push_back(parent_.add_port(node_, PortKind::target));
    return {inputs_.back(), inner_->add_port(0, PortKind::source)};
  }
  /// An output of the scope: the inner target that receives, and the parent's source that emits.
  struct Exit {
    PortIndex inner_target;
    PortIndex outer_source;
  };
  Exit add_output() {
    outputs_.push_back(parent_.add_port(node_, PortKind::source));
    return {inner_->add_port(0, PortKind::target), outputs_.back()};
  }

  /// Ends building of the inner scope and tells the parent what paths through it do to times.
  ///
  /// The caller installs the scope at `node()` with `local = false`.
  void seal() {
    inner_->seal(this);
    held_.resize(outputs_.size());
    for (std::uint32_t input = 0; input < inputs_.size(); ++input) {
      for (const auto& path : inner_->tracker().paths(inner_->input_port(input))) {
        parent_.add_link(inputs_[input], outputs_[path.output],
                         Refines<Inner, Outer>::summarize(path.summary));
      }
    }
  }
  [[nodiscard]] NodeIndex node() const noexcept { return node_; }

  bool schedule() override { return inner_->schedule(); }
  void initialize() override { inner_->initialize(); }
  void sketch(SketchSink& into, const Sketch::Address& address) const override {
    inner_->sketch(into, address);
  }
  void holdings(std::vector<Holding>& into) const override { inner_->holdings(into); }
  void accept_frontier(std::uint32_t input, const Outer& time, int delta) override {
    inner_->accept_frontier(input, Refines<Inner, Outer>::to_inner(time), delta);
  }

 private:
  void consumed(std::uint32_t input, const Inner& time, std::int64_t records) override {
    parent_.report(inputs_[input], Refines<Inner, Outer>::to_outer(time), -records);
  }
  void produced(std::uint32_t output, const Inner& time, std::int64_t records) override {
    const Outer outer = Refines<Inner, Outer>::to_outer(time);
    for (const auto& step : parent_.tracker().forward().row(outputs_[output])) {
      parent_.report(step.port, outer, records);
    }
  }
  void capability(std::uint32_t output, const Inner& time, std::int64_t delta) override {
    held_[output].update(
        Refines<Inner, Outer>::to_outer(time), delta,
        [&](const Outer& changed, int by) { parent_.report(outputs_[output], changed, by); });
  }

  Subgraph<Outer>& parent_;
  NodeIndex node_;
  std::unique_ptr<Subgraph<Inner>> inner_;
  std::vector<PortIndex> inputs_;
  std::vector<PortIndex> outputs_;
  std::vector<MutableAntichain<Outer>> held_;
};

}  // namespace leat::progress
