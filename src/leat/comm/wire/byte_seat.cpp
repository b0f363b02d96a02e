#include <leat/comm/wire/byte_seat.hpp>

#include <cstring>
#include <utility>

#include <leat/base/check.hpp>
#include <leat/comm/fabric.hpp>
#include <leat/comm/wire/comm_error.hpp>
#include <leat/comm/wire/wire.hpp>

namespace leat::comm {

namespace {
constexpr std::uint32_t kSlabShift = 17;
void keep(core::Doorbell*) noexcept {}  // the bell is the fabric's

void put_message(ByteSlab& slab, std::size_t at, std::span<const std::byte> message) {
  if (!message.empty()) std::memcpy(slab.room().data() + at, message.data(), message.size());
}
}  // namespace

void refuse_uncodable(const std::string& who, std::string_view type) {
  throw UsageError(who, "messages that bytes can carry", std::string(type) + ", which has no Codec",
                   "name the members of its records with LEAT_FIELDS, or specialise Codec; or run "
                   "in one process without --zerocopy");
}

void refuse_message(std::uint32_t source, std::uint64_t channel, const Error& error) {
  throw CommError("a message of worker " + std::to_string(source) + " on channel " +
                  std::to_string(channel) + " is none of its kind: " + error.message);
}

ByteSeat::ByteSeat(Fabric& fabric, std::size_t worker, bool keeps_typed, bool is_checked,
                   Refill refill)
    : fabric_(fabric),
      worker_(worker),
      first_(fabric.first_worker()),
      workers_(fabric.workers()),
      keeps_typed_(keeps_typed),
      is_checked_(is_checked),
      slab_(kSlabShift, std::move(refill)),
      outboxes_(fabric.processes()),
      lanes_(workers_ + 1),
      bell_(&keep) {
  bell_.set_listener({rung_, 0});
}

Bytes ByteSeat::framed(std::uint64_t channel, std::size_t lower, std::size_t upper) {
  const auto message = std::as_const(sink_).bytes();
  FrameHeader header;
  header.kind = FrameKind::data;
  header.is_checked = is_checked_;
  header.source = static_cast<std::uint32_t>(worker_);
  header.target_lower = static_cast<std::uint32_t>(lower);
  header.target_upper = static_cast<std::uint32_t>(upper);
  header.channel = channel;
  header.payload_bytes = message.size();
  header.sequence = ++sequence_;
  const auto bytes = static_cast<std::size_t>(header.frame_bytes());
  slab_.ensure_room(bytes);
  put_message(slab_, kFrameHeaderBytes, message);
  finish_frame(slab_.room().first(bytes), header);
  slab_.make_valid(bytes);
  ++counters_.encoded;
  return slab_.extract(bytes);
}

void ByteSeat::send(std::uint64_t channel, std::size_t to) {
  if (to == worker_) {
    send_to_self(channel);
    return;
  }
  Bytes frame = framed(channel, to, to + 1);
  if (to - first_ < workers_) {
    deliver_to(to, std::move(frame));
  } else {
    send_out(to / workers_, std::move(frame));
  }
}

void ByteSeat::send_to_all(std::uint64_t channel) {
  const Bytes frame = framed(channel, 0, fabric_.peers());
  if (!keeps_typed_) {
    for (std::size_t to = first_; to < first_ + workers_; ++to) {
      if (to != worker_) deliver_to(to, frame);
    }
    Bytes payload = frame;
    static_cast<void>(payload.extract_to(kFrameHeaderBytes));
    take_in(channel, {std::move(payload), sink_.size(), static_cast<std::uint32_t>(worker_)});
  }
  for (std::size_t process = 0; process < outboxes_.size(); ++process) {
    if (process != fabric_.process()) send_out(process, frame);
  }
}

void ByteSeat::send_to_self(std::uint64_t channel) {
  const auto message = std::as_const(sink_).bytes();
  const auto bytes = static_cast<std::size_t>(FrameHeader::padded(message.size()));
  slab_.ensure_room(bytes);
  put_message(slab_, 0, message);
  slab_.make_valid(bytes);
  ++counters_.encoded;
  take_in(channel, {slab_.extract(bytes), message.size(), static_cast<std::uint32_t>(worker_)});
}

void ByteSeat::deliver_to(std::size_t to, Bytes frame) {
  ++counters_.frames_sent;
  ByteSeat& receiver = *fabric_.seat(to).bytes();
  if (receiver.deliver(worker_ - first_, std::move(frame))) {
    fabric_.seat(worker_).announce(to, receiver.bell());
  }
}

void ByteSeat::send_out(std::size_t process, Bytes frame) {
  ++counters_.frames_sent;
  static_cast<void>(outboxes_[process].push(std::move(frame)));
  fabric_.seat(worker_).has_unsent();
}

LocalPtr<ByteInbound> ByteSeat::open(std::uint64_t channel, core::Activation receiver) {
  LEAT_CHECK(channel >= opened_below_, "channels are opened in the order of their ids");
  auto inbound = make_local<ByteInbound>();
  inbound->receiver = receiver;
  if (auto at = early_.find(channel); at != early_.end()) {
    for (Arrived& message : at->second) inbound->messages.push_back(std::move(message));
    receiver.activate();
  }
  // Those below that were not opened here never will be.
  std::erase_if(early_, [channel](const auto& entry) { return entry.first <= channel; });
  opened_below_ = channel + 1;
  channels_.emplace(channel, inbound);
  return inbound;
}

void ByteSeat::close(std::uint64_t channel) {
  const auto at = channels_.find(channel);
  if (at == channels_.end()) return;
  at->second->receiver = {};
  at->second->messages.clear();
  channels_.erase(at);
}

void ByteSeat::take_in(std::uint64_t channel, Arrived message) {
  const auto at = channels_.find(channel);
  if (at != channels_.end()) [[likely]] {
    at->second->messages.push_back(std::move(message));
    at->second->receiver.activate();
  } else if (channel >= opened_below_) {
    early_[channel].push_back(std::move(message));
  }
}

void ByteSeat::drain() {
  for (ByteQueue& lane : lanes_) {
    drained_.clear();
    if (!lane.drain_into(drained_)) continue;
    for (Bytes& extent : drained_) {
      while (!extent.empty()) {
        const FrameHeader header = header_of(extent.view());
        Bytes frame = extent.extract_to(static_cast<std::size_t>(header.frame_bytes()));
        static_cast<void>(frame.extract_to(kFrameHeaderBytes));
        take_in(header.channel,
                {std::move(frame), static_cast<std::size_t>(header.payload_bytes), header.source});
      }
    }
  }
  drained_.clear();
}

void ByteSeat::leave() {
  for (ByteQueue& lane : lanes_) lane.close();
  early_.clear();
}

}  // namespace leat::comm
