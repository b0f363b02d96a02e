#include <leat/progress/subgraph.hpp>

namespace leat::progress {

template class Subgraph<std::uint64_t>;
template class Subgraph<Product<std::uint64_t, std::uint64_t>>;

}  // namespace leat::progress
