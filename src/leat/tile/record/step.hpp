// What      `LEAT_LOG_STEP("name")`: a place at which a process that writes a log may die. Nothing, except
//           in programs that define LEAT_LOG_STEPS: there it calls `log_step`, through which a crash
//           test stops and kills the process.
#pragma once

#if defined(LEAT_LOG_STEPS)
namespace leat::tile {
inline void (*log_step)(const char* name) = nullptr;
}
#define LEAT_LOG_STEP(name) \
  (::leat::tile::log_step != nullptr ? ::leat::tile::log_step(name) : static_cast<void>(0))
#else
#define LEAT_LOG_STEP(name) static_cast<void>(0)
#endif
