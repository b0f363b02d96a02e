#include "page_rank.hpp"

#include "definitions.hpp"
#include "rows.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

namespace leat::tool::flow {
namespace {

/// What one edge brings its target.
struct Contribution {
  NodeId to;
  std::uint64_t rank;
};
LEAT_FIELDS(Contribution, to, rank);

/// What one worker says of its round to another.
struct Totals {
  std::uint64_t to;
  std::uint64_t sent;
  std::uint64_t change;
};
LEAT_FIELDS(Totals, to, sent, change);

/// How many edges a worker sends along before others get their turn.
constexpr std::size_t kEdgesPerActivation = 1U << 16U;

template <class Record>
using Input = df::InputPort<LoopTime, std::vector<Record>>;
template <class Record>
using Output = df::OutputPort<LoopTime, std::vector<Record>>;

struct Ports {
  Input<Edge> edges;
  Input<Contribution> contributions;
  Input<Totals> totals;
  Output<Contribution> contributions_out;
  Output<Totals> totals_out;
  Output<Ranked> ranks_out;
};

class RankOperator {
 public:
  /// Of `held`, the first two move on with the rounds, and the last waits for the end.
  RankOperator(Ports ports, std::vector<df::Capability<LoopTime>> held, df::Activator activation,
               const Share& share, std::size_t peers)
      : ports_(std::move(ports)),
        held_(std::move(held)),
        activation_(std::move(activation)),
        share_(share),
        peers_(peers),
        edges_(share.size()) {}

  void operator()() {
    take_messages();
    if (held_.empty()) return;
    if (!started_) {
      if (!ports_.edges.frontier().empty()) return;
      start();
    }
    while (send_some()) {
      if (!is_complete(round_ + 1)) return;
      if (is_last()) {
        finish();
        return;
      }
      next_round();
    }
  }

 private:
  /// What has come in of one round.
  struct Incoming {
    std::vector<std::uint64_t> received;
    std::uint64_t sent = 0;
    std::uint64_t change = 0;
  };

  void take_messages() {
    ports_.edges.for_each([&](auto& message) {
      for (const auto& [from, to] : message.records()) edges_.add(share_.row_of(from), to);
    });
    ports_.contributions.for_each([&](auto& message) {
      auto& received = incoming(message.time().inner).received;
      for (const auto& [to, rank] : message.records()) received[share_.row_of(to)] += rank;
    });
    ports_.totals.for_each([&](auto& message) {
      auto& in = incoming(message.time().inner);
      for (const Totals& totals : message.records()) {
        in.sent += totals.sent;
        in.change += totals.change;
      }
    });
  }

  Incoming& incoming(Round round) {
    Incoming& in = incoming_[round % incoming_.size()];  // invariant (1)
    if (in.received.empty()) in.received.resize(share_.size());
    return in;
  }

  void start() {
    edges_.seal();
    rank_.assign(share_.size(), rank_at_start(share_.nodes()));
    started_ = true;
  }

  /// Returns: whether all of this round is sent.
  bool send_some() {
    if (is_sent_) return true;
    {
      auto session = ports_.contributions_out.session(held_[0]);
      std::size_t edges_left = kEdgesPerActivation;
      for (; next_row_ < rank_.size() && edges_left != 0; ++next_row_) {
        const auto targets = edges_.row(next_row_);
        if (targets.empty()) continue;
        const std::uint64_t rank = rank_sent(rank_[next_row_], targets.size());
        for (const NodeId to : targets) session.give(Contribution{to, rank});
        sent_ += rank * targets.size();
        edges_left -= std::min(edges_left, targets.size());
      }
    }
    if (next_row_ < rank_.size()) {
      activation_.activate();
      return false;
    }
    {
      auto session = ports_.totals_out.session(held_[1]);
      for (std::uint64_t to = 0; to < peers_; ++to) session.give(Totals{to, sent_, change_});
    }
    for (std::size_t output = 0; output < 2; ++output) held_[output].downgrade({0, round_ + 1});
    is_sent_ = true;
    return true;
  }

  [[nodiscard]] bool is_complete(Round round) const {
    const LoopTime time{0, round};
    return !ports_.contributions.frontier().less_equal(time) &&
           !ports_.totals.frontier().less_equal(time);
  }

  /// Whether the ranks of this round are the ones to keep.
  bool is_last() {
    if (round_ == 0) return false;
    return incoming(round_ + 1).change <= kRankChangeMax || round_ == kRankRoundsMax;
  }

  void next_round() {
    Incoming& in = incoming(++round_);
    const std::uint64_t share = rank_share(in.sent, share_.nodes());
    change_ = 0;
    for (std::size_t row = 0; row < rank_.size(); ++row) {
      const std::uint64_t after = share + in.received[row];
      change_ += rank_change(rank_[row], after);
      rank_[row] = after;
    }
    std::ranges::fill(in.received, 0);
    in.sent = in.change = 0;
    sent_ = 0;
    next_row_ = 0;
    is_sent_ = false;
  }

  void finish() {
    {
      auto session = ports_.ranks_out.session(held_[2]);
      for (std::size_t row = 0; row < rank_.size(); ++row) {
        session.give(Ranked{share_.node_of(row), static_cast<std::uint32_t>(round_), rank_[row]});
      }
    }
    held_.clear();
  }

  Ports ports_;
  std::vector<df::Capability<LoopTime>> held_;
  df::Activator activation_;
  Share share_;
  std::size_t peers_;
  Rows<NodeId> edges_;

  bool started_ = false;
  Round round_ = 0;
  std::vector<std::uint64_t> rank_;  // of this round
  std::uint64_t change_ = 0;         // from the ranks before, on this worker
  std::uint64_t sent_ = 0;           // in this round, by this worker
  std::size_t next_row_ = 0;         // whose edges are to be sent along next
  bool is_sent_ = false;
  std::array<Incoming, 2> incoming_;
};

}  // namespace

Stream<Ranked> page_rank(Scope& scope, Stream<Edge> edges, std::size_t nodes, Meter& meter) {
  return scope.iterative("page rank", [&](LoopScope& inner) {
    auto contributions = df::loop_variable<Contribution>(inner, Round{1});
    auto totals = df::loop_variable<Totals>(inner, Round{1});

    df::OperatorBuilder<LoopTime> builder(inner.state(), "rank");
    auto edges_in = builder.new_input(edges | df::enter(inner),
                                      df::exchange_by([](const Edge& edge) { return edge.from; }));
    auto contributions_in = builder.new_input(
        contributions.stream | metered(meter, "page rank"),
        df::exchange_by([](const Contribution& contribution) { return contribution.to; }));
    auto totals_in = builder.new_input(
        totals.stream, df::exchange_by([](const Totals& entry) { return entry.to; }));
    auto contributions_out = builder.new_output<std::vector<Contribution>>();
    auto totals_out = builder.new_output<std::vector<Totals>>();
    auto ranks_out = builder.new_output<std::vector<Ranked>>();
    builder.build([&](std::vector<df::Capability<LoopTime>> held) {
      return RankOperator({std::move(edges_in), std::move(contributions_in), std::move(totals_in),
                           std::move(contributions_out.port), std::move(totals_out.port),
                           std::move(ranks_out.port)},
                          std::move(held), builder.info().activation, Share(nodes, inner),
                          inner.peers());
    });
    std::move(contributions_out.stream) | df::connect_loop(std::move(contributions.handle));
    std::move(totals_out.stream) | df::connect_loop(std::move(totals.handle));
    return std::move(ranks_out.stream) | df::leave(scope);
  });
}

}  // namespace leat::tool::flow
