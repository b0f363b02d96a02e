#include "many_to_one.hpp"
#include "rivals.hpp"

#include <boost/lockfree/queue.hpp>

namespace leat::bench {
namespace {

template <class P>
class BoostLockfree {
 public:
  explicit BoostLockfree(std::size_t) {}
  void push(std::size_t, const P& payload) { require(queue_.push(payload), "boost had no memory"); }
  bool pop(P& payload) { return queue_.pop(payload); }

 private:
  boost::lockfree::queue<P> queue_{128};
};

}  // namespace

void add_boost_lockfree(Suite& suite) { add_queue<BoostLockfree>(suite, "boost::lockfree::queue"); }

}  // namespace leat::bench
