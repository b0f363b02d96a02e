// One function runs on all workers at once, so it can have no state of its own to change.
// expect: execute: the function runs on several workers at once
// expect: `mutable` lambda
#include <leat/dataflow.hpp>

namespace df = leat::dataflow;

bool run() {
#ifdef RIGHT
  return df::execute({},
                     [](df::Worker& worker) {
                       int steps = 0;
                       while (worker.step()) ++steps;
                     })
      .ok();
#else
  return df::execute({},
                     [steps = 0](df::Worker& worker) mutable {
                       while (worker.step()) ++steps;
                     })
      .ok();
#endif
}
