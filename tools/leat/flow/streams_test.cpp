#include "flow/streams.hpp"

#include <gtest/gtest.h>
#include <cstddef>
#include <vector>

namespace leat::tool::flow {
namespace {

TEST(Share, EveryNodeIsKeptOnceAtTheWorkerThatItsIdNames) {
  for (std::size_t nodes = 0; nodes < 12; ++nodes) {
    for (std::size_t peers = 1; peers < 6; ++peers) {
      std::vector<int> kept(nodes, 0);
      for (std::size_t index = 0; index < peers; ++index) {
        const Share share(nodes, index, peers);
        for (std::size_t row = 0; row < share.size(); ++row) {
          const NodeId node = share.node_of(row);
          ASSERT_LT(node, nodes);
          EXPECT_EQ(node % peers, index);
          EXPECT_EQ(share.row_of(node), row);
          ++kept[node];
        }
      }
      EXPECT_EQ(kept, std::vector<int>(nodes, 1)) << peers << " workers";
    }
  }
}

}  // namespace
}  // namespace leat::tool::flow
