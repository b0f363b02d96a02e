#include <leat/actor/supervise/names.hpp>

#include <leat/actor/runtime.hpp>
#include <leat/actor/scheduler/scheduler.hpp>
#include <leat/actor/self.hpp>
#include <leat/actor/supervise/bonds.hpp>
#include <leat/actor/supervise/here.hpp>

#include <algorithm>

namespace leat::actor {

bool Names::claim(std::string_view name, Pid pid) {
  std::string key(name);
  const ObjectLock::Guard guard(lock_);
  return names_.try_emplace(std::move(key), pid).second;
}

bool Names::forget(std::string_view name, Pid pid) noexcept {
  const ObjectLock::Guard guard(lock_);
  const auto place = names_.find(name);
  if (place == names_.end() || place->second != pid) return false;
  names_.erase(place);
  return true;
}

Pid Names::find(std::string_view name) noexcept {
  const ObjectLock::Guard guard(lock_);
  const auto place = names_.find(name);
  return place == names_.end() ? Pid() : place->second;
}

std::vector<std::pair<std::string, Pid>> Names::all() {
  std::vector<std::pair<std::string, Pid>> all;
  {
    const ObjectLock::Guard guard(lock_);
    all.assign(names_.begin(), names_.end());
  }
  std::sort(all.begin(), all.end());
  return all;
}

bool register_name(std::string_view name, Pid pid) {
  Scheduler& scheduler = internal::scheduler_here("register_name");
  Actor* const actor = scheduler.slots().find(pid.slot());
  if (actor == nullptr || !scheduler.names().claim(name, pid)) return false;
  {
    const ObjectLock::Guard guard(actor->lock);
    if (actor->live && actor->generation == pid.generation()) {
      internal::bonds_of(*actor).names.emplace_back(name);
      return true;
    }
  }
  scheduler.names().forget(name, pid);
  return false;
}

bool register_name(std::string_view name) { return register_name(name, self()); }

bool unregister_name(std::string_view name) {
  Scheduler& scheduler = internal::scheduler_here("unregister_name");
  const Pid pid = scheduler.names().find(name);
  if (!pid) return false;
  if (Actor* const actor = scheduler.slots().find(pid.slot())) {
    const ObjectLock::Guard guard(actor->lock);
    if (actor->live && actor->generation == pid.generation() && actor->bonds != nullptr) {
      std::erase(actor->bonds->names, name);
    }
  }
  return scheduler.names().forget(name, pid);
}

Pid whereis(std::string_view name) {
  return internal::scheduler_here("whereis").names().find(name);
}
Pid whereis(Runtime& runtime, std::string_view name) {
  return runtime.scheduler().names().find(name);
}
std::vector<std::pair<std::string, Pid>> registered_names() {
  return internal::scheduler_here("registered_names").names().all();
}

}  // namespace leat::actor
