#include <leat/core/stop.hpp>

#include <algorithm>

namespace leat::core {

bool StopToken::request(StopReason reason) {
  const std::lock_guard lock(mutex_);
  if (requested()) return false;
  reason_ = std::move(reason);
  flag_.store_seq_cst(1, stopped{});
  for (auto& [id, wake] : wakers_) wake();
  return true;
}

StopToken::WakerId StopToken::add_waker(Function<void()> wake) {
  const std::lock_guard lock(mutex_);
  if (requested()) wake();
  wakers_.emplace_back(next_id_, std::move(wake));
  return next_id_++;
}

void StopToken::remove_waker(WakerId id) {
  const std::lock_guard lock(mutex_);
  std::erase_if(wakers_, [id](const auto& waker) { return waker.first == id; });
}

}  // namespace leat::core
