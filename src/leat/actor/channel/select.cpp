#include <leat/actor/channel/select.hpp>

#include <leat/actor/scheduler/worker.hpp>

namespace leat::actor::internal {

std::uint32_t next_turn() noexcept {
  if (Actor* const self = this_actor()) {
    self->turns_of_select = self->turns_of_select * 1'664'525U + 1'013'904'223U;
    return self->turns_of_select >> 16;
  }
  thread_local std::uint32_t turns = 0;
  return ++turns;
}

}  // namespace leat::actor::internal
