// What      An intrusive queue from any number of producers to one consumer: what carries batches
//           between workers. Unbounded; it owns nothing and allocates nothing.
// Shape
//           head_ (consumer)                               tail_ (producers)
//             |                                               |
//             v                                               v
//           [node] --next--> [node] --next--> [node]   ...  [node] --next--> null
//
//           A stub node stands in whenever the queue would be empty, so tail_ always has a node to
//           hang the next one on.
// Protocol  push: next = null; previous = tail_.exchange(node); previous->next = node (the link).
//           pop: take head_ if its next is linked; if head_ is the last node, push the stub behind
//           it first and take it then.
// Invariants
//   (1) From the exchange until its link a node and all behind it cannot be popped.
//   (2) Nodes come out in the order of the exchanges; those of one producer in its own order.
//   (3) A node that `pop` returned belongs to the caller: the queue holds no pointer to it.
// Ordering  link    previous->next -> consumer: the node and all it carries is whole before it is
//                   popped.
//           handoff tail_ -> the next producer: the node's next was nulled before it is linked;
//                   without it the nulling could come after the link and cut the queue.
//           The consumer reads tail_ relaxed: it only asks whether head_ is the last; if the answer
//           is old, pushing the stub does no harm.
// Limits    A producer that is preempted between its exchange and its link hides all that was
//           pushed behind it until it runs again: `pop` says nullptr meanwhile. Whoever announces
//           the queue must therefore do so after `push` returned, as the doorbell does; then the
//           last announcement finds everything. Nodes left at destruction are the caller's: drain
//           first.
// Cost      push: one exchange and one store to the previous node's line. pop: one load; when the
//           queue runs empty one exchange. No allocation.
// Source    Dmitry Vyukov, "Intrusive MPSC node-based queue" (1024cores).
#pragma once

#include <leat/base/atomic.hpp>
#include <leat/base/cache_line.hpp>

namespace leat::queue {

/// What a node of an Mpsc derives from.
struct MpscNode {
  MpscNode() = default;
  MpscNode(const MpscNode&) = delete;
  MpscNode& operator=(const MpscNode&) = delete;

  Atomic<MpscNode*> next{nullptr};
};

/// `Node` derives from MpscNode.
template <class Node>
class Mpsc {
  struct link : Edge {};     // producer -> consumer: the node is whole before it is popped
  struct handoff : Edge {};  // producer -> next producer: next was nulled before it is linked

 public:
  Mpsc() noexcept : tail_(&stub_), head_(&stub_) {}
  Mpsc(const Mpsc&) = delete;
  Mpsc& operator=(const Mpsc&) = delete;

  /// Appends `node`, which stays the caller's to keep alive until it is popped.
  ///
  /// Threads:  any. Never waits or allocates.
  /// Ordering: what the caller did before is visible to the consumer that pops the node.
  void push(Node* node) noexcept { push_node(node); }

  /// Takes the oldest node.
  ///
  /// Returns:  nullptr if the queue is empty, or if the push of the oldest or the one behind it is
  ///           still under way.
  /// Threads:  the consumer.
  [[nodiscard]] Node* pop() noexcept {
    MpscNode* head = head_;
    MpscNode* next = head->next.load_acquire(link{});
    if (head == &stub_) {
      if (next == nullptr) return nullptr;
      head_ = head = next;
      next = head->next.load_acquire(link{});
    }
    if (next == nullptr) {
      if (tail_.load_relaxed() != head) return nullptr;  // a push stands between exchange and link
      push_node(&stub_);
      next = head->next.load_acquire(link{});
      if (next == nullptr) return nullptr;  // somebody came before the stub and has not linked yet
    }
    head_ = next;
    return static_cast<Node*>(head);
  }

  /// Whether nothing had been pushed that is not popped, a moment ago. A push under way counts as
  /// something. Threads: the consumer.
  [[nodiscard]] bool was_empty() const noexcept {
    return head_ == &stub_ && tail_.load_relaxed() == &stub_;
  }

 private:
  void push_node(MpscNode* node) noexcept {
    node->next.store_relaxed(nullptr);  // handoff orders it before the link of the one behind
    MpscNode* previous = tail_.exchange_acq_rel(node, handoff{}, handoff{});
    previous->next.store_release(node, link{});
  }

  alignas(kSector) Atomic<MpscNode*> tail_;
  MpscNode stub_;  // beside tail_: whoever pushes into an empty queue writes both
  alignas(kSector) MpscNode* head_;
};

}  // namespace leat::queue
