// What      Checks on our own invariants: LEAT_CHECK is always on, LEAT_DCHECK in debug builds.
// Limits    For what a *user* did wrong throw UsageError; for what the *world* refused return a
//           Result. A failed check means that going on would corrupt others: it ends the process.
// Cost      One predicted branch; the message is built in a cold function that never returns.
#pragma once

#include <cstdio>
#include <cstdlib>

namespace leat::internal {

/// Prints `file:line: check failed: what (condition)` on standard error and aborts.
[[noreturn, gnu::cold, gnu::noinline]] inline void check_failed(const char* file, int line,
                                                                const char* condition,
                                                                const char* what) noexcept {
  std::fprintf(stderr, "%s:%d: check failed: %s (%s)\n", file, line, what, condition);
  std::fflush(stderr);
  std::abort();
}

}  // namespace leat::internal

/// Aborts with file, line and `what` unless `condition` holds; in every build.
#define LEAT_CHECK(condition, what)                  \
  (__builtin_expect(static_cast<bool>(condition), 1) \
       ? static_cast<void>(0)                        \
       : ::leat::internal::check_failed(__FILE__, __LINE__, #condition, what))

/// LEAT_CHECK for hot loops: gone under NDEBUG, where `condition` is compiled but not evaluated.
#ifdef NDEBUG
#define LEAT_DCHECK(condition, what) static_cast<void>(sizeof(static_cast<bool>(condition)))
#else
#define LEAT_DCHECK(condition, what) LEAT_CHECK(condition, what)
#endif
