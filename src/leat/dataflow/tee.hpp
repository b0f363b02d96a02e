// What      The consumers of one stream. Batches are copied for all but the last of them, which
//           gets the original; with one consumer nothing is copied.
#pragma once

#include <concepts>
#include <utility>

#include <leat/base/check.hpp>
#include <leat/base/local_ptr.hpp>
#include <leat/base/small_vector.hpp>
#include <leat/dataflow/message.hpp>

namespace leat::dataflow {

template <class T, Container C>
class Tee final : public LocalCounted<Tee<T, C>> {
 public:
  void add(PushPtr<T, C> consumer) {
    LEAT_CHECK(CopyableContainer<C> || consumers_.empty(),
               "one consumer for what cannot be copied");
    may_hold_ = may_hold_ || consumer->may_hold();
    consumers_.push_back(std::move(consumer));
  }

  void push(Message<T, C>& message) {
    if (consumers_.size() == 1) [[likely]] {
      consumers_[0]->push(message);
    } else {
      push_to_all(message);
    }
  }

  void flush() {
    for (auto& consumer : consumers_) consumer->flush();
  }
  /// Whether something may wait in an edge until `flush`.
  [[nodiscard]] bool may_hold() const noexcept { return may_hold_; }

  void release_spares() {
    for (auto& consumer : consumers_) consumer->release_spares();
  }

 private:
  [[gnu::noinline]] void push_to_all(Message<T, C>& message) {
    if (consumers_.empty()) {
      message.batch.clear();
      return;
    }
    if constexpr (CopyableContainer<C>) {
      Message<T, C> copy{message.stamp, C{}};
      for (std::size_t i = 0; i + 1 < consumers_.size(); ++i) {
        copy.batch = message.batch;  // into the memory that the consumer before gave back
        consumers_[i]->push(copy);
      }
    }
    consumers_.back()->push(message);
  }

  bool may_hold_ = false;
  SmallVector<PushPtr<T, C>, 1> consumers_;
};

}  // namespace leat::dataflow
