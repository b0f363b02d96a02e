#include <leat/progress/plane.hpp>

#include <utility>

#include <leat/base/check.hpp>

namespace leat::progress {

ProgressPlane::Slot& ProgressPlane::slot(ScopeId scope) {
  if (scope >= slots_.size()) slots_.resize(scope + 1);
  return slots_[scope];
}

void ProgressPlane::announce(ScopeId scope) {
  Slot& at = slot(scope);
  LEAT_CHECK(at.stage == Stage::unknown, "a scope's id was used twice");
  at.stage = Stage::building;
}

void ProgressPlane::attach(ScopeId scope, ScopeInbox& inbox) {
  Slot& at = slot(scope);
  at.stage = Stage::live;
  at.inbox = &inbox;
  for (const KeptBatch& kept : std::exchange(at.early, {})) inbox.absorb(kept.entry());
}

void ProgressPlane::detach(ScopeId scope) { slot(scope) = Slot{Stage::gone, nullptr, {}}; }

void ProgressPlane::dispatch(const queue::EntryHeader& entry) {
  Slot& at = slot(entry.tag);
  switch (at.stage) {
    case Stage::live:
      at.inbox->absorb(entry);
      return;
    case Stage::unknown:
    case Stage::building:
      at.early.emplace_back(entry);
      return;
    case Stage::gone:
      return;
  }
}

void ProgressPlane::poll() {
  seat_.ready().surface(
      [](core::Doorbell& bell) { static_cast<core::Bell&>(bell).activate_listener(); });
  seat_.read_logs([this](const queue::EntryHeader& entry) { dispatch(entry); });
}

}  // namespace leat::progress
