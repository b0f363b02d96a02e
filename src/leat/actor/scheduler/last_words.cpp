#include <leat/actor/scheduler/last_words.hpp>

#include <leat/actor/exit.hpp>
#include <leat/actor/scheduler/scheduler.hpp>
#include <leat/base/mutant.hpp>
#include <leat/base/os/calls.hpp>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>

namespace leat::actor {
namespace {

std::terminate_handler before = nullptr;  // written before actors run

std::string name_of(const Actor& actor) {
  std::string name =
      "actor " + std::to_string(actor.index) + "." + std::to_string(actor.generation);
  if (!actor.name.empty()) name += " \"" + actor.name + "\"";
  return name;
}

std::string parent_of(const Actor& actor) {
  if (actor.parent == Pid::root()) return "the root";
  return std::to_string(actor.parent.slot()) + "." + std::to_string(actor.parent.generation());
}

[[noreturn]] void say_who() {
  Actor* const self = this_actor();
  if (self != nullptr && !LEAT_MUTANT("last_words.none")) {
    const std::exception_ptr thrown = std::current_exception();
    const std::string why =
        thrown ? "with " + Exit::of(thrown).text() : std::string("without an exception");
    const bool alone = self->scheduler->config().contains_faults() && turn().held() == 0;
    std::fprintf(stderr,
                 "leat: std::terminate was called in %s, a child of %s, %s; %s. Its calls:\n",
                 name_of(*self).c_str(), parent_of(*self).c_str(), why.c_str(),
                 alone ? "it ends, and what it owned leaks" : "the process ends with it");
    os::write_calls(1);
    if (alone) {
      self->exit = Exit::killed("std::terminate was called in it, " + why);
      worker_of(*self).end(*self);
    }
  }
  if (before != nullptr) before();
  std::abort();
}

}  // namespace

void watch_terminate() noexcept {
  static const bool watched = [] {
    before = std::set_terminate(&say_who);
    return true;
  }();
  static_cast<void>(watched);
}

}  // namespace leat::actor
