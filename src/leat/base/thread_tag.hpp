// What      A word that tells threads apart, for checks such as "only the owner may call this".
// Limits    The tag of a thread that has ended may be that of a later one.
// Cost      One address computation; no call.
#pragma once

#if defined(LEAT_MODEL) && LEAT_MODEL
#include <leat/base/model/hooks.hpp>
#endif

namespace leat {

/// Names one live thread. The default value names none.
class ThreadTag {
 public:
  constexpr ThreadTag() noexcept = default;
  explicit constexpr ThreadTag(const void* mark) noexcept : mark_(mark) {}

  friend constexpr bool operator==(ThreadTag, ThreadTag) noexcept = default;

 private:
  const void* mark_ = nullptr;
};

namespace internal {
inline thread_local constinit char thread_mark = 0;
}  // namespace internal

/// The tag of the calling thread.
[[nodiscard]] inline ThreadTag this_thread_tag() noexcept {
#if defined(LEAT_MODEL) && LEAT_MODEL
  // Model threads take turns on one real thread.
  if (model::internal::active()) return ThreadTag{model::internal::thread_mark()};
#endif
  return ThreadTag{&internal::thread_mark};
}

}  // namespace leat
