// What      SmallVector<T, N>: a vector whose first N elements need no allocation. The only name
//           under which the library uses one.
// Source    boost::container::small_vector.
#pragma once

#include <boost/container/small_vector.hpp>
#include <cstddef>

namespace leat {

template <class T, std::size_t N>
using SmallVector = boost::container::small_vector<T, N>;

}  // namespace leat
