#pragma once

#include "../support/sample.hpp"

#include <cstddef>
#include <cstdint>

namespace leat::bench {

/// `workers` threads that meet `iterations` times at a std::barrier.
[[nodiscard]] Sample std_barrier_rounds(std::size_t workers, std::uint64_t iterations);

}  // namespace leat::bench
