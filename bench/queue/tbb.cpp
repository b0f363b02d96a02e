#include "many_to_one.hpp"
#include "rivals.hpp"

#include <tbb/concurrent_queue.h>

namespace leat::bench {
namespace {

template <class P>
class TbbQueue {
 public:
  explicit TbbQueue(std::size_t) {}
  void push(std::size_t, const P& payload) { queue_.push(payload); }
  bool pop(P& payload) { return queue_.try_pop(payload); }

 private:
  tbb::concurrent_queue<P> queue_;
};

}  // namespace

void add_tbb(Suite& suite) { add_queue<TbbQueue>(suite, "tbb::concurrent_queue"); }

}  // namespace leat::bench
