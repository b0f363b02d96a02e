#include <leat/progress/plane.hpp>

#include <cstring>
#include <memory>
#include <utility>

#include <leat/base/check.hpp>
#include <leat/base/usage_error.hpp>
#include <leat/comm/net/links.hpp>
#include <leat/comm/wire/comm_error.hpp>
#include <leat/progress/watch/events.hpp>

namespace leat::progress {

namespace {

// A scope's id is a place in a table: one that is taken from bytes must be none that fills memory.
constexpr std::uint64_t kScopesAhead = std::uint64_t{1} << 22;

bool is_wire(const queue::EntryHeader& entry) noexcept {
  return entry.ops == &queue::kEntryOps<comm::WireWord>;
}

// The batch in an entry of the links' log, who looked at its lengths: see docs/protocols/frames.md.
WireBatch wire_batch_of(const queue::EntryHeader& entry) {
  const std::byte* const at = entry.payload();
  WireBatch batch;
  std::uint32_t bytes = 0;
  std::memcpy(&batch.writer, at, 8);
  std::memcpy(&batch.type_hash, at + 16, 8);
  std::memcpy(&batch.count, at + 24, 4);
  std::memcpy(&bytes, at + 28, 4);
  batch.bytes = {at + 32, bytes};
  return batch;
}

}  // namespace

void refuse_times(std::string_view type) {
  throw UsageError("progress", "times that can be sent to other processes",
                   std::string(type) + ", which has no Codec",
                   "name the members of the time with LEAT_FIELDS, or specialise Codec");
}

void refuse_batch(ScopeId scope, const WireBatch& batch, const std::string& what) {
  throw comm::CommError("worker " + std::to_string(batch.writer) + " sent progress of scope " +
                        std::to_string(scope) + " that is none: " + what);
}

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
    hand_over(inbox, early.batch.entry(), early.from);
  }
}

void ProgressPlane::hand_over(ScopeInbox& inbox, const queue::EntryHeader& entry,
                              std::size_t from) {
  reading_ = from;
  if (is_wire(entry)) [[unlikely]] {
    const WireBatch batch = wire_batch_of(entry);
    reading_ = static_cast<std::size_t>(batch.writer);
    inbox.absorb_bytes(batch);
  } else {
    inbox.absorb(entry);
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

void ProgressPlane::read_farewell(std::uint64_t tag, std::size_t from) {
  if (tag == Farewell::kLeaves) {
    cancellations_.leaves(from);
    return;
  }
  cancellations_.note(tag, from);
  if (cancellations_.has_said(tag, seat_.index())) return;
  if (end_part_) end_part_(tag);
  cancel(tag);
}

bool ProgressPlane::is_farewell(const queue::EntryHeader& entry) noexcept {
  return entry.ops == &queue::kEntryOps<Farewell> ||
         (is_wire(entry) && wire_batch_of(entry).type_hash == type_hash<Farewell>());
}

void ProgressPlane::dispatch(const queue::EntryHeader& entry) {
  if (is_farewell(entry)) [[unlikely]] {
    const bool is_here = !is_wire(entry);
    const std::uint64_t from =
        is_here ? entry.records<Farewell>().front().from : wire_batch_of(entry).writer;
    read_farewell(entry.tag, static_cast<std::size_t>(from));
    return;
  }
  if (is_wire(entry) && entry.tag > slots_.size() + kScopesAhead) [[unlikely]] {
    refuse_batch(entry.tag, wire_batch_of(entry), "there are no such scopes");
  }
  Slot& at = slot(entry.tag);
  switch (at.stage) {
    case Stage::live:
      hand_over(*at.inbox, entry, reading_);
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
  seat_.look();
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
