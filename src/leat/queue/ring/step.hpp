// What      `LEAT_RING_STEP("name")`: a place between two stores of a ring's protocol at which a
//           process may die. Nothing, except in programs that define LEAT_RING_STEPS: there it calls
//           `ring_step`, through which a crash test stops and kills the process.
#pragma once

#if defined(LEAT_RING_STEPS)
namespace leat::queue {
inline void (*ring_step)(const char* name) = nullptr;
}
#define LEAT_RING_STEP(name) \
  (::leat::queue::ring_step != nullptr ? ::leat::queue::ring_step(name) : static_cast<void>(0))
#else
#define LEAT_RING_STEP(name) static_cast<void>(0)
#endif
