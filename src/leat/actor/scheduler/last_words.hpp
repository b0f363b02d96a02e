// What      What is said when std::terminate is called on an actor's stack: which actor, under whom, by
//           what exception, in which calls.
// Limits    If the actor's runtime contains faults and the actor holds no lock, it alone ends, killed,
//           and is not unwound: what its frames own leaks. Else whoever handled this before is asked,
//           and the process ends.
#pragma once

namespace leat::actor {

/// Has std::terminate say so from now on; once. A later std::set_terminate puts it out of use.
void watch_terminate() noexcept;

}  // namespace leat::actor
