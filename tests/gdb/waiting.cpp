// What tests/gdb/run.sh looks at: an actor that waits in a function of a known name, one that runs, and one that
// was never run. Ends when the runtime is to be looked at: by abort, for a core dump.
#include <leat/actor.hpp>

#include <leat/actor/scheduler/scheduler.hpp>
#include <leat/actor/stack/stack_region.hpp>

#include <cstdio>
#include <cstdlib>

namespace {

using namespace leat::actor;

[[gnu::noinline]] void wait_for_a_guest() {
  (void)receive<int>();
  std::puts("a guest");
}

[[gnu::noinline]] void stop_here() { std::abort(); }

}  // namespace

int main() {
  // gdb writes all address space that is reserved into a core dump.
  StackRegion::process({.class_bytes = std::size_t{1} << 24});
  Runtime runtime(Config::exact(1));
  if (runtime.scheduler().worker_count() != 1) return 1;  // so that the types are known here
  runtime.run([] {
    spawn({.name = "host"}, wait_for_a_guest).detach();
    yield_now();
    spawn({.name = "fresh"}, [] {}).detach();
    stop_here();
  });
}
