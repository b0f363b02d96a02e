#include <leat/actor/wait/object_lock.hpp>

#include <mutex>
#include <utility>

namespace leat::actor {
namespace {

constinit std::mutex marks_mutex;
constinit SoloMark* vacant_marks = nullptr;  // guarded by marks_mutex

}  // namespace

SoloMark& SoloMark::take() {
  const std::lock_guard lock(marks_mutex);
  if (vacant_marks == nullptr) return *new SoloMark();  // never freed: old locks may name it
  return *std::exchange(vacant_marks, vacant_marks->next_);
}

void SoloMark::give(SoloMark& mark) noexcept {
  const std::lock_guard lock(marks_mutex);
  mark.next_ = vacant_marks;
  vacant_marks = &mark;
}

}  // namespace leat::actor
