#include <leat/comm/net/links.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <exception>
#include <utility>

#include <leat/base/check.hpp>
#include <leat/base/codec/standard.hpp>
#include <leat/base/os/thread_name.hpp>
#include <leat/comm/fabric.hpp>
#include <leat/comm/spawn.hpp>
#include <leat/comm/wire/comm_error.hpp>

namespace leat::comm {

namespace {

constexpr std::uint32_t kOwnSlabShift = 16;
constexpr std::size_t kRoomMin = 4096;
constexpr std::size_t kExtentsAtOnce = 64;
constexpr int kReadsPerPass = 16;

// How soon the thread looks again while workers are awake and should be driving.
constexpr Nanos kLookAgain = std::chrono::milliseconds(2);
// How long an end waits for peers after a failure.
constexpr Nanos kPatienceAfterFailure = std::chrono::seconds(5);

// What stands before each batch of progress: writer, scope, type of the changes, how many, bytes.
constexpr std::size_t kBatchHeadBytes = 32;

std::string millis(Nanos time) {
  return std::to_string(std::chrono::duration_cast<std::chrono::milliseconds>(time).count()) +
         " ms";
}

}  // namespace

Links::Links(Fabric& fabric, std::vector<Connection> connections, LinkOptions options,
             const Clock& clock)
    : fabric_(fabric),
      options_(std::move(options)),
      clock_(clock),
      tick_every_(std::clamp<Nanos>(options_.peer_timeout / 8, std::chrono::milliseconds(10),
                                    std::chrono::milliseconds(500))),
      log_(fabric.workers()),
      slab_(kOwnSlabShift, options_.refill) {
  for (Connection& connection : connections) {
    auto& link =
        *links_.emplace_back(std::make_unique<Link>(std::move(connection), options_.refill));
    link.sequences.assign(fabric_.workers() + 1, 0);
  }
}

Links::~Links() {
  if (thread_.joinable()) {  // the run was given up
    ending_.store_release(1, closing{});
    turn_.wait_and_take([this] {
      for (auto& link : links_) link->state = State::lost;
    });
    poller_.wake();
    thread_parker_.unpark();
    thread_.join();
  }
  cursors_.clear();
}

void Links::start() {
  for (std::size_t place = 0; place < fabric_.workers(); ++place) {
    cursors_.push_back(
        fabric_.seat(fabric_.first_worker() + place).log().cursor(fabric_.workers()));
  }
  const Nanos now = clock_.now();
  for (auto& link : links_) {
    link->heard = link->said = now;
    poller_.add(link->connection.transport->descriptor());
    note(core::NetworkEvent::Kind::link_started, link.get());
  }
  thread_ = std::thread([this] { run(); });
}

// -- What is sent ---------------------------------------------------------------------------------

Bytes Links::own_frame(FrameKind kind, std::uint64_t channel, std::span<const std::byte> payload) {
  FrameHeader header;
  header.kind = kind;
  header.is_checked = options_.checks_bytes;
  header.source = kFromLink;
  header.target_upper = static_cast<std::uint32_t>(fabric_.peers());
  header.channel = channel;
  header.payload_bytes = payload.size();
  header.sequence = ++sequence_;
  const auto bytes = static_cast<std::size_t>(header.frame_bytes());
  slab_.ensure_room(bytes);
  if (!payload.empty()) {
    std::memcpy(slab_.room().data() + kFrameHeaderBytes, payload.data(), payload.size());
  }
  finish_frame(slab_.room().first(bytes), header);
  slab_.make_valid(bytes);
  return slab_.extract(bytes);
}

void Links::send_to_all(const Bytes& frame) {
  for (auto& link : links_) {
    if (link->state == State::open && !link->end_sent) enqueue(*link, frame);
  }
}

void Links::enqueue(Link& link, Bytes frames) {
  if (options_.log) {
    for (auto left = frames.view(); !left.empty();) {
      const FrameHeader header = header_of(left);
      note(core::NetworkEvent::Kind::frame_sent, link, header);
      left = left.subspan(static_cast<std::size_t>(header.frame_bytes()));
    }
  }
  link.pending.push_back(std::move(frames));
}

void Links::collect_progress() {
  batches_.clear();
  std::size_t writer = fabric_.first_worker();
  for (auto& cursor : cursors_) {
    while (const auto* entry = cursor.peek()) {
      LEAT_CHECK(entry->ops != nullptr && entry->ops->encode != nullptr,
                 "a batch of progress that cannot be encoded");
      batches_.write_plain(std::uint64_t{writer});
      batches_.write_plain(entry->tag);
      batches_.write_plain(entry->ops->type_hash);
      batches_.write_plain(entry->count);
      const std::size_t bytes_at = batches_.size();
      batches_.write_plain(std::uint32_t{0});
      const std::size_t begin = batches_.size();
      entry->ops->encode(entry->payload(), entry->count, batches_);
      const auto bytes = static_cast<std::uint32_t>(batches_.size() - begin);
      std::memcpy(batches_.bytes().data() + bytes_at, &bytes, sizeof bytes);
      batches_.align();
      cursor.advance();
    }
    ++writer;
  }
  if (batches_.size() != 0) {
    send_to_all(own_frame(FrameKind::progress, 0, std::as_const(batches_).bytes()));
  }
}

void Links::collect_controls() {
  if (has_controls_.load_relaxed() == 0) return;
  std::vector<Control> controls;
  {
    const std::lock_guard lock(control_mutex_);
    controls.swap(controls_);
    has_controls_.store_relaxed(0);
  }
  for (const Control& one : controls) {
    send_to_all(own_frame(one.kind, one.channel, one.payload.bytes()));
  }
}

void Links::collect(Link& link) {
  drained_.clear();
  for (std::size_t place = 0; place < fabric_.workers(); ++place) {
    ByteSeat& bytes = *fabric_.seat(fabric_.first_worker() + place).bytes();
    static_cast<void>(bytes.outbox(link.connection.process).drain_into(drained_));
  }
  for (Bytes& extent : drained_) enqueue(link, std::move(extent));
  if (is_ending_ && !link.end_sent) {
    enqueue(link, own_frame(FrameKind::end, 0, {}));
    link.end_sent = true;
  }
}

void Links::flush(Link& link) {
  Transport& transport = *link.connection.transport;
  while (!link.pending.empty()) {
    std::array<std::span<const std::byte>, kExtentsAtOnce> parts;
    std::size_t count = 0;
    for (const Bytes& extent : link.pending) {
      parts[count++] = extent.view();
      if (count == parts.size()) break;
    }
    const Io io = transport.write(std::span(parts).first(count));
    if (io.state != IoState::some) {
      if (io.state == IoState::none) {
        if (transport.tells_of_room() && !link.waits_for_room && link.is_watched) {
          poller_.watch_writing(transport.descriptor(), true);
          link.waits_for_room = true;
        }
        return;
      }
      if (!link.ended) {
        lose(link, transport.error().message);
        return;
      }
      link.pending.clear();  // whoever has ended does not want it
      break;
    }
    ++counters_.writes;
    counters_.bytes_sent += io.bytes;
    link.bytes_out += io.bytes;
    for (std::size_t left = io.bytes; left > 0;) {
      Bytes& first = link.pending.front();
      if (first.size() > left) {
        static_cast<void>(first.extract_to(left));
        break;
      }
      left -= first.size();
      link.pending.pop_front();
    }
  }
  if (link.waits_for_room) {
    link.waits_for_room = false;
    if (link.is_watched) poller_.watch_writing(transport.descriptor(), false);
  }
  if (link.end_sent && !link.flushed) {
    link.flushed = true;
    transport.finish_writing();
  }
}

// -- What comes -----------------------------------------------------------------------------------

void Links::receive(Link& link) {
  for (int reads = 0; reads < kReadsPerPass && link.state == State::open; ++reads) {
    link.incoming.ensure_room(kRoomMin);
    const auto room = link.incoming.room();
    const Io io = link.connection.transport->read(room);
    switch (io.state) {
      case IoState::some:
        counters_.bytes_received += io.bytes;
        link.bytes_in += io.bytes;
        link.incoming.make_valid(io.bytes);
        if (!take_frames(link) || io.bytes < room.size()) return;
        break;
      case IoState::none:
        return;
      case IoState::over:
        end_of(link);
        return;
      case IoState::broken:
        if (link.ended) {
          end_of(link);
        } else {
          lose(link, link.connection.transport->error().message);
        }
        return;
    }
  }
}

// Frames for the same workers that lie one after the other are delivered as one extent.
bool Links::take_frames(Link& link) {
  const FrameLimits limits{options_.message_bytes_max};
  std::size_t run = 0;
  std::uint32_t lower = 0;
  std::uint32_t upper = 0;
  const auto deliver_run = [&] {
    if (run == 0) return;
    link.position += run;
    deliver(link.incoming.extract(std::exchange(run, 0)), lower, upper);
  };
  for (;;) {
    FrameHeader header;
    std::string wrong;
    const auto rest = link.incoming.valid().subspan(run);
    switch (rest.empty() ? FrameRead::partial : read_frame(rest, limits, header, wrong)) {
      case FrameRead::partial:
        deliver_run();
        return true;
      case FrameRead::header: {
        deliver_run();
        const auto bytes = static_cast<std::size_t>(header.frame_bytes());
        link.incoming.ensure_room(bytes - link.incoming.valid().size());
        return true;
      }
      case FrameRead::refused:
        deliver_run();
        return break_off(link, wrong);
      case FrameRead::whole:
        break;
    }
    ++counters_.frames_received;
    if (options_.log) note(core::NetworkEvent::Kind::frame_received, link, header);
    const std::size_t first = link.connection.process * fabric_.workers();
    const std::size_t source =
        header.source == kFromLink ? fabric_.workers() : std::size_t{header.source} - first;
    const bool is_data = header.kind == FrameKind::data;
    if (link.ended || source > fabric_.workers() || is_data != (source < fabric_.workers()) ||
        header.target_upper > fabric_.peers() || header.sequence <= link.sequences[source]) {
      deliver_run();
      return break_off(link, link.ended ? "a frame after the one that ends"
                                        : "a frame whose source, targets or sequence cannot be");
    }
    link.sequences[source] = header.sequence;
    const auto bytes = static_cast<std::size_t>(header.frame_bytes());
    if (is_data) {
      if (run != 0 && (lower != header.target_lower || upper != header.target_upper)) deliver_run();
      lower = header.target_lower;
      upper = header.target_upper;
      run += bytes;
      continue;
    }
    deliver_run();
    const auto payload = link.incoming.valid().subspan(
        kFrameHeaderBytes, static_cast<std::size_t>(header.payload_bytes));
    if (!take_control(link, header, payload)) return false;
    static_cast<void>(link.incoming.extract(bytes));
    link.position += bytes;
  }
}

void Links::deliver(const Bytes& frames, std::size_t lower, std::size_t upper) {
  lower = std::max(lower, fabric_.first_worker());
  upper = std::min(upper, fabric_.first_worker() + fabric_.workers());
  for (std::size_t to = lower; to < upper; ++to) {
    Seat& seat = fabric_.seat(to);
    if (seat.bytes()->deliver(fabric_.workers(), frames)) {
      static_cast<void>(core::announce(seat.ready(), seat.parker(), seat.bytes()->bell()));
    }
  }
}

bool Links::take_progress(Link& link, std::span<const std::byte> payload) {
  const std::size_t first = link.connection.process * fabric_.workers();
  while (!payload.empty()) {
    std::uint64_t writer = 0;
    std::uint64_t scope = 0;
    std::uint32_t bytes = 0;
    if (payload.size() < kBatchHeadBytes) return break_off(link, "a batch of progress cut off");
    std::memcpy(&writer, payload.data(), sizeof writer);
    std::memcpy(&scope, payload.data() + 8, sizeof scope);
    std::memcpy(&bytes, payload.data() + 28, sizeof bytes);
    const std::size_t whole =
        kBatchHeadBytes + static_cast<std::size_t>(FrameHeader::padded(bytes));
    if (writer - first >= fabric_.workers() || whole > payload.size()) {
      return break_off(link, "a batch of progress of nobody, or cut off");
    }
    std::memcpy(log_.reserve(whole), payload.data(), whole);
    log_.commit(scope, static_cast<std::uint32_t>(whole / sizeof(WireWord)),
                &queue::kEntryOps<WireWord>);
    has_appended_ = true;
    payload = payload.subspan(whole);
  }
  return true;
}

bool Links::take_control(Link& link, const FrameHeader& header,
                         std::span<const std::byte> payload) {
  ByteSource from(payload);
  const std::size_t first = link.connection.process * fabric_.workers();
  std::uint64_t worker = 0;
  std::string text;
  std::string more;
  switch (header.kind) {
    case FrameKind::progress:
      return take_progress(link, payload);
    case FrameKind::alive:
      return true;
    case FrameKind::end:
      link.ended = true;
      return true;
    case FrameKind::left:
      fabric_.peer_left(header.channel);
      return true;
    case FrameKind::signature: {
      std::uint64_t hash = 0;
      if (!from.read_plain(worker) || !from.read_plain(hash) ||
          !Codec<std::string>::decode(from, text) || worker - first >= fabric_.workers()) {
        break;
      }
      fabric_.peer_made(static_cast<std::size_t>(worker), header.channel, {hash, text});
      return true;
    }
    case FrameKind::built: {
      bool failed = false;
      if (!from.read_plain(worker) || !Codec<bool>::decode(from, failed) ||
          !Codec<std::string>::decode(from, text) || !Codec<std::string>::decode(from, more) ||
          worker - first >= fabric_.workers()) {
        break;
      }
      fabric_.peer_built(static_cast<std::size_t>(worker), header.channel, text,
                         failed ? std::make_exception_ptr(PeerFailed(more)) : nullptr);
      return true;
    }
    case FrameKind::failed:
      if (!Codec<std::string>::decode(from, text) || !Codec<std::string>::decode(from, more)) break;
      text = link.connection.name + ", " + text;
      fabric_.peer_failed({text, more, std::make_exception_ptr(PeerFailed(text + ": " + more))});
      return true;
    case FrameKind::data:
      break;
  }
  return break_off(link, "a frame of kind " + std::to_string(static_cast<unsigned>(header.kind)) +
                             " that says nothing that makes sense");
}

// -- The end of a link ----------------------------------------------------------------------------

bool Links::break_off(Link& link, const std::string& how) {
  lose(link, "it sent, at byte " + std::to_string(link.position) + ", " + how);
  return false;
}

void Links::end_of(Link& link) {
  if (link.is_watched) {
    poller_.remove(link.connection.transport->descriptor());
    link.is_watched = false;
  }
  if (link.state != State::open) return;
  if (!link.ended) {
    lose(link, "it ended the connection without saying that it would");
  } else if (link.flushed) {
    link.state = State::ended;
    note(core::NetworkEvent::Kind::link_ended, &link);
  }
}

void Links::lose(Link& link, const std::string& how) {
  if (link.state != State::open) return;
  link.state = State::lost;
  link.pending.clear();
  if (link.is_watched) {
    poller_.remove(link.connection.transport->descriptor());
    link.is_watched = false;
  }
  link.connection.transport->finish_writing();  // if the other side is there, it hears of it
  note(core::NetworkEvent::Kind::link_lost, &link, how);
  if (options_.on_peer_lost) options_.on_peer_lost(link.connection.process, how);
  core::StopReason reason{
      link.connection.name, "was lost: " + how,
      std::make_exception_ptr(PeerLost(link.connection.process, link.connection.name, how))};
  if (!lost_) lost_ = reason;
  fabric_.lost(std::move(reason));
}

// -- Passes ---------------------------------------------------------------------------------------

void Links::pass() {
  ++counters_.passes;
  passes_.store_relaxed(counters_.passes);  // for a thread that asks whether somebody passes
  if (!is_ending_ && ending_.load_acquire(closing{}) != 0) is_ending_ = true;
  collect_controls();
  collect_progress();
  for (auto& link : links_) {
    if (link->state != State::open) continue;
    collect(*link);
    flush(*link);
  }
  for (auto& link : links_) {
    if (link->state != State::open) continue;
    receive(*link);
    // The end was read before ours was written.
    if (link->state == State::open && link->ended && link->flushed) end_of(*link);
  }
  if (has_appended_) {
    has_appended_ = false;
    fabric_.park_mask().for_each_parked([this](std::size_t place) {
      fabric_.seat(fabric_.first_worker() + place).parker().unpark();
    });
  }
}

// Says that we are there to whom nothing was said for long, and looks for who says nothing.
void Links::tick() {
  const Nanos now = clock_.now();
  for (auto& link : links_) {
    if (link->state != State::open) continue;
    link->connection.transport->awake();
    if (link->bytes_in != link->seen_in) {
      link->seen_in = link->bytes_in;
      link->heard = now;
    } else if (!link->ended && now - link->heard > options_.peer_timeout) {
      lose(*link, "it was silent for " + millis(now - link->heard));
      continue;
    }
    if (link->bytes_out != link->seen_out) {
      link->seen_out = link->bytes_out;
      link->said = now;
    } else if (!link->end_sent && now - link->said > options_.peer_timeout / 4 &&
               link->pending.empty()) {
      enqueue(*link, own_frame(FrameKind::alive, 0, {}));
      flush(*link);
    }
  }
}

bool Links::is_over() const noexcept {
  return std::none_of(links_.begin(), links_.end(),
                      [](const auto& link) { return link->state == State::open; });
}

void Links::worker_sleeps() noexcept {
  // The last one hands over to the thread.
  if (awake_.fetch_sub_relaxed(1) == 1) thread_parker_.unpark();
}

void Links::wait() {
  const auto is_ending = [this] { return ending_.load_acquire(closing{}) != 0; };
  if (!is_ending() && awake_.load_relaxed() != 0) {
    // Workers drive. If none does for a while they are all busy, and we look after them.
    const std::uint64_t before = passes_.load_relaxed();
    thread_parker_.park([&] { return is_ending() || awake_.load_relaxed() == 0; }, kLookAgain);
    if (awake_.load_relaxed() != 0 && passes_.load_relaxed() == before) {
      poller_.wait(kLookAgain);
    }
    return;
  }
  bool may_sleep = true;
  turn_.wait_and_take([this, &may_sleep] {
    for (auto& link : links_) {
      if (link->state == State::open && !link->connection.transport->may_sleep()) may_sleep = false;
    }
  });
  poller_.wait(may_sleep ? tick_every_ : Nanos{0});
  turn_.wait_and_take([this] {
    for (auto& link : links_) link->connection.transport->awake();
  });
}

void Links::run() {
  os::set_thread_name("leat:links");
  note(core::NetworkEvent::Kind::thread_started, nullptr);
  std::optional<Nanos> patience;
  Nanos next_tick = clock_.now() + tick_every_;
  for (bool over = false; !over;) {
    turn_.wait_and_take([&] {
      pass();
      const Nanos now = clock_.now();
      if (now >= next_tick) {
        tick();
        next_tick = now + tick_every_;
      }
      if (!is_ending_) return;
      if (!patience && fabric_.stop().requested()) patience = now + kPatienceAfterFailure;
      over = is_over() || (patience && now > *patience);
    });
    if (!over) wait();
  }
  note(core::NetworkEvent::Kind::thread_ended, nullptr);
}

std::optional<core::StopReason> Links::finish() {
  ending_.store_release(1, closing{});
  poller_.wake();
  thread_parker_.unpark();
  thread_.join();
  cursors_.clear();
  return lost_;
}

// -- Words of the fabric ----------------------------------------------------------------------------

void Links::control(FrameKind kind, std::uint64_t channel, ByteSink payload) {
  {
    const std::lock_guard lock(control_mutex_);
    controls_.push_back({kind, channel, std::move(payload)});
    has_controls_.store_relaxed(1);
  }
  // No pass is begun here: the fabric may hold its mutex, which a pass may want.
  turn_.leave_word();
}

void Links::tell_made(std::size_t worker, std::uint64_t id, std::uint64_t hash,
                      const std::string& text) {
  ByteSink payload;
  payload.write_plain(std::uint64_t{worker});
  payload.write_plain(hash);
  Codec<std::string>::encode(payload, text);
  control(FrameKind::signature, id, std::move(payload));
}

void Links::tell_built(std::size_t worker, std::uint64_t id, const std::string& where,
                       const std::string* error) {
  ByteSink payload;
  payload.write_plain(std::uint64_t{worker});
  Codec<bool>::encode(payload, error != nullptr);
  Codec<std::string>::encode(payload, where);
  Codec<std::string>::encode(payload, error != nullptr ? *error : std::string());
  control(FrameKind::built, id, std::move(payload));
}

void Links::tell_left(std::uint64_t next_id) { control(FrameKind::left, next_id, {}); }

void Links::tell_failed(const std::string& who, const std::string& why) {
  ByteSink payload;
  Codec<std::string>::encode(payload, who);
  Codec<std::string>::encode(payload, why);
  control(FrameKind::failed, 0, std::move(payload));
  drive(true);
}

// -- Who listens ------------------------------------------------------------------------------------

void Links::note(core::NetworkEvent::Kind kind, const Link* link, const std::string& text) const {
  if (!options_.log) return;
  core::NetworkEvent event;
  event.kind = kind;
  if (link != nullptr) event.process = link->connection.process;
  event.text = text;
  options_.log(event);
}

void Links::note(core::NetworkEvent::Kind kind, const Link& link, const FrameHeader& header) const {
  core::NetworkEvent event;
  event.kind = kind;
  event.process = link.connection.process;
  event.frame_kind = static_cast<std::uint8_t>(header.kind);
  event.source = header.source;
  event.target_lower = header.target_lower;
  event.target_upper = header.target_upper;
  event.channel = header.channel;
  event.bytes = header.payload_bytes;
  event.sequence = header.sequence;
  options_.log(event);
}

}  // namespace leat::comm
