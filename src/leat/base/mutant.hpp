// What      `LEAT_MUTANT("name")`: false, and gone at compile time, except in the model build,
//           where a model test can make it true by name. A protocol's known-wrong variant stands
//           behind it, beside the right one, so that the test that should catch it can show that it
//           does: if (!LEAT_MUTANT("parker.skip_recheck")) recheck();
//           Targets that are compiled with LEAT_MUTANTS=1 (the layer actor, where tests are built with
//           checks on) have them also outside the model: `SwitchedOff fix("name")` makes one true
//           in the whole process, for tests that show what a fix is for.
#pragma once

#if defined(LEAT_MODEL) && LEAT_MODEL
#include <leat/base/model/hooks.hpp>
#define LEAT_MUTANT(name) (::leat::model::internal::mutated(name))
#elif defined(LEAT_MUTANTS) && LEAT_MUTANTS
#include <cstddef>
#include <string_view>

namespace leat {
namespace internal {

// Written while the process has one thread.
inline constinit std::string_view mutants_on[2];

[[nodiscard]] inline bool mutated(std::string_view name) noexcept {
  if (mutants_on[0].empty()) [[likely]]
    return false;
  for (const std::string_view on : mutants_on) {
    if (on == name) return true;
  }
  return false;
}

}  // namespace internal

/// While it lives, what stands behind LEAT_MUTANT(name) is done. At most two at a time.
///
/// Threads: the process has no other meanwhile that would look.
class SwitchedOff {
 public:
  explicit SwitchedOff(std::string_view name) noexcept
      : place_(internal::mutants_on[0].empty() ? 0 : 1) {
    internal::mutants_on[place_] = name;
  }
  SwitchedOff(const SwitchedOff&) = delete;
  SwitchedOff& operator=(const SwitchedOff&) = delete;
  ~SwitchedOff() { internal::mutants_on[place_] = {}; }

 private:
  std::size_t place_;
};

}  // namespace leat
#define LEAT_MUTANT(name) (::leat::internal::mutated(name))
#else
#define LEAT_MUTANT(name) (false)
#endif
