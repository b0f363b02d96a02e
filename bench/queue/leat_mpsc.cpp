// leat::queue::Mpsc owns no memory, so it is measured with both ways to get a node: a new one for
// each message, and the pools that our channels use.
#include "many_to_one.hpp"
#include "rivals.hpp"

#include <leat/comm/envelope.hpp>
#include <leat/queue/mpsc.hpp>

#include <vector>

namespace leat::bench {
namespace {

template <class P>
class FromHeap {
 public:
  explicit FromHeap(std::size_t) {}
  void push(std::size_t, const P& payload) {
    auto* const node = new Node;
    node->payload = payload;
    queue_.push(node);
  }
  bool pop(P& payload) {
    Node* const node = queue_.pop();
    if (node == nullptr) return false;
    payload = node->payload;
    delete node;
    return true;
  }

 private:
  struct Node : queue::MpscNode {
    P payload;
  };
  queue::Mpsc<Node> queue_;
};

template <class P>
class FromPools {
 public:
  explicit FromPools(std::size_t producers) : pools_(producers) {}
  void push(std::size_t producer, const P& payload) {
    auto* const envelope = pools_[producer].take();
    envelope->message = payload;
    queue_.push(envelope);
  }
  bool pop(P& payload) {
    auto* const envelope = queue_.pop();
    if (envelope == nullptr) return false;
    payload = envelope->message;
    envelope->pool->give_back(envelope);
    return true;
  }

 private:
  std::vector<comm::EnvelopePool<P>> pools_;
  queue::Mpsc<comm::Envelope<P>> queue_;
};

}  // namespace

void add_leat(Suite& suite) {
  add_queue<FromHeap>(suite, "leat::queue::Mpsc+heap");
  add_queue<FromPools>(suite, "leat::queue::Mpsc+pool");
}

}  // namespace leat::bench
