// What      The queues that are compared, each in a file of its own; `add_...` runs its cases.
#pragma once

#include "../support/suite.hpp"

namespace leat::bench {

void add_leat(Suite& suite);            // leat_mpsc.cpp: nodes from the heap, or from pools
void add_mutex_deque(Suite& suite);     // mutex_deque.cpp
void add_boost_lockfree(Suite& suite);  // boost_lockfree.cpp
void add_tbb(Suite& suite);             // tbb.cpp, if the library is there

}  // namespace leat::bench
