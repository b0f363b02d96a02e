#include <leat/progress/plane.hpp>

#include <memory>
#include <utility>

#include <leat/base/check.hpp>
#include <leat/progress/watch/events.hpp>

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
  for (const Early& early : std::exchange(at.early, {})) {
    reading_ = early.from;
    inbox.absorb(early.batch.entry());
  }
}

void ProgressPlane::detach(ScopeId scope) { slot(scope) = Slot{Stage::gone, nullptr, {}}; }

void ProgressPlane::publish_farewell(ScopeId tag) {
  if (peers() == 1) return;
  auto* const to = reinterpret_cast<Farewell*>(seat_.log().reserve(sizeof(Farewell)));
  std::construct_at(to, Farewell{seat_.index()});
  seat_.log().commit(tag, 1, &queue::kEntryOps<Farewell>);
  seat_.announce_log();
}

void ProgressPlane::cancel(ScopeId root) {
  if (cancellations_.has_said(root, seat_.index())) return;
  cancellations_.note(root, seat_.index());
  publish_farewell(root);
}

void ProgressPlane::leave() {
  cancellations_.leaves(seat_.index());
  publish_farewell(Farewell::kLeaves);
}

void ProgressPlane::read_farewell(const queue::EntryHeader& entry) {
  const std::size_t from = entry.records<Farewell>().front().from;
  if (entry.tag == Farewell::kLeaves) {
    cancellations_.leaves(from);
    return;
  }
  cancellations_.note(entry.tag, from);
  if (cancellations_.has_said(entry.tag, seat_.index())) return;
  if (end_part_) end_part_(entry.tag);
  cancel(entry.tag);
}

void ProgressPlane::dispatch(const queue::EntryHeader& entry) {
  if (entry.ops == &queue::kEntryOps<Farewell>) [[unlikely]] {
    read_farewell(entry);
    return;
  }
  Slot& at = slot(entry.tag);
  switch (at.stage) {
    case Stage::live:
      at.inbox->absorb(entry);
      return;
    case Stage::unknown:
    case Stage::building:
      at.early.push_back({KeptBatch(entry), reading_});
      return;
    case Stage::gone:
      return;
  }
}

void ProgressPlane::poll() {
  seat_.ready().surface(
      [](core::Doorbell& bell) { static_cast<core::Bell&>(bell).activate_listener(); });
  seat_.read_logs([this](const queue::EntryHeader& entry, std::size_t from) {
    reading_ = from;
    dispatch(entry);
  });
}

void ProgressPlane::park(std::optional<Nanos> timeout) {
  // Asked for each time: who sleeps has time, and a log of sleep needs no dataflow built after it.
  const auto events =
      logs_ == nullptr ? core::Logger<WorkerEvent>() : logs_->get<WorkerEvent>(kEventStream);
  events.log(ParkEvent{ParkEvent::Kind::park, timeout});
  events.flush();
  seat_.park(timeout);
  events.log(ParkEvent{ParkEvent::Kind::unpark, std::nullopt});
}

}  // namespace leat::progress
