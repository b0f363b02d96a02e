#include <leat/actor/kit/dispatch.hpp>

#include <leat/actor/scheduler/scheduler.hpp>
#include <leat/actor/supervise/here.hpp>
#include <leat/actor/supervise/names.hpp>

namespace leat::actor::internal {

void drop_unexpected(const LetterKind& kind) {
  const Actor& self = actor_here("a server");
  self.scheduler->dead_letter(self.pid(), kind.name);
}

void register_own_name(std::string_view name) {
  if (!name.empty()) (void)register_name(name);
}

}  // namespace leat::actor::internal
