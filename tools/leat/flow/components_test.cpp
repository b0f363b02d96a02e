#include "flow/components.hpp"

#include <gtest/gtest.h>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <ranges>
#include <vector>

namespace leat::tool::flow {
namespace {

TEST(Components, ALabelImprovesSeldomAlongAPathWhoseIdsAscend) {
  constexpr NodeId kNodes = 4000;
  Meter meter;
  std::vector<std::uint32_t> sizes;
  df::example([&](Scope& scope) {
    auto path = std::views::iota(NodeId{1}, kNodes) |
                std::views::transform([](NodeId node) { return Edge{node, node - 1}; });
    component_sizes(scope, df::to_stream(scope, path), kNodes, meter) |
        df::inspect([&](const Fact<std::uint32_t>& size) { sizes.push_back(size.value); });
  });
  EXPECT_EQ(sizes, std::vector<std::uint32_t>{kNodes});
  EXPECT_LT(meter.records(), std::uint64_t{40} * kNodes);  // by id it were half the square
}

}  // namespace
}  // namespace leat::tool::flow
