// What      What a program links to have its actors preempted at every jump of its own code, also in
//           loops that neither allocate nor wait. The target leat::actor_safepoints, which also asks
//           the compiler to put calls to this into what is compiled with it.
// Limits    Code of libraries that were compiled without it is not interrupted.
// Cost      0.5 ns for each pass of a tight loop, and less room for the optimiser.
// Source    The compilers' coverage instrumentation, put to another use; ours.
#include <leat/actor/preempt/turn.hpp>

#include <cstdint>

extern "C" {

// What a program is linked with --undefined for: the sanitizers' runtimes have the functions below,
// weakly, so that nobody would look for ours.
extern const char leat_actor_safepoints_here;
const char leat_actor_safepoints_here = 0;

// clang: -fsanitize-coverage=trace-pc-guard.
void __sanitizer_cov_trace_pc_guard(std::uint32_t* /*guard*/) { leat::actor::turn().count_edge(); }
void __sanitizer_cov_trace_pc_guard_init(std::uint32_t* /*start*/, std::uint32_t* /*stop*/) {}

// g++: -fsanitize-coverage=trace-pc.
void __sanitizer_cov_trace_pc() { leat::actor::turn().count_edge(); }
}
