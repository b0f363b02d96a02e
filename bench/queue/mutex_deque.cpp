#include "many_to_one.hpp"
#include "rivals.hpp"

#include <deque>
#include <mutex>

namespace leat::bench {
namespace {

template <class P>
class MutexDeque {
 public:
  explicit MutexDeque(std::size_t) {}
  void push(std::size_t, const P& payload) {
    const std::lock_guard lock(mutex_);
    queue_.push_back(payload);
  }
  bool pop(P& payload) {
    const std::lock_guard lock(mutex_);
    if (queue_.empty()) return false;
    payload = queue_.front();
    queue_.pop_front();
    return true;
  }

 private:
  std::mutex mutex_;
  std::deque<P> queue_;
};

}  // namespace

void add_mutex_deque(Suite& suite) { add_queue<MutexDeque>(suite, "std::mutex+std::deque"); }

}  // namespace leat::bench
