// What      How many records name each node: counted on the node's worker, told once all are in.
// Limits    All records are at one time. Nodes that no record names are not told.
#pragma once

#include "streams.hpp"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace leat::tool::flow {

/// `stream | count_by(share, name, node_of)`: a stream of `Fact<std::uint32_t>`.
template <class NodeOf>
[[nodiscard]] auto count_by(const Share& share, std::string name, NodeOf node_of) {
  return df::unary_notify<Fact<std::uint32_t>>(
      df::exchange_by(node_of), std::move(name), [=](auto, const auto&) {
        return [=, counts = std::vector<std::uint32_t>()](auto& input, auto& output,
                                                          auto& notificator) mutable {
          input.for_each([&](auto& message) {
            if (counts.empty()) {
              counts.resize(share.size());
              notificator.notify_at(message.retain());
            }
            for (const auto& record : message.records()) ++counts[share.row_of(node_of(record))];
          });
          while (const auto complete = notificator.next(input.frontier())) {
            auto session = output.session(complete->capability);
            for (std::size_t row = 0; row < counts.size(); ++row) {
              if (counts[row] != 0)
                session.give(Fact<std::uint32_t>{share.node_of(row), counts[row]});
            }
          }
        };
      });
}

}  // namespace leat::tool::flow
